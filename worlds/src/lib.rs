//! What a voxel world is: positions, block states, sections, chunks, items.
mod items;
mod positions;
pub mod stages;

pub use items::{ItemKind, ItemStack, Ledger};
pub use positions::{
    BlockPos, ChunkPos, Direction, REGION_EDGE, RegionPos, SECTION_CELLS, SECTION_EDGE, SectionPos,
};
