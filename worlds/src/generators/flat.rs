//! Worlds without shape: nothing at all, layers, and a checker for tests.

use super::{Canvas, Generator};
use crate::chunk::Chunk;
use crate::dimension::Dimension;
use crate::positions::ChunkPos;
use crate::states::{BlockStates, ParseStateError, StateId};

/// Chunks of air.
#[derive(Debug, Clone, Copy, Default)]
pub struct Void;

impl Generator for Void {
    fn generate(&self, position: ChunkPos, dimension: &Dimension) -> Chunk {
        Chunk::empty(position, dimension)
    }
}

/// The same layers everywhere, from the bottom of the build range up.
#[derive(Debug, Clone)]
pub struct Superflat {
    /// Air, then the state of each layer.
    palette: Vec<StateId>,
    heights: Vec<u16>,
}

impl Superflat {
    /// Layers of `(state, height)`, lowest first.
    #[must_use]
    pub fn new(layers: &[(StateId, u16)]) -> Superflat {
        Superflat {
            palette: std::iter::once(StateId::AIR).chain(layers.iter().map(|layer| layer.0)).collect(),
            heights: layers.iter().map(|layer| layer.1).collect(),
        }
    }

    /// The game's classic preset: one layer of bedrock, two of dirt, one of grass.
    ///
    /// # Errors
    /// Where `states` knows no such blocks.
    pub fn classic(states: &BlockStates) -> Result<Superflat, ParseStateError> {
        let layers = [("bedrock", 1), ("dirt", 2), ("grass_block", 1)];
        let layers: Result<Vec<_>, _> =
            layers.iter().map(|&(name, height)| Ok((states.parse(name)?, height))).collect();
        Ok(Superflat::new(&layers?))
    }
}

impl Generator for Superflat {
    fn generate(&self, position: ChunkPos, dimension: &Dimension) -> Chunk {
        let mut canvas = Canvas::new(&self.palette, dimension);
        let mut bottom = dimension.min_y();
        for (layer, &height) in self.heights.iter().enumerate() {
            let top = bottom + i32::from(height);
            for column in 0..256 {
                canvas.fill(column, bottom, top, layer as u16 + 1);
            }
            bottom = top;
        }
        canvas.into_chunk(position)
    }
}

/// Two states in turn along every axis, up to a height: the worst case for everything that likes runs.
#[derive(Debug, Clone)]
pub struct Checker {
    palette: [StateId; 3],
    top: i32,
}

impl Checker {
    /// `even` where the sum of the coordinates is even, `odd` elsewhere, air from height `top` on.
    #[must_use]
    pub const fn new(even: StateId, odd: StateId, top: i32) -> Checker {
        Checker { palette: [StateId::AIR, even, odd], top }
    }
}

impl Generator for Checker {
    fn generate(&self, position: ChunkPos, dimension: &Dimension) -> Chunk {
        let mut canvas = Canvas::new(&self.palette, dimension);
        for column in 0..256_usize {
            // A chunk is an even number of blocks wide, so its own coordinates decide.
            let parity = (column % 16 + column / 16) as i32;
            for y in dimension.min_y()..self.top.min(dimension.max_y()) {
                canvas.fill(column, y, y + 1, if (parity + y) & 1 == 0 { 1 } else { 2 });
            }
        }
        canvas.into_chunk(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::BlockStates;

    #[test]
    fn superflat_is_the_classic_preset_from_the_bottom_up() {
        let states = BlockStates::load();
        let flat = Superflat::classic(&states).expect("known blocks");
        let chunk = flat.generate(ChunkPos::new(5, -7), &Dimension::overworld());
        let names: Vec<&str> =
            (-64..-59).map(|y| states.name(chunk.block(8, y, 8).expect("in range"))).collect();
        assert_eq!(
            names,
            [
                "minecraft:bedrock",
                "minecraft:dirt",
                "minecraft:dirt",
                "minecraft:grass_block",
                "minecraft:air"
            ]
        );
    }

    #[test]
    fn layers_higher_than_the_build_range_are_cut() {
        let nether = Dimension::nether();
        let chunk = Superflat::new(&[(StateId(1), 1000)]).generate(ChunkPos::new(0, 0), &nether);
        assert!(chunk.sections().iter().all(|section| section.uniform_state() == Some(StateId(1))));
    }

    #[test]
    fn a_checker_alternates_across_chunk_borders() {
        let checker = Checker::new(StateId(1), StateId(2), 0);
        let overworld = Dimension::overworld();
        let (west, east) = (
            checker.generate(ChunkPos::new(-1, 0), &overworld),
            checker.generate(ChunkPos::new(0, 0), &overworld),
        );
        assert_ne!(west.block(15, -3, 4), east.block(0, -3, 4));
        assert_ne!(east.block(0, -3, 4), east.block(0, -4, 4));
        assert_eq!(east.block(0, 0, 0), Some(StateId::AIR));
    }
}
