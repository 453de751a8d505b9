//! Chunks that were loaded, changed and saved here open in other readers with the same blocks: in `fastanvil` always,
//! and in `prismarine-provider-anvil` where node and its packages are at hand.
//!
//! `npm ci` in `systems/anvil/tests/prismarine` puts them there; with `VOXTICK_NPM=1` the test does that itself.
#![expect(clippy::print_stderr, reason = "says how much was compared")]

#[path = "support/left_out.rs"]
mod left_out;
#[path = "support/prismarine.rs"]
mod prismarine;
#[path = "support/real.rs"]
mod real;

use fastanvil::Chunk as _;
use left_out::say_left_out;
use std::path::{Path, PathBuf};
use std::process::Command;
use voxtick_anvil::compression::{Compression, Packer};
use voxtick_anvil::region::{Overwrite, Region};
use voxtick_anvil::{ChunkEncoder, Limits, load_region};
use voxtick_worlds::{BlockStates, Chunk, Dimension, RegionPos, StateId};

/// A real region, the version by which the other reader knows it, and its build range.
struct Source {
    path: PathBuf,
    version: &'static str,
    dimension: Dimension,
}

fn sources() -> Vec<Source> {
    let mut sources =
        vec![Source { path: real::region_1_19_4(), version: "1.19.4", dimension: Dimension::overworld() }];
    let Some(data) = std::env::var_os("VOXTICK_DATA") else { return sources };
    for (folder, version) in
        [("1.13", "1.13.2"), ("1.14", "1.14.4"), ("1.15", "1.15.2"), ("1.16", "1.16.2"), ("1.21", "1.21.1")]
    {
        let path = Path::new(&data).join(format!("worlds/java-{folder}/r.0.0.mca"));
        let dimension = match version {
            "1.21.1" => Dimension::overworld(),
            _ => Dimension::overworld_before_1_18(),
        };
        sources.push(Source { path, version, dimension });
    }
    sources
}

/// Loads the first chunks of a region, changes two blocks in each, and saves them to a region of their own.
fn save_changed(source: &Source, states: &std::sync::Arc<BlockStates>, folder: &Path) -> Vec<Chunk> {
    let region = Region::open_as(&source.path, RegionPos::new(0, 0)).expect("the region opens");
    let mut chunks = load_region(&region, &source.dimension, states, &Limits::default()).chunks;
    chunks.retain(|chunk| chunk.sections().iter().any(|section| section.non_air_count(states) > 0));
    chunks.truncate(3);
    let saved = Region::open_for_writing(folder.join("r.0.0.mca")).expect("the folder can be written to");
    let mut encoder =
        ChunkEncoder::new(source.dimension.clone(), states.clone(), Limits::default(), Packer::new());
    let [gold, stairs] = ["gold_block", "oak_stairs[facing=west,half=top,shape=straight,waterlogged=true]"]
        .map(|text| states.parse(text).expect("a known state"));
    for chunk in &mut chunks {
        chunk.set_block(3, 70, 5, gold, states);
        chunk.set_block(15, 4, 0, stairs, states);
        let payload = encoder.encode(chunk, Compression::Zlib).expect("it encodes").expect("it has changed");
        saved
            .write(chunk.position(), Compression::Zlib, payload, 7, Overwrite::Sound)
            .expect("there is room");
    }
    saved.flush().expect("there is room");
    chunks
}

#[test]
fn saved_chunks_open_in_other_readers_with_the_same_blocks() {
    let states = BlockStates::load();
    let node = prismarine();
    for source in sources() {
        let folder = tempfile::tempdir().expect("a folder");
        let chunks = save_changed(&source, &states, folder.path());
        assert_eq!(chunks.len(), 3, "{}", source.version);
        check_by_fastanvil(&chunks, folder.path(), &states);
        match &node {
            Some(script) => check_by_prismarine(&source, &chunks, folder.path(), script, &states),
            None => say_left_out(
                &format!("chunks of {} as prismarine-provider-anvil reads them", source.version),
                prismarine::HOW_TO_GET,
            ),
        }
    }
}

fn check_by_fastanvil(chunks: &[Chunk], folder: &Path, states: &BlockStates) {
    let file = std::fs::File::open(folder.join("r.0.0.mca")).expect("the region was written");
    let mut region = fastanvil::Region::from_stream(file).expect("the region opens");
    for chunk in chunks {
        let position = chunk.position();
        let nbt = region.read_chunk(position.x as usize, position.z as usize).expect("sound").expect("there");
        let read = fastanvil::JavaChunk::from_bytes(&nbt).expect("a chunk");
        for (x, y, z) in [(3, 70, 5), (15, 4, 0), (8, 63, 8), (0, 10, 0)] {
            let state = chunk.block(x, y, z).expect("within the range");
            let block =
                read.block(x as usize, y as isize, z as usize).map_or("minecraft:air", |block| block.name());
            let read = states.resolve(block, &[]).expect("a name");
            assert_eq!(states.name(read), states.name(state), "{position} at {x}, {y}, {z}");
        }
    }
}

/// The script that opens regions with the other reader, if its packages and node are there.
fn prismarine() -> Option<PathBuf> {
    let folder = prismarine::folder()?;
    let runs = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    runs.then(|| folder.join("read.js"))
}

fn check_by_prismarine(source: &Source, chunks: &[Chunk], saved: &Path, script: &Path, states: &BlockStates) {
    let positions = chunks.iter().map(|chunk| format!("{},{}", chunk.position().x, chunk.position().z));
    let output = Command::new("node")
        .arg(script)
        .arg(source.version)
        .arg(saved)
        .args([source.dimension.min_y().to_string(), source.dimension.max_y().to_string()])
        .args(positions)
        .output()
        .expect("node runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", source.version);
    let text = String::from_utf8(output.stdout).expect("the script writes UTF-8");
    let mut compared = 0;
    for (chunk, lines) in chunks.iter().zip(text.split("chunk ").skip(1)) {
        let mut cell = 0_i32;
        for line in lines.lines().skip(1) {
            let mut words = line.split(' ');
            let count: i32 = words.next().and_then(|count| count.parse().ok()).expect("a count");
            let state = state_of(words, states);
            for cell in cell..cell + count {
                let (x, y, z) = (cell % 16, source.dimension.min_y() + cell / 256, cell / 16 % 16);
                let ours = chunk.block(x, y, z).expect("within the range");
                assert_eq!(
                    states.stable_hash(state),
                    states.stable_hash(ours),
                    "{} {} at {x}, {y}, {z}: {line} against {}",
                    source.version,
                    chunk.position(),
                    states.name(ours)
                );
            }
            cell += count;
        }
        compared += cell;
    }
    let expected = chunks.len() as i32 * 256 * (source.dimension.max_y() - source.dimension.min_y());
    assert_eq!(compared, expected, "{}", source.version);
    eprintln!("{}: {compared} blocks are the same in prismarine-provider-anvil", source.version);
}

/// The state that a name and `property=value` words stand for.
fn state_of<'a>(mut words: impl Iterator<Item = &'a str>, states: &BlockStates) -> StateId {
    let name = words.next().expect("a name");
    let properties: Vec<(&str, &str)> =
        words.map(|word| word.split_once('=').expect("a property and its value")).collect();
    states.resolve(name, &properties).expect("room for a state")
}
