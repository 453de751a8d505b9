//! Chunks enter a simulation from region files.

#[path = "support/made.rs"]
mod made;
#[path = "support/real.rs"]
mod real;

use made::{RegionBytes, empty_chunk};
use real::region_1_19_4;
use std::sync::Arc;
use voxtick_anvil::region::Region;
use voxtick_anvil::{AnvilPlugin, ChunkLoading};
use voxtick_engine::Simulation;
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, RegionPos, World, WorldsPlugin};

fn simulation(plugin: AnvilPlugin, threads: usize) -> Simulation {
    let world = World::new(Dimension::overworld(), BlockStates::load());
    Simulation::builder()
        .threads(threads)
        .hash(true)
        .plugin(WorldsPlugin::new(world))
        .plugin(plugin)
        .build()
        .expect("the simulation builds")
}

#[test]
fn a_real_region_enters_in_the_same_ticks_for_any_number_of_threads() {
    let region = Arc::new(Region::open_as(region_1_19_4(), RegionPos::new(0, 0)).expect("the region opens"));
    let hashes = |threads: usize| -> Vec<Option<u64>> {
        let chunks: Vec<ChunkPos> = region.chunks().step_by(10).collect();
        let plugin = AnvilPlugin::new().chunks(&region, chunks).chunks_per_tick(30);
        let mut simulation = simulation(plugin, threads);
        let hashes = (0..4).map(|_| simulation.tick().expect("the tick runs").hash).collect();
        assert_eq!(simulation.world().resource::<World>().chunk_count(), 68);
        hashes
    };
    let one = hashes(1);
    assert!(one[0] != one[1] && one[1] != one[2] && one[2] == one[3], "30, 30 and 8 chunks: {one:?}");
    assert_eq!(one, hashes(2));
}

#[test]
fn damage_is_reported_and_the_rest_enters() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = RegionBytes::new();
    bytes.chunk(0, 3, &empty_chunk(0, 0));
    bytes.chunk(1, 3, b"no NBT");
    let region = Arc::new(Region::open(bytes.write(folder.path(), "r.0.0.mca")).expect("the region opens"));
    let mut simulation = simulation(AnvilPlugin::new().region(&region), 1);
    let report = simulation.tick().expect("the tick runs");
    assert_eq!(report.stages[0].items, 1);
    let loading = simulation.world().resource::<ChunkLoading>();
    assert_eq!((loading.loaded, loading.waiting(), loading.failures.len()), (1, 0, 1));
    assert!(simulation.world().resource::<World>().chunk(ChunkPos::new(0, 0)).is_some());
}
