//! Work on many chunks at once, on the current rayon pool. Each piece depends on its own input alone, so neither the
//! number of threads nor their timing reaches a result.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use voxtick_worlds::{ChunkLight, ChunkPos, World};

use crate::chunks::{Channels, ChunkLighter};
use crate::columns::{Columns, derive};
use crate::opacity::Opacity;
use crate::simd::Width;

/// Chunks along one edge of the squares that are lit independently of each other.
const TILE_EDGE: i32 = 12;

/// Fewer chunks than these are lit one channel after the other: it takes as long as the waking of a thread.
const FEWEST_CHUNKS_AT_ONCE: usize = 9;

/// What the sections of the chunks at `positions` let through.
pub(crate) fn derive_in_parallel(
    width: Width,
    world: &World,
    positions: Vec<ChunkPos>,
) -> Vec<(ChunkPos, Vec<Opacity>)> {
    positions
        .into_par_iter()
        .filter_map(|position| {
            let mut sections = Vec::new();
            derive(width, world.chunk(position)?, world.states(), &mut sections);
            Some((position, sections))
        })
        .collect()
}

/// Lights many chunks, tile by tile. Holds scratch only.
pub(crate) struct TileLighter {
    width: Width,
    /// Those that work on no tile now.
    lighters: Mutex<Vec<ChunkLighter>>,
}

impl TileLighter {
    pub(crate) fn new(width: Width) -> TileLighter {
        TileLighter { width, lighters: Mutex::default() }
    }

    /// The light of `positions` from nothing, tile by tile: light reaches 15 cells, so one ring of chunks around a tile
    /// decides all of its levels.
    pub(crate) fn light(
        &self,
        world: &World,
        columns: &Columns,
        positions: &BTreeSet<ChunkPos>,
    ) -> Vec<(ChunkPos, ChunkLight)> {
        let tile_of = |at: &ChunkPos| (at.x.div_euclid(TILE_EDGE), at.z.div_euclid(TILE_EDGE));
        let mut by_tile: Vec<ChunkPos> =
            positions.iter().copied().filter(|&at| columns.place(at).is_some()).collect();
        by_tile.sort_by_key(tile_of);
        let tiles: Vec<&[ChunkPos]> = by_tile.chunk_by(|a, b| tile_of(a) == tile_of(b)).collect();
        let in_parallel = rayon::current_num_threads() > 1;
        let light_tile = |tile: &&[ChunkPos]| {
            let ring = |at: ChunkPos| {
                (-1..=1).flat_map(move |x| (-1..=1).filter_map(move |z| at.checked_offset(x, z)))
            };
            let mut area: Vec<ChunkPos> = tile.iter().flat_map(|&at| ring(at)).collect();
            area.sort_unstable();
            area.dedup();
            let (area, sections): (Vec<ChunkPos>, Vec<&[Opacity]>) = area
                .into_iter()
                .filter_map(|at| Some((at, columns.at(columns.place(at)?).sections.as_slice())))
                .unzip();
            // A lock is held for a moment only, and what it guards is scratch.
            let idle = || self.lighters.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = idle().pop();
            let at_once = in_parallel && area.len() >= FEWEST_CHUNKS_AT_ONCE;
            let channels = if at_once { Channels::AtOnce } else { Channels::InTurn };
            let mut lighter = taken.unwrap_or_else(|| ChunkLighter::with_width(self.width));
            let lit = lighter.light_columns(
                world,
                &area,
                &sections,
                |at| tile.binary_search(&at).is_ok(),
                channels,
            );
            idle().push(lighter);
            lit
        };
        tiles.par_iter().map(light_tile).flatten_iter().collect()
    }

    /// Bytes of scratch, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        let lighters = self.lighters.lock().unwrap_or_else(PoisonError::into_inner);
        lighters.iter().map(ChunkLighter::memory_bytes).sum()
    }
}

/// Computes light of many chunks from their blocks alone, in parallel on the current rayon pool. Holds scratch only: for
/// those who relight again and again; [`relight`] does for once.
///
/// ```
/// use voxtick_light::Relighter;
/// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, World};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// let mut relighter = Relighter::default();
/// let lit = relighter.relight(&world, &world.chunk_positions().collect());
/// assert!(lit[0].1.incomplete, "its neighbours are not loaded");
/// ```
pub struct Relighter {
    width: Width,
    columns: Columns,
    tiles: TileLighter,
}

impl Default for Relighter {
    fn default() -> Relighter {
        let width = Width::detected();
        Relighter { width, columns: Columns::default(), tiles: TileLighter::new(width) }
    }
}

impl Relighter {
    /// The light of the chunks at `positions` as if no others were loaded, ascending. Positions without a chunk are left
    /// out.
    pub fn relight(&mut self, world: &World, positions: &BTreeSet<ChunkPos>) -> Vec<(ChunkPos, ChunkLight)> {
        let loaded: Vec<ChunkPos> =
            positions.iter().copied().filter(|&position| world.chunk(position).is_some()).collect();
        self.columns.start_anew(&loaded);
        self.columns.all_mut().par_iter_mut().for_each(|column| {
            if let Some(chunk) = world.chunk(column.position) {
                derive(self.width, chunk, world.states(), &mut column.sections);
            }
        });
        let mut lit = self.tiles.light(world, &self.columns, positions);
        lit.sort_by_key(|(position, _)| *position);
        lit
    }
}

impl std::fmt::Debug for Relighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relighter").field("width", &self.width).finish_non_exhaustive()
    }
}

/// The light of the chunks at `positions` from their blocks alone, as if no others were loaded, ascending; in parallel
/// on the current rayon pool. Positions without a chunk are left out.
///
/// ```
/// use voxtick_light::relight;
/// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, World};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// for (position, light) in relight(&world, &world.chunk_positions().collect()) {
///     if let Some(chunk) = world.chunk_mut(position) {
///         chunk.light = Some(Box::new(light));
///     }
/// }
/// # assert!(world.chunk(ChunkPos::new(0, 0)).unwrap().light.as_ref().unwrap().incomplete);
/// ```
#[must_use]
pub fn relight(world: &World, positions: &BTreeSet<ChunkPos>) -> Vec<(ChunkPos, ChunkLight)> {
    Relighter::default().relight(world, positions)
}
