//! A real Minecraft world in a simulation: the 1.19.4 region that comes with the `fastanvil` crate, its blocks counted,
//! a tower built in it, and its light kept right while the tower grows.
//!
//! Give the path of a save or region file of yours to run it there instead.
#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use voxtick::anvil::{Limits, Save, load_region_file, save::SaveDimension};
use voxtick::light::LightPlugin;
use voxtick::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let ticks =
        std::env::var("VOXTICK_EXAMPLE_TICKS").ok().and_then(|ticks| ticks.parse().ok()).unwrap_or(40);
    let path = match std::env::args_os().nth(1) {
        Some(path) => path.into(),
        None => region_of_fastanvil()?,
    };
    println!("loading {}", path.display());
    let states = BlockStates::load();
    let save = Save::open(&path, SaveDimension::Overworld, &states)?;
    let mut world = World::new(save.dimension().dimension(), states);
    for (_, file) in save.regions() {
        let loaded = load_region_file(file, world.dimension(), world.states(), &Limits::default())?;
        for damage in &loaded.failures {
            println!("left out: {damage}");
        }
        for chunk in loaded.chunks.into_iter().filter(|chunk| chunk.status.is_full()) {
            world.insert_chunk(chunk);
        }
    }
    let positions: Vec<ChunkPos> = world.chunk_positions().collect();
    let Some(middle) = positions.get(positions.len() / 2) else {
        return Err("no finished chunk in this world".into());
    };
    let foot = middle.checked_block(0).ok_or("the chunk lies outside the world")?;
    let height = world
        .chunk(*middle)
        .and_then(|chunk| chunk.topmost_block(foot.x, foot.z, world.states()))
        .unwrap_or(0);
    println!(
        "{} finished chunks; a tower at x = {}, z = {}, from y = {height} up",
        positions.len(),
        foot.x,
        foot.z
    );

    let glowstone = world.states().parse("glowstone")?;
    let mut simulation =
        Simulation::builder().plugin(WorldsPlugin::new(world)).plugin(LightPlugin::new()).build()?;
    for step in 1..=ticks {
        let tower = BlockPos::new(foot.x, height + step, foot.z);
        if let Err(refused) = simulation.world_mut().resource_mut::<World>().set_block(tower, glowstone) {
            println!("the tower ends: {refused}");
            break;
        }
        simulation.tick()?;
    }
    println!("{}", simulation.summary());
    Ok(())
}

/// The region file that `fastanvil` brings as a test resource.
fn region_of_fastanvil() -> Result<PathBuf, Box<dyn Error>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let manifest = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "fastanvil")
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("cargo metadata names no fastanvil; give the path of a region file")?;
    Ok(PathBuf::from(manifest).with_file_name("resources").join("1.19.4.mca"))
}
