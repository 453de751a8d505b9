//! The terrain around one pool as one byte a cell, made so that one 8-byte read shows a body all it can touch.
//!
//! The byte of a cell holds four columns of one height: the cell's own and those to the east, south and south-east. The
//! low half tells which are full cubes, the high half which are anything that the exact path has to look at. Eight
//! bytes in a row are eight heights. Where there is water, a second set of such bytes passes over it.

use crate::exact::fluids;
use crate::kernel::currents::{Current, Currents};
use crate::material::{MaterialId, Materials, Traits};
use crate::terrain::Surroundings;
use crate::world_terrain::WorldTerrain;
use voxtick_worlds::{BlockPos, BlockStates, CellMask, Chunk, ChunkPos, SECTION_CELLS, Section, World};

/// Cells along one edge of a tile: those of the chunk and one more to the west and north.
pub(crate) const EDGE: usize = 17;
/// Columns that a tile sees along one edge: one more to the east and south.
pub(crate) const SEEN: usize = EDGE + 1;
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
    /// The same with water as if it were air; empty where there is none.
    open: Vec<u8>,
    currents: Currents,
    /// Full cubes, a bit a cell.
    solid: Layer,
    /// What neither is plain nor water and nothing else.
    hard: Layer,
    /// Water and nothing else.
    water: Layer,
    /// Such water that is a source.
    source: Layer,
}

/// Bits of cells: a word for each `z` of each height.
type Layer = Vec<[u32; SEEN]>;

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

    /// As [`Tile::cells`] with water as if it were air; empty where there is no water.
    pub(crate) fn open_cells(&self) -> &[u8] {
        &self.open
    }

    /// Where the water flows; `None` where there is none.
    pub(crate) fn currents(&self) -> Option<&Currents> {
        (!self.open.is_empty()).then_some(&self.currents)
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

    /// Looks at one changed cell again, and at what depends on it: the one above, which what is tall reaches into, and
    /// the currents around.
    pub(crate) fn patch(&mut self, at: BlockPos, chunk: ChunkPos, world: &World, materials: &Materials) {
        let (x, z) = (at.x.wrapping_sub(self.west), at.z.wrapping_sub(self.north));
        let seen = 0..SEEN as i32;
        let mut is_water = false;
        if seen.contains(&x) && seen.contains(&z) {
            is_water = self.patch_layers(at, [x as usize, z as usize], world, materials);
        }
        let ground = WorldTerrain::around(world, materials, chunk);
        let ground = Surroundings { terrain: &ground, materials };
        if self.open.is_empty() {
            if is_water {
                self.pack();
                self.find_currents(ground);
            }
            return;
        }
        // Flows depend on the four sides and on what is above and below those, heights on the cell above.
        for (dx, dz) in [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)] {
            let (x, z) = (x + dx, z + dz);
            for y in -1..=1 {
                let row = at.y.wrapping_add(y).wrapping_sub(self.low);
                if seen.contains(&x) && seen.contains(&z) && (0..self.rows as i32).contains(&row) {
                    self.find_current([x as usize, row as usize, z as usize], ground);
                }
            }
        }
    }

    /// Returns whether there is water and nothing else now.
    fn patch_layers(
        &mut self,
        at: BlockPos,
        [x, z]: [usize; 2],
        world: &World,
        materials: &Materials,
    ) -> bool {
        let material =
            |y: i32| world.block(BlockPos::new(at.x, y, at.z)).map(|state| materials.of_state(state));
        let traits = |y: i32| material(y).map(|material| materials.traits(material));
        for y in [at.y, at.y.saturating_add(1)] {
            let Some(row) = usize::try_from(y - self.low).ok().filter(|&row| row < self.rows) else {
                continue;
            };
            let own = traits(y);
            let under_tall = traits(y - 1).is_some_and(|below| below.has(Traits::TALL));
            let holds = |wanted: Traits| own.is_some_and(|own| own.has(wanted));
            let is_hard = own.is_some() && !holds(Traits::PLAIN) && !holds(Traits::WATER) || under_tall;
            let is_source = material(y).is_some_and(|material| materials[material].fluid.is_source());
            let set = |layer: &mut Layer, holds: bool| {
                layer[row][z] = layer[row][z] & !(1 << x) | u32::from(holds) << x;
            };
            set(&mut self.solid, holds(Traits::CUBE));
            set(&mut self.hard, is_hard);
            set(&mut self.water, holds(Traits::WATER));
            set(&mut self.source, holds(Traits::WATER) && is_source);
            for column_z in z.saturating_sub(1)..=z.min(EDGE - 1) {
                for column_x in x.saturating_sub(1)..=x.min(EDGE - 1) {
                    self.pack_cell(column_x, column_z, row);
                }
            }
        }
        traits(at.y).is_some_and(|own| own.has(Traits::WATER))
    }

    fn pack_cell(&mut self, x: usize, z: usize, row: usize) {
        let bits = |layer: &Layer| (layer[row][z] >> x & 3 | (layer[row][z + 1] >> x & 3) << 2) as u8;
        let (solid, hard, water) = (bits(&self.solid), bits(&self.hard), bits(&self.water));
        let place = (z * EDGE + x) * self.rows + row;
        self.cells[place] = solid | (hard | water) << 4;
        if let Some(open) = self.open.get_mut(place) {
            *open = solid | hard << 4;
        }
    }

    /// Works out the currents of all cells with water.
    fn find_currents(&mut self, ground: Surroundings<'_, WorldTerrain<'_>>) {
        if self.open.is_empty() {
            return;
        }
        self.currents.reset(self.rows);
        for row in 0..self.rows {
            for z in 0..SEEN {
                let mut left = self.water[row][z];
                if left == 0 {
                    continue;
                }
                let still = self.still(row, z);
                let covered = self.water.get(row + 1).map_or(0, |above| above[z]);
                while left != 0 {
                    let x = left.trailing_zeros() as usize;
                    left &= left - 1;
                    if still >> x & 1 == 0 {
                        self.find_current([x, row, z], ground);
                    } else {
                        self.currents.set([x, row, z], Current::still(covered >> x & 1 != 0));
                    }
                }
            }
        }
    }

    /// Sources between sources and full cubes, under water, air or full cubes: their water stands still.
    fn still(&self, row: usize, z: usize) -> u32 {
        if z == 0 || z + 1 == SEEN || row + 1 == self.rows {
            return 0;
        }
        let holds = |z: usize| self.source[row][z] | self.solid[row][z] & !self.hard[row][z];
        let beside = holds(z) << 1 & holds(z) >> 1 & holds(z - 1) & holds(z + 1);
        self.source[row][z] & beside & !self.hard[row + 1][z]
    }

    fn find_current(&mut self, [x, row, z]: [usize; 3], ground: Surroundings<'_, WorldTerrain<'_>>) {
        let current = if self.water[row][z] >> x & 1 == 0 {
            Current::NONE
        } else {
            let cell = [self.west + x as i32, self.low + row as i32, self.north + z as i32];
            fluids::water_at(cell, ground).map_or(Current::UNKNOWN, Current::of)
        };
        self.currents.set([x, row, z], current);
    }

    fn build(&mut self, low: i32, high: i32, chunk: ChunkPos, world: &World, materials: &Materials) {
        self.west = chunk.x * 16 - 1;
        self.north = chunk.z * 16 - 1;
        self.low = low;
        self.rows = (high - low) as usize;
        for layer in [&mut self.solid, &mut self.hard, &mut self.water, &mut self.source] {
            layer.clear();
            layer.resize(self.rows, [0; SEEN]);
        }
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
        let ground = WorldTerrain::around(world, materials, chunk);
        self.find_currents(Surroundings { terrain: &ground, materials });
    }

    fn add_unloaded(&mut self, window: Window) {
        for rows in &mut self.hard {
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
            let is = |wanted: Traits| move |material: MaterialId| materials.traits(material).has(wanted);
            let unlike_stone = cells_where(section, materials, |material| {
                !is(Traits::PLAIN)(material) && is(Traits::CUBE)(material)
            });
            let tall = cells_where(section, materials, is(Traits::TALL));
            let water = cells_where(section, materials, is(Traits::WATER));
            let source = cells_where(section, materials, |material| {
                is(Traits::WATER)(material) && materials[material].fluid.is_source()
            });
            let mut hard = *section.special(states);
            if let Some(water) = &water {
                hard.iter_mut().zip(water).for_each(|(hard, water)| *hard &= !water);
            }
            for y in 0..16 {
                let rows = [bottom + y, y];
                add_row(&mut self.solid, self.low, section.solid(states), rows, &window);
                add_row(&mut self.hard, self.low, &hard, rows, &window);
                for (layer, cells) in
                    [(&mut self.hard, &unlike_stone), (&mut self.water, &water), (&mut self.source, &source)]
                {
                    if let Some(cells) = cells {
                        add_row(layer, self.low, cells, rows, &window);
                    }
                }
                if let Some(cells) = &tall {
                    add_row(&mut self.hard, self.low, cells, [bottom + y + 1, y], &window);
                }
            }
        }
    }

    /// Four columns a byte.
    fn pack(&mut self) {
        self.cells.clear();
        self.cells.resize(EDGE * EDGE * self.rows, 0);
        self.open.clear();
        if self.water.iter().any(|lines| *lines != [0; SEEN]) {
            self.open.resize(self.cells.len(), 0);
        }
        for row in 0..self.rows {
            for z in 0..EDGE {
                let lines = |layer: &Layer| layer[row][z] | layer[row][z + 1];
                if lines(&self.solid) | lines(&self.hard) | lines(&self.water) == 0 {
                    continue;
                }
                for x in 0..EDGE {
                    self.pack_cell(x, z, row);
                }
            }
        }
    }
}

/// Adds a row of a chunk's cells: those of its height `local_y` to the layer's at `y`.
fn add_row(layer: &mut Layer, low: i32, cells: &CellMask, [y, local_y]: [i32; 2], window: &Window) {
    let Some(row) = usize::try_from(y - low).ok().and_then(|row| layer.get_mut(row)) else { return };
    for z in window.z.clone() {
        // Seen row 0 is that before the chunk's first, and the last row of the chunk to the north.
        let local_z = (z + 15) & 15;
        let line = (cells[local_y as usize * 4 + local_z / 4] >> (16 * (local_z % 4))) as u32 & 0xFFFF;
        row[z] |= window.place(line);
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
    wanted: impl Fn(MaterialId) -> bool,
) -> Option<CellMask> {
    let holds: Vec<bool> = section.palette().iter().map(|&state| wanted(materials.of_state(state))).collect();
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
