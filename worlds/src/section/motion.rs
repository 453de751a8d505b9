//! Which cells of a section a moving body meets, as masks of one bit a cell.

use super::mixed::MixedCells;
use super::{Cells, Section};
use crate::positions::SECTION_CELLS;
use crate::states::{BlockStates, MotionClass, StateId};

/// One bit a cell: word `cell / 64`, bit `cell % 64`; so a word holds four rows along `x` at one height.
pub type CellMask = [u64; 64];

const NO_CELL: CellMask = [0; 64];
const EVERY_CELL: CellMask = [u64::MAX; 64];

/// One mask a [`MotionClass`] but air.
#[derive(Debug, Clone, Copy)]
pub(super) struct MotionMasks {
    pub(super) solid: CellMask,
    pub(super) special: CellMask,
}

impl Section {
    /// The cells that are full cubes to a moving body ([`MotionClass::FullCube`]).
    #[must_use]
    pub fn solid(&self, states: &BlockStates) -> &CellMask {
        match &self.0 {
            Cells::Uniform(state) => uniform_mask(*state, MotionClass::FullCube, states),
            Cells::Mixed(mixed) => &mixed.masks(states).solid,
        }
    }

    /// The cells that a moving body has to look at one by one ([`MotionClass::Special`]): partial and tall shapes,
    /// fluids, and all that acts on what touches it.
    #[must_use]
    pub fn special(&self, states: &BlockStates) -> &CellMask {
        match &self.0 {
            Cells::Uniform(state) => uniform_mask(*state, MotionClass::Special, states),
            Cells::Mixed(mixed) => &mixed.masks(states).special,
        }
    }
}

impl MixedCells {
    fn masks(&self, states: &BlockStates) -> &MotionMasks {
        self.masks.get_or_init(|| {
            let classes: Vec<MotionClass> = self.palette.iter().map(|&state| states.motion(state)).collect();
            let mut indices = [0; SECTION_CELLS];
            self.indices.unpack(&mut indices);
            let mut masks = MotionMasks { solid: NO_CELL, special: NO_CELL };
            for (word, cells) in indices.chunks_exact(64).enumerate() {
                for (bit, &index) in cells.iter().enumerate() {
                    let class = classes[usize::from(index)];
                    masks.solid[word] |= u64::from(class == MotionClass::FullCube) << bit;
                    masks.special[word] |= u64::from(class == MotionClass::Special) << bit;
                }
            }
            Box::new(masks)
        })
    }
}

fn uniform_mask(state: StateId, class: MotionClass, states: &BlockStates) -> &'static CellMask {
    if states.motion(state) == class { &EVERY_CELL } else { &NO_CELL }
}
