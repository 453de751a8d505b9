//! A whole region file to block states: ours against `fastanvil` and `fastnbt`, each with its own inflate, one thread.
//!
//! Ours reads everything that it models: states, biomes, light, heightmaps. `fastanvil` reads states, biomes and
//! heightmaps (`CurrentJavaChunk`), and its states are unpacked into an array a section; ours are too. Its `flate2`
//! has the back end `miniz_oxide`, its default. `fastnbt::Value` reads the documents alone, inflated by libdeflate.
//! `simdnbt` needs a nightly compiler and is left out.
//!
//! `cargo run --release --features nbt --bin nbt [REGION.mca]`

use fastanvil::CurrentJavaChunk;
use std::hint::black_box;
use std::io::Cursor;
use voxtick_anvil::nbt::{NbtLimits, Tape};
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_anvil::{ChunkDecoder, Limits};
use voxtick_peers::{compare, finished_chunks, print_head, region_path};
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, RegionPos};

fn main() {
    let documents: Vec<Vec<u8>> = finished_chunks(48).into_iter().map(|(_, nbt)| nbt).collect();
    let region = Region::open_as(region_path(), RegionPos::new(0, 0)).expect("the region opens");
    let positions: Vec<ChunkPos> = region.chunks().collect();
    let states = BlockStates::load();
    let mut decoder = ChunkDecoder::new(Dimension::overworld(), states.clone(), Limits::default());
    let mut stored = StoredChunk::default();
    let mut cells = [0; 4096];
    let mut ours = |names: bool| {
        let mut found = Vec::new();
        for position in &positions {
            region.read(*position, &mut stored, &Limits::default()).expect("it is whole");
            let chunk = decoder.decode(*position, &stored).expect("it is whole").chunk;
            for section in chunk.sections() {
                section.unpack_indices(&mut cells);
                black_box(&cells);
                if names {
                    found.extend(
                        cells
                            .iter()
                            .map(|cell| states.name(section.palette()[usize::from(*cell)]).to_owned()),
                    );
                }
            }
        }
        found
    };
    let file = std::fs::read(region_path()).expect("the file can be read");
    let mut other_cells = [0_u16; 4096];
    let mut other = |names: bool| {
        let mut found = Vec::new();
        let mut region = fastanvil::Region::from_stream(Cursor::new(&file)).expect("the region opens");
        for position in &positions {
            let nbt = region.read_chunk(position.x as usize & 31, position.z as usize & 31);
            let nbt = nbt.expect("it is whole").expect("it is there");
            let chunk: CurrentJavaChunk = fastnbt::from_bytes(&nbt).expect("it is whole");
            let mut sections: Vec<_> = chunk.sections.iter().flat_map(|tower| tower.sections()).collect();
            sections.retain(|section| (-4..20).contains(&section.y));
            sections.sort_by_key(|section| section.y);
            for section in sections {
                match section.block_states.try_iter_indices() {
                    Some(indices) => {
                        for (cell, index) in other_cells.iter_mut().zip(indices) {
                            *cell = index as u16;
                        }
                    }
                    None => other_cells.fill(0),
                }
                black_box(&other_cells);
                if names {
                    found.extend(other_cells.iter().map(|cell| {
                        let palette = section.block_states.palette();
                        palette
                            .get(usize::from(*cell))
                            .map_or("minecraft:air", |block| block.name())
                            .to_owned()
                    }));
                }
            }
        }
        found
    };
    // Sections that the file does not have are air in ours and not there in the other.
    let (our_names, other_names) = (ours(true), other(true));
    let solid = |names: &[String]| -> Vec<String> {
        names.iter().filter(|name| *name != "minecraft:air").cloned().collect()
    };
    assert!(solid(&our_names) == solid(&other_names), "the two read different blocks");
    drop((our_names, other_names));

    print_head();
    compare(
        &format!("region of {} chunks/fastanvil", positions.len()),
        || drop(ours(false)),
        || drop(other(false)),
    );
    let mut tape = Tape::new();
    compare(
        &format!("{} documents/our tape, fastnbt::Value", documents.len()),
        || {
            for nbt in &documents {
                black_box(tape.parse(nbt, &NbtLimits::default()).expect("it is whole"));
            }
        },
        || {
            for nbt in &documents {
                black_box(fastnbt::from_bytes::<fastnbt::Value>(nbt).expect("it is whole"));
            }
        },
    );
}
