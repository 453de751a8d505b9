//! Light of chunks from nothing, by the kernels: the way from a [`World`] to the light of a set of its chunks.

use rustc_hash::FxHashMap;
use voxtick_worlds::{ChunkLight, ChunkPos, LightLevels, World};

use crate::area::{AreaInput, AreaKernel, NONE};
use crate::opacity::Opacity;
use crate::simd::Width;

/// Computes light of sets of chunks from their blocks alone. Holds scratch only.
///
/// ```
/// use voxtick_light::ChunkLighter;
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, LightChannel, World};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// let at = ChunkPos::new(0, 0);
/// world.insert_chunk(Chunk::empty(at, world.dimension()));
/// world.set_block(BlockPos::new(4, 70, 4), world.states().parse("torch")?)?;
/// let lit = ChunkLighter::default().light(&world, &[at]);
/// assert_eq!(lit[0].1.level(LightChannel::Block, 4, BlockPos::new(6, 70, 4).cell()), 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkLighter {
    width: Width,
    kernel: AreaKernel,
}

impl Default for ChunkLighter {
    fn default() -> ChunkLighter {
        ChunkLighter::with_width(Width::detected())
    }
}

impl ChunkLighter {
    /// A lighter that uses the instructions of `width`; the result is the same for all.
    #[must_use]
    pub fn with_width(width: Width) -> ChunkLighter {
        ChunkLighter { width, kernel: AreaKernel::default() }
    }

    /// The light of the chunks at `positions`, ascending, as if no other chunks were loaded. Positions without a chunk
    /// are left out.
    ///
    /// Light reaches 15 cells, so with one ring of neighbours beside them chunks have the light that they have in the
    /// whole world.
    pub fn light(&mut self, world: &World, positions: &[ChunkPos]) -> Vec<(ChunkPos, ChunkLight)> {
        let mut positions = positions.to_vec();
        positions.sort_unstable();
        positions.dedup();
        positions.retain(|&position| world.chunk(position).is_some());
        let opacities: Vec<Vec<Opacity>> = positions
            .iter()
            .filter_map(|&position| world.chunk(position))
            .map(|chunk| {
                chunk
                    .sections()
                    .iter()
                    .map(|section| Opacity::of(self.width, section, world.states()))
                    .collect()
            })
            .collect();
        let columns: Vec<&[Opacity]> = opacities.iter().map(Vec::as_slice).collect();
        self.light_columns(world, &positions, &columns, |_| true)
    }

    /// As [`ChunkLighter::light`], from what the sections let through, for those chunks that are `wanted`.
    pub(crate) fn light_columns(
        &mut self,
        world: &World,
        positions: &[ChunkPos],
        columns: &[&[Opacity]],
        wanted: impl Fn(ChunkPos) -> bool,
    ) -> Vec<(ChunkPos, ChunkLight)> {
        let slots: FxHashMap<ChunkPos, u32> =
            positions.iter().zip(0..).map(|(&at, slot)| (at, slot)).collect();
        let beside = |at: ChunkPos, x, z| at.checked_offset(x, z).and_then(|at| slots.get(&at).copied());
        let links: Vec<[u32; 4]> = positions
            .iter()
            .map(|&at| [(0, -1), (0, 1), (-1, 0), (1, 0)].map(|(x, z)| beside(at, x, z).unwrap_or(NONE)))
            .collect();
        let dimension = world.dimension();
        let sections = dimension.section_count();
        let input = AreaInput { columns, links: &links, states: world.states() };
        let mut lit: Vec<(ChunkPos, ChunkLight)> = positions
            .iter()
            .filter(|&&position| wanted(position))
            .map(|&position| {
                let mut light = ChunkLight::absent(dimension.min_section(), sections);
                light.incomplete = (-1..=1).any(|x| (-1..=1).any(|z| beside(position, x, z).is_none()));
                (position, light)
            })
            .collect();
        self.kernel.prepare(&input);
        self.kernel.light_blocks(self.width, &input);
        for (position, light) in &mut lit {
            self.collect(slots[position] as usize, sections, &mut light.block);
        }
        if dimension.has_sky() {
            self.kernel.light_sky(self.width, &input);
            for (position, light) in &mut lit {
                self.collect(slots[position] as usize, sections, &mut light.sky);
            }
        }
        lit
    }

    fn collect(&self, chunk: usize, sections: usize, levels: &mut [LightLevels]) {
        for section in 0..sections {
            self.kernel.levels(self.width, chunk * sections + section, &mut levels[section + 1]);
        }
    }
}

impl std::fmt::Debug for ChunkLighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkLighter").field("width", &self.width).finish_non_exhaustive()
    }
}
