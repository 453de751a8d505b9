//! Heightmaps: 256 packed heights a kind.

use super::layout::Layout;
use super::packed::{bits_for, long_count, pack, unpack};
use crate::nbt::NbtWriter;
use voxtick_worlds::{
    BlockStates, Chunk, Dimension, Heightmap, HeightmapKind, Heightmaps, SECTION_CELLS, SECTION_EDGE, StateId,
};

/// Reads the heightmaps of a chunk whose heights count from `min_section`.
///
/// A map of another length than the build range asks for, or with a height beyond it, is left out: the game does the
/// same and makes it again.
pub(super) fn read(layout: &Layout<'_>, min_section: i32, dimension: &Dimension) -> Heightmaps {
    let mut heightmaps = Heightmaps::default();
    if min_section != dimension.min_section() {
        return heightmaps;
    }
    let Some(stored) = layout.body.field("Heightmaps") else { return heightmaps };
    let height = (dimension.max_y() - dimension.min_y()) as usize;
    let bits = bits_for(height + 1, 1);
    for kind in HeightmapKind::ALL {
        let Some(longs) = stored.field(kind.name()).and_then(|map| map.long_array()) else { continue };
        if longs.len() != long_count(256, bits, layout.straddling) {
            continue;
        }
        let mut map = Box::new([0_u16; 256]);
        unpack(longs, bits, layout.straddling, map.as_mut_slice());
        if map.iter().all(|top| usize::from(*top) <= height) {
            heightmaps.set(kind, Some(map));
        }
    }
    heightmaps
}

/// Writes a heightmap of a build range of `height` blocks.
pub(super) fn write(map: &Heightmap, height: usize, straddling: bool, writer: &mut NbtWriter<'_>) {
    let mut words = Vec::new();
    pack(map, bits_for(height + 1, 1), straddling, &mut words);
    writer.long_array(words.into_iter());
}

/// One bit for each kind of heightmap.
const EVERY_KIND: u8 = 0b1111;

/// Makes all four heightmaps of a chunk from its blocks, as the game does when it finishes a chunk.
///
/// ```
/// use voxtick_anvil::chunk::compute_heightmaps;
/// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, HeightmapKind};
/// let states = BlockStates::load();
/// let mut chunk = Chunk::empty(ChunkPos::new(0, 0), &Dimension::overworld());
/// let [stone, leaves] = ["stone", "oak_leaves"].map(|name| states.default_state(name).expect("a known block"));
/// chunk.set_block(3, 70, 5, stone, &states);
/// chunk.set_block(3, 75, 5, leaves, &states);
/// let heightmaps = compute_heightmaps(&chunk, &states);
/// let height = |kind| heightmaps.map(kind).expect("all are made")[5 * 16 + 3];
/// assert_eq!(height(HeightmapKind::WorldSurface), 75 + 1 + 64);
/// assert_eq!(height(HeightmapKind::MotionBlockingNoLeaves), 70 + 1 + 64);
/// ```
#[must_use]
pub fn compute(chunk: &Chunk, states: &BlockStates) -> Heightmaps {
    let mut maps = HeightmapKind::ALL.map(|_| Box::new([0_u16; 256]));
    let mut indices = Box::new([0_u16; SECTION_CELLS]);
    // For each column the kinds that are still to be found, one bit a kind.
    let mut wanted = [EVERY_KIND; 256];
    let mut columns_left = 256;
    for (index, section) in chunk.sections().iter().enumerate().rev() {
        let kinds: Vec<u8> = section.palette().iter().map(|state| kinds_of(*state, states)).collect();
        if kinds.iter().all(|kinds| *kinds == 0) {
            continue;
        }
        section.unpack_indices(&mut indices);
        for (y, layer) in indices.chunks_exact(256).enumerate().rev() {
            for (column, (cell, wanted)) in layer.iter().zip(&mut wanted).enumerate() {
                let found = kinds[usize::from(*cell)] & *wanted;
                if found == 0 {
                    continue;
                }
                let top = (index * SECTION_EDGE + y + 1) as u16;
                for (kind, map) in maps.iter_mut().enumerate() {
                    if found >> kind & 1 == 1 {
                        map[column] = top;
                    }
                }
                *wanted &= !found;
                columns_left -= usize::from(*wanted == 0);
            }
            if columns_left == 0 {
                break;
            }
        }
        if columns_left == 0 {
            break;
        }
    }
    let mut heightmaps = Heightmaps::default();
    for (kind, map) in HeightmapKind::ALL.into_iter().zip(maps) {
        heightmaps.set(kind, Some(map));
    }
    heightmaps
}

/// Which heightmaps a state counts for, one bit a kind.
fn kinds_of(state: StateId, states: &BlockStates) -> u8 {
    let stops = states.blocks_motion(state);
    let stops_or_fluid = stops || !states.fluid(state).is_none();
    HeightmapKind::ALL.iter().fold(0, |bits, kind| {
        let counts = match kind {
            HeightmapKind::WorldSurface => !states.is_air(state),
            HeightmapKind::OceanFloor => stops,
            HeightmapKind::MotionBlocking => stops_or_fluid,
            HeightmapKind::MotionBlockingNoLeaves => stops_or_fluid && !states.is_leaves(state),
        };
        bits | u8::from(counts) << (*kind as u8)
    })
}
