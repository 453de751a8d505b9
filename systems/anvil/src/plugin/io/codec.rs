//! What a codec thread does: decode records that were read, encode and pack chunks that are to be written.

use super::jobs::{CodecJob, Jobs, Packed, Record, Save};
use super::{EntitiesRecord, IoResult, Loaded, Saved, Shared, hand_over, spent};
use crate::chunk::{ChunkDecoder, ChunkEncoder, DecodeChunkError};
use crate::compression::{Compression, Inflater, Packer};
use crate::entities::{FIRST_WITH_RECORDS, document_within};
use crate::load::LoadChunkError;
use crate::nbt::Tape;
use crate::plugin::failure::{SaveCause, SaveChunkError};
use crate::region::{RegionFolder, StoredChunk};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use voxtick_engine::Producer;
use voxtick_worlds::Chunk;

/// Works until told to stop; saves are finished even then.
pub(super) fn run(shared: &Shared, results: &mut Producer<IoResult>) {
    let mut codec = Codec::new(shared);
    while let Some(job) = shared.next(&shared.codec_wake, Jobs::next_for_codec) {
        match job {
            CodecJob::Decode(mut record) => {
                let (position, order) = (record.position, record.order);
                let entities = std::mem::replace(&mut record.entities, Ok(None));
                let outcome = guarded(&mut codec, shared, |codec| codec.decode(shared, &record, entities))
                    .unwrap_or(Err(LoadChunkError::Fault { chunk: position }));
                shared.jobs().give_back(record.stored);
                hand_over(results, IoResult::Loaded { order, outcome: outcome.map(Some) });
            }
            CodecJob::Encode(save) => {
                let outcome = guarded(&mut codec, shared, |codec| codec.encode(shared, &save))
                    .unwrap_or(Err(SaveCause::Fault));
                encoded(shared, results, save.chunk, outcome);
            }
        }
    }
    shared.codec_wake.notify_all();
    shared.disk_wake.notify_all();
}

/// Sends a packed chunk on to the disk; what is not to be written, or cannot be, is done.
fn encoded(
    shared: &Shared,
    results: &mut Producer<IoResult>,
    chunk: Box<Chunk>,
    outcome: Result<Parts, SaveCause>,
) {
    let position = chunk.position();
    let outcome = match outcome {
        Ok(Parts { record: None, entities: None }) => Ok(Saved { stored: None }),
        Ok(Parts { record, entities }) => {
            let compression = shared.settings.compression;
            shared.jobs().add_packed(Packed { chunk, compression, record, entities });
            shared.disk_wake.notify_one();
            return;
        }
        Err(cause) => Err(SaveChunkError { chunk, cause }),
    };
    shared.jobs().saves_open -= 1;
    shared.disk_wake.notify_all();
    hand_over(results, IoResult::Saved { position, outcome });
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

/// What is to be written of a chunk; see [`Packed`].
struct Parts {
    record: Option<(i32, Vec<u8>)>,
    entities: Option<Vec<u8>>,
}

/// The memory of one thread.
struct Codec {
    inflater: Inflater,
    decoder: ChunkDecoder,
    encoder: ChunkEncoder,
    packer: Packer,
    payload: Vec<u8>,
}

impl Codec {
    fn new(shared: &Shared) -> Codec {
        let (dimension, states, limits) = (&shared.dimension, &shared.states, shared.settings.limits);
        Codec {
            inflater: Inflater::new(),
            decoder: ChunkDecoder::new(dimension.clone(), states.clone(), limits),
            encoder: ChunkEncoder::new(dimension.clone(), states.clone(), limits, Packer::new()),
            // The level was checked before the threads were started.
            packer: Packer::with_level(shared.settings.level).unwrap_or_default(),
            payload: Vec::new(),
        }
    }

    fn decode(
        &mut self,
        shared: &Shared,
        record: &Record,
        entities: Result<Option<StoredChunk>, LoadChunkError>,
    ) -> Result<Loaded, LoadChunkError> {
        let Record { position, region, stored, .. } = record;
        let start = Instant::now();
        let decoded = self.decoder.decode(*position, stored);
        let entities = match (&decoded, entities) {
            (Ok(decoded), Ok(stored)) => {
                entities_of(shared, &decoded.chunk, stored.as_ref(), &mut self.inflater)
            }
            (Err(_), _) => Ok(None),
            (_, Err(error)) => Err(error),
        };
        spent(&shared.times.decode, start);
        match decoded {
            Ok(decoded) => {
                region.mark_sound(*position);
                let bytes = stored.payload().len() as u64;
                Ok(Loaded { chunk: Box::new(decoded.chunk), notices: decoded.notices, bytes, entities })
            }
            Err(cause) => {
                Err(LoadChunkError::Decode { path: region.path().to_path_buf(), chunk: *position, cause })
            }
        }
    }

    fn encode(&mut self, shared: &Shared, save: &Save) -> Result<Parts, SaveCause> {
        let compression = shared.settings.compression;
        let start = Instant::now();
        let (within, beside) = match &save.entities {
            Some(EntitiesRecord { document, within: true }) => (Some(&**document), None),
            Some(EntitiesRecord { document, within: false }) => (None, Some(document)),
            None => (None, None),
        };
        let encoded = self.encoder.encode_with_entities(&save.chunk, within);
        let start = spent(&shared.times.encode, start);
        let record = encoded?.map(|nbt| {
            self.packer.pack(compression, nbt, &mut self.payload);
            let mut bytes = Vec::with_capacity(1 + self.payload.len());
            bytes.push(compression.number());
            bytes.extend_from_slice(&self.payload);
            bytes
        });
        let entities = beside.map(|document| {
            let mut payload = Vec::new();
            self.packer.pack(compression, document, &mut payload);
            payload
        });
        spent(&shared.times.compress, start);
        Ok(Parts { record: record.map(|bytes| (self.encoder.data_version(), bytes)), entities })
    }
}

/// The entities of a chunk: those of their own record, if that is stored, or else those in the chunk's.
pub(super) fn entities_of(
    shared: &Shared,
    chunk: &Chunk,
    stored: Option<&StoredChunk>,
    inflater: &mut Inflater,
) -> Result<Option<EntitiesRecord>, LoadChunkError> {
    let failed = |folder: Option<&RegionFolder>, cause: DecodeChunkError| LoadChunkError::Decode {
        path: folder.map(|folder| folder.folder().to_path_buf()).unwrap_or_default(),
        chunk: chunk.position(),
        cause,
    };
    let (limits, mut document) = (&shared.settings.limits, Vec::new());
    if let Some(stored) = stored {
        inflater
            .inflate(stored.compression(), stored.payload(), limits.inflated, &mut document)
            .map_err(|cause| failed(shared.entities.as_ref(), cause.into()))?;
        return Ok(Some(EntitiesRecord { document: document.into(), within: false }));
    }
    let kept = chunk.unmodelled.as_ref().filter(|kept| kept.data_version < FIRST_WITH_RECORDS);
    let Some((scheme, payload)) = kept.and_then(|kept| kept.bytes.split_first()) else { return Ok(None) };
    // What another program put there is none of this crate's records.
    let Some(compression) = Compression::from_number(*scheme) else { return Ok(None) };
    let failed = |cause| failed(Some(&shared.regions), cause);
    inflater
        .inflate(compression, payload, limits.inflated, &mut document)
        .map_err(|cause| failed(cause.into()))?;
    let mut tape = Tape::new();
    let root = tape.parse(&document, &limits.nbt).map_err(|cause| failed(cause.into()))?;
    Ok(document_within(root).map(|document| EntitiesRecord { document: document.into(), within: true }))
}
