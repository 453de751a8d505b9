//! The folders of a save, the region files in them, and what the save says of its dimensions.

mod settings;

pub use settings::SettingsError;

use crate::Limits;
use crate::chunk::{ChunkDecoder, DecodeChunkError};
use crate::files::Access;
use crate::region::{StoredChunk, open_region, region_of_path};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use voxtick_worlds::{BlockStates, Dimension, RegionPos};

/// The three dimensions that every save has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SaveDimension {
    /// The overworld.
    Overworld,
    /// The nether.
    Nether,
    /// The end.
    End,
}

impl SaveDimension {
    /// All three.
    pub const ALL: [SaveDimension; 3] = [SaveDimension::Overworld, SaveDimension::Nether, SaveDimension::End];

    /// The build range and sky that the game gives it (Minecraft Java 1.18 onward).
    #[must_use]
    pub fn dimension(self) -> Dimension {
        match self {
            SaveDimension::Overworld => Dimension::overworld(),
            SaveDimension::Nether => Dimension::nether(),
            SaveDimension::End => Dimension::end(),
        }
    }

    /// Where its region files lie below the save's folder, the layout of Minecraft Java 26.1 first.
    fn folders(self) -> [&'static str; 2] {
        match self {
            SaveDimension::Overworld => ["dimensions/minecraft/overworld/region", "region"],
            SaveDimension::Nether => ["dimensions/minecraft/the_nether/region", "DIM-1/region"],
            SaveDimension::End => ["dimensions/minecraft/the_end/region", "DIM1/region"],
        }
    }
}

/// The DataVersion (21w43a) from which on the overworld reaches from y = -64 to 319.
const FIRST_TALL_VERSION: i32 = 2844;

/// The region files of one dimension of a save.
///
/// ```no_run
/// use voxtick_anvil::{Save, save::SaveDimension};
/// use voxtick_worlds::BlockStates;
/// let save = Save::open("saves/New World", SaveDimension::Overworld, &BlockStates::load())?;
/// println!("{} regions", save.regions().len());
/// # Ok::<(), voxtick_anvil::SaveError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Save {
    folder: PathBuf,
    dimension: SaveDimension,
    regions: Vec<(RegionPos, PathBuf)>,
}

/// Why a path is no save.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// There is nothing at the path.
    #[error("{} does not exist; give the folder of a save or a region file", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The path is neither a region file nor a folder with regions.
    #[error("{} is no save: it has no folder `region` and is no region file with a chunk in it", path.display())]
    NoSave {
        /// The path.
        path: PathBuf,
    },
    /// The folder of regions has no region file in it.
    #[error("{} holds no region file (r.X.Z.mca or r.X.Z.linear); the world is empty", path.display())]
    Empty {
        /// The folder of regions.
        path: PathBuf,
    },
    /// The game, or another program that asks as it does, has the save open.
    #[error("{} is locked: the world is open in the game or another program; close it there first", path.display())]
    InUse {
        /// The file that is locked.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

impl Save {
    /// Finds the region files of a dimension.
    ///
    /// `path` is a save's folder, a folder of region files, or one region file.
    ///
    /// # Errors
    /// [`SaveError`], which tells a missing path, a path that is no save and an empty world apart.
    pub fn open(
        path: impl AsRef<Path>,
        dimension: SaveDimension,
        states: &Arc<BlockStates>,
    ) -> Result<Save, SaveError> {
        let path = path.as_ref();
        let failed = |source| SaveError::Io { path: path.to_path_buf(), source };
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SaveError::Missing { path: path.to_path_buf() });
            }
            Err(error) => return Err(failed(error)),
        };
        if metadata.is_file() {
            let position = region_of_file(path, states)?;
            let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
            return Ok(Save { folder, dimension, regions: vec![(position, path.to_path_buf())] });
        }
        for folder in dimension.folders() {
            let folder = path.join(folder);
            if folder.is_dir() {
                let regions = region_files(&folder)?;
                if regions.is_empty() {
                    return Err(SaveError::Empty { path: folder });
                }
                return Ok(Save { folder, dimension, regions });
            }
        }
        let regions = region_files(path)?;
        if regions.is_empty() {
            return Err(SaveError::NoSave { path: path.to_path_buf() });
        }
        Ok(Save { folder: path.to_path_buf(), dimension, regions })
    }

    /// The folder of the region files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the regions that hold the entities: `entities` beside the folder `region`, as the game has it from
    /// Minecraft Java 1.17 on. `None` where there is none; older saves keep entities in the chunks' own records.
    #[must_use]
    pub fn entities_folder(&self) -> Option<PathBuf> {
        let folder = std::path::absolute(&self.folder).ok()?;
        let is_region = folder.file_name().is_some_and(|name| name == "region");
        Some(folder.with_file_name("entities")).filter(|entities| is_region && entities.is_dir())
    }

    /// Which dimension it is.
    #[must_use]
    pub fn dimension(&self) -> SaveDimension {
        self.dimension
    }

    /// The build range and sky that its chunks were made for: what the save's level.dat and its data packs say, where they
    /// differ from the game's own; else, in the overworld, y = 0 to 255 where the first readable chunk is older than
    /// Minecraft Java 1.18 (DataVersion 2844); else what the game gives the dimension.
    ///
    /// # Errors
    /// [`SettingsError`] where there is a level.dat or a data pack that cannot be read or makes no sense.
    pub fn build_range(&self, states: &Arc<BlockStates>) -> Result<Dimension, SettingsError> {
        if let Some(dimension) = settings::read_settings(&self.folder, self.dimension)? {
            return Ok(dimension);
        }
        let dimension = self.dimension.dimension();
        let mut decoder = ChunkDecoder::new(dimension.clone(), states.clone(), Limits::default());
        let mut stored = StoredChunk::default();
        for (position, path) in &self.regions {
            let Ok(region) = open_region(path, *position, Access::Read) else { continue };
            for chunk in region.chunks() {
                if let Ok(true) = region.read(chunk, &mut stored, &Limits::default())
                    && let Ok(decoded) = decoder.decode(chunk, &stored)
                    && let Some(kept) = decoded.chunk.unmodelled
                {
                    let is_old =
                        self.dimension == SaveDimension::Overworld && kept.data_version < FIRST_TALL_VERSION;
                    return Ok(if is_old { Dimension::overworld_before_1_18() } else { dimension });
                }
            }
        }
        Ok(dimension)
    }

    /// Locks the save as the game does that has it open: neither opens it while the other has it.
    ///
    /// The game, from Minecraft Java 1.16 to 1.21.11 at least, opens `session.lock` in the save's folder, writes a snowman
    /// (U+2603) into it and keeps what `FileChannel.tryLock` gives until the save is closed; where it gives nothing the save
    /// is in use (the class that its message names, `DirectoryLock`). Java takes a record lock on Unix, which belongs to the
    /// process, so one process should lock a save once. `None` where there is no such file, as around a folder of regions
    /// alone.
    ///
    /// # Errors
    /// [`SaveError::InUse`], and [`SaveError::Io`] where the file cannot be opened for writing.
    pub fn lock_session(&self) -> Result<Option<SessionLock>, SaveError> {
        // The longest way up is from `dimensions/minecraft/overworld/region`.
        const LEVELS: usize = 5;
        let candidates = self.folder.ancestors().take(LEVELS).map(|folder| folder.join("session.lock"));
        let Some(path) = candidates.into_iter().find(|path| path.is_file()) else { return Ok(None) };
        let locked = OpenOptions::new().read(true).write(true).open(&path).and_then(|file| {
            lock_as_java_does(&file)?;
            Ok(SessionLock { _file: file })
        });
        locked.map(Some).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::ResourceBusy => SaveError::InUse { path },
            _ => SaveError::Io { path, source },
        })
    }

    /// The regions and their files, in ascending order of position.
    #[must_use]
    pub fn regions(&self) -> &[(RegionPos, PathBuf)] {
        &self.regions
    }
}

/// Keeps the game from opening a save until it is dropped; see [`Save::lock_session`].
#[derive(Debug)]
pub struct SessionLock {
    _file: File,
}

#[cfg(unix)]
fn lock_as_java_does(file: &File) -> io::Result<()> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    fcntl_lock(file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        // Either says that another process has it.
        Errno::ACCESS | Errno::AGAIN => io::ErrorKind::WouldBlock.into(),
        other => other.into(),
    })
}

#[cfg(not(unix))]
fn lock_as_java_does(file: &File) -> io::Result<()> {
    Ok(file.try_lock()?)
}

/// Which region a file is: by its name, or, where that names no region, by the first chunk in it that says where it lies.
///
/// # Errors
/// [`SaveError::NoSave`] where neither tells, and [`SaveError::Io`] where the file cannot be read.
pub fn region_of_file(path: &Path, states: &Arc<BlockStates>) -> Result<RegionPos, SaveError> {
    if let Ok(position) = region_of_path(path) {
        return Ok(position);
    }
    let region = open_region(path, RegionPos::new(0, 0), Access::Read)
        .map_err(|error| SaveError::Io { path: path.to_path_buf(), source: io::Error::other(error) })?;
    let mut decoder = ChunkDecoder::new(Dimension::overworld(), states.clone(), Limits::default());
    let mut stored = StoredChunk::default();
    for position in region.chunks() {
        if let Ok(true) = region.read(position, &mut stored, &Limits::default()) {
            match decoder.decode(position, &stored) {
                Ok(_) => return Ok(position.region()),
                Err(DecodeChunkError::WrongPosition { found }) => return Ok(found.region()),
                Err(_) => {}
            }
        }
    }
    Err(SaveError::NoSave { path: path.to_path_buf() })
}

/// The region files in a folder, by position.
fn region_files(folder: &Path) -> Result<Vec<(RegionPos, PathBuf)>, SaveError> {
    let failed = |source| SaveError::Io { path: folder.to_path_buf(), source };
    let mut regions = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let Ok(position) = region_of_path(&path) {
            regions.push((position, path));
        }
    }
    regions.sort_by(|(a, first), (b, second)| (a.x, a.z, first).cmp(&(b.x, b.z, second)));
    Ok(regions)
}
