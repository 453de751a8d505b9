//! The terrain around one pool as one byte a cell, made so that one 8-byte read shows a body all it can touch.
//!
//! The byte of a cell holds four columns of one height: the cell's own and those to the east, south and south-east. The
//! low half tells which are full cubes, the high half which are anything that the exact path has to look at. Eight
//! bytes in a row are eight heights.

use crate::material::{MaterialId, Materials, Traits};
use voxtick_worlds::{BlockPos, BlockStates, CellMask, Chunk, ChunkPos, SECTION_CELLS, Section, World};

/// Cells along one edge of a tile: those of the chunk and one more to the west and north.
pub(crate) const EDGE: usize = 17;
/// Columns that a tile sees along one edge: one more to the east and south.
const SEEN: usize = EDGE + 1;
/// Heights that one read covers.
pub(crate) const WINDOW: usize = 8;
/// Heights that are added above and below when a body leaves those that the tile has.
const MARGIN: i32 = 24;

/// The terrain of one pool over a range of heights.
#[derive(Debug, Default)]
pub(crate) struct Tile {
    west: i32,
    north: i32,
    low: i32,
    /// Heights stored; 0 for a tile that has to be built.
    rows: usize,
    cells: Vec<u8>,
    solid: Vec<[u32; SEEN]>,
    special: Vec<[u32; SEEN]>,
}

impl Tile {
    /// Forgets the terrain: the next [`Tile::cover`] builds it anew.
    pub(crate) fn forget(&mut self) {
        self.rows = 0;
    }

    pub(crate) fn is_built(&self) -> bool {
        self.rows != 0
    }

    /// The corner with the lowest coordinates.
    pub(crate) fn origin(&self) -> [i32; 3] {
        [self.west, self.low, self.north]
    }

    /// Bytes from one column to the next.
    pub(crate) fn stride(&self) -> usize {
        self.rows
    }

    pub(crate) fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// Builds the tile unless it has all heights from `low` to `high`. Returns whether it did.
    pub(crate) fn cover(
        &mut self,
        low: i32,
        high: i32,
        chunk: ChunkPos,
        world: &World,
        materials: &Materials,
    ) -> bool {
        let top = self.low + self.rows as i32;
        if self.is_built() && self.low <= low && high <= top {
            return false;
        }
        let bottom = world.dimension().min_y() - crate::rules::VOID_DEPTH - MARGIN;
        let ceiling = world.dimension().max_y() + MARGIN;
        let (mut low, mut high) =
            ((low - MARGIN).clamp(bottom, ceiling), (high + MARGIN).clamp(bottom, ceiling));
        if self.is_built() {
            low = low.min(self.low);
            high = high.max(top);
        }
        self.build(low, high.max(low + WINDOW as i32), chunk, world, materials);
        true
    }

    /// Builds the same heights again.
    pub(crate) fn rebuild(&mut self, chunk: ChunkPos, world: &World, materials: &Materials) {
        self.build(self.low, self.low + self.rows as i32, chunk, world, materials);
    }

    /// What stands at a cell, where the tile knows it: air, or a full cube like stone.
    #[inline]
    pub(crate) fn plain_material(&self, x: i32, y: i32, z: i32) -> Option<MaterialId> {
        let (column_x, column_z) = (x.wrapping_sub(self.west), z.wrapping_sub(self.north));
        let row = y.wrapping_sub(self.low);
        let inside = (column_x as u32) < EDGE as u32
            && (column_z as u32) < EDGE as u32
            && (row as u32) < self.rows as u32;
        if !inside {
            return None;
        }
        let byte = self.cells[(column_z as usize * EDGE + column_x as usize) * self.rows + row as usize];
        match byte & 0x11 {
            0 => Some(MaterialId::AIR),
            1 => Some(MaterialId::CUBE),
            _ => None,
        }
    }

    /// Looks at one changed cell again, and at the one above, which what is tall reaches into.
    pub(crate) fn patch(&mut self, at: BlockPos, world: &World, materials: &Materials) {
        let (x, z) = (at.x.wrapping_sub(self.west), at.z.wrapping_sub(self.north));
        if !(0..SEEN as i32).contains(&x) || !(0..SEEN as i32).contains(&z) {
            return;
        }
        let (x, z) = (x as usize, z as usize);
        let traits = |y: i32| {
            let state = world.block(BlockPos::new(at.x, y, at.z));
            state.map(|state| materials.traits(materials.of_state(state)))
        };
        for y in [at.y, at.y.saturating_add(1)] {
            let Some(row) = usize::try_from(y - self.low).ok().filter(|&row| row < self.rows) else {
                continue;
            };
            let own = traits(y);
            let under_tall = traits(y - 1).is_some_and(|below| below.has(Traits::TALL));
            let is_solid = own.is_some_and(|own| own.has(Traits::CUBE));
            let is_special = own.is_some_and(|own| !own.has(Traits::PLAIN)) || under_tall;
            self.solid[row][z] = self.solid[row][z] & !(1 << x) | u32::from(is_solid) << x;
            self.special[row][z] = self.special[row][z] & !(1 << x) | u32::from(is_special) << x;
            for column_z in z.saturating_sub(1)..=z.min(EDGE - 1) {
                for column_x in x.saturating_sub(1)..=x.min(EDGE - 1) {
                    self.pack_cell(column_x, column_z, row);
                }
            }
        }
    }

    fn pack_cell(&mut self, x: usize, z: usize, row: usize) {
        let (solid, special) = (&self.solid[row], &self.special[row]);
        let pair = [solid[z], solid[z + 1], special[z], special[z + 1]].map(|line| (line >> x & 3) as u8);
        let byte = pair[0] | pair[1] << 2 | pair[2] << 4 | pair[3] << 6;
        self.cells[(z * EDGE + x) * self.rows + row] = byte;
    }

    fn build(&mut self, low: i32, high: i32, chunk: ChunkPos, world: &World, materials: &Materials) {
        self.west = chunk.x * 16 - 1;
        self.north = chunk.z * 16 - 1;
        self.low = low;
        self.rows = (high - low) as usize;
        self.solid.clear();
        self.solid.resize(self.rows, [0; SEEN]);
        self.special.clear();
        self.special.resize(self.rows, [0; SEEN]);
        for dz in -1..=1 {
            for dx in -1..=1 {
                let neighbour = chunk.checked_offset(dx, dz).and_then(|position| world.chunk(position));
                let window = Window::of(dx, dz);
                match neighbour {
                    Some(neighbour) => self.add_chunk(neighbour, window, world.states(), materials),
                    None => self.add_unloaded(window),
                }
            }
        }
        self.pack();
    }

    fn add_unloaded(&mut self, window: Window) {
        for rows in &mut self.special {
            for z in window.z.clone() {
                rows[z] |= window.bits;
            }
        }
    }

    fn add_chunk(&mut self, chunk: &Chunk, window: Window, states: &BlockStates, materials: &Materials) {
        for (index, section) in chunk.sections().iter().enumerate() {
            let bottom = (chunk.min_section() + index as i32) * 16;
            // One more above: what is taller than its cell reaches into it.
            if bottom + 16 < self.low || bottom >= self.low + self.rows as i32 {
                continue;
            }
            if section.uniform_state().is_some_and(|state| materials.of_state(state) == MaterialId::AIR) {
                continue;
            }
            let solid = section.solid(states);
            let special = section.special(states);
            let unlike_stone = cells_where(section, materials, |traits| {
                !traits.has(Traits::PLAIN) && traits.has(Traits::CUBE)
            });
            let tall = cells_where(section, materials, |traits| traits.has(Traits::TALL));
            for y in 0..16 {
                self.add_row(bottom + y, solid, y as usize, &window, false);
                self.add_row(bottom + y, special, y as usize, &window, true);
                if let Some(cells) = &unlike_stone {
                    self.add_row(bottom + y, cells, y as usize, &window, true);
                }
                if let Some(cells) = &tall {
                    self.add_row(bottom + y + 1, cells, y as usize, &window, true);
                }
            }
        }
    }

    fn add_row(&mut self, y: i32, cells: &CellMask, local_y: usize, window: &Window, special: bool) {
        let Ok(row) = usize::try_from(y - self.low) else { return };
        if row >= self.rows {
            return;
        }
        let rows = if special { &mut self.special[row] } else { &mut self.solid[row] };
        for z in window.z.clone() {
            // Seen row 0 is that before the chunk's first, and the last row of the chunk to the north.
            let local_z = (z + 15) & 15;
            let line = (cells[local_y * 4 + local_z / 4] >> (16 * (local_z % 4))) as u32 & 0xFFFF;
            rows[z] |= window.place(line);
        }
    }

    /// Four columns a byte.
    fn pack(&mut self) {
        self.cells.clear();
        self.cells.resize(EDGE * EDGE * self.rows, 0);
        for row in 0..self.rows {
            let (solid, special) = (self.solid[row], self.special[row]);
            for z in 0..EDGE {
                let lines = [solid[z], solid[z + 1], special[z], special[z + 1]];
                if lines == [0; 4] {
                    continue;
                }
                for x in 0..EDGE {
                    self.pack_cell(x, z, row);
                }
            }
        }
    }
}

/// The part of a neighbouring chunk that a tile sees.
struct Window {
    z: std::ops::Range<usize>,
    bits: u32,
    dx: i32,
}

impl Window {
    fn of(dx: i32, dz: i32) -> Window {
        let z = match dz {
            -1 => 0..1,
            0 => 1..17,
            _ => 17..18,
        };
        let bits = match dx {
            -1 => 1,
            0 => 0xFFFF << 1,
            _ => 1 << 17,
        };
        Window { z, bits, dx }
    }

    /// 16 cells along `x` of the chunk as bits of the tile.
    fn place(&self, line: u32) -> u32 {
        match self.dx {
            -1 => line >> 15,
            0 => line << 1,
            _ => (line & 1) << 17,
        }
    }
}

/// The cells whose material answers `wanted`; `None` where no state of the palette does.
fn cells_where(
    section: &Section,
    materials: &Materials,
    wanted: impl Fn(Traits) -> bool,
) -> Option<CellMask> {
    let holds: Vec<bool> =
        section.palette().iter().map(|&state| wanted(materials.traits(materials.of_state(state)))).collect();
    if !holds.contains(&true) {
        return None;
    }
    let mut indices = [0; SECTION_CELLS];
    section.unpack_indices(&mut indices);
    let mut cells = [0; 64];
    for (cell, &index) in indices.iter().enumerate() {
        cells[cell / 64] |= u64::from(holds[usize::from(index)]) << (cell % 64);
    }
    Some(cells)
}
