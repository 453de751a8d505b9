//! Light after changes: only what differs from the light before is worked on.
//!
//! Going down from the brightest level concerned, the cells at least as bright as a level are known from the stored
//! light wherever nothing has changed. Where something has, the step of the rules gives the new mask, and its
//! difference from the stored one tells which layers the next level has to look at. What rises and what falls is the
//! same to it, any number of changes are taken together, and each cell is decided once a level: there is no first
//! taking away and then giving back.
//!
//! Cost class: O(changed cells + layers in which levels differ x levels in which they do).

use voxtick_worlds::{BlockStates, CellMask, ChunkLight, Direction, LightChannel, LightLevels, World};

use crate::area::NONE;
use crate::columns::Columns;
use crate::edges::{Edges, OPEN_EDGES};
use crate::facts::MAX_LEVEL;
use crate::masks::{EAST_CELLS, Layer, NO_CELL, WEST_CELLS, any, bits, each, layer, set_layer};
use crate::sides::Sides;
use crate::simd::{Width, for_every_width};
use crate::spread::{Around, EdgesAround, reach, reach_past_edges};
use crate::working::Working;

/// One cell whose facts have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChangedCell {
    /// Place of its chunk among the columns.
    pub(crate) place: u32,
    pub(crate) section: u32,
    pub(crate) cell: u16,
    /// Its faces are or were not all empty, so that its neighbours' edges may have changed with it.
    pub(crate) shaped: bool,
    /// It lets light through in another way than before; where not, only its emission has changed.
    pub(crate) reshaped: bool,
}

/// What a run of the kernel did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) cells: u64,
    pub(crate) sections: u64,
}

/// Brings stored light up to date. Holds scratch only.
#[derive(Default)]
pub(crate) struct EditKernel {
    /// The sections that take part.
    pub(crate) working: Vec<Working>,
    /// How many of `working` are in use; the others are kept for their memory.
    pub(crate) used: usize,
    /// Closed edges of those sections that have some.
    edges: Vec<Edges>,
    /// Per section of all columns its place in `working`, or [`NONE`].
    pub(crate) places: Vec<u32>,
    /// Per column the light of its chunk while it is taken out of the world, and which columns these are.
    lights: Vec<Option<Box<ChunkLight>>>,
    borrowed: Vec<u32>,
    sections: usize,
    /// Sections looked at in every level.
    forced: Vec<u32>,
    todo: Vec<u32>,
    next: Vec<u32>,
    steps: Vec<Step>,
    /// Changed cells by column, from the top down: place, column, height with its sign turned.
    pub(crate) by_column: Vec<(u32, u16, i32)>,
    /// Sources to toggle: section and cell.
    pub(crate) unsettled: Vec<(u32, usize)>,
    /// Sections in which the last run changed a level.
    pub(crate) touched: Vec<(u32, u32)>,
}

/// What the step of one level found in one section, in the layers it was asked for.
struct Step {
    working: u32,
    layers: u16,
    sides: Sides,
    lit: CellMask,
    differ: CellMask,
}

impl Default for Step {
    fn default() -> Step {
        Step { working: NONE, layers: 0, sides: Sides::NONE, lit: NO_CELL, differ: NO_CELL }
    }
}

/// What the kernel works on: the light it changes, and what the chunks let through.
pub(crate) struct EditInput<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) columns: &'a Columns,
    pub(crate) channel: LightChannel,
}

/// Where the light of a chunk comes from that takes part.
pub(crate) enum Source<'a> {
    /// From the world, when it is first asked for.
    World(&'a mut World),
    /// All that may take part has been [lent](EditKernel::lend) before.
    Lent(&'a BlockStates),
}

impl EditKernel {
    /// Brings one channel up to date after the facts of `changed` cells have changed; `columns` must know them already.
    ///
    /// Returns `None`, with nothing changed, where a cell that takes part costs more than one level to enter: the masks
    /// of this kernel know steps of one level only.
    pub(crate) fn update(
        &mut self,
        width: Width,
        input: &mut EditInput<'_>,
        changed: &[ChangedCell],
    ) -> Option<Difference> {
        self.make_room(input.columns);
        let mut outcome = Some(Difference::default());
        run_at(width, self, input, changed, &mut outcome);
        outcome
    }

    fn make_room(&mut self, columns: &Columns) {
        self.sections = columns.height();
        self.places.resize(columns.places() * self.sections, NONE);
        self.lights.resize_with(columns.places(), || None);
    }

    /// Takes the light of the chunk at `place` out of the world, if it has not done so already.
    pub(crate) fn lend(&mut self, world: &mut World, columns: &Columns, place: u32) {
        self.make_room(columns);
        self.borrow(Some(world), columns, place);
    }

    fn borrow(
        &mut self,
        world: Option<&mut World>,
        columns: &Columns,
        place: u32,
    ) -> Option<&mut ChunkLight> {
        let light = &mut self.lights[place as usize];
        if light.is_none() {
            *light = world?.chunk_mut(columns.at(place).position)?.light.take();
            if light.is_some() {
                self.borrowed.push(place);
            }
        }
        light.as_deref_mut()
    }

    /// Gives all light back that was lent or taken.
    pub(crate) fn give_back(&mut self, world: &mut World, columns: &Columns) {
        for place in self.borrowed.drain(..) {
            let light = self.lights[place as usize].take();
            if let Some(chunk) = world.chunk_mut(columns.at(place).position) {
                chunk.light = light;
            }
        }
    }

    /// The sections in which the last run changed a level: place of the column, and number.
    pub(crate) fn touched(&self) -> &[(u32, u32)] {
        &self.touched
    }

    /// Bytes of scratch, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.working.capacity() * size_of::<Working>()
            + self.edges.capacity() * size_of::<Edges>()
            + self.places.capacity() * size_of::<u32>()
            + self.lights.capacity() * size_of::<Option<Box<ChunkLight>>>()
            + self.steps.capacity() * size_of::<Step>()
            + (self.forced.capacity() + self.todo.capacity() + self.next.capacity()) * size_of::<u32>()
            + self.by_column.capacity() * size_of::<(u32, u16, i32)>()
            + self.unsettled.capacity() * size_of::<(u32, usize)>()
            + (self.touched.capacity() + self.borrowed.capacity()) * size_of::<(u32, u32)>()
    }

    /// The section upwards, downwards or beside, by number; [`NONE`] at the edge of the chunks and of the build range.
    pub(crate) fn beside(&self, columns: &Columns, place: u32, section: u32, side: Direction) -> (u32, u32) {
        match side {
            Direction::Down if section > 0 => (place, section - 1),
            Direction::Up if (section as usize) + 1 < self.sections => (place, section + 1),
            Direction::Down | Direction::Up => (NONE, 0),
            side => (columns.at(place).links[side.index() - 2], section),
        }
    }

    /// Lets a section take part, if it does not yet, and returns its place in `working`.
    #[inline]
    pub(crate) fn take_part(&mut self, input: &mut EditInput<'_>, place: u32, section: u32) -> u32 {
        if place == NONE {
            return NONE;
        }
        let number = place as usize * self.sections + section as usize;
        if self.places[number] != NONE {
            return self.places[number];
        }
        let edges = {
            let columns = input.columns;
            let opacity = |side: Direction| {
                let (place, section) = self.beside(columns, place, section, side);
                (side, (place != NONE).then(|| &columns.at(place).sections[section as usize]))
            };
            let seams = [opacity(Direction::Up), opacity(Direction::South), opacity(Direction::East)];
            Edges::with_seams(&columns.at(place).sections[section as usize], seams, states(input))
        };
        let levels = self.levels_mut(input, place, section).map_or(LightLevels::Absent, std::mem::take);
        let edges = match edges {
            None => NONE,
            Some(edges) => {
                self.edges.push(edges);
                self.edges.len() as u32 - 1
            }
        };
        if self.used == self.working.len() {
            // One is 5 KiB, and the most that ever took part at once are kept: no more than those.
            self.working.reserve_exact(1);
            self.working.push(Working::default());
        }
        self.working[self.used].start(place, section, levels, edges);
        self.places[number] = self.used as u32;
        self.used += 1;
        self.used as u32 - 1
    }

    /// Where the light of a section is kept. The light of a chunk is taken out of the world when it is first asked for,
    /// so that the chunk is looked up once, not once a section.
    pub(crate) fn levels_mut(
        &mut self,
        input: &mut EditInput<'_>,
        place: u32,
        section: u32,
    ) -> Option<&mut LightLevels> {
        let world = match &mut input.source {
            Source::World(world) => Some(&mut **world),
            Source::Lent(_) => None,
        };
        let light = self.borrow(world, input.columns, place)?;
        // Light starts one section below the build range.
        light.channel_mut(input.channel).get_mut(section as usize + 1)
    }

    /// The neighbour of a working section, which takes part from now on.
    #[inline]
    fn neighbour(&mut self, input: &mut EditInput<'_>, working: u32, side: Direction) -> u32 {
        let this = &self.working[working as usize];
        let known = this.beside[side.index()];
        if known.is_some() {
            return known.unwrap_or(NONE);
        }
        let (place, section) = self.beside(input.columns, this.place, this.section, side);
        let beside = self.take_part(input, place, section);
        self.working[working as usize].beside[side.index()] = Some(beside);
        beside
    }

    /// Marks layers of a working section for the next level, in which cells at `sides` may differ.
    #[inline]
    fn mark(&mut self, working: u32, layers: u16, sides: Sides) {
        if working != NONE && layers != 0 {
            let marked = &mut self.working[working as usize];
            if marked.layers == 0 {
                self.next.push(working);
                marked.sides = Sides::NONE;
            }
            marked.layers |= layers;
            marked.sides |= sides;
        }
    }

    /// Marks what may differ in the next level where `differ` does in this one.
    #[inline(always)]
    fn mark_around(&mut self, input: &mut EditInput<'_>, working: u32, differ: &CellMask, layers: u16) {
        let mut rows = [0; 4];
        for y in bits(layers) {
            let layer = layer(differ, y);
            rows = each(|at| rows[at] | layer[at]);
        }
        let near = Sides::near(rows);
        self.mark(working, layers | layers << 1 | layers >> 1, near);
        if layers & 1 != 0 {
            let beside = self.neighbour(input, working, Direction::Down);
            self.mark(beside, 1 << 15, near);
        }
        if layers >> 15 != 0 {
            let beside = self.neighbour(input, working, Direction::Up);
            self.mark(beside, 1, near);
        }
        let touched = Sides::touched_by(rows);
        for side in Sides::ALL.into_iter().filter(|&side| touched.has(side)) {
            let beside = self.neighbour(input, working, side);
            self.mark(beside, layers, near.seen_from(side));
        }
    }

    /// Marks the layers that changed cells can have an effect in at any level, and returns the brightest level at which
    /// they can.
    fn force(&mut self, input: &mut EditInput<'_>, changed: &[ChangedCell]) -> u8 {
        let mut brightest = 0;
        for &ChangedCell { place, section, cell, shaped, .. } in changed {
            let cell = usize::from(cell);
            let working = self.take_part(input, place, section);
            self.force_cell(working, cell);
            let opacity = &input.columns.at(place).sections[section as usize];
            if input.channel == LightChannel::Block {
                let emission = opacity.mixed().and_then(|mixed| crate::opacity::find(&mixed.emitters, cell));
                brightest = brightest.max(emission.unwrap_or(0));
            }
            brightest = brightest.max(self.working[working as usize].level(cell));
            for side in Direction::ALL {
                let (beside, other) = match crate::opacity::beside_within(cell, side) {
                    Some(other) => (working, other),
                    None => {
                        let beside = self.neighbour(input, working, side);
                        match crate::edges::across(cell, side) {
                            Some(other) if beside != NONE => (beside, other),
                            _ => continue,
                        }
                    }
                };
                let level = self.working[beside as usize].level(other);
                brightest = brightest.max(level);
                if shaped {
                    self.force_cell(beside, other);
                }
            }
        }
        brightest
    }

    fn force_cell(&mut self, working: u32, cell: usize) {
        let this = &mut self.working[working as usize];
        if this.forced == 0 {
            self.forced.push(working);
            this.forced_sides = Sides::NONE;
        }
        this.forced |= 1 << (cell / 256);
        this.forced_sides |= Sides::of_cell(cell);
    }

    #[inline(always)]
    fn lit(&self, working: Option<u32>, level: u8) -> &CellMask {
        match working {
            Some(working) if working != NONE => self.working[working as usize].lit(level),
            _ => &NO_CELL,
        }
    }

    #[inline(always)]
    fn edges(&self, working: Option<u32>) -> Option<&Edges> {
        match working {
            Some(working) if working != NONE => self.edges.get(self.working[working as usize].edges as usize),
            _ => None,
        }
    }

    /// Gives the stored light back, with the changes.
    #[inline(always)]
    fn finish(&mut self, input: &mut EditInput<'_>, keep_changes: bool) -> Difference {
        let mut outcome = Difference::default();
        for at in 0..self.used {
            let this = &mut self.working[at];
            if keep_changes {
                let cells = this.write_changes();
                outcome.cells += cells;
                if cells > 0 {
                    self.touched.push((this.place, this.section));
                }
            }
            let (place, section) = (this.place, this.section);
            let levels = std::mem::take(&mut this.levels);
            self.places[place as usize * self.sections + section as usize] = NONE;
            if let Some(stored) = self.levels_mut(input, place, section) {
                *stored = levels;
            }
        }
        if let Source::World(world) = &mut input.source {
            self.give_back(world, input.columns);
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        outcome.sections = self.touched.len() as u64;
        self.used = 0;
        self.edges.clear();
        self.forced.clear();
        self.todo.clear();
        self.next.clear();
        outcome
    }
}

for_every_width! {
    fn run_at(
        kernel: &mut EditKernel,
        input: &mut EditInput<'_>,
        changed: &[ChangedCell],
        outcome: &mut Option<Difference>,
    ) = run
}

#[inline(always)]
fn run(
    kernel: &mut EditKernel,
    input: &mut EditInput<'_>,
    changed: &[ChangedCell],
    outcome: &mut Option<Difference>,
) {
    kernel.touched.clear();
    let (settled, all_settled) =
        if input.channel == LightChannel::Sky { kernel.move_sources(input, changed) } else { (0, false) };
    let mut brightest = kernel.force(input, if all_settled { &[] } else { changed });
    if kernel.working[..kernel.used].iter().any(|working| working.sources_differ != 0) {
        brightest = MAX_LEVEL;
    }
    let mut supported = true;
    for level in (1..=brightest).rev() {
        supported &= kernel.take_level(input, level);
        if !supported || kernel.next.is_empty() && kernel.forced.is_empty() {
            break;
        }
    }
    let difference = kernel.finish(input, supported);
    *outcome =
        supported.then_some(Difference { cells: difference.cells + settled, sections: difference.sections });
}

impl EditKernel {
    /// One level: finds the new masks of all marked layers. False where a cell costs more than one level.
    #[inline(always)]
    fn take_level(&mut self, input: &mut EditInput<'_>, level: u8) -> bool {
        std::mem::swap(&mut self.todo, &mut self.next);
        for at in 0..self.forced.len() {
            let forced = self.forced[at];
            if self.working[forced as usize].layers == 0 {
                self.todo.push(forced);
            }
            let forced = &mut self.working[forced as usize];
            if forced.layers == 0 {
                forced.sides = Sides::NONE;
            }
            forced.layers |= forced.forced;
            forced.sides |= forced.forced_sides;
        }
        let sky_sources = input.channel == LightChannel::Sky && level == MAX_LEVEL;
        let todo = std::mem::take(&mut self.todo);
        let mut steps = std::mem::take(&mut self.steps);
        if steps.len() < todo.len() {
            steps.resize_with(todo.len(), Step::default);
        }
        for (step, &working) in steps.iter_mut().zip(&todo) {
            step.working = working;
            let this = &mut self.working[working as usize];
            step.layers = std::mem::take(&mut this.layers);
            step.sides = this.sides;
            if sky_sources {
                this.read(step.layers, level);
            } else {
                self.read_around(input, working, step.layers, step.sides, level + 1);
            }
        }
        let mut supported = true;
        for step in steps.iter_mut().take(todo.len()) {
            let this = &self.working[step.working as usize];
            let opacity = &input.columns.at(this.place).sections[this.section as usize];
            supported &= opacity.mixed().is_none_or(|mixed| mixed.slow.is_empty());
            if sky_sources {
                this.step_sources(step.layers, &mut step.lit, &mut step.differ);
                continue;
            }
            let emitters = match (input.channel, opacity.mixed()) {
                (LightChannel::Block, Some(mixed)) => &mixed.emitters[..],
                _ => &[],
            };
            self.step(step, opacity.open(), emitters, level);
        }
        let steps_taken = &steps[..todo.len()];
        for step in steps_taken {
            self.commit(input, step, level);
        }
        self.steps = steps;
        self.todo = todo;
        self.todo.clear();
        supported
    }

    /// Makes the lit cells at `level` of all that a step in `layers` looks at known.
    #[inline(always)]
    fn read_around(&mut self, input: &mut EditInput<'_>, working: u32, layers: u16, sides: Sides, level: u8) {
        self.working[working as usize].read(layers | layers << 1 | layers >> 1, level);
        if layers & 1 != 0 {
            self.read_beside(input, working, Direction::Down, 1 << 15, level);
        }
        if layers >> 15 != 0 {
            self.read_beside(input, working, Direction::Up, 1, level);
        }
        for side in Sides::ALL.into_iter().filter(|&side| sides.has(side)) {
            self.read_beside(input, working, side, layers, level);
        }
    }

    #[inline(always)]
    fn read_beside(
        &mut self,
        input: &mut EditInput<'_>,
        working: u32,
        side: Direction,
        layers: u16,
        level: u8,
    ) {
        let beside = self.neighbour(input, working, side);
        if beside != NONE {
            self.working[beside as usize].read(layers, level);
        }
    }

    /// The rules, in the layers of the step: lit is what was, what emits, and what opens to a lit cell.
    #[inline(always)]
    fn step(&self, step: &mut Step, open: &CellMask, emitters: &[(u16, u8)], level: u8) {
        let this = &self.working[step.working as usize];
        let [down, up, mut north, mut south, mut west, mut east] = this.beside;
        // What was not read is not looked at, and the cells there do not differ.
        let mut valid = [u64::MAX; 4];
        if !step.sides.has(Direction::North) {
            north = None;
            valid[0] &= !0xFFFF;
        }
        if !step.sides.has(Direction::South) {
            south = None;
            valid[3] &= !(0xFFFF << 48);
        }
        if !step.sides.has(Direction::West) {
            west = None;
            valid = each(|at| valid[at] & !WEST_CELLS);
        }
        if !step.sides.has(Direction::East) {
            east = None;
            valid = each(|at| valid[at] & !EAST_CELLS);
        }
        let lit = |beside: Option<u32>| self.lit(beside, level + 1);
        let beside = [lit(down), lit(up), lit(north), lit(south), lit(west), lit(east)];
        let around = Around { own: this.lit(level + 1), beside };
        let own_edges = self.edges.get(this.edges as usize);
        let edges = [own_edges, self.edges(down), self.edges(north), self.edges(west)];
        let edged = edges.iter().any(Option::is_some);
        let edges = EdgesAround {
            own: edges[0].unwrap_or(&OPEN_EDGES),
            down: edges[1].unwrap_or(&OPEN_EDGES),
            north: edges[2].unwrap_or(&OPEN_EDGES),
            west: edges[3].unwrap_or(&OPEN_EDGES),
        };
        for y in bits(step.layers) {
            let reached: Layer = if edged { reach_past_edges(&around, &edges, y) } else { reach(&around, y) };
            let (own, open, before) = (layer(around.own, y), layer(open, y), this.stored_layer(y, level));
            let differ = each(|at| ((own[at] | reached[at] & open[at]) ^ before[at]) & valid[at]);
            set_layer(&mut step.lit, y, each(|at| before[at] ^ differ[at]));
            set_layer(&mut step.differ, y, differ);
        }
        for cell in emitters.iter().filter(|&&(_, emission)| emission == level).map(|&(cell, _)| cell) {
            let (word, bit) = (usize::from(cell) / 64, 1 << (cell % 64));
            if step.layers >> (cell / 256) & 1 != 0 && valid[word % 4] & bit != 0 {
                let before = step.lit[word] ^ step.differ[word];
                step.lit[word] |= bit;
                step.differ[word] = step.differ[word] & !bit | !before & bit;
            }
        }
    }

    #[inline(always)]
    fn commit(&mut self, input: &mut EditInput<'_>, step: &Step, level: u8) {
        let this = &mut self.working[step.working as usize];
        let mut differing = 0_u16;
        for y in bits(step.layers) {
            let differ = layer(&step.differ, y);
            if any(differ) {
                differing |= 1 << y;
                this.note(y, level, differ);
            }
        }
        this.set_lit(step.layers, level, &step.lit);
        if differing != 0 {
            self.mark_around(input, step.working, &step.differ, differing);
        }
    }

    /// Notes that `cell` of a working section became a sky source or is none any more.
    pub(crate) fn toggle_source(&mut self, working: u32, cell: usize) {
        let this = &mut self.working[working as usize];
        let y = cell / 256;
        if this.sources_differ >> y & 1 == 0 {
            set_layer(&mut this.sources, y, [0; 4]);
        }
        this.sources_differ |= 1 << y;
        this.sources[cell / 64] ^= 1 << (cell % 64);
        self.mark(working, 1 << y, Sides::NONE);
    }
}

/// The states' table, for what asks for edges.
pub(crate) fn states<'a>(input: &'a EditInput<'_>) -> &'a BlockStates {
    match &input.source {
        Source::World(world) => world.states(),
        Source::Lent(states) => states,
    }
}
