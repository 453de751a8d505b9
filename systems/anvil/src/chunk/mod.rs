//! The chunk codec: from a stored chunk to [`Chunk`](voxtick_worlds::Chunk) and back.
//!
//! Reads what Minecraft Java 1.13 (DataVersion 1519) and later write. What this project does not model stays with the
//! chunk as it was stored, compressed, in [`Chunk::unmodelled`](voxtick_worlds::Chunk::unmodelled).

mod attachments;
mod biomes;
mod decode;
mod encode;
mod error;
mod fresh;
mod heightmaps;
mod layout;
mod light_edits;
mod old_names;
mod packed;
mod palette;
mod palette_entries;
pub(crate) mod patch;
mod section_edits;
mod sections;

pub use decode::{ChunkDecoder, Decoded, Notice};
pub use encode::{ChunkEncoder, EncodeChunkError};
pub use error::{DecodeChunkError, DecodeSectionError};
pub(crate) use fresh::NEW_DATA_VERSION;
pub use heightmaps::compute as compute_heightmaps;
pub use layout::OLDEST_DATA_VERSION;
pub use packed::{pack as pack_indices, unpack as unpack_indices};
