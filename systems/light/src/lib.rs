//! Block and sky light, exact to Minecraft Java Edition.
mod facts;
pub mod reference;

pub use facts::{LightFacts, MAX_LEVEL};
