//! The plainest correct way to do the codec's work, written for reading.
//!
//! The oracle of the tests, and what `voxtick measure anvil` pairs the codec with; it never runs in a simulation. It
//! reads a document into a tree of owned values, unpacks and packs cell by cell, and finds the palette of a section
//! with one map; it knows the layout of DataVersion 2844 and later. It trusts its input: nothing caps how deep a
//! document nests.

use crate::nbt::{NbtWriter, Tag, decode_text};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use voxtick_worlds::{
    BIOME_CELLS, BiomeSection, Biomes, BlockStates, Chunk, ChunkLight, ChunkPos, ChunkStatus, Dimension,
    HeightmapKind, LightChannel, LightLevels, NIBBLE_BYTES, SECTION_CELLS, Section, StateId,
};

/// A value of a document, with everything in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Byte, short, int or long.
    Integer(i64),
    /// Float or double.
    Number(f64),
    /// Text.
    Text(String),
    /// A byte array.
    Bytes(Vec<u8>),
    /// An int array.
    Ints(Vec<i32>),
    /// A long array.
    Longs(Vec<u64>),
    /// Values of one kind.
    List(Vec<Value>),
    /// Named values, in their order.
    Compound(Vec<(String, Value)>),
}

impl Value {
    /// The field of a compound with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Compound(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    fn integer(&self) -> Option<i64> {
        if let Value::Integer(value) = self { Some(*value) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    fn list(&self) -> Option<&[Value]> {
        if let Value::List(items) = self { Some(items) } else { None }
    }

    fn longs(&self) -> Option<&[u64]> {
        if let Value::Longs(longs) = self { Some(longs) } else { None }
    }
}

/// Reads a document; `None` where it is damaged.
#[must_use]
pub fn read_document(bytes: &[u8]) -> Option<Value> {
    let mut rest = bytes;
    let tag = take::<1>(&mut rest)?[0];
    read_text(&mut rest)?;
    read_value(tag, &mut rest)
}

fn read_value(tag: u8, rest: &mut &[u8]) -> Option<Value> {
    Some(match tag {
        1 => Value::Integer(i8::from_be_bytes(take(rest)?).into()),
        2 => Value::Integer(i16::from_be_bytes(take(rest)?).into()),
        3 => Value::Integer(i32::from_be_bytes(take(rest)?).into()),
        4 => Value::Integer(i64::from_be_bytes(take(rest)?)),
        5 => Value::Number(f32::from_be_bytes(take(rest)?).into()),
        6 => Value::Number(f64::from_be_bytes(take(rest)?)),
        7 => {
            let mut bytes = Vec::new();
            for _ in 0..read_length(rest)? {
                bytes.push(take::<1>(rest)?[0]);
            }
            Value::Bytes(bytes)
        }
        8 => Value::Text(read_text(rest)?),
        9 => {
            let element = take::<1>(rest)?[0];
            let mut items = Vec::new();
            for _ in 0..read_length(rest)? {
                items.push(read_value(element, rest)?);
            }
            Value::List(items)
        }
        10 => {
            let mut fields = Vec::new();
            loop {
                let tag = take::<1>(rest)?[0];
                if tag == 0 {
                    return Some(Value::Compound(fields));
                }
                let name = read_text(rest)?;
                fields.push((name, read_value(tag, rest)?));
            }
        }
        11 => {
            let mut ints = Vec::new();
            for _ in 0..read_length(rest)? {
                ints.push(i32::from_be_bytes(take(rest)?));
            }
            Value::Ints(ints)
        }
        12 => {
            let mut longs = Vec::new();
            for _ in 0..read_length(rest)? {
                longs.push(u64::from_be_bytes(take(rest)?));
            }
            Value::Longs(longs)
        }
        _ => return None,
    })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (array, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*array)
}

fn read_length(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(i32::from_be_bytes(take(rest)?)).ok()
}

fn read_text(rest: &mut &[u8]) -> Option<String> {
    let length = u16::from_be_bytes(take(rest)?).into();
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(decode_text(text)?.into_owned())
}

/// Decodes a chunk of DataVersion 2844 or later; `None` where anything about it is not as it should be.
#[must_use]
pub fn decode_chunk(nbt: &[u8], dimension: &Dimension, states: &BlockStates) -> Option<Chunk> {
    let root = read_document(nbt)?;
    let position =
        ChunkPos::new(root.field("xPos")?.integer()? as i32, root.field("zPos")?.integer()? as i32);
    let (min, count) = (dimension.min_section(), dimension.section_count());
    let mut sections = vec![Section::uniform(StateId::AIR); count];
    let mut biomes = vec![None; count];
    let mut light = ChunkLight::absent(min, count);
    for section in root.field("sections")?.list()? {
        let y = section.field("Y")?.integer()? as i32;
        if (min - 1..=min + count as i32).contains(&y) {
            let entry = (y - min + 1) as usize;
            light.block[entry] = read_light(section.field("BlockLight"))?;
            light.sky[entry] = read_light(section.field("SkyLight"))?;
        }
        if (min..min + count as i32).contains(&y) {
            let index = (y - min) as usize;
            if let Some(stored) = section.field("block_states") {
                sections[index] = read_cells(stored, states)?;
            }
            if let Some(stored) = section.field("biomes") {
                biomes[index] = Some(read_biomes(stored)?);
            }
        }
    }
    let mut chunk = Chunk::from_sections(position, min, sections);
    chunk.biomes =
        biomes.into_iter().collect::<Option<Vec<_>>>().map(Biomes::from_sections).unwrap_or_default();
    let is_set = |field| root.field(field).and_then(Value::integer).is_some_and(|mark| mark > 0);
    if is_set("isLightOn") || is_set("starlight.light_version") {
        chunk.light = Some(Box::new(light));
    }
    chunk.status = ChunkStatus::named(root.field("Status")?.text()?);
    if let Some(stored) = root.field("Heightmaps") {
        for kind in HeightmapKind::ALL {
            let Some(longs) = stored.field(kind.name()).and_then(Value::longs) else { continue };
            let bits = bits_for(count * 16 + 1, 1);
            chunk.heightmaps.set(kind, Some(Box::new(std::array::from_fn(|cell| unpack(longs, bits, cell)))));
        }
    }
    Some(chunk)
}

fn read_light(stored: Option<&Value>) -> Option<LightLevels> {
    match stored {
        None => Some(LightLevels::Absent),
        Some(Value::Bytes(bytes)) => {
            let nibbles: &[u8; NIBBLE_BYTES] = bytes.as_slice().try_into().ok()?;
            Some(LightLevels::from_nibbles(nibbles))
        }
        Some(_) => None,
    }
}

fn read_cells(stored: &Value, states: &BlockStates) -> Option<Section> {
    let mut palette = Vec::new();
    for entry in stored.field("palette")?.list()? {
        let mut properties = Vec::new();
        if let Some(Value::Compound(fields)) = entry.field("Properties") {
            for (name, value) in fields {
                properties.push((name.as_str(), value.text()?));
            }
        }
        palette.push(states.resolve(entry.field("Name")?.text()?, &properties).ok()?);
    }
    if let [only] = palette.as_slice() {
        return Some(Section::uniform(*only));
    }
    let longs = stored.field("data")?.longs()?;
    let bits = bits_for(palette.len(), 4);
    let indices: [u16; SECTION_CELLS] = std::array::from_fn(|cell| unpack(longs, bits, cell));
    Section::from_palette(&palette, &indices).ok()
}

fn read_biomes(stored: &Value) -> Option<BiomeSection> {
    let mut palette: Vec<Arc<str>> = Vec::new();
    for name in stored.field("palette")?.list()? {
        palette.push(name.text()?.into());
    }
    let mut cells = None;
    if palette.len() > 1 {
        let longs = stored.field("data")?.longs()?;
        let bits = bits_for(palette.len(), 1);
        let read: [u8; BIOME_CELLS] = std::array::from_fn(|cell| unpack(longs, bits, cell) as u8);
        cells = Some(read);
    }
    BiomeSection::new(palette, cells).ok()
}

/// Encodes a chunk that came from no file, as one of DataVersion 4786.
#[must_use]
pub fn encode_chunk(chunk: &Chunk, states: &BlockStates) -> Vec<u8> {
    let mut document = Vec::new();
    let mut writer = NbtWriter::new(&mut document);
    writer.begin(Tag::Compound, "");
    for (name, value) in [
        ("DataVersion", 4786),
        ("xPos", chunk.position().x),
        ("zPos", chunk.position().z),
        ("yPos", chunk.min_section()),
    ] {
        writer.begin(Tag::Int, name);
        writer.int(value);
    }
    writer.begin(Tag::String, "Status");
    writer.string(chunk.status.name());
    for name in ["LastUpdate", "InhabitedTime"] {
        writer.begin(Tag::Long, name);
        writer.long(0);
    }
    writer.begin(Tag::Byte, "isLightOn");
    writer.byte(chunk.light.as_ref().is_some_and(|light| !light.incomplete).into());

    let (block, sky) = (light_arrays(chunk, LightChannel::Block), light_arrays(chunk, LightChannel::Sky));
    let mut sections = Vec::new();
    // Light reaches one section beyond the build range at both ends.
    for entry in 0..chunk.sections().len() + 2 {
        let cells = entry.checked_sub(1).and_then(|index| chunk.sections().get(index));
        if cells.is_none() && block[entry].is_none() && sky[entry].is_none() {
            continue;
        }
        let mut section = Vec::new();
        let mut writer = NbtWriter::new(&mut section);
        writer.begin(Tag::Byte, "Y");
        writer.byte((chunk.min_section() - 1 + entry as i32) as i8);
        if let Some(cells) = cells {
            writer.begin(Tag::Compound, "block_states");
            writer.raw(&encode_cells(cells, states));
            if let Some(biomes) = chunk.biomes.sections().get(entry - 1) {
                writer.begin(Tag::Compound, "biomes");
                writer.raw(&encode_biomes(biomes));
            }
        }
        for (array, name) in [(&block[entry], "BlockLight"), (&sky[entry], "SkyLight")] {
            if let Some(array) = array {
                writer.begin(Tag::ByteArray, name);
                writer.byte_array(array);
            }
        }
        writer.end();
        sections.push(section);
    }
    writer.begin(Tag::List, "sections");
    writer.list(Tag::Compound, sections.len());
    sections.iter().for_each(|section| writer.raw(section));

    for name in ["block_entities", "block_ticks", "fluid_ticks"] {
        writer.begin(Tag::List, name);
        writer.list(Tag::End, 0);
    }
    writer.begin(Tag::List, "PostProcessing");
    writer.list(Tag::List, chunk.sections().len());
    for _ in chunk.sections() {
        writer.list(Tag::End, 0);
    }
    writer.begin(Tag::Compound, "structures");
    for name in ["References", "starts"] {
        writer.begin(Tag::Compound, name);
        writer.end();
    }
    writer.end();
    writer.begin(Tag::Compound, "Heightmaps");
    for kind in HeightmapKind::ALL {
        let mut heights = Vec::new();
        for column in 0..256 {
            heights.push(height(chunk, kind, column, states));
        }
        writer.begin(Tag::LongArray, kind.name());
        writer.long_array(pack(&heights, bits_for(chunk.sections().len() * 16 + 1, 1)).into_iter());
    }
    writer.end();
    writer.end();
    document
}

/// What has to be stored for each section so that the game reads the chunk's light: by its rules, where nothing is
/// stored it is dark, but above the topmost stored sky light it is bright.
fn light_arrays(chunk: &Chunk, channel: LightChannel) -> Vec<Option<[u8; NIBBLE_BYTES]>> {
    let count = chunk.sections().len() + 2;
    let Some(light) = chunk.light.as_deref() else { return vec![None; count] };
    if light.channel(channel).iter().all(|levels| *levels == LightLevels::Absent) {
        return vec![None; count];
    }
    let mut arrays = Vec::new();
    for entry in 0..count {
        let y = chunk.min_section() - 1 + entry as i32;
        arrays.push(match light.levels(channel, y) {
            Some(LightLevels::Nibbles(nibbles)) => **nibbles,
            _ => [light.level(channel, y, 0) * 0x11; NIBBLE_BYTES],
        });
    }
    let dark = [0; NIBBLE_BYTES];
    let topmost = arrays.iter().rposition(|array| *array != dark);
    let is_needed = |entry: usize| {
        arrays[entry] != dark
            || channel == LightChannel::Sky && topmost.is_some_and(|topmost| entry > topmost)
    };
    (0..count).map(|entry| is_needed(entry).then_some(arrays[entry])).collect()
}

/// How many blocks above the bottom of the build range the topmost block of a column lies that counts for `kind`.
fn height(chunk: &Chunk, kind: HeightmapKind, column: usize, states: &BlockStates) -> usize {
    for y in (0..chunk.sections().len() * 16).rev() {
        let state = chunk.sections()[y / 16].get(y % 16 * 256 + column);
        let stops = states.blocks_motion(state);
        let stops_or_fluid = stops || !states.fluid(state).is_none();
        let counts = match kind {
            HeightmapKind::WorldSurface => !states.is_air(state),
            HeightmapKind::OceanFloor => stops,
            HeightmapKind::MotionBlocking => stops_or_fluid,
            HeightmapKind::MotionBlockingNoLeaves => stops_or_fluid && !states.is_leaves(state),
        };
        if counts {
            return y + 1;
        }
    }
    0
}

fn encode_biomes(biomes: &BiomeSection) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = NbtWriter::new(&mut bytes);
    writer.begin(Tag::List, "palette");
    writer.list(Tag::String, biomes.palette().len());
    biomes.palette().iter().for_each(|name| writer.string(name));
    if biomes.palette().len() > 1 {
        let mut places = Vec::new();
        for cell in 0..BIOME_CELLS {
            let place = biomes.palette().iter().position(|name| name == biomes.biome(cell));
            places.push(place.unwrap_or(0));
        }
        writer.begin(Tag::LongArray, "data");
        writer.long_array(pack(&places, bits_for(biomes.palette().len(), 1)).into_iter());
    }
    writer.end();
    bytes
}

/// Encodes a section as the game writes its `block_states`: the payload of that compound.
#[must_use]
pub fn encode_cells(section: &Section, states: &BlockStates) -> Vec<u8> {
    let mut palette = Vec::new();
    let mut places = FxHashMap::default();
    let mut indices = Vec::new();
    for cell in 0..SECTION_CELLS {
        let state = section.get(cell);
        let place = *places.entry(state).or_insert_with(|| {
            palette.push(state);
            palette.len() - 1
        });
        indices.push(place);
    }
    let mut bytes = Vec::new();
    let mut writer = NbtWriter::new(&mut bytes);
    writer.begin(Tag::List, "palette");
    writer.list(Tag::Compound, palette.len());
    for state in &palette {
        writer.begin(Tag::String, "Name");
        writer.string(states.name(*state));
        let properties: Vec<(&str, &str)> = states.properties(*state).collect();
        if !properties.is_empty() {
            writer.begin(Tag::Compound, "Properties");
            for (name, value) in properties {
                writer.begin(Tag::String, name);
                writer.string(value);
            }
            writer.end();
        }
        writer.end();
    }
    if palette.len() > 1 {
        writer.begin(Tag::LongArray, "data");
        writer.long_array(pack(&indices, bits_for(palette.len(), 4)).into_iter());
    }
    writer.end();
    bytes
}

/// Bits that an index of a palette takes, at least `least`.
#[must_use]
pub fn bits_for(entries: usize, least: usize) -> usize {
    let mut bits = least;
    while 1 << bits < entries {
        bits += 1;
    }
    bits
}

/// One index of packed longs; 0 beyond their end.
#[must_use]
pub fn unpack(longs: &[u64], bits: usize, cell: usize) -> u16 {
    let per_long = 64 / bits;
    let long = longs.get(cell / per_long).copied().unwrap_or(0);
    (long >> (cell % per_long * bits) & ((1 << bits) - 1)) as u16
}

/// Packs indices into longs.
#[must_use]
pub fn pack(indices: &[usize], bits: usize) -> Vec<u64> {
    let per_long = 64 / bits;
    let mut longs = vec![0; indices.len().div_ceil(per_long)];
    for (cell, index) in indices.iter().enumerate() {
        longs[cell / per_long] |= (*index as u64) << (cell % per_long * bits);
    }
    longs
}
