//! Chunks are loaded and saved beside the tick, and nothing is lost on the way.

#[path = "support/made.rs"]
mod made;
#[path = "support/real.rs"]
mod real;
#[path = "support/saving.rs"]
mod saving;
#[path = "support/storage.rs"]
mod storage;

use bevy_ecs::prelude::{Resource, World as EcsWorld};
use made::{RegionBytes, empty_chunk};
use saving::{save_all, unload};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use storage::{finished, load, real_folder, regions, set, simulation, with_storage};
use voxtick_anvil::compression::{Compression, Packer};
use voxtick_anvil::convert::recompress;
use voxtick_anvil::files::Access;
use voxtick_anvil::region::{OpenRegionError, Region, RegionFormat, open_region};
use voxtick_anvil::{
    Limits, SaveCause, SaveChunkError, StorageFailure, StoragePlugin, StorageSettings, load_region,
};
use voxtick_engine::{Allowance, Simulation};
use voxtick_worlds::{
    AttachmentHooks, BlockPos, BlockStates, Chunk, ChunkAttachments, ChunkPos, Dimension, RegionPos, World,
};

#[test]
fn chunks_enter_as_they_arrive_within_a_budget_of_time() {
    let folder = real_folder();
    let positions = finished(folder.path(), 3);
    let mut simulation = simulation(StoragePlugin::new(regions(folder.path(), Access::Read)), 1);
    load(&mut simulation, &positions);
    with_storage(&mut simulation, |storage, world| {
        assert_eq!((storage.loaded(), world.chunk_count()), (positions.len() as u64, positions.len()));
        assert!(storage.failures.is_empty() && storage.times().decode > 0);
        let busiest = storage.intake().busiest;
        assert!(busiest.time < Duration::from_millis(2) + busiest.largest_unit, "{busiest:?}");
    });
}

#[test]
fn a_budget_of_chunks_gives_the_same_ticks_for_any_number_of_threads() {
    let folder = real_folder();
    let positions = finished(folder.path(), 9);
    let hashes = |threads: usize| -> Vec<Option<u64>> {
        let plugin = StoragePlugin::new(regions(folder.path(), Access::Read))
            .settings(StorageSettings {
                codec_threads: threads,
                disk_threads: threads,
                ..StorageSettings::default()
            })
            .intake(Allowance::Units(10));
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
    let failures = save_all(&mut simulation);
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
        let failures = save_all(&mut simulation);
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
        unload(&mut simulation, position);
        with_storage(&mut simulation, |storage, world| {
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
        let failures = save_all(&mut simulation);
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

/// The chunks of the world in the order in which they enter, one a tick.
fn entering(folder: &Path, threads: usize, asked: &[ChunkPos], points: &[ChunkPos]) -> Vec<ChunkPos> {
    let plugin = StoragePlugin::new(regions(folder, Access::Read))
        .settings(StorageSettings { codec_threads: threads, window: 3, ..StorageSettings::default() })
        .intake(Allowance::Units(1));
    let mut simulation = simulation(plugin, 1);
    with_storage(&mut simulation, |storage, _| {
        asked.iter().for_each(|position| storage.load(*position));
        storage.set_points_of_interest(points.to_vec());
    });
    let mut order: Vec<ChunkPos> = Vec::new();
    for _ in asked {
        simulation.tick().expect("the tick runs");
        let world = simulation.world().resource::<World>();
        let new: Vec<ChunkPos> =
            world.chunk_positions().filter(|position| !order.contains(position)).collect();
        assert_eq!(new.len(), 1);
        order.extend(new);
    }
    order
}

#[test]
fn the_nearest_to_any_point_of_interest_enter_first_and_then_the_oldest() {
    let folder = real_folder();
    let mut asked = finished(folder.path(), 30);
    asked.reverse();
    let points = [ChunkPos::new(0, 0), ChunkPos::new(20, 25)];
    let mut expected: Vec<(i32, usize)> = (0..asked.len())
        .map(|order| {
            let far =
                |point: &ChunkPos| (asked[order].x - point.x).pow(2) + (asked[order].z - point.z).pow(2);
            (points.iter().map(far).min().expect("two points"), order)
        })
        .collect();
    expected.sort();
    let expected: Vec<ChunkPos> = expected.into_iter().map(|(_, order)| asked[order]).collect();
    assert_eq!(entering(folder.path(), 1, &asked, &points), expected);
    assert_eq!(entering(folder.path(), 3, &asked, &points), expected);
    assert_eq!(entering(folder.path(), 2, &asked, &[]), asked, "without points it is the order of asking");
}

#[test]
fn a_request_that_is_taken_back_never_enters() {
    let folder = real_folder();
    let asked = finished(folder.path(), 20);
    let plugin = StoragePlugin::new(regions(folder.path(), Access::Read))
        .settings(StorageSettings { window: 4, ..StorageSettings::default() })
        .intake(Allowance::Units(1));
    let mut simulation = simulation(plugin, 1);
    with_storage(&mut simulation, |storage, _| asked.iter().for_each(|chunk| storage.load(*chunk)));
    simulation.tick().expect("the tick runs");
    // One has entered, four are under way, the rest waits.
    let cancelled: Vec<ChunkPos> = asked.iter().copied().skip(1).step_by(2).collect();
    with_storage(&mut simulation, |storage, _| {
        assert!(cancelled.iter().all(|chunk| storage.cancel(*chunk)));
        assert!(!storage.cancel(cancelled[0]) && !storage.cancel(ChunkPos::new(999, 9)));
    });
    load(&mut simulation, &[]);
    with_storage(&mut simulation, |storage, world| {
        assert!(world.chunk_positions().all(|chunk| !cancelled.contains(&chunk)));
        assert_eq!(world.chunk_count(), asked.len() - cancelled.len());
        assert!(storage.longest_wait() >= asked.len() as u64 / 2, "{}", storage.longest_wait());
    });
}

#[test]
fn a_chunk_in_the_world_is_not_replaced_by_what_is_stored() {
    let folder = real_folder();
    let position = finished(folder.path(), 100)[0];
    let block = BlockPos::new(position.x * 16, 100, position.z * 16);
    let mut simulation = simulation(StoragePlugin::new(regions(folder.path(), Access::Read)), 1);
    load(&mut simulation, &[position]);
    set(&mut simulation, block, "sponge");
    load(&mut simulation, &[position]);
    with_storage(&mut simulation, |_, world| {
        assert_eq!(world.block(block), world.states().default_state("sponge"));
    });
}

#[test]
fn a_folder_of_linear_files_is_served_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let (position, limits) = (RegionPos::new(0, 0), Limits::default());
    let path = folder.path().join("r.0.0.linear");
    let source = Region::open_as(real::region_1_19_4(), position).expect("the region opens");
    let target = open_region(&path, position, Access::Write).expect("the region opens");
    recompress(&source, &*target, Compression::Lz4, &mut Packer::new(), &limits).expect("it is converted");
    target.flush().expect("it is flushed");
    drop(target);
    let before = std::fs::read(&path).expect("the file is there");

    let linear = regions(folder.path(), Access::Write).with_format(RegionFormat::Linear);
    let plugin = StoragePlugin::new(linear).autosave(Some(1)).flush_after(5);
    let mut simulation = simulation(plugin, 1);
    let new = ChunkPos::new(-3, 40);
    let positions: Vec<ChunkPos> = source.chunks().step_by(100).collect();
    load(&mut simulation, &positions);
    simulation.run(10).expect("the ticks run");
    assert!(std::fs::read(&path).expect("the file is there") == before, "nothing has changed");
    with_storage(&mut simulation, |_, world| {
        let chunk = Chunk::empty(new, world.dimension());
        world.insert_chunk(chunk);
    });
    let first = positions[0];
    let block = BlockPos::new(first.x * 16, 70, first.z * 16);
    set(&mut simulation, block, "sponge");
    // The debounced flush comes by itself.
    while std::fs::read(&path).expect("the file is there") == before {
        simulation.tick().expect("the tick runs");
    }
    let failures = save_all(&mut simulation);
    assert!(failures.is_empty(), "{failures:?}");
    drop(simulation);
    let states = BlockStates::load();
    for (file, expected) in [("r.0.0.linear", 676), ("r.-1.1.linear", 1)] {
        let load = voxtick_anvil::load_region_file(
            folder.path().join(file),
            &Dimension::overworld(),
            &states,
            &limits,
        )
        .expect("the region opens");
        assert_eq!((load.chunks.len(), load.failures.len()), (expected, 0), "{file}");
        for chunk in load.chunks.iter().filter(|chunk| chunk.position() == first) {
            assert_eq!(chunk.block(0, 70, 0), states.default_state("sponge"));
        }
    }
}

#[test]
fn two_storages_of_one_folder_do_not_write_over_each_other() {
    let folder = real_folder();
    let position = finished(folder.path(), 100)[0];
    let block = BlockPos::new(position.x * 16, 70, position.z * 16);
    let storage = || simulation(StoragePlugin::new(regions(folder.path(), Access::Write)).autosave(None), 1);
    let (mut first, mut second) = (storage(), storage());
    load(&mut first, &[position]);
    with_storage(&mut second, |_, world| {
        let chunk = Chunk::empty(position, world.dimension());
        world.insert_chunk(chunk);
    });
    set(&mut second, block, "sponge");
    let failures = save_all(&mut second);
    let [StorageFailure::Save(SaveChunkError { cause: SaveCause::Open(error), .. })] = failures.as_slice()
    else {
        panic!("{failures:?}")
    };
    assert!(matches!(error, OpenRegionError::Locked { path } if path.ends_with("r.0.0.mca")), "{error}");
    drop(first);
    let failures = save_all(&mut second);
    assert!(failures.is_empty(), "nothing is lost: {failures:?}");
}

#[test]
fn the_stages_tell_what_happened_and_where_the_time_went() {
    let folder = real_folder();
    let positions = finished(folder.path(), 60);
    let plugin = StoragePlugin::new(regions(folder.path(), Access::Write)).autosave(Some(4)).flush_after(1);
    let mut simulation = simulation(plugin, 1);
    load(&mut simulation, &positions);
    for chunk in &positions {
        set(&mut simulation, BlockPos::new(chunk.x * 16, 70, chunk.z * 16), "sponge");
    }
    let mut last = 0;
    while with_storage(&mut simulation, |storage, _| storage.saved()) < positions.len() as u64 || last < 4 {
        last += u64::from(with_storage(&mut simulation, |storage, _| storage.saved()) > 0);
        simulation.tick().expect("the tick runs");
    }
    let report = simulation.tick().expect("the tick runs");
    let intake = report.stage("intake").expect("the stage");
    let names: Vec<&str> = intake.counts.iter().map(|(name, _)| *name).collect();
    for name in [
        "chunks loaded",
        "bytes loaded",
        "chunks saved",
        "bytes saved",
        "chunks waiting",
        "saves waiting",
        "ticks the oldest waits",
        "read ns",
        "decode ns",
        "snapshot ns",
        "encode ns",
        "compress ns",
        "transfer ns",
        "flush ns",
    ] {
        assert!(names.contains(&name), "{name} is missing: {names:?}");
    }
    let times = with_storage(&mut simulation, |storage, _| storage.times());
    for time in [times.read, times.decode, times.snapshot, times.encode, times.compress, times.transfer] {
        assert!(time > 0, "{times:?}");
    }
}

/// What a made-up system has in chunks: bytes that it counts up every time it gets them back.
#[derive(Resource, Default)]
struct Marks(BTreeMap<ChunkPos, Vec<u8>>);

const MARKS: AttachmentHooks = AttachmentHooks {
    name: "test:marks",
    store: |ecs, chunk| ecs.resource::<Marks>().0.get(&chunk).cloned(),
    take_out: |ecs, chunk| ecs.resource_mut::<Marks>().0.remove(&chunk),
    put_back: |ecs, chunk, bytes| {
        if bytes.len() != 3 {
            return Err(format!("{} bytes where 3 were expected", bytes.len()));
        }
        ecs.resource_mut::<Marks>().0.insert(chunk, bytes.to_vec());
        Ok(())
    },
};

fn with_marks(plugin: StoragePlugin) -> Simulation {
    let mut simulation = simulation(plugin, 1);
    let ecs = simulation.world_mut();
    ecs.init_resource::<Marks>();
    ecs.resource_mut::<ChunkAttachments>().register(MARKS).expect("the first");
    simulation
}

fn marks(ecs: &mut EcsWorld) -> &mut BTreeMap<ChunkPos, Vec<u8>> {
    &mut ecs.resource_mut::<Marks>().into_inner().0
}

#[test]
fn what_systems_keep_in_a_chunk_leaves_and_enters_with_it() {
    let folder = real_folder();
    let positions = finished(folder.path(), 60);
    let (here, there) = (positions[0], positions[1]);
    let storage = || {
        with_marks(StoragePlugin::new(regions(folder.path(), Access::Write)).autosave(Some(4)).flush_after(2))
    };
    let mut first = storage();
    load(&mut first, &positions);
    marks(first.world_mut()).insert(here, vec![1, 2, 3]);
    // Nothing else has changed: its turn finds it, and only it is written.
    while with_storage(&mut first, |storage, _| storage.saved()) == 0 {
        first.tick().expect("the tick runs");
    }
    first.run(12).expect("the ticks run");
    assert_eq!(with_storage(&mut first, |storage, _| storage.saved()), 1, "once, not every turn");
    // Out of the world and back, before and after its save has come through.
    marks(first.world_mut()).insert(there, vec![4, 5, 6]);
    for ticks in [0, 20] {
        unload(&mut first, there);
        assert!(!marks(first.world_mut()).contains_key(&there), "it is taken out");
        first.run(ticks).expect("the ticks run");
        load(&mut first, &[there]);
        assert_eq!(marks(first.world_mut()).get(&there), Some(&vec![4, 5, 6]));
    }
    marks(first.world_mut()).insert(here, vec![7, 8, 9]);
    assert!(save_all(&mut first).is_empty());
    drop(first);

    let mut second = storage();
    load(&mut second, &[here, there]);
    assert_eq!(marks(second.world_mut()).get(&here), Some(&vec![7, 8, 9]));
    assert_eq!(marks(second.world_mut()).get(&there), Some(&vec![4, 5, 6]));
    // What is gone is no more stored, and bytes that are not understood are kept beside.
    marks(second.world_mut()).remove(&there);
    marks(second.world_mut()).insert(here, vec![0]);
    assert!(save_all(&mut second).is_empty());
    drop(second);
    let mut third = storage();
    load(&mut third, &[here, there]);
    assert!(marks(third.world_mut()).is_empty());
    with_storage(&mut third, |storage, world| {
        let [StorageFailure::Attachment(refused)] = storage.failures.as_slice() else {
            panic!("{:?}", storage.failures)
        };
        assert_eq!((refused.chunk, refused.kept_as.as_str()), (here, "test:marks.refused"));
        assert!(world.chunk(there).is_some_and(|chunk| chunk.attachments.is_empty()));
    });
    assert!(save_all(&mut third).is_empty());
    drop(third);
    let mut fourth = simulation(StoragePlugin::new(regions(folder.path(), Access::Read)), 1);
    load(&mut fourth, &[here]);
    with_storage(&mut fourth, |_, world| {
        let kept = &world.chunk(here).expect("it is there").attachments;
        assert_eq!(kept.get("test:marks.refused").map(|bytes| &**bytes), Some(&[0_u8][..]), "never lost");
    });
}
