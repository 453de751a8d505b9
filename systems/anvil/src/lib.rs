//! Region files and chunks of Minecraft Java worlds (Anvil), lossless and confined in damage.
//!
//! | layer | what it does |
//! |---|---|
//! | [`files`] | the few calls made to a file system, behind a trait |
//! | [`region`] | region files: 1,024 entries, each with a verdict of its own |
//! | [`compression`] | gzip, zlib, LZ4 and none, with caps |
//! | [`nbt`] | NBT read in place |
//! | [`chunk`] | the chunk codec: between NBT and the columns of `voxtick-worlds` |
//! | [`entities`] | dropped items in a chunk's entities, all others kept as they are |
//! | [`save`] | the folders of a save and the regions in them |
//! | [`linear`] | the Linear region format |
//! | [`convert`] | between compressions and formats |
//! | [`load`] | many chunks at once |
//! | [`mod@reference`] | the codec's work done plainly: the oracle of the tests |
//! | [`verify_region`] | a verdict for each entry of a region |
//!
//! The crate stands alone: only [`StoragePlugin`] knows of a simulation. A block changed in a file:
//!
//! ```
//! use voxtick_anvil::compression::{Compression, Packer};
//! use voxtick_anvil::region::{Overwrite, Region, StoredChunk};
//! use voxtick_anvil::{ChunkDecoder, ChunkEncoder, Limits};
//! use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("r.0.0.mca");
//! let (states, dimension, limits) = (BlockStates::load(), Dimension::overworld(), Limits::default());
//! let mut encoder = ChunkEncoder::new(dimension.clone(), states.clone(), limits, Packer::new());
//! let region = Region::open_for_writing(&path)?;
//! let position = ChunkPos::new(3, 4);
//! # let new = Chunk::empty(position, &dimension);
//! # let payload = encoder.encode(&new, Compression::Zlib)?.expect("it is new");
//! # region.write(position, Compression::Zlib, payload, 0, Overwrite::Sound)?;
//!
//! // Read it: damage is an error that names file, chunk and cause, and never absence.
//! let mut stored = StoredChunk::default();
//! assert!(region.read(position, &mut stored, &limits)?);
//! let mut decoder = ChunkDecoder::new(dimension, states.clone(), limits);
//! let mut chunk = decoder.decode(position, &stored)?.chunk;
//!
//! // Change it, and write what has changed: all else stays byte for byte.
//! chunk.set_block(7, 64, 7, states.parse("lantern[hanging=true]")?, &states);
//! if let Some(payload) = encoder.encode(&chunk, Compression::Zlib)? {
//!     region.write(position, Compression::Zlib, payload, 1_700_000_000, Overwrite::Sound)?;
//! }
//! region.flush()?;
//! # Ok(()) }
//! ```
//!
//! What was written is durable after [`region::Region::flush`]; [`region::Durability`] says what else can be chosen.

pub mod chunk;
pub mod compression;
pub mod convert;
pub mod entities;
pub mod files;

mod limits;
pub mod linear;
pub mod load;
pub mod nbt;
mod plugin;
pub mod reference;
pub mod region;
pub mod save;
mod verify;

pub use chunk::{
    ChunkDecoder, ChunkEncoder, DecodeChunkError, DecodeSectionError, Decoded, EncodeChunkError, Notice,
};
pub use limits::Limits;
pub use load::{LoadChunkError, LoadRegionError, RegionLoad, load_chunks, load_region, load_region_file};
pub use plugin::{
    ChunkStorage, SaveCause, SaveChunkError, StorageFailure, StoragePlugin, StorageSettings, StorageTimes,
};
pub use save::{Save, SaveError};
pub use verify::{RegionReport, Verdict, cause_of, stray_external_files, verify_region};
