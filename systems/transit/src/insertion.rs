//! Why an item cannot be put into the middle of a lane.

use crate::network::LaneName;

/// Why an item cannot be put onto a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// There is no such lane.
    #[error("there is no {lane}: name a junction and a direction in which a whole segment leaves it")]
    NoLane {
        /// The lane asked for.
        lane: LaneName,
    },
    /// Part of the lane lies in a chunk that is not loaded.
    #[error("{lane} is not loaded: items enter it when all its chunks are")]
    NotLoaded {
        /// The lane asked for.
        lane: LaneName,
    },
    /// The position lies behind the end of the lane.
    #[error("{position}/65536 block is behind the end of {lane}, which is {length}/65536 long")]
    BeyondEnd {
        /// The lane asked for.
        lane: LaneName,
        /// The position asked for, in units.
        position: u32,
        /// The lane's length in units.
        length: u32,
    },
    /// An item is closer than the spacing.
    #[error("{position}/65536 block on {lane} is closer than the spacing of {spacing}/65536 to another item")]
    TooClose {
        /// The lane asked for.
        lane: LaneName,
        /// The position asked for, in units.
        position: u32,
        /// The spacing of the lane, in units.
        spacing: u32,
    },
    /// More different stacks than can be told apart.
    #[error("this would be the 16777217th different stack: use fewer kinds")]
    TooManyStacks,
}
