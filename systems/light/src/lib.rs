//! Block and sky light, exact to Minecraft Java Edition.
mod area;
mod chunks;
mod columns;
mod compare;
mod edges;
mod edit;
mod facts;
mod lighting;
mod masks;
mod opacity;
mod parallel;
mod plugin;
pub mod reference;
mod section;
mod simd;
mod sources;
mod spread;
mod working;

pub use chunks::ChunkLighter;
pub use facts::{LightFacts, MAX_LEVEL};
pub use lighting::{LightOutcome, Lighting};
pub use plugin::LightPlugin;
pub use section::{light_section, light_section_with};
pub use simd::Width;
