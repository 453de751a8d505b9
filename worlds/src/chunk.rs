//! A column of sections with all that belongs to it.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use crate::attachments::Attachments;
use crate::biomes::Biomes;
use crate::dimension::Dimension;
use crate::heightmaps::Heightmaps;
use crate::light::ChunkLight;
use crate::positions::{BlockPos, ChunkPos, SECTION_EDGE};
use crate::section::Section;
use crate::states::{BlockStates, StateId};

/// A column of 16 x 16 blocks over the whole build range.
///
/// Cloning a chunk shares its sections and light, so a snapshot costs microseconds however much the chunk holds.
///
/// ```
/// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, StateId};
/// let states = BlockStates::load();
/// let mut chunk = Chunk::empty(ChunkPos::new(0, -1), &Dimension::overworld());
/// assert_eq!(chunk.block(3, -64, 15), Some(StateId::AIR));
/// assert_eq!(chunk.block(3, 320, 15), None, "above the build range");
/// let stone = states.parse("stone")?;
/// chunk.set_block(3, -64, 15, stone, &states);
/// assert_eq!(chunk.block(3, -64, 15), Some(stone));
/// # Ok::<(), voxtick_worlds::ParseStateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chunk {
    position: ChunkPos,
    min_section: i32,
    sections: Box<[Section]>,
    /// Light, where it has been loaded or computed.
    pub light: Option<Box<ChunkLight>>,
    /// Heightmaps as loaded or computed.
    pub heightmaps: Heightmaps,
    /// Biomes, 4 x 4 x 4 blocks a cell.
    pub biomes: Biomes,
    /// How far the game has generated the chunk.
    pub status: ChunkStatus,
    /// What a file held that this crate does not model, kept as it came.
    pub unmodelled: Option<Arc<Unmodelled>>,
    /// What systems keep with the chunk; see [`ChunkAttachments`](crate::ChunkAttachments).
    pub attachments: Attachments,
    /// True where the chunk differs from what is stored; set by every write to a block.
    pub modified: bool,
}

/// What a chunk's file held beside what is modelled, for the crate that wrote it here to put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmodelled {
    /// The game's number for the version that wrote the chunk.
    pub data_version: i32,
    /// The bytes, in a form that the storage crate knows.
    pub bytes: Box<[u8]>,
}

/// How far the game has generated a chunk: `minecraft:full` for a finished one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkStatus(Cow<'static, str>);

impl ChunkStatus {
    /// A finished chunk.
    pub const FULL: ChunkStatus = ChunkStatus(Cow::Borrowed("minecraft:full"));

    /// A status by the name that stands in the file; older versions write it without a namespace.
    #[must_use]
    pub fn named(name: &str) -> ChunkStatus {
        match name {
            "minecraft:full" => ChunkStatus::FULL,
            "full" => ChunkStatus(Cow::Borrowed("full")),
            other => ChunkStatus(Cow::Owned(other.to_owned())),
        }
    }

    /// The name as it stands in the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// True for a finished chunk, with or without the namespace.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self.name(), "minecraft:full" | "full")
    }
}

impl Chunk {
    /// A finished chunk of air without light.
    #[must_use]
    pub fn empty(position: ChunkPos, dimension: &Dimension) -> Chunk {
        let sections = vec![Section::uniform(StateId::AIR); dimension.section_count()];
        Chunk::from_sections(position, dimension.min_section(), sections)
    }

    /// A finished chunk of the given sections, the first of which is section `min_section`, without light.
    #[must_use]
    pub fn from_sections(position: ChunkPos, min_section: i32, sections: Vec<Section>) -> Chunk {
        Chunk {
            position,
            min_section,
            sections: sections.into_boxed_slice(),
            light: None,
            heightmaps: Heightmaps::default(),
            biomes: Biomes::default(),
            status: ChunkStatus::FULL,
            unmodelled: None,
            attachments: Attachments::new(),
            modified: false,
        }
    }

    /// Where the chunk lies.
    #[must_use]
    pub const fn position(&self) -> ChunkPos {
        self.position
    }

    /// The lowest section of the build range.
    #[must_use]
    pub const fn min_section(&self) -> i32 {
        self.min_section
    }

    /// The height of the lowest block.
    #[must_use]
    pub const fn min_y(&self) -> i32 {
        self.min_section * SECTION_EDGE as i32
    }

    /// All sections, lowest first.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Section `y` (block height divided by 16), or `None` outside the build range.
    #[must_use]
    pub fn section(&self, y: i32) -> Option<&Section> {
        self.sections.get(self.section_index(y)?)
    }

    /// Section `y` for writing, or `None` outside the build range. The chunk counts as modified.
    pub fn section_mut(&mut self, y: i32) -> Option<&mut Section> {
        let index = self.section_index(y)?;
        self.modified = true;
        self.sections.get_mut(index)
    }

    /// The state at `(x, y, z)`, `x` and `z` taken modulo 16; `None` outside the build range.
    #[must_use]
    pub fn block(&self, x: i32, y: i32, z: i32) -> Option<StateId> {
        Some(self.section(y >> 4)?.get(BlockPos::new(x, y, z).cell()))
    }

    /// Writes the state at `(x, y, z)`, `x` and `z` taken modulo 16, and returns the one before; `None`, and nothing
    /// written, outside the build range.
    pub fn set_block(
        &mut self,
        x: i32,
        y: i32,
        z: i32,
        state: StateId,
        states: &BlockStates,
    ) -> Option<StateId> {
        let index = self.section_index(y >> 4)?;
        let before = self.sections.get_mut(index)?.set(BlockPos::new(x, y, z).cell(), state, states);
        self.modified |= before != state;
        Some(before)
    }

    /// The height of the topmost block of column `(x, z)` that is not air, `x` and `z` taken modulo 16; `None` where all
    /// is air. Sections of nothing but air are passed over whole.
    #[must_use]
    pub fn topmost_block(&self, x: i32, z: i32, states: &BlockStates) -> Option<i32> {
        self.sections.iter().enumerate().rev().find_map(|(index, section)| {
            if section.uniform_state().is_some_and(|state| states.is_air(state)) {
                return None;
            }
            let bottom = self.min_y() + (index * SECTION_EDGE) as i32;
            (bottom..bottom + SECTION_EDGE as i32)
                .rev()
                .find(|&y| !states.is_air(section.get(BlockPos::new(x, y, z).cell())))
        })
    }

    /// Bytes on the heap and in the chunk itself, allocator overhead aside. Storage shared with snapshots counts in
    /// full, sections with one biome, which chunks share, by their pointers.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let light = self.light.as_ref().map_or(0, |light| {
            let levels = |levels: &Vec<crate::light::LightLevels>| {
                let nibbles =
                    levels.iter().filter(|levels| matches!(levels, crate::light::LightLevels::Nibbles(_)));
                mem::size_of_val(levels.as_slice()) + nibbles.count() * crate::light::NIBBLE_BYTES
            };
            mem::size_of::<ChunkLight>() + levels(&light.block) + levels(&light.sky)
        });
        mem::size_of::<Chunk>()
            + mem::size_of_val::<[Section]>(&self.sections)
            + self.sections.iter().map(Section::memory_bytes).sum::<usize>()
            + light
            + self.heightmaps.memory_bytes()
            + self.biomes.memory_bytes()
            + self.unmodelled.as_ref().map_or(0, |kept| kept.bytes.len())
            + self.attachments.iter().map(|(name, bytes)| name.len() + bytes.len()).sum::<usize>()
    }

    fn section_index(&self, y: i32) -> Option<usize> {
        usize::try_from(y.checked_sub(self.min_section)?).ok().filter(|&index| index < self.sections.len())
    }
}
