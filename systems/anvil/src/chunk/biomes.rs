//! Biomes of a section: names in a palette, one index for every 4 x 4 x 4 blocks.
//!
//! Before DataVersion 2844 biomes are numbers in one array a chunk. Their names are not known here: such a chunk has no
//! biomes, and its numbers stay with what is not modelled, as they are stored.

use super::error::DecodeSectionError;
use super::packed::{unpack, width};
use crate::nbt::{Nbt, Tag};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use voxtick_worlds::{BIOME_CELLS, BiomeSection};

/// Most names that are kept for sharing; a file that names more is no real one, and is read without sharing.
const SHARED_LIMIT: usize = 4096;
/// The longest record of a section with one biome that is kept.
const SHARED_LENGTH: usize = 256;

/// Biome names met so far, so that all sections share the text of one name.
#[derive(Debug, Default)]
pub(super) struct BiomeNames {
    names: FxHashSet<Arc<str>>,
    /// Sections with one biome, which most are, by their record: those that are like share it all.
    whole: FxHashMap<Box<[u8]>, BiomeSection>,
}

impl BiomeNames {
    fn share(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        if self.names.len() < SHARED_LIMIT {
            self.names.insert(name.clone());
        }
        name
    }

    /// Reads the `biomes` of a section.
    pub(super) fn read(&mut self, biomes: Nbt<'_>) -> Result<BiomeSection, DecodeSectionError> {
        let record = biomes.payload();
        if record.len() <= SHARED_LENGTH
            && let Some(known) = self.whole.get(record)
        {
            return Ok(known.clone());
        }
        const FIELD: &str = "biomes.palette";
        let list = biomes.field("palette").ok_or(DecodeSectionError::Field { field: FIELD })?;
        let entries = list.element_count().ok_or(DecodeSectionError::Field { field: FIELD })?;
        if entries == 0 || entries > BIOME_CELLS {
            return Err(DecodeSectionError::PaletteSize { field: FIELD, entries, limit: BIOME_CELLS });
        }
        if list.element_tag() != Tag::String {
            return Err(DecodeSectionError::PaletteEntry { field: FIELD, entry: 0 });
        }
        let mut palette = Vec::with_capacity(entries);
        for (entry, item) in list.items().enumerate() {
            let name = item.text().ok_or(DecodeSectionError::PaletteEntry { field: FIELD, entry })?;
            palette.push(self.share(&name));
        }
        if entries == 1 {
            let section = BiomeSection::new(palette, None)?;
            if record.len() <= SHARED_LENGTH && self.whole.len() < SHARED_LIMIT {
                self.whole.insert(record.into(), section.clone());
            }
            return Ok(section);
        }
        let longs = biomes
            .field("data")
            .and_then(|data| data.long_array())
            .ok_or(DecodeSectionError::Field { field: "biomes.data" })?;
        let mut cells = [0; BIOME_CELLS];
        let bits = width("biomes.data", longs.len(), BIOME_CELLS, entries, 1, false)?;
        unpack(longs, bits, false, &mut cells);
        // An index that does not fit a byte is beyond any palette of at most 64 entries.
        Ok(BiomeSection::new(palette, Some(cells.map(|cell| cell.min(u16::from(u8::MAX)) as u8)))?)
    }
}
