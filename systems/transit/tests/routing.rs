//! Where routers send items: to the nearest sink, round a jam, and elsewhere when they have changed their mind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use voxtick_transit::{
    Connections, Crossing, InsertError, LaneName, LaneSettings, Layout, NearestSink, ReferenceTransit, Room,
    Route, Router, Sink, Source, Supply, TransitSolver, UNIT,
};
use voxtick_worlds::{BlockPos, Direction, Inventories, ItemKind, ItemStack};

const SETTINGS: LaneSettings = match LaneSettings::new(UNIT / 8, UNIT / 8) {
    Ok(settings) => settings,
    Err(_) => panic!("sound"),
};

fn at(x: i32, z: i32) -> BlockPos {
    BlockPos::new(x, 64, z)
}

/// A line of 20 blocks to the east whose middle opens to the south as well, where 10 more blocks lead away.
fn fork() -> (Layout, BlockPos) {
    let mut layout = Layout::default();
    layout.line(at(0, 0), Direction::East, 20, None);
    layout.line(at(10, 0), Direction::South, 10, None);
    let fork = Connections::of(&[Direction::West, Direction::East, Direction::South]);
    layout.pipes.push((at(10, 0), fork));
    (layout, at(10, 0))
}

fn source() -> Source {
    Source {
        lane: LaneName { from: at(0, 0), direction: Direction::East },
        stack: ItemStack::single(ItemKind(1)),
        speed: 0,
        period: 2,
        delay: 0,
        supply: Supply::Endless,
    }
}

fn sink(position: BlockPos, room: Room) -> Sink {
    Sink { position, kind: None, period: 0, room }
}

fn run(transit: &mut TransitSolver, ticks: u32) {
    (0..ticks).for_each(|_| transit.step(&mut Inventories::default()));
}

#[test]
fn items_take_the_shortest_way_and_another_where_that_is_full() {
    let (layout, fork) = fork();
    let (near, far) = (at(20, 0), at(10, 10));
    let mut transit = TransitSolver::from_layout(&layout, SETTINGS).expect("sound");
    transit.remove_pipe(at(10, 5));
    let detour = [(at(10, 4), at(11, 4), Direction::East), (at(11, 4), at(11, 5), Direction::South)];
    // The way south takes a turn and so is longer than the way east.
    let mut turns = Layout::default();
    for (from, to, direction) in detour {
        turns.pipes.push((from, Connections::ALL));
        turns.pipes.push((to, Connections::ALL));
        assert_eq!(from.offset(direction), to);
    }
    turns.pipes.push((at(11, 6), Connections::ALL));
    turns.pipes.push((at(10, 6), Connections::ALL));
    transit.add_pipes(&turns.pipes).expect("in range");
    let router = Arc::new(NearestSink::new(transit.graph(), [near, far]));
    assert_eq!(router.distance(fork, Direction::East), Some(10));
    assert_eq!(router.distance(fork, Direction::South), Some(12));
    let corners = [fork, at(10, 4), at(11, 4), at(11, 5), at(11, 6), at(10, 6)];
    transit.set_router(&corners, router).expect("sound");
    transit.add_source(source()).expect("sound");
    transit.add_sink(sink(near, Room::Items(30))).expect("sound");
    transit.add_sink(sink(far, Room::Endless)).expect("sound");
    let lanes = [Direction::East, Direction::South].map(|direction| LaneName { from: fork, direction });
    let count = |transit: &TransitSolver, lane: usize| transit.lane(lanes[lane]).expect("the lane").len();
    while transit.taken(near) < 30 {
        assert!(transit.tick() < 1000, "{} taken", transit.taken(near));
        run(&mut transit, 1);
        assert_eq!(count(&transit, 1), 0, "the long way while the short one is free");
    }
    // The near sink is full: the short way fills up, then items take the other.
    run(&mut transit, 400);
    assert_eq!(count(&transit, 0), 81);
    assert!(transit.taken(far) > 20, "{} taken", transit.taken(far));
    assert!(transit.add_room(near, 500));
    let before = transit.taken(near);
    run(&mut transit, 200);
    assert!(transit.taken(near) > before + 90, "{} taken", transit.taken(near));
}

#[test]
fn a_lane_from_which_no_sink_can_be_reached_is_never_taken() {
    let (layout, fork) = fork();
    let mut transit = TransitSolver::from_layout(&layout, SETTINGS).expect("sound");
    let router = NearestSink::new(transit.graph(), [at(20, 0)]);
    transit.set_router(&[fork], Arc::new(router)).expect("sound");
    transit.add_source(source()).expect("sound");
    run(&mut transit, 1000);
    let east = LaneName { from: fork, direction: Direction::East };
    let south = LaneName { from: fork, direction: Direction::South };
    assert_eq!(transit.lane(east).map(|items| items.len()), Some(81), "full, for nobody takes anything");
    assert_eq!(transit.lane(south), Some(Vec::new()));
}

/// Sends everything south, or keeps it, as its owner says.
#[derive(Debug, Default)]
struct Gate(AtomicBool);

impl Router for Gate {
    fn route(&self, _: &Crossing) -> Route {
        if self.0.load(Ordering::Relaxed) { Route::Out(Direction::South) } else { Route::Wait }
    }
}

#[test]
fn a_router_that_changes_its_mind_is_asked_again_when_it_says_so() {
    let (layout, fork) = fork();
    let gate = Arc::new(Gate::default());
    let mut transit = TransitSolver::from_layout(&layout, SETTINGS).expect("sound");
    transit.set_router(&[fork], gate.clone()).expect("sound");
    transit.add_source(source()).expect("sound");
    let end = at(10, 10);
    transit.add_sink(sink(end, Room::Endless)).expect("sound");
    run(&mut transit, 500);
    assert_eq!(transit.item_count(), 81, "a full lane waits");
    let mut polled = transit.clone().with_polling();
    gate.0.store(true, Ordering::Relaxed);
    run(&mut transit, 1);
    assert_eq!(transit.taken(end), 0);
    assert_eq!(transit.item_count(), 81, "nobody has said anything, so nobody is asked");
    transit.wake(fork);
    run(&mut transit, 200);
    run(&mut polled, 201);
    assert!(transit.taken(end) > 50);
    // Asked every tick, the other one has let them go a tick earlier.
    run(&mut transit, 1);
    assert_eq!(transit.taken(end), polled.taken(end));
    let lanes = [(at(0, 0), Direction::East), (fork, Direction::South)];
    for (from, direction) in lanes {
        let positions = |transit: &TransitSolver| {
            let items = transit.lane(LaneName { from, direction }).expect("the lane");
            items.into_iter().map(|(position, _)| position).collect::<Vec<_>>()
        };
        assert_eq!(positions(&transit), positions(&polled));
    }
}

/// Waits while the way east has room, and goes south when it has none.
#[derive(Debug)]
struct SouthWhereEastIsFull;

impl Router for SouthWhereEastIsFull {
    fn route(&self, crossing: &Crossing) -> Route {
        if crossing.open.has(Direction::East) { Route::Wait } else { Route::Out(Direction::South) }
    }
}

/// What was put onto a lane by hand closed it to an item at its entry, and nobody asked that item's router again: it
/// waited for good where the reference sent it elsewhere.
#[test]
fn an_item_put_onto_a_lane_by_hand_has_what_waits_at_its_entry_asked_again() {
    let (layout, fork) = fork();
    let mut transit = TransitSolver::from_layout(&layout, SETTINGS).expect("sound");
    let mut reference = ReferenceTransit::from_layout(&layout, SETTINGS).expect("sound");
    transit.set_router(&[fork], Arc::new(SouthWhereEastIsFull)).expect("sound");
    reference.set_router(&[fork], Arc::new(SouthWhereEastIsFull)).expect("sound");
    // So slow that what is put at its entry closes it for a few ticks.
    let east = LaneName { from: fork, direction: Direction::East };
    let slow = LaneSettings::new(UNIT / 32, UNIT / 8).expect("sound");
    transit.set_lane(east, slow).expect("a lane");
    reference.set_lane(east, slow).expect("a lane");
    let put = |transit: &mut TransitSolver, reference: &mut ReferenceTransit, from, position| {
        let lane = LaneName { from, direction: Direction::East };
        let stack = ItemStack::single(ItemKind(1));
        transit.insert(lane, position, stack, 0).expect("room");
        reference.insert(lane, position, stack, 0).expect("room");
    };
    put(&mut transit, &mut reference, at(0, 0), 10 * UNIT);
    let south = LaneName { from: fork, direction: Direction::South };
    for tick in 0..20 {
        if tick == 10 {
            assert_eq!(transit.lane(south), Some(vec![]), "it waits");
            put(&mut transit, &mut reference, fork, 0);
        }
        transit.step(&mut Inventories::default());
        reference.step(&mut Inventories::default());
        assert_eq!(transit.lane(south), reference.lane(south), "tick {tick}");
    }
    assert_eq!(transit.lane(south).map(|items| items.len()), Some(1), "it went south");
}

#[test]
fn a_lane_that_is_as_full_as_it_can_be_says_so() {
    let (layout, _) = fork();
    let mut transit = TransitSolver::from_layout(&layout, SETTINGS).expect("sound");
    let lane = LaneName { from: at(0, 0), direction: Direction::East };
    let stack = ItemStack::single(ItemKind(1));
    for item in 0..SETTINGS.capacity(10) as u32 {
        transit.insert(lane, 10 * UNIT - item * UNIT / 8, stack, 0).expect("room");
    }
    assert_eq!(transit.item_count(), 81);
    for position in [0, 1, UNIT / 16, 5 * UNIT, 10 * UNIT] {
        let refused = transit.insert(lane, position, stack, 0);
        assert_eq!(refused, Err(InsertError::TooClose { lane, position, spacing: UNIT / 8 }));
    }
    let refused = transit.insert(lane, 10 * UNIT + 1, stack, 0).expect_err("behind the end");
    assert_eq!(
        refused.to_string(),
        "655361/65536 block is behind the end of lane from (0, 64, 0) east, which is 655360/65536 long"
    );
    let nowhere = LaneName { from: at(3, 0), direction: Direction::East };
    assert_eq!(transit.insert(nowhere, 0, stack, 0), Err(InsertError::NoLane { lane: nowhere }));
    assert_eq!(transit.item_count(), 81);
}
