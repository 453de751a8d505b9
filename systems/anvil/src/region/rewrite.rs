//! Whole-file work on a region: compaction, and setting damaged entries aside.

use super::entry::Location;
use super::file::{OpenRegionError, Region, RegionOptions};
use super::flush::FlushError;
use super::name::external_file_name;
use super::read::{ReadChunkError, StoredChunk};
use super::record::{RECORD_HEAD, Record};
use super::write::{Overwrite, WriteChunkError};
use super::{ENTRIES, SECTOR, chunk_of, entry_of};
use crate::Limits;
use crate::files::{Access, Files};
use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use voxtick_worlds::ChunkPos;

/// What a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// Bytes of the file before.
    pub before: u64,
    /// Bytes of the file now.
    pub after: u64,
    /// Chunks kept.
    pub chunks: usize,
}

/// Why a region was not compacted. The file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompactError {
    /// The region cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenRegionError),
    /// A chunk cannot be read, and leaving it out would lose what could be rescued of it.
    #[error("{0}; not compacted: set damaged chunks aside first")]
    Read(#[from] ReadChunkError),
    /// A chunk cannot be written to the new file.
    #[error(transparent)]
    Write(#[from] WriteChunkError),
    /// The new file cannot be made durable.
    #[error(transparent)]
    Flush(#[from] FlushError),
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

/// Writes a region file anew without gaps, in the order of its header, and puts it in the place of the old one at
/// once: a crash leaves the old file or the new one.
///
/// A region that is open for writing elsewhere is refused; [`Region::compact`] serves one that is. Payloads are copied as they are; chunks in files of their own
/// stay there.
///
/// # Errors
/// [`CompactError`]; the file is as it was then.
pub fn compact_region(
    path: &Path,
    files: &Arc<dyn Files>,
    limits: &Limits,
) -> Result<Compaction, CompactError> {
    let options = RegionOptions { files: files.clone(), access: Access::Write, ..RegionOptions::default() };
    // Opening for writing would make one.
    if !files.exists(path).map_err(|source| OpenRegionError::io(path, source))? {
        return Err(OpenRegionError::io(path, io::ErrorKind::NotFound.into()).into());
    }
    // Its lock is held until the new file is in its place.
    let old = options.clone().open(path)?;
    let new_path = path.with_extension("mca.new");
    let failed = |source| CompactError::Io { path: new_path.clone(), source };
    files.open(&new_path, Access::Write).and_then(|file| file.set_length(0)).map_err(failed)?;
    let new = RegionOptions { position: Some(old.position()), ..options }.open(&new_path)?;
    let mut stored = StoredChunk::default();
    let mut chunks = 0;
    for chunk in old.chunks() {
        if old.read(chunk, &mut stored, limits)? {
            new.copy_record(chunk, &stored)?;
            chunks += 1;
        }
    }
    new.flush()?;
    let compaction = Compaction { before: old.length(), after: new.length(), chunks };
    files.rename(&new_path, path).map_err(failed)?;
    // Only now may others write to it: not between its renaming and its closing.
    drop(new);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files.sync_folder(folder).map_err(failed)?;
    Ok(compaction)
}

/// Why a chunk was not set aside. What is stored for it is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetAsideError {
    /// The file system refused.
    #[error("{chunk}: {}: {source}", path.display())]
    Io {
        /// The chunk.
        chunk: ChunkPos,
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// The entry cannot be cleared.
    #[error(transparent)]
    Write(#[from] WriteChunkError),
}

impl Region {
    /// Moves records from the end of the file into gaps before them, and cuts off what is free then, while others read
    /// and write.
    ///
    /// Each record moves as if it were written again, so a crash loses nothing. Gaps that no later record fits into
    /// stay: [`compact_region`] leaves none. Others that write all the time make new gaps, so this ends after eight
    /// passes over the entries at most.
    ///
    /// # Errors
    /// [`CompactError::Write`] and [`CompactError::Flush`]; no chunk is lost then.
    pub fn compact(&self) -> Result<Compaction, CompactError> {
        const PASSES: usize = 8;
        let before = self.length();
        for _ in 0..PASSES {
            let moved = self.fill_gaps()?;
            self.flush()?;
            if moved == 0 {
                break;
            }
        }
        Ok(Compaction { before, after: self.length(), chunks: self.chunks().count() })
    }

    /// Moves what fits into a gap before it, the last record first. Returns how many were moved.
    fn fill_gaps(&self) -> Result<usize, WriteChunkError> {
        let mut order: Vec<usize> = (0..ENTRIES).collect();
        // Others move records meanwhile: each is looked at once.
        order.sort_by_cached_key(|entry| Reverse(self.entries[*entry].load().location.offset()));
        let mut moved = 0;
        for entry in order {
            moved += usize::from(self.move_down(chunk_of(self.position(), entry))?);
        }
        Ok(moved)
    }

    fn move_down(&self, chunk: ChunkPos) -> Result<bool, WriteChunkError> {
        let mut writer = self.writer(chunk)?;
        let entry = entry_of(chunk);
        let before = self.entries[entry].load();
        let location = before.location;
        if before.is_absent()
            || self.header_damage(chunk, before).is_some()
            || !writer.sectors.fits_before(location.sectors(), location.offset())
        {
            return Ok(false);
        }
        let offset = u64::from(location.offset()) * SECTOR as u64;
        let room = location.sectors() as usize * SECTOR;
        let bytes = self.claimed_bytes(location).map_err(|source| WriteChunkError::Io {
            path: self.path.clone(),
            chunk,
            source,
        })?;
        // What is damaged stays where it is.
        let Ok(record) = Record::parse(&bytes, offset, room) else { return Ok(false) };
        let payload = &bytes[RECORD_HEAD..RECORD_HEAD + record.payload_length];
        let moved = self.write_record(chunk, &mut writer, bytes[RECORD_HEAD - 1], payload)?;
        let timestamp = self.timestamps[entry].load(Ordering::Relaxed);
        self.point(chunk, &mut writer, moved, timestamp)?;
        Ok(true)
    }

    /// Copies what is stored for a chunk, damaged or not, to files in `folder` and then clears its entry.
    ///
    /// `c.X.Z.record` gets the sectors that the entry claims, as they are; a payload in a file of its own is copied
    /// under its name. Nothing is cleared before the copies are durable.
    ///
    /// # Errors
    /// [`SetAsideError`]; what is stored is still there then.
    pub fn set_aside(&self, chunk: ChunkPos, folder: &Path) -> Result<Vec<PathBuf>, SetAsideError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| SetAsideError::Io { chunk, path, source }
        };
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        let location = self.entries[entry_of(chunk)].load().location;
        let mut copies = Vec::new();
        let record = folder.join(format!("c.{}.{}.record", chunk.x, chunk.z));
        let bytes = self.claimed_bytes(location).map_err(failed(&self.path))?;
        write_durably(self.files.as_ref(), &record, &bytes).map_err(failed(&record))?;
        copies.push(record);
        let external = self.path.with_file_name(external_file_name(chunk));
        if self.files.exists(&external).map_err(failed(&external))? {
            let copy = folder.join(external_file_name(chunk));
            let file = self.files.open(&external, Access::Read).map_err(failed(&external))?;
            let mut bytes = vec![0; file.length().map_err(failed(&external))? as usize];
            let read = file.read_at(&mut bytes, 0).map_err(failed(&external))?;
            write_durably(self.files.as_ref(), &copy, &bytes[..read]).map_err(failed(&copy))?;
            copies.push(copy);
        }
        self.delete(chunk, Overwrite::Damaged)?;
        Ok(copies)
    }

    /// The bytes of the sectors that an entry claims, as far as the file has them.
    fn claimed_bytes(&self, location: Location) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; location.sectors() as usize * SECTOR];
        let read = self.file.read_at(&mut bytes, u64::from(location.offset()) * SECTOR as u64)?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

pub(crate) fn write_durably(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = files.open(path, Access::Write)?;
    file.set_length(0)?;
    file.write_at(bytes, 0)?;
    file.sync()?;
    files.sync_folder(path.parent().unwrap_or(Path::new(".")))
}
