//! Stored light against the light that the rules give: what an operator runs over a save.

use std::collections::BTreeSet;

use voxtick_worlds::{
    BlockPos, Chunk, ChunkLight, ChunkPos, Direction, LightChannel, LightLevels, SECTION_CELLS, SectionPos,
    World,
};

use crate::compare::differing_cells;
use crate::facts::{LightFacts, MAX_LEVEL};
use crate::parallel::relight;

/// How the stored light of a world compares with what the rules give; see [`check`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LightCheck {
    /// Chunks that were compared.
    pub chunks: u64,
    /// Loaded chunks that were not: unfinished, or without stored light.
    pub unlit_chunks: u64,
    /// Block light.
    pub block: ChannelCheck,
    /// Sky light; nothing is compared in dimensions without a sky.
    pub sky: ChannelCheck,
}

/// One channel of a [`LightCheck`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChannelCheck {
    /// Cells of chunks whose eight neighbours are known.
    pub cells: u64,
    /// Of these, cells that differ and do not touch another chunk.
    pub inside: Differences,
    /// Of these, cells that differ and touch another chunk.
    pub at_chunk_edge: Differences,
    /// Cells that differ in chunks that lack a known neighbour: what stood there when the game lit them is not known.
    pub at_known_edge: Differences,
}

/// Cells that differ for one cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// How many.
    pub cells: u64,
    /// How many of them are stored darker than the rules say.
    pub stored_darker: u64,
    /// How many of them are not even what the rules give from the stored levels of their neighbours. These are where
    /// the store went wrong; the others merely follow from them.
    pub origins: u64,
    /// The first, by chunk, then section, then cell.
    pub first: Option<DifferingCell>,
}

/// A cell whose stored level is not what the rules give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferingCell {
    /// Where.
    pub position: BlockPos,
    /// The level in the store.
    pub stored: u8,
    /// The level by the rules.
    pub computed: u8,
}

/// Computes the light of all finished chunks that have stored light and compares, in parallel on the current rayon
/// pool. The world is left as it is.
///
/// ```
/// use voxtick_light::{Lighting, check};
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, World};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// for x in -1..=1 {
///     for z in -1..=1 {
///         world.insert_chunk(Chunk::empty(ChunkPos::new(x, z), world.dimension()));
///     }
/// }
/// Lighting::new().update(&mut world);
/// // A torch that the light has not heard of.
/// let torch = world.states().parse("torch")?;
/// world.set_block(BlockPos::new(8, 70, 8), torch)?;
/// let found = check(&world);
/// assert_eq!(found.chunks, 9);
/// assert_eq!(found.block.inside.first.map(|cell| (cell.stored, cell.computed)), Some((0, 1)));
/// assert_eq!(found.sky.differing_cells(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn check(world: &World) -> LightCheck {
    check_chunks(world, |_| true)
}

/// As [`check`], for those chunks that `wanted` says; all loaded ones count as their neighbours. So a world can be
/// checked in parts, each with a ring of chunks around it.
#[must_use]
pub fn check_chunks(world: &World, wanted: impl Fn(ChunkPos) -> bool) -> LightCheck {
    let known: BTreeSet<ChunkPos> =
        world.chunks().filter(|chunk| is_known(chunk)).map(Chunk::position).collect();
    let asked = world.chunk_positions().filter(|&position| wanted(position));
    let mut found = LightCheck {
        unlit_chunks: asked.filter(|position| !known.contains(position)).count() as u64,
        ..LightCheck::default()
    };
    for (position, computed) in relight(world, &known).into_iter().filter(|lit| wanted(lit.0)) {
        let Some(stored) = world.chunk(position).and_then(|chunk| chunk.light.as_deref()) else { continue };
        found.chunks += 1;
        // Light was computed from known chunks alone, so it is incomplete where one of them is missing.
        found.block.compare(world, LightChannel::Block, position, stored, &computed);
        if world.dimension().has_sky() {
            found.sky.compare(world, LightChannel::Sky, position, stored, &computed);
        }
    }
    found
}

fn is_known(chunk: &Chunk) -> bool {
    chunk.status.is_full() && chunk.light.is_some()
}

impl ChannelCheck {
    /// Differing cells of chunks whose neighbours are all known.
    #[must_use]
    pub const fn differing_cells(&self) -> u64 {
        self.inside.cells + self.at_chunk_edge.cells
    }

    fn compare(
        &mut self,
        world: &World,
        channel: LightChannel,
        position: ChunkPos,
        stored: &ChunkLight,
        computed: &ChunkLight,
    ) {
        let at_known_edge = computed.incomplete;
        let computed_levels = computed.channel(channel);
        for (entry, levels) in computed_levels.iter().enumerate().skip(1).take(computed_levels.len() - 2) {
            let section = computed.bottom_section + entry as i32;
            if channel == LightChannel::Sky && !is_kept(world, position, stored, section) {
                continue;
            }
            if !at_known_edge {
                self.cells += SECTION_CELLS as u64;
            }
            let stored = explicit(stored, channel, section);
            if differing_cells(&stored, levels) == 0 {
                continue;
            }
            for cell in 0..SECTION_CELLS {
                let (stored, computed) = (stored.level(cell).unwrap_or(0), levels.level(cell).unwrap_or(0));
                let place = SectionPos::new(position.x, section, position.z).checked_block(cell);
                let (Some(position), true) = (place, stored != computed) else { continue };
                let at_chunk_edge =
                    cell & 0xF == 0 || cell & 0xF == 0xF || cell & 0xF0 == 0 || cell & 0xF0 == 0xF0;
                let cause = match (at_known_edge, at_chunk_edge) {
                    (true, _) => &mut self.at_known_edge,
                    (false, true) => &mut self.at_chunk_edge,
                    (false, false) => &mut self.inside,
                };
                cause.cells += 1;
                cause.stored_darker += u64::from(stored < computed);
                cause.origins += u64::from(level_by_neighbours(world, channel, position) != stored);
                cause.first.get_or_insert(DifferingCell { position, stored, computed });
            }
        }
    }
}

/// True where what is stored of a section's sky light says something: the game keeps light for sections that hold
/// blocks and the 26 around each of them alone, and where it keeps none below others, open sky reads as dark.
fn is_kept(world: &World, position: ChunkPos, stored: &ChunkLight, section: i32) -> bool {
    let is_absent =
        stored.levels(LightChannel::Sky, section).is_none_or(|levels| *levels == LightLevels::Absent);
    if !is_absent || stored.level(LightChannel::Sky, section, 0) == MAX_LEVEL {
        return true;
    }
    let around = (-1..=1).flat_map(|x| (-1..=1).filter_map(move |z| position.checked_offset(x, z)));
    around.filter_map(|position| world.chunk(position)).any(|chunk| {
        (section - 1..=section + 1)
            .filter_map(|section| chunk.section(section))
            .any(|blocks| blocks.palette().iter().any(|&state| !world.states().is_air(state)))
    })
}

/// What the rules give for one cell from the stored levels of its neighbours.
fn level_by_neighbours(world: &World, channel: LightChannel, at: BlockPos) -> u8 {
    let states = world.states();
    let facts = |at: BlockPos| world.block(at).map(|state| LightFacts::of(states, state));
    let stored = |at: BlockPos| {
        let light = world.chunk(at.chunk())?.light.as_ref()?;
        Some(light.level(channel, at.section().y, at.cell()))
    };
    let Some(own) = facts(at) else { return 0 };
    let mut level = if channel == LightChannel::Block { own.emission } else { 0 };
    for side in Direction::ALL {
        let beside = at.offset(side);
        let from_the_sky = channel == LightChannel::Sky && side == Direction::Up && own.passes_sky();
        let Some(other) = facts(beside) else {
            let above_the_range = beside.y >= world.dimension().max_y();
            level = if from_the_sky && above_the_range { MAX_LEVEL } else { level };
            continue;
        };
        if states.faces_cover(own.faces[side.index()], other.faces[side.opposite().index()]) {
            continue;
        }
        let entering = stored(beside).unwrap_or(0);
        let undimmed = from_the_sky && entering == MAX_LEVEL;
        level = level.max(if undimmed { entering } else { entering.saturating_sub(own.step()) });
    }
    level
}

/// The stored levels of a section as the game reads them, absent ones included.
fn explicit(light: &ChunkLight, channel: LightChannel, section: i32) -> LightLevels {
    match light.levels(channel, section) {
        Some(levels) if *levels != LightLevels::Absent => levels.clone(),
        _ => LightLevels::Uniform(light.level(channel, section, 0)),
    }
}
