//! The fused graph against a brute-force trace of all nodes, after every edit, whatever the order of edits.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use voxtick_transit::{Connections, SegmentName, SegmentedGraph};
use voxtick_worlds::{BlockPos, Direction};

type Nodes = BTreeMap<BlockPos, Connections>;

fn linked(nodes: &Nodes, at: BlockPos, direction: Direction) -> Option<BlockPos> {
    let next = at.offset(direction);
    let there = nodes.get(&next)?;
    (nodes[&at].has(direction) && there.has(direction.opposite())).then_some(next)
}

/// Every segment, found by walking from each junction in each direction.
fn trace(nodes: &Nodes) -> BTreeSet<(SegmentName, u32)> {
    let mut found = BTreeSet::new();
    for (&start, mask) in nodes.iter().filter(|(_, mask)| !mask.is_straight()) {
        for direction in mask.iter() {
            let (mut at, mut length) = (start, 0);
            while let Some(next) = linked(nodes, at, direction) {
                at = next;
                length += 1;
                if !nodes[&at].is_straight() {
                    let name = SegmentName { low: start.min(at), high: start.max(at) };
                    found.insert((name, length));
                    break;
                }
            }
        }
    }
    found
}

fn component(nodes: &Nodes, start: BlockPos) -> BTreeSet<BlockPos> {
    let mut seen = BTreeSet::from([start]);
    let mut stack = vec![start];
    while let Some(at) = stack.pop() {
        for direction in Direction::ALL {
            if let Some(next) = linked(nodes, at, direction)
                && seen.insert(next)
            {
                stack.push(next);
            }
        }
    }
    seen
}

fn check(graph: &SegmentedGraph, nodes: &Nodes) {
    let expected = trace(nodes);
    let segments: Vec<_> = graph.segments().map(|segment| (segment.name(), segment.length)).collect();
    assert_eq!(graph.segment_count(), segments.len());
    assert_eq!(segments.len(), expected.len(), "a segment is listed twice or missing");
    assert_eq!(segments.into_iter().collect::<BTreeSet<_>>(), expected);
    let mut networks = BTreeMap::new();
    let mut left: BTreeSet<BlockPos> = nodes.keys().copied().collect();
    let mut count = 0;
    while let Some(&start) = left.first() {
        count += 1;
        let members = component(nodes, start);
        let name = graph.network_at(start).expect("a pipe has a network");
        assert!(networks.insert(name, start).is_none(), "two networks share a name");
        for member in members {
            assert_eq!(graph.network_at(member), Some(name), "{member} left its network");
            left.remove(&member);
        }
    }
    assert_eq!(graph.network_count(), count);
    for (name, _) in &expected {
        let segment = graph.segments().find(|segment| segment.name() == *name).expect("just compared");
        for inner in segment.positions().skip(1).take(segment.length as usize - 1) {
            assert_eq!(graph.segment_at(inner), Some(segment));
        }
        assert_eq!(graph.branch(segment.low, segment.direction()), Some(segment));
        assert_eq!(graph.branch(segment.high, segment.direction().opposite()), Some(segment));
    }
}

/// Masks that make straight pieces likely, so that runs form, join and split.
fn mask() -> impl Strategy<Value = Connections> {
    prop_oneof![
        3 => Just(Connections::of(&[Direction::East, Direction::West])),
        2 => Just(Connections::of(&[Direction::Up, Direction::Down])),
        1 => Just(Connections::of(&[Direction::North, Direction::South])),
        1 => Just(Connections::ALL),
        3 => (0u8..64).prop_map(Connections::from_bits),
    ]
}

fn place() -> impl Strategy<Value = BlockPos> {
    (-4i32..5, 0i32..3, 0i32..2).prop_map(|(x, y, z)| BlockPos::new(x, y, z))
}

#[derive(Debug, Clone)]
enum Edit {
    Add(BlockPos, Connections),
    Remove(BlockPos),
    Many(Vec<(BlockPos, Connections)>),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (place(), mask()).prop_map(|(at, mask)| Edit::Add(at, mask)),
        2 => place().prop_map(Edit::Remove),
        1 => prop::collection::vec((place(), mask()), 0..30).prop_map(Edit::Many),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_graph_equals_a_trace_after_every_edit(edits in prop::collection::vec(edit(), 1..60)) {
        let mut graph = SegmentedGraph::new();
        let mut nodes = Nodes::new();
        for edit in edits {
            let before = trace(&nodes);
            match edit {
                Edit::Add(at, mask) => {
                    graph.add(at, mask).expect("in range");
                    nodes.insert(at, mask);
                }
                Edit::Remove(at) => assert_eq!(graph.remove(at), nodes.remove(&at).is_some()),
                Edit::Many(pipes) => {
                    graph.add_many(&pipes).expect("in range");
                    nodes.extend(pipes);
                }
            }
            check(&graph, &nodes);
            let mut added: Vec<_> = graph.last_added().map(|segment| (segment.name(), segment.length)).collect();
            added.sort_unstable();
            let now = trace(&nodes);
            prop_assert!(added.windows(2).all(|pair| pair[0] != pair[1]), "a segment is told of twice");
            prop_assert!(added.iter().all(|it| now.contains(it)), "a segment that went within the edit is told of");
            prop_assert!(now.difference(&before).all(|it| added.binary_search(it).is_ok()), "one is not told of");
        }
    }

    #[test]
    fn bulk_and_one_by_one_build_the_same_network(pipes in prop::collection::vec((place(), mask()), 0..60)) {
        let mut bulk = SegmentedGraph::new();
        bulk.add_many(&pipes).expect("in range");
        let mut single = SegmentedGraph::new();
        for &(at, mask) in &pipes {
            single.add(at, mask).expect("in range");
        }
        let mut both: Vec<Vec<_>> = [&bulk, &single].map(|graph| graph.segments().collect()).into();
        for segments in &mut both {
            segments.sort();
        }
        prop_assert_eq!(&both[0], &both[1]);
        prop_assert_eq!(bulk.nodes(), single.nodes());
        prop_assert_eq!(bulk.network_count(), single.network_count());
    }
}

#[test]
fn a_side_arm_splits_a_run_and_taking_it_off_joins_it_again() {
    let straight = Connections::of(&[Direction::East, Direction::West]);
    let mut graph = SegmentedGraph::new();
    let pipes: Vec<_> = (0..=10)
        .map(|x| {
            let mask = match x {
                0 => Connections::of(&[Direction::East]),
                10 => Connections::of(&[Direction::West]),
                _ => straight,
            };
            (BlockPos::new(x, 0, 0), mask)
        })
        .collect();
    graph.add_many(&pipes).expect("in range");
    assert_eq!(graph.segments().map(|segment| segment.length).collect::<Vec<_>>(), [10]);
    let middle = BlockPos::new(5, 0, 0);
    graph.update(middle, straight.with(Direction::Up)).expect("in range");
    assert_eq!(graph.segments().map(|segment| segment.length).collect::<Vec<_>>(), [5, 5]);
    graph.update(middle, straight).expect("in range");
    assert_eq!(graph.segments().map(|segment| segment.length).collect::<Vec<_>>(), [10]);
    graph.update(middle, Connections::NONE).expect("in range");
    assert_eq!(graph.segment_count(), 0);
    assert_eq!(graph.segment_at(BlockPos::new(3, 0, 0)), None);
    assert_eq!(graph.network_count(), 3);
    assert!(!graph.remove(BlockPos::new(3, 1, 0)), "removing nothing does nothing");
}

#[test]
fn a_run_across_the_cut_stays_within_the_longest_segment() {
    let mut graph = SegmentedGraph::new();
    let straight = Connections::of(&[Direction::North, Direction::South]);
    let mut pipes: Vec<_> = (-20_000..=60_000).map(|z| (BlockPos::new(7, 0, z), straight)).collect();
    pipes[0].1 = Connections::of(&[Direction::South]);
    pipes.last_mut().expect("not empty").1 = Connections::of(&[Direction::North]);
    graph.add_many(&pipes).expect("in range");
    let mut lengths: Vec<_> = graph.segments().map(|segment| segment.length).collect();
    lengths.sort_unstable();
    assert_eq!(lengths.iter().sum::<u32>(), 80_000);
    assert!(lengths.iter().all(|&length| length <= 32_768), "{lengths:?}");
    assert_eq!(graph.network_count(), 1);
}

/// The greater of two networks keeps its name where pipes join them: only the smaller one is walked.
#[test]
fn pipes_in_bulk_name_the_smaller_network_anew() {
    let line = |from: i32, to: i32| -> Vec<_> {
        (from..to).map(|x| (BlockPos::new(x, 0, 0), Connections::ALL)).collect()
    };
    for (small, large) in [(line(0, 3), line(10, 90)), (line(80, 90), line(0, 70))] {
        let mut graph = SegmentedGraph::new();
        graph.add_many(&small).expect("in range");
        graph.add_many(&large).expect("in range");
        let of = |graph: &SegmentedGraph, pipes: &[(BlockPos, Connections)]| graph.network_at(pipes[0].0);
        let name = of(&graph, &large);
        assert_ne!(of(&graph, &small), name);
        graph.add_many(&line(0, 90)).expect("in range");
        assert_eq!((of(&graph, &small), of(&graph, &large), graph.network_count()), (name, name, 1));
    }
}
