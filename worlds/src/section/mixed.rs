//! The cells of a section that has had more than one state: how they are stored and written to.

use std::sync::OnceLock;

use super::motion::MotionMasks;
use crate::packed::PackedIndices;
use crate::positions::SECTION_CELLS;
use crate::states::{BlockStates, MotionClass, StateId};

/// The cells of a section that has had more than one state.
#[derive(Debug, Clone)]
pub(super) struct MixedCells {
    /// May hold states that no cell has any more; their place is used again before the palette grows.
    pub(super) palette: Vec<StateId>,
    /// How many cells have the state at the same place of `palette`.
    /// Made when first asked for, as most sections that are loaded are never written to.
    pub(super) counts: OnceLock<Vec<u16>>,
    pub(super) indices: PackedIndices,
    /// Made when first asked for and kept up to date from then on: most sections of a loaded world are never asked.
    pub(super) masks: OnceLock<Box<MotionMasks>>,
    pub(super) hash: OnceLock<u64>,
}

impl MixedCells {
    pub(super) fn filled_with(state: StateId) -> MixedCells {
        MixedCells {
            palette: vec![state],
            counts: OnceLock::from(vec![SECTION_CELLS as u16]),
            indices: PackedIndices::zeroed(1),
            masks: OnceLock::new(),
            hash: OnceLock::new(),
        }
    }

    pub(super) fn set(&mut self, cell: usize, state: StateId, states: &BlockStates) {
        let before = self.indices.get(cell);
        let place = self.place_for(state, before);
        // Before the cell is written, since the counts may only be made now.
        let counts = self.counts_mut();
        counts[before] -= 1;
        counts[place] += 1;
        self.indices.set(cell, place);
        self.hash.take();
        if let Some(masks) = self.masks.get_mut() {
            let (word, bit) = (cell / 64, 1 << (cell % 64));
            masks.solid[word] &= !bit;
            masks.special[word] &= !bit;
            match states.motion(state) {
                MotionClass::Air => {}
                MotionClass::FullCube => masks.solid[word] |= bit,
                MotionClass::Special => masks.special[word] |= bit,
            }
        }
    }

    /// The place of `state` in the palette for a cell that leaves the place `leaving`: its own, or one that no other
    /// cell uses, or a new one at the end.
    fn place_for(&mut self, state: StateId, leaving: usize) -> usize {
        if let Some(place) = self.palette.iter().position(|&entry| entry == state) {
            return place;
        }
        let counts = self.counts();
        let unused = || counts.iter().position(|&count| count == 0);
        if let Some(place) = if counts[leaving] == 1 { Some(leaving) } else { unused() } {
            self.palette[place] = state;
            return place;
        }
        self.palette.push(state);
        self.counts_mut().push(0);
        let bits = PackedIndices::bits_for(self.palette.len());
        if bits > self.indices.bits() {
            self.indices = self.indices.widened(bits);
        }
        self.palette.len() - 1
    }

    pub(super) fn counts(&self) -> &[u16] {
        self.counts.get_or_init(|| self.indices.counts(self.palette.len()))
    }

    fn counts_mut(&mut self) -> &mut Vec<u16> {
        self.counts();
        self.counts.get_mut().expect("the counts were just made")
    }
}
