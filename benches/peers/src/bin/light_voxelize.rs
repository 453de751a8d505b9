//! Block light of one closed section: ours against `voxelize`, whose light is a queue flood fill over voxels.
//!
//! Both: 64 sections of 16 x 16 x 16 cells, nothing but air, full cubes and sources, 0 or 30 % of them cubes, one thread.
//! Sources have the levels 15, 15, 14, 7 and 3 in turn; light passes through them as through air. A call lights all 64
//! from nothing, and the table's microseconds are for these.
//!
//! Voxelize: a section is a chunk of 16 x 16 x 16 voxels that is a world of its own, and block light is its red channel
//! alone. Of its containers `Chunk` is used, which needs no look-up of chunks as `Space` and `Chunks` do. Ready before the
//! clock starts are the chunk with its voxels and the list of sources; timed are the wiping of its light, the setting of
//! the sources and `Lights::flood_light`. Ours gets the same as a mask of opaque cells and the same list.
//!
//! Its rules agree with the game's for these cells alone: it dims light in water and leaves by a share, and a face is
//! open or closed as a whole.
//!
//! `voxelize` needs `protoc` to be built: of the system (Debian: `protobuf-compiler`), or of a crate, as here.
//!
//! `export PROTOC=$(cargo run --release --features protoc --bin protoc_path)`
//! `cargo run --release --features voxelize --bin light_voxelize`

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;
use voxelize::{
    Block, Chunk, ChunkOptions, LightColor, LightNode, LightUtils, Lights, Registry, VoxelAccess, WorldConfig,
};
use voxtick_light::light_section;
use voxtick_peers::{compare, print_head};
use voxtick_worlds::generators::split_mix;
use voxtick_worlds::{CellMask, NIBBLE_BYTES, SECTION_CELLS};

const SECTIONS: u64 = 64;
/// The number of a full cube in the other's registry; a source of level `l` has the number `CUBE + l`.
const CUBE: u32 = 1;

struct Section {
    opaque: CellMask,
    sources: Vec<(u16, u8)>,
}

fn main() {
    print_head();
    let (registry, config) = (registry(), config());
    for sources in [1, 8, 64] {
        for solid in [0, 30] {
            let sections: Vec<Section> =
                (0..SECTIONS).map(|number| section(number, sources, solid)).collect();
            let mut chunks: Vec<Chunk> = sections.iter().map(chunk).collect();
            let mut levels = [0; NIBBLE_BYTES];
            for (section, chunk) in sections.iter().zip(&mut chunks) {
                light_section(&section.opaque, &section.sources, &mut levels);
                flood(chunk, &section.sources, &registry, &config);
                assert!(levels == levels_of(chunk), "the two give different light");
            }
            compare(
                &format!("light/section/sources={sources}/solid={solid}/mix=mixed"),
                || {
                    for section in &sections {
                        light_section(&section.opaque, &section.sources, &mut levels);
                        black_box(&levels);
                    }
                },
                || {
                    for (section, chunk) in sections.iter().zip(&mut chunks) {
                        flood(chunk, &section.sources, &registry, &config);
                        black_box(&chunk.lights);
                    }
                },
            );
        }
    }
    println!("\nmicroseconds of {SECTIONS} sections");
}

fn section(number: u64, sources: usize, solid: u64) -> Section {
    let mut random = number << 32 | (sources as u64) << 8 | solid;
    let mut below = |bound: u64| {
        random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        split_mix(random) % bound
    };
    let mut opaque = [0_u64; 64];
    for cell in 0..SECTION_CELLS {
        opaque[cell / 64] |= u64::from(below(100) < solid) << (cell % 64);
    }
    let mut chosen: Vec<(u16, u8)> = Vec::new();
    while chosen.len() < sources {
        let cell = below(SECTION_CELLS as u64) as usize;
        let is_taken = chosen.iter().any(|&(other, _)| usize::from(other) == cell);
        if !is_taken && opaque[cell / 64] >> (cell % 64) & 1 == 0 {
            chosen.push((cell as u16, [15, 15, 14, 7, 3][(number as usize + chosen.len()) % 5]));
        }
    }
    Section { opaque, sources: chosen }
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register_block(&Block::new("cube").id(CUBE).build());
    for level in 1..=15 {
        let source = Block::new(&format!("source {level}"));
        let source = source.id(CUBE + level).is_passable(true).is_transparent(true).red_light_level(level);
        registry.register_block(&source.build());
    }
    registry
}

/// A world of one chunk.
fn config() -> WorldConfig {
    WorldConfig {
        chunk_size: 16,
        max_height: 16,
        sub_chunks: 1,
        max_light_level: 15,
        min_chunk: [0, 0],
        max_chunk: [0, 0],
        ..WorldConfig::default()
    }
}

fn chunk(section: &Section) -> Chunk {
    let mut chunk = Chunk::new("section", 0, 0, &ChunkOptions { size: 16, max_height: 16, sub_chunks: 1 });
    for cell in (0..SECTION_CELLS).filter(|cell| section.opaque[cell / 64] >> (cell % 64) & 1 != 0) {
        let [x, y, z] = place(cell);
        chunk.set_voxel(x, y, z, CUBE);
    }
    for &(cell, level) in &section.sources {
        let [x, y, z] = place(cell.into());
        chunk.set_voxel(x, y, z, CUBE + u32::from(level));
    }
    chunk
}

fn place(cell: usize) -> [i32; 3] {
    [cell % 16, cell / 256, cell / 16 % 16].map(|coordinate| coordinate as i32)
}

fn flood(chunk: &mut Chunk, sources: &[(u16, u8)], registry: &Registry, config: &WorldConfig) {
    Arc::make_mut(&mut chunk.lights).data.fill(0);
    let mut queue = VecDeque::with_capacity(SECTION_CELLS);
    for &(cell, level) in sources {
        let (voxel, level) = (place(cell.into()), u32::from(level));
        chunk.set_red_light(voxel[0], voxel[1], voxel[2], level);
        queue.push_back(LightNode { voxel, level });
    }
    Lights::flood_light(chunk, queue, &LightColor::Red, registry, config, None, None);
}

/// The red light of a chunk in our form.
fn levels_of(chunk: &Chunk) -> [u8; NIBBLE_BYTES] {
    let mut levels = [0; NIBBLE_BYTES];
    for cell in 0..SECTION_CELLS {
        let [x, y, z] = place(cell);
        let level = LightUtils::extract_red_light(chunk.get_raw_light(x, y, z));
        levels[cell / 2] |= (level as u8) << (cell % 2 * 4);
    }
    levels
}
