//! Nothing lost, nothing doubled: after every tick the ledger says how many stacks there are, and so many there are.

use voxtick::bodies::{Bodies, BodiesPlugin, Destination, Spawn};
use voxtick::prelude::*;
use voxtick::transit::{LaneSettings, Layout, Lines, Room, Sink, Transit, TransitPlugin, TransitSolver};
use voxtick::worlds::generators::{Superflat, generate, square};
use voxtick::worlds::{Direction, PipeEntry};

#[test]
fn the_ledger_balances_after_every_tick_while_things_come_and_go() {
    let states = BlockStates::load();
    let flat = Superflat::classic(&states).expect("known blocks");
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&flat, &square(3), world.dimension()) {
        world.insert_chunk(chunk);
    }
    let settings = LaneSettings::default();
    let mut layout = Layout::default();
    layout.lines(&Lines { junction_every: Some(7), ..Lines::flowing(20, 900, settings, 3) });
    let mut simulation = Simulation::builder()
        .plugin(WorldsPlugin::new(world))
        .plugin(TransitPlugin::from_layout(&layout, settings).expect("a layout"))
        .plugin(BodiesPlugin::default())
        .build()
        .expect("a simulation");
    let mut highest = 0;
    for tick in 0..120 {
        let mut bodies = simulation.world_mut().resource_mut::<Bodies>();
        let drop = Spawn::at([1.5, -50.0, 2.5], ItemStack::single(ItemKind(3)));
        // The age at which an item vanishes: some do so while the test watches.
        let old = Spawn { age: Some(5_990), ..drop };
        let dropped = bodies.spawn(&[drop, old, drop]).expect("room");
        if tick % 3 == 0 {
            bodies.remove(&dropped[..1]);
        }
        simulation.tick().expect("a tick");
        let ecs = simulation.world();
        let ledger = ecs.resource::<Ledger>();
        let present =
            ecs.resource::<Transit>().0.totals().present() + ecs.resource::<Bodies>().count() as u64;
        assert_eq!(ledger.expected_present(), Some(present), "tick {tick}: {ledger:?}");
        highest = highest.max(present);
    }
    let ledger = simulation.world().resource::<Ledger>();
    assert!(
        ledger.delivered > 40 && ledger.despawned > 100 && highest > 900,
        "{ledger:?}, at most {highest}"
    );
}

/// A pipe lets fall what it carries above its own inlet, round and round.
#[test]
fn an_inlet_and_an_outlet_hand_over_within_the_tick() {
    let states = BlockStates::load();
    let flat = Superflat::classic(&states).expect("known blocks");
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&flat, &square(3), world.dimension()) {
        world.insert_chunk(chunk);
    }
    let (start, end) = (BlockPos::new(2, -59, 2), BlockPos::new(6, -59, 2));
    let mut layout = Layout::default();
    layout.line(start, Direction::East, 4, None);
    let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default()).expect("a layout");
    transit.add_sink(Sink { position: end, kind: None, period: 0, room: Room::Endless }).expect("a place");
    let inlet = BlockPos::new(2, -58, 2);
    // Something to lie on for what waits in the inlet.
    let stone = world.states().parse("stone").expect("a known state");
    world.set_block(start, stone).expect("loaded");
    // With its feet a hair above the inlet: it falls in within its first tick.
    let outlet = [2.5, -56.999, 2.5];
    let mut simulation = Simulation::builder()
        .plugin(WorldsPlugin::new(world))
        .plugin(TransitPlugin::new(transit).with_outlet(end, outlet))
        .plugin(BodiesPlugin::default())
        .build()
        .expect("a simulation");
    let entry = PipeEntry { junction: start, direction: Direction::East, position: 0 };
    let mut bodies = simulation.world_mut().resource_mut::<Bodies>();
    bodies.add_inlet(inlet, Destination::Pipe(entry));
    // Ten at once: the lane takes one, and the others wait in the inlet for room.
    let stack = ItemStack::new(ItemKind(5), 64, 64);
    bodies.spawn(&[Spawn::at(outlet, stack); 10]).expect("room");
    let (mut entered, mut left) = (0, 0);
    for tick in 0..400 {
        let before = simulation.world().resource::<Transit>().0.totals();
        simulation.tick().expect("a tick");
        let ecs = simulation.world();
        let (bodies, ledger) = (ecs.resource::<Bodies>(), ecs.resource::<Ledger>());
        let totals = ecs.resource::<Transit>().0.totals();
        assert_eq!(ledger.expected_present(), Some(totals.present() + bodies.count() as u64), "tick {tick}");
        assert_eq!(totals.present() + bodies.count() as u64, 10, "tick {tick}: none lost, none doubled");
        // Each body that entered in this tick is an item in it, and each item that left is a body.
        assert_eq!(totals.created - before.created, bodies.events().entered.len() as u64, "tick {tick}");
        entered += bodies.events().entered.len();
        left += totals.delivered - before.delivered;
    }
    assert!(entered >= 40 && left >= 40, "{entered} entered, {left} left");
}
