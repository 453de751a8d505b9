//! Work on many chunks at once, on the current rayon pool. Each piece depends on its own input alone, so neither the
//! number of threads nor their timing reaches a result.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use voxtick_worlds::{ChunkLight, ChunkPos, LightLevels, World};

use crate::chunks::{Channels, ChunkLighter};
use crate::columns::{Columns, derive};
use crate::opacity::Opacity;
use crate::simd::Width;

/// The most chunks of a tile, as which chunks are lit independently of each other: what a tile needs stays in the caches.
const LARGEST_TILE: usize = 144;

/// Smaller tiles are not made for the sake of threads: the ring around such a one has more chunks than itself.
const SMALLEST_TILE: usize = 32;

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

    /// Computes the light of the chunks of `lit` from nothing, tile by tile: light reaches 15 cells, so one ring of chunks
    /// around a tile decides all of its levels. All of them must be among the `columns`. Leaves them in another order.
    pub(crate) fn light(&self, world: &World, columns: &Columns, lit: &mut [(ChunkPos, ChunkLight)]) {
        let threads = rayon::current_num_threads();
        let wanted = lit.len().div_ceil(LARGEST_TILE).next_multiple_of(threads);
        let mut tiles = Vec::new();
        divide(lit, wanted.min(lit.len() / SMALLEST_TILE), &mut tiles);
        // Threads for which there is no tile take the other channel of one.
        let in_parallel = tiles.len() < threads;
        tiles.par_iter_mut().with_max_len(1).for_each(|tile| {
            let ring = |at: ChunkPos| {
                (-1..=1).flat_map(move |x| (-1..=1).filter_map(move |z| at.checked_offset(x, z)))
            };
            let mut area: Vec<ChunkPos> = tile.iter().flat_map(|&(at, _)| ring(at)).collect();
            area.sort_unstable();
            area.dedup();
            let (area, sections): (Vec<ChunkPos>, Vec<&[Opacity]>) = area
                .into_iter()
                .filter_map(|at| Some((at, columns.at(columns.place(at)?).sections.as_slice())))
                .unzip();
            let at_once = in_parallel && area.len() >= FEWEST_CHUNKS_AT_ONCE;
            let channels = if at_once { Channels::AtOnce } else { Channels::InTurn };
            // A lock is held for a moment only, and what it guards is scratch.
            let idle = || self.lighters.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = idle().pop();
            let mut lighter = taken.unwrap_or_else(|| ChunkLighter::with_width(self.width));
            lighter.light_columns(world, &area, &sections, tile, channels);
            idle().push(lighter);
        });
    }

    /// Bytes of scratch, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        let lighters = self.lighters.lock().unwrap_or_else(PoisonError::into_inner);
        lighters.iter().map(ChunkLighter::memory_bytes).sum()
    }
}

/// Divides chunks into `count` tiles of about as many chunks each, every one ascending: halves and halves of halves, cut
/// across the longer side so that few chunks lie beside a cut. What is beside it is computed for both tiles.
fn divide<'a>(
    chunks: &'a mut [(ChunkPos, ChunkLight)],
    count: usize,
    tiles: &mut Vec<&'a mut [(ChunkPos, ChunkLight)]>,
) {
    if count <= 1 {
        chunks.sort_unstable_by_key(|&(at, _)| at);
        tiles.push(chunks);
        return;
    }
    let length = |coordinate: fn(ChunkPos) -> i32| {
        let of_each = chunks.iter().map(|&(at, _)| i64::from(coordinate(at)));
        of_each.clone().max().unwrap_or(0) - of_each.min().unwrap_or(0)
    };
    if length(|at| at.x) > length(|at| at.z) {
        chunks.sort_unstable_by_key(|&(at, _)| (at.x, at.z));
    } else {
        chunks.sort_unstable_by_key(|&(at, _)| (at.z, at.x));
    }
    let (first, second) = chunks.split_at_mut(chunks.len() * (count / 2) / count);
    divide(first, count / 2, tiles);
    divide(second, count - count / 2, tiles);
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
        let dimension = world.dimension();
        let nothing = || ChunkLight::absent(dimension.min_section(), dimension.section_count());
        let loaded = positions.iter().copied().filter(|&position| world.chunk(position).is_some());
        let mut lit: Vec<(ChunkPos, ChunkLight)> = loaded.map(|position| (position, nothing())).collect();
        self.light(world, &mut lit);
        lit.sort_unstable_by_key(|(position, _)| *position);
        lit
    }

    /// Gives all chunks of `world` the light that their blocks alone demand, in place: the memory of the light that they
    /// had is used again, where nobody else has it.
    ///
    /// ```
    /// use voxtick_light::Relighter;
    /// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, World};
    /// let mut world = World::new(Dimension::overworld(), BlockStates::load());
    /// let at = ChunkPos::new(0, 0);
    /// world.insert_chunk(Chunk::empty(at, world.dimension()));
    /// Relighter::default().relight_all(&mut world);
    /// assert!(world.chunk(at).unwrap().light.is_some());
    /// ```
    pub fn relight_all(&mut self, world: &mut World) {
        let dimension = world.dimension();
        let (bottom, sections) = (dimension.min_section(), dimension.section_count());
        let positions: Vec<ChunkPos> = world.chunk_positions().collect();
        let mut lit: Vec<(ChunkPos, ChunkLight)> = Vec::with_capacity(positions.len());
        for position in positions {
            let Some(chunk) = world.chunk_mut(position) else { continue };
            let fits = |light: &ChunkLight| {
                let right = |levels: &[LightLevels]| levels.len() == sections + 2;
                light.bottom_section == bottom - 1 && right(&light.block) && right(&light.sky)
            };
            let had = chunk.light.take().map(|light| *light).filter(fits);
            lit.push((position, had.unwrap_or_else(|| ChunkLight::absent(bottom, sections))));
        }
        self.light(world, &mut lit);
        for (position, light) in lit {
            if let Some(chunk) = world.chunk_mut(position) {
                chunk.light = Some(Box::new(light));
            }
        }
    }

    fn light(&mut self, world: &World, lit: &mut [(ChunkPos, ChunkLight)]) {
        let positions: Vec<ChunkPos> = lit.iter().map(|lit| lit.0).collect();
        self.columns.start_anew(&positions);
        self.columns.all_mut().par_iter_mut().for_each(|column| {
            if let Some(chunk) = world.chunk(column.position) {
                derive(self.width, chunk, world.states(), &mut column.sections);
            }
        });
        self.tiles.light(world, &self.columns, lit);
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
