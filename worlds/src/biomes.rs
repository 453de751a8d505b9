//! Biomes: one name for every 4 x 4 x 4 blocks.

use std::mem;
use std::sync::Arc;

/// Biome cells of one section: 4 x 4 x 4, numbered `y * 16 + z * 4 + x`.
pub const BIOME_CELLS: usize = 64;

/// The biomes of a chunk, by name; this crate gives them no meaning beyond that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Biomes {
    sections: Vec<BiomeSection>,
}

/// The biomes of one section. Cloning shares them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BiomeSection(Arc<BiomeCells>);

#[derive(Debug, PartialEq, Eq)]
struct BiomeCells {
    palette: Box<[Arc<str>]>,
    /// Absent where every cell has the first biome.
    indices: Option<Box<[u8; BIOME_CELLS]>>,
}

/// Why a palette and its indices make no biomes.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BiomeError {
    /// The palette has no entry.
    #[error("the biome palette is empty; a section needs at least one biome")]
    EmptyPalette,
    /// A cell points past the end of the palette.
    #[error("biome cell {cell} has palette index {index}, but the palette has {entries} entries")]
    IndexBeyondPalette {
        /// The first such cell.
        cell: usize,
        /// Its index.
        index: usize,
        /// How many entries there are.
        entries: usize,
    },
}

impl BiomeSection {
    /// Biomes from a palette and one index a cell; no indices mean that every cell has the first biome.
    ///
    /// # Errors
    /// [`BiomeError`] for an empty palette and for an index beyond it.
    pub fn new(
        palette: Vec<Arc<str>>,
        indices: Option<[u8; BIOME_CELLS]>,
    ) -> Result<BiomeSection, BiomeError> {
        if palette.is_empty() {
            return Err(BiomeError::EmptyPalette);
        }
        if let Some(indices) = &indices
            && let Some(cell) = indices.iter().position(|&index| usize::from(index) >= palette.len())
        {
            return Err(BiomeError::IndexBeyondPalette {
                cell,
                index: indices[cell].into(),
                entries: palette.len(),
            });
        }
        let (palette, indices) = (palette.into_boxed_slice(), indices.map(Box::new));
        Ok(BiomeSection(Arc::new(BiomeCells { palette, indices })))
    }

    /// The biome of `cell`.
    ///
    /// # Panics
    /// Where `cell` is not below 64.
    #[must_use]
    pub fn biome(&self, cell: usize) -> &Arc<str> {
        assert!(cell < BIOME_CELLS, "cell {cell} is outside a section of {BIOME_CELLS} biome cells");
        let index = self.0.indices.as_ref().map_or(0, |indices| indices[cell].into());
        &self.0.palette[index]
    }

    /// The palette, in its order.
    #[must_use]
    pub fn palette(&self) -> &[Arc<str>] {
        &self.0.palette
    }
}

impl Biomes {
    /// Biomes of all sections of a chunk, lowest first.
    #[must_use]
    pub const fn from_sections(sections: Vec<BiomeSection>) -> Biomes {
        Biomes { sections }
    }

    /// The biomes of all sections, lowest first; empty where none were loaded or generated.
    #[must_use]
    pub fn sections(&self) -> &[BiomeSection] {
        &self.sections
    }

    /// Sections with one biome count by their pointers alone: those of like biomes are shared by all chunks that were read.
    pub(crate) fn memory_bytes(&self) -> usize {
        let heap = |section: &BiomeSection| {
            // An `Arc` keeps two counts beside its value.
            2 * mem::size_of::<usize>()
                + mem::size_of::<BiomeCells>()
                + mem::size_of_val::<[Arc<str>]>(&section.0.palette)
                + BIOME_CELLS
        };
        let mixed = self.sections.iter().filter(|section| section.0.indices.is_some());
        mem::size_of_val(self.sections.as_slice()) + mixed.map(heap).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_beyond_the_palette_is_refused_with_its_place() {
        let mut indices = [0; BIOME_CELLS];
        indices[9] = 1;
        let plains: Arc<str> = "minecraft:plains".into();
        assert_eq!(
            BiomeSection::new(vec![plains], Some(indices)).unwrap_err(),
            BiomeError::IndexBeyondPalette { cell: 9, index: 1, entries: 1 }
        );
        assert_eq!(BiomeSection::new(vec![], None).unwrap_err(), BiomeError::EmptyPalette);
    }
}
