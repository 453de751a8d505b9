//! Chunks to and from region files on threads of their own, so that no tick waits for a disk or a codec.
//!
//! [`ChunkIo`] knows no simulation: requests go in, results come out. Reading, decoding, encoding, packing and writing
//! of one chunk happen on one of its threads. Its threads are the only ones this crate starts.

mod queue;
mod worker;

use crate::Limits;
use crate::chunk::{EncodeChunkError, Notice};
use crate::compression::Compression;
use crate::load::LoadChunkError;
use crate::region::{FlushFolderError, OpenRegionError, RegionFolder, WriteChunkError};
use crossbeam_channel::{Receiver, Sender, bounded};
use queue::LoadQueue;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, Unmodelled};

/// How chunks are loaded and saved.
#[derive(Debug, Clone)]
pub struct ChunkIoSettings {
    /// Threads. Defaults to 2.
    pub threads: usize,
    /// How saved chunks are packed. Defaults to zlib.
    pub compression: Compression,
    /// The level of zlib and gzip. Defaults to [`Packer::DEFAULT_LEVEL`](crate::compression::Packer::DEFAULT_LEVEL).
    pub level: i32,
    /// What reading one chunk may take.
    pub limits: Limits,
    /// Results that may wait to be taken before the threads pause. Defaults to 256.
    pub results: usize,
}

impl Default for ChunkIoSettings {
    fn default() -> Self {
        ChunkIoSettings {
            threads: 2,
            compression: Compression::Zlib,
            level: crate::compression::Packer::DEFAULT_LEVEL,
            limits: Limits::default(),
            results: 256,
        }
    }
}

/// What became of a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum IoResult {
    /// A chunk was loaded, or is absent, or could not be.
    Loaded {
        /// The chunk asked for.
        position: ChunkPos,
        /// Its number in the order of asking, from 0.
        order: u64,
        /// The chunk; `None` where it is absent.
        outcome: Result<Option<Loaded>, LoadChunkError>,
    },
    /// A chunk was saved, or could not be.
    Saved {
        /// The chunk.
        position: ChunkPos,
        /// What was written.
        outcome: Result<Saved, SaveChunkError>,
    },
    /// What was saved before is durable, or is not.
    Flushed(Result<(), FlushFolderError>),
}

/// A loaded chunk.
#[derive(Debug)]
pub struct Loaded {
    /// The chunk.
    pub chunk: Box<Chunk>,
    /// What was odd about it and harmless.
    pub notices: Vec<Notice>,
    /// Its bytes in the file.
    pub bytes: u64,
}

/// A saved chunk.
#[derive(Debug)]
pub struct Saved {
    /// What the file holds now. The chunk has to take it over before it is saved again. `None` where nothing had
    /// changed and nothing was written.
    pub stored: Option<Arc<Unmodelled>>,
}

impl Saved {
    /// Bytes written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.stored.as_ref().map_or(0, |stored| stored.bytes.len() as u64)
    }
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
    #[error("the region does not exist and may not be created")]
    NoRegion,
    /// The chunk cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeChunkError),
    /// The region does not take it.
    #[error(transparent)]
    Write(#[from] WriteChunkError),
    /// This crate made a mistake.
    #[error("encoding it failed by a fault of this program; please report it")]
    Fault,
}

/// Why the threads could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartIoError {
    /// There is no such level.
    #[error(transparent)]
    Level(#[from] crate::compression::LevelError),
    /// The operating system refused.
    #[error("cannot start a thread for chunk files: {0}")]
    Thread(#[from] io::Error),
}

/// Nanoseconds that the threads have spent, by kind of work, all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IoTimes {
    /// Finding and reading records.
    pub read: u64,
    /// Inflating and decoding.
    pub decode: u64,
    /// Palettes, packing cells and NBT.
    pub encode: u64,
    /// Compressing.
    pub pack: u64,
    /// Handing records to the file.
    pub write: u64,
}

/// Loads and saves chunks on threads of its own.
///
/// Loads are served nearest to the points of interest first, then in the order of asking; saves in the order of
/// asking. Loads and saves take turns. Dropping it finishes the saves that wait, and not the loads.
///
/// ```
/// use voxtick_anvil::io::{ChunkIo, ChunkIoSettings, IoResult};
/// use voxtick_anvil::{files::Access, region::{RegionFolder, RegionOptions}};
/// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension};
/// # let folder = tempfile::tempdir()?;
/// let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
/// let regions = RegionFolder::new(folder.path(), options);
/// let dimension = Dimension::overworld();
/// let mut io = ChunkIo::start(regions, dimension.clone(), BlockStates::load(), ChunkIoSettings::default())?;
/// io.save(Chunk::empty(ChunkPos::new(2, 3), &dimension));
/// io.flush();
/// let saved = io.wait().expect("something is under way");
/// assert!(matches!(saved, IoResult::Saved { outcome: Ok(_), .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ChunkIo {
    shared: Arc<Shared>,
    results: Receiver<IoResult>,
    threads: Vec<JoinHandle<()>>,
    asked: u64,
    under_way: usize,
}

/// What the threads share.
#[derive(Debug)]
struct Shared {
    regions: RegionFolder,
    dimension: Dimension,
    states: Arc<BlockStates>,
    settings: ChunkIoSettings,
    jobs: Mutex<Jobs>,
    wake: Condvar,
    times: SharedTimes,
}

#[derive(Debug, Default)]
struct Jobs {
    loads: LoadQueue,
    saves: VecDeque<Box<Chunk>>,
    /// Saves that a thread works on.
    saving: usize,
    flush: bool,
    load_was_last: bool,
    stop: bool,
}

#[derive(Debug, Default)]
struct SharedTimes {
    read: AtomicU64,
    decode: AtomicU64,
    encode: AtomicU64,
    pack: AtomicU64,
    write: AtomicU64,
}

impl ChunkIo {
    /// Starts the threads.
    ///
    /// # Errors
    /// If there is no such compression level, or the operating system refuses a thread.
    pub fn start(
        regions: RegionFolder,
        dimension: Dimension,
        states: Arc<BlockStates>,
        settings: ChunkIoSettings,
    ) -> Result<ChunkIo, StartIoError> {
        crate::compression::Packer::with_level(settings.level)?;
        let (sender, results) = bounded(settings.results.max(1));
        let shared = Arc::new(Shared {
            regions,
            dimension,
            states,
            settings,
            jobs: Mutex::default(),
            wake: Condvar::new(),
            times: SharedTimes::default(),
        });
        let mut io = ChunkIo { shared, results, threads: Vec::new(), asked: 0, under_way: 0 };
        for number in 0..io.shared.settings.threads.max(1) {
            io.threads.push(io.start_thread(number, sender.clone())?);
        }
        Ok(io)
    }

    fn start_thread(&self, number: usize, results: Sender<IoResult>) -> io::Result<JoinHandle<()>> {
        let shared = self.shared.clone();
        std::thread::Builder::new()
            .name(format!("chunk-io-{number}"))
            .spawn(move || worker::run(&shared, &results))
    }

    /// Asks for a chunk, unless it waits to be loaded already. Returns its number in the order of asking.
    pub fn load(&mut self, position: ChunkPos) -> Option<u64> {
        let order = self.asked;
        if !self.jobs().loads.push(position, order) {
            return None;
        }
        self.asked += 1;
        self.under_way += 1;
        self.shared.wake.notify_one();
        Some(order)
    }

    /// Takes a request back that no thread has begun; no result will come then.
    pub fn cancel(&mut self, position: ChunkPos) -> bool {
        let cancelled = self.jobs().loads.cancel(position);
        self.under_way -= usize::from(cancelled);
        cancelled
    }

    /// Chooses what is near: requests are served by their distance to the nearest of these.
    pub fn set_points_of_interest(&mut self, points: Vec<ChunkPos>) {
        self.jobs().loads.set_points(points);
    }

    /// Saves a chunk. A clone costs about a microsecond and shares all cells.
    ///
    /// A chunk must not be saved again before the result of the first save is there and what it stored was taken
    /// over.
    pub fn save(&mut self, chunk: Chunk) {
        self.jobs().saves.push_back(Box::new(chunk));
        self.under_way += 1;
        self.shared.wake.notify_one();
    }

    /// Makes what was saved so far durable, after the saves that wait.
    pub fn flush(&mut self) {
        let mut jobs = self.jobs();
        if jobs.flush {
            return;
        }
        jobs.flush = true;
        drop(jobs);
        self.under_way += 1;
        self.shared.wake.notify_all();
    }

    /// A result, if one is there.
    pub fn try_result(&mut self) -> Option<IoResult> {
        let result = self.results.try_recv().ok()?;
        self.under_way -= 1;
        Some(result)
    }

    /// Waits for a result; `None` where nothing is under way.
    pub fn wait(&mut self) -> Option<IoResult> {
        if self.under_way == 0 {
            return None;
        }
        let result = self.results.recv().ok()?;
        self.under_way -= 1;
        Some(result)
    }

    /// Requests whose results have not been taken.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// Loads and saves that no thread has begun.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let jobs = self.jobs();
        jobs.loads.len() + jobs.saves.len()
    }

    /// Where the threads' time went.
    #[must_use]
    pub fn times(&self) -> IoTimes {
        let times = &self.shared.times;
        let read = |time: &AtomicU64| time.load(Ordering::Relaxed);
        IoTimes {
            read: read(&times.read),
            decode: read(&times.decode),
            encode: read(&times.encode),
            pack: read(&times.pack),
            write: read(&times.write),
        }
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.shared.jobs()
    }
}

impl Shared {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedTimes {
    fn add(time: &AtomicU64, spent: Duration) {
        time.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Drop for ChunkIo {
    fn drop(&mut self) {
        self.jobs().stop = true;
        self.shared.wake.notify_all();
        // Threads that wait to hand over a result are let go; regions flush when they are dropped.
        while self.threads.iter().any(|thread| !thread.is_finished()) {
            let _ = self.results.recv_timeout(Duration::from_millis(1));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
