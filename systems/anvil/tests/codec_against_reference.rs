//! The codec against the plainest way to do its work, on every chunk that is at hand.

#[path = "support/real.rs"]
mod real;

use std::path::Path;
use voxtick_anvil::compression::{Inflater, Packer};
use voxtick_anvil::nbt::{NbtLimits, Tape};
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_anvil::{ChunkDecoder, ChunkEncoder, Limits, reference};
use voxtick_worlds::{
    BlockStates, Chunk, ChunkPos, Dimension, HeightmapKind, RegionPos, SECTION_CELLS, StateId,
};

fn files() -> Vec<(std::path::PathBuf, RegionPos)> {
    let mut files = vec![(real::region_1_19_4(), RegionPos::new(0, 0))];
    if let Some(folder) = std::env::var_os("VOXTICK_DATA") {
        let folder = Path::new(&folder).join("worlds");
        files.push((folder.join("java-1.21/r.0.0.mca"), RegionPos::new(0, 0)));
        files.push((folder.join("java-1.21.11/r.2.1.mca"), RegionPos::new(2, 1)));
    }
    files
}

fn assert_same(ours: &Chunk, plain: &Chunk, states: &BlockStates) {
    let at = ours.position();
    assert_eq!(at, plain.position());
    for (index, (a, b)) in ours.sections().iter().zip(plain.sections()).enumerate() {
        assert_eq!(a.content_hash(states), b.content_hash(states), "{at}, section {index}");
    }
    assert_eq!(ours.light, plain.light, "{at}");
    assert_eq!(ours.status, plain.status, "{at}");
    assert_eq!(ours.biomes, plain.biomes, "{at}");
    for kind in HeightmapKind::ALL {
        assert_eq!(ours.heightmaps.map(kind), plain.heightmaps.map(kind), "{at} {kind:?}");
    }
}

#[test]
fn every_real_chunk_decodes_as_the_reference_decodes_it() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let mut decoder = ChunkDecoder::new(dimension.clone(), states.clone(), Limits::default());
    let (mut stored, mut nbt, mut inflater) = (StoredChunk::default(), Vec::new(), Inflater::new());
    let mut compared = 0;
    for (path, position) in files() {
        let region = Region::open_as(&path, position).expect("the region opens");
        for chunk in region.chunks().step_by(3) {
            region.read(chunk, &mut stored, &Limits::default()).expect("it is whole");
            inflater
                .inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt)
                .expect("it inflates");
            let plain = reference::decode_chunk(&nbt, &dimension, &states).expect("it decodes");
            let ours = decoder.decode(chunk, &stored).expect("it decodes").chunk;
            assert_same(&ours, &plain, &states);
            compared += 1;
        }
    }
    assert!(compared >= 225, "{compared} chunks");
}

#[test]
fn new_sections_encode_as_the_reference_encodes_them() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let mut encoder = ChunkEncoder::new(dimension.clone(), states.clone(), Limits::default(), Packer::new());
    for kinds in [1, 2, 3, 9, 16, 17, 40, 200, 1000] {
        let mut chunk = Chunk::empty(ChunkPos::new(0, 0), &dimension);
        for cell in 0..SECTION_CELLS as i32 {
            let state = StateId((cell / 5 * 31 % kinds * 13) as u32);
            chunk.set_block(cell % 16, 16 + cell / 256, cell / 16 % 16, state, &states);
        }
        let nbt = encoder.encode_nbt(&chunk).expect("it encodes").expect("it is new").to_vec();
        let mut tape = Tape::new();
        let root = tape.parse(&nbt, &NbtLimits::default()).expect("NBT");
        let section = root
            .field("sections")
            .expect("sections")
            .items()
            .find(|section| section.field("Y").and_then(|y| y.integer()) == Some(1))
            .expect("section 1");
        let ours = section.field("block_states").expect("block states");
        // The order of a palette is free; the cells it stands for are not.
        let plain = reference::encode_cells(&chunk.sections()[5], &states);
        let count = |bytes: &[u8]| bytes.len();
        assert_eq!(count(ours.payload()), count(&plain), "{kinds} kinds take the same bytes");
        let again = reference::decode_chunk(&nbt, &dimension, &states).expect("the reference reads it");
        assert_eq!(again.sections()[5].content_hash(&states), chunk.sections()[5].content_hash(&states));
    }
}
