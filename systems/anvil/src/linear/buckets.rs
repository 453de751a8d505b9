//! The streams of a version 2 file: a square of chunks each, with a hash.

use super::{LinearChunk, LinearError, LinearRegion, MAGIC, TOTAL_LIMIT, number};
use crate::Limits;
use crate::region::ENTRIES;
use std::io::Read;
use std::ops::Range;
use twox_hash::XxHash64;
use voxtick_worlds::{REGION_EDGE, RegionPos};

/// Bytes of a bucket's entry in the head: size, level, hash.
const BUCKET_ENTRY: usize = 13;
/// Bytes before a chunk's NBT in a bucket: size and time stamp.
const CHUNK_HEAD: usize = 12;
pub(super) const HEAD: usize = 26;
const BITMAP: usize = ENTRIES / 8;

/// A bucket as a file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bucket {
    /// The zstd level that it was packed at, and the hash of the stream that the head gives.
    seal: [u8; 9],
    stream: Vec<u8>,
}

/// A bucket that cannot be read. It is written back as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DamagedBucket {
    pub(super) number: usize,
    pub(super) grid: u8,
    pub(super) cause: LinearError,
    pub(super) bucket: Bucket,
    /// Its chunks: those that the head names or that were found, or all places where there are none.
    pub(super) entries: Vec<usize>,
    /// Those that the head names. It goes on to name them and no others, or what contradicts it would pass for sound.
    pub(super) named: Vec<usize>,
}

impl DamagedBucket {
    /// The bytes of its stream.
    pub(super) fn stream(&self) -> &[u8] {
        &self.bucket.stream
    }
}

/// Where the buckets of a file lie in it.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) grid: u8,
    buckets: Vec<(Range<u64>, [u8; 9])>,
}

impl Places {
    /// Reads a bucket from the file again; `None` where it is not as it was.
    pub(super) fn read(&self, number: usize, read_at: impl FnOnce(&mut [u8], u64) -> bool) -> Option<Bucket> {
        let (range, seal) = self.buckets.get(number)?;
        let mut stream = vec![0; (range.end - range.start) as usize];
        (read_at(&mut stream, range.start) && seal_of(seal[0], &stream) == *seal)
            .then_some(Bucket { seal: *seal, stream })
    }
}

impl Bucket {
    /// Packs the chunks of a bucket, one for each of its places, at a zstd level.
    pub(super) fn pack<'a>(
        number: usize,
        chunks: impl Iterator<Item = Option<(&'a [u8], u64)>>,
        level: i32,
    ) -> Result<Bucket, LinearError> {
        let mut plain = Vec::new();
        for chunk in chunks {
            append(&mut plain, chunk);
        }
        Bucket::seal(number, &plain, level)
    }

    /// Packs what [`append`] has laid out.
    pub(super) fn seal(number: usize, plain: &[u8], level: i32) -> Result<Bucket, LinearError> {
        // Levels out of zstd's range are brought into it there; memory is all that can be missing.
        let stream = zstd::bulk::compress(plain, level)
            .map_err(|_| LinearError::Stream { bucket: number, limit: TOTAL_LIMIT })?;
        Ok(Bucket { seal: seal_of(level.clamp(-128, 127) as i8 as u8, &stream), stream })
    }
}

/// Adds a chunk, its NBT and its time stamp, or the lack of one, to what a bucket holds.
pub(super) fn append(plain: &mut Vec<u8>, chunk: Option<(&[u8], u64)>) {
    match chunk {
        None => plain.extend([0; CHUNK_HEAD]),
        Some((nbt, timestamp)) => {
            // The size counts the time stamp.
            plain.extend((nbt.len() as u32 + 8).to_be_bytes());
            plain.extend(timestamp.to_be_bytes());
            plain.extend(nbt);
        }
    }
}

/// A file of these buckets, and where they lie in it.
pub(super) fn assemble(
    position: RegionPos,
    newest: u64,
    present: impl Iterator<Item = usize>,
    grid: u8,
    buckets: &[Bucket],
) -> (Vec<u8>, Places) {
    let mut out = MAGIC.to_vec();
    out.push(3);
    out.extend(newest.to_be_bytes());
    out.push(grid);
    out.extend(position.x.to_be_bytes());
    out.extend(position.z.to_be_bytes());
    let mut bitmap = [0_u8; BITMAP];
    for entry in present {
        bitmap[entry / 8] |= 0x80 >> (entry % 8);
    }
    out.extend(bitmap);
    // No named numbers.
    out.push(0);
    for bucket in buckets {
        out.extend((bucket.stream.len() as u32).to_be_bytes());
        out.extend(bucket.seal);
    }
    let mut places = Places { grid, buckets: Vec::with_capacity(buckets.len()) };
    for bucket in buckets {
        let start = out.len() as u64;
        out.extend(&bucket.stream);
        places.buckets.push((start..out.len() as u64, bucket.seal));
    }
    out.extend(MAGIC);
    (out, places)
}

/// Reads a file without the mark at its end.
pub(super) fn read(body: &[u8], limits: &Limits) -> Result<(LinearRegion, Places), LinearError> {
    let grid = body[17];
    if !is_grid(grid) {
        return Err(LinearError::Grid { grid });
    }
    let position = RegionPos::new(number(&body[18..]) as i32, number(&body[22..]) as i32);
    let bitmap = body.get(HEAD..HEAD + BITMAP).ok_or(LinearError::HeadCut)?;
    let exists = |entry: &usize| bitmap[entry / 8] & (0x80 >> (entry % 8)) != 0;
    let rest = skip_named_numbers(&body[HEAD + BITMAP..]).ok_or(LinearError::HeadCut)?;
    let (heads, mut rest) =
        rest.split_at_checked(bucket_count(grid) * BUCKET_ENTRY).ok_or(LinearError::HeadCut)?;
    let mut region =
        LinearRegion { position: Some(position), chunks: vec![None; ENTRIES], damaged: Vec::new() };
    let mut places = Places { grid, buckets: Vec::new() };
    let mut left = TOTAL_LIMIT;
    for (number, head) in heads.as_chunks::<BUCKET_ENTRY>().0.iter().enumerate() {
        let [a, b, c, d, seal @ ..] = *head;
        let start = (body.len() - rest.len()) as u64;
        let stream;
        // Where one ends beyond the file none can be told from the next.
        (stream, rest) = rest
            .split_at_checked(u32::from_be_bytes([a, b, c, d]) as usize)
            .ok_or(LinearError::Bucket { bucket: number })?;
        places.buckets.push((start..start + stream.len() as u64, seal));
        let places_of = || entries_of(number, grid);
        let named: Vec<usize> = places_of().filter(exists).collect();
        let (cause, mut entries): (LinearError, Vec<usize>) =
            match read_bucket(stream, seal, number, grid, limits, &mut left) {
                Ok(chunks) => {
                    let differs =
                        |(entry, chunk): &(usize, &Option<LinearChunk>)| exists(entry) != chunk.is_some();
                    let Some((entry, _)) = places_of().zip(&chunks).find(differs) else {
                        for (entry, chunk) in places_of().zip(chunks) {
                            region.chunks[entry] = chunk;
                        }
                        continue;
                    };
                    let either = places_of().zip(&chunks);
                    let either = either.filter(|(entry, chunk)| exists(entry) || chunk.is_some());
                    (LinearError::Existence { entry }, either.map(|(entry, _)| entry).collect())
                }
                Err(cause) => (cause, named.clone()),
            };
        if entries.is_empty() {
            entries.extend(places_of());
        }
        let bucket = Bucket { seal, stream: stream.to_vec() };
        region.damaged.push(DamagedBucket { number, grid, cause, bucket, entries, named });
    }
    Ok((region, places))
}

/// The chunks of a bucket, one for each of its places.
fn read_bucket(
    stream: &[u8],
    seal: [u8; 9],
    number: usize,
    grid: u8,
    limits: &Limits,
    left: &mut usize,
) -> Result<Vec<Option<LinearChunk>>, LinearError> {
    let places = entries_of(number, grid).count();
    if stream.is_empty() {
        return Ok(vec![None; places]);
    }
    if seal_of(seal[0], stream) != seal {
        return Err(LinearError::Bucket { bucket: number });
    }
    let plain = inflate(stream, number, *left)?;
    *left -= plain.len();
    let sizes = LinearError::Sizes { bucket: number };
    let mut rest = plain.as_slice();
    let mut chunks = Vec::with_capacity(places);
    for _ in 0..places {
        let (head, after) = rest.split_at_checked(CHUNK_HEAD).ok_or_else(|| sizes.clone())?;
        let timestamp = u64::from(super::number(&head[4..])) << 32 | u64::from(super::number(&head[8..]));
        // The size counts the time stamp; 0 is a chunk that does not exist.
        let length = (super::number(head) as usize).saturating_sub(8);
        let (nbt, after) = after.split_at_checked(length).ok_or_else(|| sizes.clone())?;
        if length > limits.inflated {
            return Err(sizes);
        }
        chunks.push((length > 0).then(|| LinearChunk { nbt: nbt.to_vec(), timestamp }));
        rest = after;
    }
    Ok(chunks)
}

/// The entries of a bucket in their order: buckets and chunks run along z first.
pub(super) fn entries_of(bucket: usize, grid: u8) -> impl Iterator<Item = usize> {
    let grid = usize::from(grid);
    let edge = REGION_EDGE / grid;
    let (bucket_x, bucket_z) = (bucket / grid, bucket % grid);
    (0..edge * edge).map(move |place| {
        let (x, z) = (bucket_x * edge + place / edge, bucket_z * edge + place % edge);
        z * REGION_EDGE + x
    })
}

pub(super) fn bucket_count(grid: u8) -> usize {
    usize::from(grid) * usize::from(grid)
}

pub(super) fn is_grid(grid: u8) -> bool {
    grid.is_power_of_two() && usize::from(grid) <= REGION_EDGE
}

fn seal_of(level: u8, stream: &[u8]) -> [u8; 9] {
    let mut seal = [level; 9];
    seal[1..].copy_from_slice(&XxHash64::oneshot(0, stream).to_be_bytes());
    seal
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

/// Inflates a stream to at most `limit` bytes.
pub(super) fn inflate(stream: &[u8], bucket: usize, limit: usize) -> Result<Vec<u8>, LinearError> {
    let error = LinearError::Stream { bucket, limit };
    let decoder = zstd::stream::read::Decoder::new(stream).map_err(|_| error.clone())?;
    let mut plain = Vec::new();
    match decoder.take(limit as u64 + 1).read_to_end(&mut plain) {
        Ok(length) if length <= limit => Ok(plain),
        _ => Err(error),
    }
}
