//! The palette of a section's cells: from a state a cell to each state once and an index a cell.

use crate::positions::SECTION_CELLS;
use crate::section::Section;
use crate::states::StateId;
use rustc_hash::FxHashMap;

/// Finds palettes, for whoever has a state a cell. Keep one: its table is reused.
///
/// Costs one look-up in a table for every cell, however many states there are. The table takes 256 KiB.
///
/// ```
/// use voxtick_worlds::{PaletteEncoder, SECTION_CELLS, StateId};
/// let mut cells = [StateId::AIR; SECTION_CELLS];
/// cells[7] = StateId(1);
/// let mut indices = [0; SECTION_CELLS];
/// let mut encoder = PaletteEncoder::new();
/// let palette = encoder.encode(&cells, &mut indices);
/// assert_eq!((palette, indices[7]), ([StateId::AIR, StateId(1)].as_slice(), 1));
/// assert_eq!(encoder.section(&cells).get(7), StateId(1));
/// ```
#[derive(Debug, Clone)]
pub struct PaletteEncoder {
    /// For each state the round in which it was met last, in the upper half, and its place in that round's palette.
    met: Box<[u32]>,
    round: u16,
    /// The places of states beyond the table, which no known world has.
    far: FxHashMap<StateId, u16>,
    palette: Vec<StateId>,
}

/// States with a place in the table: twice as many as the game has.
const TABLE: usize = 1 << 16;

impl PaletteEncoder {
    /// An encoder with an empty table.
    #[must_use]
    pub fn new() -> PaletteEncoder {
        PaletteEncoder {
            met: vec![0; TABLE].into_boxed_slice(),
            round: 0,
            far: FxHashMap::default(),
            palette: Vec::new(),
        }
    }

    /// Returns every state of `cells` once, in the order in which they come, and writes to `indices` where the state
    /// of each cell stands there.
    pub fn encode(
        &mut self,
        cells: &[StateId; SECTION_CELLS],
        indices: &mut [u16; SECTION_CELLS],
    ) -> &[StateId] {
        self.palette.clear();
        self.far.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.met.fill(0);
            self.round = 1;
        }
        let round = u32::from(self.round);
        let mut unmet = true;
        for (cells, indices) in cells.as_chunks::<16>().0.iter().zip(indices.as_chunks_mut::<16>().0) {
            // PERF: a look-up without a branch for each cell; where a run of like cells ends is no pattern that a
            // processor foresees, and guessing it wrong costs as much as three look-ups. Where states were met for the
            // first time more are likely to follow, and this would be for nothing.
            if !unmet {
                for (cell, index) in cells.iter().zip(&mut *indices) {
                    let met = self.met[(cell.0 as usize).min(TABLE - 1)];
                    unmet |= met >> 16 != round;
                    *index = met as u16;
                }
            }
            if unmet {
                let before = self.palette.len();
                for (cell, index) in cells.iter().zip(indices) {
                    *index = self.place_of(*cell);
                }
                unmet = self.palette.len() > before;
            }
        }
        &self.palette
    }

    /// The section that has these cells.
    ///
    /// # Panics
    /// Never: the palette has every state of `cells`.
    pub fn section(&mut self, cells: &[StateId; SECTION_CELLS]) -> Section {
        let mut indices = [0; SECTION_CELLS];
        let palette = self.encode(cells, &mut indices);
        Section::from_palette(palette, &indices).expect("the palette has every state of the cells")
    }

    #[inline]
    fn place_of(&mut self, state: StateId) -> u16 {
        let next = self.palette.len() as u16;
        // The last place of the table is never taken: whatever lies beyond is looked up there and found unmet.
        let Some(met) = self.met[..TABLE - 1].get_mut(state.0 as usize) else {
            let place = *self.far.entry(state).or_insert(next);
            if place == next {
                self.palette.push(state);
            }
            return place;
        };
        if *met >> 16 != u32::from(self.round) {
            *met = u32::from(self.round) << 16 | u32::from(next);
            self.palette.push(state);
        }
        *met as u16
    }
}

impl Default for PaletteEncoder {
    fn default() -> Self {
        PaletteEncoder::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(encoder: &mut PaletteEncoder, cells: &[StateId; SECTION_CELLS]) {
        let mut indices = [0; SECTION_CELLS];
        let palette = encoder.encode(cells, &mut indices).to_vec();
        let mut plain: Vec<StateId> = Vec::new();
        for (cell, index) in cells.iter().zip(indices) {
            let place = plain.iter().position(|state| state == cell).unwrap_or_else(|| {
                plain.push(*cell);
                plain.len() - 1
            });
            assert_eq!(usize::from(index), place);
        }
        assert_eq!(palette, plain);
    }

    #[test]
    fn a_palette_names_every_state_once_in_the_order_of_the_cells() {
        let mut encoder = PaletteEncoder::new();
        for kinds in [1, 2, 16, 200, 1000, 4096] {
            for spacing in [1, 29, 1 << 15, u32::MAX / 4096] {
                let state = |cell: u32| StateId((cell / 3).wrapping_mul(0x9E37) % kinds * spacing);
                check(&mut encoder, &std::array::from_fn(|cell| state(cell as u32)));
            }
        }
    }

    #[test]
    fn the_table_is_cleared_when_rounds_begin_anew() {
        let mut encoder = PaletteEncoder::new();
        let mut indices = [0; SECTION_CELLS];
        encoder.encode(&[StateId(7); SECTION_CELLS], &mut indices);
        encoder.round = u16::MAX;
        assert_eq!(encoder.encode(&[StateId(9); SECTION_CELLS], &mut indices), [StateId(9)]);
        // This is the second round with the number 1; what the first one left is not in its palette.
        assert_eq!(encoder.encode(&[StateId(7); SECTION_CELLS], &mut indices), [StateId(7)]);
        assert_eq!(indices, [0; SECTION_CELLS]);
    }
}
