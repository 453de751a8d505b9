//! Facts that neither source lists: fluids, friction, speed factors, and which blocks act on a body that touches them.
//!
//! These are short lists of the game's behaviour (Minecraft Java 1.16 to 26.1), kept here so that the shipped table
//! holds them as columns and no run-time code compares names.

use crate::sources::{Block, State};

/// Fluid codes of the table: 0 none, 1-9 water of level 0-8, 10-18 lava of level 0-8.
pub(crate) fn fluid(block: &Block, state: &State) -> u8 {
    let value = |name: &str| {
        let index = block.properties.iter().position(|(property, _)| property == name)?;
        Some(state.values[index].as_str())
    };
    // The game keeps 16 levels and treats every level from 8 on as a falling column.
    let level = || value("level").and_then(|level| level.parse::<u8>().ok()).unwrap_or(0).min(8);
    match block.name.as_str() {
        "water" => 1 + level(),
        "lava" => 10 + level(),
        "kelp" | "kelp_plant" | "seagrass" | "tall_seagrass" | "bubble_column" => 1,
        _ if value("waterlogged") == Some("true") => 1,
        _ => 0,
    }
}

/// How slippery the block is to what stands on it; 0.6 for all but five blocks.
pub(crate) fn friction(name: &str) -> f32 {
    match name {
        "ice" | "packed_ice" | "frosted_ice" => 0.98,
        "blue_ice" => 0.989,
        "slime_block" => 0.8,
        _ => 0.6,
    }
}

/// Factor on the horizontal speed of what stands on or in the block; 1 for all but two blocks.
pub(crate) fn speed_factor(name: &str) -> f32 {
    match name {
        "soul_sand" | "honey_block" => 0.4,
        _ => 1.0,
    }
}

/// Motion codes of the table: 0 air, 1 full cube, 2 special.
pub(crate) fn motion(block: &Block, state: &State, fluid: u8) -> u8 {
    const FULL_CUBE: [f64; 6] = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    if fluid != 0 || acts_on_bodies(&block.name) {
        return 2;
    }
    match state.boxes.as_slice() {
        [] => 0,
        [only] if *only == FULL_CUBE => 1,
        _ => 2,
    }
}

/// Blocks that do something to, or change by, a body inside or upon them, beyond stopping it.
fn acts_on_bodies(name: &str) -> bool {
    const EXACT: [&str; 31] = [
        "big_dripleaf",
        "cactus",
        "campfire",
        "cobweb",
        "deepslate_redstone_ore",
        "detector_rail",
        "end_gateway",
        "end_portal",
        "farmland",
        "fire",
        "frogspawn",
        "honey_block",
        "hopper",
        "lily_pad",
        "magma_block",
        "moving_piston",
        "nether_portal",
        "open_eyeblossom",
        "powder_snow",
        "redstone_ore",
        "scaffolding",
        "sculk_sensor",
        "calibrated_sculk_sensor",
        "sculk_shrieker",
        "slime_block",
        "soul_campfire",
        "soul_fire",
        "soul_sand",
        "sweet_berry_bush",
        "tripwire",
        "wither_rose",
    ];
    const ENDINGS: [&str; 4] = ["_pressure_plate", "_bed", "cauldron", "shulker_box"];
    EXACT.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether the state stops motion in the sense of the game's heightmaps: a rule of its own, by the size of the box
/// around the collision shape, with exceptions by name (Minecraft Java 1.20 onward; earlier versions had a material
/// for each block that comes to nearly the same).
pub(crate) fn blocks_motion(name: &str, state: &State) -> bool {
    if name == "cobweb" || name == "bamboo_sapling" {
        return false;
    }
    if always_solid(name) {
        return true;
    }
    if never_solid(name) || state.boxes.is_empty() {
        return false;
    }
    let corner = |axis: usize, pick: fn(f64, f64) -> f64| {
        state.boxes.iter().map(|corners| corners[axis]).reduce(pick).unwrap_or(0.0)
    };
    let size: Vec<f64> = (0..3).map(|axis| corner(axis + 3, f64::max) - corner(axis, f64::min)).collect();
    size.iter().sum::<f64>() / 3.0 >= 0.729_166_666_666_666_6 || size[1] >= 1.0
}

fn always_solid(name: &str) -> bool {
    const ENDINGS: [&str; 4] = ["_sign", "_banner", "_pressure_plate", "_fence_gate"];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn never_solid(name: &str) -> bool {
    matches!(name, "snow" | "ladder" | "end_rod" | "powder_snow")
}
