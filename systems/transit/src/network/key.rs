//! Positions packed into 64 bits, and the six-bit masks of connections.
//!
//! A key orders like the position it packs (`x`, then `y`, then `z`), so that sorting keys is the canonical order, and
//! hashing one word is cheaper than hashing three. Every bit pattern may be a position; "none" is never a key.

use voxtick_worlds::{BlockPos, Direction};

use super::GraphError;

/// The world border of the game: positions further out are refused.
pub const BORDER: i32 = 30_000_000;
/// The lowest height a pipe may have.
pub const LOWEST: i32 = -2048;
/// The greatest height a pipe may have.
pub const HIGHEST: i32 = 2047;

/// A straight run is cut by a junction wherever its coordinate is this far past a multiple of [`CUT_EVERY`], so that
/// no lane outgrows 32-bit fixed point.
const CUT_AT: i32 = 16_384;
/// How far two cuts lie apart, and so the length in blocks of the longest segment.
pub const CUT_EVERY: i32 = 32_768;

const X_SHIFT: u32 = 38;
const Y_SHIFT: u32 = 26;
const X_OFFSET: i32 = 1 << 25;
const Y_OFFSET: i32 = 1 << 11;
const Z_OFFSET: i32 = 1 << 25;
const Y_MASK: u64 = (1 << 12) - 1;
const Z_MASK: u64 = (1 << 26) - 1;

/// Which of its six sides a pipe opens to: bit `Direction::index()`.
///
/// A link is real only where both neighbours open to each other.
///
/// ```
/// use voxtick_transit::Connections;
/// use voxtick_worlds::Direction::{East, North, West};
/// let straight = Connections::of(&[East, West]);
/// assert!(straight.is_straight() && straight.has(East) && !straight.has(North));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Connections(u8);

impl Connections {
    /// Opens to no side.
    pub const NONE: Connections = Connections(0);
    /// Opens to all six sides.
    pub const ALL: Connections = Connections(0b11_1111);

    /// The mask with these directions.
    #[must_use]
    pub const fn of(directions: &[Direction]) -> Connections {
        let mut bits = 0;
        let mut at = 0;
        while at < directions.len() {
            bits |= 1 << directions[at].index();
            at += 1;
        }
        Connections(bits)
    }

    /// The mask with these bits; bits 6 and 7 are dropped.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Connections {
        Connections(bits & 0b11_1111)
    }

    /// The six bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True where the mask holds `direction`.
    #[must_use]
    pub const fn has(self, direction: Direction) -> bool {
        self.0 & (1 << direction.index()) != 0
    }

    /// This mask and `direction`.
    #[must_use]
    pub const fn with(self, direction: Direction) -> Connections {
        Connections(self.0 | (1 << direction.index()))
    }

    /// This mask without `direction`.
    #[must_use]
    pub const fn without(self, direction: Direction) -> Connections {
        Connections(self.0 & !(1 << direction.index()))
    }

    /// The directions it holds, in the game's order.
    pub fn iter(self) -> impl Iterator<Item = Direction> {
        Direction::ALL.into_iter().filter(move |&direction| self.has(direction))
    }

    /// True for exactly two opposite sides; every other mask makes a junction.
    #[must_use]
    pub const fn is_straight(self) -> bool {
        matches!(self.0, 0b00_0011 | 0b00_1100 | 0b11_0000)
    }
}

/// The axis of a direction: 0 = y, 1 = z, 2 = x. The even direction of an axis leads to lower coordinates.
pub(crate) const fn axis_of(direction: usize) -> usize {
    direction >> 1
}

/// Packs a position that [`check`] has accepted.
pub(crate) const fn pack(position: BlockPos) -> u64 {
    let x = (position.x + X_OFFSET) as u64;
    let y = (position.y + Y_OFFSET) as u64;
    let z = (position.z + Z_OFFSET) as u64;
    (x << X_SHIFT) | (y << Y_SHIFT) | z
}

/// The position that a key packs.
pub(crate) const fn unpack(key: u64) -> BlockPos {
    BlockPos::new(
        (key >> X_SHIFT) as i32 - X_OFFSET,
        ((key >> Y_SHIFT) & Y_MASK) as i32 - Y_OFFSET,
        (key & Z_MASK) as i32 - Z_OFFSET,
    )
}

/// Refuses positions beyond the world border or the greatest build range.
pub(crate) fn check(position: BlockPos) -> Result<u64, GraphError> {
    let inside = position.x.unsigned_abs() <= BORDER.unsigned_abs()
        && position.z.unsigned_abs() <= BORDER.unsigned_abs()
        && (LOWEST..=HIGHEST).contains(&position.y);
    if inside { Ok(pack(position)) } else { Err(GraphError::OutOfRange { position }) }
}

/// The key of the neighbour in `direction`, or `None` above and below the build range.
pub(crate) const fn neighbour(key: u64, direction: usize) -> Option<u64> {
    let y = (key >> Y_SHIFT) & Y_MASK;
    match direction {
        0 if y == 0 => None,
        1 if y == Y_MASK => None,
        0 => Some(key - (1 << Y_SHIFT)),
        1 => Some(key + (1 << Y_SHIFT)),
        2 => Some(key - 1),
        3 => Some(key + 1),
        4 => Some(key - (1 << X_SHIFT)),
        _ => Some(key + (1 << X_SHIFT)),
    }
}

/// The coordinate of a key along `axis`.
pub(crate) const fn along(key: u64, axis: usize) -> i32 {
    match axis {
        0 => ((key >> Y_SHIFT) & Y_MASK) as i32 - Y_OFFSET,
        1 => (key & Z_MASK) as i32 - Z_OFFSET,
        _ => (key >> X_SHIFT) as i32 - X_OFFSET,
    }
}

/// The line through a key along `axis`, as a key whose own coordinate on that axis is replaced by the axis.
pub(crate) const fn line(key: u64, axis: usize) -> u64 {
    match axis {
        0 => (key & !(Y_MASK << Y_SHIFT)) | (1 << Y_SHIFT),
        1 => (key & !Z_MASK) | 2,
        _ => (key & ((1 << X_SHIFT) - 1)) | (3 << X_SHIFT),
    }
}

/// The axis that a node passes straight through, or `None` for a junction.
pub(crate) const fn through_axis(key: u64, connections: Connections) -> Option<usize> {
    let axis = match connections.0 {
        0b00_0011 => 0,
        0b00_1100 => 1,
        0b11_0000 => 2,
        _ => return None,
    };
    if along(key, axis).rem_euclid(CUT_EVERY) == CUT_AT { None } else { Some(axis) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_like_positions_and_come_back_whole() {
        let mut positions = Vec::new();
        for x in [-BORDER, -1, 0, 1, BORDER] {
            for y in [LOWEST, -1, 0, 300, HIGHEST] {
                for z in [-BORDER, -1, 0, 5, BORDER] {
                    positions.push(BlockPos::new(x, y, z));
                }
            }
        }
        positions.sort();
        let keys: Vec<u64> = positions.iter().map(|&position| check(position).expect("in range")).collect();
        assert!(keys.is_sorted());
        for (&key, &position) in keys.iter().zip(&positions) {
            assert_eq!(unpack(key), position);
            for direction in Direction::ALL {
                let next = position.offset(direction);
                if let Ok(expected) = check(next) {
                    assert_eq!(neighbour(key, direction.index()), Some(expected));
                }
            }
        }
    }

    #[test]
    fn positions_beyond_the_border_or_the_build_range_are_refused() {
        for position in [
            BlockPos::new(BORDER + 1, 0, 0),
            BlockPos::new(i32::MIN, 0, 0),
            BlockPos::new(0, HIGHEST + 1, 0),
            BlockPos::new(0, LOWEST - 1, 0),
            BlockPos::new(0, 0, i32::MAX),
        ] {
            assert_eq!(check(position), Err(GraphError::OutOfRange { position }));
        }
        assert_eq!(neighbour(pack(BlockPos::new(3, HIGHEST, 0)), 1), None);
        assert_eq!(neighbour(pack(BlockPos::new(3, LOWEST, 0)), 0), None);
    }

    #[test]
    fn lines_of_different_axes_never_share_a_name() {
        let key = pack(BlockPos::new(1, 2, 3));
        assert_ne!(line(key, 0), line(key, 1));
        assert_ne!(line(key, 1), line(key, 2));
        for axis in 0..3 {
            let next = neighbour(key, axis * 2 + 1).expect("in range");
            assert_eq!(line(key, axis), line(next, axis));
        }
    }
}
