//! Pipes that are blocks: a world whose blocks change under the stage, and whose chunks leave and return changed, has
//! at every tick the network that its blocks say, and every lane the speed of its blocks.

use std::collections::BTreeMap;

use proptest::prelude::*;
use voxtick_engine::Simulation;
use voxtick_transit::{
    Connections, LaneSettings, PipeBlocks, PipeShape, SegmentedGraph, Transit, TransitPlugin, TransitSolver,
    UNIT,
};
use voxtick_worlds::{
    BlockPos, BlockStates, Chunk, ChunkPos, Dimension, Direction, ItemKind, ItemStack, Ledger, StateId,
    World, WorldsPlugin,
};

/// States by number: two of no pipe, then pipes that open to all sides and straight ones, each in several speeds.
const NAMES: [&str; 8] = [
    "air",
    "stone",
    "glass",
    "tinted_glass",
    "iron_chain[axis=x]",
    "iron_chain[axis=z]",
    "bone_block[axis=x]",
    "hay_block[axis=x]",
];

fn shape(name: &str, axis: Option<&str>) -> Option<PipeShape> {
    let settings = match name {
        "minecraft:glass" | "minecraft:hay_block" => LaneSettings::default(),
        "minecraft:tinted_glass" => LaneSettings::new(UNIT / 8, UNIT / 8).ok()?,
        "minecraft:iron_chain" => LaneSettings::new(1000, 9000).ok()?,
        "minecraft:bone_block" => LaneSettings::new(UNIT / 10, UNIT / 5).ok()?,
        _ => return None,
    };
    let connections = match axis {
        Some("x") => Connections::of(&[Direction::West, Direction::East]),
        Some("z") => Connections::of(&[Direction::North, Direction::South]),
        _ => Connections::ALL,
    };
    Some(PipeShape { connections, settings })
}

fn shape_of(states: &BlockStates, state: StateId) -> Option<PipeShape> {
    let axis = states.properties(state).find(|&(name, _)| name == "axis").map(|(_, axis)| axis);
    shape(states.name(state), axis)
}

fn slower(a: LaneSettings, b: LaneSettings) -> LaneSettings {
    LaneSettings::new(a.speed().min(b.speed()), a.spacing().max(b.spacing())).expect("sound")
}

#[derive(Debug, Clone)]
enum Action {
    Set(BlockPos, usize),
    /// Takes a chunk out of the world.
    Leave(bool),
    /// Brings back the chunks that left, changed as said since.
    Return,
    Tick,
    Insert(usize, u32),
}

fn place() -> impl Strategy<Value = BlockPos> {
    (10i32..24, 70i32..72, 3i32..5).prop_map(|(x, y, z)| BlockPos::new(x, y, z))
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        // Mostly along one line, so that runs come to be.
        8 => (10i32..24, 0usize..8).prop_map(|(x, state)| Action::Set(BlockPos::new(x, 70, 3), state)),
        4 => (place(), 0usize..8).prop_map(|(at, state)| Action::Set(at, state)),
        1 => any::<bool>().prop_map(Action::Leave),
        1 => Just(Action::Return),
        6 => Just(Action::Tick),
        3 => (0usize..100, 0u32..3 * UNIT).prop_map(|(lane, at)| Action::Insert(lane, at)),
    ]
}

/// The network must be what `blocks` say.
fn check(simulation: &Simulation, blocks: &BTreeMap<BlockPos, PipeShape>) -> Result<(), TestCaseError> {
    let transit = &simulation.world().resource::<Transit>().0;
    let mut expected = SegmentedGraph::new();
    for (&position, shape) in blocks {
        expected.add(position, shape.connections).expect("in range");
    }
    prop_assert_eq!(transit.graph().nodes(), expected.nodes());
    let lanes = transit.snapshot().lanes;
    for segment in expected.segments() {
        let wanted = segment.positions().map(|at| blocks[&at].settings).reduce(slower).expect("two ends");
        for name in [segment.forward(), segment.backward()] {
            prop_assert!(transit.lane(name).is_some());
            let record = lanes.iter().find(|record| record.lane == name);
            let settings = record.map_or(LaneSettings::default(), |record| record.settings);
            prop_assert_eq!(settings, wanted, "{}", name);
        }
    }
    let ledger = simulation.world().resource::<Ledger>();
    prop_assert_eq!(ledger.expected_present(), Some(transit.item_count()));
    prop_assert_eq!(transit.totals().present(), transit.item_count());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The faults this found: a block that took another's place with the same openings left the lane its old speed; so
    /// did one of the default speed in place of a slow one, or beside a fast one.
    #[test]
    fn the_network_follows_the_blocks_at_every_tick(actions in prop::collection::vec(action(), 1..80)) {
        let states = BlockStates::load();
        let ids = NAMES.map(|name| states.parse(name).expect("a state"));
        let shapes = ids.map(|id| shape_of(&states, id));
        let overworld = Dimension::overworld();
        let mut world = World::new(overworld.clone(), states);
        let chunks = [ChunkPos::new(0, 0), ChunkPos::new(1, 0)];
        for chunk in chunks {
            world.insert_chunk(Chunk::empty(chunk, &overworld));
        }
        let transit = TransitSolver::new(SegmentedGraph::new(), LaneSettings::default());
        let mut simulation = Simulation::builder()
            .plugin(WorldsPlugin::new(world))
            .plugin(TransitPlugin::new(transit).with_pipes(PipeBlocks::new(shape_of)))
            .build()
            .expect("a sound simulation");
        // The pipes of all chunks as they are now, and as they were when the stage last saw their chunk.
        let mut now = BTreeMap::new();
        let mut seen = BTreeMap::new();
        let mut away: BTreeMap<ChunkPos, (Chunk, Vec<(BlockPos, StateId)>)> = BTreeMap::new();
        let last = [Action::Tick, Action::Return, Action::Tick];
        for action in actions.into_iter().chain(last) {
            let mut world = simulation.world_mut().resource_mut::<World>();
            match action {
                Action::Set(position, state) => {
                    match away.get_mut(&position.chunk()) {
                        Some((_, changes)) => changes.push((position, ids[state])),
                        None => drop(world.set_block(position, ids[state]).expect("loaded")),
                    }
                    match shapes[state] {
                        Some(shape) => drop(now.insert(position, shape)),
                        None => drop(now.remove(&position)),
                    }
                }
                Action::Leave(second) => {
                    let chunk = chunks[usize::from(second)];
                    if let Some(kept) = world.remove_chunk(chunk) {
                        away.insert(chunk, (kept, Vec::new()));
                    }
                }
                Action::Return => {
                    for (_, (kept, changes)) in std::mem::take(&mut away) {
                        world.insert_chunk(kept);
                        for (position, state) in changes {
                            world.set_block(position, state).expect("loaded");
                        }
                    }
                }
                Action::Tick => {
                    seen.retain(|at: &BlockPos, _| away.contains_key(&at.chunk()));
                    let there = now.iter().filter(|(at, _)| !away.contains_key(&at.chunk()));
                    seen.extend(there.map(|(&at, &shape)| (at, shape)));
                    simulation.run(1).expect("no error");
                    check(&simulation, &seen)?;
                }
                Action::Insert(at, position) => {
                    let mut transit = simulation.world_mut().resource_mut::<Transit>();
                    let transit = &mut transit.0;
                    let lanes: Vec<_> = transit.graph().segments().map(|it| it.forward()).collect();
                    if let Some(&lane) = lanes.get(at % lanes.len().max(1)) {
                        let _ = transit.insert(lane, position, ItemStack::single(ItemKind(1)), 0);
                    }
                }
            }
        }
    }
}
