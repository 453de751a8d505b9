//! How far it is to the nearest of some places through a network, and the router that goes there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockPos, Direction};

use crate::network::{SegmentedGraph, key};
use crate::routers::{Crossing, Route, Router, SinkState};

/// Sends items towards the nearest of the sinks it was made for, counted in blocks of pipe; delivers where the sink
/// accepts. Of the lanes with room it takes the one with the shortest way, so items pass a jam where there is another
/// way; lanes from which no sink can be reached are never taken.
///
/// It knows the network as it was: make a new one after edits, and give it to the junctions again.
///
/// ```
/// use voxtick_transit::{Layout, NearestSink};
/// use voxtick_worlds::{BlockPos, Direction::{East, West}};
/// let mut layout = Layout::default();
/// layout.grid(BlockPos::new(0, 64, 0), 5, 5);
/// let router = NearestSink::new(&layout.graph()?, [BlockPos::new(4, 64, 0)]);
/// assert_eq!(router.distance(BlockPos::new(0, 64, 0), East), Some(4));
/// assert_eq!(router.distance(BlockPos::new(0, 64, 0), West), None);
/// # Ok::<(), voxtick_transit::GraphError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NearestSink {
    /// Per junction and direction, blocks to the nearest sink that way.
    ways: FxHashMap<u64, [u32; 6]>,
}

/// No sink that way.
const FAR: u32 = u32::MAX;

impl NearestSink {
    /// Measures the ways to these junctions, none of which turns back where it came from: O(lanes * log lanes).
    #[must_use]
    pub fn new(graph: &SegmentedGraph, sinks: impl IntoIterator<Item = BlockPos>) -> NearestSink {
        let mut ways: FxHashMap<u64, [u32; 6]> = FxHashMap::default();
        // Lanes by the junction they leave, in the order of their distance: found from their ends.
        let mut queue = BinaryHeap::new();
        let arriving = |node: u32, through: u32, but: Option<usize>, queue: &mut BinaryHeap<_>| {
            for (side, from, length) in arms(graph, node) {
                if Some(side) != but {
                    queue.push(Reverse((
                        through.saturating_add(length),
                        graph.node(from).key,
                        from,
                        side ^ 1,
                    )));
                }
            }
        };
        for node in sinks.into_iter().filter_map(|sink| graph.find(sink)) {
            if graph.is_live_junction(node) {
                arriving(node, 0, None, &mut queue);
            }
        }
        while let Some(Reverse((distance, key, node, direction))) = queue.pop() {
            let known = &mut ways.entry(key).or_insert([FAR; 6])[direction];
            if distance < *known {
                *known = distance;
                // What comes from where this lane leads would turn back.
                arriving(node, distance, Some(direction), &mut queue);
            }
        }
        NearestSink { ways }
    }

    /// Blocks of pipe to the nearest sink for an item that leaves `junction` in `direction`; `None` where there is none.
    #[must_use]
    pub fn distance(&self, junction: BlockPos, direction: Direction) -> Option<u32> {
        let distance = self.ways.get(&key::check(junction).ok()?)?[direction.index()];
        (distance != FAR).then_some(distance)
    }
}

impl Router for NearestSink {
    fn route(&self, crossing: &Crossing) -> Route {
        if crossing.sink == SinkState::Accepts {
            return Route::Deliver;
        }
        let way = |direction: &Direction| self.distance(crossing.position, *direction);
        // Of equal ways the first in the game's order of directions.
        match crossing.open.iter().filter(|direction| way(direction).is_some()).min_by_key(way) {
            Some(direction) => Route::Out(direction),
            None => Route::Wait,
        }
    }
}

/// The junctions that segments join with `node`: direction, junction, length.
fn arms(graph: &SegmentedGraph, node: u32) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
    (0..6).filter_map(move |direction| {
        let run = graph.run(graph.closed_arm(node, direction)?);
        let next = if direction & 1 == 1 { run.high } else { run.low };
        Some((direction, next, run.length))
    })
}
