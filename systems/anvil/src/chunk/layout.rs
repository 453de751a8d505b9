//! Where the parts of a chunk lie in its NBT, by the version that wrote it.
//!
//! From DataVersion 2844 (21w43a) all parts lie in the root. Before, they lie in the compound `Level`, with other
//! names. Packed values straddle words before DataVersion 2529 (20w17a).

use super::error::DecodeChunkError;
use crate::nbt::Nbt;
use voxtick_worlds::ChunkPos;

/// The oldest version that is read: Minecraft Java 1.13, the first with names for block states.
pub const OLDEST_DATA_VERSION: i32 = 1519;
/// The first version whose packed values do not straddle words.
const FIRST_UNBROKEN: i32 = 2529;

/// The parts of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Layout<'a> {
    pub(super) data_version: i32,
    /// What holds the parts: the root, or `Level`.
    pub(super) body: Nbt<'a>,
    /// Whether `body` is the root.
    pub(super) flat: bool,
    /// Whether packed values straddle words.
    pub(super) straddling: bool,
}

impl<'a> Layout<'a> {
    pub(super) fn of(root: Nbt<'a>) -> Result<Layout<'a>, DecodeChunkError> {
        let data_version = root
            .field("DataVersion")
            .and_then(|version| version.integer())
            .ok_or(DecodeChunkError::NoDataVersion)?;
        let recent = i32::try_from(data_version).ok().filter(|version| *version >= OLDEST_DATA_VERSION);
        let data_version = recent.ok_or(DecodeChunkError::TooOld { data_version })?;
        // The layout is told by what is there: some tools upgrade the version alone.
        let level = root.field("Level");
        Ok(Layout {
            data_version,
            body: level.unwrap_or(root),
            flat: level.is_none(),
            straddling: data_version < FIRST_UNBROKEN,
        })
    }

    /// Where the chunk says it lies.
    pub(super) fn position(&self) -> Result<ChunkPos, DecodeChunkError> {
        let coordinate = |field: &'static str| {
            let value = self.body.field(field).and_then(|value| value.integer());
            value.and_then(|value| i32::try_from(value).ok()).ok_or(DecodeChunkError::Field { field })
        };
        Ok(ChunkPos::new(coordinate("xPos")?, coordinate("zPos")?))
    }

    /// The list of sections; chunks that are hardly begun have none.
    pub(super) fn sections(&self) -> Option<Nbt<'a>> {
        self.body.field(self.sections_field())
    }

    /// Whether the stored light is complete: by the game's own mark, or by that of servers that light chunks with
    /// another engine and leave the game's mark at 0.
    pub(super) fn is_lit(&self) -> bool {
        let is_set = |field| {
            self.body.field(field).and_then(|value: Nbt<'_>| value.integer()).is_some_and(|mark| mark > 0)
        };
        is_set("isLightOn") || is_set("starlight.light_version")
    }

    /// The field of the chunk that lists its sections.
    pub(super) fn sections_field(&self) -> &'static str {
        if self.flat { "sections" } else { "Sections" }
    }

    /// The lowest section of the chunk's build range, as far as it is told.
    pub(super) fn min_section(&self) -> Option<i32> {
        if !self.flat {
            return Some(0);
        }
        self.body.field("yPos").and_then(|y| y.integer()).and_then(|y| i32::try_from(y).ok())
    }
}
