//! The Linear region format: a whole region in a few zstd streams instead of a record a chunk.
//!
//! Half the bytes of Anvil, at the price of rewriting the whole file for every change, which suits worlds at rest.
//! [`LinearRegion`] is what a file holds, [`LinearFile`] the file that is read and written chunk by chunk.
//! Versions 1 and 2 are read, version 2 is written. All numbers are big-endian; the same magic begins and ends a file.
//!
//! Version 1: head of 32 bytes; one stream of 1,024 pairs of size and time stamp, then the chunks' NBT in that order.
//! Version 2 (numbered 3 in the file): head of 26 bytes with the size of a grid of buckets; a bit for each chunk; named
//! numbers; size, level and xxHash64 of each bucket; a stream for each bucket with size, time stamp and NBT of its
//! chunks.

mod buckets;
mod file;

pub use file::LinearFile;

use crate::Limits;
use crate::region::{ENTRIES, entry_of};
use buckets::{Bucket, DamagedBucket, Places};
use voxtick_worlds::{ChunkPos, RegionPos};

const MAGIC: [u8; 8] = [0xC3, 0xFF, 0x13, 0x18, 0x3C, 0xCA, 0x9D, 0x9A];
const V1_HEAD: usize = 32;
/// Bytes that a whole region may inflate to.
const TOTAL_LIMIT: usize = 1 << 30;

/// A region out of, or for, a Linear file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearRegion {
    /// Which region it is; version 1 does not say.
    pub position: Option<RegionPos>,
    chunks: Vec<Option<LinearChunk>>,
    damaged: Vec<DamagedBucket>,
}

/// A chunk of a Linear region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearChunk {
    /// Its NBT, not compressed.
    pub nbt: Vec<u8>,
    /// When it was written, in seconds since 1970.
    pub timestamp: u64,
}

/// Why bytes are no Linear region that may be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
    /// The file does not begin or end as it should.
    #[error(
        "the file does not begin and end with the mark of the Linear format; it is cut off or another format"
    )]
    Magic,
    /// The file has more bytes than all that it may inflate to.
    #[error("the file has {length} bytes; a Linear file has at most 1 GiB")]
    TooLarge {
        /// Its bytes.
        length: u64,
    },
    /// The file says that it is another region than its name.
    #[error("the file says that it is region {}, {}; rename it", found.x, found.z)]
    Elsewhere {
        /// What it says.
        found: RegionPos,
    },
    /// There is no such version.
    #[error("the file has version {version} of the Linear format; 1 and 3 (v2) are known")]
    Version {
        /// The number found.
        version: u8,
    },
    /// The file ends within its head.
    #[error("the file ends within its head")]
    HeadCut,
    /// The grid is impossible.
    #[error("the file has a grid of {grid} x {grid} buckets; 1, 2, 4, 8, 16 and 32 are possible")]
    Grid {
        /// The number found.
        grid: u8,
    },
    /// A bucket ends beyond the file, which makes all of it unreadable, or its hash is another.
    #[error("bucket {bucket} is damaged")]
    Bucket {
        /// The bucket.
        bucket: usize,
    },
    /// A stream cannot be inflated.
    #[error("the stream of bucket {bucket} is damaged or inflates to more than {limit} bytes")]
    Stream {
        /// The bucket; 0 in version 1.
        bucket: usize,
        /// Bytes that are allowed.
        limit: usize,
    },
    /// The sizes of chunks do not fit what was inflated.
    #[error("the sizes of the chunks in bucket {bucket} do not fit what it holds")]
    Sizes {
        /// The bucket; 0 in version 1.
        bucket: usize,
    },
    /// The file says of a chunk that it exists and does not have it, or the other way round.
    #[error("chunk entry {entry} exists by the head and not by its bucket, or the other way round")]
    Existence {
        /// The entry.
        entry: usize,
    },
    /// A region with a damaged bucket, which is kept as it is, cannot have another grid.
    #[error(
        "bucket {bucket} is damaged and can be written only into the grid of {grid} x {grid} that it is from"
    )]
    KeepsGrid {
        /// The bucket.
        bucket: usize,
        /// The grid of the file that it is from.
        grid: u8,
    },
}

impl LinearRegion {
    /// Buckets along the edge of a file: the number that the format's own tools use.
    pub const DEFAULT_GRID: u8 = 8;
    /// The level of zstd that files are packed at.
    pub const DEFAULT_LEVEL: i32 = 6;

    /// A region without chunks.
    #[must_use]
    pub fn new(position: RegionPos) -> LinearRegion {
        LinearRegion { position: Some(position), chunks: vec![None; ENTRIES], damaged: Vec::new() }
    }

    /// What is wrong with the chunk at a position, which is taken modulo the region: its bucket cannot be read. It is
    /// neither there nor absent then.
    #[must_use]
    pub fn damage(&self, position: ChunkPos) -> Option<&LinearError> {
        let entry = entry_of(position);
        self.damaged.iter().find(|bucket| bucket.entries.contains(&entry)).map(|bucket| &bucket.cause)
    }

    /// The chunk at a position, which is taken modulo the region.
    #[must_use]
    pub fn chunk(&self, position: ChunkPos) -> Option<&LinearChunk> {
        self.chunks[entry_of(position)].as_ref()
    }

    /// Puts a chunk in its place.
    pub fn set_chunk(&mut self, position: ChunkPos, chunk: Option<LinearChunk>) {
        self.chunks[entry_of(position)] = chunk;
    }

    /// The chunks that there are, each with its place within the region.
    pub fn chunks(&self) -> impl Iterator<Item = (usize, &LinearChunk)> {
        self.chunks.iter().enumerate().filter_map(|(entry, chunk)| Some((entry, chunk.as_ref()?)))
    }

    /// Reads a file of either version.
    ///
    /// Damage in one bucket of version 2 concerns the chunks in it, about which [`LinearRegion::damage`] tells; the bucket
    /// is kept as it is.
    ///
    /// # Errors
    /// [`LinearError`] where the file as a whole cannot be read. Version 1 has no place where damage could be confined.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<LinearRegion, LinearError> {
        LinearRegion::read_with_places(bytes, limits).map(|(region, _)| region)
    }

    /// As [`LinearRegion::read`]; tells too where the buckets lie, if there are any.
    fn read_with_places(
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<(LinearRegion, Option<Places>), LinearError> {
        if bytes.len() < buckets::HEAD + 8 || !bytes.starts_with(&MAGIC) || !bytes.ends_with(&MAGIC) {
            return Err(LinearError::Magic);
        }
        let body = &bytes[..bytes.len() - MAGIC.len()];
        match body[8] {
            1 | 2 => Ok((read_v1(body, limits)?, None)),
            3 => buckets::read(body, limits).map(|(region, places)| (region, Some(places))),
            version => Err(LinearError::Version { version }),
        }
    }

    /// Writes a file of version 2 with `grid` x `grid` buckets, packed at a zstd level.
    ///
    /// ```
    /// use voxtick_anvil::{Limits, linear::{LinearChunk, LinearRegion}};
    /// use voxtick_worlds::{ChunkPos, RegionPos};
    /// let mut region = LinearRegion::new(RegionPos::new(0, -1));
    /// region.set_chunk(ChunkPos::new(3, -1), Some(LinearChunk { nbt: vec![10, 0, 0, 0], timestamp: 7 }));
    /// let bytes = region.write(8, 3)?;
    /// assert_eq!(LinearRegion::read(&bytes, &Limits::default())?, region);
    /// # Ok::<(), voxtick_anvil::linear::LinearError>(())
    /// ```
    ///
    /// # Errors
    /// If the grid is impossible, or another than that of a damaged bucket.
    pub fn write(&self, grid: u8, level: i32) -> Result<Vec<u8>, LinearError> {
        if !buckets::is_grid(grid) {
            return Err(LinearError::Grid { grid });
        }
        if let Some(damaged) = self.damaged.iter().find(|damaged| damaged.grid != grid) {
            return Err(LinearError::KeepsGrid { bucket: damaged.number, grid: damaged.grid });
        }
        let newest = self.chunks().map(|(_, chunk)| chunk.timestamp).max().unwrap_or(0);
        let packed: Result<Vec<Bucket>, LinearError> = (0..buckets::bucket_count(grid))
            .map(|number| {
                if let Some(damaged) = self.damaged.iter().find(|damaged| damaged.number == number) {
                    return Ok(damaged.bucket.clone());
                }
                let chunks = buckets::entries_of(number, grid).map(|entry| {
                    let chunk = self.chunks[entry].as_ref()?;
                    Some((chunk.nbt.as_slice(), chunk.timestamp))
                });
                Bucket::pack(number, chunks, level)
            })
            .collect();
        let damaged = self.damaged.iter().flat_map(|damaged| damaged.named.iter().copied());
        let present = self.chunks().map(|(entry, _)| entry).chain(damaged);
        Ok(buckets::assemble(self.position.unwrap_or_default(), newest, present, grid, &packed?).0)
    }
}

fn read_v1(body: &[u8], limits: &Limits) -> Result<LinearRegion, LinearError> {
    let stream = body.get(V1_HEAD..).ok_or(LinearError::HeadCut)?;
    let plain = buckets::inflate(stream, 0, TOTAL_LIMIT)?;
    let sizes = LinearError::Sizes { bucket: 0 };
    let (head, mut rest) = plain.split_at_checked(ENTRIES * 8).ok_or_else(|| sizes.clone())?;
    let mut chunks = Vec::with_capacity(ENTRIES);
    for entry in head.chunks_exact(8) {
        let (length, timestamp) = (number(entry) as usize, u64::from(number(&entry[4..])));
        let (nbt, after) = rest.split_at_checked(length).ok_or_else(|| sizes.clone())?;
        if length > limits.inflated {
            return Err(sizes);
        }
        chunks.push((length > 0).then(|| LinearChunk { nbt: nbt.to_vec(), timestamp }));
        rest = after;
    }
    Ok(LinearRegion { position: None, chunks, damaged: Vec::new() })
}

/// The four bytes that `bytes` begins with, 0 where there are fewer.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |word| u32::from_be_bytes(*word))
}
