//! Sections: block states, biomes and light of 16 x 16 x 16 blocks.

use super::biomes::BiomeNames;
use super::decode::Notice;
use super::error::DecodeSectionError;
use super::layout::Layout;
use super::packed::{bits_for, unpack, width};
use super::palette::{KnownEntries, read_palette};
use crate::nbt::Nbt;
use voxtick_worlds::{BiomeSection, BlockStates, LightLevels, NIBBLE_BYTES, SECTION_CELLS, Section, StateId};

/// The fewest bits that the game gives an index into a palette of block states.
pub(super) const LEAST_BITS: u32 = 4;

/// The fields of a section, found in one pass.
#[derive(Default)]
pub(super) struct SectionFields<'a> {
    pub(super) y: Option<i64>,
    pub(super) palette: Option<Nbt<'a>>,
    data: Option<Nbt<'a>>,
    biomes: Option<Nbt<'a>>,
    block_light: Option<Nbt<'a>>,
    sky_light: Option<Nbt<'a>>,
}

/// Memory that reading sections uses again and again.
pub(super) struct Scratch {
    palette: Vec<StateId>,
    pub(super) known_entries: KnownEntries,
    indices: Box<[u16; SECTION_CELLS]>,
    biome_names: BiomeNames,
}

impl Scratch {
    pub(super) fn new() -> Scratch {
        Scratch {
            palette: Vec::new(),
            known_entries: KnownEntries::default(),
            indices: Box::new([0; SECTION_CELLS]),
            biome_names: BiomeNames::default(),
        }
    }
}

impl<'a> SectionFields<'a> {
    /// The fields of the layout that is `flat` or not. Of fields with one name the first is taken, as it is where a
    /// field is replaced.
    pub(super) fn of(section: Nbt<'a>, flat: bool) -> SectionFields<'a> {
        let mut fields = SectionFields::default();
        let (mut y, mut states) = (None, None);
        for (name, value) in section.fields() {
            let field = match name {
                b"Y" => &mut y,
                b"block_states" if flat => &mut states,
                b"Palette" if !flat => &mut fields.palette,
                b"BlockStates" if !flat => &mut fields.data,
                b"biomes" => &mut fields.biomes,
                b"BlockLight" => &mut fields.block_light,
                b"SkyLight" => &mut fields.sky_light,
                _ => continue,
            };
            field.get_or_insert(value);
        }
        fields.y = y.and_then(|y| y.integer());
        for (name, value) in states.iter().flat_map(Nbt::fields) {
            match name {
                b"palette" => fields.palette.get_or_insert(value),
                b"data" => fields.data.get_or_insert(value),
                _ => continue,
            };
        }
        fields
    }

    /// The block states; `None` where the section has none, which is air.
    pub(super) fn cells(
        &self,
        layout: &Layout<'_>,
        states: &BlockStates,
        scratch: &mut Scratch,
        notices: &mut Vec<Notice>,
    ) -> Result<Option<Section>, DecodeSectionError> {
        let (palette_field, data_field) = if layout.flat {
            ("block_states.palette", "block_states.data")
        } else {
            ("Palette", "BlockStates")
        };
        let Some(palette) = self.palette else { return Ok(None) };
        read_palette(palette_field, palette, states, &mut scratch.known_entries, &mut scratch.palette)?;
        if let [only] = scratch.palette.as_slice() {
            return Ok(Some(Section::uniform(*only)));
        }
        let longs = self
            .data
            .and_then(|data| data.long_array())
            .ok_or(DecodeSectionError::Field { field: data_field })?;
        let entries = scratch.palette.len();
        let bits = width(data_field, longs.len(), SECTION_CELLS, entries, LEAST_BITS, layout.straddling)?;
        if bits != bits_for(entries, LEAST_BITS) {
            notices.push(Notice::UnusualWidth { bits });
        }
        if !layout.straddling {
            return Ok(Some(Section::from_packed(&scratch.palette, bits, longs)?));
        }
        unpack(longs, bits, layout.straddling, scratch.indices.as_mut_slice());
        Ok(Some(Section::from_palette(&scratch.palette, &scratch.indices)?))
    }

    pub(super) fn biomes(&self, scratch: &mut Scratch) -> Result<Option<BiomeSection>, DecodeSectionError> {
        self.biomes.map(|biomes| scratch.biome_names.read(biomes)).transpose()
    }

    pub(super) fn block_light(&self) -> Result<LightLevels, DecodeSectionError> {
        light("BlockLight", self.block_light)
    }

    pub(super) fn sky_light(&self) -> Result<LightLevels, DecodeSectionError> {
        light("SkyLight", self.sky_light)
    }
}

fn light(field: &'static str, stored: Option<Nbt<'_>>) -> Result<LightLevels, DecodeSectionError> {
    let Some(stored) = stored else { return Ok(LightLevels::Absent) };
    let bytes = stored.byte_array().ok_or(DecodeSectionError::Field { field })?;
    // Some tools write an empty array where there is nothing.
    if bytes.is_empty() {
        return Ok(LightLevels::Absent);
    }
    let nibbles: &[u8; NIBBLE_BYTES] =
        bytes.try_into().map_err(|_| DecodeSectionError::LightLength { field, found: bytes.len() })?;
    Ok(LightLevels::from_nibbles(nibbles))
}
