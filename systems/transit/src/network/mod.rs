//! Networks of pipes: nodes at block positions, fused into straight segments between junctions.
//!
//! [`SegmentedGraph`] is always fully fused: after every call its segments are those that a trace of all nodes would
//! find. It knows nothing of items; [`crate::TransitSolver`] moves what travels when the graph reports a change.
//!
//! Nodes sit in a hash map by packed position (for look-up only). A **run** is a maximal straight chain of linked
//! nodes in which all but the two ends pass straight through; it is a **segment** where both ends are junctions and
//! *open* otherwise. Runs with a node that passes through are also listed by line, sorted, so that a node in the
//! middle finds its run by binary search: extending, joining or splitting a run never walks it.

mod bulk;
mod chunks;
mod components;
mod edit;
pub(crate) mod key;
mod segments;

use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockPos, Direction};

pub use components::NetworkId;
pub use key::{BORDER, CUT_EVERY, Connections, HIGHEST, LOWEST};
pub use segments::{LaneName, Segment, SegmentName};

/// "No run", "no node".
pub(crate) const NONE: u32 = u32::MAX;

/// The most pipes of one graph: so many that lanes can still be numbered with 30 bits.
pub(crate) const MAX_NODES: usize = 1 << 27;

/// Why a pipe cannot be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The position lies beyond the world border or outside the greatest build range.
    #[error(
        "no pipe can be at {position}: x and z reach from -30000000 to 30000000, y from -2048 to 2047; \
         place it inside the world border"
    )]
    OutOfRange {
        /// The position asked for.
        position: BlockPos,
    },
    /// The graph holds as many pipes as it can number.
    #[error("the network is full at {position}: it holds {count} pipes; split it over several graphs")]
    Full {
        /// The position asked for.
        position: BlockPos,
        /// How many nodes there are.
        count: usize,
    },
}

/// Pipes as nodes, fused into segments.
///
/// ```
/// use voxtick_transit::{Connections, SegmentedGraph};
/// use voxtick_worlds::{BlockPos, Direction::{East, West}};
///
/// let mut graph = SegmentedGraph::new();
/// for x in 0..=10 {
///     let mask = match x { 0 => Connections::of(&[East]), 10 => Connections::of(&[West]), _ => Connections::of(&[East, West]) };
///     graph.add(BlockPos::new(x, 64, 0), mask)?;
/// }
/// let segment = graph.segment_at(BlockPos::new(4, 64, 0)).expect("complete");
/// assert_eq!((graph.segment_count(), segment.length), (1, 10));
///
/// // A side arm in the middle splits it 5 + 5.
/// graph.add(BlockPos::new(5, 64, 0), Connections::of(&[East, West]).with(voxtick_worlds::Direction::Up))?;
/// assert_eq!(graph.segment_count(), 2);
/// # Ok::<(), voxtick_transit::GraphError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SegmentedGraph {
    index: FxHashMap<u64, u32>,
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    runs: Vec<Run>,
    free_runs: Vec<u32>,
    /// Per line, the runs that hold a node passing through, as (lowest coordinate, run), sorted.
    lines: FxHashMap<u64, Vec<(i32, u32)>>,
    segment_count: usize,
    components: components::Components,
    by_chunk: chunks::ByChunk,
    delta: Delta,
}

/// One pipe. `arms` are the runs that leave a junction, by direction; nodes that pass through use none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) key: u64,
    pub(crate) arms: [u32; 6],
    /// The connected component of a junction; nodes that pass through take their run's.
    component: u32,
    /// Its place in the list of its chunk.
    place: u32,
    pub(crate) connections: Connections,
    live: bool,
    /// Laid in bulk, and taking part in no run yet.
    loose: bool,
}

/// A chain of linked nodes along one axis, from its low end to its high end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) length: u32,
    component: u32,
    pub(crate) axis: u8,
    /// Both ends are junctions.
    pub(crate) closed: bool,
    live: bool,
    /// Has come to be in the last edit.
    new: bool,
}

/// What an edit did to the segments, by run number; numbers in `removed` may be in use again in `added`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delta {
    pub(crate) removed: Vec<(u32, Segment)>,
    pub(crate) added: Vec<u32>,
    /// Nodes that were added, changed or taken away: key and number.
    pub(crate) touched: Vec<(u64, u32)>,
}

impl SegmentedGraph {
    /// A graph without a pipe.
    #[must_use]
    pub fn new() -> SegmentedGraph {
        SegmentedGraph::default()
    }

    /// Adds a pipe, or gives the pipe that is there new connections.
    ///
    /// Costs the logarithm of the number of runs on the lines through it, not the length of any run.
    ///
    /// # Errors
    /// The position lies beyond the world border or the greatest build range.
    pub fn add(&mut self, position: BlockPos, connections: Connections) -> Result<(), GraphError> {
        let key = key::check(position)?;
        if self.nodes.len() >= MAX_NODES && self.free_nodes.is_empty() {
            return Err(GraphError::Full { position, count: self.node_count() });
        }
        self.begin_edit();
        self.set(key, connections);
        Ok(())
    }

    /// Gives a pipe new connections; where there is none, one is added.
    ///
    /// # Errors
    /// As [`SegmentedGraph::add`].
    pub fn update(&mut self, position: BlockPos, connections: Connections) -> Result<(), GraphError> {
        self.add(position, connections)
    }

    /// Takes a pipe away; true where there was one.
    pub fn remove(&mut self, position: BlockPos) -> bool {
        self.begin_edit();
        match key::check(position) {
            Ok(key) => self.take(key),
            Err(_) => false,
        }
    }

    /// The connections of the pipe at `position`.
    #[must_use]
    pub fn connections(&self, position: BlockPos) -> Option<Connections> {
        self.find(position).map(|node| self.nodes[node as usize].connections)
    }

    /// True where there is a pipe that does anything but pass straight through.
    #[must_use]
    pub fn is_junction(&self, position: BlockPos) -> bool {
        self.find(position).is_some_and(|node| self.through(node).is_none())
    }

    /// True where both neighbours open to each other.
    #[must_use]
    pub fn is_linked(&self, position: BlockPos, direction: Direction) -> bool {
        self.find(position).is_some_and(|node| self.linked(node, direction.index()).is_some())
    }

    /// The neighbours that are linked with `position`, without allocation.
    pub fn neighbours(&self, position: BlockPos) -> impl Iterator<Item = (Direction, BlockPos)> + '_ {
        let node = self.find(position);
        Direction::ALL.into_iter().filter_map(move |direction| {
            let other = self.linked(node?, direction.index())?;
            Some((direction, key::unpack(self.nodes[other as usize].key)))
        })
    }

    /// How many pipes there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.index.len()
    }

    /// All pipes with their connections, in canonical order (by position). Sorts, so costs n log n.
    #[must_use]
    pub fn nodes(&self) -> Vec<(BlockPos, Connections)> {
        let mut nodes: Vec<(u64, Connections)> =
            self.nodes.iter().filter(|node| node.live).map(|node| (node.key, node.connections)).collect();
        nodes.sort_unstable_by_key(|&(key, _)| key);
        nodes.into_iter().map(|(key, connections)| (key::unpack(key), connections)).collect()
    }

    /// Bytes held by the graph.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.index.capacity() * 17
            + self.nodes.capacity() * size_of::<Node>()
            + self.runs.capacity() * size_of::<Run>()
            + self.lines.capacity() * 33
            + self.lines.values().map(|line| line.capacity() * 8).sum::<usize>()
            + self.by_chunk.memory_bytes()
    }

    /// The node at `position`.
    pub(crate) fn find(&self, position: BlockPos) -> Option<u32> {
        self.find_key(key::check(position).ok()?)
    }

    pub(crate) fn find_key(&self, key: u64) -> Option<u32> {
        self.index.get(&key).copied()
    }

    pub(crate) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// One more than the greatest node number in use.
    pub(crate) fn node_slots(&self) -> usize {
        self.nodes.len()
    }

    /// One more than the greatest run number in use.
    pub(crate) fn run_slots(&self) -> usize {
        self.runs.len()
    }

    pub(crate) fn run(&self, run: u32) -> &Run {
        &self.runs[run as usize]
    }

    /// True for a junction that exists.
    pub(crate) fn is_live_junction(&self, node: u32) -> bool {
        self.nodes.get(node as usize).is_some_and(|it| it.live) && self.through(node).is_none()
    }

    /// True for a run that exists and is a segment.
    pub(crate) fn is_live_segment(&self, run: u32) -> bool {
        self.runs.get(run as usize).is_some_and(|it| it.live && it.closed)
    }

    /// Forgets what the edit before this one did.
    fn begin_edit(&mut self) {
        for &run in &self.delta.added {
            self.runs[run as usize].new = false;
        }
        self.delta.clear();
    }

    /// What the last edit did to the segments.
    pub(crate) fn delta(&self) -> &Delta {
        &self.delta
    }

    /// The axis that a node passes straight through.
    fn through(&self, node: u32) -> Option<usize> {
        let node = &self.nodes[node as usize];
        key::through_axis(node.key, node.connections)
    }

    /// The neighbour that a node is linked with in `direction`.
    fn linked(&self, node: u32, direction: usize) -> Option<u32> {
        let it = &self.nodes[node as usize];
        if it.connections.bits() & (1 << direction) == 0 {
            return None;
        }
        let other = *self.index.get(&key::neighbour(it.key, direction)?)?;
        (self.nodes[other as usize].connections.bits() & (1 << (direction ^ 1)) != 0).then_some(other)
    }
}

impl Delta {
    fn clear(&mut self) {
        self.removed.clear();
        self.added.clear();
        self.touched.clear();
    }
}
