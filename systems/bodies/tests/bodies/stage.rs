//! The bodies stage inside a simulation: hashes, the ledger, inlets and what falls out of pipes.

use bevy_ecs::message::Messages;
use voxtick_bodies::{Bodies, BodiesPlugin, Bounds, Destination, Entered, Settings, Spawn};
use voxtick_engine::Simulation;
use voxtick_worlds::generators::{Hills, generate, split_mix, square};
use voxtick_worlds::{
    BlockPos, BlockStates, ChunkAttachments, ChunkPos, Dimension, Inventories, ItemKind, ItemStack, Ledger,
    SpilledItem, StateId, World, WorldsPlugin,
};

/// Hills with rain of stacks that merge, roll, float and vanish.
fn simulation(threads: usize, settings: Settings) -> Simulation {
    simulation_with(threads, settings, 5_900)
}

/// As [`simulation`], with a third of the stacks of the age `old` and up to 89 ticks more.
fn simulation_with(threads: usize, settings: Settings, old: i16) -> Simulation {
    let states = BlockStates::load();
    let hills = Hills::new(5, &states).expect("known states");
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&hills, &square(5), world.dimension()) {
        world.insert_chunk(chunk);
    }
    let mut simulation = Simulation::builder()
        .threads(threads)
        .seed(11)
        .hash(true)
        .plugin(WorldsPlugin::new(world))
        .plugin(BodiesPlugin { settings })
        .build()
        .expect("a valid simulation");
    let spawns: Vec<Spawn> = (0..3_000_u64)
        .map(|number| {
            let hash = split_mix(number);
            let (x, z) = ((hash % 60) as i32 - 30, (hash >> 8) as i32 % 60 - 30);
            let stack = ItemStack::new(ItemKind(number as u32 % 5), 1 + (hash >> 50) as u8 % 40, 64);
            let position = [
                f64::from(x) + 0.4,
                f64::from(hills.ground(x, z)) + 2.0 + (hash >> 40 & 7) as f64,
                f64::from(z) + 0.7,
            ];
            let age = if number % 3 == 0 { Some(old + (number % 90) as i16) } else { Some(0) };
            let velocity = [0.3, 0.1, -0.2].map(|speed| speed * ((hash >> 20 & 3) as f64 - 1.0));
            Spawn { velocity, age, ..Spawn::at(position, stack) }
        })
        .collect();
    simulation.world_mut().resource_mut::<Bodies>().spawn(&spawns).expect("room");
    simulation
}

fn hashes(threads: usize, settings: Settings, ticks: u64) -> Vec<u64> {
    let mut simulation = simulation(threads, settings);
    (0..ticks)
        .map(|tick| {
            if tick == 40 {
                // A floor gives way.
                let mut world = simulation.world_mut().resource_mut::<World>();
                for x in -30..30 {
                    for y in 40..110 {
                        world.set_block(BlockPos::new(x, y, x / 2), StateId::AIR).expect("loaded");
                    }
                }
            }
            let hash = simulation.tick().expect("a tick").hash.expect("hashing is on");
            let ledger = *simulation.world().resource::<Ledger>();
            let present = simulation.world().resource::<Bodies>().count() as u64;
            assert_eq!(ledger.expected_present(), Some(present), "tick {tick}: {ledger:?}");
            hash
        })
        .collect()
}

#[test]
fn one_two_three_and_eight_threads_give_the_same_hashes_and_the_ledger_balances() {
    let one = hashes(1, Settings::default(), 90);
    for threads in [2, 3, 8] {
        assert_eq!(hashes(threads, Settings::default(), 90), one, "{threads} threads");
    }
    let never_asleep = Settings { sleeping: false, ..Settings::default() };
    assert_eq!(hashes(2, never_asleep, 90), one, "sleeping changes nothing");
}

#[test]
fn an_inlet_takes_in_what_reaches_it_until_its_container_is_full() {
    let mut simulation = simulation(1, Settings::default());
    let mut inventories = Inventories::default();
    let chest = inventories.add(1).expect("a slot");
    simulation.world_mut().insert_resource(inventories);
    let spawns: Vec<Spawn> = (0..3)
        .map(|at| Spawn::at([0.5, 200.5 + f64::from(at) * 3.0, 0.5], ItemStack::new(ItemKind(77), 30, 64)))
        .collect();
    let inlet = BlockPos::new(0, 200, 0);
    let ids = {
        let mut bodies = simulation.world_mut().resource_mut::<Bodies>();
        bodies.add_inlet(inlet, Destination::Container(chest));
        bodies.spawn(&spawns).expect("room")
    };
    simulation.run(1).expect("a tick");
    let bodies = simulation.world().resource::<Bodies>();
    assert_eq!(bodies.view(ids[0]), None);
    let into = Destination::Container(chest);
    assert_eq!(bodies.events().entered, [Entered { body: ids[0], inlet, into }]);
    assert!(bodies.view(ids[1]).is_some());
    simulation.run(40).expect("ticks");
    let bodies = simulation.world().resource::<Bodies>();
    assert_eq!(bodies.view(ids[1]), None, "it fell in");
    assert!(bodies.view(ids[2]).expect("no room for it").body.position[1] < 199.0);
    assert_eq!(simulation.world().resource::<Inventories>().item_count(chest), 60);
    let present = simulation.world().resource::<Bodies>().count() as u64;
    assert_eq!(simulation.world().resource::<Ledger>().expected_present(), Some(present));
}

/// Every body without its name, in an order of their own.
fn bodies_of(simulation: &Simulation) -> Vec<[u64; 11]> {
    let mut all: Vec<_> = simulation
        .world()
        .resource::<Bodies>()
        .iter()
        .map(|(_, view)| {
            let [x, y, z] = view.body.position.map(f64::to_bits);
            let [vx, vy, vz] = view.body.velocity.map(f64::to_bits);
            let stack = view.stack;
            [
                x,
                y,
                z,
                vx,
                vy,
                vz,
                u64::from(view.body.flags.results().0),
                u64::from(stack.kind.0),
                u64::from(stack.count),
                view.pickup_delay.map_or(u64::MAX, u64::from),
                view.age.map_or(u64::MAX, |age| i64::from(age).cast_unsigned()),
            ]
        })
        .collect();
    all.sort_unstable();
    all
}

/// A chunk that leaves with its bodies is as one whose bodies are held, once both are back.
#[test]
fn a_chunk_that_is_stored_taken_out_and_put_back_goes_on_to_the_bit() {
    let settings = Settings { merging: false, ..Settings::default() };
    let away = ChunkPos::new(0, -1);
    // None vanishes meanwhile, so that each gets its number back, and what is random about it with it.
    for ticks in [1, 3, 30, 70] {
        let [mut held, mut kept] = [1, 2].map(|threads| simulation_with(threads, settings, 0));
        for simulation in [&mut held, &mut kept] {
            simulation.run(ticks).expect("ticks");
        }
        let chunk = held.world_mut().resource_mut::<World>().remove_chunk(away).expect("it is there");
        let ecs = kept.world_mut();
        assert!(ChunkAttachments::store(ecs, away));
        let stored = ecs.resource::<World>().chunk(away).expect("it is there").attachments.clone();
        assert!(!ChunkAttachments::take_out(ecs, away), "it is stored already");
        assert!(ecs.resource::<Bodies>().rows_of_chunk(away).is_empty());
        let kept_chunk = ecs.resource_mut::<World>().remove_chunk(away).expect("it is there");
        assert_eq!(kept_chunk.attachments, stored);
        let here = |simulation: &Simulation| simulation.world().resource::<Bodies>().count();
        assert!(here(&kept) + 40 < here(&held), "the chunk has bodies");
        for simulation in [&mut held, &mut kept] {
            simulation.run(11).expect("ticks");
        }
        held.world_mut().resource_mut::<World>().insert_chunk(chunk);
        kept.world_mut().resource_mut::<World>().insert_chunk(kept_chunk);
        assert_eq!(ChunkAttachments::put_back(kept.world_mut(), away), []);
        for _ in 0..30 {
            for simulation in [&mut held, &mut kept] {
                simulation.run(1).expect("ticks");
                let ledger = simulation.world().resource::<Ledger>().expected_present();
                assert_eq!(ledger, Some(here(simulation) as u64));
            }
            assert!(bodies_of(&held) == bodies_of(&kept), "left after {ticks} ticks");
        }
    }
}

#[test]
fn bytes_that_are_no_bodies_are_refused_and_kept() {
    let mut simulation = simulation(1, Settings::default());
    let here = ChunkPos::new(0, 0);
    let ecs = simulation.world_mut();
    let before = ecs.resource::<Bodies>().count();
    let mut world = ecs.resource_mut::<World>();
    let chunk = world.chunk_mut(here).expect("it is there");
    chunk.attachments.insert("voxtick:bodies".to_owned(), [1; 20].into());
    let refused = ChunkAttachments::put_back(ecs, here);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].kept_as, "voxtick:bodies.refused");
    assert_eq!(ecs.resource::<Bodies>().count(), before);
}

#[test]
fn what_falls_out_of_a_pipe_is_a_body_in_the_same_tick() {
    let mut simulation = simulation(1, Settings::default());
    simulation.run(1).expect("a tick");
    let fallen = |simulation: &Simulation| {
        let space = Bounds { min: [0.0, 190.0, 0.0], max: [1.0, 201.0, 1.0] };
        let mut found = Vec::new();
        simulation.world().resource::<Bodies>().in_box(&space, &mut found);
        found.len()
    };
    let spill = SpilledItem { stack: ItemStack::single(ItemKind(3)), point: [0.5, 200.0, 0.5] };
    simulation.world_mut().resource_mut::<Messages<SpilledItem>>().write(spill);
    assert_eq!(fallen(&simulation), 0);
    simulation.run(1).expect("a tick");
    assert_eq!(fallen(&simulation), 1);
    simulation.run(1).expect("a tick");
    assert_eq!(fallen(&simulation), 1, "it is read once");
}
