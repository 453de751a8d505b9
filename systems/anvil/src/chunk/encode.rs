//! A chunk encoded for storage: the document that it came from, with what has changed put in its place.

use super::attachments;
use super::decode::{Root, decode_root};
use super::fresh;
use super::heightmaps;
use super::layout::Layout;
use super::light_edits::LightEdits;
use super::palette::KnownEntries;
use super::palette_entries::MadeEntries;
use super::patch::Patch;
use super::section_edits::{SectionEdits, same_cells};
use super::sections::Scratch;
use crate::Limits;
use crate::compression::{Compression, InflateError, Inflater, Packer};
use crate::nbt::{Nbt, NbtError, Tag, Tape};
use std::sync::Arc;
use voxtick_worlds::{BlockStates, Chunk, Dimension, HeightmapKind, Heightmaps};

/// Why a chunk could not be encoded. What is stored for it is not touched.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeChunkError {
    /// What came with the chunk cannot be inflated any more.
    #[error("what was kept of the stored chunk: {0}")]
    Inflate(#[from] InflateError),
    /// What came with the chunk is no NBT.
    #[error("what was kept of the stored chunk: {0}")]
    Nbt(#[from] NbtError),
    /// What came with the chunk is no chunk.
    #[error("what was kept of the stored chunk: {0}")]
    Kept(#[from] super::error::DecodeChunkError),
    /// What came with the chunk was not put there by this crate.
    #[error(
        "what was kept of the stored chunk begins with {scheme}, which is no compression scheme of this crate"
    )]
    Foreign {
        /// The first byte.
        scheme: u8,
    },
    /// The version of the chunk has no place for a block.
    #[error(
        "section y = {y} holds blocks, and chunks of DataVersion {data_version} end before; upgrade the world with the game"
    )]
    OutsideOldRange {
        /// The section.
        y: i32,
        /// The version of the chunk.
        data_version: i32,
    },
}

/// Encodes chunks. Keep one a thread: its memory is reused.
///
/// A chunk that came from a file is written with everything that came with it, byte for byte and in its order, its
/// version included; replaced are the block states of sections whose cells differ, and what depends on them:
/// heightmaps, light, and the mark that light is complete. A chunk that did not is written as a new chunk.
pub struct ChunkEncoder {
    dimension: Dimension,
    states: Arc<BlockStates>,
    limits: Limits,
    inflater: Inflater,
    packer: Packer,
    kept: Vec<u8>,
    tape: Tape,
    scratch: Scratch,
    made_entries: MadeEntries,
    patch: Patch,
    nbt: Vec<u8>,
    payload: Vec<u8>,
    data_version: i32,
}

impl ChunkEncoder {
    /// An encoder for the chunks of one dimension, packing with `packer`.
    #[must_use]
    pub fn new(
        dimension: Dimension,
        states: Arc<BlockStates>,
        limits: Limits,
        packer: Packer,
    ) -> ChunkEncoder {
        ChunkEncoder {
            dimension,
            states,
            limits,
            inflater: Inflater::new(),
            packer,
            kept: Vec::new(),
            tape: Tape::new(),
            scratch: Scratch::new(),
            made_entries: MadeEntries::default(),
            patch: Patch::default(),
            nbt: Vec::new(),
            payload: Vec::new(),
            data_version: fresh::NEW_DATA_VERSION,
        }
    }

    /// Encodes and packs a chunk; `None` where nothing differs from what it came from, so that nothing is to be
    /// written.
    ///
    /// # Errors
    /// [`EncodeChunkError`].
    pub fn encode(
        &mut self,
        chunk: &Chunk,
        compression: Compression,
    ) -> Result<Option<&[u8]>, EncodeChunkError> {
        if self.encode_nbt(chunk)?.is_none() {
            return Ok(None);
        }
        self.packer.pack(compression, &self.nbt, &mut self.payload);
        Ok(Some(&self.payload))
    }

    /// The version that the chunk encoded last is written for: the one it came with.
    #[must_use]
    pub fn data_version(&self) -> i32 {
        self.data_version
    }

    /// As [`ChunkEncoder::encode`], without packing.
    ///
    /// # Errors
    /// [`EncodeChunkError`].
    pub fn encode_nbt(&mut self, chunk: &Chunk) -> Result<Option<&[u8]>, EncodeChunkError> {
        self.encode_with_entities(chunk, None)
    }

    /// As [`ChunkEncoder::encode_nbt`], with the entities of a document in place of those that the chunk's own record has.
    pub(crate) fn encode_with_entities(
        &mut self,
        chunk: &Chunk,
        entities: Option<&[u8]>,
    ) -> Result<Option<&[u8]>, EncodeChunkError> {
        let is_new = chunk.unmodelled.is_none();
        match &chunk.unmodelled {
            None => fresh::write(chunk, &mut self.kept),
            Some(kept) => {
                let scheme = kept.bytes.first().copied().unwrap_or(0);
                let compression =
                    Compression::from_number(scheme).ok_or(EncodeChunkError::Foreign { scheme })?;
                self.inflater.inflate(compression, &kept.bytes[1..], self.limits.inflated, &mut self.kept)?;
            }
        }
        let root = self.tape.parse_with(&self.kept, &self.limits.nbt, &mut self.scratch.known_entries)?;
        self.patch.clear();
        let edits = ChunkEdits {
            chunk,
            states: &self.states,
            root,
            layout: Layout::of(root)?,
            before: decode_root(chunk.position(), root, &self.dimension, &self.states, &mut self.scratch)?,
            is_new,
        };
        edits.make(&self.scratch.known_entries, &mut self.made_entries, &mut self.patch)?;
        if let Some(entities) = entities
            && let Some(list) = Tape::new().parse(entities, &self.limits.nbt)?.field("Entities")
        {
            self.patch
                .set_field(edits.layout.body, "Entities", list.tag(), |writer| writer.raw(list.payload()));
        }
        self.data_version = edits.layout.data_version;
        if self.patch.is_empty() && !is_new {
            return Ok(None);
        }
        self.patch.apply(&self.kept, &mut self.nbt);
        Ok(Some(&self.nbt))
    }
}

impl std::fmt::Debug for ChunkEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkEncoder").field("dimension", &self.dimension).finish_non_exhaustive()
    }
}

/// What has to change in one chunk's document.
struct ChunkEdits<'a> {
    chunk: &'a Chunk,
    states: &'a BlockStates,
    root: Nbt<'a>,
    layout: Layout<'a>,
    /// What the document says.
    before: Root,
    is_new: bool,
}

impl ChunkEdits<'_> {
    fn make(
        &self,
        known: &KnownEntries,
        made: &mut MadeEntries,
        patch: &mut Patch,
    ) -> Result<(), EncodeChunkError> {
        let before = &self.before.chunk;
        let cells: Vec<bool> = (self.chunk.sections().iter().zip(before.sections()))
            // The game writes every section of the build range, and other readers tell the range by that.
            .map(|(now, before)| self.is_new || !same_cells(now, before))
            .collect();
        let blocks_changed = cells.contains(&true);
        SectionEdits {
            chunk: self.chunk,
            states: self.states,
            layout: &self.layout,
            cells: &cells,
            biomes_before: before.biomes.sections(),
            light: &LightEdits::between(&self.before.light, self.chunk.light.as_deref()),
            known,
        }
        .make(made, patch)?;
        attachments::edit(self.root, &before.attachments, &self.chunk.attachments, patch);
        self.edit_light_mark(blocks_changed, patch);
        self.edit_heightmaps(blocks_changed, patch);
        if self.chunk.status != before.status {
            patch.set_field(self.layout.body, "Status", Tag::String, |writer| {
                writer.string(self.chunk.status.name());
            });
        }
        Ok(())
    }

    /// The light is complete where it was computed as such. Light that the blocks have outrun is marked for the game
    /// to make again.
    fn edit_light_mark(&self, blocks_changed: bool, patch: &mut Patch) {
        let complete = match &self.chunk.light {
            Some(light) => !light.incomplete,
            None => !blocks_changed && self.before.is_lit,
        };
        if complete != self.before.is_lit {
            patch.set_field(self.layout.body, "isLightOn", Tag::Byte, |writer| writer.byte(complete.into()));
            if !complete {
                // The mark of servers that light chunks with another engine.
                patch.remove_field(self.layout.body, "starlight.light_version");
            }
        }
    }

    /// Heightmaps follow the blocks; where no block has changed, those that the caller has set are written.
    fn edit_heightmaps(&self, blocks_changed: bool, patch: &mut Patch) {
        // Heights of another build range than the chunk's mean something else.
        if self.layout.min_section() != Some(self.chunk.min_section()) {
            return;
        }
        let maps = if blocks_changed || self.is_new {
            heightmaps::compute(self.chunk, self.states)
        } else {
            self.chunk.heightmaps.clone()
        };
        let stored = self.layout.body.field("Heightmaps").filter(|maps| maps.tag() == Tag::Compound);
        let height = self.chunk.sections().len() * 16;
        let straddling = self.layout.straddling;
        let differing = HeightmapKind::ALL.into_iter().filter_map(|kind| {
            let map = maps.map(kind).filter(|map| self.before.chunk.heightmaps.map(kind) != Some(*map))?;
            Some((kind, map))
        });
        match stored {
            Some(stored) => {
                for (kind, map) in differing {
                    patch.set_field(stored, kind.name(), Tag::LongArray, |writer| {
                        heightmaps::write(map, height, straddling, writer);
                    });
                }
            }
            None if has_any(&maps) => {
                patch.set_field(self.layout.body, "Heightmaps", Tag::Compound, |writer| {
                    for (kind, map) in differing {
                        writer.begin(Tag::LongArray, kind.name());
                        heightmaps::write(map, height, straddling, writer);
                    }
                    writer.end();
                });
            }
            None => {}
        }
    }
}

fn has_any(maps: &Heightmaps) -> bool {
    HeightmapKind::ALL.into_iter().any(|kind| maps.map(kind).is_some())
}

/// Whether a value is a compound that fields can be added to.
pub(super) fn as_compound(value: Option<Nbt<'_>>) -> Option<Nbt<'_>> {
    value.filter(|value| value.tag() == Tag::Compound)
}
