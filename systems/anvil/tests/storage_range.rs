//! Chunks leave when they are out of range: saved, in their turn, and not before time.

#[path = "support/real.rs"]
mod real;
#[path = "support/storage.rs"]
mod storage;

use storage::{finished, load, real_folder, regions, set, simulation, with_storage};
use voxtick_anvil::StoragePlugin;
use voxtick_anvil::files::Access;
use voxtick_engine::{Allowance, Simulation};
use voxtick_worlds::{BlockPos, ChunkPos};

#[test]
fn chunks_out_of_range_are_saved_and_dropped_and_none_goes_to_and_fro() {
    let folder = real_folder();
    let all = finished(folder.path(), 1);
    let plugin = StoragePlugin::new(regions(folder.path(), Access::Write));
    let mut simulation = simulation(plugin, 2);
    let start = ChunkPos::new(12, 12);
    let within = |point: ChunkPos, far: u32| {
        let near = |chunk: &&ChunkPos| chunk.x.abs_diff(point.x).max(chunk.z.abs_diff(point.z)) <= far;
        all.iter().filter(near).copied().collect::<Vec<ChunkPos>>()
    };
    with_storage(&mut simulation, |storage, _| {
        storage.set_points_of_interest(vec![start]);
        storage.set_radius(Some(4));
        // One that nobody wants is not even read.
        storage.load(ChunkPos::new(25, 25));
    });
    load(&mut simulation, &within(start, 4));
    let changed = BlockPos::new(8 * 16, 77, 12 * 16);
    set(&mut simulation, changed, "sponge");
    let drops = |simulation: &mut Simulation, x: i32| {
        with_storage(simulation, |storage, _| storage.set_points_of_interest(vec![ChunkPos::new(x, 12)]));
        simulation.run(2).expect("the ticks run");
        with_storage(simulation, |storage, world| {
            (storage.dropped(), world.chunk_count(), storage.loads_under_way())
        })
    };
    let count = within(start, 4).len();
    for x in [13, 12, 14, 12, 13] {
        assert_eq!(drops(&mut simulation, x), (0, count, 0), "within the margin");
    }
    let (dropped, left, _) = drops(&mut simulation, 15);
    assert!(dropped == 9 && left == count - 9, "one row of nine has left: {dropped}");
    load(&mut simulation, &within(ChunkPos::new(15, 12), 4));
    assert_eq!(with_storage(&mut simulation, |storage, _| storage.dropped()), 9);
    with_storage(&mut simulation, |storage, _| storage.set_radius(None));
    load(&mut simulation, &[ChunkPos::new(8, 12)]);
    with_storage(&mut simulation, |storage, world| {
        assert_eq!(world.block(changed), world.states().default_state("sponge"), "it was saved");
        storage.set_points_of_interest(vec![ChunkPos::new(5000, 5000)]);
        storage.set_radius(Some(1000));
    });
    simulation.run(2).expect("the ticks run");
    with_storage(&mut simulation, |storage, world| {
        assert_eq!(world.chunk_count(), 0);
        assert!(storage.failures.is_empty(), "{:?}", storage.failures);
    });
}

/// The jump of a point once unloaded all that it left behind in one tick.
#[test]
fn what_a_jump_leaves_behind_leaves_within_the_budget() {
    let folder = real_folder();
    let positions = finished(folder.path(), 5);
    let plugin = StoragePlugin::new(regions(folder.path(), Access::Read)).intake(Allowance::Units(7));
    let mut simulation = simulation(plugin, 1);
    load(&mut simulation, &positions);
    let jump = |simulation: &mut Simulation, x: i32| {
        with_storage(simulation, |storage, _| {
            storage.set_points_of_interest(vec![ChunkPos::new(x, 16)]);
            storage.set_radius(Some(40));
        });
    };
    let dropped = |simulation: &mut Simulation| with_storage(simulation, |storage, _| storage.dropped());
    jump(&mut simulation, 5_000);
    for ticks in 1..=3 {
        simulation.tick().expect("the tick runs");
        assert_eq!(dropped(&mut simulation), 7 * ticks);
    }
    // Back again: what has not left stays.
    jump(&mut simulation, 16);
    simulation.run(3).expect("the ticks run");
    assert_eq!(dropped(&mut simulation), 21);
    jump(&mut simulation, 5_000);
    simulation.run(positions.len() as u64 / 7).expect("the ticks run");
    let left = with_storage(&mut simulation, |_, world| world.chunk_count());
    assert_eq!((dropped(&mut simulation), left), (positions.len() as u64, 0));
}
