//! Why a stored chunk could not be decoded.

use super::layout::OLDEST_DATA_VERSION;
use crate::compression::InflateError;
use crate::nbt::NbtError;
use voxtick_worlds::{BiomeError, ChunkPos, ResolveStateError, SectionError};

/// Why a stored chunk could not be decoded. Nothing of it is used then.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeChunkError {
    /// The payload cannot be inflated.
    #[error(transparent)]
    Inflate(#[from] InflateError),
    /// The payload is no NBT.
    #[error(transparent)]
    Nbt(#[from] NbtError),
    /// The chunk does not say which version wrote it.
    #[error(
        "the chunk has no DataVersion, so its layout is unknown; open it once with the game to upgrade it"
    )]
    NoDataVersion,
    /// The chunk uses numbers for blocks.
    #[error(
        "the chunk has DataVersion {data_version}; versions before {OLDEST_DATA_VERSION} (Minecraft 1.13) are not read: upgrade the world with the game"
    )]
    TooOld {
        /// The version that wrote it.
        data_version: i64,
    },
    /// A field is missing or of another kind than it has to be.
    #[error("the chunk has no usable `{field}`")]
    Field {
        /// The field.
        field: &'static str,
    },
    /// The chunk says that it belongs elsewhere.
    #[error("the chunk says that it is {found}; it was written to the wrong place")]
    WrongPosition {
        /// Where it says it belongs.
        found: ChunkPos,
    },
    /// A section is damaged.
    #[error("section y = {y}: {cause}")]
    Section {
        /// The section.
        y: i32,
        /// What is wrong with it.
        cause: DecodeSectionError,
    },
}

/// What is wrong with a section.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeSectionError {
    /// A field is missing or of another kind than it has to be.
    #[error("it has no usable `{field}`")]
    Field {
        /// The field.
        field: &'static str,
    },
    /// The palette has no entries, or more than a section has cells.
    #[error("its palette `{field}` has {entries} entries, 1 to {limit} make sense")]
    PaletteSize {
        /// Which palette.
        field: &'static str,
        /// Its entries.
        entries: usize,
        /// The most that make sense.
        limit: usize,
    },
    /// A palette entry is no block state or biome.
    #[error("entry {entry} of its palette `{field}` is no name with properties")]
    PaletteEntry {
        /// Which palette.
        field: &'static str,
        /// The entry.
        entry: usize,
    },
    /// The packed indices have another length than the palette asks for.
    #[error("its `{field}` has {found} longs, a palette of {entries} entries needs {expected}")]
    DataLength {
        /// Which data.
        field: &'static str,
        /// Longs found.
        found: usize,
        /// Longs needed.
        expected: usize,
        /// Entries of the palette.
        entries: usize,
    },
    /// A light array has another length than 2,048 bytes.
    #[error("its `{field}` has {found} bytes instead of 2048")]
    LightLength {
        /// Which light.
        field: &'static str,
        /// Bytes found.
        found: usize,
    },
    /// An index is beyond the palette.
    #[error("in its block states, {0}")]
    Cells(#[from] SectionError),
    /// The biomes make no sense.
    #[error("in its biomes, {0}")]
    Biomes(#[from] BiomeError),
    /// There are too many unknown block states.
    #[error(transparent)]
    States(#[from] ResolveStateError),
}
