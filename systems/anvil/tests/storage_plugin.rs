//! Chunks are loaded and saved beside the tick, and nothing is lost on the way.

#[path = "support/made.rs"]
mod made;
#[path = "support/real.rs"]
mod real;

use made::{RegionBytes, empty_chunk};
use std::path::Path;
use voxtick_anvil::files::Access;
use voxtick_anvil::io::{ChunkIoSettings, SaveCause, SaveChunkError};
use voxtick_anvil::region::{Region, RegionFolder, RegionOptions};
use voxtick_anvil::{ChunkStorage, IntakeBudget, Limits, StorageFailure, StoragePlugin, load_region};
use voxtick_engine::Simulation;
use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, World, WorldsPlugin};

fn regions(folder: &Path, access: Access) -> RegionFolder {
    RegionFolder::new(folder, RegionOptions { access, ..RegionOptions::default() })
}

fn simulation(plugin: StoragePlugin, threads: usize) -> Simulation {
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
fn real_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(real::region_1_19_4(), folder.path().join("r.0.0.mca")).expect("it can be copied");
    folder
}

fn finished(folder: &Path, step: usize) -> Vec<ChunkPos> {
    let region = Region::open(folder.join("r.0.0.mca")).expect("the region opens");
    region.chunks().step_by(step).collect()
}

fn with_storage<T>(simulation: &mut Simulation, job: impl FnOnce(&mut ChunkStorage, &mut World) -> T) -> T {
    simulation.world_mut().resource_scope(|ecs, mut storage: bevy_ecs::world::Mut<'_, ChunkStorage>| {
        job(&mut storage, &mut ecs.resource_mut::<World>())
    })
}

fn load(simulation: &mut Simulation, positions: &[ChunkPos]) {
    with_storage(simulation, |storage, _| positions.iter().for_each(|position| storage.load(*position)));
    while with_storage(simulation, |storage, _| storage.loads_under_way()) > 0 {
        simulation.tick().expect("the tick runs");
    }
}

fn set(simulation: &mut Simulation, position: BlockPos, block: &str) {
    with_storage(simulation, |_, world| {
        let state = world.states().parse(block).expect("a known state");
        world.set_block(position, state).expect("the chunk is loaded");
    });
}

#[test]
fn chunks_enter_as_they_arrive_within_a_budget_of_time() {
    let folder = real_folder();
    let positions = finished(folder.path(), 3);
    let mut simulation = simulation(StoragePlugin::new(regions(folder.path(), Access::Read)), 1);
    load(&mut simulation, &positions);
    with_storage(&mut simulation, |storage, world| {
        assert_eq!((storage.loaded(), world.chunk_count()), (positions.len() as u64, positions.len()));
        assert!(storage.failures.is_empty() && storage.io().times().decode > 0);
    });
}

#[test]
fn a_budget_of_chunks_gives_the_same_ticks_for_any_number_of_threads() {
    let folder = real_folder();
    let positions = finished(folder.path(), 9);
    let hashes = |threads: usize| -> Vec<Option<u64>> {
        let plugin = StoragePlugin::new(regions(folder.path(), Access::Read))
            .settings(ChunkIoSettings { threads, ..ChunkIoSettings::default() })
            .budget(IntakeBudget::Chunks(10));
        let mut simulation = simulation(plugin, threads);
        with_storage(&mut simulation, |storage, _| {
            positions.iter().for_each(|position| storage.load(*position))
        });
        (0..9).map(|_| simulation.tick().expect("the tick runs").hash).collect()
    };
    let one = hashes(1);
    assert!(one.windows(2).take(7).all(|pair| pair[0] != pair[1]), "{one:?}");
    assert_eq!(one, hashes(3));
}

#[test]
fn what_was_changed_is_saved_in_turns_and_what_was_not_is_left_alone() {
    let folder = real_folder();
    let positions = finished(folder.path(), 40);
    let before = std::fs::read(folder.path().join("r.0.0.mca")).expect("the file is there");
    let plugin = StoragePlugin::new(regions(folder.path(), Access::Write)).autosave(Some(8));
    let mut simulation = simulation(plugin, 2);
    load(&mut simulation, &positions);
    simulation.run(20).expect("the ticks run");
    let after = std::fs::read(folder.path().join("r.0.0.mca")).expect("the file is there");
    assert!(after == before, "nothing has changed");

    let changed: Vec<ChunkPos> = positions.iter().copied().step_by(2).collect();
    for chunk in &changed {
        set(&mut simulation, BlockPos::new(chunk.x * 16 + 2, 77, chunk.z * 16 + 9), "sponge");
    }
    while with_storage(&mut simulation, |storage, _| storage.saved()) < changed.len() as u64 {
        simulation.tick().expect("the tick runs");
    }
    let failures = with_storage(&mut simulation, |storage, world| storage.save_all(world));
    assert!(failures.is_empty(), "{failures:?}");
    let sponges = |path: &Path| -> Vec<ChunkPos> {
        let states = BlockStates::load();
        let region = Region::open(path).expect("the region opens");
        let load = load_region(&region, &Dimension::overworld(), &states, &Limits::default());
        assert!(load.failures.is_empty() && load.chunks.len() == 676);
        let sponge = states.default_state("sponge");
        let has = |chunk: &&Chunk| chunk.block(2, 77, 9) == sponge;
        load.chunks.iter().filter(has).map(Chunk::position).collect()
    };
    assert_eq!(sponges(&folder.path().join("r.0.0.mca")), changed);
    drop(simulation);
    assert_eq!(sponges(&folder.path().join("r.0.0.mca")), changed);
}

#[test]
fn a_block_that_is_changed_back_after_a_save_is_saved_back() {
    let folder = real_folder();
    let position = finished(folder.path(), 100)[0];
    let block = BlockPos::new(position.x * 16 + 1, 100, position.z * 16 + 1);
    let plugin = StoragePlugin::new(regions(folder.path(), Access::Write)).autosave(None);
    let mut simulation = simulation(plugin, 1);
    load(&mut simulation, &[position]);
    let old =
        with_storage(&mut simulation, |_, world| world.states().print(world.block(block).expect("loaded")));
    for state in ["sponge", old.as_str()] {
        set(&mut simulation, block, state);
        let failures = with_storage(&mut simulation, |storage, world| storage.save_all(world));
        assert!(failures.is_empty(), "{failures:?}");
        let region = Region::open(folder.path().join("r.0.0.mca")).expect("the region opens");
        let states = BlockStates::load();
        let load = voxtick_anvil::load::load_chunks(
            &region,
            &[position],
            &Dimension::overworld(),
            &states,
            &Limits::default(),
        );
        let stored = load.chunks[0].block(block.x, block.y, block.z).expect("within range");
        assert_eq!(stored, states.parse(state).expect("a known state"));
    }
}

#[test]
fn a_chunk_that_is_unloaded_comes_back_as_it_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let plugin = StoragePlugin::new(regions(folder.path(), Access::Write));
    let mut simulation = simulation(plugin, 1);
    let position = ChunkPos::new(-40, 7);
    let block = BlockPos::new(position.x * 16, 5, position.z * 16);
    load(&mut simulation, &[position]);
    with_storage(&mut simulation, |_, world| {
        assert!(world.chunk(position).is_none(), "it is absent");
        let chunk = Chunk::empty(position, world.dimension());
        world.insert_chunk(chunk);
    });
    for state in ["sponge", "stone", "dirt"] {
        set(&mut simulation, block, state);
        with_storage(&mut simulation, |storage, world| {
            storage.unload(world, position);
            assert!(world.chunk(position).is_none());
            storage.load(position);
        });
        while with_storage(&mut simulation, |_, world| world.chunk(position).is_none()) {
            simulation.tick().expect("the tick runs");
        }
        with_storage(&mut simulation, |storage, world| {
            let state = world.states().parse(state).expect("a known state");
            assert_eq!(world.block(block), Some(state));
            assert!(storage.failures.is_empty(), "{:?}", storage.failures);
        });
    }
}

#[test]
fn what_cannot_be_saved_is_reported_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = RegionBytes::new();
    bytes.chunk(0, 3, &empty_chunk(0, 0));
    bytes.chunk(1, 3, b"no NBT");
    let path = bytes.write(folder.path(), "r.0.0.mca");
    let plugin = StoragePlugin::new(regions(folder.path(), Access::Write)).autosave(None);
    let mut simulation = simulation(plugin, 1);
    let (whole, damaged) = (ChunkPos::new(0, 0), ChunkPos::new(1, 0));
    load(&mut simulation, &[whole, damaged]);
    with_storage(&mut simulation, |storage, world| {
        assert!(matches!(storage.failures.as_slice(), [StorageFailure::Load(_)]), "{:?}", storage.failures);
        // A generator that takes damage for absence.
        let chunk = Chunk::empty(damaged, world.dimension());
        world.insert_chunk(chunk);
    });
    set(&mut simulation, BlockPos::new(1, 1, 1), "stone");
    for _ in 0..2 {
        let failures = with_storage(&mut simulation, |storage, world| storage.save_all(world));
        let [StorageFailure::Save(SaveChunkError { cause: SaveCause::Write(_), chunk })] =
            failures.as_slice()
        else {
            panic!("{failures:?}")
        };
        assert_eq!(chunk.position(), damaged);
    }
    let region = Region::open(path).expect("the region opens");
    let load = load_region(&region, &Dimension::overworld(), &BlockStates::load(), &Limits::default());
    assert_eq!((load.chunks.len(), load.failures.len()), (1, 1), "what was damaged is still there");
}
