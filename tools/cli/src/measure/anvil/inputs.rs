//! What the anvil cases work on.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use voxtick::anvil::compression::{Compression, Packer};
use voxtick::anvil::region::{Overwrite, Region, StoredChunk};
use voxtick::anvil::{ChunkDecoder, ChunkEncoder, Limits};
use voxtick::worlds::generators::{Hills, generate, split_mix};
use voxtick::worlds::{
    BiomeSection, Biomes, BlockStates, Chunk, ChunkLight, ChunkPos, Dimension, LightLevels, NIBBLE_BYTES,
    PaletteEncoder, RegionPos, SECTION_CELLS, Section, StateId,
};

use crate::measure::CaseError;

/// Chunks of the region: those of the real one.
pub(super) const REGION_CHUNKS: u64 = 552;
/// Finished chunks that the decoding cases work on.
pub(super) const DECODED_CHUNKS: usize = 32;

/// A region file.
pub(super) struct Source {
    pub(super) region: Region,
    /// Where a made one lies until the case is done.
    _folder: Option<TempDir>,
}

/// The real 1.21 region where `VOXTICK_DATA` is set, else one of as many chunks of hills.
pub(super) fn source() -> Result<Source, CaseError> {
    let input = |error: &dyn std::fmt::Display| CaseError::Input(error.to_string());
    if let Some(data) = std::env::var_os("VOXTICK_DATA") {
        let path = PathBuf::from(data).join("worlds/java-1.21/r.0.0.mca");
        let region = Region::open_as(path, RegionPos::new(0, 0)).map_err(|error| input(&error))?;
        return Ok(Source { region, _folder: None });
    }
    let folder = TempDir::new().map_err(|error| input(&error))?;
    let states = BlockStates::load();
    let hills = Hills::new(42, &states).expect("the states of hills are in the table");
    let dimension = Dimension::overworld();
    let region = Region::open_for_writing(folder.path().join("r.0.0.mca")).map_err(|error| input(&error))?;
    let mut encoder = ChunkEncoder::new(dimension.clone(), states, Limits::default(), Packer::new());
    let within: Vec<ChunkPos> =
        (0..REGION_CHUNKS as i32).map(|n| ChunkPos::new(n % 32, n / 32 % 32)).collect();
    for mut chunk in generate(&hills, &within, &dimension) {
        chunk.light = Some(Box::new(made_light(chunk.sections().len())));
        let payload = encoder.encode(&chunk, Compression::Zlib).map_err(|error| input(&error))?;
        let payload = payload.expect("a chunk from no file is always written");
        region
            .write(chunk.position(), Compression::Zlib, payload, 0, Overwrite::Sound)
            .map_err(|error| input(&error))?;
    }
    // Other readers open the file itself.
    region.flush().map_err(|error| input(&error))?;
    Ok(Source { region, _folder: Some(folder) })
}

/// The first finished and lit chunks of the region, as they are stored.
pub(super) fn stored_chunks(source: &Source) -> Result<Vec<(ChunkPos, StoredChunk)>, CaseError> {
    let input = |error: &dyn std::fmt::Display| CaseError::Input(error.to_string());
    let mut decoder = ChunkDecoder::new(Dimension::overworld(), BlockStates::load(), Limits::default());
    let mut chunks = Vec::new();
    for position in source.region.chunks() {
        let mut stored = StoredChunk::default();
        source.region.read(position, &mut stored, &Limits::default()).map_err(|error| input(&error))?;
        let chunk = decoder.decode(position, &stored).map_err(|error| input(&error))?.chunk;
        if chunk.status.is_full() && chunk.light.is_some() {
            chunks.push((position, stored));
        }
        if chunks.len() == DECODED_CHUNKS {
            return Ok(chunks);
        }
    }
    Err(CaseError::Input(format!("the region has {} finished chunks only", chunks.len())))
}

/// Cells of `kinds` states in runs of 1 to 9, the same every time.
pub(super) fn cells(kinds: usize, seed: u64) -> Box<[StateId; SECTION_CELLS]> {
    let mut random = seed;
    let mut below = |bound: usize| {
        random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (split_mix(random) % bound as u64) as usize
    };
    let mut cells = Box::new([StateId::AIR; SECTION_CELLS]);
    let (mut at, mut met) = (0, 0);
    while at < SECTION_CELLS {
        // Every kind comes at least once.
        let kind = if met < kinds { met } else { below(kinds) };
        met += 1;
        let length = 1 + below(if kinds > 600 { 6 } else { 9 });
        for cell in cells.iter_mut().skip(at).take(length) {
            *cell = StateId(1 + kind as u32 * 23);
        }
        at += length;
    }
    cells
}

/// A chunk of 24 sections of `kinds` states each, with biomes and both channels of light, from no file.
pub(super) fn busy_chunk(kinds: usize) -> Chunk {
    let dimension = Dimension::overworld();
    let mut encoder = PaletteEncoder::new();
    let numbers = 0..dimension.section_count() as u64;
    let sections: Vec<Section> = numbers.map(|number| encoder.section(&cells(kinds, number))).collect();
    let mut chunk = Chunk::from_sections(ChunkPos::new(3, 7), dimension.min_section(), sections);
    let plains: Arc<str> = "minecraft:plains".into();
    let biomes = vec![BiomeSection::new(vec![plains], None).expect("one biome"); chunk.sections().len()];
    chunk.biomes = Biomes::from_sections(biomes);
    chunk.light = Some(Box::new(made_light(chunk.sections().len())));
    chunk
}

/// Light of which every section stores both channels.
fn made_light(sections: usize) -> ChunkLight {
    let mut light = ChunkLight::absent(Dimension::overworld().min_section(), sections);
    for entry in 1..=sections {
        let nibbles = |seed: u64| {
            let levels = std::array::from_fn(|byte| split_mix(seed + (byte as u64 / 13)) as u8);
            LightLevels::Nibbles(Arc::<[u8; NIBBLE_BYTES]>::new(levels))
        };
        light.block[entry] = nibbles(entry as u64);
        light.sky[entry] = nibbles(entry as u64 + 1000);
    }
    light
}
