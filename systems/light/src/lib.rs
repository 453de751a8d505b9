//! Block and sky light, exact to Minecraft Java Edition 1.16 onward.
//!
//! | what you have | what to call |
//! |---|---|
//! | one closed section as a mask | [`light_section`] |
//! | some chunks, to be lit from nothing | [`ChunkLighter`], or [`relight`] and [`Relighter`] on many threads |
//! | a [`World`](voxtick_worlds::World) whose blocks and chunks change | [`Lighting`] |
//! | a simulation | [`LightPlugin`] |
//! | stored light that may be wrong | [`check`] |
//!
//! One section:
//!
//! ```
//! use voxtick_light::light_section;
//! // A wall at x = 4, from bottom to top, and a torch (level 14) west of it.
//! let wall = [0x0010_0010_0010_0010; 64];
//! let torch = (8 * 256 + 8 * 16 + 2, 14);
//! let mut levels = [0; 2048];
//! light_section(&wall, &[torch], &mut levels);
//! let level = |x: usize| levels[(8 * 256 + 8 * 16 + x) / 2] >> (x % 2 * 4) & 15;
//! assert_eq!([level(2), level(3), level(4), level(5)], [14, 13, 0, 0]);
//! ```
//!
//! A world, without the engine:
//!
//! ```
//! use voxtick_light::Lighting;
//! use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, LightChannel, World};
//! let mut world = World::new(Dimension::overworld(), BlockStates::load());
//! world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
//! let mut lighting = Lighting::new();
//! lighting.update(&mut world);
//!
//! let stone = world.states().parse("stone")?;
//! world.set_block(BlockPos::new(8, 254, 8), stone)?;
//! let outcome = lighting.update(&mut world);
//! // The stone is dark, and the 318 cells under it see the sky from their sides alone.
//! assert_eq!(outcome.cells_changed, 319);
//! let light = world.chunk(ChunkPos::new(0, 0)).and_then(|chunk| chunk.light.as_ref()).expect("lit");
//! assert_eq!(light.level(LightChannel::Sky, 6, BlockPos::new(8, 100, 8).cell()), 14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//! The cells at least as bright as a level are one mask, 4,096 bits a section. A step from one level to the next widens
//! the mask to the neighbours and cuts it back to the cells that light enters: a few operations on words of 64 cells,
//! however many sources there are. Faces of slabs and stairs are masks of closed edges. Sky sources are masks ANDed
//! downwards. Whole areas go through the 15 levels together, across the borders of sections and chunks, so that nothing
//! is exchanged in rounds; changes go through them too, but only where the masks differ from those of the stored light.
//!
//! The plain queue flood fill in [`mod@reference`] is the oracle of the tests and the other side of
//! `voxtick measure light`.
//!
//! # What holds
//! - The light of a world depends on its loaded chunks alone: not on the order of loading or of changes, on threads, or
//!   on the instructions of the processor ([`Width`]).
//! - It is the light that the game stores, cell by cell, in real regions of 1.19.4 and 1.21, save where the game itself
//!   failed to carry light across a chunk's edge.
//! - A steady tick of changed blocks does not allocate.

mod area;
mod check;
mod chunks;
mod columns;
mod compare;
mod edges;
mod edit;
mod facts;
mod independent;
mod lighting;
mod masks;
mod opacity;
mod parallel;
mod plugin;
pub mod reference;
mod rows;
mod section;
mod sides;
mod simd;
mod sources;
mod spread;
mod working;

pub use check::{ChannelCheck, Differences, DifferingCell, LightCheck, check, check_chunks};
pub use chunks::ChunkLighter;
pub use facts::{LightFacts, MAX_LEVEL};
pub use lighting::{LightOutcome, Lighting};
pub use parallel::{Relighter, relight};
pub use plugin::{LightCentre, LightPlugin};
pub use section::{light_section, light_section_with};
pub use simd::Width;
