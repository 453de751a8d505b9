//! What a voxel world is: positions, block states, sections, chunks, items.
mod items;
mod positions;
pub mod stages;
mod states;

pub use items::{ItemKind, ItemStack, Ledger};
pub use positions::{
    BlockPos, ChunkPos, Direction, REGION_EDGE, RegionPos, SECTION_CELLS, SECTION_EDGE, SectionPos,
};
pub use states::{
    BlockStates, CollisionBox, FaceMask, FaceMaskId, Fluid, MotionClass, ParseStateError, Properties,
    ResolveStateError, StateId, UnknownFactsError,
};
