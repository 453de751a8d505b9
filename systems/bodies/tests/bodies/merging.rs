//! Who takes in whom, as a table worked out by hand from the game's rules, and what is told of it.

use voxtick_bodies::{BodyId, Flags, Population, Settings, Spawn};
use voxtick_worlds::{BlockPos, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, Ledger, World};

const APPLE: ItemKind = ItemKind(1);

/// Bodies on a floor of stone at y = 0, with one block more on it.
fn scene(spawns: &[Spawn], sleeping: bool) -> (World, Population, Vec<BodyId>) {
    let states = crate::common::states();
    let mut population = Population::new(&states, Settings { sleeping, ..Settings::default() });
    let stone = states.parse("stone").expect("a known state");
    let mut world = World::new(Dimension::new("minecraft:test", 0, 64, true).expect("valid"), states);
    for x in -1..2 {
        for z in -1..2 {
            world.insert_chunk(Chunk::empty(ChunkPos::new(x, z), world.dimension()));
        }
    }
    for x in 0..32 {
        for z in 0..16 {
            world.set_block(BlockPos::new(x, 0, z), stone).expect("inside");
        }
    }
    world.set_block(BlockPos::new(9, 1, 2), stone).expect("inside");
    let ids = population.spawn(spawns).expect("room");
    (world, population, ids)
}

fn apples(count: u8, x: f64) -> Spawn {
    Spawn::at([x, 1.0, 8.5], ItemStack::new(APPLE, count, 64))
}

/// What is to be left of two stacks: place in the batch, and count.
type Left = &'static [(usize, u8)];

#[test]
fn who_takes_in_whom_is_as_the_table_says() {
    let pair = |one: u8, other: u8| [apples(one, 8.5), apples(other, 8.8)];
    let at = |one: f64, other: f64| [apples(3, one), apples(5, other)];
    let with = |change: fn(&mut Spawn)| {
        let mut pair = pair(3, 5);
        change(&mut pair[1]);
        pair
    };
    let table: &[(&str, [Spawn; 2], Left)] = &[
        ("the larger takes in the smaller that looks", pair(3, 5), &[(1, 8)]),
        ("the larger takes in the smaller that it finds", pair(5, 3), &[(0, 8)]),
        ("of equal ones the found takes in the one that looks", pair(4, 4), &[(1, 8)]),
        (
            "whichever looks first",
            {
                let mut pair = pair(4, 4);
                pair[1].age = Some(20);
                pair
            },
            &[(0, 8)],
        ),
        ("whole stacks only", pair(40, 30), &[(0, 40), (1, 30)]),
        ("up to the most that a stack may have", pair(40, 24), &[(0, 64)]),
        ("a full one takes no part", pair(64, 3), &[(0, 64), (1, 3)]),
        ("within half a block beside the box", at(8.0, 8.74), &[(1, 8)]),
        ("and no farther", at(8.0, 8.75), &[(0, 3), (1, 5)]),
        ("across the border of chunks", at(15.9, 16.2), &[(1, 8)]),
        ("like with like", with(|other| other.stack.kind = ItemKind(2)), &[(0, 3), (1, 5)]),
        ("nothing that nobody may pick up", with(|other| other.pickup_delay = None), &[(0, 3), (1, 5)]),
        ("nothing that never vanishes", with(|other| other.age = None), &[(0, 3), (1, 5)]),
        (
            "nothing above or below",
            [
                Spawn { position: [8.6, 1.0, 2.5], ..apples(3, 0.0) },
                Spawn { position: [9.2, 2.0, 2.5], ..apples(5, 0.0) },
            ],
            &[(0, 3), (1, 5)],
        ),
    ];
    for (rule, spawns, left) in table {
        for sleeping in [false, true] {
            let (mut world, mut population, ids) = scene(spawns, sleeping);
            let mut told = Vec::new();
            for _ in 0..40 {
                population.tick(&world, 1, 1);
                world.begin_tick(population.ticks());
                told.extend_from_slice(&population.events().merged);
            }
            let count = |id: &BodyId| population.view(*id).map(|view| view.stack.count);
            let found: Vec<(usize, u8)> =
                ids.iter().enumerate().filter_map(|(place, id)| Some((place, count(id)?))).collect();
            assert_eq!(found, *left, "{rule}");
            let mut ledger = Ledger::default();
            population.settle_ledger(&mut ledger);
            assert_eq!(ledger.merged as usize, 2 - left.len(), "{rule}");
            let expected =
                if let [(taker, _)] = **left { vec![(ids[1 - taker], ids[taker])] } else { vec![] };
            assert_eq!(told, expected, "{rule}");
        }
    }
}

#[test]
fn what_results_is_as_young_as_the_younger_and_waits_as_long_as_the_longer() {
    for counts in [[3, 5], [5, 3]] {
        let old = Spawn { age: Some(100), pickup_delay: Some(10), ..apples(counts[0], 8.5) };
        let young = Spawn { age: Some(3), pickup_delay: Some(500), ..apples(counts[1], 8.8) };
        let (mut world, mut population, _) = scene(&[old, young], true);
        for _ in 0..60 {
            population.tick(&world, 1, 1);
            world.begin_tick(population.ticks());
        }
        let views: Vec<_> = population.iter().map(|(_, view)| view).collect();
        assert_eq!(views.len(), 1);
        assert_eq!((views[0].stack.count, views[0].age, views[0].pickup_delay), (8, Some(63), Some(440)));
    }
}

#[test]
fn an_impulse_wakes_a_sleeper_and_a_landing_is_told_of_once() {
    let (mut world, mut population, ids) = scene(&[apples(3, 8.5)], true);
    let mut landed = Vec::new();
    let mut run = |population: &mut Population, ticks: u64| {
        for _ in 0..ticks {
            population.tick(&world, 1, 1);
            world.begin_tick(population.ticks());
            landed.extend_from_slice(&population.events().landed);
        }
    };
    run(&mut population, 30);
    assert!(population.view(ids[0]).expect("there").sleeps);
    let gone = BodyId { number: ids[0].number, generation: 9 };
    assert_eq!(population.push(&[(ids[0], [0.0, 0.3, 0.0]), (gone, [1.0; 3]), (ids[0], [0.1, 0.0, 0.0])]), 2);
    let pushed = population.view(ids[0]).expect("there");
    assert!(!pushed.sleeps && pushed.body.velocity[0] == 0.1 && pushed.body.velocity[1] > 0.1);
    run(&mut population, 60);
    let rests = population.view(ids[0]).expect("there").body;
    assert!(rests.position[0] > 8.6 && rests.position[1] == 1.0 && rests.flags.has(Flags::ON_GROUND));
    assert_eq!(landed, [ids[0], ids[0]], "when it began, and after the impulse");
}
