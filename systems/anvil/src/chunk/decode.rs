//! A stored chunk decoded into columns.

use super::attachments;
use super::error::DecodeChunkError;
use super::heightmaps;
use super::layout::Layout;
use super::sections::{Scratch, SectionFields};
use crate::Limits;
use crate::compression::{Inflater, StreamEnd};
use crate::nbt::{Nbt, Tape};
use crate::region::StoredChunk;
use std::sync::Arc;
use voxtick_worlds::{
    BiomeSection, Biomes, BlockStates, Chunk, ChunkLight, ChunkPos, ChunkStatus, Dimension, LightLevels,
    Section, StateId, Unmodelled,
};

/// Decodes stored chunks. Keep one a thread: its memory is reused.
///
/// ```no_run
/// use voxtick_anvil::{ChunkDecoder, Limits, region::{Region, StoredChunk}};
/// use voxtick_worlds::{BlockStates, ChunkPos, Dimension};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let region = Region::open("save/region/r.0.0.mca")?;
/// let position = ChunkPos::new(3, 4);
/// let mut stored = StoredChunk::default();
/// if region.read(position, &mut stored, &Limits::default())? {
///     let mut decoder = ChunkDecoder::new(Dimension::overworld(), BlockStates::load(), Limits::default());
///     let chunk = decoder.decode(position, &stored)?.chunk;
///     println!("{:?}", chunk.block(0, 64, 0));
/// }
/// # Ok(()) }
/// ```
pub struct ChunkDecoder {
    dimension: Dimension,
    states: Arc<BlockStates>,
    limits: Limits,
    inflater: Inflater,
    nbt: Vec<u8>,
    tape: Tape,
    scratch: Scratch,
}

/// A decoded chunk, and what was odd about it.
#[derive(Debug)]
pub struct Decoded {
    /// The chunk.
    pub chunk: Chunk,
    /// What was odd and harmless.
    pub notices: Vec<Notice>,
}

/// Something odd about a chunk that can be read all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// The compressed stream has no end marker or checksum; all of the NBT was there.
    NoEndMarker,
    /// A section's block states are packed with another width than the game uses for its palette.
    UnusualWidth {
        /// Bits an index.
        bits: u32,
    },
    /// A section lies outside the dimension's build range. It stays with what is not modelled.
    SectionOutsideRange {
        /// The section.
        y: i32,
    },
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Notice::NoEndMarker => f.write_str("the compressed stream has no end marker or checksum"),
            Notice::UnusualWidth { bits } => write!(f, "block states are packed with an unusual {bits} bits"),
            Notice::SectionOutsideRange { y } => write!(f, "section y = {y} lies outside the build range"),
        }
    }
}

impl ChunkDecoder {
    /// A decoder for the chunks of one dimension.
    #[must_use]
    pub fn new(dimension: Dimension, states: Arc<BlockStates>, limits: Limits) -> ChunkDecoder {
        ChunkDecoder {
            dimension,
            states,
            limits,
            inflater: Inflater::new(),
            nbt: Vec::new(),
            tape: Tape::new(),
            scratch: Scratch::new(),
        }
    }

    /// Decodes a chunk as it came from a region.
    ///
    /// What is not modelled stays with the chunk as the compressed payload that it came from.
    ///
    /// # Errors
    /// [`DecodeChunkError`] where anything that is modelled cannot be read; a chunk is decoded whole or not at all.
    pub fn decode(&mut self, position: ChunkPos, stored: &StoredChunk) -> Result<Decoded, DecodeChunkError> {
        let end = self.inflater.inflate(
            stored.compression(),
            stored.payload(),
            self.limits.inflated,
            &mut self.nbt,
        )?;
        let root = self.tape.parse_with(&self.nbt, &self.limits.nbt, &mut self.scratch.known_entries)?;
        let mut decoded =
            decode_root(position, root, &self.dimension, &self.states, &mut self.scratch)?.into_decoded();
        if end == StreamEnd::Missing {
            decoded.notices.push(Notice::NoEndMarker);
        }
        let data_version = Layout::of(root)?.data_version;
        let mut bytes = Vec::with_capacity(1 + stored.payload().len());
        bytes.push(stored.compression().number());
        bytes.extend_from_slice(stored.payload());
        decoded.chunk.unmodelled =
            Some(Arc::new(Unmodelled { data_version, bytes: bytes.into_boxed_slice() }));
        Ok(decoded)
    }

    /// Decodes a chunk from its NBT. What is not modelled is not kept.
    ///
    /// # Errors
    /// As [`ChunkDecoder::decode`].
    pub fn decode_nbt(&mut self, position: ChunkPos, nbt: &[u8]) -> Result<Decoded, DecodeChunkError> {
        let root = self.tape.parse_with(nbt, &self.limits.nbt, &mut self.scratch.known_entries)?;
        Ok(decode_root(position, root, &self.dimension, &self.states, &mut self.scratch)?.into_decoded())
    }
}

impl std::fmt::Debug for ChunkDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkDecoder").field("dimension", &self.dimension).finish_non_exhaustive()
    }
}

/// A decoded document.
pub(super) struct Root {
    /// The chunk, without light.
    pub(super) chunk: Chunk,
    /// The light arrays as they are stored.
    pub(super) light: ChunkLight,
    /// Whether they are complete.
    pub(super) is_lit: bool,
    notices: Vec<Notice>,
}

impl Root {
    fn into_decoded(self) -> Decoded {
        let mut chunk = self.chunk;
        if self.is_lit {
            chunk.light = Some(Box::new(self.light));
        }
        Decoded { chunk, notices: self.notices }
    }
}

pub(super) fn decode_root(
    position: ChunkPos,
    root: Nbt<'_>,
    dimension: &Dimension,
    states: &BlockStates,
    scratch: &mut Scratch,
) -> Result<Root, DecodeChunkError> {
    let layout = Layout::of(root)?;
    let found = layout.position()?;
    if found != position {
        return Err(DecodeChunkError::WrongPosition { found });
    }
    let min_section = dimension.min_section();
    let mut columns = Columns::new(dimension);
    let mut notices = Vec::new();
    for item in layout.sections().iter().flat_map(Nbt::items) {
        let fields = SectionFields::of(item, layout.flat);
        let y = fields.y.and_then(|y| i32::try_from(y).ok()).ok_or(DecodeChunkError::Field { field: "Y" })?;
        let section_error = |cause| DecodeChunkError::Section { y, cause };
        let in_light = columns.light_index(y);
        if let Some(index) = in_light {
            columns.light.block[index] = fields.block_light().map_err(section_error)?;
            columns.light.sky[index] = fields.sky_light().map_err(section_error)?;
        }
        if let Some(index) = columns.cell_index(y) {
            if let Some(section) =
                fields.cells(&layout, states, scratch, &mut notices).map_err(section_error)?
            {
                columns.sections[index] = section;
            }
            columns.biomes[index] = fields.biomes(scratch).map_err(section_error)?;
        } else if in_light.is_none() {
            notices.push(Notice::SectionOutsideRange { y });
        }
    }

    let mut chunk = Chunk::from_sections(position, min_section, columns.sections);
    // A chunk with biomes in some sections only is hardly begun; its biomes stay with what is not modelled.
    if let Some(biomes) = columns.biomes.into_iter().collect() {
        chunk.biomes = Biomes::from_sections(biomes);
    }
    if let Some(status) = layout.body.field("Status").and_then(|status| status.text()) {
        chunk.status = ChunkStatus::named(&status);
    }
    chunk.heightmaps = heightmaps::read(&layout, layout.min_section().unwrap_or(min_section), dimension);
    chunk.attachments = attachments::read(root);
    Ok(Root { chunk, light: columns.light, is_lit: layout.is_lit(), notices })
}

/// What the sections of a chunk become.
struct Columns {
    sections: Vec<Section>,
    biomes: Vec<Option<BiomeSection>>,
    light: ChunkLight,
    min_section: i32,
}

impl Columns {
    fn new(dimension: &Dimension) -> Columns {
        let count = dimension.section_count();
        Columns {
            sections: vec![Section::uniform(StateId::AIR); count],
            biomes: vec![None; count],
            light: ChunkLight::absent(dimension.min_section(), count),
            min_section: dimension.min_section(),
        }
    }

    fn cell_index(&self, y: i32) -> Option<usize> {
        index(y, self.min_section, self.sections.len())
    }

    /// Light reaches one section beyond the build range at both ends.
    fn light_index(&self, y: i32) -> Option<usize> {
        let levels: &[LightLevels] = &self.light.block;
        index(y, self.light.bottom_section, levels.len())
    }
}

fn index(y: i32, lowest: i32, count: usize) -> Option<usize> {
    usize::try_from(i64::from(y) - i64::from(lowest)).ok().filter(|index| *index < count)
}
