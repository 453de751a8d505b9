//! The four sides of a section, as a set: which neighbours a step in it has to look at.

use std::ops::BitOrAssign;

use voxtick_worlds::Direction;

use crate::masks::Layer;

/// Sides of a section: north, south, west and east.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sides(u8);

impl Sides {
    pub(crate) const NONE: Sides = Sides(0);
    pub(crate) const ALL: [Direction; 4] =
        [Direction::North, Direction::South, Direction::West, Direction::East];

    /// The sides at which a layer has cells.
    #[inline(always)]
    pub(crate) const fn touched_by(layer: Layer) -> Sides {
        Sides::within(layer, 0xFFFF, 0x0001_0001_0001_0001, 0x8000_8000_8000_8000)
    }

    /// The sides at which the layer, or the cells beside those of the layer, have cells.
    #[inline(always)]
    pub(crate) const fn near(layer: Layer) -> Sides {
        Sides::within(layer, 0xFFFF_FFFF, 0x0003_0003_0003_0003, 0xC000_C000_C000_C000)
    }

    #[inline(always)]
    const fn within(layer: Layer, north: u64, west: u64, east: u64) -> Sides {
        let all = layer[0] | layer[1] | layer[2] | layer[3];
        Sides(
            (layer[0] & north != 0) as u8
                | ((layer[3] & !(u64::MAX >> north.count_ones()) != 0) as u8) << 1
                | ((all & west != 0) as u8) << 2
                | ((all & east != 0) as u8) << 3,
        )
    }

    /// The sides at which `cell` lies.
    #[inline(always)]
    pub(crate) const fn of_cell(cell: usize) -> Sides {
        let (x, z) = (cell & 15, cell >> 4 & 15);
        Sides((z == 0) as u8 | ((z == 15) as u8) << 1 | ((x == 0) as u8) << 2 | ((x == 15) as u8) << 3)
    }

    #[inline(always)]
    pub(crate) const fn has(self, side: Direction) -> bool {
        self.0 & Sides::bit(side) != 0
    }

    /// For cells in the section beyond `side` that touch this one: they lie at the side that looks back, and at those of
    /// the other axis at which cells here lie.
    #[inline(always)]
    pub(crate) const fn seen_from(self, side: Direction) -> Sides {
        let other_axis = match side {
            Direction::North | Direction::South => 0b1100,
            _ => 0b0011,
        };
        Sides(self.0 & other_axis | Sides::bit(side.opposite()))
    }

    #[inline(always)]
    const fn bit(side: Direction) -> u8 {
        match side {
            Direction::North => 1,
            Direction::South => 2,
            Direction::West => 4,
            Direction::East => 8,
            Direction::Down | Direction::Up => 0,
        }
    }
}

impl BitOrAssign for Sides {
    fn bitor_assign(&mut self, other: Sides) {
        self.0 |= other.0;
    }
}
