//! Region files: 32 x 32 chunks in one file, found through a header of 1,024 entries.
//!
//! Any number of threads read a region without a lock, while one at a time writes. A chunk's record is written to free
//! sectors and made durable before the header points at it, and only then its former sectors are free: a crash leaves
//! each chunk as it was or as it became.
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
mod write;

pub use cache::{FlushFolderError, RegionFolder};
pub use damage::Damage;
pub use file::{OpenRegionError, Region, RegionOptions};
pub use flush::FlushError;
pub use name::{RegionNameError, external_file_name, region_file_name, region_of_path};
pub use read::{ReadChunkError, StoredChunk};
pub use rewrite::{CompactError, Compaction, SetAsideError, compact_region};
pub use write::{Durability, Overwrite, WriteChunkError};

use voxtick_worlds::{ChunkPos, REGION_EDGE, RegionPos};

/// Bytes of a sector, the unit in which a region file is handed out.
pub const SECTOR: usize = 4096;
/// Entries of a region file.
pub const ENTRIES: usize = REGION_EDGE * REGION_EDGE;
/// Bytes of the header: one location and one time stamp an entry.
pub const HEADER: usize = 2 * SECTOR;

/// The entry that a chunk has in its region's header.
fn entry_of(chunk: ChunkPos) -> usize {
    let edge = REGION_EDGE as i32;
    (chunk.z.rem_euclid(edge) * edge + chunk.x.rem_euclid(edge)) as usize
}

/// The chunk that an entry of a region's header stands for.
fn chunk_of(region: RegionPos, entry: usize) -> ChunkPos {
    let edge = REGION_EDGE as i32;
    let entry = entry as i32;
    ChunkPos::new(region.x.wrapping_mul(edge) + entry % edge, region.z.wrapping_mul(edge) + entry / edge)
}
