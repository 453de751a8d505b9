//! What a voxel world is: positions, block states, sections, chunks, items.
//!
//! A [`World`] holds the loaded [`Chunk`]s of one dimension; a chunk is a column of [`Section`]s; a section stores 4,096
//! [`StateId`]s as a palette and packed indices, shared until written to. [`BlockStates`] gives each state its name and
//! its facts (light, shape, fluid) as columns. [`generators`] make worlds from a seed, and [`ItemStack`]s with their
//! [`Ledger`] are what bodies and pipes move. Nothing here needs a running simulation.
//!
//! ```
//! use voxtick_worlds::generators::{Hills, generate, square};
//! use voxtick_worlds::{BlockPos, BlockStates, Dimension, World};
//!
//! let states = BlockStates::load();
//! let hills = Hills::new(7, &states)?;
//! let mut world = World::new(Dimension::overworld(), states);
//! for chunk in generate(&hills, &square(2), world.dimension()) {
//!     world.insert_chunk(chunk);
//! }
//! let lantern = world.states().parse("lantern[hanging=true]")?;
//! world.set_block(BlockPos::new(0, 100, 0), lantern)?;
//! assert_eq!(world.block(BlockPos::new(0, 100, 0)), Some(lantern));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attachments;
mod biomes;
mod changes;
mod chunk;
mod dimension;
mod dropped_items;
pub mod generators;
mod heightmaps;
mod inlets;
mod inventories;
mod items;
mod light;
mod packed;
mod palette;
mod plugin;
mod positions;
mod section;
mod spills;
pub mod stages;
mod states;
mod words;
mod world;

pub use attachments::{AttachmentHooks, Attachments, ChunkAttachments, RefusedAttachment};
pub use biomes::{BIOME_CELLS, BiomeError, BiomeSection, Biomes};
pub use changes::{BlockChange, ChangeCursor, Changes, ChunkEvent};
pub use chunk::{Chunk, ChunkStatus, Unmodelled};
pub use dimension::{Dimension, DimensionError, MAX_SECTIONS};
pub use dropped_items::{DroppedItem, DroppedItemHooks, ItemKinds, OnlyKinds};
pub use heightmaps::{Heightmap, HeightmapKind, Heightmaps};
pub use inlets::{PipeEntry, PipeIntake};
pub use inventories::{ContainerId, Inventories, InventoryError, MAX_SLOTS};
pub use items::{ItemKind, ItemStack, Ledger};
pub use light::{ChunkLight, LightChannel, LightLevels, NIBBLE_BYTES};
pub use palette::PaletteEncoder;
pub use plugin::WorldsPlugin;
pub use positions::{
    BlockPos, ChunkPos, Direction, REGION_EDGE, RegionPos, SECTION_CELLS, SECTION_EDGE, SectionPos,
};
pub use section::{CellMask, Run, Section, SectionError};
pub use spills::SpilledItem;
pub use states::{
    BlockStates, CollisionBox, FaceMask, FaceMaskId, Fluid, MotionClass, ParseStateError, Properties,
    ResolveStateError, StateId, UnknownFactsError,
};
pub use words::{pack_words, unpack_longs};
pub use world::{BatchOutcome, SetBlockError, World};
