//! Which parts of a network lie in chunks that are loaded.

use rustc_hash::FxHashSet;
use voxtick_worlds::ChunkPos;

use crate::network::Segment;

/// The chunks that a segment crosses, from its low to its high end.
pub(crate) fn chunks_of(segment: &Segment) -> impl Iterator<Item = ChunkPos> + use<> {
    let (low, high) = (segment.low.chunk(), segment.high.chunk());
    (low.x..=high.x).flat_map(move |x| (low.z..=high.z).map(move |z| ChunkPos::new(x, z)))
}

/// True where no chunk that the segment crosses is unloaded.
pub(crate) fn is_loaded(segment: &Segment, unloaded: &FxHashSet<ChunkPos>) -> bool {
    unloaded.is_empty() || chunks_of(segment).all(|chunk| !unloaded.contains(&chunk))
}
