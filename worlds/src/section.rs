//! One cube of 4,096 block states, stored as a palette and packed indices, shared until it is written to.

use std::mem;
use std::sync::{Arc, OnceLock};

use crate::packed::PackedIndices;
use crate::positions::SECTION_CELLS;
use crate::states::{BlockStates, MotionClass, StateId};

/// One bit a cell: word `cell / 64`, bit `cell % 64`; so a word holds four rows along `x` at one height.
pub type CellMask = [u64; 64];

const NO_CELL: CellMask = [0; 64];
const EVERY_CELL: CellMask = [u64::MAX; 64];

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

/// The cells of a section that has had more than one state.
#[derive(Debug, Clone)]
struct MixedCells {
    /// May hold states that no cell has any more; their place is used again before the palette grows.
    palette: Vec<StateId>,
    /// How many cells have the state at the same place of `palette`.
    /// Made when first asked for, as most sections that are loaded are never written to.
    counts: OnceLock<Vec<u16>>,
    indices: PackedIndices,
    /// Made when first asked for and kept up to date from then on: most sections of a loaded world are never asked.
    masks: OnceLock<Box<MotionMasks>>,
    hash: OnceLock<u64>,
}

#[derive(Debug, Clone, Copy)]
struct MotionMasks {
    solid: CellMask,
    special: CellMask,
}

/// Why a palette and its indices make no section.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionError {
    /// The palette has no entry.
    #[error("the palette is empty; a section needs at least one state")]
    EmptyPalette,
    /// There are more or fewer words than 4,096 indices take.
    #[error("{words} words do not hold 4096 indices of {bits} bits")]
    WordCount {
        /// Words given.
        words: usize,
        /// Bits an index.
        bits: u32,
    },
    /// A cell points past the end of the palette.
    #[error("cell {cell} has palette index {index}, but the palette has {entries} entries")]
    IndexBeyondPalette {
        /// The first such cell.
        cell: usize,
        /// Its index.
        index: usize,
        /// How many entries there are.
        entries: usize,
    },
}

impl Section {
    /// A section whose every cell has `state`.
    #[must_use]
    pub const fn uniform(state: StateId) -> Section {
        Section(Cells::Uniform(state))
    }

    /// A section from a palette and one index a cell.
    ///
    /// The palette may name a state twice or name states that no cell has; the section is stored as tightly as its
    /// cells allow all the same.
    ///
    /// # Errors
    /// [`SectionError`] for an empty palette and for an index beyond it.
    pub fn from_palette(
        palette: &[StateId],
        indices: &[u16; SECTION_CELLS],
    ) -> Result<Section, SectionError> {
        let Some(first) = palette.first() else {
            return Err(SectionError::EmptyPalette);
        };
        if let Some(cell) = indices.iter().position(|&index| usize::from(index) >= palette.len()) {
            return Err(SectionError::IndexBeyondPalette {
                cell,
                index: indices[cell].into(),
                entries: palette.len(),
            });
        }
        let mut counts = vec![0_u16; palette.len()];
        for &index in indices {
            counts[usize::from(index)] += 1;
        }
        // Places in the tight palette, in the order of the given one; a state named twice gets one place.
        let mut tight: Vec<StateId> = Vec::with_capacity(palette.len().min(SECTION_CELLS));
        let mut tight_counts: Vec<u16> = Vec::with_capacity(tight.capacity());
        let mut place_of = vec![0_u16; palette.len()];
        let mut places = rustc_hash::FxHashMap::default();
        for (entry, &state) in palette.iter().enumerate() {
            if counts[entry] == 0 {
                continue;
            }
            let place = *places.entry(state).or_insert_with(|| {
                tight.push(state);
                tight_counts.push(0);
                tight.len() as u16 - 1
            });
            tight_counts[usize::from(place)] += counts[entry];
            place_of[entry] = place;
        }
        if tight.len() < 2 {
            return Ok(Section::uniform(tight.first().copied().unwrap_or(*first)));
        }
        let mut packed = PackedIndices::zeroed(PackedIndices::bits_for(tight.len()));
        packed.pack_from(|cell| place_of[usize::from(indices[cell])]);
        Ok(Section(Cells::Mixed(Arc::new(MixedCells {
            palette: tight,
            counts: OnceLock::from(tight_counts),
            indices: packed,
            masks: OnceLock::new(),
            hash: OnceLock::new(),
        }))))
    }

    /// A section from a palette and indices that are packed already: `bits` each, lowest bits of a long first, none
    /// straddling two longs, each long big-endian, which is how the game stores them since 20w17a.
    ///
    /// The packing is kept as it is, so this costs a fraction of [`Section::from_palette`]; unlike there, states
    /// that no cell has stay in the palette until the section is [compacted](Section::compact).
    ///
    /// # Errors
    /// [`SectionError`] for an empty palette, for longs that are not as many as 4,096 indices take, and for an index
    /// beyond the palette.
    pub fn from_packed(palette: &[StateId], bits: u32, longs: &[[u8; 8]]) -> Result<Section, SectionError> {
        if palette.is_empty() {
            return Err(SectionError::EmptyPalette);
        }
        let (packed, all_below) = PackedIndices::from_longs(bits, longs, palette.len())
            .ok_or(SectionError::WordCount { words: longs.len(), bits })?;
        if !all_below || has_repeats(palette) {
            let mut indices = [0; SECTION_CELLS];
            packed.unpack(&mut indices);
            return Section::from_palette(palette, &indices);
        }
        if let Some(only) = packed.only_index() {
            return Ok(Section::uniform(palette[only]));
        }
        Ok(Section(Cells::Mixed(Arc::new(MixedCells {
            // A palette may name more states than the width can tell apart; those have no cell.
            palette: palette[..palette.len().min(1 << bits)].to_vec(),
            counts: OnceLock::new(),
            indices: packed,
            masks: OnceLock::new(),
            hash: OnceLock::new(),
        }))))
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

/// True where a palette names a state twice.
fn has_repeats(palette: &[StateId]) -> bool {
    // PERF: palettes of real sections are short, and comparing pairs needs no memory.
    if palette.len() <= 32 {
        return (1..palette.len()).any(|at| palette[..at].contains(&palette[at]));
    }
    let mut sorted = palette.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
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

impl MixedCells {
    fn filled_with(state: StateId) -> MixedCells {
        MixedCells {
            palette: vec![state],
            counts: OnceLock::from(vec![SECTION_CELLS as u16]),
            indices: PackedIndices::zeroed(1),
            masks: OnceLock::new(),
            hash: OnceLock::new(),
        }
    }

    fn set(&mut self, cell: usize, state: StateId, states: &BlockStates) {
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

    fn counts(&self) -> &[u16] {
        self.counts.get_or_init(|| self.indices.counts(self.palette.len()))
    }

    fn counts_mut(&mut self) -> &mut Vec<u16> {
        self.counts();
        self.counts.get_mut().expect("the counts were just made")
    }

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

/// One step of a multiplicative hash: order matters, and every bit of both reaches every bit of the result.
fn fold(hash: u64, value: u64) -> u64 {
    let product = u128::from(hash ^ 0x9E37_79B9_7F4A_7C15) * u128::from(value ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_sixteen_bytes_beside_its_cells() {
        assert_eq!(mem::size_of::<Section>(), 16);
        assert_eq!(Section::uniform(StateId::AIR).memory_bytes(), 0);
    }

    #[test]
    fn more_than_256_states_all_come_back() {
        let states = BlockStates::load();
        let mut section = Section::uniform(StateId::AIR);
        for cell in 0..SECTION_CELLS {
            section.set(cell, StateId(cell as u32), &states);
        }
        for cell in 0..SECTION_CELLS {
            assert_eq!(section.get(cell), StateId(cell as u32));
            assert_eq!(section.count(StateId(cell as u32)), 1);
        }
    }

    #[test]
    fn a_place_that_no_cell_uses_is_taken_before_the_palette_grows() {
        let states = BlockStates::load();
        let mut section = Section::uniform(StateId::AIR);
        for state in 1..5_000 {
            section.set(9, StateId(state), &states);
        }
        assert_eq!(section.palette(), [StateId::AIR, StateId(4_999)]);
    }

    #[test]
    fn writing_to_a_snapshot_leaves_the_original() {
        let states = BlockStates::load();
        let mut section = Section::uniform(StateId::AIR);
        section.set(0, StateId(1), &states);
        let mut snapshot = section.clone();
        assert!(snapshot.same_storage(&section));
        snapshot.set(1, StateId(2), &states);
        assert!(!snapshot.same_storage(&section));
        assert_eq!(section.get(1), StateId::AIR);
    }

    #[test]
    fn compacting_makes_alike_cells_uniform_and_forgets_unused_states() {
        let states = BlockStates::load();
        let mut section = Section::uniform(StateId::AIR);
        section.set(0, StateId(1), &states);
        section.set(0, StateId::AIR, &states);
        assert_eq!(section.uniform_state(), None);
        section.compact();
        assert_eq!(section.uniform_state(), Some(StateId::AIR));
    }

    #[test]
    fn a_palette_that_is_empty_or_too_short_is_refused() {
        let mut indices = [0; SECTION_CELLS];
        assert_eq!(Section::from_palette(&[], &indices).unwrap_err(), SectionError::EmptyPalette);
        indices[77] = 2;
        assert_eq!(
            Section::from_palette(&[StateId(1), StateId(2)], &indices).unwrap_err(),
            SectionError::IndexBeyondPalette { cell: 77, index: 2, entries: 2 }
        );
    }

    #[test]
    fn a_state_named_twice_in_a_palette_is_one_state() {
        let mut indices = [0; SECTION_CELLS];
        indices[5] = 1;
        let section = Section::from_palette(&[StateId(7), StateId(7)], &indices).expect("valid");
        assert_eq!(section.uniform_state(), Some(StateId(7)));
    }

    /// A step of the hash once dropped the lowest bit of a run's length: runs of 2 and 3 cells hashed like runs of 3 and 2.
    #[test]
    fn the_content_hash_tells_where_a_run_ends() {
        let states = BlockStates::load();
        let [stone, dirt] = ["stone", "dirt"].map(|name| states.parse(name).expect("known"));
        let hash = |stones: usize| {
            let mut section = Section::uniform(StateId::AIR);
            for cell in 0..5 {
                section.set(cell, if cell < stones { stone } else { dirt }, &states);
            }
            section.content_hash(&states)
        };
        let hashes: std::collections::BTreeSet<u64> = (0..=5).map(hash).collect();
        assert_eq!(hashes.len(), 6);
    }

    #[test]
    fn the_content_hash_knows_cells_only() {
        let states = BlockStates::load();
        let mut direct = Section::uniform(StateId::AIR);
        direct.set(100, StateId(1), &states);
        let mut detour = Section::uniform(StateId(1));
        for cell in 0..SECTION_CELLS {
            detour.set(cell, if cell == 100 { StateId(1) } else { StateId::AIR }, &states);
        }
        assert_eq!(direct.content_hash(&states), detour.content_hash(&states));
        direct.set(101, StateId(1), &states);
        assert_ne!(direct.content_hash(&states), detour.content_hash(&states));
        direct.set(100, StateId::AIR, &states);
        direct.set(101, StateId::AIR, &states);
        assert_eq!(direct.content_hash(&states), Section::uniform(StateId::AIR).content_hash(&states));
    }
}
