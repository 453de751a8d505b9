//! The whole of voxtick under one name.
#![doc = include_str!("../README.md")]

pub use bevy_ecs;
/// Region files and chunks.
pub use voxtick_anvil as anvil;
/// Dropped items.
pub use voxtick_bodies as bodies;
/// Ticks, stages, timings, sinks.
pub use voxtick_engine as engine;
/// Block and sky light.
pub use voxtick_light as light;
/// Pipes and the items in them.
pub use voxtick_transit as transit;
/// What a world is: positions, block states, sections, chunks, items, generators.
pub use voxtick_worlds as worlds;

/// What most programs need.
pub mod prelude {
    pub use bevy_ecs::prelude::{Res, ResMut, Resource};
    pub use voxtick_engine::{
        BuildError, Meter, Plugin, Pool, Rate, Seed, Setup, Simulation, Stage, StateHasher, Summary, Tick,
        TickError, TickReport,
    };
    pub use voxtick_worlds::{
        BlockPos, BlockStates, Chunk, ChunkPos, Dimension, Direction, ItemKind, ItemStack, Ledger, Section,
        StateId, World, WorldsPlugin, stages,
    };
}
