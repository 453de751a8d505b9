//! Nothing lost, nothing doubled: after every tick the ledger says how many stacks there are, and so many there are.

use voxtick::bodies::{Bodies, BodiesPlugin, Spawn};
use voxtick::prelude::*;
use voxtick::transit::{LaneSettings, Layout, Lines, Transit, TransitPlugin};
use voxtick::worlds::generators::{Superflat, generate, square};

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
