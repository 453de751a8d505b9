//! A steady tick does not allocate: the whole binary counts.

use std::alloc::System;

use cap::Cap;
use voxtick_bodies::{Population, Settings, Spawn};
use voxtick_worlds::generators::split_mix;
use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, World};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// One test: the count is the process's.
#[test]
fn ticks_of_moving_drifting_and_resting_bodies_do_not_allocate() {
    let states = BlockStates::load();
    let [stone, slab, water] =
        ["stone", "oak_slab", "water"].map(|name| states.parse(name).expect("a known state"));
    let mut population = Population::new(&states, Settings::default());
    let mut world = World::new(Dimension::overworld(), states);
    for x in -1..3 {
        for z in -1..3 {
            world.insert_chunk(Chunk::empty(ChunkPos::new(x, z), world.dimension()));
        }
    }
    for x in -16..48 {
        for z in -16..48 {
            let floor = if (x + z) % 7 == 0 { slab } else { stone };
            world.set_block(BlockPos::new(x, 64, z), floor).expect("loaded");
            // Walls, so that they stay together.
            let is_wall = [-1, 31].contains(&x) || [-1, 31].contains(&z);
            for y in (65..90).filter(|_| is_wall) {
                world.set_block(BlockPos::new(x, y, z), stone).expect("loaded");
            }
        }
    }
    let spawns: Vec<Spawn> = (0..5_000_u64)
        .map(|number| {
            let hash = split_mix(number);
            let along = |bits: u64| 0.5 + (bits % 29_000) as f64 / 1_000.0;
            let position = [along(hash), 66.0 + along(hash >> 20) / 3.0, along(hash >> 40)];
            let stack = ItemStack::new(ItemKind(number as u32 % 3), 64, 64);
            Spawn { age: None, ..Spawn::at(position, stack) }
        })
        .collect();
    let ids = population.spawn(&spawns).expect("room");
    let throws: Vec<_> = ids
        .iter()
        .map(|&id| {
            let hash = split_mix(u64::from(id.number) + 77);
            (id, [(hash % 600) as f64 / 1_000.0 - 0.3, 0.3, (hash >> 20 & 511) as f64 / 1_000.0 - 0.25])
        })
        .collect();
    let pool = voxtick_engine::Pool::with_threads(2).expect("threads");
    let mut run = |population: &mut Population, ticks: u64| {
        // Entering the pool from outside is what asks for memory, every 63rd time: it is entered once.
        pool.install(|| {
            let before = ALLOCATOR.total_allocated();
            for _ in 0..ticks {
                population.tick(&world, 0, 2);
                world.begin_tick(population.ticks());
            }
            ALLOCATOR.total_allocated() - before
        })
    };
    // To and fro between the walls: the first flights make the room that the last one needs.
    let back: Vec<_> = throws.iter().map(|&(id, [x, y, z])| (id, [-x, y, -z])).collect();
    run(&mut population, 300);
    for _ in 0..4 {
        for flight in [&throws, &back] {
            population.throw(flight);
            run(&mut population, 300);
        }
    }
    population.throw(&throws);
    let allocations = run(&mut population, 300);
    // A column grows where more bodies meet than ever did before; nothing else may ask for memory.
    assert!(allocations <= 12, "{allocations} allocations while 5,000 bodies fly, land and fall asleep");
    // What leans on a wall takes a while until its speed is too small to be felt.
    run(&mut population, 700);
    assert_eq!(population.awake_count(), 0);
    assert_eq!(run(&mut population, 100), 0, "resting");
    // A flood lifts them all.
    pool.install(|| {
        for x in 0..31 {
            for (y, z) in (65..68).flat_map(|y| (0..31).map(move |z| (y, z))) {
                world.set_block(BlockPos::new(x, y, z), water).expect("loaded");
            }
        }
        for _ in 0..200 {
            population.tick(&world, 0, 2);
            world.begin_tick(population.ticks());
        }
        let before = ALLOCATOR.total_allocated();
        let tally = population.tick(&world, 0, 2);
        assert_eq!(ALLOCATOR.total_allocated() - before, 0, "drifting");
        assert!(tally.drifting > 4_000 && tally.exact == 0, "{tally:?}");
    });
}
