//! The water around one pool: how high it stands in each cell and where it flows, worked out once for all bodies in it.

use crate::kernel::tile::SEEN;
use rustc_hash::FxHashMap;

/// The water of one cell: the direction in which it flows, of length 1 or 0, and how high it stands above the cell's
/// floor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Current(pub(crate) [f64; 4]);

/// The currents of a tile. Few differ, so that a cell is the place of its current in a table.
#[derive(Debug, Default)]
pub(crate) struct Currents {
    rows: usize,
    /// As the cells of the tile, but for all columns that it sees.
    cells: Vec<u16>,
    table: Vec<Current>,
    places: FxHashMap<[u64; 4], u16>,
    /// All water stands still, as far as is known since the last reset.
    calm: bool,
}

/// Place of [`Current::UNKNOWN`].
const UNKNOWN: u16 = 1;

impl Current {
    /// No water: its surface is below everything.
    pub(crate) const NONE: Current = Current([0.0, 0.0, 0.0, f64::NEG_INFINITY]);
    /// Water whose flow takes terrain that is not loaded: whatever is worked out with it is no number.
    pub(crate) const UNKNOWN: Current = Current([f64::NAN, f64::NAN, f64::NAN, f64::INFINITY]);

    pub(crate) fn of(([x, y, z], height): ([f64; 3], f32)) -> Current {
        Current([x, y, z, f64::from(height)])
    }

    /// The water of a source that flows nowhere.
    pub(crate) fn still(covered: bool) -> Current {
        Current::of(([0.0; 3], if covered { 1.0 } else { 8.0 / 9.0 }))
    }
}

impl Currents {
    /// No water in a tile of `rows` heights.
    pub(crate) fn reset(&mut self, rows: usize) {
        self.rows = rows;
        self.cells.clear();
        self.cells.resize(SEEN * SEEN * rows, 0);
        self.table.clear();
        self.places.clear();
        for current in [Current::NONE, Current::UNKNOWN] {
            self.intern(current);
        }
        self.calm = true;
    }

    /// True where no water flows and none is unknown: then nothing has to be asked about flows.
    pub(crate) fn is_calm(&self) -> bool {
        self.calm
    }

    pub(crate) fn set(&mut self, [x, row, z]: [usize; 3], current: Current) {
        let place = self.intern(current);
        self.calm &= current.0[..3] == [0.0; 3];
        self.cells[(z * SEEN + x) * self.rows + row] = place;
    }

    /// The water of the cell at a place; unknown beyond the last.
    #[inline(always)]
    pub(crate) fn at_cell(&self, place: usize) -> Current {
        let current = self.cells.get(place).copied().unwrap_or(UNKNOWN);
        self.table.get(usize::from(current)).copied().unwrap_or(Current::UNKNOWN)
    }

    fn intern(&mut self, current: Current) -> u16 {
        let next = u16::try_from(self.table.len()).unwrap_or(UNKNOWN);
        let place = *self.places.entry(current.0.map(f64::to_bits)).or_insert(next);
        if usize::from(place) == self.table.len() {
            self.table.push(current);
        }
        place
    }
}
