//! Reading a region file, by any number of threads, without a lock.
//!
//! A reader notes the entry, reads the record's sectors, and looks whether the entry is still the same. A writer never
//! writes into the sectors of a live entry and moves the entry after the record is in place, so an unchanged entry
//! means that the bytes are those of one record.

use super::damage::Damage;
use super::entry::{HeaderFault, Snapshot};
use super::file::Region;
use super::name::external_file_name;
use super::record::{RECORD_HEAD, Record};
use super::{ENTRIES, SECTOR, chunk_of, entry_of};
use crate::compression::Compression;
use crate::files::Access;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use voxtick_worlds::ChunkPos;

/// Why a chunk could not be read. Other chunks of the region are not concerned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadChunkError {
    /// What is stored is damaged.
    #[error("{}: {chunk}: {damage}", path.display())]
    Damaged {
        /// The region file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
        /// What is wrong.
        damage: Damage,
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
    /// The chunk belongs to another region.
    #[error("{}: {chunk} lies in another region; open that one", path.display())]
    OtherRegion {
        /// The region file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
    },
}

/// A chunk as it is stored: compressed. Keep one and read into it again: its memory is reused.
#[derive(Debug, Clone)]
pub struct StoredChunk {
    bytes: Vec<u8>,
    payload: Range<usize>,
    compression: Compression,
    external: bool,
    timestamp: u32,
}

impl Default for StoredChunk {
    fn default() -> Self {
        StoredChunk {
            bytes: Vec::new(),
            payload: 0..0,
            compression: Compression::Uncompressed,
            external: false,
            timestamp: 0,
        }
    }
}

impl StoredChunk {
    /// Makes it a copy of a payload.
    pub(crate) fn set(&mut self, compression: Compression, payload: &[u8], timestamp: u32) {
        self.bytes.clear();
        self.bytes.extend_from_slice(payload);
        self.payload = 0..payload.len();
        (self.compression, self.external, self.timestamp) = (compression, false, timestamp);
    }

    /// The compressed NBT.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.payload.clone()]
    }

    /// How the payload is compressed.
    #[must_use]
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Whether it came from a file of its own.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.external
    }

    /// When it was written, in seconds since 1970.
    #[must_use]
    pub fn timestamp(&self) -> u32 {
        self.timestamp
    }
}

impl Region {
    /// Reads a chunk as it is stored. Returns `false`, and leaves `stored` as it was, where the chunk is absent.
    ///
    /// # Errors
    /// [`ReadChunkError`], confined to this chunk.
    pub fn read(
        &self,
        chunk: ChunkPos,
        stored: &mut StoredChunk,
        limits: &crate::Limits,
    ) -> Result<bool, ReadChunkError> {
        if chunk.region() != self.position() {
            return Err(ReadChunkError::OtherRegion { path: self.path.clone(), chunk });
        }
        let entry = &self.entries[entry_of(chunk)];
        loop {
            let snapshot = entry.load();
            if snapshot.is_absent() {
                return Ok(false);
            }
            let outcome = self.read_once(chunk, snapshot, stored, limits);
            // A writer that finished meanwhile explains any outcome; what it wrote is read instead.
            if entry.unchanged_since(snapshot) {
                return outcome.map(|()| true);
            }
        }
    }

    fn read_once(
        &self,
        chunk: ChunkPos,
        snapshot: Snapshot,
        stored: &mut StoredChunk,
        limits: &crate::Limits,
    ) -> Result<(), ReadChunkError> {
        let damaged = |damage| ReadChunkError::Damaged { path: self.path.clone(), chunk, damage };
        if let Some(damage) = self.header_damage(chunk, snapshot) {
            return Err(damaged(damage));
        }
        let offset = u64::from(snapshot.location.offset()) * SECTOR as u64;
        let room = snapshot.location.sectors() as usize * SECTOR;
        stored.bytes.resize(room, 0);
        let available = self
            .file
            .read_at(&mut stored.bytes, offset)
            .map_err(|source| ReadChunkError::Io { path: self.path.clone(), chunk, source })?;
        let record = Record::parse(&stored.bytes[..available], offset, room).map_err(damaged)?;
        stored.timestamp = self.timestamps[entry_of(chunk)].load(Ordering::Relaxed);
        stored.compression = record.compression;
        stored.external = record.external;
        stored.payload = RECORD_HEAD..RECORD_HEAD + record.payload_length;
        if record.external {
            self.read_external(chunk, offset, &record, stored, limits)?;
        }
        Ok(())
    }

    /// Reads the payload from the chunk's own file.
    fn read_external(
        &self,
        chunk: ChunkPos,
        offset: u64,
        record: &Record,
        stored: &mut StoredChunk,
        limits: &crate::Limits,
    ) -> Result<(), ReadChunkError> {
        let file_name = external_file_name(chunk);
        let path = self.path.with_file_name(&file_name);
        let damaged = |damage| ReadChunkError::Damaged { path: self.path.clone(), chunk, damage };
        let failed = |source| ReadChunkError::Io { path: path.clone(), chunk, source };
        let file = match self.files.open(&path, Access::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(damaged(Damage::ExternalMissing { file: file_name }));
            }
            Err(error) => return Err(failed(error)),
        };
        if record.payload_length > 0 {
            return Err(damaged(Damage::BothPayloads { offset, file: file_name }));
        }
        let length = file.length().map_err(failed)?;
        if length > limits.external as u64 {
            return Err(damaged(Damage::ExternalTooLarge {
                file: file_name,
                length,
                limit: limits.external,
            }));
        }
        stored.bytes.resize(length as usize, 0);
        let read = file.read_at(&mut stored.bytes, 0).map_err(failed)?;
        stored.payload = 0..read;
        // A crash between replacing this file and the record leaves the scheme of the former payload in the record.
        stored.compression = Compression::recognise(&stored.bytes[..read]).unwrap_or(record.compression);
        Ok(())
    }

    /// What is wrong with an entry by the header alone.
    pub(super) fn header_damage(&self, chunk: ChunkPos, snapshot: Snapshot) -> Option<Damage> {
        let sector = snapshot.location.offset();
        Some(match snapshot.fault {
            HeaderFault::None => return None,
            HeaderFault::Cut => Damage::HeaderCut,
            HeaderFault::InHeader => Damage::OffsetInHeader { sector },
            HeaderFault::NoSectors => Damage::NoSectors { sector },
            HeaderFault::PastEnd => Damage::PastEnd { sector, length: self.length() },
            HeaderFault::Overlap => {
                let own = entry_of(chunk);
                let shares = |entry: &usize| {
                    let other = self.entries[*entry].load().location;
                    *entry != own
                        && other.sectors() > 0
                        && other.offset() < snapshot.location.end()
                        && sector < other.end()
                };
                let other = (0..ENTRIES).find(shares).unwrap_or(own);
                Damage::Overlap { sector, other: chunk_of(self.position(), other) }
            }
        })
    }
}
