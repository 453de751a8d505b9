//! The transit stage in a whole simulation: ledger, reports, hashes.

use voxtick_engine::Simulation;
use voxtick_transit::{LaneSettings, Layout, Lines, Transit, TransitPlugin, TransitSolver};
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, Ledger, World, WorldsPlugin};

fn simulation(layout: &Layout, threads: usize) -> Simulation {
    let world = World::new(Dimension::overworld(), BlockStates::load());
    let transit = TransitSolver::from_layout(layout, LaneSettings::default()).expect("a sound layout");
    Simulation::builder()
        .threads(threads)
        .hash(true)
        .plugin(WorldsPlugin::new(world))
        .plugin(TransitPlugin::new(transit))
        .build()
        .expect("a sound simulation")
}

fn lines() -> Layout {
    let mut layout = Layout::default();
    layout.lines(&Lines { junction_every: Some(7), ..Lines::flowing(30, 1000, LaneSettings::default(), 3) });
    layout
}

#[test]
fn the_ledger_accounts_for_every_item_every_tick() {
    let mut simulation = simulation(&lines(), 1);
    for _ in 0..200 {
        let report = simulation.tick().expect("no error");
        let stage = report.stages.iter().find(|stage| stage.name == "transit").expect("the stage");
        let items = stage.items;
        let ledger = *simulation.world().resource::<Ledger>();
        let present = simulation.world().resource::<Transit>().0.item_count();
        assert_eq!(ledger.expected_present(), Some(present));
        assert_eq!(items, present);
    }
    assert!(simulation.world().resource::<Ledger>().delivered > 0);
}

#[test]
fn an_unloaded_chunk_stands_still_and_goes_on_when_it_returns() {
    let mut simulation = simulation(&lines(), 1);
    let chunk = ChunkPos::new(0, 0);
    let empty = || voxtick_worlds::Chunk::empty(chunk, &Dimension::overworld());
    simulation.world_mut().resource_mut::<World>().insert_chunk(empty());
    simulation.run(10).expect("no error");
    simulation.world_mut().resource_mut::<World>().remove_chunk(chunk);
    simulation.run(1).expect("no error");
    let name = voxtick_transit::LaneName {
        from: voxtick_worlds::BlockPos::new(0, 64, 0),
        direction: voxtick_worlds::Direction::East,
    };
    let lane =
        |simulation: &Simulation| simulation.world().resource::<Transit>().0.lane(name).expect("the lane");
    let frozen = lane(&simulation);
    simulation.run(20).expect("no error");
    assert_eq!(lane(&simulation), frozen);
    simulation.world_mut().resource_mut::<World>().insert_chunk(empty());
    simulation.run(2).expect("no error");
    assert_ne!(lane(&simulation), frozen);
}
