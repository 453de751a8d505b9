//! Regions that the game wrote, compared with what another reader makes of them.
#![expect(clippy::print_stderr, reason = "says loudly which real files were used")]

#[path = "support/real.rs"]
mod real;

use fastanvil::{Chunk as _, CurrentJavaChunk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use voxtick_anvil::chunk::compute_heightmaps;
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_anvil::{Limits, Notice, RegionLoad, load_region};
use voxtick_worlds::{BlockStates, Chunk, Dimension, HeightmapKind, LightChannel, RegionPos};

fn load(path: &Path, position: RegionPos, states: &Arc<BlockStates>) -> RegionLoad {
    let region = Region::open_as(path, position).expect("the region opens");
    let load = load_region(&region, &Dimension::overworld(), states, &Limits::default());
    eprintln!(
        "{}: {} chunks, {} full, {} lit",
        path.display(),
        load.chunks.len(),
        load.chunks.iter().filter(|chunk| chunk.status.is_full()).count(),
        load.chunks.iter().filter(|chunk| chunk.light.is_some()).count(),
    );
    load
}

/// Every block, biome and height of the finished chunks, as `fastanvil` reads them.
fn compare_with_fastanvil(path: &Path, load: &RegionLoad, states: &BlockStates) -> usize {
    let file = std::fs::File::open(path).expect("the region opens");
    let mut other = fastanvil::Region::from_stream(file).expect("the region opens");
    let mut compared = 0;
    for chunk in load.chunks.iter().filter(|chunk| chunk.status.is_full()).step_by(7) {
        let (x, z) = (chunk.position().x.rem_euclid(32) as usize, chunk.position().z.rem_euclid(32) as usize);
        let bytes = other.read_chunk(x, z).expect("the chunk is read").expect("the chunk is there");
        let theirs: CurrentJavaChunk = fastnbt::from_bytes(&bytes).expect("the chunk is decoded");
        let range = theirs.y_range();
        assert_eq!((range.start as i32, range.end as i32), (-64, 320));
        for y in (-64..320).step_by(3) {
            for cell in 0..256 {
                let (x, z) = (cell % 16, cell / 16);
                let block = theirs.block(x, y, z).expect("within range");
                let ours = chunk.block(x as i32, y as i32, z as i32).expect("within range");
                assert_eq!(
                    normalised(states, &states.print(ours)),
                    normalised(states, block.encoded_description())
                );
                compared += 1;
            }
        }
    }
    compared
}

/// Both sides in the words of the table, since the file may use a block's old name, and without the property that
/// `fastanvil` leaves out.
fn normalised(states: &BlockStates, text: &str) -> String {
    let text = match text.split_once('|') {
        Some((name, properties)) if !properties.is_empty() => format!("{name}[{properties}]"),
        _ => text.trim_end_matches('|').to_owned(),
    };
    let id = states.parse(&text).unwrap_or_else(|error| panic!("{error}"));
    states.print(states.with_property(id, "waterlogged", "false").unwrap_or(id))
}

#[test]
fn every_chunk_of_the_1_19_4_region_loads_as_fastanvil_reads_it() {
    let states = BlockStates::load();
    let path = real::region_1_19_4();
    let load = load(&path, RegionPos::new(0, 0), &states);
    assert!(load.failures.is_empty(), "{:?}", load.failures.first());
    assert_eq!(load.chunks.len(), 676);
    let lit_and_full =
        load.chunks.iter().filter(|chunk| chunk.status.is_full() && chunk.light.is_some()).count();
    assert_eq!(lit_and_full, 225);
    assert_eq!(states.count(), states.known_count(), "every state of the game is known");
    assert!(compare_with_fastanvil(&path, &load, &states) > 1_000_000);
    check_kept_bytes(&path, &load);
}

/// What is not modelled is kept as the stored payload.
fn check_kept_bytes(path: &Path, load: &RegionLoad) {
    let region = Region::open_as(path, RegionPos::new(0, 0)).expect("the region opens");
    let mut stored = StoredChunk::default();
    for chunk in load.chunks.iter().step_by(50) {
        assert!(region.read(chunk.position(), &mut stored, &Limits::default()).expect("it was read before"));
        let kept = chunk.unmodelled.as_ref().expect("something is kept");
        assert_eq!((kept.data_version, kept.bytes[0]), (3337, stored.compression().number()));
        assert_eq!(&kept.bytes[1..], stored.payload());
    }
}

#[test]
fn stored_light_of_a_torch_lit_chunk_agrees_with_the_raw_bytes() {
    let states = BlockStates::load();
    let load = load(&real::region_1_19_4(), RegionPos::new(0, 0), &states);
    let mut bright = 0;
    for chunk in load.chunks.iter().filter(|chunk| chunk.status.is_full()) {
        let light = chunk.light.as_ref().expect("finished chunks are lit");
        assert_eq!((light.bottom_section, light.block.len()), (-5, 26));
        for (index, section) in chunk.sections().iter().enumerate() {
            for run in section.runs().filter(|run| states.emission(run.state) > 0) {
                for cell in run.start..run.start + run.length {
                    let level = light.level(LightChannel::Block, index as i32 - 4, cell);
                    assert!(level >= states.emission(run.state), "{} is dark", states.print(run.state));
                    bright += 1;
                }
            }
        }
    }
    assert!(bright > 1000, "{bright} emitting cells");
}

/// The stored heightmap of all but air is exactly what the blocks say.
fn check_world_surface(chunk: &Chunk, states: &BlockStates) {
    let map = chunk.heightmaps.map(HeightmapKind::WorldSurface).expect("finished chunks have it");
    for column in 0..256 {
        let (x, z) = (column % 16, column / 16);
        let top = (-64..320).rev().find(|y| !states.is_air(chunk.block(x, *y, z).expect("within range")));
        assert_eq!(i32::from(map[column as usize]), top.map_or(0, |y| y + 65), "column {x}, {z}");
    }
}

#[test]
fn heightmaps_agree_with_the_blocks() {
    let states = BlockStates::load();
    let load = load(&real::region_1_19_4(), RegionPos::new(0, 0), &states);
    for chunk in load.chunks.iter().filter(|chunk| chunk.status.is_full()).step_by(9) {
        check_world_surface(chunk, &states);
        assert_eq!(chunk.biomes.sections().len(), 24);
    }
}

/// All four heightmaps of finished chunks, made from the blocks, against the stored ones.
fn compare_heightmaps(load: &RegionLoad, states: &BlockStates) -> usize {
    let mut compared = 0;
    for chunk in load.chunks.iter().filter(|chunk| chunk.status.is_full()) {
        let made = compute_heightmaps(chunk, states);
        for kind in HeightmapKind::ALL {
            let stored = chunk.heightmaps.map(kind).expect("finished chunks have it");
            let made = made.map(kind).expect("all are made");
            for column in 0..256 {
                if stored[column] != made[column] {
                    let (x, z) = (column as i32 % 16, column as i32 / 16);
                    let top = i32::from(stored[column].max(made[column])) - 65;
                    let block = states.print(chunk.block(x, top, z).expect("within range"));
                    eprintln!(
                        "{} {kind:?} at {x}, {z}: {} stored, {} made, {block} on top",
                        chunk.position(),
                        stored[column],
                        made[column]
                    );
                } else {
                    compared += 1;
                }
            }
        }
    }
    compared
}

#[test]
fn heightmaps_are_made_as_the_game_made_them() {
    let states = BlockStates::load();
    let load = load(&real::region_1_19_4(), RegionPos::new(0, 0), &states);
    assert_eq!(compare_heightmaps(&load, &states), 225 * 4 * 256);
    for (file, position, full) in [
        ("java-1.21/r.0.0.mca", RegionPos::new(0, 0), 134),
        ("java-1.21.11/r.2.1.mca", RegionPos::new(2, 1), 70),
    ] {
        let Some(path) = data_file(&format!("worlds/{file}")) else { return };
        assert_eq!(
            compare_heightmaps(&self::load(&path, position, &states), &states),
            full * 4 * 256,
            "{file}"
        );
    }
}

#[test]
fn the_1_21_region_loads_with_its_light() {
    let Some(path) = data_file("worlds/java-1.21/r.0.0.mca") else { return };
    let states = BlockStates::load();
    let load = load(&path, RegionPos::new(0, 0), &states);
    assert!(load.failures.is_empty(), "{:?}", load.failures.first());
    assert_eq!(load.chunks.len(), 552);
    let lit_and_full =
        load.chunks.iter().filter(|chunk| chunk.status.is_full() && chunk.light.is_some()).count();
    assert_eq!(lit_and_full, 134);
    assert_eq!(states.count(), states.known_count());
    assert!(compare_with_fastanvil(&path, &load, &states) > 500_000);
}

#[test]
fn the_1_21_11_region_loads_though_partly_generated() {
    let Some(path) = data_file("worlds/java-1.21.11/r.2.1.mca") else { return };
    let states = BlockStates::load();
    let load = load(&path, RegionPos::new(2, 1), &states);
    assert!(load.failures.is_empty(), "{:?}", load.failures.first());
    assert_eq!(load.chunks.len(), 378);
    assert_eq!(load.chunks.iter().filter(|chunk| chunk.status.is_full()).count(), 70);
    assert_eq!(states.count(), states.known_count());
    compare_with_fastanvil(&path, &load, &states);
}

#[test]
fn older_versions_load_block_by_block() {
    let states = BlockStates::load();
    for (version, chunks) in [("1.16", 292), ("1.15", 199), ("1.14", 199), ("1.13", 147)] {
        let Some(path) = data_file(&format!("worlds/java-{version}/r.0.0.mca")) else { return };
        let load = load(&path, RegionPos::new(0, 0), &states);
        assert!(load.failures.is_empty(), "{version}: {:?}", load.failures.first());
        assert_eq!(load.chunks.len(), chunks, "{version}");
        let unknown: Vec<String> = (states.known_count() as u32..states.count() as u32)
            .map(|id| states.print(voxtick_worlds::StateId(id)))
            .collect();
        assert!(unknown.is_empty(), "{version}: {unknown:?}");
        let blocks = |chunk: &Chunk| {
            chunk.sections().iter().map(|section| section.non_air_count(&states)).sum::<usize>()
        };
        let with_blocks = load.chunks.iter().filter(|chunk| blocks(chunk) >= 256).count();
        assert!(with_blocks * 10 > chunks * 9, "{version}: {with_blocks} of {chunks} have blocks");
    }
}

#[test]
fn chunks_with_numeric_blocks_are_refused_and_not_guessed() {
    let Some(path) = data_file("worlds/java-1.12/r.0.0.mca") else { return };
    let load = load(&path, RegionPos::new(0, 0), &BlockStates::load());
    assert_eq!((load.chunks.len(), load.failures.len()), (0, 103));
    let message = load.failures[0].to_string();
    assert!(
        message.contains("1343") && message.contains("upgrade") && message.contains("r.0.0.mca"),
        "{message}"
    );
}

#[test]
fn streams_without_end_marker_load_with_a_notice() {
    for (file, position, chunks) in [
        ("no-end-marker.r.0.0.mca", RegionPos::new(0, 0), 121),
        ("no-end-marker.r.2.2.mca", RegionPos::new(2, 2), 3),
    ] {
        let Some(path) = data_file(&format!("worlds/odd/{file}")) else { return };
        let load = load(&path, position, &BlockStates::load());
        assert!(load.failures.is_empty(), "{file}: {:?}", load.failures.first());
        assert_eq!(load.chunks.len(), chunks, "{file}");
        assert!(load.notices.iter().any(|(_, notice)| *notice == Notice::NoEndMarker), "{file}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_chunks() {
    let states = BlockStates::load();
    let region = Region::open_as(real::region_1_19_4(), RegionPos::new(0, 0)).expect("the region opens");
    let positions: Vec<_> = region.chunks().step_by(20).collect();
    let hashes = |threads: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let load = pool.install(|| {
            voxtick_anvil::load::load_chunks(
                &region,
                &positions,
                &Dimension::overworld(),
                &states,
                &Limits::default(),
            )
        });
        let sections = load.chunks.iter().flat_map(|chunk| chunk.sections().to_vec());
        sections.map(|section| section.content_hash(&states)).collect()
    };
    let one = hashes(1);
    assert_eq!(one.len(), positions.len() * 24);
    assert_eq!(one, hashes(3));
}

/// A file below `VOXTICK_DATA`, if that is set.
fn data_file(path: &str) -> Option<PathBuf> {
    match std::env::var_os("VOXTICK_DATA") {
        Some(folder) => {
            let file = Path::new(&folder).join(path);
            eprintln!("using {}", file.display());
            Some(file)
        }
        None => {
            eprintln!("VOXTICK_DATA is not set: {path} is not tested");
            None
        }
    }
}
