//! The terrain of a [`World`], as bodies see it.

use crate::kernel::tile::Tile;
use crate::material::{MaterialId, Materials};
use crate::terrain::Terrain;
use voxtick_worlds::{BlockPos, Chunk, ChunkPos, World};

/// A world seen from one chunk: that chunk and its neighbours are found without a look-up.
///
/// Above and below the build range is air; where no chunk is loaded, nothing is known.
#[derive(Debug)]
pub struct WorldTerrain<'a> {
    world: &'a World,
    materials: &'a Materials,
    middle: ChunkPos,
    near: [Option<&'a Chunk>; 9],
}

impl<'a> WorldTerrain<'a> {
    /// The terrain around the chunk at `middle`. `materials` must be those of the world's states.
    #[must_use]
    pub fn around(world: &'a World, materials: &'a Materials, middle: ChunkPos) -> WorldTerrain<'a> {
        let near = std::array::from_fn(|place| {
            let (x, z) = (place as i32 % 3 - 1, place as i32 / 3 - 1);
            world.chunk(middle.checked_offset(x, z)?)
        });
        WorldTerrain { world, materials, middle, near }
    }
}

/// The same, with a tile that answers most questions in a few instructions.
#[derive(Debug)]
pub(crate) struct TiledTerrain<'a> {
    pub(crate) tile: &'a Tile,
    pub(crate) world: &'a WorldTerrain<'a>,
}

impl Terrain for TiledTerrain<'_> {
    #[inline]
    fn material(&self, x: i32, y: i32, z: i32) -> MaterialId {
        self.tile.plain_material(x, y, z).unwrap_or_else(|| self.world.material(x, y, z))
    }
}

impl Terrain for WorldTerrain<'_> {
    fn material(&self, x: i32, y: i32, z: i32) -> MaterialId {
        let position = BlockPos::new(x, y, z);
        let chunk = position.chunk();
        let (east, south) =
            (chunk.x.wrapping_sub(self.middle.x) as i64 + 1, chunk.z.wrapping_sub(self.middle.z) as i64 + 1);
        let found = if (0..3).contains(&east) && (0..3).contains(&south) {
            self.near[(south * 3 + east) as usize]
        } else {
            self.world.chunk(chunk)
        };
        let Some(found) = found else { return MaterialId::UNLOADED };
        found
            .section(y >> 4)
            .map_or(MaterialId::AIR, |section| self.materials.of_state(section.get(position.cell())))
    }
}
