//! What a disk thread does: read records, write what is packed, region by region, and make it durable.

use super::jobs::{DiskJob, Jobs, Packed, Record};
use super::{IoResult, Saved, Shared, hand_over, spent};
use crate::load::LoadChunkError;
use crate::plugin::failure::{SaveCause, SaveChunkError};
use crate::region::{FlushError, Overwrite, RegionFolder, RegionStore, StoredChunk};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use voxtick_engine::Producer;
use voxtick_worlds::{ChunkPos, RegionPos, Unmodelled};

const FAULT: &str = "it failed by a fault of this program; please report it";

/// Works until told to stop; saves are finished even then.
pub(super) fn run(shared: &Shared, results: &mut Producer<IoResult>) {
    while let Some(job) = shared.next(&shared.disk_wake, Jobs::next_for_disk) {
        match job {
            DiskJob::Read(position, order, stored) => read(shared, results, position, order, stored),
            DiskJob::Write(region, group) => write(shared, results, region, group),
            DiskJob::Flush(region) => {
                let start = Instant::now();
                let flush = || {
                    shared.entities.as_ref().map_or(Ok(()), |folder| folder.flush_region(region))?;
                    shared.regions.flush_region(region)
                };
                let outcome = guarded(flush).unwrap_or_else(|| {
                    let (path, source) = (shared.regions.folder().to_path_buf(), io::Error::other(FAULT));
                    Err(FlushError { path, waiting: 0, source })
                });
                spent(&shared.times.flush, start);
                hand_over(results, IoResult::Flushed { region, outcome });
            }
        }
    }
    // The others may wait for what this one has finished.
    shared.disk_wake.notify_all();
}

fn read(
    shared: &Shared,
    results: &mut Producer<IoResult>,
    position: ChunkPos,
    order: u64,
    mut stored: StoredChunk,
) {
    let start = Instant::now();
    let outcome = guarded(|| find(shared, position, &mut stored))
        .unwrap_or(Err(LoadChunkError::Fault { chunk: position }));
    spent(&shared.times.read, start);
    let outcome = match outcome {
        Ok(Some(region)) => {
            let entities = guarded(|| find_entities(shared, position))
                .unwrap_or(Err(LoadChunkError::Fault { chunk: position }));
            shared.jobs().add_record(Record { position, order, region, stored, entities });
            shared.codec_wake.notify_one();
            return;
        }
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    shared.jobs().give_back(stored);
    hand_over(results, IoResult::Loaded { order, outcome });
}

/// Reads a record; `None` where the chunk is absent.
fn find(
    shared: &Shared,
    position: ChunkPos,
    stored: &mut StoredChunk,
) -> Result<Option<Arc<dyn RegionStore>>, LoadChunkError> {
    let Some(region) = shared.regions.region_if_stored(position.region())? else { return Ok(None) };
    Ok(region.read(position, stored, &shared.settings.limits)?.then_some(region))
}

/// Reads the record of a chunk's entities; `None` where there is none.
pub(super) fn find_entities(
    shared: &Shared,
    position: ChunkPos,
) -> Result<Option<StoredChunk>, LoadChunkError> {
    let Some(folder) = &shared.entities else { return Ok(None) };
    let Some(region) = folder.region_if_stored(position.region())? else { return Ok(None) };
    let mut stored = StoredChunk::default();
    Ok(region.read(position, &mut stored, &shared.settings.limits)?.then_some(stored))
}

fn write(shared: &Shared, results: &mut Producer<IoResult>, region: RegionPos, group: Vec<Packed>) {
    let chunks = group.len();
    let start = Instant::now();
    let mut done = Vec::with_capacity(chunks);
    for packed in group {
        let position = packed.chunk.position();
        done.push(IoResult::Saved { position, outcome: write_one(shared, region, packed) });
    }
    spent(&shared.times.transfer, start);
    shared.jobs().written(region, chunks);
    // More for this region may have come, and codec threads may wait for room.
    shared.disk_wake.notify_all();
    shared.codec_wake.notify_all();
    done.into_iter().for_each(|result| hand_over(results, result));
}

fn write_one(shared: &Shared, region: RegionPos, packed: Packed) -> Result<Saved, SaveChunkError> {
    let Packed { chunk, compression, record, entities } = packed;
    let position = chunk.position();
    let write_to = |folder: &RegionFolder, payload: &[u8]| -> Result<(), SaveCause> {
        let region = folder.region(region)?.ok_or(SaveCause::NoRegion)?;
        region.write(position, compression, payload, seconds_now(), Overwrite::Sound)?;
        Ok(())
    };
    // The entities first: what is kept with the chunk is for entities that are there.
    let write = || -> Result<(), SaveCause> {
        if let (Some(folder), Some(payload)) = (&shared.entities, &entities) {
            write_to(folder, payload)?;
        }
        record.as_ref().map_or(Ok(()), |(_, bytes)| write_to(&shared.regions, &bytes[1..]))
    };
    match guarded(write).unwrap_or(Err(SaveCause::Fault)) {
        Ok(()) => {
            let stored = record.map(|(data_version, bytes)| {
                Arc::new(Unmodelled { data_version, bytes: bytes.into_boxed_slice() })
            });
            Ok(Saved { stored })
        }
        Err(cause) => Err(SaveChunkError { chunk, cause }),
    }
}

/// Does a job such that a fault of ours in one chunk costs that chunk alone; `None` where there was one.
fn guarded<T>(job: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(job)).ok()
}

/// Time stamps of region files are 32 bits.
fn seconds_now() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as u32)
}
