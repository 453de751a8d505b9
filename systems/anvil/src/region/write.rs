//! Writing to a region file.
//!
//! In this order: the record goes to free sectors and is made durable; the header's 8 bytes point at it and are made
//! durable; the former record's sectors become free. How often "made durable" waits for the disk is a choice.

use super::entry::Location;
use super::file::Region;
use super::name::external_file_name;
use super::read::{ReadChunkError, StoredChunk};
use super::record::{EXTERNAL, RECORD_HEAD};
use super::sectors::Sectors;
use super::{HEADER, SECTOR, entry_of};
use crate::Limits;
use crate::compression::{Compression, Inflater};
use crate::files::Access;
use crate::nbt::Tape;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use voxtick_worlds::ChunkPos;

/// Records of more sectors than this need a file of their own.
const MOST_SECTORS: usize = 255;

/// When what was written outlasts a loss of power. A crash of the program alone loses only what no header points at
/// yet, and damages nothing, whatever is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Durability {
    /// After each write. Costs two waits for the disk a chunk.
    Each,
    /// After each [`Region::flush`]. Costs two waits for the disk a flush; until then, what was written is seen by
    /// readers of this [`Region`] alone and the file on disk holds the former state.
    #[default]
    PerFlush,
    /// Whenever the operating system likes. Costs no wait; a loss of power may damage what was written last.
    Never,
}

/// What may be written over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overwrite {
    /// Absent and whole chunks only. A chunk that this region has neither decoded nor written is looked at first.
    #[default]
    Sound,
    /// Damaged chunks too: what could still be rescued from them is lost.
    Damaged,
}

/// Why a chunk was not written. What was stored for it is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteChunkError {
    /// The region was opened for reading.
    #[error("{}: {chunk}: the region was opened for reading; open it for writing", path.display())]
    ReadOnly {
        /// The region file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
    },
    /// What is stored is damaged, and the caller did not say that it may be lost.
    #[error("{0}; not written over: set it aside, or say that it may be lost")]
    Damaged(ReadChunkError),
    /// What is stored could not be looked at.
    #[error(transparent)]
    Read(ReadChunkError),
    /// What is stored can be read and makes no sense.
    #[error("{}: {chunk}: {cause}; not written over: set it aside, or say that it may be lost", path.display())]
    Content {
        /// The region file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
        /// What is wrong.
        cause: String,
    },
    /// The region file has no room left.
    #[error("{}: {chunk}: the region file has no {sectors} free sectors left; compact it", path.display())]
    Full {
        /// The region file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
        /// Sectors asked for.
        sectors: usize,
    },
    /// The file system refused.
    #[error("{}: {chunk}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
        /// What the file system said.
        source: io::Error,
    },
}

/// What only the writer of a region knows.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) durability: Durability,
    pub(super) sectors: Sectors,
    /// What the header on disk says.
    pub(super) on_disk: Box<[Location]>,
    /// Entries of which the header on disk says something else than readers see.
    pub(super) waiting: BTreeSet<usize>,
    /// What the header on disk may say besides, because a flush did not finish.
    pub(super) maybe_on_disk: BTreeSet<(usize, u32)>,
    /// Records that the header on disk points at, or may, and readers no more.
    pub(super) retired: Vec<Location>,
    /// Chunks whose own file is to be removed once no header on disk needs it.
    pub(super) removals: BTreeSet<usize>,
    pub(super) record: Vec<u8>,
    /// Whether sectors were freed since the file was last cut. A file that nothing was written to keeps its length.
    pub(super) freed: bool,
}

impl Writer {
    pub(super) fn new(locations: &[Location], durability: Durability) -> Writer {
        let mut sectors = Sectors::default();
        sectors.take(0, (HEADER / SECTOR) as u32);
        // Whatever an entry claims is left alone, damaged ones included.
        for location in locations {
            sectors.take(location.offset(), location.sectors());
        }
        Writer {
            durability,
            sectors,
            on_disk: locations.into(),
            waiting: BTreeSet::new(),
            maybe_on_disk: BTreeSet::new(),
            retired: Vec::new(),
            removals: BTreeSet::new(),
            record: Vec::new(),
            freed: false,
        }
    }

    /// Whether a crash now could leave a header that points at this record.
    fn header_may_say(&self, entry: usize, location: Location) -> bool {
        self.on_disk[entry] == location || self.maybe_on_disk.contains(&(entry, location.0))
    }
}

impl Region {
    /// Writes a chunk's payload, which is already packed with `compression`.
    ///
    /// A payload too large for the region goes to a file of its own beside it, and back when it has shrunk.
    /// `timestamp` is in seconds since 1970.
    ///
    /// # Errors
    /// [`WriteChunkError`]; what was stored is still there then.
    pub fn write(
        &self,
        chunk: ChunkPos,
        compression: Compression,
        payload: &[u8],
        timestamp: u32,
        overwrite: Overwrite,
    ) -> Result<(), WriteChunkError> {
        let mut writer = self.writer(chunk)?;
        self.check_overwrite(chunk, overwrite)?;
        let sectors = (RECORD_HEAD + payload.len()).div_ceil(SECTOR);
        let (scheme, inside) = if sectors > MOST_SECTORS {
            self.write_external(chunk, payload, writer.durability)?;
            (compression.number() | EXTERNAL, &[][..])
        } else {
            (compression.number(), payload)
        };
        let location = self.write_record(chunk, &mut writer, scheme, inside)?;
        self.point(chunk, &mut writer, location, timestamp)?;
        self.sound[entry_of(chunk)].store(true, Ordering::Relaxed);
        if inside.len() == payload.len() {
            writer.removals.insert(entry_of(chunk));
        } else {
            writer.removals.remove(&entry_of(chunk));
        }
        self.settle(chunk, &mut writer)
    }

    /// Writes a record as another file of the region has it. A payload in a file of its own stays there.
    pub(super) fn copy_record(&self, chunk: ChunkPos, stored: &StoredChunk) -> Result<(), WriteChunkError> {
        let mut writer = self.writer(chunk)?;
        let number = stored.compression().number();
        let location = if stored.is_external() {
            self.write_record(chunk, &mut writer, number | EXTERNAL, &[])?
        } else {
            self.write_record(chunk, &mut writer, number, stored.payload())?
        };
        self.point(chunk, &mut writer, location, stored.timestamp())
    }

    /// Removes a chunk.
    ///
    /// # Errors
    /// [`WriteChunkError`]; what was stored is still there then.
    pub fn delete(&self, chunk: ChunkPos, overwrite: Overwrite) -> Result<(), WriteChunkError> {
        let mut writer = self.writer(chunk)?;
        self.check_overwrite(chunk, overwrite)?;
        if self.entries[entry_of(chunk)].load().is_absent() {
            return Ok(());
        }
        self.point(chunk, &mut writer, Location::ABSENT, 0)?;
        writer.removals.insert(entry_of(chunk));
        self.settle(chunk, &mut writer)
    }

    pub(super) fn writer(&self, chunk: ChunkPos) -> Result<MutexGuard<'_, Writer>, WriteChunkError> {
        if chunk.region() != self.position() {
            let path = self.path.clone();
            return Err(WriteChunkError::Read(ReadChunkError::OtherRegion { path, chunk }));
        }
        match &self.writer {
            Some(writer) => Ok(lock(writer)),
            None => Err(WriteChunkError::ReadOnly { path: self.path.clone(), chunk }),
        }
    }

    /// Refuses to write over damage, unless told to.
    fn check_overwrite(&self, chunk: ChunkPos, overwrite: Overwrite) -> Result<(), WriteChunkError> {
        if overwrite == Overwrite::Damaged || self.sound[entry_of(chunk)].load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut stored = StoredChunk::default();
        match self.read(chunk, &mut stored, &self.limits) {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error @ ReadChunkError::Damaged { .. }) => return Err(WriteChunkError::Damaged(error)),
            Err(error) => return Err(WriteChunkError::Read(error)),
        }
        check_content(stored.compression(), stored.payload(), &self.limits)
            .map_err(|cause| WriteChunkError::Content { path: self.path.clone(), chunk, cause })
    }

    /// Writes a payload to the chunk's own file, at once: it is there whole or not at all.
    fn write_external(
        &self,
        chunk: ChunkPos,
        payload: &[u8],
        durability: Durability,
    ) -> Result<(), WriteChunkError> {
        let path = self.path.with_file_name(external_file_name(chunk));
        let new = path.with_extension("mcc.new");
        let failed = |source| WriteChunkError::Io { path: path.clone(), chunk, source };
        let file = self.files.open(&new, Access::Write).map_err(failed)?;
        file.set_length(0).map_err(failed)?;
        file.write_at(payload, 0).map_err(failed)?;
        if durability != Durability::Never {
            file.sync().map_err(failed)?;
        }
        self.files.rename(&new, &path).map_err(failed)?;
        if durability != Durability::Never {
            self.sync_folder().map_err(failed)?;
        }
        Ok(())
    }

    /// Writes a record to free sectors, padded to their end.
    pub(super) fn write_record(
        &self,
        chunk: ChunkPos,
        writer: &mut Writer,
        scheme: u8,
        payload: &[u8],
    ) -> Result<Location, WriteChunkError> {
        let failed = |source| WriteChunkError::Io { path: self.path.clone(), chunk, source };
        let count = (RECORD_HEAD + payload.len()).div_ceil(SECTOR);
        if self.length() < HEADER as u64 {
            self.file.set_length(HEADER as u64).map_err(failed)?;
            // The file may be new, and so not be in its folder yet after a loss of power.
            if writer.durability != Durability::Never {
                self.sync_folder().map_err(failed)?;
            }
        }
        writer.record.clear();
        writer.record.extend_from_slice(&(payload.len() as u32 + 1).to_be_bytes());
        writer.record.push(scheme);
        writer.record.extend_from_slice(payload);
        writer.record.resize(count * SECTOR, 0);
        let start = writer.sectors.allocate(count as u32).ok_or_else(|| WriteChunkError::Full {
            path: self.path.clone(),
            chunk,
            sectors: count,
        })?;
        let written = self
            .file
            .write_at(&writer.record, u64::from(start) * SECTOR as u64)
            .and_then(|()| if writer.durability == Durability::Each { self.file.sync() } else { Ok(()) });
        if let Err(source) = written {
            writer.sectors.free(start, count as u32);
            return Err(failed(source));
        }
        let end = u64::from(start + count as u32) * SECTOR as u64;
        self.length.fetch_max(end.max(HEADER as u64), Ordering::AcqRel);
        Ok(Location::new(start, count as u32))
    }

    /// Lets readers see the new location, and the header on disk too unless that waits for a flush.
    pub(super) fn point(
        &self,
        chunk: ChunkPos,
        writer: &mut Writer,
        location: Location,
        timestamp: u32,
    ) -> Result<(), WriteChunkError> {
        let entry = entry_of(chunk);
        let before = self.entries[entry].load();
        if writer.durability != Durability::PerFlush {
            let sync = writer.durability == Durability::Each;
            if let Err(source) = self.write_entry(entry, location, timestamp, sync) {
                // What the header on disk says is unknown now: neither record's sectors are used again until a flush
                // has written what readers see.
                writer.maybe_on_disk.insert((entry, location.0));
                writer.retired.push(location);
                writer.waiting.insert(entry);
                return Err(WriteChunkError::Io { path: self.path.clone(), chunk, source });
            }
            writer.on_disk[entry] = location;
        }
        self.timestamps[entry].store(timestamp, Ordering::Relaxed);
        self.entries[entry].publish(location);
        if writer.durability == Durability::PerFlush {
            writer.waiting.insert(entry);
        }
        if writer.header_may_say(entry, before.location) {
            writer.retired.push(before.location);
        } else {
            self.free(writer, before.location);
        }
        Ok(())
    }
}

/// Looks whether a payload holds NBT; says what is wrong where it does not.
pub(crate) fn check_content(compression: Compression, payload: &[u8], limits: &Limits) -> Result<(), String> {
    let mut nbt = Vec::new();
    Inflater::new()
        .inflate(compression, payload, limits.inflated, &mut nbt)
        .map_err(|error| error.to_string())?;
    Tape::new().parse(&nbt, &limits.nbt).map(|_| ()).map_err(|error| error.to_string())
}

/// A panic of another writer leaves nothing half done that readers see; the next flush writes the header again.
pub(super) fn lock(writer: &Mutex<Writer>) -> MutexGuard<'_, Writer> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}
