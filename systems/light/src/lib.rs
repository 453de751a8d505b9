//! Block and sky light, exact to Minecraft Java Edition.
mod facts;
mod lighting;
mod plugin;
pub mod reference;

pub use facts::{LightFacts, MAX_LEVEL};
pub use lighting::{LightOutcome, Lighting};
pub use plugin::LightPlugin;
