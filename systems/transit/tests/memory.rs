//! What items and lanes take: at most 12 bytes an item in flight, its handle included, and at most 100 bytes a lane.

use voxtick_transit::{Fill, LaneName, LaneSettings, Layout, Lines, TransitSolver, UNIT};
use voxtick_worlds::{BlockPos, Direction, Inventories, ItemKind, ItemStack};

/// Rings of `blocks` blocks whose items lie one and a half spacings apart.
fn rings(blocks: u32, rings: i32, settings: LaneSettings) -> Layout {
    let (side, step) = (blocks / 4, settings.spacing() * 3 / 2);
    let mut layout = Layout::default();
    for ring in 0..rings {
        let corner = BlockPos::new(ring % 30 * 60, 64, ring / 30 * 60);
        for lane in layout.ring(corner, side, side) {
            layout.fills.push(Fill {
                lane,
                front: side * UNIT - 1 - (ring as u32) * 977 % step,
                step,
                count: side * UNIT / step,
                stack: ItemStack::single(ItemKind(1)),
                speeds: (0, 1),
            });
        }
    }
    layout
}

/// One line of ten blocks between 40 other junctions, fed and emptied.
fn small(lines: i32) -> Layout {
    let mut layout = Layout::default();
    for line in 0..lines {
        let start = BlockPos::new(0, 64, 2 * line);
        layout.line(start, Direction::East, 10, Some(1));
        layout.feed_line(start, Direction::East, 10, 3);
    }
    layout
}

/// Bytes a lane and bytes an item after the network has run for a while, and how many items there are.
fn bytes(layout: &Layout, settings: LaneSettings) -> (f64, f64, u64) {
    let mut transit = TransitSolver::from_layout(layout, settings).expect("sound");
    for _ in 0..700 {
        transit.step(&mut Inventories::default());
    }
    let (lanes, items) = transit.memory_bytes();
    let count = transit.item_count();
    (lanes as f64 / transit.lane_count() as f64, items as f64 / count as f64, count)
}

#[test]
fn items_take_12_bytes_and_lanes_100_whatever_the_shape() {
    let settings = LaneSettings::default();
    let lines = |lines: &Lines| {
        let mut layout = Layout::default();
        layout.lines(lines);
        layout
    };
    let junctions = Lines { junction_every: Some(20), ..Lines::flowing(100, 50_000, settings, 3) };
    for (name, layout) in [
        ("flowing lines of 100 blocks", lines(&Lines::flowing(100, 50_000, settings, 3))),
        ("with a junction every 20 blocks", lines(&junctions)),
        ("backed up", lines(&Lines::backed_up(100, 50_000, settings))),
        ("rings of 20 blocks", rings(20, 200, settings)),
        ("rings of 200 blocks", rings(200, 30, settings)),
        ("a few rings of 20 blocks", rings(20, 30, settings)),
    ] {
        let (lane, item, count) = bytes(&layout, settings);
        assert!(lane <= 100.0, "{name}: {lane:.1} bytes a lane");
        assert!(item <= 12.0, "{name}: {item:.1} bytes an item, {count} items");
    }
}

#[test]
fn a_small_network_takes_100_bytes_a_lane_and_a_kibibyte_once() {
    for lines in [1, 4, 20] {
        let layout = small(lines);
        let settings = LaneSettings::default();
        let (lane, item, count) = bytes(&layout, settings);
        let lanes = f64::from(lines) * 20.0;
        // Lanes of a block hold few items each, and the block they lie in is the lane's.
        let all = lane * lanes + item * count as f64;
        assert!(
            all <= lanes * 100.0 + count as f64 * 12.0 + 2048.0,
            "{lines} lines: {all:.0} bytes, {count} items"
        );
        assert!(lane * lanes <= lanes * 100.0 + 1024.0, "{lines} lines: {lane:.0} bytes a lane");
    }
}

#[test]
fn items_that_left_leave_nothing_behind() {
    let settings = LaneSettings::default();
    let start = BlockPos::new(0, 64, 0);
    let mut layout = Layout::default();
    layout.line(start, Direction::East, 100, None);
    layout.feed_line(start, Direction::East, 100, 3);
    let mut transit = TransitSolver::from_layout(&layout, settings).expect("sound");
    let mut at = Vec::new();
    for tick in 0..12_000 {
        transit.step(&mut Inventories::default());
        if tick % 4000 == 3999 {
            at.push((
                transit.lane(LaneName { from: start, direction: Direction::East }).map(|it| it.len()),
                transit.memory_bytes(),
            ));
        }
    }
    assert_eq!(at[0].1, at[2].1, "a steady flow takes no more with time: {at:?}");
}
