//! Names and property values that earlier game versions used, back to Minecraft Java 1.13.
//!
//! Only renames that hold whatever the version are here: none of the old names means anything else today.

/// Today's name of a block, without namespace.
pub(super) fn current_name(path: &str) -> &str {
    match path {
        // Before 1.20.3.
        "grass" => "short_grass",
        // Before 1.17.
        "grass_path" => "dirt_path",
        // Before 1.14.
        "sign" => "oak_sign",
        "wall_sign" => "oak_wall_sign",
        // Before 1.21.9.
        "chain" => "iron_chain",
        other => other,
    }
}

/// Today's block and properties of the two blocks whose properties have changed their meaning.
pub(super) fn current_properties<'a>(
    path: &'a str,
    properties: &'a [(&'a str, &'a str)],
) -> (&'a str, &'a [(&'a str, &'a str)]) {
    match (path, properties) {
        // Before 1.17 one block was both the empty and the filled cauldron.
        ("cauldron", [("level", "0")]) => (path, &[]),
        ("cauldron", [("level", _)]) => ("water_cauldron", properties),
        // Before 1.16 a jigsaw had no direction for its upper side.
        ("jigsaw", [("facing", facing)]) => match *facing {
            "north" => (path, &[("orientation", "north_up")]),
            "south" => (path, &[("orientation", "south_up")]),
            "west" => (path, &[("orientation", "west_up")]),
            "east" => (path, &[("orientation", "east_up")]),
            "up" => (path, &[("orientation", "up_north")]),
            "down" => (path, &[("orientation", "down_south")]),
            _ => (path, properties),
        },
        _ => (path, properties),
    }
}

/// Before 1.16 a wall's sides were `true` or `false`.
pub(super) fn current_wall_value(name: &str, property: &str, value: &str) -> Option<&'static str> {
    if !name.ends_with("_wall") || !matches!(property, "north" | "south" | "west" | "east") {
        return None;
    }
    match value {
        "true" => Some("low"),
        "false" => Some("none"),
        _ => None,
    }
}
