//! Reading a region file, by any number of threads, without a lock.
//!
//! A reader notes the entry, reads the record's sectors, and looks whether the entry is still the same. A writer never
//! writes into the sectors of a live entry and moves the entry after the record is in place, so an unchanged entry
//! means that the bytes are those of one record.

use super::damage::Damage;
use super::entry::{Entry, HeaderFault, Location, Snapshot};
use super::name::{RegionNameError, external_file_name, region_of_path};
use super::record::{RECORD_HEAD, Record};
use super::{ENTRIES, HEADER, SECTOR, chunk_of, entry_of};
use crate::compression::Compression;
use crate::files::{Access, Files, OsFiles, StoredFile};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use voxtick_worlds::{ChunkPos, RegionPos};

/// A region file.
///
/// Shared by reference between any number of threads; no read waits for another.
///
/// ```no_run
/// use voxtick_anvil::{Limits, region::{Region, StoredChunk}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let region = Region::open("save/region/r.0.0.mca")?;
/// let mut stored = StoredChunk::default();
/// for chunk in region.chunks() {
///     match region.read(chunk, &mut stored, &Limits::default()) {
///         Ok(true) => println!("{chunk}: {} bytes of {}", stored.payload().len(), stored.compression()),
///         Ok(false) => println!("{chunk}: removed meanwhile"),
///         Err(error) => println!("{error}"),
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Region {
    path: PathBuf,
    position: RegionPos,
    files: Arc<dyn Files>,
    file: Box<dyn StoredFile>,
    entries: Box<[Entry]>,
    timestamps: Box<[AtomicU32]>,
    length: AtomicU64,
}

/// Why a region file could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenRegionError {
    /// The name does not tell which region it is.
    #[error(transparent)]
    Name(#[from] RegionNameError),
    /// The file system refused.
    #[error("cannot read region {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

/// Why a chunk could not be read. Other chunks of the region are not concerned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadChunkError {
    /// What is stored is damaged.
    #[error("{}: chunk {chunk}: {damage}", path.display())]
    Damaged {
        /// The region file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
        /// What is wrong.
        damage: Damage,
    },
    /// The file system refused.
    #[error("{}: chunk {chunk}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The chunk.
        chunk: ChunkPos,
        /// What the file system said.
        source: io::Error,
    },
    /// The chunk belongs to another region.
    #[error("{}: chunk {chunk} lies in another region; open that one", path.display())]
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
    /// Opens a region file for reading; its name tells which region it is.
    ///
    /// A file of 0 bytes is a region without chunks, and the file may end anywhere: what is missing concerns only the
    /// entries that need it.
    ///
    /// # Errors
    /// If the name is no region's, or the file system refuses.
    pub fn open(path: impl AsRef<Path>) -> Result<Region, OpenRegionError> {
        Region::open_in(Arc::new(OsFiles), path.as_ref(), None)
    }

    /// As [`Region::open`], for a file whose name does not tell which region it is.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn open_as(path: impl AsRef<Path>, position: RegionPos) -> Result<Region, OpenRegionError> {
        Region::open_in(Arc::new(OsFiles), path.as_ref(), Some(position))
    }

    /// As [`Region::open`] and [`Region::open_as`], on a file system of the caller's.
    ///
    /// # Errors
    /// If no position is given and the name is no region's, or the file system refuses.
    pub fn open_in(
        files: Arc<dyn Files>,
        path: &Path,
        position: Option<RegionPos>,
    ) -> Result<Region, OpenRegionError> {
        let position = position.map_or_else(|| region_of_path(path), Ok)?;
        let failed = |source| OpenRegionError::Io { path: path.to_path_buf(), source };
        let file = files.open(path, Access::Read).map_err(failed)?;
        let length = file.length().map_err(failed)?;
        let mut header = vec![0; HEADER];
        let available = file.read_at(&mut header, 0).map_err(failed)?;
        let word = |at: usize| {
            let word: &[u8; 4] = header[at..].first_chunk().expect("the header is a whole number of words");
            u32::from_be_bytes(*word)
        };
        let locations: Vec<Location> = (0..ENTRIES).map(|entry| Location(word(entry * 4))).collect();
        let faults = header_faults(&locations, available, length);
        Ok(Region {
            path: path.to_path_buf(),
            position,
            files,
            file,
            entries: locations
                .iter()
                .zip(faults)
                .map(|(location, fault)| Entry::new(*location, fault))
                .collect(),
            timestamps: (0..ENTRIES).map(|entry| AtomicU32::new(word(SECTOR + entry * 4))).collect(),
            length: AtomicU64::new(length),
        })
    }

    /// Which region it is.
    #[must_use]
    pub fn position(&self) -> RegionPos {
        self.position
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    /// The chunks that are not absent, damaged ones included, in the order of the header.
    pub fn chunks(&self) -> impl Iterator<Item = ChunkPos> + '_ {
        (0..ENTRIES)
            .filter(|entry| !self.is_absent(self.entries[*entry].load()))
            .map(|entry| chunk_of(self.position, entry))
    }

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
        if chunk.region() != self.position {
            return Err(ReadChunkError::OtherRegion { path: self.path.clone(), chunk });
        }
        let entry = &self.entries[entry_of(chunk)];
        loop {
            let snapshot = entry.load();
            if self.is_absent(snapshot) {
                return Ok(false);
            }
            let outcome = self.read_once(chunk, snapshot, stored, limits);
            // A writer that finished meanwhile explains any outcome; what it wrote is read instead.
            if entry.unchanged_since(snapshot) {
                return outcome.map(|()| true);
            }
        }
    }

    fn is_absent(&self, snapshot: Snapshot) -> bool {
        snapshot.location == Location::ABSENT && snapshot.fault == HeaderFault::None
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
    fn header_damage(&self, chunk: ChunkPos, snapshot: Snapshot) -> Option<Damage> {
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
                Damage::Overlap { sector, other: chunk_of(self.position, other) }
            }
        })
    }
}

/// What the header alone says against each entry. `available` bytes of it exist, the file has `length`.
fn header_faults(locations: &[Location], available: usize, length: u64) -> Vec<HeaderFault> {
    let mut faults: Vec<HeaderFault> = locations
        .iter()
        .enumerate()
        .map(|(entry, location)| {
            if available > 0 && available < (entry + 1) * 4 {
                HeaderFault::Cut
            } else if *location == Location::ABSENT {
                HeaderFault::None
            } else if location.sectors() == 0 {
                HeaderFault::NoSectors
            } else if location.offset() < 2 {
                HeaderFault::InHeader
            } else if u64::from(location.offset()) * SECTOR as u64 >= length {
                HeaderFault::PastEnd
            } else {
                HeaderFault::None
            }
        })
        .collect();
    mark_overlaps(locations, &mut faults);
    faults
}

/// Marks all entries that share a sector with another one; those with another fault take no part.
fn mark_overlaps(locations: &[Location], faults: &mut [HeaderFault]) {
    let mut order: Vec<usize> = (0..locations.len())
        .filter(|entry| faults[*entry] == HeaderFault::None && locations[*entry] != Location::ABSENT)
        .collect();
    order.sort_by_key(|entry| locations[*entry].offset());
    // The entry that reaches furthest so far may overlap any later one, not only the next.
    let mut furthest: Option<usize> = None;
    for entry in order {
        if let Some(before) = furthest
            && locations[entry].offset() < locations[before].end()
        {
            faults[before] = HeaderFault::Overlap;
            faults[entry] = HeaderFault::Overlap;
        }
        if furthest.is_none_or(|before| locations[entry].end() > locations[before].end()) {
            furthest = Some(entry);
        }
    }
}
