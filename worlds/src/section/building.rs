//! Sections from palettes and indices, as chunks on disk hold them.

use std::sync::{Arc, OnceLock};

use super::mixed::MixedCells;
use super::{Cells, Section};
use crate::packed::PackedIndices;
use crate::positions::SECTION_CELLS;
use crate::states::StateId;

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
