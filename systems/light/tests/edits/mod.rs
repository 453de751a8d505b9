//! Random changes of blocks.

use voxtick_worlds::{BlockPos, ChunkPos, StateId, World};

use crate::worlds::{below, corpus};

/// One block to change.
pub(crate) struct Edit {
    pub(crate) at: BlockPos,
    pub(crate) state: StateId,
}

/// Changes at random places of `world`, half of them to air.
pub(crate) fn random_edits(seed: u64, world: &World, count: usize) -> Vec<Edit> {
    let random = &mut { !seed };
    let corpus = corpus(world.states());
    let chunks: Vec<ChunkPos> = world.chunk_positions().collect();
    let dimension = world.dimension();
    let height = (dimension.max_y() - dimension.min_y()) as usize;
    (0..count)
        .map(|_| {
            let chunk = chunks[below(random, chunks.len())];
            let x = chunk.x * 16 + below(random, 16) as i32;
            let z = chunk.z * 16 + below(random, 16) as i32;
            let y = dimension.min_y() + below(random, height) as i32;
            let state =
                if below(random, 2) == 0 { StateId::AIR } else { corpus[below(random, corpus.len())] };
            Edit { at: BlockPos::new(x, y, z), state }
        })
        .collect()
}
