//! Chunks that leave and return: what is taken out with a chunk comes back as if it had stood still, and nothing enters
//! what is not there.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use voxtick_transit::{
    Connections, EventKind, InsertError, LaneName, LaneSettings, Layout, ReferenceTransit, Room, Sink,
    Snapshot, SnapshotError, Source, Supply, TransitSolver, UNIT,
};
use voxtick_worlds::{BlockPos, ChunkPos, Direction, Inventories, ItemKind, ItemStack};

/// The chunks that the network lies in.
const CHUNKS: [ChunkPos; 6] = [
    ChunkPos::new(-1, -1),
    ChunkPos::new(-1, 0),
    ChunkPos::new(0, -1),
    ChunkPos::new(0, 0),
    ChunkPos::new(1, 0),
    ChunkPos::new(2, 0),
];

fn lane(x: i32, z: i32, direction: Direction) -> LaneName {
    LaneName { from: BlockPos::new(x, 64, z), direction }
}

/// What stands at junctions and how lanes move, without a pipe.
fn equip(transit: &mut TransitSolver) {
    for (at, (x, z)) in [(-6, -6), (5, 5), (-6, 5), (0, 0), (-1, -2), (40, 0)].into_iter().enumerate() {
        transit
            .add_source(Source {
                lane: lane(x, z, Direction::ALL[2 + at % 4]),
                stack: ItemStack::new(ItemKind(at as u32), 1 + at as u8, 64),
                speed: 900 * at as u16,
                period: 3 + at as u32,
                delay: at as u32,
                supply: if at == 2 { Supply::Items(60) } else { Supply::Endless },
            })
            .expect("sound");
    }
    for (x, z, period, room) in
        [(3, -4, 9, Room::Endless), (-3, 2, 0, Room::Items(9)), (40, 0, 4, Room::Endless)]
    {
        transit
            .add_sink(Sink { position: BlockPos::new(x, 64, z), kind: None, period, room })
            .expect("sound");
    }
}

/// A grid over four chunks and a line over two more, with lanes of own speeds.
fn network() -> TransitSolver {
    let mut layout = Layout::default();
    layout.grid(BlockPos::new(-6, 64, -6), 12, 12);
    layout.line(BlockPos::new(6, 64, 0), Direction::East, 34, None);
    layout.pipes.push((BlockPos::new(6, 64, 0), Connections::of(&[Direction::East, Direction::West])));
    let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default()).expect("sound");
    equip(&mut transit);
    let own = LaneSettings::new(UNIT / 16, UNIT / 8).expect("sound").with_own_speeds();
    for lane in [lane(0, 0, Direction::East), lane(-1, 0, Direction::South), lane(40, 0, Direction::West)] {
        transit.set_lane(lane, own).expect("exists");
    }
    transit
}

type Items = Vec<(u32, ItemStack)>;

/// What is on every lane, by name.
fn items(transit: &TransitSolver) -> BTreeMap<LaneName, Items> {
    let lanes = transit.graph().segments().flat_map(|it| [it.forward(), it.backward()]);
    lanes
        .map(|name| {
            let items = transit.lane(name).expect("the lane").into_iter();
            (name, items.map(|(at, handle)| (at, transit.stack(handle).expect("in a lane"))).collect())
        })
        .collect()
}

/// The chunk of the block that an item is in.
fn chunk_of(name: LaneName, position: u32) -> ChunkPos {
    let (x, _, z) = name.direction.step();
    let steps = ((position + UNIT / 2) / UNIT) as i32;
    BlockPos::new(name.from.x + x * steps, 64, name.from.z + z * steps).chunk()
}

fn events(transit: &TransitSolver) -> Vec<(EventKind, BlockPos, ItemStack)> {
    let events = transit.events().iter();
    events.map(|it| (it.kind, it.position, transit.stack(it.handle).expect("until the next step"))).collect()
}

fn words(transit: &TransitSolver) -> Vec<u64> {
    let mut words = Vec::new();
    transit.state_words(|word| words.push(word));
    words
}

/// The handles of all items, each of which must be there once.
fn handles(transit: &TransitSolver) -> BTreeSet<u32> {
    let mut handles = BTreeSet::new();
    for segment in transit.graph().segments() {
        for name in [segment.forward(), segment.backward()] {
            for (_, handle) in transit.lane(name).expect("the lane") {
                assert!(handles.insert(handle.0), "handle {} is there twice", handle.0);
            }
        }
    }
    handles
}

fn read(bytes: &[u8]) -> Snapshot {
    Snapshot::from_bytes(bytes).expect("sound")
}

/// An edit by which no item loses its place.
#[derive(Debug, Clone, Copy)]
enum Edit {
    /// Gives a lane another speed and spacing.
    Speed(LaneName, u32),
    /// Cuts the line of pipes at a block, or joins it again.
    Cut(i32),
}

impl Edit {
    fn make(self, transit: &mut TransitSolver) {
        match self {
            Edit::Speed(name, speed) => {
                let settings = LaneSettings::new(speed, 9999).expect("sound");
                let _ = transit.set_lane(name, settings);
            }
            Edit::Cut(x) => {
                let position = BlockPos::new(x, 64, 0);
                let straight = Connections::of(&[Direction::East, Direction::West]);
                let is_cut = transit.graph().connections(position) != Some(straight);
                let mask = if is_cut { straight } else { straight.with(Direction::Up) };
                transit.add_pipe(position, mask).expect("in range");
            }
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let ends = prop_oneof![
        Just(lane(5, 0, Direction::East)),
        Just(lane(40, 0, Direction::West)),
        Just(lane(20, 0, Direction::East)),
        Just(lane(20, 0, Direction::West)),
        Just(lane(3, 3, Direction::West)),
        Just(lane(-1, 0, Direction::East)),
        Just(lane(0, -1, Direction::South)),
    ];
    prop_oneof![
        (ends, 900u32..1100).prop_map(|(name, speed)| Edit::Speed(name, speed)),
        prop_oneof![Just(15), Just(16), Just(20), 7i32..39].prop_map(Edit::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_chunk_taken_out_and_put_back_goes_on_as_if_it_had_stood_still(
        before in 0u32..300,
        turns in prop::collection::vec((0usize..CHUNKS.len(), 0u32..12), 1..60),
        edits in prop::collection::btree_map(0usize..60, edit(), 0..20),
    ) {
        let mut inventories = Inventories::default();
        let mut frozen = network();
        for _ in 0..before {
            frozen.step(&mut inventories);
        }
        let mut away = frozen.clone();
        let mut stored: BTreeMap<ChunkPos, Vec<u8>> = BTreeMap::new();
        let last = CHUNKS.iter().enumerate().map(|(at, _)| (at, 3));
        for (turn, (at, ticks)) in turns.iter().copied().chain(last).enumerate() {
            let chunk = CHUNKS[at];
            match stored.remove(&chunk) {
                Some(bytes) => {
                    away.put_back(&read(&bytes), &[]).expect("sound");
                    away.set_loaded(chunk, true);
                    frozen.set_loaded(chunk, true);
                }
                None if turn < turns.len() => {
                    stored.insert(chunk, away.take_out(chunk).to_bytes());
                    frozen.set_loaded(chunk, false);
                }
                None => {}
            }
            // Life goes on while chunks are away, on lanes that cross them too.
            if let Some(edit) = edits.get(&turn) {
                for transit in [&mut frozen, &mut away] {
                    edit.make(transit);
                }
            }
            for _ in 0..ticks {
                frozen.step(&mut inventories);
                away.step(&mut inventories);
                prop_assert_eq!(events(&frozen), events(&away), "tick {}", frozen.tick());
                let mut expected = items(&frozen);
                for (name, items) in &mut expected {
                    items.retain(|&(at, _)| !stored.contains_key(&chunk_of(*name, at)));
                }
                prop_assert_eq!(expected, items(&away), "tick {}", frozen.tick());
                prop_assert_eq!(away.totals().present(), handles(&away).len() as u64);
            }
        }
        prop_assert!(stored.is_empty());
        prop_assert_eq!(words(&frozen), words(&away));
        prop_assert!(away.take_spills().is_empty());
    }

    #[test]
    fn a_later_run_brings_the_chunks_of_a_network_back_in_any_order(
        before in 50u32..300,
        order in Just((0..CHUNKS.len()).collect::<Vec<_>>()).prop_shuffle(),
        ticks in prop_oneof![Just(0), 1u32..9],
    ) {
        let mut inventories = Inventories::default();
        let mut earlier = network();
        for _ in 0..before {
            earlier.step(&mut inventories);
        }
        let stored: Vec<Vec<u8>> = CHUNKS.iter().map(|&chunk| earlier.chunk_snapshot(chunk).to_bytes()).collect();
        let mut later = TransitSolver::new(Default::default(), LaneSettings::default());
        equip(&mut later);
        let mut loaded = BTreeSet::new();
        let mut known = Vec::new();
        for &at in &order {
            let snapshot = read(&stored[at]);
            loaded.insert(CHUNKS[at]);
            let absent: Vec<ChunkPos> = snapshot.chunks().into_iter().filter(|it| !loaded.contains(it)).collect();
            later.put_back(&snapshot, &absent).expect("sound");
            later.set_loaded(CHUNKS[at], true);
            known.push(later.item_count());
            if loaded.len() < CHUNKS.len() {
                for _ in 0..ticks {
                    later.step(&mut inventories);
                }
            }
            prop_assert!(later.take_spills().is_empty(), "what lacks its lane waits");
        }
        prop_assert_eq!(earlier.graph().nodes(), later.graph().nodes());
        prop_assert_eq!(handles(&later).len() as u64, later.totals().present());
        let brought: u64 = stored.iter().map(|bytes| read(bytes).item_count() as u64).sum();
        prop_assert_eq!(brought, earlier.item_count(), "every item is stored with exactly one chunk");
        // What ran in the meantime was created and delivered by stations of chunks that were there: nothing else changed.
        let totals = later.totals();
        prop_assert!(totals.created >= brought && totals.present() == later.item_count());
        if ticks == 0 {
            // Whatever tick it is in the later run, who waits longest goes first, and who has to wait waits as long.
            prop_assert_eq!(items(&earlier), items(&later));
            for _ in 0..100 {
                earlier.step(&mut inventories);
                later.step(&mut inventories);
                prop_assert_eq!(events(&earlier), events(&later), "tick {}", earlier.tick());
                prop_assert_eq!(items(&earlier), items(&later), "tick {}", earlier.tick());
            }
        }
    }
}

#[test]
fn a_chunk_where_nothing_happens_is_stored_as_the_same_bytes() {
    let mut inventories = Inventories::default();
    let mut transit = network();
    for _ in 0..200 {
        transit.step(&mut inventories);
    }
    for chunk in CHUNKS {
        transit.set_loaded(chunk, false);
    }
    // What is under way when chunks freeze may be refused or fed once more where all is known, and what stands at
    // junctions is ready again at the latest after nine ticks.
    for _ in 0..10 {
        transit.step(&mut inventories);
    }
    let stored = |transit: &TransitSolver| CHUNKS.map(|chunk| transit.chunk_snapshot(chunk).to_bytes());
    let before = stored(&transit);
    for _ in 0..50 {
        transit.step(&mut inventories);
    }
    assert!(stored(&transit) == before, "waiting is no change");
}

#[test]
fn an_item_never_enters_a_segment_that_is_not_loaded() {
    // A line from a loaded chunk into another, with a junction in the loaded one.
    let mut layout = Layout::default();
    layout.line(BlockPos::new(0, 64, 0), Direction::East, 40, Some(10));
    let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default()).expect("sound");
    let source = |x, direction, period| Source {
        lane: lane(x, 0, direction),
        stack: ItemStack::single(ItemKind(1)),
        speed: 0,
        period,
        delay: 0,
        supply: Supply::Endless,
    };
    // One feeds the loaded part, one straight into the other, one from within the other.
    for source in
        [source(0, Direction::East, 3), source(10, Direction::East, 1), source(30, Direction::West, 1)]
    {
        transit.add_source(source).expect("sound");
    }
    let far = ChunkPos::new(1, 0);
    transit.set_loaded(far, false);
    let mut inventories = Inventories::default();
    let frozen = [lane(10, 0, Direction::East), lane(20, 0, Direction::West), lane(30, 0, Direction::West)];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let mut shared = transit.clone().with_least_shared(0);
    for _ in 0..400 {
        transit.step(&mut inventories);
        pool.install(|| shared.step_parallel(&mut inventories));
        for frozen in frozen {
            assert_eq!(transit.lane(frozen), Some(Vec::new()));
            assert_eq!(shared.lane(frozen), Some(Vec::new()));
        }
    }
    let refused = transit.insert(frozen[0], 0, ItemStack::single(ItemKind(2)), 0);
    assert_eq!(refused, Err(InsertError::NotLoaded { lane: frozen[0] }));
    // The first lane has filled up and nothing is lost; when the chunk is there, all goes on.
    assert_eq!(transit.item_count(), transit.totals().present());
    assert_eq!(transit.lane(lane(0, 0, Direction::East)).expect("the lane").len(), 81);
    transit.set_loaded(far, true);
    transit.step(&mut inventories);
    transit.step(&mut inventories);
    assert!(frozen.iter().any(|&name| transit.lane(name).is_some_and(|items| !items.is_empty())));
}

#[test]
fn what_has_no_place_on_its_return_is_spilled_and_not_doubled() {
    let mut inventories = Inventories::default();
    let mut transit = network();
    for _ in 0..500 {
        transit.step(&mut inventories);
    }
    let all = transit.item_count();
    let chunk = ChunkPos::new(-1, 0);
    let stored = transit.take_out(chunk).to_bytes();
    let gone = read(&stored).item_count() as u64;
    assert!(gone > 0, "of {all} items");
    assert_eq!((transit.item_count(), transit.totals().stored), (all - gone, gone));
    // While it is away its pipes are broken off.
    for x in -6..0 {
        for z in 0..5 {
            transit.remove_pipe(BlockPos::new(x, 64, z));
        }
    }
    assert!(transit.take_spills().iter().all(|spill| spill.point[2] < 0.0), "what is away cannot fall out");
    let left = transit.item_count();
    transit.put_back(&read(&stored), &[]).expect("sound");
    transit.set_loaded(chunk, true);
    let spills = transit.take_spills();
    assert!(!spills.is_empty());
    assert_eq!(transit.item_count() + spills.len() as u64, left + gone);
    assert_eq!(transit.totals().present(), transit.item_count());
    for spill in spills {
        let block = |axis: usize| spill.point[axis].floor() as i32;
        assert_eq!(BlockPos::new(block(0), block(1), block(2)).chunk(), chunk, "{spill:?}");
    }
    for _ in 0..20 {
        transit.step(&mut inventories);
    }
    handles(&transit);
}

#[test]
fn damaged_bytes_of_a_chunk_are_refused_and_change_nothing() {
    let mut inventories = Inventories::default();
    let mut transit = network();
    for _ in 0..120 {
        transit.step(&mut inventories);
    }
    let bytes = transit.chunk_snapshot(ChunkPos::new(0, 0)).to_bytes();
    for length in 0..bytes.len() {
        assert!(Snapshot::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        // What is read all the same is another sound snapshot, and putting it back breaks nothing.
        if let Ok(snapshot) = Snapshot::from_bytes(&flipped) {
            let mut other = TransitSolver::new(Default::default(), LaneSettings::default());
            equip(&mut other);
            if other.put_back(&snapshot, &[]).is_ok() {
                assert_eq!(other.totals().present(), other.item_count());
                other.step(&mut inventories);
            }
        }
    }
    let whole = transit.snapshot();
    assert_eq!(transit.put_back(&whole, &[]), Err(SnapshotError::Extent));
    assert_eq!(transit.restore(&transit.chunk_snapshot(ChunkPos::new(0, 0))), Err(SnapshotError::Extent));
    assert_eq!(transit.snapshot(), whole, "nothing has changed");
}

/// An item that waited at the end of a lane when its chunk was taken out came back with the age it had then, although
/// its lane had been given another speed, or had been cut and joined, meanwhile: the reference, which holds everything
/// all the time, lets the item wait from the first tick after the edit in which the lane moves, and tells so anew.
#[test]
fn an_item_whose_lane_is_edited_while_it_is_away_waits_from_its_return() {
    let mut layout = Layout::default();
    layout.line(BlockPos::new(0, 64, 0), Direction::East, 40, None);
    let settings = LaneSettings::new(UNIT / 4, UNIT / 4).expect("sound");
    let name = lane(0, 0, Direction::East);
    let (cut, straight) = (Connections::ALL, Connections::of(&[Direction::East, Direction::West]));
    let slow = LaneSettings::new(UNIT / 8, UNIT / 2).expect("sound");
    type Change<'a> = &'a dyn Fn(&mut TransitSolver, &mut ReferenceTransit);
    let changes: [Change<'_>; 3] = [
        &|_, _| {},
        &|solver, reference| {
            solver.set_lane(name, slow).expect("a lane");
            reference.set_lane(name, slow).expect("a lane");
        },
        &|solver, reference| {
            for mask in [cut, straight] {
                solver.add_pipe(BlockPos::new(20, 64, 0), mask).expect("in range");
                reference.add_pipe(BlockPos::new(20, 64, 0), mask).expect("in range");
            }
        },
    ];
    let far = ChunkPos::new(2, 0);
    let mut inventories = Inventories::default();
    for (at, change) in changes.into_iter().enumerate() {
        let mut solver = TransitSolver::from_layout(&layout, settings).expect("sound");
        let mut reference = ReferenceTransit::from_layout(&layout, settings).expect("sound");
        for position in [38 * UNIT, 5 * UNIT] {
            let stack = ItemStack::single(ItemKind(1));
            solver.insert(name, position, stack, 0).expect("room");
            reference.insert(name, position, stack, 0).expect("room");
        }
        let mut refused = 0;
        for tick in 0..60 {
            match tick {
                20 => {
                    let stored = solver.take_out(far).to_bytes();
                    reference.set_loaded(far, false);
                    change(&mut solver, &mut reference);
                    solver.put_back(&read(&stored), &[]).expect("sound");
                }
                30 => {
                    solver.set_loaded(far, true);
                    reference.set_loaded(far, true);
                }
                _ => {}
            }
            solver.step(&mut inventories);
            reference.step(&mut inventories);
            assert_eq!(solver.events().kinds(), reference.events().kinds(), "change {at}, tick {tick}");
            let mut expected = Vec::new();
            reference.state_words(|word| expected.push(word));
            assert_eq!(words(&solver), expected, "change {at}, tick {tick}");
            refused += reference.events().len();
        }
        assert_eq!(refused, if at == 0 { 1 } else { 2 }, "change {at}");
    }
}

/// A lane that was given another speed in a later run, before the chunk with its front item was there, got the speed of
/// the earlier run back with that chunk.
#[test]
fn a_lane_edited_before_its_chunks_return_in_a_later_run_keeps_the_edit() {
    let mut layout = Layout::default();
    layout.line(BlockPos::new(0, 64, 0), Direction::East, 40, None);
    let mut earlier = TransitSolver::from_layout(&layout, LaneSettings::default()).expect("sound");
    let name = lane(0, 0, Direction::East);
    let [before, after] = [900, 700].map(|speed| LaneSettings::new(speed, 9999).expect("sound"));
    earlier.set_lane(name, before).expect("a lane");
    earlier.insert(name, 40 * UNIT, ItemStack::single(ItemKind(1)), 0).expect("room");
    (0..9).for_each(|_| earlier.step(&mut Inventories::default()));
    let chunks = [0, 1, 2].map(|x| ChunkPos::new(x, 0));
    let stored = chunks.map(|chunk| earlier.chunk_snapshot(chunk).to_bytes());
    for edited in [false, true] {
        let mut later = TransitSolver::new(Default::default(), LaneSettings::default());
        for (at, bytes) in stored.iter().enumerate() {
            later.put_back(&read(bytes), &chunks[at + 1..]).expect("sound");
            later.set_loaded(chunks[at], true);
            if at == 0 && edited {
                later.set_lane(name, after).expect("a lane");
            }
        }
        let record = later.snapshot().lanes.into_iter().find(|record| record.lane == name).expect("a lane");
        assert_eq!(record.items.len(), 1);
        assert_eq!(record.settings, if edited { after } else { before });
        // Ages in a chunk count from the latest of its times, which is this one.
        assert_eq!(record.waited, (!edited).then_some(0));
    }
}

/// A stored lane without an item, behind which fewer bytes came than an item would take, was refused as cut short: the
/// least length of a lane was set too great, and with the lane the whole chunk was lost.
#[test]
fn a_chunk_that_ends_with_an_empty_lane_of_its_own_speed_is_read_again() {
    let mut layout = Layout::default();
    layout.line(BlockPos::new(0, 64, 0), Direction::East, 10, None);
    let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default()).expect("sound");
    for name in [lane(0, 0, Direction::East), lane(10, 0, Direction::West)] {
        transit.set_lane(name, LaneSettings::new(900, 9999).expect("sound")).expect("a lane");
        let snapshot = transit.chunk_snapshot(ChunkPos::new(0, 0));
        assert_eq!(read(&snapshot.to_bytes()), snapshot);
    }
}

/// Two items in the block where two lanes met changed their order when the lanes were joined while both were away.
#[test]
fn items_of_lanes_that_are_joined_while_they_are_away_keep_their_order() {
    for (start, direction) in [(0, Direction::East), (20, Direction::West)] {
        let mut layout = Layout::default();
        layout.line(BlockPos::new(0, 64, 0), Direction::East, 20, None);
        layout.pipes.push((BlockPos::new(10, 64, 0), Connections::ALL));
        let mut frozen = TransitSolver::from_layout(&layout, LaneSettings::default()).expect("sound");
        let put = |transit: &mut TransitSolver, from, position, kind| {
            transit
                .insert(lane(from, 0, direction), position, ItemStack::single(ItemKind(kind)), 0)
                .expect("room");
        };
        put(&mut frozen, start, 10 * UNIT, 1);
        put(&mut frozen, 10, 0, 2);
        let mut away = frozen.clone();
        let chunk = ChunkPos::new(0, 0);
        let stored = away.take_out(chunk).to_bytes();
        frozen.set_loaded(chunk, false);
        let straight = Connections::of(&[Direction::East, Direction::West]);
        for transit in [&mut frozen, &mut away] {
            transit.add_pipe(BlockPos::new(10, 64, 0), straight).expect("in range");
        }
        away.put_back(&read(&stored), &[]).expect("sound");
        for transit in [&mut frozen, &mut away] {
            transit.set_loaded(chunk, true);
            (0..9).for_each(|_| transit.step(&mut Inventories::default()));
        }
        assert_eq!(items(&frozen), items(&away));
        let kinds = items(&away)[&lane(start, 0, direction)].iter().map(|it| it.1.kind.0).collect::<Vec<_>>();
        assert_eq!(kinds, [2, 1]);
    }
}
