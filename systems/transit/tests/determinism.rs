//! Nothing but the network and its history decides: not the order in which it was built, not the number of threads.

use rayon::ThreadPoolBuilder;
use voxtick_transit::{
    Connections, LaneName, LaneSettings, Layout, Lines, Room, Sink, Source, Supply, TransitSolver,
};
use voxtick_worlds::{BlockPos, Direction, Inventories, ItemKind, ItemStack};

/// A small generator of its own: tests must not depend on a library's sequence.
struct Shuffle(u64);

impl Shuffle {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

fn hash(transit: &TransitSolver) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    transit.state_words(|word| hash = (hash ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(29));
    hash
}

#[test]
fn fifty_build_orders_give_one_hash_after_a_thousand_ticks() {
    let mut layout = Layout::default();
    layout.grid(BlockPos::new(-4, 64, -4), 9, 9);
    layout.line(BlockPos::new(5, 64, 0), Direction::East, 30, Some(10));
    layout.pipes.push((BlockPos::new(5, 64, 0), Connections::of(&[Direction::East, Direction::West])));
    layout.pipes.push((BlockPos::new(4, 64, 0), Connections::ALL));
    // The last mask of a position wins; one by one in another order it would not be the last.
    let mut pipes: std::collections::BTreeMap<BlockPos, Connections> = std::collections::BTreeMap::new();
    pipes.extend(layout.pipes);
    let mut pipes: Vec<_> = pipes.into_iter().collect();
    let source = |at: usize, x, z, direction| Source {
        lane: LaneName { from: BlockPos::new(x, 64, z), direction },
        stack: ItemStack::new(ItemKind(at as u32), 1, 64),
        speed: 0,
        period: 2 + at as u32,
        delay: 0,
        supply: Supply::Endless,
    };
    let mut sources = [
        source(0, -4, -4, Direction::East),
        source(1, 4, 4, Direction::West),
        source(2, 0, 0, Direction::North),
        source(3, 0, 0, Direction::South),
    ];
    let sink = Sink { position: BlockPos::new(35, 64, 0), kind: None, period: 5, room: Room::Endless };
    let mut hashes = Vec::new();
    let mut random = Shuffle(7);
    for order in 0..50 {
        random.shuffle(&mut pipes);
        random.shuffle(&mut sources);
        let mut transit = TransitSolver::new(Default::default(), LaneSettings::default());
        if order % 3 == 0 {
            transit.add_pipes(&pipes).expect("in range");
        } else {
            for &(position, mask) in &pipes {
                transit.add_pipe(position, mask).expect("in range");
            }
        }
        for &source in &sources {
            transit.add_source(source).expect("sound");
        }
        transit.add_sink(sink).expect("sound");
        for _ in 0..1000 {
            transit.step(&mut Inventories::default());
        }
        assert!(transit.totals().delivered > 0 && transit.item_count() > 500, "{:?}", transit.totals());
        hashes.push(hash(&transit));
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 1, "{hashes:x?}");
}

#[test]
fn one_two_three_and_eight_threads_give_the_same_events_every_tick() {
    let settings = LaneSettings::default();
    let mut layout = Layout::default();
    layout.lines(&Lines { junction_every: Some(5), ..Lines::flowing(40, 150_000, settings, 3) });
    let mut serial = TransitSolver::from_layout(&layout, settings).expect("sound");
    let mut others: Vec<_> = [1, 2, 3, 8]
        .map(|threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            (pool, serial.clone())
        })
        .into();
    let mut inventories = Inventories::default();
    for tick in 0..60 {
        serial.step(&mut inventories);
        for (pool, transit) in &mut others {
            pool.install(|| transit.step_parallel(&mut inventories));
            assert!(transit.events() == serial.events(), "tick {tick}, {pool:?}");
        }
    }
    for (pool, transit) in &others {
        assert_eq!(hash(transit), hash(&serial), "{pool:?}");
    }
}

#[test]
fn at_a_merge_of_three_no_input_starves() {
    let mut layout = Layout::default();
    let middle = BlockPos::new(0, 64, 0);
    layout.grid(BlockPos::new(-1, 64, -1), 3, 3);
    layout.pipes.retain(|&(at, _)| at.x == 0 || at.z == 0);
    let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default()).expect("sound");
    for (kind, direction) in [Direction::North, Direction::South, Direction::West].into_iter().enumerate() {
        transit
            .add_source(Source {
                lane: LaneName { from: middle.offset(direction), direction: direction.opposite() },
                stack: ItemStack::single(ItemKind(kind as u32)),
                speed: 0,
                period: 1,
                delay: 0,
                supply: Supply::Endless,
            })
            .expect("sound");
    }
    let router = voxtick_transit::Priority::new([Direction::East]);
    transit.set_router(&[middle], std::sync::Arc::new(router)).expect("sound");
    let out = BlockPos::new(1, 64, 0);
    transit.add_sink(Sink { position: out, kind: None, period: 7, room: Room::Endless }).expect("sound");
    let mut delivered = [0u32; 3];
    for _ in 0..4000 {
        transit.step(&mut Inventories::default());
        for event in transit.events().iter() {
            if event.kind == voxtick_transit::EventKind::Delivered {
                delivered[transit.stack(event.handle).expect("until the next step").kind.0 as usize] += 1;
            }
        }
    }
    let (least, most) = (delivered.iter().min().expect("three"), delivered.iter().max().expect("three"));
    assert!(*least > 100 && most - least <= 1, "{delivered:?}");
}
