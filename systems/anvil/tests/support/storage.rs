//! A simulation with a storage stage over a folder of regions, and what tests do with it.

use crate::real;
use bevy_ecs::prelude::Mut;
use std::path::Path;
use voxtick_anvil::files::Access;
use voxtick_anvil::region::{Region, RegionFolder, RegionOptions};
use voxtick_anvil::{ChunkStorage, StoragePlugin};
use voxtick_engine::Simulation;
use voxtick_worlds::{BlockPos, BlockStates, ChunkPos, Dimension, World, WorldsPlugin};

pub(crate) fn regions(folder: &Path, access: Access) -> RegionFolder {
    RegionFolder::new(folder, RegionOptions { access, ..RegionOptions::default() })
}

pub(crate) fn simulation(plugin: StoragePlugin, threads: usize) -> Simulation {
    let world = World::new(Dimension::overworld(), BlockStates::load());
    Simulation::builder()
        .threads(threads)
        .hash(true)
        .plugin(WorldsPlugin::new(world))
        .plugin(plugin)
        .build()
        .expect("the simulation builds")
}

/// A folder with the region of 1.19.4.
pub(crate) fn real_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(real::region_1_19_4(), folder.path().join("r.0.0.mca")).expect("it can be copied");
    folder
}

pub(crate) fn finished(folder: &Path, step: usize) -> Vec<ChunkPos> {
    let region = Region::open(folder.join("r.0.0.mca")).expect("the region opens");
    region.chunks().step_by(step).collect()
}

pub(crate) fn with_storage<T>(
    simulation: &mut Simulation,
    job: impl FnOnce(&mut ChunkStorage, &mut World) -> T,
) -> T {
    simulation.world_mut().resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| {
        job(&mut storage, &mut ecs.resource_mut::<World>())
    })
}

pub(crate) fn load(simulation: &mut Simulation, positions: &[ChunkPos]) {
    with_storage(simulation, |storage, _| positions.iter().for_each(|position| storage.load(*position)));
    while with_storage(simulation, |storage, _| storage.loads_under_way()) > 0 {
        simulation.tick().expect("the tick runs");
    }
}

pub(crate) fn set(simulation: &mut Simulation, position: BlockPos, block: &str) {
    with_storage(simulation, |_, world| {
        let state = world.states().parse(block).expect("a known state");
        world.set_block(position, state).expect("the chunk is loaded");
    });
}
