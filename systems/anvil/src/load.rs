//! Loading many chunks at once, in parallel.

use crate::Limits;
use crate::chunk::{ChunkDecoder, DecodeChunkError, Notice};
use crate::files::Access;
use crate::region::{OpenRegionError, ReadChunkError, RegionStore, StoredChunk, open_region};
use crate::save::{SaveError, region_of_file};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension};

/// Why a chunk could not be loaded. Other chunks are not concerned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadChunkError {
    /// The region file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenRegionError),
    /// This crate made a mistake.
    #[error("{chunk}: decoding it failed by a fault of this program; please report it")]
    Fault {
        /// The chunk.
        chunk: ChunkPos,
    },
    /// The region file does not give it.
    #[error(transparent)]
    Read(#[from] ReadChunkError),
    /// Its content cannot be decoded.
    #[error("{}: {chunk}: {cause}", path.display())]
    Decode {
        /// The region file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
        /// What is wrong.
        cause: DecodeChunkError,
    },
}

/// What a region file held.
#[derive(Debug, Default)]
pub struct RegionLoad {
    /// The chunks, in the order of the region's header.
    pub chunks: Vec<Chunk>,
    /// Chunks that could not be loaded, in the same order.
    pub failures: Vec<LoadChunkError>,
    /// What was odd about chunks that were loaded, in the same order.
    pub notices: Vec<(ChunkPos, Notice)>,
    /// Compressed bytes that were read.
    pub bytes: u64,
}

/// Loads one chunk; `None` where it is absent.
///
/// # Errors
/// [`LoadChunkError`], naming file, chunk and cause.
pub fn load_chunk(
    region: &dyn RegionStore,
    position: ChunkPos,
    stored: &mut StoredChunk,
    decoder: &mut ChunkDecoder,
    limits: &Limits,
) -> Result<Option<(Chunk, Vec<Notice>)>, LoadChunkError> {
    if !region.read(position, stored, limits)? {
        return Ok(None);
    }
    match decoder.decode(position, stored) {
        Ok(decoded) => {
            region.mark_sound(position);
            Ok(Some((decoded.chunk, decoded.notices)))
        }
        Err(cause) => {
            Err(LoadChunkError::Decode { path: region.path().to_path_buf(), chunk: position, cause })
        }
    }
}

/// Loads all chunks of a region, in parallel on the rayon pool that the caller runs in.
///
/// The result is the same for any number of threads. Each thread needs the memory of one inflated chunk beside the
/// chunks themselves.
pub fn load_region(
    region: &dyn RegionStore,
    dimension: &Dimension,
    states: &Arc<BlockStates>,
    limits: &Limits,
) -> RegionLoad {
    let positions = region.chunks();
    load_chunks(region, &positions, dimension, states, limits)
}

/// Loads the chunks at these positions, as [`load_region`] does; those that are absent are left out.
pub fn load_chunks(
    region: &dyn RegionStore,
    positions: &[ChunkPos],
    dimension: &Dimension,
    states: &Arc<BlockStates>,
    limits: &Limits,
) -> RegionLoad {
    let outcomes: Vec<_> = positions
        .par_iter()
        .map_init(
            || (StoredChunk::default(), ChunkDecoder::new(dimension.clone(), states.clone(), *limits)),
            |(stored, decoder), position| {
                let outcome = load_chunk(region, *position, stored, decoder, limits);
                (stored.payload().len() as u64, outcome)
            },
        )
        .collect();
    let mut load = RegionLoad::default();
    for (bytes, outcome) in outcomes {
        match outcome {
            Ok(Some((chunk, notices))) => {
                load.bytes += bytes;
                load.notices.extend(notices.into_iter().map(|notice| (chunk.position(), notice)));
                load.chunks.push(chunk);
            }
            Ok(None) => {}
            Err(failure) => load.failures.push(failure),
        }
    }
    load
}

/// Opens a region file, whatever its name, and loads all of its chunks.
///
/// # Errors
/// If the file cannot be opened or does not tell which region it is; what is wrong with single chunks is in the result.
pub fn load_region_file(
    path: impl AsRef<Path>,
    dimension: &Dimension,
    states: &Arc<BlockStates>,
    limits: &Limits,
) -> Result<RegionLoad, LoadRegionError> {
    let path = path.as_ref();
    let region = open_region(path, region_of_file(path, states)?, Access::Read)?;
    Ok(load_region(&*region, dimension, states, limits))
}

/// Why nothing of a region file could be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadRegionError {
    /// Which region it is cannot be told.
    #[error(transparent)]
    Unplaced(#[from] SaveError),
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenRegionError),
}
