//! Segments and lanes as the outside sees them: canonical names, look-up by position, listing.

use std::fmt;

use voxtick_worlds::{BlockPos, Direction};

use super::key::{self, along, axis_of};
use super::{NONE, SegmentedGraph};

/// A straight run between two junctions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment {
    /// The junction with the lower position.
    pub low: BlockPos,
    /// The junction with the higher position.
    pub high: BlockPos,
    /// Steps from one to the other: blocks between 0 and 10 make a length of 10.
    pub length: u32,
}

/// The name of a segment: its two ends, the smaller first. Two segments never share both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentName {
    /// The junction with the lower position.
    pub low: BlockPos,
    /// The junction with the higher position.
    pub high: BlockPos,
}

/// The name of a lane: the junction it leaves and the way it goes. Independent of storage and of build order.
///
/// ```
/// use voxtick_transit::LaneName;
/// use voxtick_worlds::{BlockPos, Direction};
/// let lane = LaneName { from: BlockPos::new(0, 64, 0), direction: Direction::East };
/// assert_eq!(lane.to_string(), "lane from (0, 64, 0) east");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneName {
    /// The junction where items enter.
    pub from: BlockPos,
    /// The direction in which they move.
    pub direction: Direction,
}

impl Segment {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> SegmentName {
        SegmentName { low: self.low, high: self.high }
    }

    /// The direction from the low end to the high end: `Up`, `South` or `East`.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        if self.low.x != self.high.x {
            Direction::East
        } else if self.low.y != self.high.y {
            Direction::Up
        } else {
            Direction::South
        }
    }

    /// The lane from the low end to the high end.
    #[must_use]
    pub const fn forward(&self) -> LaneName {
        LaneName { from: self.low, direction: self.direction() }
    }

    /// The lane from the high end to the low end.
    #[must_use]
    pub const fn backward(&self) -> LaneName {
        LaneName { from: self.high, direction: self.direction().opposite() }
    }

    /// All positions from the low to the high end, both included.
    pub fn positions(&self) -> impl Iterator<Item = BlockPos> + use<> {
        let (x, y, z) = self.direction().step();
        let low = self.low;
        (0..=self.length as i32).map(move |at| BlockPos::new(low.x + x * at, low.y + y * at, low.z + z * at))
    }
}

impl SegmentedGraph {
    /// How many segments there are.
    #[must_use]
    pub fn segment_count(&self) -> usize {
        self.segment_count
    }

    /// All segments in the order of their storage, which depends on the history of edits: sort by
    /// [`Segment::name`] wherever the order could matter.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        (0..self.runs.len() as u32)
            .filter(|&run| self.runs[run as usize].live && self.runs[run as usize].closed)
            .map(|run| self.segment(run))
    }

    /// The segments that came to be in the last edit, in no order.
    pub fn last_added(&self) -> impl Iterator<Item = Segment> + '_ {
        self.delta().added.iter().map(|&run| self.segment(run))
    }

    /// The segment that `position` lies on: the one that passes through it, or the first (in the game's order of
    /// directions) of those that end there. `None` for open runs.
    #[must_use]
    pub fn segment_at(&self, position: BlockPos) -> Option<Segment> {
        let node = self.find(position)?;
        let run = match self.through(node) {
            Some(axis) => Some(self.run_through(node, axis)),
            None => self.arms(node).iter().copied().find(|&run| run != NONE && self.run(run).closed),
        }?;
        self.run(run).closed.then(|| self.segment(run))
    }

    /// The segment that leaves the junction at `position` in `direction`.
    #[must_use]
    pub fn branch(&self, position: BlockPos, direction: Direction) -> Option<Segment> {
        let run = self.closed_arm(self.find(position)?, direction.index())?;
        Some(self.segment(run))
    }

    /// The run that leaves a junction in `direction`, where it is closed.
    pub(crate) fn closed_arm(&self, node: u32, direction: usize) -> Option<u32> {
        if self.through(node).is_some() {
            return None;
        }
        let run = self.nodes[node as usize].arms[direction];
        (run != NONE && self.runs[run as usize].closed).then_some(run)
    }

    /// The segment that passes through a node along the axis of `direction`.
    pub(crate) fn passing(&self, node: u32, direction: Direction) -> Option<u32> {
        let axis = self.through(node).filter(|&axis| axis == axis_of(direction.index()))?;
        Some(self.run_through(node, axis)).filter(|&run| self.run(run).closed)
    }

    pub(crate) fn segment(&self, run: u32) -> Segment {
        let it = &self.runs[run as usize];
        Segment {
            low: key::unpack(self.nodes[it.low as usize].key),
            high: key::unpack(self.nodes[it.high as usize].key),
            length: it.length,
        }
    }

    fn arms(&self, node: u32) -> &[u32; 6] {
        &self.nodes[node as usize].arms
    }

    /// The run of a node that passes straight through along `axis`.
    pub(super) fn run_through(&self, node: u32, axis: usize) -> u32 {
        let key = self.nodes[node as usize].key;
        let line = &self.lines[&key::line(key, axis)];
        let at = line.partition_point(|&(low, _)| low <= along(key, axis));
        line[at - 1].1
    }

    /// The end of a run in `direction` along its axis.
    pub(super) fn end(&self, run: u32, direction: usize) -> u32 {
        let it = &self.runs[run as usize];
        debug_assert_eq!(axis_of(direction), it.axis as usize);
        if direction & 1 == 1 { it.high } else { it.low }
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {} to {}", self.low, self.high)
    }
}

impl fmt::Display for LaneName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane from {} {}", self.from, self.direction)
    }
}
