//! Region files and chunks of Minecraft Java worlds (Anvil), lossless and confined in damage.
//!
//! | layer | what it does |
//! |---|---|
//! | [`files`] | the few calls made to a file system, behind a trait |
//! | [`region`] | region files: 1,024 entries, each with a verdict of its own |
//! | [`compression`] | gzip, zlib, LZ4 and none, with caps |
//! | [`nbt`] | NBT read in place |
//! | [`chunk`] | the chunk codec: between NBT and the columns of `voxtick-worlds` |
//! | [`save`] | the folders of a save and the regions in them |
//! | [`load`] | many chunks at once |
//! | [`io`] | loads and saves on threads of their own |
//! | [`verify_region`] | a verdict for each entry of a region |
//!
//! The crate stands alone: nothing but [`AnvilPlugin`] knows of a simulation.

pub mod chunk;
pub mod compression;
pub mod files;

mod limits;
pub mod load;
pub mod nbt;
mod plugin;
pub mod region;
pub mod save;
mod verify;

pub use chunk::{
    ChunkDecoder, ChunkEncoder, DecodeChunkError, DecodeSectionError, Decoded, EncodeChunkError, Notice,
};
pub use limits::Limits;
pub use load::{LoadChunkError, LoadRegionError, RegionLoad, load_chunks, load_region, load_region_file};
pub use plugin::io;
pub use plugin::{AnvilPlugin, ChunkLoading, ChunkStorage, IntakeBudget, StorageFailure, StoragePlugin};
pub use save::{Save, SaveError};
pub use verify::{RegionReport, Verdict, cause_of, stray_external_files, verify_region};
