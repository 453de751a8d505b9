//! The threads beside the tick: some talk to disks, others decode and encode, and all hand their results over.
//!
//! A load goes from a disk thread to a codec thread to the tick; a save from the tick to a codec thread to a disk thread
//! and back. So a slow disk keeps no codec waiting, and the reverse. These are the only threads that this crate starts.

mod codec;
mod disk;
mod jobs;

use super::failure::{SaveChunkError, StartStorageError};
use crate::Limits;
use crate::chunk::Notice;
use crate::compression::{Compression, Inflater};
use crate::load::LoadChunkError;
use crate::region::{FlushError, RegionFolder, RegionFormat};
use jobs::{Jobs, Save, Turn};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use voxtick_engine::{HandOff, HandOffSettings, Producer};
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, RegionPos, Unmodelled};

/// How chunks are loaded and saved.
#[derive(Debug, Clone)]
pub struct StorageSettings {
    /// Threads that read and write files. Defaults to 2, so that one that waits until the disk has something does not
    /// hold up the loads.
    pub disk_threads: usize,
    /// Threads that decode and encode. Defaults to 2.
    pub codec_threads: usize,
    /// How chunks saved to Anvil files are packed. Defaults to zlib.
    pub compression: Compression,
    /// The level of zlib and gzip. Defaults to [`Packer::DEFAULT_LEVEL`](crate::compression::Packer::DEFAULT_LEVEL).
    pub level: i32,
    /// What reading one chunk may take.
    pub limits: Limits,
    /// Loads that are under way at a time; all others wait in the queue, where they can still be overtaken and taken
    /// back. Bounds the decoded chunks that wait to enter. Defaults to 256.
    pub window: usize,
}

impl Default for StorageSettings {
    fn default() -> Self {
        StorageSettings {
            disk_threads: 2,
            codec_threads: 2,
            compression: Compression::Zlib,
            level: crate::compression::Packer::DEFAULT_LEVEL,
            limits: Limits::default(),
            window: 256,
        }
    }
}

/// Nanoseconds that storage has spent, by kind of work, all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageTimes {
    /// Finding and reading records.
    pub read: u64,
    /// Inflating and decoding.
    pub decode: u64,
    /// Sharing chunks to be saved, on the tick's thread.
    pub snapshot: u64,
    /// Palettes, packing cells and NBT.
    pub encode: u64,
    /// Compressing.
    pub compress: u64,
    /// Handing records to the file.
    pub transfer: u64,
    /// Waiting until the disk has them.
    pub flush: u64,
}

/// What became of a job.
#[derive(Debug)]
pub(super) enum IoResult {
    /// `None` where the chunk is absent.
    Loaded {
        order: u64,
        outcome: Result<Option<Loaded>, LoadChunkError>,
    },
    Saved {
        position: ChunkPos,
        outcome: Result<Saved, SaveChunkError>,
    },
    Flushed {
        region: RegionPos,
        outcome: Result<(), FlushError>,
    },
}

#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) chunk: Box<Chunk>,
    pub(super) notices: Vec<Notice>,
    /// Bytes in the file.
    pub(super) bytes: u64,
    /// `None` where none are stored.
    pub(super) entities: Result<Option<EntitiesRecord>, LoadChunkError>,
}

/// The entities of a chunk.
#[derive(Debug, Clone)]
pub(super) struct EntitiesRecord {
    pub(super) document: Arc<[u8]>,
    /// They are stored in the chunk's own record, and the document was made of what that has.
    pub(super) within: bool,
}

/// What the file holds now; the chunk takes it over before it is saved again. `None` where nothing had changed and
/// nothing was written.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) stored: Option<Arc<Unmodelled>>,
}

/// The threads, as the tick sees them. Dropping it finishes the saves, and not the loads.
#[derive(Debug)]
pub(super) struct ChunkIo {
    shared: Arc<Shared>,
    results: HandOff<IoResult>,
    threads: Vec<JoinHandle<()>>,
    /// Jobs whose results have not been taken.
    under_way: usize,
}

/// What the threads share.
#[derive(Debug)]
struct Shared {
    regions: RegionFolder,
    /// Those of the entities, where they are wanted.
    entities: Option<RegionFolder>,
    dimension: Dimension,
    states: Arc<BlockStates>,
    settings: StorageSettings,
    jobs: Mutex<Jobs>,
    disk_wake: Condvar,
    codec_wake: Condvar,
    times: SharedTimes,
}

#[derive(Debug, Default)]
struct SharedTimes {
    read: AtomicU64,
    decode: AtomicU64,
    encode: AtomicU64,
    compress: AtomicU64,
    transfer: AtomicU64,
    flush: AtomicU64,
}

impl ChunkIo {
    pub(super) fn start(
        regions: RegionFolder,
        entities: Option<RegionFolder>,
        dimension: Dimension,
        states: Arc<BlockStates>,
        mut settings: StorageSettings,
    ) -> Result<ChunkIo, StartStorageError> {
        crate::compression::Packer::with_level(settings.level)?;
        if regions.format() == RegionFormat::Linear {
            // A Linear file packs chunks its own way in the end: this is the quickest until then.
            settings.compression = Compression::Lz4;
        }
        let (disks, codecs) = (settings.disk_threads.max(1), settings.codec_threads.max(1));
        let results = HandOff::new(HandOffSettings {
            producers: disks + codecs,
            batches: settings.window.max(2),
            // Each result arrives at once: it is worth far more than the channel costs.
            batch_values: 1,
        });
        let shared = Arc::new(Shared {
            regions,
            entities,
            dimension,
            states,
            settings,
            jobs: Mutex::default(),
            disk_wake: Condvar::new(),
            codec_wake: Condvar::new(),
            times: SharedTimes::default(),
        });
        let mut io = ChunkIo { shared, results, threads: Vec::new(), under_way: 0 };
        for number in 0..disks {
            io.start_thread(format!("region-{number}"), disk::run)?;
        }
        for number in 0..codecs {
            io.start_thread(format!("chunk-codec-{number}"), codec::run)?;
        }
        Ok(io)
    }

    fn start_thread(
        &mut self,
        name: String,
        work: fn(&Shared, &mut Producer<IoResult>),
    ) -> Result<(), StartStorageError> {
        let shared = self.shared.clone();
        let mut results = self.results.producer()?;
        let thread = std::thread::Builder::new().name(name).spawn(move || work(&shared, &mut results))?;
        self.threads.push(thread);
        Ok(())
    }

    /// Loads a chunk; its result carries `order`.
    pub(super) fn load(&mut self, position: ChunkPos, order: u64) {
        self.jobs().reads.push_back((position, order));
        self.under_way += 1;
        self.shared.disk_wake.notify_one();
    }

    /// Saves a chunk. It must not be saved again before the result of the first save is there and what it stored was
    /// taken over.
    ///
    /// `entities` are its entities, where they have changed.
    pub(super) fn save(&mut self, chunk: Chunk, entities: Option<EntitiesRecord>) {
        let mut jobs = self.jobs();
        jobs.encodes.push_back(Save { chunk: Box::new(chunk), entities });
        jobs.saves_open += 1;
        drop(jobs);
        self.under_way += 1;
        self.shared.codec_wake.notify_one();
    }

    /// Whether entities in records of their own are read and written.
    pub(super) fn has_entities(&self) -> bool {
        self.shared.entities.is_some()
    }

    /// What reading one chunk may take.
    pub(super) fn limits(&self) -> &Limits {
        &self.shared.settings.limits
    }

    /// Reads a chunk's entities here and now.
    pub(super) fn read_entities(&self, chunk: &Chunk) -> Result<Option<EntitiesRecord>, LoadChunkError> {
        let stored = disk::find_entities(&self.shared, chunk.position())?;
        codec::entities_of(&self.shared, chunk, stored.as_ref(), &mut Inflater::new())
    }

    /// Makes what was written to a region so far durable.
    pub(super) fn flush(&mut self, region: RegionPos) {
        self.jobs().flushes.push_back(region);
        self.under_way += 1;
        self.shared.disk_wake.notify_one();
    }

    /// Takes the results that are there.
    pub(super) fn take(&mut self, mut take: impl FnMut(IoResult)) {
        let under_way = &mut self.under_way;
        self.results.drain(|_, results| {
            for result in results {
                *under_way -= 1;
                take(result);
            }
        });
    }

    /// Waits until a result is there; false where none is under way.
    pub(super) fn wait(&mut self) -> bool {
        // A thread that dies takes the results of its jobs along: it is not waited for.
        while self.under_way > 0 && !self.threads.iter().all(JoinHandle::is_finished) {
            if self.results.wait(Duration::from_millis(50)) {
                return true;
            }
        }
        false
    }

    /// Saves that no disk thread has begun.
    pub(super) fn saves_waiting(&self) -> usize {
        self.jobs().saves_open
    }

    /// Where the threads' time went.
    pub(super) fn times(&self) -> StorageTimes {
        let times = &self.shared.times;
        StorageTimes {
            read: times.read.load(Relaxed),
            decode: times.decode.load(Relaxed),
            snapshot: 0,
            encode: times.encode.load(Relaxed),
            compress: times.compress.load(Relaxed),
            transfer: times.transfer.load(Relaxed),
            flush: times.flush.load(Relaxed),
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

    /// Waits for a job; `None` when it is time to stop.
    fn next<T>(&self, wake: &Condvar, take: impl Fn(&mut Jobs) -> Turn<T>) -> Option<T> {
        let mut jobs = self.jobs();
        loop {
            match take(&mut jobs) {
                Turn::Job(job) => return Some(job),
                Turn::Stop => return None,
                Turn::Wait => jobs = wake.wait(jobs).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Adds the time since `start` to one of the sums, and returns the time now.
fn spent(time: &AtomicU64, start: Instant) -> Instant {
    let now = Instant::now();
    time.fetch_add((now - start).as_nanos() as u64, Relaxed);
    now
}

/// Hands a result over. Where the tick has gone, nobody misses it.
fn hand_over(results: &mut Producer<IoResult>, result: IoResult) {
    let _ = results.push(result);
}

impl Drop for ChunkIo {
    fn drop(&mut self) {
        self.jobs().stop = true;
        self.shared.disk_wake.notify_all();
        self.shared.codec_wake.notify_all();
        // Threads that wait to hand over a result are let go; regions flush when they are dropped.
        while self.threads.iter().any(|thread| !thread.is_finished()) {
            self.results.wait(Duration::from_millis(1));
            self.results.drain(|_, _| {});
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
