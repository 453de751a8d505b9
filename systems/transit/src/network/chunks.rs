//! Which pipes lie in which chunk, so that what a chunk calls for costs what lies in it.

use rustc_hash::FxHashMap;
use voxtick_worlds::ChunkPos;

use super::key;
use super::{NONE, SegmentedGraph};

/// Node numbers by chunk; each node knows its place in the list of its chunk.
#[derive(Debug, Clone, Default)]
pub(super) struct ByChunk(FxHashMap<ChunkPos, Vec<u32>>);

impl ByChunk {
    /// Lists a node; returns its place.
    pub(super) fn insert(&mut self, key: u64, node: u32) -> u32 {
        let list = self.0.entry(key::unpack(key).chunk()).or_default();
        list.push(node);
        (list.len() - 1) as u32
    }

    /// Takes the node at `place` off the list; returns the node that has taken its place.
    pub(super) fn remove(&mut self, key: u64, place: u32) -> Option<u32> {
        let chunk = key::unpack(key).chunk();
        let list = self.0.get_mut(&chunk)?;
        list.swap_remove(place as usize);
        let moved = list.get(place as usize).copied();
        if list.is_empty() {
            self.0.remove(&chunk);
        }
        moved
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.capacity() * 33 + self.0.values().map(|list| list.capacity() * 4).sum::<usize>()
    }
}

impl SegmentedGraph {
    /// The nodes that lie in a chunk, in no order.
    pub(crate) fn nodes_in(&self, chunk: ChunkPos) -> &[u32] {
        self.by_chunk.0.get(&chunk).map_or(&[], Vec::as_slice)
    }

    /// The runs that are segments and pass through or end in a chunk, each once.
    pub(crate) fn segments_in(&self, chunk: ChunkPos) -> Vec<u32> {
        let mut runs = Vec::new();
        for &node in self.nodes_in(chunk) {
            match self.through(node) {
                Some(axis) => runs.push(self.run_through(node, axis)),
                None => runs.extend(self.node(node).arms.iter().copied().filter(|&run| run != NONE)),
            }
        }
        runs.retain(|&run| self.run(run).closed);
        runs.sort_unstable();
        runs.dedup();
        runs
    }
}
