//! What waits for a thread, and whose turn it is.

use super::EntitiesRecord;
use crate::compression::Compression;
use crate::load::LoadChunkError;
use crate::region::{RegionStore, StoredChunk};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use voxtick_worlds::{Chunk, ChunkPos, RegionPos};

/// Packed chunks that may wait for a disk before no more are encoded.
const MOST_PACKED: usize = 256;
/// Buffers kept for records to come.
const MOST_SPARE: usize = 16;

/// What waits. Loads and saves take turns on both kinds of threads, so that a flood of one does not hold up the other.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// For the disk threads: chunks to be read, each with its place in the order of the loads.
    pub(super) reads: VecDeque<(ChunkPos, u64)>,
    /// For the codec threads: records to be decoded.
    records: VecDeque<Record>,
    /// For the codec threads: chunks to be encoded.
    pub(super) encodes: VecDeque<Save>,
    /// For the disk threads: packed chunks by region.
    packed: BTreeMap<RegionPos, Vec<Packed>>,
    packed_count: usize,
    /// Regions with packed chunks, the one that waits longest first.
    to_write: VecDeque<RegionPos>,
    /// Regions that a thread writes to.
    writing: BTreeSet<RegionPos>,
    /// For the disk threads: regions to be made durable.
    pub(super) flushes: VecDeque<RegionPos>,
    /// Saves that are neither written nor given up.
    pub(super) saves_open: usize,
    spare: Vec<StoredChunk>,
    disk_read_last: bool,
    codec_decoded_last: bool,
    pub(super) stop: bool,
}

/// A record that was read.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) position: ChunkPos,
    pub(super) order: u64,
    pub(super) region: Arc<dyn RegionStore>,
    pub(super) stored: StoredChunk,
    /// The record of its entities.
    pub(super) entities: Result<Option<StoredChunk>, LoadChunkError>,
}

/// A chunk that is to be saved.
#[derive(Debug)]
pub(super) struct Save {
    pub(super) chunk: Box<Chunk>,
    /// Its entities, where they have changed.
    pub(super) entities: Option<EntitiesRecord>,
}

/// A chunk that is packed.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) chunk: Box<Chunk>,
    pub(super) compression: Compression,
    /// Its version, and one byte for the compression, then the payload: as it is kept with the chunk. `None` where
    /// nothing has changed.
    pub(super) record: Option<(i32, Vec<u8>)>,
    /// The payload of its entities' record.
    pub(super) entities: Option<Vec<u8>>,
}

/// A job for a disk thread.
#[derive(Debug)]
pub(super) enum DiskJob {
    Read(ChunkPos, u64, StoredChunk),
    /// All that waits for one region.
    Write(RegionPos, Vec<Packed>),
    Flush(RegionPos),
}

/// A job for a codec thread.
#[derive(Debug)]
pub(super) enum CodecJob {
    Decode(Record),
    Encode(Save),
}

/// What a thread is to do.
#[derive(Debug)]
pub(super) enum Turn<T> {
    Job(T),
    Wait,
    Stop,
}

impl Jobs {
    pub(super) fn next_for_disk(&mut self) -> Turn<DiskJob> {
        let reads = !self.reads.is_empty() && !self.stop;
        if reads && !self.disk_read_last {
            return self.read();
        }
        if let Some(place) = self.to_write.iter().position(|region| !self.writing.contains(region))
            && let Some(region) = self.to_write.remove(place)
        {
            self.disk_read_last = false;
            self.writing.insert(region);
            let group = self.packed.remove(&region).unwrap_or_default();
            self.packed_count -= group.len();
            return Turn::Job(DiskJob::Write(region, group));
        }
        if let Some(region) = self.flushes.pop_front() {
            self.disk_read_last = false;
            return Turn::Job(DiskJob::Flush(region));
        }
        match (reads, self.stop && self.saves_open == 0) {
            (true, _) => self.read(),
            (false, true) => Turn::Stop,
            (false, false) => Turn::Wait,
        }
    }

    fn read(&mut self) -> Turn<DiskJob> {
        match self.reads.pop_front() {
            Some((position, order)) => {
                self.disk_read_last = true;
                Turn::Job(DiskJob::Read(position, order, self.spare.pop().unwrap_or_default()))
            }
            None => Turn::Wait,
        }
    }

    pub(super) fn next_for_codec(&mut self) -> Turn<CodecJob> {
        let encodes = !self.encodes.is_empty() && self.packed_count < MOST_PACKED;
        let decodes = !self.records.is_empty() && !self.stop;
        if decodes && (!encodes || !self.codec_decoded_last) {
            self.codec_decoded_last = true;
            return self.records.pop_front().map_or(Turn::Wait, |record| Turn::Job(CodecJob::Decode(record)));
        }
        self.codec_decoded_last = false;
        match self.encodes.pop_front() {
            Some(save) if encodes => Turn::Job(CodecJob::Encode(save)),
            Some(save) => {
                self.encodes.push_front(save);
                Turn::Wait
            }
            None if self.stop => Turn::Stop,
            None => Turn::Wait,
        }
    }

    pub(super) fn add_record(&mut self, record: Record) {
        self.records.push_back(record);
    }

    pub(super) fn add_packed(&mut self, packed: Packed) {
        let region = packed.chunk.position().region();
        let group = self.packed.entry(region).or_default();
        if group.is_empty() {
            self.to_write.push_back(region);
        }
        group.push(packed);
        self.packed_count += 1;
    }

    /// Notes that a region's group is written.
    pub(super) fn written(&mut self, region: RegionPos, chunks: usize) {
        self.writing.remove(&region);
        self.saves_open -= chunks;
    }

    /// Keeps a buffer for the next record.
    pub(super) fn give_back(&mut self, stored: StoredChunk) {
        if self.spare.len() < MOST_SPARE {
            self.spare.push(stored);
        }
    }
}
