//! What all formats of region files have in common.

use super::file::Region;
use super::flush::FlushError;
use super::read::{ReadChunkError, StoredChunk};
use super::rewrite::SetAsideError;
use super::write::{Overwrite, WriteChunkError};
use crate::Limits;
use crate::compression::Compression;
use std::fmt;
use std::path::{Path, PathBuf};
use voxtick_worlds::{ChunkPos, RegionPos};

/// The formats of region files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegionFormat {
    /// `r.X.Z.mca`: a record a chunk. See [`Region`].
    #[default]
    Anvil,
    /// `r.X.Z.linear`: a few zstd streams. See [`LinearFile`](crate::linear::LinearFile).
    Linear,
}

impl RegionFormat {
    /// Both formats, in the order in which a folder is searched.
    pub(super) const ALL: [RegionFormat; 2] = [RegionFormat::Anvil, RegionFormat::Linear];

    /// The format that the ending of a file's name tells: Linear for `.linear` and `.linearv2`, else Anvil.
    #[must_use]
    pub fn of_path(path: &Path) -> RegionFormat {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("linear" | "linearv2") => RegionFormat::Linear,
            _ => RegionFormat::Anvil,
        }
    }

    /// The ending of its files' names.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            RegionFormat::Anvil => "mca",
            RegionFormat::Linear => "linear",
        }
    }
}

/// The chunks of one region in a file of some format, shared by any number of threads.
///
/// What holds for all: absence, wholeness and damage are told apart; a chunk that was written is seen by all readers at
/// once; after [`RegionStore::flush`] it is durable; a crash leaves each chunk as it was or as it became.
///
/// ```
/// use voxtick_anvil::compression::Compression;
/// use voxtick_anvil::files::Access;
/// use voxtick_anvil::region::{Overwrite, RegionOptions, StoredChunk};
/// use voxtick_anvil::Limits;
/// use voxtick_worlds::ChunkPos;
/// # let folder = tempfile::tempdir()?;
/// for name in ["r.0.0.mca", "r.0.1.linear"] {
///     let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
///     let region = options.open_any(folder.path().join(name))?;
///     let chunk = ChunkPos::new(3, region.position().z * 32);
///     region.write(chunk, Compression::Uncompressed, &[10, 0, 0, 0], 7, Overwrite::Sound)?;
///     region.flush()?;
///     assert_eq!(region.chunks(), [chunk]);
///     assert!(region.read(chunk, &mut StoredChunk::default(), &Limits::default())?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RegionStore: Send + Sync + fmt::Debug {
    /// Which region it is.
    fn position(&self) -> RegionPos;

    /// The file.
    fn path(&self) -> &Path;

    /// Bytes of the file.
    fn length(&self) -> u64;

    /// The chunks that are not absent, damaged ones included, in the order of the region's entries.
    fn chunks(&self) -> Vec<ChunkPos>;

    /// Reads a chunk as it is stored. Returns `false`, and leaves `stored` as it was, where the chunk is absent.
    ///
    /// # Errors
    /// [`ReadChunkError`], confined to this chunk.
    fn read(
        &self,
        chunk: ChunkPos,
        stored: &mut StoredChunk,
        limits: &Limits,
    ) -> Result<bool, ReadChunkError>;

    /// Writes a chunk's payload, which is already packed with `compression`. `timestamp` is in seconds since 1970.
    ///
    /// # Errors
    /// [`WriteChunkError`]; what was stored is still there then.
    fn write(
        &self,
        chunk: ChunkPos,
        compression: Compression,
        payload: &[u8],
        timestamp: u32,
        overwrite: Overwrite,
    ) -> Result<(), WriteChunkError>;

    /// Removes a chunk.
    ///
    /// # Errors
    /// [`WriteChunkError`]; what was stored is still there then.
    fn delete(&self, chunk: ChunkPos, overwrite: Overwrite) -> Result<(), WriteChunkError>;

    /// Copies what is stored for a chunk, damaged or not, to files in `folder`, and then removes it. Nothing is removed
    /// before the copies are durable. Returns the copies.
    ///
    /// # Errors
    /// [`SetAsideError`]; what is stored is still there then.
    fn set_aside(&self, chunk: ChunkPos, folder: &Path) -> Result<Vec<PathBuf>, SetAsideError>;

    /// Makes everything that was written durable.
    ///
    /// # Errors
    /// [`FlushError`]; a later flush tries again.
    fn flush(&self) -> Result<(), FlushError>;

    /// Notes that a chunk's content was decoded without fault, so that it may be written over without a second look.
    fn mark_sound(&self, chunk: ChunkPos);
}

impl RegionStore for Region {
    fn position(&self) -> RegionPos {
        self.position()
    }

    fn path(&self) -> &Path {
        self.path()
    }

    fn length(&self) -> u64 {
        self.length()
    }

    fn chunks(&self) -> Vec<ChunkPos> {
        self.chunks().collect()
    }

    fn read(
        &self,
        chunk: ChunkPos,
        stored: &mut StoredChunk,
        limits: &Limits,
    ) -> Result<bool, ReadChunkError> {
        self.read(chunk, stored, limits)
    }

    fn write(
        &self,
        chunk: ChunkPos,
        compression: Compression,
        payload: &[u8],
        timestamp: u32,
        overwrite: Overwrite,
    ) -> Result<(), WriteChunkError> {
        self.write(chunk, compression, payload, timestamp, overwrite)
    }

    fn delete(&self, chunk: ChunkPos, overwrite: Overwrite) -> Result<(), WriteChunkError> {
        self.delete(chunk, overwrite)
    }

    fn set_aside(&self, chunk: ChunkPos, folder: &Path) -> Result<Vec<PathBuf>, SetAsideError> {
        self.set_aside(chunk, folder)
    }

    fn flush(&self) -> Result<(), FlushError> {
        self.flush()
    }

    fn mark_sound(&self, chunk: ChunkPos) {
        self.mark_sound(chunk);
    }
}
