//! Light of chunks from nothing, by the kernels: the way from a [`World`] to the light of a set of its chunks.

use rustc_hash::FxHashMap;
use voxtick_worlds::{ChunkLight, ChunkPos, LightLevels, World};

use crate::area::{Area, AreaInput, AreaKernel, NONE};
use crate::columns::derive;
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
    area: Area,
    /// One for each channel where both are computed at once; the second stays empty where they are not.
    kernels: [AreaKernel; 2],
}

/// Whether both channels are computed one after the other, with the same scratch, or at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channels {
    InTurn,
    AtOnce,
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
        ChunkLighter { width, area: Area::default(), kernels: Default::default() }
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
                let mut sections = Vec::new();
                derive(self.width, chunk, world.states(), &mut sections);
                sections
            })
            .collect();
        let columns: Vec<&[Opacity]> = opacities.iter().map(Vec::as_slice).collect();
        let nothing =
            || ChunkLight::absent(world.dimension().min_section(), world.dimension().section_count());
        let mut lit: Vec<(ChunkPos, ChunkLight)> =
            positions.iter().map(|&position| (position, nothing())).collect();
        self.light_columns(world, &positions, &columns, &mut lit, Channels::InTurn);
        lit
    }

    /// As [`ChunkLighter::light`], from what the sections let through, for those chunks that are to be `lit`, ascending;
    /// the memory of the light that they have is used again where nobody else has it.
    pub(crate) fn light_columns(
        &mut self,
        world: &World,
        positions: &[ChunkPos],
        columns: &[&[Opacity]],
        lit: &mut [(ChunkPos, ChunkLight)],
        channels: Channels,
    ) {
        let slots: FxHashMap<ChunkPos, u32> =
            positions.iter().zip(0..).map(|(&at, slot)| (at, slot)).collect();
        let beside = |at: ChunkPos, x, z| at.checked_offset(x, z).and_then(|at| slots.get(&at).copied());
        let links: Vec<[u32; 4]> = positions
            .iter()
            .map(|&at| [(0, -1), (0, 1), (-1, 0), (1, 0)].map(|(x, z)| beside(at, x, z).unwrap_or(NONE)))
            .collect();
        let dimension = world.dimension();
        let sections = dimension.section_count();
        let is_kept = |at: &ChunkPos| lit.binary_search_by_key(at, |lit| lit.0).is_ok();
        let kept: Vec<bool> = positions.iter().map(is_kept).collect();
        let input = AreaInput { columns, links: &links, kept: &kept, states: world.states() };
        let [first, second] = &mut self.kernels;
        for (position, light) in lit.iter_mut() {
            light.incomplete = (-1..=1).any(|x| (-1..=1).any(|z| beside(*position, x, z).is_none()));
            first.reuse(&mut light.sky);
            let kernel = if channels == Channels::AtOnce { &mut *second } else { &mut *first };
            kernel.reuse(&mut light.block);
        }
        self.area.prepare(&input);
        let (width, area) = (self.width, &self.area);
        let chunks: Vec<usize> = (0..positions.len()).filter(|&chunk| kept[chunk]).collect();
        let collect = |kernel: &mut AreaKernel, channel: &mut [&mut [LightLevels]]| {
            for (&chunk, levels) in chunks.iter().zip(channel) {
                for (section, levels) in levels[1..=sections].iter_mut().enumerate() {
                    *levels = kernel.take_levels(width, chunk * sections + section);
                }
            }
        };
        let (mut block, mut sky): (Vec<&mut [LightLevels]>, Vec<&mut [LightLevels]>) =
            lit.iter_mut().map(|(_, light)| (&mut light.block[..], &mut light.sky[..])).unzip();
        let mut light_blocks = |kernel: &mut AreaKernel| {
            kernel.light_blocks(width, area, &input);
            collect(kernel, &mut block);
        };
        let mut light_sky = |kernel: &mut AreaKernel| {
            if dimension.has_sky() {
                kernel.light_sky(width, area, &input);
                collect(kernel, &mut sky);
            }
        };
        match channels {
            Channels::InTurn => {
                light_blocks(first);
                light_sky(first);
            }
            Channels::AtOnce => {
                rayon::join(|| light_sky(first), || light_blocks(second));
            }
        }
    }

    /// Bytes of scratch, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.area.memory_bytes() + self.kernels.iter().map(AreaKernel::memory_bytes).sum::<usize>()
    }
}

impl std::fmt::Debug for ChunkLighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkLighter").field("width", &self.width).finish_non_exhaustive()
    }
}
