//! Keeps the light of a world up to date, with or without the engine.

use std::collections::BTreeSet;

use rayon::prelude::*;
use voxtick_worlds::{ChangeCursor, ChunkEvent, ChunkLight, ChunkPos, LightLevels, World};

use crate::reference::FlatLight;

/// Chunks along one edge of the squares that are lit independently of each other.
const TILE_EDGE: i32 = 4;

/// Follows the changes of one [`World`] and keeps the light of its chunks as the rules want it.
///
/// The light of a world depends on its loaded chunks and their blocks alone: not on the order in which they came, not
/// on what light a file held, not on the number of threads. What is not loaded neither takes nor gives light; a chunk
/// that lacks one of its eight neighbours has [`ChunkLight::incomplete`] set and is finished when they come.
///
/// ```
/// use voxtick_light::Lighting;
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, LightChannel, World};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// let mut lighting = Lighting::default();
/// lighting.update(&mut world);
///
/// let glowstone = world.states().parse("glowstone")?;
/// let at = BlockPos::new(8, 70, 8);
/// world.set_block(at, glowstone)?;
/// let outcome = lighting.update(&mut world);
/// assert_eq!(outcome.changes, 1);
/// let light = world.chunk(at.chunk()).and_then(|chunk| chunk.light.as_ref()).expect("lit");
/// assert_eq!(light.level(LightChannel::Block, 4, BlockPos::new(8, 71, 8).cell()), 14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Lighting {
    cursor: ChangeCursor,
}

/// What one [`Lighting::update`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LightOutcome {
    /// Changed blocks and chunks that came or went.
    pub changes: u64,
    /// Cells whose level is another one now, both channels together; cells of chunks without light count as dark.
    pub cells_changed: u64,
    /// Sections with at least one such cell, each channel on its own.
    pub sections_touched: u64,
}

impl Lighting {
    /// Takes all changes of `world` since the last time and brings its light up to date, in parallel on the current
    /// rayon pool.
    ///
    /// Costs nothing where nothing changed.
    pub fn update(&mut self, world: &mut World) -> LightOutcome {
        let changes = world.changes(&mut self.cursor);
        let mut outcome = LightOutcome {
            changes: (changes.blocks.len() + changes.chunks.len()) as u64,
            ..LightOutcome::default()
        };
        let mut changed: BTreeSet<ChunkPos> =
            changes.blocks.iter().map(|change| change.position.chunk()).collect();
        changed.extend(changes.chunks.iter().map(|event| match *event {
            ChunkEvent::Loaded(position) | ChunkEvent::Unloaded(position) => position,
        }));
        if changes.missed > 0 {
            changed.extend(world.chunk_positions());
        }
        if changed.is_empty() {
            return outcome;
        }
        let affected: BTreeSet<ChunkPos> =
            changed.iter().flat_map(|&position| square_around(position)).collect();
        for (position, light) in light_in_parallel(world, &affected) {
            if let Some(chunk) = world.chunk_mut(position) {
                count_differences(chunk.light.as_deref(), &light, &mut outcome);
                chunk.light = Some(Box::new(light));
            }
        }
        outcome
    }
}

/// The chunk and its eight neighbours.
fn square_around(position: ChunkPos) -> impl Iterator<Item = ChunkPos> {
    (-1..=1).flat_map(move |x| (-1..=1).filter_map(move |z| position.checked_offset(x, z)))
}

/// The light of `positions`, tile by tile: light reaches 15 cells, so one ring of chunks around a tile decides all of
/// its levels.
fn light_in_parallel(world: &World, positions: &BTreeSet<ChunkPos>) -> Vec<(ChunkPos, ChunkLight)> {
    let tile_of = |position: &ChunkPos| (position.x.div_euclid(TILE_EDGE), position.z.div_euclid(TILE_EDGE));
    let loaded = positions.iter().copied().filter(|&position| world.chunk(position).is_some());
    let mut by_tile: Vec<ChunkPos> = loaded.collect();
    by_tile.sort_by_key(tile_of);
    let tiles: Vec<&[ChunkPos]> = by_tile.chunk_by(|a, b| tile_of(a) == tile_of(b)).collect();
    tiles
        .par_iter()
        .flat_map_iter(|tile| {
            let area: Vec<ChunkPos> = tile.iter().flat_map(|&position| square_around(position)).collect();
            let mut light = FlatLight::new(world, &area);
            light.light_all();
            tile.iter()
                .filter_map(move |&position| Some((position, light.chunk_light(position)?)))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn count_differences(before: Option<&ChunkLight>, after: &ChunkLight, outcome: &mut LightOutcome) {
    let dark = LightLevels::Absent;
    let channels =
        [(&after.block, before.map(|before| &before.block)), (&after.sky, before.map(|before| &before.sky))];
    for (after, before) in channels {
        for (entry, after) in after.iter().enumerate() {
            let before = before.and_then(|before| before.get(entry)).unwrap_or(&dark);
            if after == before {
                continue;
            }
            let differ = (0..4096)
                .filter(|&cell| after.level(cell).unwrap_or(0) != before.level(cell).unwrap_or(0))
                .count();
            outcome.cells_changed += differ as u64;
            outcome.sections_touched += u64::from(differ > 0);
        }
    }
}
