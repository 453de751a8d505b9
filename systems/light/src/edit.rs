//! Light after changes: only what differs from the light before is worked on.
//!
//! Going down from the brightest level concerned, the cells at least as bright as a level are known from the stored
//! light wherever nothing has changed. Where something has, the step of the rules gives the new mask, and its
//! difference from the stored one tells which layers the next level has to look at. What rises and what falls is the
//! same to it, any number of changes are taken together, and each cell is decided once a level: there is no first
//! taking away and then giving back.
//!
//! Cost class: O(changed cells + layers in which levels differ x levels in which they do).

mod forced;
mod level;
mod parts;

use voxtick_worlds::{BlockStates, CellMask, ChunkLight, Direction, LightChannel, World};

use self::level::Step;
use crate::area::NONE;
use crate::columns::Columns;
use crate::edges::Edges;
use crate::facts::MAX_LEVEL;
use crate::masks::{Layer, NO_CELL, set_layer};
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

/// The states' table, for what asks for edges.
pub(crate) fn states<'a>(input: &'a EditInput<'_>) -> &'a BlockStates {
    match &input.source {
        Source::World(world) => world.states(),
        Source::Lent(states) => states,
    }
}
