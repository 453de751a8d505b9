//! Looking at every entry of a region: absent, whole, of a version that is not read, or damaged and how.

use crate::Limits;
use crate::chunk::{ChunkDecoder, DecodeChunkError, Notice};
use crate::load::{LoadChunkError, load_chunk};
use crate::region::{
    Damage, ReadChunkError, Region, RegionFormat, RegionStore, StoredChunk, external_file_name,
    region_of_path,
};
use rayon::prelude::*;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use voxtick_worlds::{BlockStates, ChunkPos, Dimension};

/// What a region holds for one chunk.
#[derive(Debug)]
pub enum Verdict {
    /// Nothing, as the header says.
    Absent,
    /// A chunk that can be decoded whole.
    Whole {
        /// The version that wrote it.
        data_version: i32,
        /// How far the game has generated it, such as `minecraft:full`.
        status: String,
        /// Whether its light is complete.
        lit: bool,
        /// What is odd about it and harmless.
        notices: Vec<Notice>,
    },
    /// A chunk of a version that this crate does not read. Nothing is known to be wrong with it.
    Unsupported(LoadChunkError),
    /// Something that cannot be read. Never to be taken for absence.
    Damaged(LoadChunkError),
}

/// The verdicts of a region.
#[derive(Debug)]
pub struct RegionReport {
    /// One verdict for each chunk that is not absent, in the order of the header.
    pub entries: Vec<(ChunkPos, Verdict)>,
}

impl RegionReport {
    /// How many entries are damaged.
    #[must_use]
    pub fn damaged_count(&self) -> usize {
        self.entries.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Damaged(_))).count()
    }

    /// The causes of damage, each a few words, with the number of entries, most frequent first.
    #[must_use]
    pub fn causes(&self) -> Vec<(&'static str, usize)> {
        let mut causes: Vec<(&'static str, usize)> = Vec::new();
        for (_, verdict) in &self.entries {
            if let Verdict::Damaged(error) = verdict {
                let cause = cause_of(error);
                match causes.iter_mut().find(|(known, _)| *known == cause) {
                    Some((_, count)) => *count += 1,
                    None => causes.push((cause, 1)),
                }
            }
        }
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
        causes
    }
}

/// Looks at every entry of a region, in parallel on the rayon pool that the caller runs in.
///
/// ```
/// use voxtick_anvil::{Limits, region::Region, verify_region};
/// use voxtick_worlds::{BlockStates, Dimension};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("r.0.0.mca");
/// # let mut bytes = vec![0; 8192];
/// bytes[3] = 1; // A record of one sector, in the header itself.
/// # std::fs::write(&path, bytes)?;
/// let region = Region::open(&path)?;
/// let report = verify_region(&region, &Dimension::overworld(), &BlockStates::load(), &Limits::default());
/// assert_eq!(report.causes(), [("record within the header", 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn verify_region(
    region: &dyn RegionStore,
    dimension: &Dimension,
    states: &Arc<BlockStates>,
    limits: &Limits,
) -> RegionReport {
    let positions = region.chunks();
    let entries = positions
        .par_iter()
        .map_init(
            || (StoredChunk::default(), ChunkDecoder::new(dimension.clone(), states.clone(), *limits)),
            |(stored, decoder), position| {
                (*position, verdict(load_chunk(region, *position, stored, decoder, limits)))
            },
        )
        .collect();
    RegionReport { entries }
}

fn verdict(outcome: Result<Option<(voxtick_worlds::Chunk, Vec<Notice>)>, LoadChunkError>) -> Verdict {
    match outcome {
        Ok(None) => Verdict::Absent,
        Ok(Some((chunk, notices))) => Verdict::Whole {
            data_version: chunk.unmodelled.as_ref().map_or(0, |kept| kept.data_version),
            status: chunk.status.name().to_owned(),
            lit: chunk.light.is_some(),
            notices,
        },
        Err(
            error @ (LoadChunkError::Decode {
                cause: DecodeChunkError::TooOld { .. } | DecodeChunkError::NoDataVersion,
                ..
            }
            | LoadChunkError::Read(ReadChunkError::Damaged {
                damage: Damage::CustomCompression { .. },
                ..
            })),
        ) => Verdict::Unsupported(error),
        Err(error) => Verdict::Damaged(error),
    }
}

/// A few words for the cause of an error, the same for all errors of one kind.
#[must_use]
pub fn cause_of(error: &LoadChunkError) -> &'static str {
    match error {
        LoadChunkError::Open(_) => "region cannot be opened",
        LoadChunkError::Fault { .. } => "fault of this program",
        LoadChunkError::Read(ReadChunkError::Io { .. }) => "file system refused",
        LoadChunkError::Read(ReadChunkError::OtherRegion { .. }) => "chunk of another region",
        LoadChunkError::Read(ReadChunkError::Damaged { damage, .. }) => match damage {
            Damage::HeaderCut => "header cut off",
            Damage::OffsetInHeader { .. } => "record within the header",
            Damage::NoSectors { .. } => "record without sectors",
            Damage::PastEnd { .. } => "record past the end",
            Damage::Overlap { .. } => "overlapping records",
            Damage::BadLength { .. } => "impossible record length",
            Damage::RecordCut { .. } => "record cut off",
            Damage::UnknownCompression { .. } => "unknown compression",
            Damage::CustomCompression { .. } => "custom compression",
            Damage::ExternalMissing { .. } => "own file missing",
            Damage::ExternalTooLarge { .. } => "own file too large",
            Damage::LinearBucket { .. } => "damaged bucket",
            Damage::BothPayloads { .. } => "payload inside and outside",
        },
        LoadChunkError::Decode { cause, .. } => match cause {
            DecodeChunkError::Inflate(_) => "damaged stream",
            DecodeChunkError::Nbt(_) => "damaged NBT",
            DecodeChunkError::NoDataVersion => "no version",
            DecodeChunkError::TooOld { .. } => "version too old",
            DecodeChunkError::Field { .. } => "missing field",
            DecodeChunkError::WrongPosition { .. } => "chunk at the wrong place",
            DecodeChunkError::Section { .. } => "damaged section",
        },
    }
}

/// Files of single chunks in a folder that no region needs: left over by a crash, or by a chunk that shrank.
///
/// # Errors
/// If the folder or a region in it cannot be read.
pub fn stray_external_files(folder: &Path, limits: &Limits) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut strays: Vec<PathBuf> =
        files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "mcc")).cloned().collect();
    let mut stored = StoredChunk::default();
    let is_anvil =
        |path: &&PathBuf| region_of_path(path).is_ok() && RegionFormat::of_path(path) == RegionFormat::Anvil;
    for path in files.iter().filter(is_anvil) {
        if strays.is_empty() {
            break;
        }
        let region = Region::open(path).map_err(io::Error::other)?;
        for chunk in region.chunks() {
            let own = folder.join(external_file_name(chunk));
            // What cannot be read may still need its file.
            let needed = match region.read(chunk, &mut stored, limits) {
                Ok(present) => present && stored.is_external(),
                Err(_) => true,
            };
            if needed {
                strays.retain(|stray| *stray != own);
            }
        }
    }
    Ok(strays)
}
