//! Light after changes: only what differs from the light before is worked on.
//!
//! Going down from the brightest level concerned, the cells at least as bright as a level are known from the stored
//! light wherever nothing has changed. Where something has, the step of the rules gives the new mask, and its
//! difference from the stored one tells which layers the next level has to look at. What rises and what falls is the
//! same to it, any number of changes are taken together, and each cell is decided once a level: there is no first
//! taking away and then giving back.
//!
//! Cost class: O(changed cells + layers in which levels differ x levels in which they do).

mod level;

use voxtick_worlds::{
    BlockStates, CellMask, ChunkLight, Direction, LightChannel, LightLevels, NIBBLE_BYTES, World,
};

use self::level::Step;
use crate::area::NONE;
use crate::columns::Columns;
use crate::edges::Edges;
use crate::facts::MAX_LEVEL;
use crate::masks::{Layer, NO_CELL, set_layer};
use crate::opacity::Opacity;
use crate::sides::Sides;
use crate::simd::{Width, for_every_width};
use crate::sources::ColumnCell;
use crate::working::Working;

/// One cell whose facts have changed. The first three fields lie as they are compared, so that they are read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct ChangedCell {
    pub(crate) cell: u16,
    /// Number in its column, which has 256 sections at most.
    pub(crate) section: u16,
    /// Place of its chunk among the columns.
    pub(crate) place: u32,
    /// Its faces are or were not all empty, so that its neighbours' edges may have changed with it.
    pub(crate) shaped: bool,
    /// It lets light through in another way than before; where not, only its emission has changed.
    pub(crate) reshaped: bool,
    /// It emits less than before.
    pub(crate) fades: bool,
}

impl ChangedCell {
    /// Sorts by place, section and cell.
    #[inline]
    pub(crate) fn key(&self) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.section) << 16 | u64::from(self.cell)
    }
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
    /// Sections of which some levels are looked at whatever was found in those before, and the lowest such level.
    forced: Vec<u32>,
    lowest_forced: u8,
    /// The changed cells emit as much as before, or more, and let light through as before.
    is_rising: bool,
    todo: Vec<u32>,
    next: Vec<u32>,
    steps: Vec<Step>,
    /// Changed cells by column, from the top down.
    pub(crate) by_column: Vec<ColumnCell>,
    /// Sources to toggle: section and cell.
    pub(crate) unsettled: Vec<(u32, usize)>,
    /// Sections in which the last run changed a level.
    pub(crate) touched: Vec<(u32, u32)>,
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
            + self.by_column.capacity() * size_of::<ColumnCell>()
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
    #[inline(always)]
    pub(crate) fn take_part(&mut self, input: &mut EditInput<'_>, place: u32, section: u32) -> u32 {
        if place == NONE {
            return NONE;
        }
        match self.places[place as usize * self.sections + section as usize] {
            NONE => self.begin_part(input, place, section),
            known => known,
        }
    }

    #[inline(never)]
    fn begin_part(&mut self, input: &mut EditInput<'_>, place: u32, section: u32) -> u32 {
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
        if self.is_rising {
            self.working[self.used].forget_gained();
        }
        self.places[place as usize * self.sections + section as usize] = self.used as u32;
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

    /// The neighbour of a working section, which takes part from now on; [`NONE`] as well where no light enters it at all.
    #[inline(always)]
    fn neighbour(&mut self, input: &mut EditInput<'_>, working: u32, side: Direction) -> u32 {
        match self.working[working as usize].beside[side.index()] {
            Some(known) => known,
            None => self.find_neighbour(input, working, side),
        }
    }

    #[inline(never)]
    fn find_neighbour(&mut self, input: &mut EditInput<'_>, working: u32, side: Direction) -> u32 {
        let this = &self.working[working as usize];
        let (place, section) = self.beside(input.columns, this.place, this.section, side);
        let is_dark =
            place != NONE && matches!(input.columns.at(place).sections[section as usize], Opacity::Opaque);
        let beside = if is_dark { NONE } else { self.take_part(input, place, section) };
        self.working[working as usize].beside[side.index()] = Some(beside);
        if beside != NONE {
            self.working[beside as usize].beside[side.opposite().index()] = Some(working);
        }
        beside
    }

    /// Marks layers of a working section for the next level, in which cells at `sides` may differ.
    #[inline(always)]
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

    /// Marks what may differ in the next level where cells of `layers` do in this one; `rows` are those of all these layers
    /// together.
    #[inline(always)]
    fn mark_around(&mut self, input: &mut EditInput<'_>, working: u32, layers: u16, rows: Layer) {
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

    /// Marks the layers in which a changed cell may be the first to differ, for the levels at which it may, and returns
    /// the brightest of them.
    ///
    /// A cell differs first at the brighter of its old level and its new one, and from there on the difference is followed
    /// from level to level. So nothing is to be looked at below its old level, nor above what it or a neighbour had or it
    /// emits now: what a neighbour gains is followed from there.
    fn force(&mut self, input: &mut EditInput<'_>, changed: &[ChangedCell]) -> u8 {
        self.lowest_forced = MAX_LEVEL;
        let mut brightest = 0;
        for same_section in changed.chunk_by(|a, b| (a.place, a.section) == (b.place, b.section)) {
            let (place, section) = (same_section[0].place, u32::from(same_section[0].section));
            let working = self.take_part(input, place, section);
            let columns = input.columns;
            let mut emitters = match (input.channel, columns.at(place).sections[section as usize].mixed()) {
                (LightChannel::Block, Some(mixed)) => &mixed.emitters[..],
                _ => &[],
            };
            for changed in same_section {
                emitters = &emitters[emitters.iter().take_while(|at| at.0 < changed.cell).count()..];
                let emission = emitters.first().filter(|at| at.0 == changed.cell).map_or(0, |at| at.1);
                brightest = brightest.max(self.force_around(input, working, *changed, emission));
            }
        }
        brightest
    }

    /// See [`EditKernel::force`].
    #[inline(always)]
    fn force_around(
        &mut self,
        input: &mut EditInput<'_>,
        working: u32,
        changed: ChangedCell,
        emission: u8,
    ) -> u8 {
        let cell = usize::from(changed.cell);
        if !changed.reshaped {
            return self.force_cell(working, cell, emission);
        }
        let this = &self.working[working as usize];
        let is_inner = Sides::of_cell(cell) == Sides::NONE && (256..3840).contains(&cell);
        if is_inner && !changed.shaped {
            let around = match &this.levels {
                LightLevels::Nibbles(nibbles) => {
                    let level = |cell: usize| nibbles[cell / 2 % NIBBLE_BYTES] >> (cell % 2 * 4) & 15;
                    let across =
                        level(cell - 16).max(level(cell + 16)).max(level(cell - 1)).max(level(cell + 1));
                    across.max(level(cell - 256)).max(level(cell + 256))
                }
                even => even.level(0).unwrap_or(0),
            };
            return self.force_cell(working, cell, emission.max(around.saturating_sub(1)));
        }
        let mut most = emission.max(this.level(cell));
        let mut around = [None; 6];
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
            most = most.max(self.working[beside as usize].level(other).saturating_sub(1));
            around[side.index()] = Some((beside, other));
        }
        let mut brightest = self.force_cell(working, cell, most);
        for (beside, other) in around.into_iter().flatten().filter(|_| changed.shaped) {
            brightest = brightest.max(self.force_cell(beside, other, most));
        }
        brightest
    }

    /// Has the layer of `cell` looked at in the levels from its own up to `most`, at least in its own, and returns the
    /// brightest of them.
    #[inline(always)]
    fn force_cell(&mut self, working: u32, cell: usize, most: u8) -> u8 {
        let this = &mut self.working[working as usize];
        let own = this.level(cell);
        let most = own.max(most);
        if most == 0 {
            return 0;
        }
        if !this.is_forced {
            this.is_forced = true;
            self.forced.push(working);
            this.forced = [0; 16];
            this.forced_sides = Sides::NONE;
        }
        this.forced[cell / 256] |= ((2_u32 << most) - (1 << own)) as u16;
        this.forced_sides |= Sides::of_cell(cell);
        self.lowest_forced = self.lowest_forced.min(own.max(1));
        most
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
    kernel.is_rising = changed.iter().all(|at| !at.reshaped && !at.fades);
    let (settled, all_settled) =
        if input.channel == LightChannel::Sky { kernel.move_sources(input, changed) } else { (0, false) };
    let mut brightest = kernel.force(input, if all_settled { &[] } else { changed });
    if kernel.working[..kernel.used].iter().any(|working| working.sources_differ != 0) {
        brightest = MAX_LEVEL;
    }
    let mut supported = true;
    for level in (1..=brightest).rev() {
        supported &= if kernel.is_rising {
            kernel.take_level::<true>(input, level)
        } else {
            kernel.take_level::<false>(input, level)
        };
        if !supported || kernel.next.is_empty() && level <= kernel.lowest_forced {
            break;
        }
    }
    let difference = kernel.finish(input, supported);
    *outcome =
        supported.then_some(Difference { cells: difference.cells + settled, sections: difference.sections });
}

impl EditKernel {
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
