//! What can go wrong beside the tick.

use crate::chunk::EncodeChunkError;
use crate::entities::EntitiesError;
use crate::load::LoadChunkError;
use crate::region::{FlushError, OpenRegionError, WriteChunkError};
use std::io;
use voxtick_worlds::{Chunk, ChunkPos, RefusedAttachment};

/// What went wrong beside the tick.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageFailure {
    /// A chunk could not be loaded. It is not absent: generate nothing in its place.
    #[error(transparent)]
    Load(LoadChunkError),
    /// A chunk could not be saved. It is still in the world, or kept by the storage, and is tried again.
    #[error(transparent)]
    Save(SaveChunkError),
    /// What was saved to a region is not durable yet. It is tried again.
    #[error(transparent)]
    Flush(FlushError),
    /// What a system keeps with a chunk was not understood by it. The bytes stay with the chunk under another name.
    #[error(transparent)]
    Attachment(RefusedAttachment),
    /// The record of a chunk's entities was read and makes no sense. It stays as it is.
    #[error("the entities of chunk {chunk}: {cause}; the record stays as it is")]
    Entities {
        /// The chunk.
        chunk: ChunkPos,
        /// What is wrong.
        cause: EntitiesError,
    },
    /// Dropped items of a save could not come in. The record of the chunk's entities stays as it is.
    #[error("the dropped items of chunk {chunk} are not all in: {cause}; their record stays as it is")]
    DroppedItems {
        /// The chunk.
        chunk: ChunkPos,
        /// Why.
        cause: String,
    },
}

/// Why a chunk was not saved. The chunk comes back, so that nothing is lost.
#[derive(Debug, thiserror::Error)]
#[error("chunk {} is not saved: {cause}", chunk.position())]
pub struct SaveChunkError {
    /// The chunk as it was handed over.
    pub chunk: Box<Chunk>,
    /// Why.
    pub cause: SaveCause,
}

/// What kept a chunk from being saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveCause {
    /// The region cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenRegionError),
    /// The folder may only be read.
    #[error("the region does not exist, and the folder was opened for reading; open it for writing")]
    NoRegion,
    /// The chunk cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeChunkError),
    /// The region does not take it.
    #[error(transparent)]
    Write(#[from] WriteChunkError),
    /// This crate made a mistake.
    #[error("it failed by a fault of this program; please report it")]
    Fault,
}

/// Why storage could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum StartStorageError {
    #[error(transparent)]
    Level(#[from] crate::compression::LevelError),
    #[error("cannot start a thread for chunk files: {0}")]
    Thread(#[from] io::Error),
    #[error(transparent)]
    Results(#[from] voxtick_engine::TooManyProducers),
}
