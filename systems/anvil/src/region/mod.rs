//! Region files: 32 x 32 chunks in one file, found through a header of 1,024 entries.
//!
//! Any number of threads read a region without a lock, while one at a time writes. A chunk's record is written to free
//! sectors and made durable before the header points at it, and only then its former sectors are free: a crash leaves
//! each chunk as it was or as it became.
//!
//! [`RegionStore`] is what this format and Linear have in common, and [`RegionFolder`] opens either.
//!
//! Every entry has a verdict of its own. What is wrong with one entry never makes another unreadable, and is never
//! read as the chunk's absence.

mod cache;
mod damage;
mod entry;
mod file;
mod flush;
mod header;
mod name;
mod read;
mod record;
mod rewrite;
mod sectors;
mod store;
mod write;

pub use cache::{FlushFolderError, RegionFolder};
pub use damage::Damage;
pub use file::{OpenRegionError, Region, RegionOptions, open_region};
pub use flush::FlushError;
pub use name::{RegionNameError, external_file_name, region_file_name, region_of_path};
pub use read::{ReadChunkError, StoredChunk};
pub(crate) use rewrite::write_durably;
pub use rewrite::{CompactError, Compaction, SetAsideError, compact_region};
pub(crate) use write::check_content;

pub use store::{RegionFormat, RegionStore};
pub use write::{Durability, Overwrite, WriteChunkError};

use voxtick_worlds::{ChunkPos, REGION_EDGE, RegionPos};

/// Bytes of a sector, the unit in which a region file is handed out.
pub const SECTOR: usize = 4096;
/// Entries of a region file.
pub const ENTRIES: usize = REGION_EDGE * REGION_EDGE;
/// Bytes of the header: one location and one time stamp an entry.
pub const HEADER: usize = 2 * SECTOR;

/// The entry that a chunk has in its region's header.
pub(crate) fn entry_of(chunk: ChunkPos) -> usize {
    chunk.region_entry()
}

/// The chunk that an entry of a region's header stands for.
pub(crate) fn chunk_of(region: RegionPos, entry: usize) -> ChunkPos {
    let edge = REGION_EDGE as i32;
    let entry = entry as i32;
    ChunkPos::new(region.x.wrapping_mul(edge) + entry % edge, region.z.wrapping_mul(edge) + entry / edge)
}
