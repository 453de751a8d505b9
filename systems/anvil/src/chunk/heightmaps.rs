//! Heightmaps: 256 packed heights a kind.

use super::layout::Layout;
use super::packed::{bits_for, long_count, unpack};
use voxtick_worlds::{Dimension, HeightmapKind, Heightmaps};

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
