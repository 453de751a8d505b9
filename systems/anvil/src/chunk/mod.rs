//! The chunk codec: from a stored chunk to [`Chunk`](voxtick_worlds::Chunk).
//!
//! Reads what Minecraft Java 1.13 (DataVersion 1519) and later write. What this project does not model stays with the
//! chunk as it was stored, compressed, in [`Chunk::unmodelled`](voxtick_worlds::Chunk::unmodelled).

mod biomes;
mod decode;
mod error;
mod heightmaps;
mod layout;
mod packed;
mod palette;
mod sections;

pub use decode::{ChunkDecoder, Decoded, Notice};
pub use error::{DecodeChunkError, DecodeSectionError};
pub use layout::OLDEST_DATA_VERSION;
