//! Networks at the ends of the world: items move, spill and return there as anywhere else.

use voxtick_transit::{
    BORDER, Connections, GraphError, HIGHEST, LOWEST, LaneName, LaneSettings, ReferenceTransit, Room,
    SegmentedGraph, Sink, Snapshot, Spill, TransitSolver, UNIT,
};
use voxtick_worlds::{BlockPos, Direction, Inventories, ItemKind, ItemStack};

/// A line of ten steps from `start` on.
fn line(start: BlockPos, direction: Direction) -> Vec<(BlockPos, Connections)> {
    let (x, y, z) = direction.step();
    let straight = Connections::of(&[direction, direction.opposite()]);
    let mut pipes: Vec<_> = (0..=10)
        .map(|step| (BlockPos::new(start.x + x * step, start.y + y * step, start.z + z * step), straight))
        .collect();
    pipes[0].1 = Connections::of(&[direction]);
    pipes[10].1 = Connections::of(&[direction.opposite()]);
    pipes
}

/// From every corner of the world inwards along every axis, and over the block whose packed position is all ones.
fn lines() -> Vec<(BlockPos, Direction)> {
    let mut lines = Vec::new();
    for (x, east) in [(-BORDER, Direction::East), (BORDER, Direction::West)] {
        for (y, up) in [(LOWEST, Direction::Up), (HIGHEST, Direction::Down)] {
            for (z, south) in [(-BORDER, Direction::South), (BORDER, Direction::North)] {
                lines.extend([east, up, south].map(|direction| (BlockPos::new(x, y, z), direction)));
            }
        }
    }
    for direction in Direction::ALL {
        lines.push((BlockPos::new(-1, -1, -1), direction));
    }
    lines
}

#[test]
fn items_move_spill_and_return_at_the_ends_of_the_world() {
    let settings = LaneSettings::default();
    let stack = ItemStack::single(ItemKind(7));
    for (start, direction) in lines() {
        let pipes = line(start, direction);
        let mut reference = ReferenceTransit::new(settings);
        reference.add_pipes(&pipes).expect("in range");
        let mut graph = SegmentedGraph::new();
        for &(position, connections) in &pipes {
            graph.add(position, connections).expect("in range");
        }
        assert_eq!((graph.segment_count(), graph.network_count()), (1, 1), "{start:?} {direction:?}");
        let mut solver = TransitSolver::new(graph, settings);
        let end = pipes[10].0;
        let ways =
            [LaneName { from: start, direction }, LaneName { from: end, direction: direction.opposite() }];
        let sink = Sink { position: end, kind: None, period: 0, room: Room::Endless };
        reference.add_sink(sink).expect("sound");
        solver.add_sink(sink).expect("sound");
        let mut inventories = Inventories::default();
        for name in ways {
            for position in [8 * UNIT, 5 * UNIT, UNIT / 2] {
                let handle = solver.insert(name, position, stack, 0).expect("room");
                assert_eq!(reference.insert(name, position, stack, 0), Ok(handle));
            }
        }
        for tick in 0..60 {
            if tick == 30 {
                // An item is in this block now, whichever chunk that lies in.
                let chunk = pipes[8].0.chunk();
                let stored = solver.take_out(chunk).to_bytes();
                assert!(solver.item_count() < 6);
                let stored = Snapshot::from_bytes(&stored).expect("sound");
                solver.put_back(&stored, &[]).expect("sound");
                solver.set_loaded(chunk, true);
            }
            reference.step(&mut inventories);
            solver.step(&mut inventories);
            for name in ways {
                let positions = |items: Option<Vec<(u32, _)>>| {
                    items.map(|items| items.into_iter().map(|(at, _)| at).collect::<Vec<u32>>())
                };
                assert_eq!(positions(solver.lane(name)), positions(reference.lane(name)), "{name} {tick}");
            }
            assert_eq!(solver.events().kinds(), reference.events().kinds());
        }
        assert_eq!((solver.totals().present(), solver.taken(end)), (5, 1));
    }
}

#[test]
fn what_falls_out_is_told_with_its_handle_and_the_point_where_it_was() {
    let stack = ItemStack::new(ItemKind(7), 3, 64);
    for (start, direction) in lines() {
        let mut transit = TransitSolver::new(SegmentedGraph::new(), LaneSettings::default());
        let pipes = line(start, direction);
        transit.add_pipes(&pipes).expect("in range");
        let name = LaneName { from: start, direction };
        let put =
            |transit: &mut TransitSolver, position| transit.insert(name, position, stack, 0).expect("room");
        let ahead = put(&mut transit, 9 * UNIT);
        let falls = put(&mut transit, 5 * UNIT + UNIT / 4 + 1);
        assert!(transit.remove_pipe(pipes[5].0));
        let steps = 5.25 + 1.0 / f64::from(UNIT);
        let (x, y, z) = direction.step();
        let at = |block: i32, step: i32| f64::from(block) + 0.5 + f64::from(step) * steps;
        let point = [at(start.x, x), at(start.y, y), at(start.z, z)];
        let spills = transit.take_spills();
        // A run that ends in a straight pipe is open and has no lane: what was ahead falls too, first in its lane.
        let on = |block: i32, step: i32| f64::from(block) + 0.5 + f64::from(step) * 9.0;
        let point_ahead = [on(start.x, x), on(start.y, y), on(start.z, z)];
        assert_eq!(
            spills,
            [Spill { handle: ahead, stack, point: point_ahead }, Spill { handle: falls, stack, point }]
        );
        assert_eq!((transit.totals().spilled, transit.item_count()), (2, 0));
        assert!(transit.take_spills().is_empty(), "told once");
    }
}

#[test]
fn pipes_at_the_border_open_to_nothing_behind_it_and_none_is_laid_there() {
    let mut graph = SegmentedGraph::new();
    let corner = BlockPos::new(BORDER, HIGHEST, -BORDER);
    graph.add(corner, Connections::ALL).expect("in range");
    assert_eq!(graph.neighbours(corner).count(), 0);
    for direction in [Direction::East, Direction::Up, Direction::North] {
        let position = corner.offset(direction);
        assert_eq!(graph.add(position, Connections::ALL), Err(GraphError::OutOfRange { position }));
        assert!(!graph.remove(position));
        assert_eq!(graph.connections(position), None);
    }
    assert_eq!(graph.node_count(), 1);
}
