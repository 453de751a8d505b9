//! An open region file: what its readers and its writer share.

use super::entry::{Entry, Location};
use super::header::header_faults;
use super::name::{RegionNameError, region_of_path};
use super::store::{RegionFormat, RegionStore};
use super::write::{Durability, Writer};
use super::{ENTRIES, HEADER, SECTOR, chunk_of, entry_of};
use crate::Limits;
use crate::files::{Access, Files, OsFiles, StoredFile};
use crate::linear::{LinearError, LinearFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
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
    pub(super) path: PathBuf,
    position: RegionPos,
    pub(super) files: Arc<dyn Files>,
    pub(super) file: Box<dyn StoredFile>,
    pub(super) entries: Box<[Entry]>,
    /// Entries whose content is known to be whole: it was decoded, or written here.
    pub(super) sound: Box<[AtomicBool]>,
    pub(super) timestamps: Box<[AtomicU32]>,
    pub(super) length: AtomicU64,
    pub(super) limits: Limits,
    /// Absent where the region is only read.
    pub(super) writer: Option<Mutex<Writer>>,
}

/// How a region file is opened.
///
/// ```
/// use voxtick_anvil::{files::Access, region::{Durability, RegionOptions}};
/// let options = RegionOptions { access: Access::Write, durability: Durability::Each, ..RegionOptions::default() };
/// # let folder = tempfile::tempdir()?;
/// let region = options.open(folder.path().join("r.0.0.mca"))?;
/// assert_eq!(region.chunks().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RegionOptions {
    /// The file system. Defaults to the operating system's.
    pub files: Arc<dyn Files>,
    /// Which region it is. Defaults to what the file's name tells.
    pub position: Option<RegionPos>,
    /// Whether it may be written to. Defaults to reading only.
    pub access: Access,
    /// When what was written is safe. Defaults to [`Durability::PerFlush`].
    pub durability: Durability,
    /// The level of zstd that Linear files are written with. Defaults to
    /// [`LinearRegion::DEFAULT_LEVEL`](crate::linear::LinearRegion::DEFAULT_LEVEL).
    pub linear_level: i32,
    /// Caps on what opening and writing inflates: a Linear file as a whole, and what is looked at before it is written
    /// over. Defaults to [`Limits::default`].
    pub limits: Limits,
}

impl Default for RegionOptions {
    fn default() -> Self {
        RegionOptions {
            files: Arc::new(OsFiles),
            position: None,
            access: Access::Read,
            durability: Durability::PerFlush,
            linear_level: crate::linear::LinearRegion::DEFAULT_LEVEL,
            limits: Limits::default(),
        }
    }
}

impl RegionOptions {
    /// Opens a region file of the Anvil format.
    ///
    /// # Errors
    /// As [`Region::open`] and [`Region::open_for_writing`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<Region, OpenRegionError> {
        let path = path.as_ref();
        let position = self.position.map_or_else(|| region_of_path(path), Ok)?;
        let failed = |source| OpenRegionError::io(path, source);
        let file = self.open_file(path)?;
        let length = file.length().map_err(failed)?;
        let mut header = vec![0; HEADER];
        let available = file.read_at(&mut header, 0).map_err(failed)?;
        // Growing the file would make absent entries of those that are only cut off.
        if self.access == Access::Write && available > 0 && available < SECTOR {
            return Err(OpenRegionError::HeaderCut { path: path.to_path_buf(), length });
        }
        let word = |at: usize| {
            let word: &[u8; 4] = header[at..].first_chunk().expect("the header is a whole number of words");
            u32::from_be_bytes(*word)
        };
        let locations: Vec<Location> = (0..ENTRIES).map(|entry| Location(word(entry * 4))).collect();
        let faults = header_faults(&locations, available, length);
        let writer =
            (self.access == Access::Write).then(|| Mutex::new(Writer::new(&locations, self.durability)));
        Ok(Region {
            path: path.to_path_buf(),
            position,
            files: self.files,
            file,
            entries: locations
                .iter()
                .zip(faults)
                .map(|(location, fault)| Entry::new(*location, fault))
                .collect(),
            sound: (0..ENTRIES).map(|_| AtomicBool::new(false)).collect(),
            timestamps: (0..ENTRIES).map(|entry| AtomicU32::new(word(SECTOR + entry * 4))).collect(),
            length: AtomicU64::new(length),
            limits: self.limits,
            writer,
        })
    }

    /// Opens a region file of the format that its name's ending tells.
    ///
    /// # Errors
    /// As [`Region::open`], [`Region::open_for_writing`] and [`LinearFile::open`].
    pub fn open_any(self, path: impl AsRef<Path>) -> Result<Arc<dyn RegionStore>, OpenRegionError> {
        Ok(match RegionFormat::of_path(path.as_ref()) {
            RegionFormat::Anvil => Arc::new(self.open(path)?),
            RegionFormat::Linear => Arc::new(LinearFile::open(path, self)?),
        })
    }

    /// Opens the file itself. Whoever writes to it has it alone.
    pub(crate) fn open_file(&self, path: &Path) -> Result<Box<dyn StoredFile>, OpenRegionError> {
        let opened = match self.access {
            Access::Read => self.files.open(path, Access::Read),
            Access::Write => self.files.open_alone(path),
        };
        opened.map_err(|source| OpenRegionError::io(path, source))
    }
}

/// Opens a region file of the format that its name's ending tells.
///
/// # Errors
/// As [`RegionOptions::open_any`].
pub fn open_region(
    path: impl AsRef<Path>,
    position: RegionPos,
    access: Access,
) -> Result<Arc<dyn RegionStore>, OpenRegionError> {
    RegionOptions { position: Some(position), access, ..RegionOptions::default() }.open_any(path)
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
    /// Another writes to it.
    #[error("{} is open for writing elsewhere, in this program or another; close it there first", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The region is there in two formats, and nothing says which one holds.
    #[error("{} and {} are the same region; move one of them away", first.display(), second.display())]
    TwoFiles {
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// The file is no whole Linear region. Nothing of it is read, so that no chunk is taken for absent.
    #[error("{}: {source}; restore it from a copy", path.display())]
    Linear {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: LinearError,
    },
    /// The file ends within its header, so it is unknown which chunks it held.
    #[error("{} has {length} bytes and ends within its header; repair it before writing to it", path.display())]
    HeaderCut {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        length: u64,
    },
}

impl OpenRegionError {
    pub(crate) fn io(path: &Path, source: io::Error) -> OpenRegionError {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::ResourceBusy => OpenRegionError::Locked { path },
            _ => OpenRegionError::Io { path, source },
        }
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
        RegionOptions::default().open(path)
    }

    /// As [`Region::open`], for a file whose name does not tell which region it is.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn open_as(path: impl AsRef<Path>, position: RegionPos) -> Result<Region, OpenRegionError> {
        RegionOptions { position: Some(position), ..RegionOptions::default() }.open(path)
    }

    /// Opens a region file for reading and writing, and creates it if it does not exist.
    ///
    /// The file is locked until the region is dropped: nobody else can open it for writing, in this process or
    /// another, as far as they ask. Opening for reading locks nothing.
    ///
    /// # Errors
    /// As [`Region::open`], where another has it open for writing ([`OpenRegionError::Locked`]), and where the file ends
    /// within the locations of its header.
    pub fn open_for_writing(path: impl AsRef<Path>) -> Result<Region, OpenRegionError> {
        RegionOptions { access: Access::Write, ..RegionOptions::default() }.open(path)
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
            .filter(|entry| !self.entries[*entry].load().is_absent())
            .map(|entry| chunk_of(self.position, entry))
    }

    /// Notes that a chunk's content was decoded without fault, so that it may be written over without a second look.
    pub fn mark_sound(&self, chunk: ChunkPos) {
        if chunk.region() == self.position {
            self.sound[entry_of(chunk)].store(true, Ordering::Relaxed);
        }
    }
}
