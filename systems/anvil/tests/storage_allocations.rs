//! A tick in which nothing is loaded or saved allocates nothing, however many chunks have their turn.

use bevy_ecs::prelude::Mut;
use voxtick_anvil::region::{RegionFolder, RegionOptions};
use voxtick_anvil::{ChunkStorage, StoragePlugin, files::Access};
use voxtick_engine::Simulation;
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, World, WorldsPlugin};

#[test]
fn a_tick_without_loads_and_saves_allocates_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
    let mut world = World::new(Dimension::overworld(), BlockStates::load());
    for n in 0..300 {
        world.insert_chunk(Chunk::empty(ChunkPos::new(n % 20, n / 20), world.dimension()));
    }
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(WorldsPlugin::new(world))
        .plugin(
            StoragePlugin::new(RegionFolder::new(folder.path(), options)).autosave(Some(1)).flush_after(1),
        )
        .build()
        .expect("the simulation builds");
    // New chunks are saved in the first ticks; all have their turn in every one.
    while simulation.world().resource::<ChunkStorage>().saved() < 300 {
        simulation.tick().expect("the tick runs");
    }
    // What the threads have still under way would arrive at any time.
    let ecs = simulation.world_mut();
    let failures = ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| storage.save_all(ecs));
    assert!(failures.is_empty(), "{failures:?}");
    simulation.run(5).expect("the ticks run");
    let counted = allocation_counter::measure(|| {
        for _ in 0..100 {
            simulation.tick().expect("the tick runs");
        }
    });
    assert_eq!(counted.count_total, 0);
}
