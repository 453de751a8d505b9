//! One cube of 4,096 block states, stored as a palette and packed indices, shared until it is written to.

mod building;
mod mixed;
mod motion;
#[cfg(test)]
mod tests;

use std::mem;
use std::sync::Arc;

use crate::packed::PackedIndices;
use crate::positions::SECTION_CELLS;
use crate::states::{BlockStates, StateId};
pub use building::SectionError;
use mixed::MixedCells;
pub use motion::CellMask;
use motion::MotionMasks;

/// The block states of one section.
///
/// A section in which every cell has the same state is 16 bytes without an allocation. Any other is a palette and one
/// packed index a cell behind an `Arc`: cloning a section shares it, and the first write to a shared one copies it
/// (copy-on-write), so a snapshot of a chunk for saving or lighting costs one count a section.
///
/// Cells are numbered `y * 256 + z * 16 + x`.
///
/// ```
/// use voxtick_worlds::{BlockStates, Section, StateId};
/// let states = BlockStates::load();
/// let stone = states.parse("stone")?;
/// let mut section = Section::uniform(StateId::AIR);
/// let snapshot = section.clone();
/// assert_eq!(section.set(17, stone, &states), StateId::AIR);
/// assert_eq!((section.get(17), snapshot.get(17)), (stone, StateId::AIR));
/// assert_eq!(section.count(stone), 1);
/// # Ok::<(), voxtick_worlds::ParseStateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Section(Cells);

#[derive(Debug, Clone)]
enum Cells {
    Uniform(StateId),
    Mixed(Arc<MixedCells>),
}

/// A stretch of cells with one state; see [`Section::runs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first cell.
    pub start: usize,
    /// How many cells.
    pub length: usize,
    /// The state of each.
    pub state: StateId,
}

impl Section {
    /// A section whose every cell has `state`.
    #[must_use]
    pub const fn uniform(state: StateId) -> Section {
        Section(Cells::Uniform(state))
    }

    /// The state of `cell`.
    ///
    /// # Panics
    /// Where `cell` is not below 4,096.
    #[must_use]
    pub fn get(&self, cell: usize) -> StateId {
        assert!(cell < SECTION_CELLS, "cell {cell} is outside a section of {SECTION_CELLS} cells");
        match &self.0 {
            Cells::Uniform(state) => *state,
            Cells::Mixed(mixed) => mixed.palette[mixed.indices.get(cell)],
        }
    }

    /// Gives `cell` the state `state` and returns the one it had.
    ///
    /// Costs a search of the palette; allocates when the section was uniform, is shared with a snapshot, or needs more
    /// bits a cell than it had.
    ///
    /// # Panics
    /// Where `cell` is not below 4,096.
    pub fn set(&mut self, cell: usize, state: StateId, states: &BlockStates) -> StateId {
        let before = self.get(cell);
        if before == state {
            return before;
        }
        if let Cells::Uniform(uniform) = self.0 {
            self.0 = Cells::Mixed(Arc::new(MixedCells::filled_with(uniform)));
        }
        if let Cells::Mixed(mixed) = &mut self.0 {
            Arc::make_mut(mixed).set(cell, state, states);
        }
        before
    }

    /// The state of every cell where the section is stored as uniform. A section whose cells became alike one by one
    /// answers `None` until it is [compacted](Section::compact).
    #[must_use]
    pub const fn uniform_state(&self) -> Option<StateId> {
        match &self.0 {
            Cells::Uniform(state) => Some(*state),
            Cells::Mixed(_) => None,
        }
    }

    /// The states that [`Section::palette_index`] points into; it may hold states that no cell has any more.
    #[must_use]
    pub fn palette(&self) -> &[StateId] {
        match &self.0 {
            Cells::Uniform(state) => std::slice::from_ref(state),
            Cells::Mixed(mixed) => &mixed.palette,
        }
    }

    /// Where the state of `cell` stands in the palette.
    ///
    /// # Panics
    /// Where `cell` is not below 4,096.
    #[must_use]
    pub fn palette_index(&self, cell: usize) -> usize {
        assert!(cell < SECTION_CELLS, "cell {cell} is outside a section of {SECTION_CELLS} cells");
        match &self.0 {
            Cells::Uniform(_) => 0,
            Cells::Mixed(mixed) => mixed.indices.get(cell),
        }
    }

    /// Writes the palette index of every cell to `out`.
    pub fn unpack_indices(&self, out: &mut [u16; SECTION_CELLS]) {
        match &self.0 {
            Cells::Uniform(_) => out.fill(0),
            Cells::Mixed(mixed) => mixed.indices.unpack(out),
        }
    }

    /// The palette indices as they are stored, for derivations that read whole words: bits an index, and words of
    /// `64 / bits` indices each, lowest bits first, none across two words. `None` where the section is uniform.
    #[must_use]
    pub fn packed_indices(&self) -> Option<(u32, &[u64])> {
        match &self.0 {
            Cells::Uniform(_) => None,
            Cells::Mixed(mixed) => Some((mixed.indices.bits(), mixed.indices.words())),
        }
    }

    /// How many cells have `state`.
    #[must_use]
    pub fn count(&self, state: StateId) -> usize {
        match &self.0 {
            Cells::Uniform(uniform) if *uniform == state => SECTION_CELLS,
            Cells::Uniform(_) => 0,
            Cells::Mixed(mixed) => mixed
                .palette
                .iter()
                .position(|&entry| entry == state)
                .map_or(0, |at| mixed.counts()[at].into()),
        }
    }

    /// The states that at least one cell has, each with its number of cells, in the order of the palette.
    pub fn counts(&self) -> impl Iterator<Item = (StateId, usize)> + '_ {
        let (palette, counts): (&[StateId], &[u16]) = match &self.0 {
            Cells::Uniform(state) => (std::slice::from_ref(state), &[SECTION_CELLS as u16]),
            Cells::Mixed(mixed) => (&mixed.palette, mixed.counts()),
        };
        palette
            .iter()
            .zip(counts)
            .filter(|&(_, &count)| count > 0)
            .map(|(&state, &count)| (state, usize::from(count)))
    }

    /// How many cells are not one of the game's airs.
    #[must_use]
    pub fn non_air_count(&self, states: &BlockStates) -> usize {
        self.counts().filter(|&(state, _)| !states.is_air(state)).map(|(_, count)| count).sum()
    }

    /// Maximal runs of cells with one state, in the order of the cells.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let mut start = 0;
        std::iter::from_fn(move || {
            if start == SECTION_CELLS {
                return None;
            }
            let length = match &self.0 {
                Cells::Uniform(_) => SECTION_CELLS,
                Cells::Mixed(mixed) => mixed.indices.run_length(start),
            };
            let run = Run { start, length, state: self.get(start) };
            start += length;
            Some(run)
        })
    }

    /// Stores the section as tightly as its cells allow: states that no cell has leave the palette, and a section
    /// whose cells are all alike becomes uniform.
    pub fn compact(&mut self) {
        let Cells::Mixed(mixed) = &self.0 else { return };
        let used = mixed.counts().iter().filter(|&&count| count > 0).count();
        if used == mixed.palette.len() && PackedIndices::bits_for(used) == mixed.indices.bits() {
            return;
        }
        let mut indices = [0; SECTION_CELLS];
        mixed.indices.unpack(&mut indices);
        if let Ok(tight) = Section::from_palette(&mixed.palette, &indices) {
            *self = tight;
        }
    }

    /// True where both sections share one allocation, or are uniform with one state: nothing was written to either
    /// since one was cloned from the other.
    #[must_use]
    pub fn same_storage(&self, other: &Section) -> bool {
        match (&self.0, &other.0) {
            (Cells::Uniform(a), Cells::Uniform(b)) => a == b,
            (Cells::Mixed(a), Cells::Mixed(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// A number that two sections share where their cells have the same states, however they are stored and whatever
    /// numbers the states have in this process. Kept until the next write.
    #[must_use]
    pub fn content_hash(&self, states: &BlockStates) -> u64 {
        match &self.0 {
            Cells::Uniform(state) => states.stable_hash(*state),
            Cells::Mixed(mixed) => *mixed.hash.get_or_init(|| {
                let mut hash = 0_u64;
                for run in self.runs() {
                    if run.length == SECTION_CELLS {
                        return states.stable_hash(run.state);
                    }
                    hash = fold(fold(hash, states.stable_hash(run.state)), run.length as u64);
                }
                hash
            }),
        }
    }

    /// Bytes on the heap, allocator overhead aside. Storage shared with snapshots counts in full.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        match &self.0 {
            Cells::Uniform(_) => 0,
            Cells::Mixed(mixed) => {
                // An `Arc` keeps two counts beside its value.
                2 * mem::size_of::<usize>()
                    + mem::size_of::<MixedCells>()
                    + mixed.palette.capacity() * mem::size_of::<StateId>()
                    + mixed.counts.get().map_or(0, |counts| counts.capacity() * mem::size_of::<u16>())
                    + mixed.indices.memory_bytes()
                    + mixed.masks.get().map_or(0, |_| mem::size_of::<MotionMasks>())
            }
        }
    }
}

/// One step of a multiplicative hash: order matters, and every bit of both reaches every bit of the result.
fn fold(hash: u64, value: u64) -> u64 {
    let product = u128::from(hash ^ 0x9E37_79B9_7F4A_7C15) * u128::from(value ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}
