//! Both channels of a set of chunks, from nothing.

use rustc_hash::FxHashMap;
use voxtick_worlds::{
    BlockPos, BlockStates, ChunkLight, ChunkPos, Direction, LightChannel, LightLevels, NIBBLE_BYTES,
    SECTION_CELLS, StateId, World,
};

use crate::facts::{LightFacts, MAX_LEVEL};

/// Cells of one layer of a chunk.
pub(super) const LAYER: usize = 256;
/// In a table of neighbours: no chunk there.
const NO_CHUNK: u32 = u32::MAX;

/// The light of a set of chunks in flat arrays, one byte a cell.
///
/// What lies outside the set neither takes nor gives light. Sky light falls from the top of the build range.
///
/// ```
/// use voxtick_light::reference::FlatLight;
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, LightChannel, World};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// let torch = world.states().parse("torch")?;
/// world.set_block(BlockPos::new(4, 70, 4), torch)?;
///
/// let mut light = FlatLight::new(&world, &[ChunkPos::new(0, 0)]);
/// light.light_all();
/// assert_eq!(light.level(LightChannel::Block, BlockPos::new(6, 70, 4)), Some(12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FlatLight<'w> {
    pub(super) states: &'w BlockStates,
    positions: Vec<ChunkPos>,
    slots: FxHashMap<ChunkPos, u32>,
    /// Per chunk its neighbours north, south, west and east.
    neighbours: Vec<[u32; 4]>,
    min_y: i32,
    pub(super) has_sky: bool,
    /// Cells of a chunk, and the power of two that separates chunks in the arrays.
    pub(super) cells: usize,
    shift: u32,
    facts: Vec<LightFacts>,
    fact_numbers: FxHashMap<LightFacts, u16>,
    kind: Vec<u16>,
    pub(super) block: Vec<u8>,
    pub(super) sky: Vec<u8>,
    /// Per column of each chunk the lowest cell (as a layer from the bottom) that is a sky source; the number of
    /// layers where there is none.
    pub(super) sky_floor: Vec<u16>,
    pub(super) rising: Vec<u32>,
    pub(super) falling: Vec<(u32, u8)>,
}

impl<'w> FlatLight<'w> {
    /// The chunks at `positions` as `world` has them now, not lit yet. Positions without a chunk are left out.
    #[must_use]
    pub fn new(world: &'w World, positions: &[ChunkPos]) -> FlatLight<'w> {
        let dimension = world.dimension();
        let mut loaded: Vec<ChunkPos> =
            positions.iter().copied().filter(|&at| world.chunk(at).is_some()).collect();
        loaded.sort_unstable();
        loaded.dedup();
        let slots: FxHashMap<ChunkPos, u32> = loaded.iter().zip(0..).map(|(&at, slot)| (at, slot)).collect();
        let neighbour = |at: ChunkPos, x, z| {
            at.checked_offset(x, z).and_then(|at| slots.get(&at).copied()).unwrap_or(NO_CHUNK)
        };
        let neighbours = loaded
            .iter()
            .map(|&at| [neighbour(at, 0, -1), neighbour(at, 0, 1), neighbour(at, -1, 0), neighbour(at, 1, 0)])
            .collect();
        let cells = dimension.section_count() * SECTION_CELLS;
        let stride = cells.next_power_of_two();
        let mut light = FlatLight {
            states: world.states(),
            slots,
            neighbours,
            min_y: dimension.min_y(),
            has_sky: dimension.has_sky(),
            cells,
            shift: stride.trailing_zeros(),
            facts: Vec::new(),
            fact_numbers: FxHashMap::default(),
            kind: vec![0; loaded.len() * stride],
            block: vec![0; loaded.len() * stride],
            sky: vec![0; loaded.len() * stride],
            sky_floor: vec![0; loaded.len() * LAYER],
            rising: Vec::new(),
            falling: Vec::new(),
            positions: loaded,
        };
        light.read_blocks(world);
        light
    }

    /// Reads the blocks of all chunks again from `world`, which must be as high as the one at first. The light stays
    /// what it was until [`FlatLight::light_all`].
    pub fn read_blocks(&mut self, world: &World) {
        for slot in 0..self.positions.len() {
            self.read_chunk(world, slot);
        }
    }

    fn read_chunk(&mut self, world: &World, slot: usize) {
        let Some(chunk) = world.chunk(self.positions[slot]) else { return };
        let mut indices = [0; SECTION_CELLS];
        for (number, section) in chunk.sections().iter().enumerate() {
            let kinds: Vec<u16> = section.palette().iter().map(|&state| self.kind_of(state)).collect();
            let start = (slot << self.shift) + number * SECTION_CELLS;
            let cells = &mut self.kind[start..start + SECTION_CELLS];
            if let [only] = kinds[..] {
                cells.fill(only);
                continue;
            }
            section.unpack_indices(&mut indices);
            for (cell, &index) in cells.iter_mut().zip(&indices) {
                *cell = kinds[usize::from(index)];
            }
        }
    }

    /// The number of the facts of `state`, a new one where they have not been met.
    pub(super) fn kind_of(&mut self, state: StateId) -> u16 {
        let facts = LightFacts::of(self.states, state);
        *self.fact_numbers.entry(facts).or_insert_with(|| {
            self.facts.push(facts);
            self.facts.len() as u16 - 1
        })
    }

    /// Computes both channels of all chunks from their blocks.
    pub fn light_all(&mut self) {
        self.block.fill(0);
        self.sky.fill(0);
        self.light_blocks();
        if self.has_sky {
            self.light_sky();
        }
    }

    /// Computes block light of all chunks; it must be 0 everywhere.
    fn light_blocks(&mut self) {
        let mut rising = std::mem::take(&mut self.rising);
        let emits: Vec<bool> = self.facts.iter().map(|facts| facts.emission > 0).collect();
        for slot in 0..self.positions.len() {
            let start = slot << self.shift;
            for cell in start..start + self.cells {
                if emits[usize::from(self.kind[cell])] {
                    self.block[cell] = self.facts_at(cell).emission;
                    rising.push(cell as u32);
                }
            }
        }
        self.rising = rising;
        self.rise(LightChannel::Block);
    }

    /// Computes sky light of all chunks; it must be 0 everywhere.
    fn light_sky(&mut self) {
        let layers = (self.cells / LAYER) as u16;
        for slot in 0..self.positions.len() {
            for column in 0..LAYER {
                let floor = self.find_sky_floor(slot, column, layers);
                self.sky_floor[slot * LAYER + column] = floor;
                for layer in floor..layers {
                    self.sky[(slot << self.shift) + usize::from(layer) * LAYER + column] = MAX_LEVEL;
                }
            }
        }
        // A source among sources lights nothing; queue those that stand beside a column with a higher floor, and the
        // lowest of each column for what lies below it.
        for slot in 0..self.positions.len() {
            for column in 0..LAYER {
                let floor = self.sky_floor[slot * LAYER + column];
                let lowest = (slot << self.shift) + usize::from(floor) * LAYER + column;
                let sides = [Direction::North, Direction::South, Direction::West, Direction::East];
                let highest_beside = sides
                    .iter()
                    .filter_map(|&side| self.neighbour((slot << self.shift) + column, side))
                    .map(|beside| self.sky_floor[(beside >> self.shift) * LAYER + beside % LAYER])
                    .max();
                let end = highest_beside.unwrap_or(0).max(floor + 1).min(layers);
                for layer in 0..end.saturating_sub(floor) {
                    self.rising.push((lowest + usize::from(layer) * LAYER) as u32);
                }
            }
        }
        self.rise(LightChannel::Sky);
    }

    /// The lowest sky source of a column whose cells at `from` and above are sources.
    pub(super) fn find_sky_floor(&self, slot: usize, column: usize, from: u16) -> u16 {
        let start = (slot << self.shift) + column;
        let layers = (self.cells / LAYER) as u16;
        let mut floor = from;
        while floor > 0 {
            let cell = start + usize::from(floor - 1) * LAYER;
            let facts = self.facts_at(cell);
            let open = floor == layers || self.is_open(cell + LAYER, cell, Direction::Down);
            if !facts.passes_sky() || !open {
                break;
            }
            floor -= 1;
        }
        floor
    }

    /// Spreads light from the queued cells until nothing rises.
    pub(super) fn rise(&mut self, channel: LightChannel) {
        let mut queue = std::mem::take(&mut self.rising);
        let mut levels = std::mem::take(self.levels_mut(channel));
        let mut next = 0;
        while let Some(&cell) = queue.get(next) {
            next += 1;
            let cell = cell as usize;
            let level = levels[cell];
            if level < 2 {
                continue;
            }
            let shaped = self.facts_at(cell).is_shaped();
            for side in Direction::ALL {
                let Some(beside) = self.neighbour(cell, side) else { continue };
                if levels[beside] + 1 >= level {
                    continue;
                }
                let facts = self.facts_at(beside);
                let entering = level.saturating_sub(facts.step());
                if entering <= levels[beside] {
                    continue;
                }
                if (shaped || facts.is_shaped()) && !self.is_open(cell, beside, side) {
                    continue;
                }
                levels[beside] = entering;
                queue.push(beside as u32);
            }
        }
        queue.clear();
        self.rising = queue;
        *self.levels_mut(channel) = levels;
    }

    pub(super) const fn levels_mut(&mut self, channel: LightChannel) -> &mut Vec<u8> {
        match channel {
            LightChannel::Block => &mut self.block,
            LightChannel::Sky => &mut self.sky,
        }
    }

    #[inline]
    pub(super) fn facts_at(&self, cell: usize) -> &LightFacts {
        &self.facts[usize::from(self.kind[cell])]
    }

    pub(super) fn facts_of(&self, kind: u16) -> &LightFacts {
        &self.facts[usize::from(kind)]
    }

    pub(super) fn kind_at(&mut self, cell: usize) -> &mut u16 {
        &mut self.kind[cell]
    }

    /// True where light passes from `cell` to its neighbour `beside` in direction `side`.
    #[inline]
    pub(super) fn is_open(&self, cell: usize, beside: usize, side: Direction) -> bool {
        let leaving = self.facts_at(cell).faces[side.index()];
        let entering = self.facts_at(beside).faces[side.opposite().index()];
        !self.states.faces_cover(leaving, entering)
    }

    /// The cell beside `cell`, or `None` at the edge of the chunks or of the build range.
    #[inline]
    pub(super) fn neighbour(&self, cell: usize, side: Direction) -> Option<usize> {
        let local = cell & ((1 << self.shift) - 1);
        let across = |link: usize, local: usize| {
            let slot = self.neighbours[cell >> self.shift][link];
            (slot != NO_CHUNK).then(|| ((slot as usize) << self.shift) + local)
        };
        match side {
            Direction::Down => (local >= LAYER).then(|| cell - LAYER),
            Direction::Up => (local + LAYER < self.cells).then(|| cell + LAYER),
            Direction::North if local & 0xF0 != 0 => Some(cell - 16),
            Direction::North => across(0, local + 0xF0),
            Direction::South if local & 0xF0 != 0xF0 => Some(cell + 16),
            Direction::South => across(1, local - 0xF0),
            Direction::West if local & 0xF != 0 => Some(cell - 1),
            Direction::West => across(2, local + 0xF),
            Direction::East if local & 0xF != 0xF => Some(cell + 1),
            Direction::East => across(3, local - 0xF),
        }
    }

    /// Where `position` stands in the arrays; `None` outside the chunks and the build range.
    pub(super) fn cell_at(&self, position: BlockPos) -> Option<usize> {
        let slot = *self.slots.get(&position.chunk())?;
        let layer = usize::try_from(position.y.checked_sub(self.min_y)?).ok()?;
        let local = layer * LAYER + position.column();
        (local < self.cells).then(|| ((slot as usize) << self.shift) + local)
    }

    pub(super) const fn slot_and_local(&self, cell: usize) -> (usize, usize) {
        (cell >> self.shift, cell & ((1 << self.shift) - 1))
    }

    pub(super) const fn cell_of(&self, slot: usize, local: usize) -> usize {
        (slot << self.shift) + local
    }

    /// The chunks, ascending.
    #[must_use]
    pub fn positions(&self) -> &[ChunkPos] {
        &self.positions
    }

    /// The level at `position`; `None` outside the chunks and the build range.
    #[must_use]
    pub fn level(&self, channel: LightChannel, position: BlockPos) -> Option<u8> {
        let cell = self.cell_at(position)?;
        Some(match channel {
            LightChannel::Block => self.block[cell],
            LightChannel::Sky => self.sky[cell],
        })
    }

    /// The light of one chunk in the form in which chunks keep it; `None` where it is not part of the set.
    #[must_use]
    pub fn chunk_light(&self, position: ChunkPos) -> Option<ChunkLight> {
        let slot = *self.slots.get(&position)? as usize;
        let section_count = self.cells / SECTION_CELLS;
        let mut light = ChunkLight::absent(self.min_y >> 4, section_count);
        light.incomplete = (-1..=1).flat_map(|x| (-1..=1).map(move |z| (x, z))).any(|(x, z)| {
            position.checked_offset(x, z).is_none_or(|beside| !self.slots.contains_key(&beside))
        });
        for section in 0..section_count {
            let start = (slot << self.shift) + section * SECTION_CELLS;
            let cells = start..start + SECTION_CELLS;
            light.block[section + 1] = packed(&self.block[cells.clone()]);
            if self.has_sky {
                light.sky[section + 1] = packed(&self.sky[cells]);
            }
        }
        Some(light)
    }
}

fn packed(levels: &[u8]) -> LightLevels {
    let mut nibbles = [0; NIBBLE_BYTES];
    for (byte, pair) in nibbles.iter_mut().zip(levels.chunks_exact(2)) {
        *byte = pair[0] | pair[1] << 4;
    }
    LightLevels::from_nibbles(&nibbles)
}
