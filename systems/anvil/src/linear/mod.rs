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

mod file;

pub use file::LinearFile;

use crate::Limits;
use crate::region::{ENTRIES, entry_of};
use std::io::Read;
use twox_hash::XxHash64;
use voxtick_worlds::{ChunkPos, REGION_EDGE, RegionPos};

const MAGIC: [u8; 8] = [0xC3, 0xFF, 0x13, 0x18, 0x3C, 0xCA, 0x9D, 0x9A];
const V1_HEAD: usize = 32;
const V2_HEAD: usize = 26;
const BITMAP: usize = ENTRIES / 8;
/// Bytes of a bucket's entry: size, level, hash.
const BUCKET_ENTRY: usize = 13;
/// Bytes before a chunk's NBT in a bucket: size and time stamp.
const V2_CHUNK_HEAD: usize = 12;
/// Bytes that a whole region may inflate to.
const TOTAL_LIMIT: usize = 1 << 30;

/// A region out of, or for, a Linear file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearRegion {
    /// Which region it is; version 1 does not say.
    pub position: Option<RegionPos>,
    chunks: Vec<Option<LinearChunk>>,
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
    /// A bucket ends beyond the file, or its hash is another.
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
}

impl LinearRegion {
    /// Buckets along the edge of a file: the number that the format's own tools use.
    pub const DEFAULT_GRID: u8 = 8;
    /// The level of zstd that files are packed at.
    pub const DEFAULT_LEVEL: i32 = 6;

    /// A region without chunks.
    #[must_use]
    pub fn new(position: RegionPos) -> LinearRegion {
        LinearRegion { position: Some(position), chunks: vec![None; ENTRIES] }
    }

    /// Takes the chunks out, one place an entry.
    pub(super) fn into_entries(self) -> Vec<Option<LinearChunk>> {
        self.chunks
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
    /// # Errors
    /// [`LinearError`]. The format has no place where damage could be confined in version 1; in version 2 a damaged
    /// bucket makes the file unreadable too, so that its chunks are not taken for absent.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<LinearRegion, LinearError> {
        if bytes.len() < V2_HEAD + 8 || !bytes.starts_with(&MAGIC) || !bytes.ends_with(&MAGIC) {
            return Err(LinearError::Magic);
        }
        let body = &bytes[..bytes.len() - MAGIC.len()];
        match body[8] {
            1 | 2 => read_v1(body, limits),
            3 => read_v2(body, limits),
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
    /// If the grid is impossible.
    pub fn write(&self, grid: u8, level: i32) -> Result<Vec<u8>, LinearError> {
        if !is_grid(grid) {
            return Err(LinearError::Grid { grid });
        }
        let position = self.position.unwrap_or_default();
        let newest = self.chunks().map(|(_, chunk)| chunk.timestamp).max().unwrap_or(0);
        let mut out = MAGIC.to_vec();
        out.push(3);
        out.extend(newest.to_be_bytes());
        out.push(grid);
        out.extend(position.x.to_be_bytes());
        out.extend(position.z.to_be_bytes());
        let mut bitmap = [0_u8; BITMAP];
        for (entry, _) in self.chunks() {
            bitmap[entry / 8] |= 0x80 >> (entry % 8);
        }
        out.extend(bitmap);
        // No named numbers.
        out.push(0);
        let mut buckets = Vec::new();
        for bucket in 0..usize::from(grid) * usize::from(grid) {
            let mut plain = Vec::new();
            for entry in entries_of(bucket, grid) {
                match &self.chunks[entry] {
                    None => plain.extend([0; V2_CHUNK_HEAD]),
                    Some(chunk) => {
                        plain.extend((chunk.nbt.len() as u32 + 8).to_be_bytes());
                        plain.extend(chunk.timestamp.to_be_bytes());
                        plain.extend(&chunk.nbt);
                    }
                }
            }
            // Levels out of zstd's range are brought into it there; memory is all that can be missing.
            let packed = zstd::bulk::compress(&plain, level)
                .map_err(|_| LinearError::Stream { bucket, limit: TOTAL_LIMIT })?;
            out.extend((packed.len() as u32).to_be_bytes());
            out.push(level.clamp(-128, 127) as i8 as u8);
            out.extend(XxHash64::oneshot(0, &packed).to_be_bytes());
            buckets.extend(packed);
        }
        out.extend(buckets);
        out.extend(MAGIC);
        Ok(out)
    }
}

fn read_v1(body: &[u8], limits: &Limits) -> Result<LinearRegion, LinearError> {
    let stream = body.get(V1_HEAD..).ok_or(LinearError::HeadCut)?;
    let plain = inflate(stream, 0, TOTAL_LIMIT)?;
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
    Ok(LinearRegion { position: None, chunks })
}

fn read_v2(body: &[u8], limits: &Limits) -> Result<LinearRegion, LinearError> {
    let grid = body[17];
    if !is_grid(grid) {
        return Err(LinearError::Grid { grid });
    }
    let position = RegionPos::new(number(&body[18..]) as i32, number(&body[22..]) as i32);
    let bitmap = body.get(V2_HEAD..V2_HEAD + BITMAP).ok_or(LinearError::HeadCut)?;
    let mut rest = skip_named_numbers(&body[V2_HEAD + BITMAP..]).ok_or(LinearError::HeadCut)?;
    let bucket_count = usize::from(grid) * usize::from(grid);
    let entries;
    (entries, rest) = rest.split_at_checked(bucket_count * BUCKET_ENTRY).ok_or(LinearError::HeadCut)?;
    let mut chunks = vec![None; ENTRIES];
    let mut left = TOTAL_LIMIT;
    for (bucket, entry) in entries.chunks_exact(BUCKET_ENTRY).enumerate() {
        let damaged = LinearError::Bucket { bucket };
        let stream;
        (stream, rest) = rest.split_at_checked(number(entry) as usize).ok_or_else(|| damaged.clone())?;
        if stream.is_empty() {
            continue;
        }
        if entry.get(5..13) != Some(&XxHash64::oneshot(0, stream).to_be_bytes()[..]) {
            return Err(damaged);
        }
        let plain = inflate(stream, bucket, left)?;
        left -= plain.len();
        read_bucket(&plain, bucket, grid, limits, &mut chunks)?;
    }
    let exists = |entry: usize| bitmap[entry / 8] & (0x80 >> (entry % 8)) != 0;
    match (0..ENTRIES).find(|entry| exists(*entry) != chunks[*entry].is_some()) {
        Some(entry) => Err(LinearError::Existence { entry }),
        None => Ok(LinearRegion { position: Some(position), chunks }),
    }
}

fn read_bucket(
    plain: &[u8],
    bucket: usize,
    grid: u8,
    limits: &Limits,
    chunks: &mut [Option<LinearChunk>],
) -> Result<(), LinearError> {
    let sizes = LinearError::Sizes { bucket };
    let mut rest = plain;
    for entry in entries_of(bucket, grid) {
        let (head, after) = rest.split_at_checked(V2_CHUNK_HEAD).ok_or_else(|| sizes.clone())?;
        let timestamp = u64::from(number(&head[4..])) << 32 | u64::from(number(&head[8..]));
        // The size counts the time stamp; 0 is a chunk that does not exist.
        let length = (number(head) as usize).saturating_sub(8);
        let (nbt, after) = after.split_at_checked(length).ok_or_else(|| sizes.clone())?;
        if length > limits.inflated {
            return Err(sizes);
        }
        chunks[entry] = (length > 0).then(|| LinearChunk { nbt: nbt.to_vec(), timestamp });
        rest = after;
    }
    Ok(())
}

/// The entries of a bucket in their order: buckets and chunks run along z first.
fn entries_of(bucket: usize, grid: u8) -> impl Iterator<Item = usize> {
    let grid = usize::from(grid);
    let edge = REGION_EDGE / grid;
    let (bucket_x, bucket_z) = (bucket / grid, bucket % grid);
    (0..edge * edge).map(move |place| {
        let (x, z) = (bucket_x * edge + place / edge, bucket_z * edge + place % edge);
        z * REGION_EDGE + x
    })
}

fn skip_named_numbers(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    loop {
        let (length, after) = rest.split_first()?;
        if *length == 0 {
            return Some(after);
        }
        rest = after.get(usize::from(*length) + 4..)?;
    }
}

fn inflate(stream: &[u8], bucket: usize, limit: usize) -> Result<Vec<u8>, LinearError> {
    let error = LinearError::Stream { bucket, limit };
    let decoder = zstd::stream::read::Decoder::new(stream).map_err(|_| error.clone())?;
    let mut plain = Vec::new();
    match decoder.take(limit as u64 + 1).read_to_end(&mut plain) {
        Ok(length) if length <= limit => Ok(plain),
        _ => Err(error),
    }
}

fn is_grid(grid: u8) -> bool {
    grid.is_power_of_two() && usize::from(grid) <= REGION_EDGE
}

/// The four bytes that `bytes` begins with, 0 where there are fewer.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |word| u32::from_be_bytes(*word))
}
