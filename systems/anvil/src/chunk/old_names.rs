//! Names of block states in the words of the version that a chunk is written for.
//!
//! A chunk keeps the version that it came with, so a state that enters it gets the name that this version knows. The
//! other direction is in the table of block states.
//!
//! Each number is the version to which the game's own upgrade of worlds makes the change: chunks of earlier versions
//! have the old name (the schema versions of `DataFixers` in Minecraft Java 1.21.9; the first snapshot with the new
//! name has that number or a higher one). Not renamed is `smooth_stone_slab`, which was `stone_slab` before 1802: that
//! name has another meaning today.

/// The name of a block in a version.
pub(super) fn name_in(data_version: i32, name: &str) -> &str {
    match name {
        // 1.14, "Rename sign blocks & stone slabs".
        "minecraft:oak_sign" if data_version < 1802 => "minecraft:sign",
        "minecraft:oak_wall_sign" if data_version < 1802 => "minecraft:wall_sign",
        // 1.17, "Renamed grass path block to dirt path" and the new cauldrons.
        "minecraft:dirt_path" if data_version < 2680 => "minecraft:grass_path",
        "minecraft:water_cauldron" if data_version < 2679 => "minecraft:cauldron",
        // 1.20.3, "Rename grass block to short_grass".
        "minecraft:short_grass" if data_version < 3692 => "minecraft:grass",
        // 1.21.9, "Rename chain to iron_chain".
        "minecraft:iron_chain" if data_version < 4541 => "minecraft:chain",
        other => other,
    }
}

/// A property and its value in the words of a version.
pub(super) fn property_in<'a>(
    data_version: i32,
    name: &str,
    property: &'a str,
    value: &'a str,
) -> (&'a str, &'a str) {
    // 1.16, the sides of walls and the direction of jigsaws.
    if data_version < 2503
        && name.ends_with("_wall")
        && matches!(property, "north" | "south" | "west" | "east")
    {
        return (property, if value == "none" { "false" } else { "true" });
    }
    if data_version < 2518 && name == "minecraft:jigsaw" && property == "orientation" {
        return ("facing", value.split('_').next().unwrap_or(value));
    }
    (property, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxtick_worlds::BlockStates;

    #[test]
    fn what_is_renamed_for_an_old_version_is_understood_again() {
        let states = BlockStates::load();
        for text in [
            "oak_sign[rotation=4]",
            "oak_wall_sign[facing=west]",
            "dirt_path",
            "water_cauldron[level=2]",
            "short_grass",
            "iron_chain[axis=z]",
            "jigsaw[orientation=up_north]",
            "cobblestone_wall[east=low,up=true]",
        ] {
            let id = states.parse(text).expect("a known state");
            let name = name_in(1519, states.name(id));
            let properties: Vec<(&str, &str)> = states
                .properties(id)
                .map(|(property, value)| property_in(1519, states.name(id), property, value))
                .collect();
            assert_eq!(states.lookup(name, &properties), Some(id), "{text}");
            assert!(
                (name, properties) != (states.name(id), states.properties(id).collect()),
                "{text} is renamed"
            );
        }
    }

    #[test]
    fn recent_versions_have_todays_names() {
        assert_eq!(name_in(4671, "minecraft:iron_chain"), "minecraft:iron_chain");
        assert_eq!(property_in(3337, "minecraft:cobblestone_wall", "east", "none"), ("east", "none"));
    }
}
