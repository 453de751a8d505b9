//! Saving and loading what is in transit: bit-equal where the network is the same, spilled where it is not, refused
//! where the bytes are damaged, and every item in exactly one place.

use std::collections::BTreeMap;

use voxtick_transit::{
    Connections, LaneName, LaneSettings, Layout, Mirror, MirrorError, Room, Sink, Snapshot, SnapshotError,
    Source, Supply, TransitSolver, UNIT,
};
use voxtick_worlds::{BlockPos, ChunkPos, Direction, Inventories, ItemKind, ItemStack};

/// A grid over four chunks with sources, slow and blocked sinks, lanes of other speeds and an own-speed lane.
fn network() -> TransitSolver {
    let mut layout = Layout::default();
    layout.grid(BlockPos::new(-6, 64, -6), 12, 12);
    let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default()).expect("sound");
    for (at, (x, z)) in [(-6, -6), (5, 5), (-6, 5), (0, 0), (-1, -2)].into_iter().enumerate() {
        transit
            .add_source(Source {
                lane: LaneName { from: BlockPos::new(x, 64, z), direction: Direction::ALL[2 + at % 4] },
                stack: ItemStack::new(ItemKind(at as u32), 1 + at as u8, 64),
                speed: 900 * at as u16,
                period: 3 + at as u32,
                delay: at as u32,
                supply: if at == 2 { Supply::Items(40) } else { Supply::Endless },
            })
            .expect("sound");
    }
    for (x, z, period, room) in [(3, -4, 9, Room::Endless), (-3, 2, 0, Room::Items(9))] {
        transit
            .add_sink(Sink { position: BlockPos::new(x, 64, z), kind: None, period, room })
            .expect("sound");
    }
    let own = LaneSettings::new(UNIT / 16, UNIT / 8).expect("sound").with_own_speeds();
    let lane = |x, z, direction| LaneName { from: BlockPos::new(x, 64, z), direction };
    transit.set_lane(lane(0, 0, Direction::East), own).expect("exists");
    transit.set_lane(lane(-1, 0, Direction::South), own).expect("exists");
    transit
        .set_lane(lane(2, 2, Direction::West), LaneSettings::new(999, 9999).expect("sound"))
        .expect("exists");
    transit
}

fn words(transit: &TransitSolver) -> Vec<u64> {
    let mut words = Vec::new();
    transit.state_words(|word| words.push(word));
    words
}

#[test]
fn a_whole_network_goes_on_bit_equal_from_any_of_200_ticks() {
    let mut inventories = Inventories::default();
    let mut transit = network();
    for _ in 0..400 {
        transit.step(&mut inventories);
    }
    transit.set_loaded(ChunkPos::new(0, 0), false);
    for tick in 0..200 {
        if tick == 120 {
            transit.set_loaded(ChunkPos::new(0, 0), true);
        }
        transit.step(&mut inventories);
        let snapshot = transit.snapshot();
        let read = Snapshot::from_bytes(&snapshot.to_bytes()).expect("sound");
        assert_eq!(read, snapshot);
        let mut restored = network();
        restored.set_loaded(ChunkPos::new(0, 0), tick >= 120);
        restored.restore(&read).expect("sound");
        assert_eq!(words(&restored), words(&transit), "at tick {tick}");
        assert_eq!(restored.snapshot(), snapshot, "each handle once, free rows in order");
        assert!(restored.take_spills().is_empty());
        let mut ahead = transit.clone();
        for step in 0..7 {
            restored.step(&mut inventories);
            ahead.step(&mut inventories);
            assert_eq!(restored.events(), ahead.events(), "step {step} after tick {tick}");
            assert_eq!(words(&restored), words(&ahead), "step {step} after tick {tick}");
        }
        assert_eq!(restored.totals(), ahead.totals());
    }
    assert!(transit.totals().delivered > 10 && transit.item_count() > 100);
}

#[test]
fn saving_only_dirty_chunks_loses_and_doubles_nothing() {
    let mut inventories = Inventories::default();
    let mut transit = network();
    let chunks: Vec<ChunkPos> =
        [(-1, -1), (-1, 0), (0, -1), (0, 0)].into_iter().map(|(x, z)| ChunkPos::new(x, z)).collect();
    let mut disk: BTreeMap<ChunkPos, Vec<u8>> = BTreeMap::new();
    let (mut saved_at, mut writes) = (0, 0);
    for tick in 1..=300u64 {
        // For a while only what lies in one chunk moves.
        if tick == 150 {
            for &chunk in &chunks[..3] {
                transit.set_loaded(chunk, false);
            }
        }
        transit.step(&mut inventories);
        if tick % 7 != 0 {
            continue;
        }
        let dirty = transit.dirty_chunks(saved_at);
        writes += dirty.len();
        for chunk in dirty {
            disk.insert(chunk, transit.chunk_snapshot(chunk).to_bytes());
        }
        saved_at = tick;
        let mut restored = network();
        for bytes in disk.values() {
            restored.put_back(&Snapshot::from_bytes(bytes).expect("sound"), &[]).expect("sound");
        }
        assert_eq!(restored.item_count(), transit.item_count(), "at tick {tick}");
        let lanes: Vec<LaneName> =
            transit.graph().segments().flat_map(|it| [it.forward(), it.backward()]).collect();
        for lane in lanes {
            let stacks = |transit: &TransitSolver| {
                let items = transit.lane(lane).expect("the lane");
                items.into_iter().map(|(at, handle)| (at, transit.stack(handle))).collect::<Vec<_>>()
            };
            assert_eq!(stacks(&restored), stacks(&transit), "{lane} at tick {tick}");
        }
    }
    assert!(writes < 4 * 42, "some saves had clean chunks, {writes} were written");
}

#[test]
fn what_a_changed_network_has_no_place_for_is_spilled_not_lost() {
    let mut inventories = Inventories::default();
    let mut transit = network();
    for _ in 0..300 {
        transit.step(&mut inventories);
    }
    let snapshot = transit.snapshot();
    let mut other = network();
    for x in -6..0 {
        other.remove_pipe(BlockPos::new(x, 64, 0));
    }
    other.add_pipe(BlockPos::new(3, 64, 3), Connections::NONE).expect("in range");
    other.restore(&snapshot).expect("sound");
    let spills = other.take_spills();
    assert!(!spills.is_empty());
    assert_eq!(other.item_count() + spills.len() as u64, transit.item_count());
    assert_eq!(other.totals().present(), other.item_count());
    let mut handles: Vec<u32> = spills.iter().map(|spill| spill.handle.0).collect();
    for segment in other.graph().segments() {
        for lane in [segment.forward(), segment.backward()] {
            handles.extend(other.lane(lane).expect("the lane").iter().map(|&(_, handle)| handle.0));
        }
    }
    handles.sort_unstable();
    let mut before: Vec<u32> =
        snapshot.lanes.iter().flat_map(|lane| lane.items.iter().map(|it| it.handle)).collect();
    before.sort_unstable();
    assert_eq!(handles, before, "every handle exactly once, in a lane or spilled");
}

#[test]
fn damaged_bytes_are_refused_and_never_read_as_less() {
    let mut transit = network();
    for _ in 0..60 {
        transit.step(&mut Inventories::default());
    }
    let snapshot = transit.snapshot();
    let bytes = snapshot.to_bytes();
    for length in 0..bytes.len() {
        assert!(Snapshot::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(Snapshot::from_bytes(&longer), Err(SnapshotError::TooLong { at: bytes.len() }));
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        // A flipped bit may give another sound snapshot (another kind of item, say); it never gives the same one,
        // and restoring it breaks nothing.
        if let Ok(other) = Snapshot::from_bytes(&flipped) {
            assert_ne!(other, snapshot, "bit {} of byte {at} is not read", at % 8);
            let mut restored = network();
            if other.chunk.is_some() {
                assert_eq!(restored.restore(&other), Err(SnapshotError::Extent));
                continue;
            }
            restored.restore(&other).expect("checked");
            assert_eq!(restored.totals().present(), restored.item_count());
            restored.step(&mut Inventories::default());
        }
    }
    let mut doubled = snapshot.clone();
    let lane = doubled.lanes.iter_mut().find(|lane| !lane.items.is_empty()).expect("items");
    lane.items.push(lane.items[0]);
    assert!(transit.restore(&doubled).is_err());
    assert_eq!(transit.snapshot(), snapshot, "a refused snapshot changes nothing");
}

#[test]
fn a_mirror_holds_the_same_items_through_edits_and_unloaded_chunks() {
    let mut inventories = Inventories::default();
    let mut transit = network().with_mirror_feed();
    let mut mirror = Mirror::default();
    let mut away = None;
    for tick in 0..300 {
        match tick {
            60 => transit.set_loaded(ChunkPos::new(0, 0), false),
            90 => transit.set_loaded(ChunkPos::new(0, 0), true),
            100 => drop(transit.remove_pipe(BlockPos::new(1, 64, 1))),
            101 => transit.add_pipe(BlockPos::new(1, 64, 1), Connections::ALL).expect("in range"),
            200 => away = Some(transit.take_out(ChunkPos::new(-1, 0))),
            230 => {
                transit.put_back(&away.take().expect("taken out"), &[]).expect("sound");
                transit.set_loaded(ChunkPos::new(-1, 0), true);
            }
            150 => {
                let lane = LaneName { from: BlockPos::new(-6, 64, -6), direction: Direction::South };
                transit.set_lane(lane, LaneSettings::new(500, 60_000).expect("sound")).expect("exists");
            }
            _ => {}
        }
        transit.step(&mut inventories);
        let deltas = transit.take_deltas();
        mirror.apply(&deltas).expect("every tick is fed");
        assert!(tick == 0 || deltas.before.len() < 600);
        for segment in transit.graph().segments() {
            for lane in [segment.forward(), segment.backward()] {
                assert_eq!(mirror.lane(lane), transit.lane(lane), "{lane} at tick {tick}");
            }
        }
        if tick % 50 == 0 {
            let again = mirror.clone().apply(&deltas);
            assert_eq!(again, Err(MirrorError::Tick { at: transit.tick(), given: transit.tick() }));
        }
    }
    assert!(transit.item_count() > 40, "{} items", transit.item_count());
}
