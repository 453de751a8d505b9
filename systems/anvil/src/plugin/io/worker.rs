//! What one of the threads does: take a job, do it, hand over the result.

use super::{IoResult, Jobs, Loaded, SaveCause, SaveChunkError, Saved, Shared, SharedTimes};
use crate::chunk::{ChunkDecoder, ChunkEncoder};
use crate::compression::Packer;
use crate::load::LoadChunkError;
use crate::region::{Overwrite, StoredChunk};
use crossbeam_channel::Sender;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use voxtick_worlds::{Chunk, ChunkPos, Unmodelled};

enum Job {
    Load(ChunkPos, u64),
    Save(Box<Chunk>),
    Flush,
}

/// Works until told to stop; saves that wait are done even then.
pub(super) fn run(shared: &Shared, results: &Sender<IoResult>) {
    let mut codec = Codec::new(shared);
    while let Some(job) = next_job(shared) {
        let result = match job {
            Job::Load(position, order) => {
                let outcome = guarded(&mut codec, shared, |codec| codec.load(shared, position))
                    .unwrap_or(Err(LoadChunkError::Fault { chunk: position }));
                IoResult::Loaded { position, order, outcome }
            }
            Job::Save(chunk) => {
                let position = chunk.position();
                let outcome = guarded(&mut codec, shared, |codec| codec.save(shared, &chunk))
                    .unwrap_or(Err(SaveCause::Fault))
                    .map_err(|cause| SaveChunkError { chunk, cause });
                let mut jobs = shared.jobs();
                jobs.saving -= 1;
                if jobs.flush && jobs.saving == 0 {
                    shared.wake.notify_all();
                }
                IoResult::Saved { position, outcome }
            }
            Job::Flush => IoResult::Flushed(shared.regions.flush()),
        };
        if results.send(result).is_err() {
            return;
        }
    }
}

/// Does a job such that a fault of ours in one chunk costs that chunk alone; `None` where there was one.
fn guarded<T>(codec: &mut Codec, shared: &Shared, job: impl FnOnce(&mut Codec) -> T) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(|| job(codec)));
    if outcome.is_err() {
        // Its memory may be half changed.
        *codec = Codec::new(shared);
    }
    outcome.ok()
}

/// Waits for the next job; `None` when it is time to stop.
fn next_job(shared: &Shared) -> Option<Job> {
    let mut jobs = shared.jobs();
    loop {
        if let Some(job) = take_job(&mut jobs) {
            return Some(job);
        }
        if jobs.stop {
            return None;
        }
        jobs = shared.wake.wait(jobs).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Loads and saves take turns; a flush waits for the saves before it.
fn take_job(jobs: &mut Jobs) -> Option<Job> {
    let load_first = !jobs.load_was_last || jobs.saves.is_empty();
    if load_first
        && !jobs.stop
        && let Some((position, order)) = jobs.loads.pop()
    {
        jobs.load_was_last = true;
        return Some(Job::Load(position, order));
    }
    jobs.load_was_last = false;
    if let Some(chunk) = jobs.saves.pop_front() {
        jobs.saving += 1;
        return Some(Job::Save(chunk));
    }
    if jobs.flush && jobs.saving == 0 {
        jobs.flush = false;
        return Some(Job::Flush);
    }
    None
}

/// The memory of one thread.
struct Codec {
    stored: StoredChunk,
    decoder: ChunkDecoder,
    encoder: ChunkEncoder,
    packer: Packer,
    payload: Vec<u8>,
}

impl Codec {
    fn new(shared: &Shared) -> Codec {
        let (dimension, states, limits) = (&shared.dimension, &shared.states, shared.settings.limits);
        // The level was checked before the threads were started.
        let packer = Packer::with_level(shared.settings.level).unwrap_or_default();
        Codec {
            stored: StoredChunk::default(),
            decoder: ChunkDecoder::new(dimension.clone(), states.clone(), limits),
            encoder: ChunkEncoder::new(dimension.clone(), states.clone(), limits, Packer::new()),
            packer,
            payload: Vec::new(),
        }
    }

    fn load(&mut self, shared: &Shared, position: ChunkPos) -> Result<Option<Loaded>, LoadChunkError> {
        let limits = &shared.settings.limits;
        let start = Instant::now();
        let Some(region) = shared.regions.region_if_stored(position.region())? else { return Ok(None) };
        let present = region.read(position, &mut self.stored, limits)?;
        let read = Instant::now();
        SharedTimes::add(&shared.times.read, read - start);
        if !present {
            return Ok(None);
        }
        let decoded = self.decoder.decode(position, &self.stored);
        SharedTimes::add(&shared.times.decode, read.elapsed());
        match decoded {
            Ok(decoded) => {
                region.mark_sound(position);
                let bytes = self.stored.payload().len() as u64;
                Ok(Some(Loaded { chunk: Box::new(decoded.chunk), notices: decoded.notices, bytes }))
            }
            Err(cause) => {
                Err(LoadChunkError::Decode { path: region.path().to_path_buf(), chunk: position, cause })
            }
        }
    }

    fn save(&mut self, shared: &Shared, chunk: &Chunk) -> Result<Saved, SaveCause> {
        let compression = shared.settings.compression;
        let start = Instant::now();
        let encoded = self.encoder.encode_nbt(chunk)?;
        let encode = Instant::now();
        SharedTimes::add(&shared.times.encode, encode - start);
        let Some(nbt) = encoded else { return Ok(Saved { stored: None }) };
        self.packer.pack(compression, nbt, &mut self.payload);
        let data_version = self.encoder.data_version();
        let pack = Instant::now();
        SharedTimes::add(&shared.times.pack, pack - encode);
        let region = shared.regions.region(chunk.position().region())?.ok_or(SaveCause::NoRegion)?;
        region.write(chunk.position(), compression, &self.payload, seconds_now(), Overwrite::Sound)?;
        SharedTimes::add(&shared.times.write, pack.elapsed());
        Ok(Saved { stored: Some(Arc::new(kept(data_version, compression.number(), &self.payload))) })
    }
}

fn kept(data_version: i32, compression: u8, payload: &[u8]) -> Unmodelled {
    let mut bytes = Vec::with_capacity(1 + payload.len());
    bytes.push(compression);
    bytes.extend_from_slice(payload);
    Unmodelled { data_version, bytes: bytes.into_boxed_slice() }
}

/// Time stamps of region files are 32 bits.
fn seconds_now() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as u32)
}
