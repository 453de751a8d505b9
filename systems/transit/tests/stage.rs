//! The transit stage in a whole simulation: ledger, reports, hashes.

use voxtick_engine::Simulation;
use voxtick_transit::{
    Connections, LaneName, LaneSettings, Layout, Lines, PipeBlocks, PipeShape, Transit, TransitPlugin,
    TransitSolver, UNIT,
};
use voxtick_worlds::{
    BlockPos, BlockStates, Chunk, ChunkAttachments, ChunkPos, Dimension, Direction, ItemKind, ItemStack,
    Ledger, World, WorldsPlugin,
};

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
    let empty = || Chunk::empty(chunk, &Dimension::overworld());
    simulation.world_mut().resource_mut::<World>().insert_chunk(empty());
    simulation.run(10).expect("no error");
    simulation.world_mut().resource_mut::<World>().remove_chunk(chunk);
    simulation.run(1).expect("no error");
    let name = LaneName { from: BlockPos::new(0, 64, 0), direction: Direction::East };
    let lane =
        |simulation: &Simulation| simulation.world().resource::<Transit>().0.lane(name).expect("the lane");
    let frozen = lane(&simulation);
    simulation.run(20).expect("no error");
    assert_eq!(lane(&simulation), frozen);
    simulation.world_mut().resource_mut::<World>().insert_chunk(empty());
    simulation.run(2).expect("no error");
    assert_ne!(lane(&simulation), frozen);
}

/// Chains are slow straight pipes, glass opens to all sides.
fn pipes() -> PipeBlocks {
    PipeBlocks::new(|states: &BlockStates, state| match states.name(state) {
        "minecraft:glass" => {
            Some(PipeShape { connections: Connections::ALL, settings: LaneSettings::default() })
        }
        "minecraft:iron_chain" => {
            let axis = states.properties(state).find(|&(name, _)| name == "axis")?.1;
            let ways = match axis {
                "x" => [Direction::West, Direction::East],
                "y" => [Direction::Down, Direction::Up],
                _ => [Direction::North, Direction::South],
            };
            let settings = LaneSettings::new(1000, 9000).ok()?;
            Some(PipeShape { connections: Connections::of(&ways), settings })
        }
        _ => None,
    })
}

#[test]
fn pipes_are_read_from_chunks_and_follow_the_blocks() {
    let states = BlockStates::load();
    let glass = states.parse("glass").expect("a state");
    let chain = states.parse("iron_chain[axis=x]").expect("a state");
    let mut world = World::new(Dimension::overworld(), states);
    world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), &Dimension::overworld()));
    for x in 0..=10 {
        let state = if x % 10 == 0 { glass } else { chain };
        world.set_block(BlockPos::new(x, 70, 3), state).expect("loaded");
    }
    let transit = TransitSolver::new(Default::default(), LaneSettings::default());
    let mut simulation = Simulation::builder()
        .plugin(WorldsPlugin::new(world))
        .plugin(TransitPlugin::new(transit).with_pipes(pipes()))
        .build()
        .expect("a sound simulation");
    simulation.run(1).expect("no error");
    let lane = LaneName { from: BlockPos::new(0, 70, 3), direction: Direction::East };
    {
        let transit = &mut simulation.world_mut().resource_mut::<Transit>().0;
        assert_eq!(transit.graph().segments().map(|segment| segment.length).collect::<Vec<_>>(), [10]);
        transit.insert(lane, 5 * UNIT, ItemStack::single(ItemKind(1)), 0).expect("room");
        transit.insert(lane, UNIT, ItemStack::single(ItemKind(2)), 0).expect("room");
    }
    simulation.run(2).expect("no error");
    let items = simulation.world().resource::<Transit>().0.lane(lane).expect("the lane");
    assert_eq!(items[0].0, 5 * UNIT + 2000, "chains are slow");
    // A junction in the middle: both items keep their places; then a gap: one falls out.
    simulation.world_mut().resource_mut::<World>().set_block(BlockPos::new(3, 70, 3), glass).expect("loaded");
    simulation.run(1).expect("no error");
    assert_eq!(simulation.world().resource::<Transit>().0.graph().segment_count(), 2);
    let air = voxtick_worlds::StateId::AIR;
    simulation.world_mut().resource_mut::<World>().set_block(BlockPos::new(2, 70, 3), air).expect("loaded");
    simulation.run(1).expect("no error");
    let ledger = *simulation.world().resource::<Ledger>();
    assert_eq!((ledger.created, ledger.spilled, ledger.expected_present()), (2, 1, Some(1)));
    assert_eq!(simulation.world().resource::<Transit>().0.item_count(), 1);
}

/// Lines over three chunks in a world that has them.
fn stored_world() -> Simulation {
    let mut simulation = simulation(&lines(), 1);
    for x in 0..3 {
        for z in 0..2 {
            let chunk = Chunk::empty(ChunkPos::new(x, z), &Dimension::overworld());
            simulation.world_mut().resource_mut::<World>().insert_chunk(chunk);
        }
    }
    simulation
}

fn balance(simulation: &Simulation) -> u64 {
    let present = simulation.world().resource::<Transit>().0.item_count();
    assert_eq!(simulation.world().resource::<Ledger>().expected_present(), Some(present));
    present
}

#[test]
fn what_is_in_pipes_leaves_and_returns_with_its_chunk() {
    let (mut simulation, mut still) = (stored_world(), stored_world());
    let chunk = ChunkPos::new(1, 0);
    for simulation in [&mut simulation, &mut still] {
        simulation.run(20).expect("no error");
    }
    let before = balance(&simulation);
    // A chunk that is stored has its items kept with it, and what they are does not change by storing.
    assert!(ChunkAttachments::store(simulation.world_mut(), chunk));
    assert!(!ChunkAttachments::store(simulation.world_mut(), chunk), "nothing has changed since");
    assert!(!ChunkAttachments::take_out(simulation.world_mut(), chunk), "it is what has just been stored");
    let left = balance(&simulation);
    assert!(left < before);
    let kept = simulation.world_mut().resource_mut::<World>().remove_chunk(chunk).expect("it was there");
    assert!(!kept.attachments["voxtick:transit"].is_empty());
    let same = still.world_mut().resource_mut::<World>().remove_chunk(chunk).expect("it was there");
    for simulation in [&mut simulation, &mut still] {
        simulation.run(15).expect("no error");
    }
    balance(&simulation);
    simulation.world_mut().resource_mut::<World>().insert_chunk(kept);
    assert_eq!(ChunkAttachments::put_back(simulation.world_mut(), chunk), []);
    still.world_mut().resource_mut::<World>().insert_chunk(same);
    for _ in 0..30 {
        simulation.run(1).expect("no error");
        still.run(1).expect("no error");
        balance(&simulation);
        let words = |simulation: &Simulation| {
            let mut words = Vec::new();
            simulation.world().resource::<Transit>().0.state_words(|word| words.push(word));
            words
        };
        assert_eq!(words(&simulation), words(&still), "as if it had stood still");
    }
}

#[test]
fn bytes_of_a_chunk_that_are_damaged_are_refused_and_kept() {
    let mut simulation = stored_world();
    simulation.run(20).expect("no error");
    let (chunk, other) = (ChunkPos::new(1, 0), ChunkPos::new(0, 0));
    ChunkAttachments::store(simulation.world_mut(), chunk);
    let before = balance(&simulation);
    let sound =
        simulation.world().resource::<World>().chunk(chunk).expect("loaded").attachments["voxtick:transit"]
            .clone();
    for (place, bytes) in [(chunk, &sound[..sound.len() - 1]), (other, &sound[..])] {
        let mut world = simulation.world_mut().resource_mut::<World>();
        let damaged = world.chunk_mut(place).expect("loaded");
        damaged.attachments.insert("voxtick:transit".to_owned(), bytes.into());
        let refused = ChunkAttachments::put_back(simulation.world_mut(), place);
        assert_eq!(refused.len(), 1, "{place:?}");
        assert_eq!(balance(&simulation), before);
    }
}
