//! From columns to file bytes, and the parts of that.

use std::hint::black_box;
use std::sync::Arc;

use voxtick::anvil::chunk::{pack_indices, unpack_indices};
use voxtick::anvil::compression::Packer;
use voxtick::anvil::{ChunkEncoder, Limits, reference};
use voxtick::worlds::{
    BlockStates, Chunk, Dimension, LightLevels, PaletteEncoder, SECTION_CELLS, Section, StateId,
};

use super::inputs;
use crate::measure::{Case, CaseError, Pair};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kinds in [1, 8, 64, 200] {
        let name = format!("anvil/encode/states={kinds}");
        cases.push(Case::new(name, ("codec", "reference"), 1, move || encode(kinds)));
    }
    cases.push(Case::new("anvil/snapshot", ("shared", "copied"), 1, || Ok(snapshot())));
    for kinds in [1, 8, 16, 64, 200, 256, 1024] {
        let name = format!("anvil/palette/states={kinds}");
        cases.push(Case::new(name, ("table", "search of the palette"), 1, move || palette(kinds)));
    }
    for bits in [4, 5, 6, 8, 9, 12, 15, 16] {
        let name = format!("anvil/pack/bits={bits}");
        cases.push(Case::new(name, ("word by word", "cell by cell"), 1, move || pack(bits)));
    }
    for bits in [4, 5, 6, 8, 9, 12, 15, 16] {
        let name = format!("anvil/unpack/bits={bits}");
        cases.push(Case::new(name, ("word by word", "cell by cell"), 1, move || unpack(bits)));
    }
    cases
}

/// A whole chunk to NBT: palettes, packing, light, heightmaps.
fn encode(kinds: usize) -> Result<Pair, CaseError> {
    let states = BlockStates::load();
    let chunk = Arc::new(inputs::busy_chunk(kinds));
    let mut encoder =
        ChunkEncoder::new(Dimension::overworld(), states.clone(), Limits::default(), Packer::new());
    let plain = reference::encode_chunk(&chunk, &states);
    let ours = encoder.encode_nbt(&chunk).map_err(|error| CaseError::Input(error.to_string()))?;
    if ours != Some(plain.as_slice()) {
        let ours = ours.unwrap_or_default();
        let differ = |(a, b): &(&u8, &u8)| a != b;
        let count = ours.iter().zip(&plain).filter(differ).count() + ours.len().abs_diff(plain.len());
        let first = ours.iter().zip(&plain).position(|pair| differ(&pair)).unwrap_or(ours.len());
        return Err(CaseError::Unequal { count: count as u64, first: format!("byte {first}") });
    }
    let other = chunk.clone();
    Ok(Pair::new(
        move || {
            black_box(encoder.encode_nbt(&chunk)).expect("as before");
        },
        move || {
            black_box(reference::encode_chunk(&other, &states));
        },
    ))
}

/// What a save takes from the tick: a chunk that shares its columns, against one that has copies of them.
fn snapshot() -> Pair {
    let chunk = Arc::new(inputs::busy_chunk(200));
    let other = chunk.clone();
    Pair::new(
        move || {
            black_box(Chunk::clone(&chunk));
        },
        move || {
            let cells = other.sections().iter().map(|section: &Section| {
                (
                    section.palette().to_vec(),
                    section.packed_indices().map(|(bits, words)| (bits, words.to_vec())),
                )
            });
            let light =
                other.light.as_deref().into_iter().flat_map(|light| light.block.iter().chain(&light.sky));
            let nibbles = light.map(|levels| match levels {
                LightLevels::Nibbles(nibbles) => Some(nibbles.to_vec()),
                _ => None,
            });
            black_box((cells.collect::<Vec<_>>(), nibbles.collect::<Vec<_>>()));
        },
    )
}

/// The palette of 4,096 cells, and an index a cell.
fn palette(kinds: usize) -> Result<Pair, CaseError> {
    let cells = inputs::cells(kinds, 5);
    let plain =
        |cells: &[StateId; SECTION_CELLS], palette: &mut Vec<StateId>, indices: &mut [u16; SECTION_CELLS]| {
            palette.clear();
            for (index, cell) in indices.iter_mut().zip(cells) {
                let place = palette.iter().position(|state| state == cell).unwrap_or_else(|| {
                    palette.push(*cell);
                    palette.len() - 1
                });
                *index = place as u16;
            }
        };
    let mut encoder = PaletteEncoder::new();
    let (mut indices, mut other_indices) = (Box::new([0; SECTION_CELLS]), Box::new([0; SECTION_CELLS]));
    let mut other_palette = Vec::new();
    plain(&cells, &mut other_palette, &mut other_indices);
    if encoder.encode(&cells, &mut indices) != other_palette || indices != other_indices {
        return Err(CaseError::Unequal { count: 1, first: "the palette or an index".into() });
    }
    let other_cells = cells.clone();
    Ok(Pair::new(
        move || {
            black_box(encoder.encode(black_box(&*cells), &mut indices));
            black_box(&indices);
        },
        move || {
            plain(black_box(&*other_cells), &mut other_palette, &mut other_indices);
            black_box((&other_palette, &other_indices));
        },
    ))
}

fn indices(bits: u32) -> Vec<u16> {
    inputs::cells(1000, 9).iter().map(|cell| (cell.0 % (1 << bits)) as u16).collect()
}

fn pack(bits: u32) -> Result<Pair, CaseError> {
    let indices = indices(bits);
    let other: Vec<usize> = indices.iter().map(|index| usize::from(*index)).collect();
    let mut words = Vec::new();
    pack_indices(&indices, bits, false, &mut words);
    if words != reference::pack(&other, bits as usize) {
        return Err(CaseError::Unequal { count: 1, first: "a word".into() });
    }
    Ok(Pair::new(
        move || {
            pack_indices(black_box(&indices), bits, false, &mut words);
            black_box(&words);
        },
        move || {
            black_box(reference::pack(black_box(&other), bits as usize));
        },
    ))
}

fn unpack(bits: u32) -> Result<Pair, CaseError> {
    let expected = indices(bits);
    let mut words = Vec::new();
    pack_indices(&expected, bits, false, &mut words);
    let longs: Vec<[u8; 8]> = words.iter().map(|word| word.to_be_bytes()).collect();
    let (mut out, mut other_out) = (vec![0; SECTION_CELLS], vec![0; SECTION_CELLS]);
    let plain = move |words: &[u64], out: &mut [u16]| {
        for (cell, index) in out.iter_mut().enumerate() {
            *index = reference::unpack(words, bits as usize, cell);
        }
    };
    unpack_indices(&longs, bits, false, &mut out);
    plain(&words, &mut other_out);
    if out != expected || other_out != expected {
        return Err(CaseError::Unequal { count: 1, first: "an index".into() });
    }
    Ok(Pair::new(
        move || {
            unpack_indices(black_box(&longs), bits, false, &mut out);
            black_box(&out);
        },
        move || {
            plain(black_box(&words), &mut other_out);
            black_box(&other_out);
        },
    ))
}
