//! Positions of blocks, sections, chunks and regions, and the six directions.
//!
//! All conversions go towards negative infinity (`-1` lies in chunk `-1`, not in chunk `0`), and all that could
//! leave the range of `i32` is either checked or cannot be expressed.

use std::fmt;

/// Cells along one edge of a section and of a chunk.
pub const SECTION_EDGE: usize = 16;
/// Cells of a section: 16 x 16 x 16.
pub const SECTION_CELLS: usize = 4096;
/// Chunks along one edge of a region.
pub const REGION_EDGE: usize = 32;

/// One block of a world.
///
/// The order is by `x`, then `y`, then `z`; it has no meaning in the game and serves as the canonical order wherever
/// several positions have to be worked through.
///
/// ```
/// use voxtick_worlds::{BlockPos, ChunkPos, Direction};
/// let torch = BlockPos::new(-1, 70, 16);
/// assert_eq!(torch.chunk(), ChunkPos::new(-1, 1));
/// assert_eq!(torch.cell(), (70 & 15) * 256 + 0 * 16 + 15);
/// assert_eq!(torch.offset(Direction::Up).y, 71);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BlockPos {
    /// East is positive.
    pub x: i32,
    /// Up is positive.
    pub y: i32,
    /// South is positive.
    pub z: i32,
}

/// One cube of 16 x 16 x 16 blocks; its coordinates are those of its blocks divided by 16, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SectionPos {
    /// Block `x` divided by 16.
    pub x: i32,
    /// Block `y` divided by 16.
    pub y: i32,
    /// Block `z` divided by 16.
    pub z: i32,
}

/// One column of 16 x 16 blocks over the whole build range.
///
/// The order is by `x`, then `z`: the canonical order in which chunks are worked through and hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ChunkPos {
    /// Block `x` divided by 16.
    pub x: i32,
    /// Block `z` divided by 16.
    pub z: i32,
}

/// One square of 32 x 32 chunks: the part of a world that one region file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RegionPos {
    /// Chunk `x` divided by 32.
    pub x: i32,
    /// Chunk `z` divided by 32.
    pub z: i32,
}

/// One of the six directions, in the order in which the game numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Direction {
    /// Towards negative `y`.
    Down,
    /// Towards positive `y`.
    Up,
    /// Towards negative `z`.
    North,
    /// Towards positive `z`.
    South,
    /// Towards negative `x`.
    West,
    /// Towards positive `x`.
    East,
}

impl Direction {
    /// All six, in the game's order.
    pub const ALL: [Direction; 6] = [
        Direction::Down,
        Direction::Up,
        Direction::North,
        Direction::South,
        Direction::West,
        Direction::East,
    ];

    /// The direction that undoes this one.
    #[must_use]
    pub const fn opposite(self) -> Direction {
        match self {
            Direction::Down => Direction::Up,
            Direction::Up => Direction::Down,
            Direction::North => Direction::South,
            Direction::South => Direction::North,
            Direction::West => Direction::East,
            Direction::East => Direction::West,
        }
    }

    /// One step in this direction as `(x, y, z)`.
    #[must_use]
    pub const fn step(self) -> (i32, i32, i32) {
        match self {
            Direction::Down => (0, -1, 0),
            Direction::Up => (0, 1, 0),
            Direction::North => (0, 0, -1),
            Direction::South => (0, 0, 1),
            Direction::West => (-1, 0, 0),
            Direction::East => (1, 0, 0),
        }
    }

    /// The number of this direction, 0 to 5 in the order of [`Direction::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name the game writes in block properties: `down`, `up`, `north`, `south`, `west`, `east`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Down => "down",
            Direction::Up => "up",
            Direction::North => "north",
            Direction::South => "south",
            Direction::West => "west",
            Direction::East => "east",
        }
    }
}

impl BlockPos {
    /// A position from its three coordinates.
    #[must_use]
    pub const fn new(x: i32, y: i32, z: i32) -> BlockPos {
        BlockPos { x, y, z }
    }

    /// The neighbour in `direction`. At the edge of the `i32` range the position stays where it is; use
    /// [`BlockPos::checked_offset`] where that matters.
    #[must_use]
    pub const fn offset(self, direction: Direction) -> BlockPos {
        let (x, y, z) = direction.step();
        BlockPos::new(self.x.saturating_add(x), self.y.saturating_add(y), self.z.saturating_add(z))
    }

    /// This position moved by `(x, y, z)`, or `None` where that leaves the range of `i32`.
    #[must_use]
    pub const fn checked_offset(self, x: i32, y: i32, z: i32) -> Option<BlockPos> {
        match (self.x.checked_add(x), self.y.checked_add(y), self.z.checked_add(z)) {
            (Some(x), Some(y), Some(z)) => Some(BlockPos::new(x, y, z)),
            _ => None,
        }
    }

    /// The chunk this block lies in.
    #[must_use]
    pub const fn chunk(self) -> ChunkPos {
        ChunkPos::new(self.x >> 4, self.z >> 4)
    }

    /// The section this block lies in.
    #[must_use]
    pub const fn section(self) -> SectionPos {
        SectionPos::new(self.x >> 4, self.y >> 4, self.z >> 4)
    }

    /// The index of this block in its section: `y * 256 + z * 16 + x` with each coordinate taken modulo 16.
    #[must_use]
    pub const fn cell(self) -> usize {
        (((self.y & 15) << 8) | ((self.z & 15) << 4) | (self.x & 15)) as usize
    }

    /// The index of this block's column in its chunk: `z * 16 + x` with each coordinate taken modulo 16.
    #[must_use]
    pub const fn column(self) -> usize {
        (((self.z & 15) << 4) | (self.x & 15)) as usize
    }
}

impl SectionPos {
    /// A section position from its three coordinates.
    #[must_use]
    pub const fn new(x: i32, y: i32, z: i32) -> SectionPos {
        SectionPos { x, y, z }
    }

    /// The chunk this section is part of.
    #[must_use]
    pub const fn chunk(self) -> ChunkPos {
        ChunkPos::new(self.x, self.z)
    }

    /// The block with the lowest coordinates, or `None` where that leaves the range of `i32`.
    #[must_use]
    pub const fn checked_origin(self) -> Option<BlockPos> {
        match (self.x.checked_mul(16), self.y.checked_mul(16), self.z.checked_mul(16)) {
            (Some(x), Some(y), Some(z)) => Some(BlockPos::new(x, y, z)),
            _ => None,
        }
    }

    /// The block at `cell` (`y * 256 + z * 16 + x`), or `None` where that leaves the range of `i32`.
    #[must_use]
    pub const fn checked_block(self, cell: usize) -> Option<BlockPos> {
        match self.checked_origin() {
            Some(origin) => origin.checked_offset(
                (cell & 15) as i32,
                ((cell >> 8) & 15) as i32,
                ((cell >> 4) & 15) as i32,
            ),
            None => None,
        }
    }
}

impl ChunkPos {
    /// A chunk position from its two coordinates.
    #[must_use]
    pub const fn new(x: i32, z: i32) -> ChunkPos {
        ChunkPos { x, z }
    }

    /// The region this chunk is part of.
    #[must_use]
    pub const fn region(self) -> RegionPos {
        RegionPos::new(self.x >> 5, self.z >> 5)
    }

    /// The number of this chunk in its region file: `(z & 31) << 5 | (x & 31)`.
    #[must_use]
    pub const fn region_entry(self) -> usize {
        (((self.z & 31) << 5) | (self.x & 31)) as usize
    }

    /// The chunk `x` to the east and `z` to the south, or `None` where that leaves the range of `i32`.
    #[must_use]
    pub const fn checked_offset(self, x: i32, z: i32) -> Option<ChunkPos> {
        match (self.x.checked_add(x), self.z.checked_add(z)) {
            (Some(x), Some(z)) => Some(ChunkPos::new(x, z)),
            _ => None,
        }
    }

    /// The block of this chunk with the lowest `x` and `z`, at height `y`; `None` where that leaves the range of
    /// `i32`.
    #[must_use]
    pub const fn checked_block(self, y: i32) -> Option<BlockPos> {
        match (self.x.checked_mul(16), self.z.checked_mul(16)) {
            (Some(x), Some(z)) => Some(BlockPos::new(x, y, z)),
            _ => None,
        }
    }
}

impl RegionPos {
    /// A region position from its two coordinates.
    #[must_use]
    pub const fn new(x: i32, z: i32) -> RegionPos {
        RegionPos { x, z }
    }

    /// The chunk of entry `(z << 5) | x`, or `None` where that leaves the range of `i32` or `entry` is above 1,023.
    #[must_use]
    pub const fn checked_chunk(self, entry: usize) -> Option<ChunkPos> {
        if entry >= REGION_EDGE * REGION_EDGE {
            return None;
        }
        match (self.x.checked_mul(32), self.z.checked_mul(32)) {
            (Some(x), Some(z)) => {
                ChunkPos::new(x, z).checked_offset((entry & 31) as i32, (entry >> 5) as i32)
            }
            _ => None,
        }
    }
}

impl fmt::Display for BlockPos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

impl fmt::Display for SectionPos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "section ({}, {}, {})", self.x, self.y, self.z)
    }
}

impl fmt::Display for ChunkPos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunk ({}, {})", self.x, self.z)
    }
}

impl fmt::Display for RegionPos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region ({}, {})", self.x, self.z)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_blocks_lie_in_negative_chunks_and_regions() {
        let block = BlockPos::new(-1, -1, -17);
        assert_eq!(block.chunk(), ChunkPos::new(-1, -2));
        assert_eq!(block.section(), SectionPos::new(-1, -1, -2));
        assert_eq!(block.cell(), 15 * 256 + 15 * 16 + 15);
        assert_eq!(ChunkPos::new(-1, -33).region(), RegionPos::new(-1, -2));
        assert_eq!(ChunkPos::new(-1, -33).region_entry(), 31 * 32 + 31);
    }

    #[test]
    fn cells_and_blocks_are_inverse_over_a_section_at_the_corner_of_the_world() {
        let section = SectionPos::new(-3, -4, 7);
        for cell in 0..SECTION_CELLS {
            let block = section.checked_block(cell).expect("in range");
            assert_eq!((block.section(), block.cell()), (section, cell));
        }
    }

    #[test]
    fn region_entries_and_chunks_are_inverse() {
        let region = RegionPos::new(-2, 3);
        for entry in 0..1024 {
            let chunk = region.checked_chunk(entry).expect("in range");
            assert_eq!((chunk.region(), chunk.region_entry()), (region, entry));
        }
        assert_eq!(region.checked_chunk(1024), None);
    }

    #[test]
    fn the_ends_of_the_integer_range_are_refused_not_wrapped() {
        assert_eq!(BlockPos::new(i32::MAX, 0, 0).checked_offset(1, 0, 0), None);
        assert_eq!(BlockPos::new(i32::MAX, 0, 0).offset(Direction::East).x, i32::MAX);
        assert_eq!(SectionPos::new(i32::MAX, 0, 0).checked_origin(), None);
        assert_eq!(ChunkPos::new(0, i32::MIN).checked_block(0), None);
        assert_eq!(RegionPos::new(i32::MAX, 0).checked_chunk(0), None);
    }

    #[test]
    fn directions_cancel_with_their_opposites() {
        for direction in Direction::ALL {
            let start = BlockPos::new(3, -9, 40);
            assert_eq!(start.offset(direction).offset(direction.opposite()), start);
            assert_eq!(Direction::ALL[direction.index()], direction);
        }
    }
}
