//! Whole regions from one compression to another, and between Anvil and Linear.
//!
//! Chunks are not decoded, only inflated and packed again, so nothing in them can change.

use crate::Limits;
use crate::compression::{Compression, InflateError, Inflater, Packer};
use crate::linear::{LinearChunk, LinearRegion};
use crate::region::{Overwrite, ReadChunkError, Region, StoredChunk, WriteChunkError};
use voxtick_worlds::{ChunkPos, REGION_EDGE};

/// Why a region was not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// A chunk cannot be read.
    #[error("{0}; set damaged chunks aside first")]
    Read(#[from] ReadChunkError),
    /// A chunk cannot be inflated.
    #[error("{chunk}: {cause}; set damaged chunks aside first")]
    Inflate {
        /// The chunk.
        chunk: ChunkPos,
        /// What is wrong.
        cause: InflateError,
    },
    /// A chunk cannot be written.
    #[error(transparent)]
    Write(#[from] WriteChunkError),
}

/// Copies all chunks of a region to another one, packed anew. Returns how many.
///
/// The target may be the source's region in another file. Call [`Region::flush`] on it afterwards.
///
/// # Errors
/// [`ConvertError`] at the first chunk that cannot be converted; the source is never touched.
pub fn recompress(
    source: &Region,
    target: &Region,
    compression: Compression,
    packer: &mut Packer,
    limits: &Limits,
) -> Result<usize, ConvertError> {
    let mut converted = 0;
    let mut packed = Vec::new();
    each_chunk(source, limits, |chunk, nbt, timestamp| {
        packer.pack(compression, nbt, &mut packed);
        target.write(chunk, compression, &packed, timestamp, Overwrite::Sound)?;
        converted += 1;
        Ok(())
    })?;
    Ok(converted)
}

/// All chunks of a region for a Linear file.
///
/// # Errors
/// As [`recompress`].
pub fn to_linear(source: &Region, limits: &Limits) -> Result<LinearRegion, ConvertError> {
    let mut region = LinearRegion::new(source.position());
    each_chunk(source, limits, |chunk, nbt, timestamp| {
        region.set_chunk(chunk, Some(LinearChunk { nbt: nbt.to_vec(), timestamp: timestamp.into() }));
        Ok(())
    })?;
    Ok(region)
}

/// Writes all chunks of a Linear file to a region. Returns how many. Call [`Region::flush`] afterwards.
///
/// Time stamps beyond what the region format can say become the latest that it can.
///
/// # Errors
/// [`ConvertError`] at the first chunk that cannot be written.
pub fn from_linear(
    source: &LinearRegion,
    target: &Region,
    compression: Compression,
    packer: &mut Packer,
) -> Result<usize, ConvertError> {
    let mut converted = 0;
    let mut packed = Vec::new();
    for (entry, chunk) in source.chunks() {
        let (x, z) = ((entry % REGION_EDGE) as i32, (entry / REGION_EDGE) as i32);
        let edge = REGION_EDGE as i32;
        let region = target.position();
        let position = ChunkPos::new(region.x.wrapping_mul(edge) + x, region.z.wrapping_mul(edge) + z);
        packer.pack(compression, &chunk.nbt, &mut packed);
        let timestamp = u32::try_from(chunk.timestamp).unwrap_or(u32::MAX);
        target.write(position, compression, &packed, timestamp, Overwrite::Sound)?;
        converted += 1;
    }
    Ok(converted)
}

fn each_chunk(
    source: &Region,
    limits: &Limits,
    mut job: impl FnMut(ChunkPos, &[u8], u32) -> Result<(), ConvertError>,
) -> Result<(), ConvertError> {
    let (mut stored, mut nbt, mut inflater) = (StoredChunk::default(), Vec::new(), Inflater::new());
    for chunk in source.chunks() {
        if source.read(chunk, &mut stored, limits)? {
            inflater
                .inflate(stored.compression(), stored.payload(), limits.inflated, &mut nbt)
                .map_err(|cause| ConvertError::Inflate { chunk, cause })?;
            job(chunk, &nbt, stored.timestamp())?;
        }
    }
    Ok(())
}
