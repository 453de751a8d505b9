//! Whole regions from one compression to another, and from one format to another.
//!
//! Chunks are not decoded, only inflated and packed again, so nothing in them can change.

use crate::Limits;
use crate::compression::{Compression, InflateError, Inflater, Packer};
use crate::region::{Overwrite, ReadChunkError, RegionStore, StoredChunk, WriteChunkError};
use voxtick_worlds::ChunkPos;

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

/// Copies all chunks of a region to another one, of whatever format, packed anew. Returns how many.
///
/// The target may be the source's region in another file. Call [`RegionStore::flush`] on it afterwards.
///
/// # Errors
/// [`ConvertError`] at the first chunk that cannot be converted; the source is never touched.
pub fn recompress(
    source: &dyn RegionStore,
    target: &dyn RegionStore,
    compression: Compression,
    packer: &mut Packer,
    limits: &Limits,
) -> Result<usize, ConvertError> {
    let (mut stored, mut nbt, mut inflater) = (StoredChunk::default(), Vec::new(), Inflater::new());
    let mut packed = Vec::new();
    let mut converted = 0;
    for chunk in source.chunks() {
        if source.read(chunk, &mut stored, limits)? {
            inflater
                .inflate(stored.compression(), stored.payload(), limits.inflated, &mut nbt)
                .map_err(|cause| ConvertError::Inflate { chunk, cause })?;
            packer.pack(compression, &nbt, &mut packed);
            target.write(chunk, compression, &packed, stored.timestamp(), Overwrite::Sound)?;
            converted += 1;
        }
    }
    Ok(converted)
}
