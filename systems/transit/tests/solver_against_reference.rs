//! The solver against the reference: the same events, positions, handles, spills, containers and totals after every
//! tick, over random networks, routers, sources, sinks, edits and unloaded chunks; by events and polled.

use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use voxtick_transit::{
    Connections, Filter, LaneName, LaneSettings, NearestSink, Priority, ReferenceTransit, Room, Router,
    SegmentedGraph, Sink, Source, Spill, Supply, TransitSolver, UNIT,
};
use voxtick_worlds::{BlockPos, ChunkPos, ContainerId, Direction, Inventories, ItemKind, ItemStack};

#[derive(Debug, Clone)]
enum Action {
    Step(u8),
    Pipe(BlockPos, Connections),
    Pipes(Vec<(BlockPos, Connections)>),
    Remove(BlockPos),
    Source(Source),
    Sink(Sink),
    Router(BlockPos, u8),
    Lane(LaneName, LaneSettings),
    Loaded(ChunkPos, bool),
    Insert(LaneName, u32, ItemStack, u16),
    Room(BlockPos, u64),
    Put(u8, ItemStack),
    Take(u8),
}

/// One of the three sides of every comparison, each with its own containers.
struct Side<T> {
    transit: T,
    inventories: Inventories,
}

impl Side<ReferenceTransit> {
    fn lanes(&self) -> Vec<LaneName> {
        self.transit.lane_names()
    }
}

impl Side<TransitSolver> {
    fn lanes(&self) -> Vec<LaneName> {
        let segments = self.transit.graph().segments();
        let mut lanes: Vec<LaneName> = segments.flat_map(|it| [it.forward(), it.backward()]).collect();
        lanes.sort();
        lanes
    }
}

fn place() -> impl Strategy<Value = BlockPos> {
    (-4i32..6, 0i32..2, 0i32..3).prop_map(|(x, y, z)| BlockPos::new(x, y, z))
}

fn mask() -> impl Strategy<Value = Connections> {
    let across = Connections::of(&[Direction::East, Direction::West]);
    let along = Connections::of(&[Direction::North, Direction::South]);
    prop_oneof![
        3 => Just(across),
        1 => Just(along),
        2 => Just(Connections::ALL),
        1 => Just(across.with(Direction::South)),
        2 => (0u8..64).prop_map(Connections::from_bits),
    ]
}

fn direction() -> impl Strategy<Value = Direction> {
    (0usize..6).prop_map(|at| Direction::ALL[at])
}

fn lane() -> impl Strategy<Value = LaneName> {
    (place(), direction()).prop_map(|(from, direction)| LaneName { from, direction })
}

fn settings() -> impl Strategy<Value = LaneSettings> {
    (1u32..=UNIT, 1u32..=UNIT, any::<bool>()).prop_map(|(a, b, own)| {
        let (speed, spacing) = (a.min(b), a.max(b));
        // Slow lanes would need thousands of ticks before anything happens.
        let settings =
            LaneSettings::new(speed.max(UNIT / 12).min(spacing.max(UNIT / 12)), spacing.max(UNIT / 12));
        let settings = settings.expect("speed is at most the spacing");
        if own { settings.with_own_speeds() } else { settings }
    })
}

fn stack() -> impl Strategy<Value = ItemStack> {
    (0u32..4, 1u8..5).prop_map(|(kind, count)| ItemStack::new(ItemKind(kind), count, 8))
}

fn supply() -> impl Strategy<Value = Supply> {
    prop_oneof![
        3 => Just(Supply::Endless),
        1 => (0u64..6).prop_map(Supply::Items),
        2 => (0u32..2, prop::option::of(0u32..4))
            .prop_map(|(container, kind)| Supply::Container(ContainerId(container), kind.map(ItemKind))),
    ]
}

fn room() -> impl Strategy<Value = Room> {
    prop_oneof![
        3 => Just(Room::Endless),
        1 => (0u64..6).prop_map(Room::Items),
        2 => (0u32..2).prop_map(|container| Room::Container(ContainerId(container))),
    ]
}

fn source() -> impl Strategy<Value = Source> {
    (lane(), stack(), 0u16..9000, 1u32..6, 0u32..4, supply()).prop_map(
        |(lane, stack, speed, period, delay, supply)| Source { lane, stack, speed, period, delay, supply },
    )
}

fn sink() -> impl Strategy<Value = Sink> {
    (place(), prop::option::of(0u32..4), 0u32..9, room()).prop_map(|(position, kind, period, room)| Sink {
        position,
        kind: kind.map(ItemKind),
        period,
        room,
    })
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        12 => (1u8..30).prop_map(Action::Step),
        3 => (place(), mask()).prop_map(|(at, mask)| Action::Pipe(at, mask)),
        1 => prop::collection::vec((place(), mask()), 1..12).prop_map(Action::Pipes),
        2 => place().prop_map(Action::Remove),
        2 => source().prop_map(Action::Source),
        2 => sink().prop_map(Action::Sink),
        1 => (place(), 0u8..4).prop_map(|(at, router)| Action::Router(at, router)),
        2 => (lane(), settings()).prop_map(|(lane, settings)| Action::Lane(lane, settings)),
        2 => (-1i32..1, any::<bool>()).prop_map(|(x, loaded)| Action::Loaded(ChunkPos::new(x, 0), loaded)),
        4 => (lane(), 0u32..5 * UNIT, stack(), 0u16..9000)
            .prop_map(|(lane, at, stack, speed)| Action::Insert(lane, at, stack, speed)),
        1 => (place(), 1u64..4).prop_map(|(at, count)| Action::Room(at, count)),
        1 => (0u8..2, stack()).prop_map(|(container, stack)| Action::Put(container, stack)),
        1 => (0u8..2).prop_map(Action::Take),
    ]
}

fn network() -> impl Strategy<Value = Vec<(BlockPos, Connections)>> {
    prop::collection::vec((place(), mask()), 20..60)
}

/// The lanes that exist, for actions that would rarely name one by chance.
fn some_lane(lanes: Vec<LaneName>, wanted: LaneName) -> LaneName {
    match lanes.len() {
        0 => wanted,
        count => {
            lanes[(wanted.from.x * 7 + wanted.from.z + wanted.direction.index() as i32).unsigned_abs()
                as usize
                % count]
        }
    }
}

fn routers(graph: &SegmentedGraph, sinks: &[Sink]) -> Vec<Arc<dyn Router>> {
    vec![
        Arc::new(NearestSink::new(graph, sinks.iter().map(|sink| sink.position))),
        Arc::new(Priority::new([Direction::East, Direction::South, Direction::West, Direction::North])),
        Arc::new(Filter::new([(ItemKind(1), Direction::East), (ItemKind(2), Direction::South)])),
        Arc::new(Priority::new([Direction::Up, Direction::Down, Direction::West])),
    ]
}

macro_rules! apply {
    ($side:expr, $action:expr, $routers:expr) => {{
        let side = $side;
        match $action {
            Action::Step(_) => String::new(),
            Action::Pipe(at, mask) => format!("{:?}", side.transit.add_pipe(*at, *mask)),
            Action::Pipes(pipes) => format!("{:?}", side.transit.add_pipes(pipes)),
            Action::Remove(at) => format!("{}", side.transit.remove_pipe(*at)),
            Action::Source(source) => {
                let lane = some_lane(side.lanes(), source.lane);
                format!("{:?}", side.transit.add_source(Source { lane, ..*source }))
            }
            Action::Sink(sink) => {
                let position =
                    some_lane(side.lanes(), LaneName { from: sink.position, direction: Direction::Up }).from;
                format!("{:?}", side.transit.add_sink(Sink { position, ..*sink }))
            }
            Action::Router(at, router) => {
                format!("{:?}", side.transit.set_router(&[*at], $routers[*router as usize].clone()))
            }
            Action::Lane(lane, settings) => {
                let lane = some_lane(side.lanes(), *lane);
                format!("{:?}", side.transit.set_lane(lane, *settings))
            }
            Action::Loaded(chunk, loaded) => {
                side.transit.set_loaded(*chunk, *loaded);
                String::new()
            }
            Action::Insert(lane, at, stack, speed) => {
                let lane = some_lane(side.lanes(), *lane);
                format!("{:?}", side.transit.insert(lane, *at, *stack, *speed))
            }
            Action::Room(at, count) => format!("{}", side.transit.add_room(*at, *count)),
            Action::Put(container, stack) => {
                format!("{}", side.inventories.insert(ContainerId(u32::from(*container)), *stack))
            }
            Action::Take(container) => {
                format!("{:?}", side.inventories.take(ContainerId(u32::from(*container)), None, 3))
            }
        }
    }};
}

macro_rules! words {
    ($transit:expr) => {{
        let mut words = Vec::new();
        $transit.state_words(|word| words.push(word));
        words
    }};
}

fn containers(inventories: &Inventories) -> Vec<Option<ItemStack>> {
    (0..2).flat_map(|container| inventories.stacks(ContainerId(container)).collect::<Vec<_>>()).collect()
}

fn compare(
    reference: &Side<ReferenceTransit>,
    solver: &mut Side<TransitSolver>,
    spills: &[Spill],
    what: &str,
) -> Result<(), TestCaseError> {
    let tick = reference.transit.tick();
    prop_assert_eq!(reference.transit.events(), solver.transit.events(), "events at tick {}, {}", tick, what);
    prop_assert_eq!(reference.transit.totals(), solver.transit.totals(), "totals at tick {}, {}", tick, what);
    let lanes = reference.lanes();
    prop_assert_eq!(&lanes, &solver.lanes(), "lanes at tick {}, {}", tick, what);
    for lane in lanes {
        let (a, b) = (reference.transit.lane(lane), solver.transit.lane(lane));
        prop_assert_eq!(a, b, "{} at tick {}, {}", lane, tick, what);
    }
    prop_assert_eq!(words!(reference.transit), words!(solver.transit), "state at tick {}, {}", tick, what);
    prop_assert_eq!(spills, solver.transit.take_spills(), "spills, {}", what);
    prop_assert_eq!(
        containers(&reference.inventories),
        containers(&solver.inventories),
        "containers, {}",
        what
    );
    prop_assert_eq!(solver.transit.totals().present(), solver.transit.item_count(), "items lost or doubled");
    Ok(())
}

fn inventories() -> Inventories {
    let mut inventories = Inventories::default();
    let chest = inventories.add(4).expect("four slots");
    inventories.add(2).expect("two slots");
    inventories.insert(chest, ItemStack::new(ItemKind(1), 8, 8));
    inventories.insert(chest, ItemStack::new(ItemKind(2), 5, 8));
    inventories
}

fn run(
    pool: &ThreadPool,
    pipes: &[(BlockPos, Connections)],
    settings: LaneSettings,
    sources: &[Source],
    sinks: &[Sink],
    actions: &[Action],
) -> Result<(), TestCaseError> {
    let mut graph = SegmentedGraph::new();
    graph.add_many(pipes).expect("in range");
    let mut reference = Side { transit: ReferenceTransit::new(settings), inventories: inventories() };
    reference.transit.add_pipes(pipes).expect("in range");
    let mut by_events =
        Side { transit: TransitSolver::new(graph.clone(), settings), inventories: inventories() };
    let mut polled = Side {
        transit: TransitSolver::new(graph.clone(), settings).with_polling(),
        inventories: inventories(),
    };
    let mut shared = Side {
        transit: TransitSolver::new(graph.clone(), settings).with_least_shared(0),
        inventories: inventories(),
    };
    let routers = routers(&graph, sinks);
    let first = sources.iter().map(|&it| Action::Source(it)).chain(sinks.iter().map(|&it| Action::Sink(it)));
    for action in first.chain(actions.iter().cloned()) {
        let expected = apply!(&mut reference, &action, routers);
        prop_assert_eq!(&expected, &apply!(&mut by_events, &action, routers), "{:?}", action);
        prop_assert_eq!(&expected, &apply!(&mut polled, &action, routers), "{:?}", action);
        prop_assert_eq!(&expected, &apply!(&mut shared, &action, routers), "{:?}", action);
        if let Action::Step(ticks) = action {
            for _ in 0..ticks {
                reference.transit.step(&mut reference.inventories);
                by_events.transit.step(&mut by_events.inventories);
                polled.transit.step(&mut polled.inventories);
                pool.install(|| shared.transit.step_parallel(&mut shared.inventories));
                let spills = reference.transit.take_spills();
                compare(&reference, &mut by_events, &spills, "by events")?;
                compare(&reference, &mut polled, &spills, "polled")?;
                compare(&reference, &mut shared, &spills, "by three threads")?;
            }
        }
    }
    Ok(())
}

static POOL: OnceLock<ThreadPool> = OnceLock::new();

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_networks_run_alike(
        pipes in network(),
        settings in settings(),
        sources in prop::collection::vec(source(), 1..5),
        sinks in prop::collection::vec(sink(), 0..4),
        actions in prop::collection::vec(action(), 1..40),
    ) {
        let pool = POOL.get_or_init(|| ThreadPoolBuilder::new().num_threads(3).build().expect("three threads"));
        run(pool, &pipes, settings, &sources, &sinks, &actions)?;
    }
}
