//! Open regions of one folder, shared and bounded.

use super::file::{OpenRegionError, RegionOptions};
use super::flush::FlushError;
use super::name::region_file_name;
use super::store::{RegionFormat, RegionStore};
use crate::files::Access;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use voxtick_worlds::RegionPos;

/// The regions of a folder: opened when asked for, shared by all who ask, at most a set number open.
///
/// Each is opened in the format that it is there in, Anvil or Linear; new ones get the folder's format. The region that
/// was asked for the longest time ago is closed first, and none that anyone holds: where all are held, more than the
/// number are open.
///
/// ```
/// use voxtick_anvil::{files::Access, region::{RegionFolder, RegionOptions}};
/// use voxtick_worlds::RegionPos;
/// # let folder = tempfile::tempdir()?;
/// let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
/// let regions = RegionFolder::new(folder.path(), options);
/// let region = regions.region(RegionPos::new(0, 0))?.expect("created, for it may be written to");
/// assert!(region.chunks().is_empty());
/// regions.flush()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RegionFolder {
    folder: PathBuf,
    options: RegionOptions,
    capacity: usize,
    format: RegionFormat,
    open: Mutex<OpenRegions>,
}

#[derive(Debug, Default)]
struct OpenRegions {
    regions: FxHashMap<RegionPos, OpenRegion>,
    /// Counts requests; the time of `OpenRegion::asked`.
    clock: u64,
}

#[derive(Debug)]
struct OpenRegion {
    region: Arc<dyn RegionStore>,
    asked: u64,
}

/// Why a folder could not be flushed: the regions that could not.
#[derive(Debug, thiserror::Error)]
#[error("{} regions could not be flushed; the first: {}", failures.len(), first_of(failures))]
pub struct FlushFolderError {
    /// What went wrong, by ascending region.
    pub failures: Vec<FlushError>,
}

fn first_of(failures: &[FlushError]) -> String {
    failures.first().map_or_else(String::new, ToString::to_string)
}

impl RegionFolder {
    /// How many regions stay open unless told otherwise.
    pub const DEFAULT_CAPACITY: usize = 64;

    /// The regions of a folder; `options` says how each is opened, its position aside.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, options: RegionOptions) -> RegionFolder {
        RegionFolder {
            folder: folder.into(),
            options,
            capacity: RegionFolder::DEFAULT_CAPACITY,
            format: RegionFormat::default(),
            open: Mutex::default(),
        }
    }

    /// Keeps at most this many regions open, at least one.
    #[must_use]
    pub fn with_capacity(mut self, capacity: usize) -> RegionFolder {
        self.capacity = capacity.max(1);
        self
    }

    /// Gives new regions this format. Defaults to Anvil.
    #[must_use]
    pub fn with_format(mut self, format: RegionFormat) -> RegionFolder {
        self.format = format;
        self
    }

    /// The format of new regions.
    #[must_use]
    pub fn format(&self) -> RegionFormat {
        self.format
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The region at a position. `None` where its file does not exist and the options do not allow writing; else it
    /// is created.
    ///
    /// Holding the result keeps it open. The lock is held while a region is opened and while one is closed, never
    /// while chunks are read or written.
    ///
    /// # Errors
    /// If the region cannot be opened, or is there in both formats. One that could not be flushed is not closed, so that
    /// nothing is lost.
    pub fn region(&self, position: RegionPos) -> Result<Option<Arc<dyn RegionStore>>, OpenRegionError> {
        self.open_region(position, self.options.access == Access::Write)
    }

    /// As [`RegionFolder::region`], but a region whose file does not exist is not created for the asking.
    ///
    /// # Errors
    /// If the region cannot be opened or looked for.
    pub fn region_if_stored(
        &self,
        position: RegionPos,
    ) -> Result<Option<Arc<dyn RegionStore>>, OpenRegionError> {
        self.open_region(position, false)
    }

    /// Makes what was written to one region durable. One that is not open was flushed when it was closed.
    ///
    /// # Errors
    /// [`FlushError`]; a later flush tries again.
    pub fn flush_region(&self, position: RegionPos) -> Result<(), FlushError> {
        let region = self.lock().regions.get(&position).map(|open| open.region.clone());
        region.map_or(Ok(()), |region| region.flush())
    }

    fn open_region(
        &self,
        position: RegionPos,
        create: bool,
    ) -> Result<Option<Arc<dyn RegionStore>>, OpenRegionError> {
        let mut open = self.lock();
        open.clock += 1;
        let now = open.clock;
        if let Some(known) = open.regions.get_mut(&position) {
            known.asked = now;
            return Ok(Some(known.region.clone()));
        }
        let path = match self.stored_path(position)? {
            Some(path) => path,
            None if create => self.folder.join(region_file_name(position, self.format)),
            None => return Ok(None),
        };
        let options = RegionOptions { position: Some(position), ..self.options.clone() };
        let region = options.open_any(&path)?;
        open.close_beyond(self.capacity - 1);
        open.regions.insert(position, OpenRegion { region: region.clone(), asked: now });
        Ok(Some(region))
    }

    /// The file that a region is in.
    fn stored_path(&self, position: RegionPos) -> Result<Option<PathBuf>, OpenRegionError> {
        let mut found = None;
        for format in RegionFormat::ALL {
            let path = self.folder.join(region_file_name(position, format));
            let exists = self.options.files.exists(&path);
            if exists.map_err(|source| OpenRegionError::Io { path: path.clone(), source })? {
                match found {
                    None => found = Some(path),
                    Some(first) => return Err(OpenRegionError::TwoFiles { first, second: path }),
                }
            }
        }
        Ok(found)
    }

    /// How many regions are open.
    #[must_use]
    pub fn open_count(&self) -> usize {
        self.lock().regions.len()
    }

    /// Makes everything that was written durable.
    ///
    /// # Errors
    /// Names the regions that could not be flushed; all others are.
    pub fn flush(&self) -> Result<(), FlushFolderError> {
        let mut regions: Vec<(RegionPos, Arc<dyn RegionStore>)> =
            self.lock().regions.iter().map(|(position, open)| (*position, open.region.clone())).collect();
        regions.sort_by_key(|(position, _)| (position.x, position.z));
        let failures: Vec<FlushError> =
            regions.iter().filter_map(|(_, region)| region.flush().err()).collect();
        if failures.is_empty() { Ok(()) } else { Err(FlushFolderError { failures }) }
    }

    fn lock(&self) -> MutexGuard<'_, OpenRegions> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenRegions {
    /// Closes the regions asked for the longest time ago until `capacity` are left, as far as nobody holds them and
    /// they can be flushed.
    fn close_beyond(&mut self, capacity: usize) {
        let mut idle: Vec<(u64, RegionPos)> = self
            .regions
            .iter()
            .filter(|(_, open)| Arc::strong_count(&open.region) == 1)
            .map(|(position, open)| (open.asked, *position))
            .collect();
        idle.sort_by_key(|(asked, _)| *asked);
        for (_, position) in idle {
            if self.regions.len() <= capacity {
                return;
            }
            if self.regions.get(&position).is_some_and(|open| open.region.flush().is_ok()) {
                self.regions.remove(&position);
            }
        }
    }
}
