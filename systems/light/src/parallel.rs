//! Work on many chunks at once, on the current rayon pool. Each piece depends on its own input alone, so neither the
//! number of threads nor their timing reaches a result.

use std::collections::BTreeSet;

use rayon::prelude::*;
use voxtick_worlds::{ChunkLight, ChunkPos, World};

use crate::chunks::ChunkLighter;
use crate::columns::{Columns, opacity_of};
use crate::opacity::Opacity;
use crate::simd::Width;

/// Chunks along one edge of the squares that are lit independently of each other.
const TILE_EDGE: i32 = 6;

/// What the sections of the chunks at `positions` let through.
pub(crate) fn derive_in_parallel(
    width: Width,
    world: &World,
    positions: Vec<ChunkPos>,
) -> Vec<(ChunkPos, Vec<Opacity>)> {
    positions
        .into_par_iter()
        .filter_map(|position| Some((position, opacity_of(width, world.chunk(position)?, world.states()))))
        .collect()
}

/// The light of `positions` from nothing, tile by tile: light reaches 15 cells, so one ring of chunks around a tile
/// decides all of its levels.
pub(crate) fn light_in_parallel(
    width: Width,
    world: &World,
    columns: &Columns,
    positions: &BTreeSet<ChunkPos>,
) -> Vec<(ChunkPos, ChunkLight)> {
    let tile_of = |at: &ChunkPos| (at.x.div_euclid(TILE_EDGE), at.z.div_euclid(TILE_EDGE));
    let mut by_tile: Vec<ChunkPos> =
        positions.iter().copied().filter(|&at| columns.place(at).is_some()).collect();
    by_tile.sort_by_key(tile_of);
    let tiles: Vec<&[ChunkPos]> = by_tile.chunk_by(|a, b| tile_of(a) == tile_of(b)).collect();
    tiles
        .par_iter()
        .map_init(
            || ChunkLighter::with_width(width),
            |lighter, tile| {
                let ring = |at: ChunkPos| {
                    (-1..=1).flat_map(move |x| (-1..=1).filter_map(move |z| at.checked_offset(x, z)))
                };
                let area: BTreeSet<ChunkPos> = tile.iter().flat_map(|&at| ring(at)).collect();
                let (area, sections): (Vec<ChunkPos>, Vec<&[Opacity]>) = area
                    .into_iter()
                    .filter_map(|at| Some((at, columns.at(columns.place(at)?).sections.as_slice())))
                    .unzip();
                lighter.light_columns(world, &area, &sections, |at| tile.contains(&at))
            },
        )
        .flatten_iter()
        .collect()
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
    let width = Width::detected();
    let mut columns = Columns::default();
    for (position, sections) in derive_in_parallel(width, world, positions.iter().copied().collect()) {
        columns.insert(position, sections);
    }
    let mut lit = light_in_parallel(width, world, &columns, positions);
    lit.sort_by_key(|(position, _)| *position);
    lit
}
