//! From file bytes to columns: ours against `fastanvil` and `fastnbt` taken to the same end.

use std::hint::black_box;
use std::io::Cursor;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use voxtick::anvil::compression::Inflater;
use voxtick::anvil::region::StoredChunk;
use voxtick::anvil::{ChunkDecoder, Limits, reference};
use voxtick::worlds::{BlockStates, Chunk, ChunkPos, Dimension, LightLevels, SECTION_CELLS, StateId};

use super::inputs::{self, DECODED_CHUNKS};
use crate::measure::{Case, CaseError, Pair};

/// The light of every section of a chunk at most, one beyond either end included.
const ARRAYS: usize = 2 * 26;

pub(super) fn cases() -> Vec<Case> {
    let items = DECODED_CHUNKS as u64;
    let case = |name: &str, other, prepare: fn() -> Result<Pair, CaseError>| {
        Case::new(name, ("codec", other), items, prepare)
    };
    vec![
        case("anvil/decode/chunk", "fastanvil, fastnbt borrowing", || {
            against(read_borrowed, Inflate::Theirs)
        }),
        case("anvil/decode/chunk/types=fastanvil", "fastanvil and its types", || {
            against(read_owned, Inflate::Theirs)
        }),
        case("anvil/decode/chunk/inflate=lent", "fastnbt borrowing, our inflate", || {
            against(read_borrowed, Inflate::Lent)
        }),
        case("anvil/decode/nbt", "reference", from_nbt),
    ]
}

/// States and light of a chunk, a value a cell.
struct Arrays {
    cells: Vec<[u16; SECTION_CELLS]>,
    light: Vec<[u8; SECTION_CELLS]>,
}

impl Arrays {
    fn new() -> Arrays {
        Arrays { cells: vec![[0; SECTION_CELLS]; ARRAYS], light: vec![[0; SECTION_CELLS]; ARRAYS] }
    }
}

/// For each section in the file its height and the texts of its palette.
type Texts = Vec<(i8, Vec<String>)>;

/// Another reader: from NBT to arrays. Returns how many arrays of light there are, and `Texts` if they are asked for.
type Read = fn(&[u8], &mut Arrays, Option<&mut Texts>) -> usize;

/// Gives the NBT of a chunk.
type NbtOf = Box<dyn FnMut(ChunkPos, &StoredChunk) -> Vec<u8>>;

/// What inflates for the other reader.
enum Inflate {
    /// `fastanvil` with `flate2`, whose back end here is zlib-rs, the fastest that needs no C.
    Theirs,
    /// Ours, so that the codecs alone are compared.
    Lent,
}

impl Inflate {
    /// Gives the NBT of a chunk of the region.
    fn reader(self, source: &inputs::Source) -> Result<NbtOf, CaseError> {
        if let Inflate::Lent = self {
            let mut inflater = Inflater::new();
            return Ok(Box::new(move |_, stored| {
                let mut nbt = Vec::new();
                let inflated = inflater.inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt);
                inflated.expect("it inflated before");
                nbt
            }));
        }
        let input = |error: &dyn std::fmt::Display| CaseError::Input(error.to_string());
        let file = std::fs::read(source.region.path()).map_err(|error| input(&error))?;
        let mut region = fastanvil::Region::from_stream(Cursor::new(file)).map_err(|error| input(&error))?;
        Ok(Box::new(move |position, _| {
            let (x, z) = (position.x.rem_euclid(32) as usize, position.z.rem_euclid(32) as usize);
            region.read_chunk(x, z).expect("a sound chunk").expect("it is there")
        }))
    }
}

fn against(read: Read, inflate: Inflate) -> Result<Pair, CaseError> {
    let source = inputs::source()?;
    let chunks = inputs::stored_chunks(&source)?;
    let states = BlockStates::load();
    let mut decoder = ChunkDecoder::new(Dimension::overworld(), states.clone(), Limits::default());
    let mut nbt_of = inflate.reader(&source)?;
    let (mut arrays, mut other_arrays) = (Arrays::new(), Arrays::new());
    for (position, stored) in &chunks {
        let (chunk, light) = ours(&mut decoder, *position, stored, &mut arrays);
        let mut texts = Vec::new();
        let other_light = read(&nbt_of(*position, stored), &mut other_arrays, Some(&mut texts));
        let unequal = |first: String| CaseError::Unequal { count: 1, first: format!("{position}: {first}") };
        if light != other_light || arrays.light[..light] != other_arrays.light[..light] {
            return Err(unequal(format!("light, {light} arrays against {other_light}")));
        }
        for (index, (section, cells)) in chunk.sections().iter().zip(&arrays.cells).enumerate() {
            let y = chunk.min_section() + index as i32;
            let Some(place) = texts.iter().position(|(other, _)| i32::from(*other) == y) else {
                return Err(unequal(format!("there is no section {y}")));
            };
            let (palette, other_cells) = (&texts[place].1, &other_arrays.cells[place]);
            let names: Vec<String> = section.palette().iter().map(|state| text_of(*state, &states)).collect();
            let differs =
                |cell: &usize| names[usize::from(cells[*cell])] != palette[usize::from(other_cells[*cell])];
            if let Some(cell) = (0..SECTION_CELLS).find(differs) {
                return Err(unequal(format!("section {y}, cell {cell}")));
            }
        }
    }

    let other_chunks = chunks.clone();
    Ok(Pair::new(
        move || {
            for (position, stored) in &chunks {
                black_box(ours(&mut decoder, *position, stored, &mut arrays));
            }
        },
        move || {
            for (position, stored) in &other_chunks {
                black_box(read(&nbt_of(*position, stored), &mut other_arrays, None));
            }
        },
    ))
}

fn ours(
    decoder: &mut ChunkDecoder,
    position: ChunkPos,
    stored: &StoredChunk,
    arrays: &mut Arrays,
) -> (Chunk, usize) {
    let chunk = decoder.decode(position, stored).expect("it decoded before").chunk;
    for (section, cells) in chunk.sections().iter().zip(&mut arrays.cells) {
        section.unpack_indices(cells);
    }
    black_box(&arrays.cells);
    let count = {
        let light = chunk.light.as_deref().expect("it is lit");
        let channels = light.block.iter().zip(&light.sky).flat_map(|(block, sky)| [block, sky]);
        let mut stored = channels.filter(|levels| **levels != LightLevels::Absent);
        unpack_light(&mut arrays.light, || {
            Some(match stored.next()? {
                LightLevels::Nibbles(nibbles) => Nibbles::Each(&nibbles[..]),
                LightLevels::Uniform(level) => Nibbles::All(*level),
                LightLevels::Absent => unreachable!("passed over"),
            })
        })
    };
    (chunk, count)
}

enum Nibbles<'a> {
    Each(&'a [u8]),
    All(u8),
}

fn unpack_light<'a>(
    arrays: &mut [[u8; SECTION_CELLS]],
    mut next: impl FnMut() -> Option<Nibbles<'a>>,
) -> usize {
    let mut count = 0;
    while let Some(nibbles) = next() {
        let array = &mut arrays[count];
        match nibbles {
            Nibbles::All(level) => array.fill(level),
            Nibbles::Each(bytes) => {
                for (pair, byte) in array.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
                    *pair = [byte & 15, byte >> 4];
                }
            }
        }
        count += 1;
    }
    black_box(&*arrays);
    count
}

/// Properties that `fastanvil` leaves out of its texts.
const LEFT_OUT: [&str; 2] = ["waterlogged", "powered"];

/// Name and properties, properties in the order of their names.
fn text_of(state: StateId, states: &BlockStates) -> String {
    sorted_text(states.name(state), states.properties(state))
}

fn sorted_text<'a>(name: &str, properties: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut properties: Vec<_> = properties.filter(|(name, _)| !LEFT_OUT.contains(name)).collect();
    properties.sort_unstable();
    properties.iter().fold(name.to_owned(), |text, (property, value)| text + "|" + property + "=" + value)
}

#[derive(Deserialize)]
struct OwnedChunk {
    sections: Vec<OwnedSection>,
}

#[derive(Deserialize)]
struct OwnedSection {
    #[serde(rename = "Y")]
    y: i8,
    #[serde(default)]
    block_states: fastanvil::BlockData<fastanvil::Block>,
    #[serde(rename = "BlockLight")]
    block_light: Option<fastnbt::ByteArray>,
    #[serde(rename = "SkyLight")]
    sky_light: Option<fastnbt::ByteArray>,
}

/// With the types of `fastanvil`: they own what they read.
fn read_owned(nbt: &[u8], arrays: &mut Arrays, texts: Option<&mut Texts>) -> usize {
    let chunk: OwnedChunk = fastnbt::from_bytes(nbt).expect("a chunk");
    for (section, cells) in chunk.sections.iter().zip(&mut arrays.cells) {
        match section.block_states.try_iter_indices() {
            Some(indices) => {
                for (cell, index) in cells.iter_mut().zip(indices) {
                    *cell = index as u16;
                }
            }
            None => cells.fill(0),
        }
    }
    black_box(&arrays.cells);
    let mut sections = chunk.sections.iter().flat_map(|section| [&section.block_light, &section.sky_light]);
    let bytes = |array: &fastnbt::ByteArray| -> [u8; SECTION_CELLS / 2] {
        std::array::from_fn(|byte| array[byte] as u8)
    };
    let mut count = 0;
    for array in sections.by_ref().flatten() {
        let bytes = bytes(array);
        let mut once = Some(Nibbles::Each(&bytes));
        count += unpack_light(&mut arrays.light[count..], || once.take());
    }
    if let Some(texts) = texts {
        texts.extend(chunk.sections.iter().map(|section| {
            let palette = section.block_states.palette().iter().map(|block| {
                let (name, properties) = block.encoded_description().split_once('|').unwrap_or_default();
                sorted_text(name, properties.split(',').filter_map(|property| property.split_once('=')))
            });
            (section.y, palette.collect::<Vec<String>>())
        }));
    }
    count
}

#[derive(Deserialize)]
struct BorrowedChunk<'a> {
    #[serde(borrow)]
    sections: Vec<BorrowedSection<'a>>,
}

#[derive(Deserialize)]
struct BorrowedSection<'a> {
    #[serde(rename = "Y")]
    y: i8,
    #[serde(borrow)]
    block_states: Option<BorrowedStates<'a>>,
    #[serde(rename = "BlockLight", borrow)]
    block_light: Option<fastnbt::borrow::ByteArray<'a>>,
    #[serde(rename = "SkyLight", borrow)]
    sky_light: Option<fastnbt::borrow::ByteArray<'a>>,
}

#[derive(Deserialize)]
struct BorrowedStates<'a> {
    #[serde(borrow)]
    data: Option<fastnbt::borrow::LongArray<'a>>,
    #[serde(borrow)]
    palette: Vec<BorrowedBlock<'a>>,
}

#[derive(Deserialize)]
struct BorrowedBlock<'a> {
    #[serde(rename = "Name")]
    name: &'a str,
    #[serde(rename = "Properties", borrow, default)]
    properties: Properties<'a>,
}

/// Properties in the order of the file.
#[derive(Default)]
struct Properties<'a>(Vec<(&'a str, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Properties<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(&'de str, &'de str)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("properties")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Pairs).map(Properties)
    }
}

/// What `fastnbt` offers beside: names and arrays that point into the document, here unpacked with a loop of shifts.
fn read_borrowed(nbt: &[u8], arrays: &mut Arrays, texts: Option<&mut Texts>) -> usize {
    let chunk: BorrowedChunk<'_> = fastnbt::from_bytes(nbt).expect("a chunk");
    for (section, cells) in chunk.sections.iter().zip(&mut arrays.cells) {
        let Some((data, palette)) =
            section.block_states.as_ref().and_then(|states| Some((states.data?, &states.palette)))
        else {
            cells.fill(0);
            continue;
        };
        let bits = reference::bits_for(palette.len(), 4);
        let mask = (1 << bits) - 1;
        for (cells, long) in cells.chunks_mut(64 / bits).zip(data.iter()) {
            let mut word = long as u64;
            for cell in cells {
                *cell = (word & mask) as u16;
                word >>= bits;
            }
        }
    }
    black_box(&arrays.cells);
    let mut count = 0;
    for array in chunk.sections.iter().flat_map(|section| [section.block_light, section.sky_light]).flatten()
    {
        let mut bytes = [0; SECTION_CELLS / 2];
        for (byte, level) in bytes.iter_mut().zip(array.iter()) {
            *byte = level as u8;
        }
        let mut once = Some(Nibbles::Each(&bytes));
        count += unpack_light(&mut arrays.light[count..], || once.take());
    }
    if let Some(texts) = texts {
        texts.extend(chunk.sections.iter().map(|section| {
            let palette = section.block_states.iter().flat_map(|states| &states.palette);
            let text =
                |block: &BorrowedBlock<'_>| sorted_text(block.name, block.properties.0.iter().copied());
            (section.y, palette.map(text).collect::<Vec<String>>())
        }));
    }
    count
}

/// From NBT, against the reference.
fn from_nbt() -> Result<Pair, CaseError> {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let mut decoder = ChunkDecoder::new(dimension.clone(), states.clone(), Limits::default());
    let mut documents = Vec::new();
    for (position, stored) in inputs::stored_chunks(&inputs::source()?)? {
        let mut nbt = Vec::new();
        Inflater::new()
            .inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt)
            .map_err(|error| CaseError::Input(error.to_string()))?;
        let ours =
            decoder.decode_nbt(position, &nbt).map_err(|error| CaseError::Input(error.to_string()))?.chunk;
        let plain = reference::decode_chunk(&nbt, &dimension, &states);
        let plain = plain.ok_or_else(|| CaseError::Input(format!("the reference refuses {position}")))?;
        let hashes = |chunk: &Chunk| -> Vec<u64> {
            chunk.sections().iter().map(|section| section.content_hash(&states)).collect()
        };
        if hashes(&ours) != hashes(&plain) || ours.light != plain.light || ours.biomes != plain.biomes {
            return Err(CaseError::Unequal { count: 1, first: position.to_string() });
        }
        documents.push((position, nbt));
    }
    let other = documents.clone();
    Ok(Pair::new(
        move || {
            for (position, nbt) in &documents {
                black_box(decoder.decode_nbt(*position, nbt).expect("as before"));
            }
        },
        move || {
            for (_, nbt) in &other {
                black_box(reference::decode_chunk(nbt, &dimension, &states).expect("as before"));
            }
        },
    ))
}
