//! Hills with caves, water, trees and torches: a world with something for every system to do.

use noise::{NoiseFn, Perlin};

use super::random::{position_hash, split_mix};
use super::{Canvas, Generator};
use crate::chunk::Chunk;
use crate::dimension::Dimension;
use crate::positions::{ChunkPos, SECTION_EDGE};
use crate::states::{BlockStates, ParseStateError, StateId};

const SEA_LEVEL: i32 = 62;
/// Caves below this height are filled with lava.
const LAVA_LEVEL: i32 = -54;
/// Blocks between two points at which cave noise is computed; in between it is interpolated.
const LATTICE: i32 = 4;
/// Blocks that a tree's crown reaches beside its trunk.
const CROWN: i32 = 2;

/// Rolling hills around the sea level, caves with torches and deep lava, trees on grass.
#[derive(Debug, Clone)]
pub struct Hills {
    seed: u64,
    shape: Perlin,
    detail: Perlin,
    caves: [Perlin; 2],
    palette: Vec<StateId>,
}

/// Places in the palette; the order of [`PALETTE`].
#[derive(Clone, Copy)]
#[repr(u16)]
enum Block {
    Air,
    Stone,
    Deepslate,
    Bedrock,
    Dirt,
    Grass,
    Sand,
    Water,
    Lava,
    Torch,
    Log,
    Leaves,
    Slab,
}

const PALETTE: [&str; 13] = [
    "air",
    "stone",
    "deepslate",
    "bedrock",
    "dirt",
    "grass_block",
    "sand",
    "water",
    "lava",
    "torch",
    "oak_log",
    "oak_leaves[distance=1]",
    "stone_slab",
];

impl Hills {
    /// Hills for `seed`.
    ///
    /// # Errors
    /// Where `states` does not know one of the blocks used.
    pub fn new(seed: u64, states: &BlockStates) -> Result<Hills, ParseStateError> {
        let palette: Result<Vec<StateId>, _> = PALETTE.iter().map(|text| states.parse(text)).collect();
        let perlin = |salt: u64| Perlin::new(split_mix(seed ^ salt) as u32);
        Ok(Hills {
            seed,
            shape: perlin(1),
            detail: perlin(2),
            caves: [perlin(3), perlin(4)],
            palette: palette?,
        })
    }

    /// One above the topmost block of the ground at block column `(x, z)`.
    #[must_use]
    pub fn ground(&self, x: i32, z: i32) -> i32 {
        let (x, z) = (f64::from(x), f64::from(z));
        let shape = self.shape.get([x / 160.0 + 0.37, z / 160.0 + 0.73]);
        let detail = self.detail.get([x / 37.0 + 0.11, z / 37.0 + 0.59]);
        SEA_LEVEL + 6 + (shape * 34.0 + detail * 7.0).floor() as i32
    }

    /// The height of the trunk of the tree that stands at block column `(x, z)`, if one does.
    fn tree(&self, x: i32, z: i32, ground: i32) -> Option<i32> {
        let hash = position_hash(self.seed, x, 1_000, z);
        (ground > SEA_LEVEL + 1 && hash.is_multiple_of(97)).then(|| 4 + (hash >> 32) as i32 % 3)
    }

    fn grow_tree(&self, canvas: &mut Canvas<'_>, x: i32, z: i32, ground: i32, trunk: i32) {
        let top = ground + trunk;
        for (layer, reach) in [(top - 2, CROWN), (top - 1, CROWN), (top, 1), (top + 1, 1)] {
            for (dx, dz) in (-reach..=reach).flat_map(|dx| (-reach..=reach).map(move |dz| (dx, dz))) {
                let corner = dx.abs() == reach && dz.abs() == reach;
                let missing = corner
                    && (layer > top || position_hash(self.seed, x + dx, layer, z + dz).is_multiple_of(2));
                if let Some(column) = column(x + dx, z + dz)
                    && !missing
                    && let Some(cell) = canvas.cell(column, layer)
                    && *cell == Block::Air as u16
                {
                    *cell = Block::Leaves as u16;
                }
            }
        }
        if let Some(column) = column(x, z) {
            canvas.fill(column, ground, top + 1, Block::Log as u16);
            canvas.fill(column, ground - 1, ground, Block::Dirt as u16);
        }
    }

    /// Cave noise on a lattice over one chunk: one value for each point, `y` outermost, then `z`, then `x`.
    fn cave_lattice(&self, position: ChunkPos, min_y: i32, layers: usize) -> Vec<[f64; 2]> {
        let points = SECTION_EDGE as i32 / LATTICE + 1;
        let mut lattice = Vec::with_capacity(layers * (points * points) as usize);
        for layer in 0..layers as i32 {
            for (z, x) in (0..points).flat_map(|z| (0..points).map(move |x| (z, x))) {
                let at = [
                    f64::from(position.x) * 16.0 + f64::from(x * LATTICE),
                    f64::from(min_y + layer * LATTICE),
                    f64::from(position.z) * 16.0 + f64::from(z * LATTICE),
                ];
                let at = [at[0] / 48.0 + 0.29, at[1] / 28.0 + 0.41, at[2] / 48.0 + 0.17];
                lattice.push([self.caves[0].get(at), self.caves[1].get(at)]);
            }
        }
        lattice
    }

    /// Hollows out caves and puts torches and slabs on some of their floors.
    fn carve(
        &self,
        canvas: &mut Canvas<'_>,
        position: ChunkPos,
        dimension: &Dimension,
        grounds: &[i32; 256],
    ) {
        let min_y = dimension.min_y();
        let highest = grounds.iter().copied().max().unwrap_or(min_y).min(dimension.max_y());
        let layers = ((highest - min_y).max(0) / LATTICE + 2) as usize;
        let lattice = self.cave_lattice(position, min_y, layers);
        for (column, &ground) in grounds.iter().enumerate() {
            let (x, z) = (column as i32 % 16, column as i32 / 16);
            // Leave a roof, and more of it below water.
            let roof = ground - if ground <= SEA_LEVEL + 1 { 8 } else { 1 };
            let mut below_is_ground = true;
            for y in min_y + 3..roof.min(dimension.max_y()) {
                let noise = interpolate(&lattice, x, y - min_y, z);
                // Where two noises are both near 0: tunnels along the line in which two surfaces meet.
                let hollow = noise[0] * noise[0] + noise[1] * noise[1] < 0.012;
                if !hollow {
                    below_is_ground = true;
                    continue;
                }
                let hash = position_hash(
                    self.seed,
                    position.x.wrapping_mul(16) ^ x,
                    y,
                    position.z.wrapping_mul(16) ^ z,
                );
                let block = match hash % 61 {
                    _ if y < LAVA_LEVEL => Block::Lava,
                    0 if below_is_ground => Block::Torch,
                    1 if below_is_ground => Block::Slab,
                    _ => Block::Air,
                };
                canvas.fill(column, y, y + 1, block as u16);
                below_is_ground = false;
            }
        }
    }
}

impl Generator for Hills {
    fn generate(&self, position: ChunkPos, dimension: &Dimension) -> Chunk {
        let (west, north) = (position.x.wrapping_mul(16), position.z.wrapping_mul(16));
        let min_y = dimension.min_y();
        let mut canvas = Canvas::new(&self.palette, dimension);
        let mut grounds = [0; 256];
        for (column, ground) in grounds.iter_mut().enumerate() {
            let (x, z) = (column as i32 % 16, column as i32 / 16);
            *ground = self.ground(west.wrapping_add(x), north.wrapping_add(z));
            let under_water = *ground <= SEA_LEVEL + 1;
            let (cover, surface) =
                if under_water { (Block::Sand, Block::Sand) } else { (Block::Dirt, Block::Grass) };
            canvas.fill(column, min_y, min_y + 1, Block::Bedrock as u16);
            canvas.fill(column, min_y + 1, (*ground - 3).min(0), Block::Deepslate as u16);
            canvas.fill(column, 0.max(min_y + 1), *ground - 3, Block::Stone as u16);
            canvas.fill(column, *ground - 3, *ground - 1, cover as u16);
            canvas.fill(column, *ground - 1, *ground, surface as u16);
            canvas.fill(column, *ground, SEA_LEVEL + 1, Block::Water as u16);
        }
        self.carve(&mut canvas, position, dimension, &grounds);
        // A tree belongs to every chunk that its crown reaches into.
        let reach = -CROWN..SECTION_EDGE as i32 + CROWN;
        for (x, z) in reach.clone().flat_map(|x| reach.clone().map(move |z| (x, z))) {
            let (block_x, block_z) = (west.wrapping_add(x), north.wrapping_add(z));
            let ground = column(x, z).map_or_else(|| self.ground(block_x, block_z), |inside| grounds[inside]);
            if let Some(trunk) = self.tree(block_x, block_z, ground) {
                self.grow_tree(&mut canvas, x, z, ground, trunk);
            }
        }
        canvas.into_chunk(position)
    }
}

/// The column of chunk-local `(x, z)`, or `None` in another chunk.
fn column(x: i32, z: i32) -> Option<usize> {
    let inside = 0..SECTION_EDGE as i32;
    (inside.contains(&x) && inside.contains(&z)).then_some((z * 16 + x) as usize)
}

/// The value of a lattice at a cell, linear between the eight points around it.
fn interpolate(lattice: &[[f64; 2]], x: i32, height: i32, z: i32) -> [f64; 2] {
    let points = SECTION_EDGE as i32 / LATTICE + 1;
    let part = |value: i32| f64::from(value % LATTICE) / f64::from(LATTICE);
    let (along_x, along_y, along_z) = (part(x), part(height), part(z));
    let first = ((height / LATTICE * points + z / LATTICE) * points + x / LATTICE) as usize;
    let (row, layer) = (points as usize, (points * points) as usize);
    let mix = |a: f64, b: f64, part: f64| a + (b - a) * part;
    std::array::from_fn(|field| {
        let point = |offset: usize| lattice[first + offset][field];
        let edge = |offset: usize| mix(point(offset), point(offset + 1), along_x);
        let face = |offset: usize| mix(edge(offset), edge(offset + row), along_z);
        mix(face(0), face(layer), along_y)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{generate, square};

    #[test]
    fn hills_have_all_that_the_systems_need() {
        let states = BlockStates::load();
        let hills = Hills::new(1, &states).expect("known blocks");
        let chunks = generate(&hills, &square(8), &Dimension::overworld());
        for text in PALETTE {
            let state = states.parse(text).expect("known block");
            let count: usize =
                chunks.iter().flat_map(|chunk| chunk.sections()).map(|section| section.count(state)).sum();
            assert!(count > 0, "no {text} in 64 chunks");
        }
    }

    #[test]
    fn a_chunk_is_the_same_alone_and_in_company() {
        let states = BlockStates::load();
        let hills = Hills::new(9, &states).expect("known blocks");
        let overworld = Dimension::overworld();
        for chunk in generate(&hills, &square(4), &overworld) {
            let alone = hills.generate(chunk.position(), &overworld);
            for (a, b) in chunk.sections().iter().zip(alone.sections()) {
                assert_eq!(a.content_hash(&states), b.content_hash(&states), "{}", chunk.position());
            }
        }
    }

    #[test]
    fn crowns_are_whole_across_chunk_borders() {
        let states = BlockStates::load();
        let hills = Hills::new(3, &states).expect("known blocks");
        let overworld = Dimension::overworld();
        let leaves = states.parse(PALETTE[Block::Leaves as usize]).expect("known block");
        let log = states.parse("oak_log").expect("known block");
        let mut crossing = 0;
        for x in -20..20 {
            // Trees whose trunk stands at the eastern edge of a chunk reach into the next one.
            let (west, east) = (ChunkPos::new(x, 0), ChunkPos::new(x + 1, 0));
            let (west, east) = (hills.generate(west, &overworld), hills.generate(east, &overworld));
            for z in 0..16 {
                let ground = hills.ground(x * 16 + 15, z);
                if let Some(trunk) = hills.tree(x * 16 + 15, z, ground) {
                    crossing += 1;
                    assert_eq!(west.block(15, ground + trunk - 1, z), Some(log));
                    let neighbour = east.block(0, ground + trunk - 1, z);
                    assert!(neighbour == Some(leaves) || neighbour == Some(log), "{neighbour:?}");
                }
            }
        }
        assert!(crossing > 0, "no tree at a chunk edge in 40 chunks");
    }

    #[test]
    fn seeds_make_different_worlds_and_the_ends_of_the_world_do_not_panic() {
        let states = BlockStates::load();
        let (a, b) = (Hills::new(1, &states).expect("known"), Hills::new(2, &states).expect("known"));
        assert!((0..100).any(|x| a.ground(x, 0) != b.ground(x, 0)));
        for position in [ChunkPos::new(i32::MAX, i32::MIN), ChunkPos::new(134_217_727, -134_217_728)] {
            a.generate(position, &Dimension::nether());
        }
    }
}
