//! What has to change in the sections of a chunk's document.

use super::encode::{EncodeChunkError, as_compound};
use super::layout::Layout;
use super::light_edits::LightEdits;
use super::packed::{bits_for, pack};
use super::palette::KnownEntries;
use super::palette_entries::{MadeEntries, PaletteEntries};
use super::patch::Patch;
use super::sections::{LEAST_BITS, SectionFields};
use crate::nbt::{Nbt, NbtWriter, Tag};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use voxtick_worlds::{
    BIOME_CELLS, BiomeSection, BlockStates, Chunk, LightLevels, NIBBLE_BYTES, SECTION_CELLS, Section, StateId,
};

pub(super) struct SectionEdits<'a> {
    pub(super) chunk: &'a Chunk,
    pub(super) states: &'a BlockStates,
    pub(super) layout: &'a Layout<'a>,
    /// For each section of the chunk whether its cells differ from the document.
    pub(super) cells: &'a [bool],
    pub(super) biomes_before: &'a [BiomeSection],
    pub(super) light: &'a LightEdits,
    pub(super) known: &'a KnownEntries,
}

/// What one section needs.
struct Wanted<'a> {
    y: i32,
    cells: Option<&'a Section>,
    biomes: Option<&'a BiomeSection>,
    /// Block light, sky light.
    light: [Option<&'a LightLevels>; 2],
}

impl Wanted<'_> {
    /// The light arrays to write, each with its field.
    fn light_arrays(&self) -> impl Iterator<Item = ([u8; NIBBLE_BYTES], &'static str)> + '_ {
        let arrays = self.light.into_iter().map(|levels| nibbles(levels?));
        arrays.zip(["BlockLight", "SkyLight"]).filter_map(|(bytes, field)| Some((bytes?, field)))
    }
}

impl<'a> SectionEdits<'a> {
    pub(super) fn make(&self, made: &mut MadeEntries, patch: &mut Patch) -> Result<(), EncodeChunkError> {
        let list = self.layout.sections();
        let stored: FxHashMap<i32, Nbt<'_>> = list
            .iter()
            .flat_map(Nbt::items)
            .filter_map(|item| {
                Some((i32::try_from(SectionFields::of(item, self.layout.flat).y?).ok()?, item))
            })
            .collect();
        let mut entries = PaletteEntries::new(&stored, self.known, made, self.states, self.layout);
        let mut added = Vec::new();
        let mut added_count = 0;
        for wanted in self.wanted() {
            if wanted.cells.is_some() && !self.layout.flat && !(0..16).contains(&wanted.y) {
                let data_version = self.layout.data_version;
                return Err(EncodeChunkError::OutsideOldRange { y: wanted.y, data_version });
            }
            match stored.get(&wanted.y) {
                Some(section) => self.edit(*section, &wanted, &mut entries, patch),
                None => {
                    added_count += 1;
                    self.add(&wanted, &mut entries, &mut NbtWriter::new(&mut added));
                }
            }
        }
        if added_count == 0 {
            return Ok(());
        }
        match list.filter(|list| list.tag() == Tag::List) {
            Some(list) => {
                let (range, count) = (list.range(), list.element_count().unwrap_or(0));
                patch.replace(range.start..range.start + 5, |writer| {
                    writer.list(Tag::Compound, count + added_count)
                });
                patch.replace(range.end..range.end, |writer| writer.raw(&added));
            }
            None => patch.set_field(self.layout.body, self.layout.sections_field(), Tag::List, |writer| {
                writer.list(Tag::Compound, added_count);
                writer.raw(&added);
            }),
        }
        Ok(())
    }

    /// The sections in which something differs, from the lowest with light to the topmost.
    fn wanted(&self) -> impl Iterator<Item = Wanted<'a>> + use<'a> {
        let (chunk, cells, light, before) = (self.chunk, self.cells, self.light, self.biomes_before);
        let min = chunk.min_section();
        let count = chunk.sections().len() as i32;
        (min - 1..=min + count).filter_map(move |y| {
            let index = usize::try_from(y - min).ok().filter(|index| *index < chunk.sections().len());
            let biomes = index.and_then(|index| {
                let now = chunk.biomes.sections().get(index)?;
                (before.get(index) != Some(now)).then_some(now)
            });
            let cells = index.filter(|index| cells[*index]).map(|index| &chunk.sections()[index]);
            let wanted = Wanted { y, cells, biomes, light: light.of_section(y) };
            let anything = cells.is_some() || biomes.is_some() || wanted.light != [None, None];
            anything.then_some(wanted)
        })
    }

    /// Edits a section that the document has.
    fn edit(
        &self,
        section: Nbt<'_>,
        wanted: &Wanted<'_>,
        entries: &mut PaletteEntries<'_>,
        patch: &mut Patch,
    ) {
        if let Some(cells) = wanted.cells {
            let packed = PackedCells::of(cells, self.layout);
            let holder =
                if self.layout.flat { as_compound(section.field("block_states")) } else { Some(section) };
            match holder {
                Some(holder) => {
                    let (palette, data) = self.cell_fields();
                    patch.set_field(holder, palette, Tag::List, |writer| {
                        self.palette(&packed, entries, writer)
                    });
                    match &packed.words {
                        Some(words) => patch.set_field(holder, data, Tag::LongArray, |writer| {
                            writer.long_array(words.iter().copied());
                        }),
                        None => patch.remove_field(holder, data),
                    }
                }
                None => patch.set_field(section, "block_states", Tag::Compound, |writer| {
                    self.cell_payload(&packed, entries, writer);
                    writer.end();
                }),
            }
        }
        if let Some(biomes) = wanted.biomes.filter(|_| self.layout.flat) {
            patch.set_field(section, "biomes", Tag::Compound, |writer| biome_payload(biomes, writer));
        }
        for (bytes, field) in wanted.light_arrays() {
            patch.set_field(section, field, Tag::ByteArray, |writer| writer.byte_array(&bytes));
        }
    }

    /// Writes a section that the document does not have.
    fn add(&self, wanted: &Wanted<'_>, entries: &mut PaletteEntries<'_>, writer: &mut NbtWriter<'_>) {
        writer.begin(Tag::Byte, "Y");
        // Build ranges end within what a byte can say.
        writer.byte(wanted.y as i8);
        if let Some(cells) = wanted.cells {
            let packed = PackedCells::of(cells, self.layout);
            if self.layout.flat {
                writer.begin(Tag::Compound, "block_states");
            }
            self.cell_payload(&packed, entries, writer);
            if self.layout.flat {
                writer.end();
            }
        }
        if let Some(biomes) = wanted.biomes.filter(|_| self.layout.flat) {
            writer.begin(Tag::Compound, "biomes");
            biome_payload(biomes, writer);
        }
        for (bytes, field) in wanted.light_arrays() {
            writer.begin(Tag::ByteArray, field);
            writer.byte_array(&bytes);
        }
        writer.end();
    }

    fn cell_fields(&self) -> (&'static str, &'static str) {
        if self.layout.flat { ("palette", "data") } else { ("Palette", "BlockStates") }
    }

    fn cell_payload(
        &self,
        packed: &PackedCells<'_>,
        entries: &mut PaletteEntries<'_>,
        writer: &mut NbtWriter<'_>,
    ) {
        let (palette, data) = self.cell_fields();
        writer.begin(Tag::List, palette);
        self.palette(packed, entries, writer);
        if let Some(words) = &packed.words {
            writer.begin(Tag::LongArray, data);
            writer.long_array(words.iter().copied());
        }
    }

    fn palette(
        &self,
        packed: &PackedCells<'_>,
        entries: &mut PaletteEntries<'_>,
        writer: &mut NbtWriter<'_>,
    ) {
        writer.list(Tag::Compound, packed.palette.len());
        for state in packed.palette.iter() {
            writer.raw(entries.bytes_of(*state));
        }
    }
}

/// Cells as they are stored: a palette of the states in use, and an index a cell unless there is only one state.
struct PackedCells<'a> {
    palette: Cow<'a, [StateId]>,
    words: Option<Cow<'a, [u64]>>,
}

impl PackedCells<'_> {
    fn of<'a>(section: &'a Section, layout: &Layout<'_>) -> PackedCells<'a> {
        // PERF: what came packed as the game packs it goes out as it is.
        if let Some((bits, words)) = section.packed_indices()
            && !layout.straddling
            && bits == bits_for(section.palette().len(), LEAST_BITS)
            && section.counts().count() == section.palette().len()
        {
            return PackedCells { palette: section.palette().into(), words: Some(words.into()) };
        }
        let mut indices = [0; SECTION_CELLS];
        section.unpack_indices(&mut indices);
        let mut used = vec![false; section.palette().len()];
        indices.iter().for_each(|index| used[usize::from(*index)] = true);
        // Places in the stored palette, in the order of the section's: states that no cell has get none.
        let mut palette = Vec::with_capacity(used.len());
        let mut place_of = vec![0_u16; used.len()];
        for ((place, used), state) in place_of.iter_mut().zip(&used).zip(section.palette()) {
            *place = palette.len() as u16;
            if *used {
                palette.push(*state);
            }
        }
        // Before 21w43a a section always had indices.
        if palette.len() == 1 && layout.flat {
            return PackedCells { palette: palette.into(), words: None };
        }
        if palette.len() < used.len() {
            for index in &mut indices {
                *index = place_of[usize::from(*index)];
            }
        }
        let mut words = Vec::new();
        pack(&indices, bits_for(palette.len(), LEAST_BITS), layout.straddling, &mut words);
        PackedCells { palette: palette.into(), words: Some(words.into()) }
    }
}

fn biome_payload(biomes: &BiomeSection, writer: &mut NbtWriter<'_>) {
    let palette = biomes.palette();
    writer.begin(Tag::List, "palette");
    writer.list(Tag::String, palette.len());
    palette.iter().for_each(|name| writer.string(name));
    if palette.len() > 1 {
        let cells: [u16; BIOME_CELLS] = std::array::from_fn(|cell| {
            let place = palette.iter().position(|name| name == biomes.biome(cell));
            place.expect("a cell's biome is in the palette") as u16
        });
        let mut words = Vec::new();
        pack(&cells, bits_for(palette.len(), 1), false, &mut words);
        writer.begin(Tag::LongArray, "data");
        writer.long_array(words.iter().copied());
    }
    writer.end();
}

fn nibbles(levels: &LightLevels) -> Option<[u8; NIBBLE_BYTES]> {
    match levels {
        LightLevels::Absent => None,
        LightLevels::Uniform(level) => Some([level << 4 | level; NIBBLE_BYTES]),
        LightLevels::Nibbles(nibbles) => Some(**nibbles),
    }
}

/// Whether two sections have the same state in every cell, however they are stored.
pub(super) fn same_cells(a: &Section, b: &Section) -> bool {
    if a.same_storage(b) {
        return true;
    }
    if let (Some(a), Some(b)) = (a.uniform_state(), b.uniform_state()) {
        return a == b;
    }
    if let (Some((bits_a, words_a)), Some((bits_b, words_b))) = (a.packed_indices(), b.packed_indices())
        && bits_a == bits_b
        && a.palette().iter().zip(b.palette()).all(|(a, b)| a == b)
    {
        // No palette names a state twice, so another index is another state.
        return words_a == words_b;
    }
    let (mut indices_a, mut indices_b) = ([0; SECTION_CELLS], [0; SECTION_CELLS]);
    a.unpack_indices(&mut indices_a);
    b.unpack_indices(&mut indices_b);
    indices_a
        .iter()
        .zip(&indices_b)
        .all(|(place_a, place_b)| a.palette()[usize::from(*place_a)] == b.palette()[usize::from(*place_b)])
}
