//! One level of an edit: the step of the rules in every layer that may differ.

use voxtick_worlds::{CellMask, Direction, LightChannel};

use super::{EditInput, EditKernel};
use crate::area::NONE;
use crate::edges::OPEN_EDGES;
use crate::facts::MAX_LEVEL;
use crate::masks::{EAST_CELLS, Layer, NO_CELL, WEST_CELLS, any, bits, each, layer, set_layer};
use crate::sides::Sides;
use crate::spread::{Around, EdgesAround, reach, reach_past_edges};

/// What the step of one level found in one section, in the layers it was asked for.
pub(super) struct Step {
    working: u32,
    layers: u16,
    sides: Sides,
    lit: CellMask,
    differ: CellMask,
    /// The layers in which cells differ, and the rows of all these together.
    differing: u16,
    rows: Layer,
}

impl Step {
    /// Finds anew where cells differ.
    #[inline(always)]
    fn find_differing(&mut self) {
        let (mut differing, mut rows) = (0, [0; 4]);
        for y in bits(self.layers) {
            let differ = layer(&self.differ, y);
            differing |= u16::from(any(differ)) << y;
            rows = each(|at| rows[at] | differ[at]);
        }
        (self.differing, self.rows) = (differing, rows);
    }
}

impl Default for Step {
    fn default() -> Step {
        Step {
            working: NONE,
            layers: 0,
            sides: Sides::NONE,
            lit: NO_CELL,
            differ: NO_CELL,
            differing: 0,
            rows: [0; 4],
        }
    }
}

impl EditKernel {
    /// One level: finds the new masks of all marked layers. False where a cell costs more than one level.
    ///
    /// Where light does nothing but rise from cells that emit more (`RISING`), the masks are those of the gained cells
    /// alone: the others gain nothing from each other, so that nothing has to be known of what is beside.
    #[inline(always)]
    pub(super) fn take_level<const RISING: bool>(&mut self, input: &mut EditInput<'_>, level: u8) -> bool {
        std::mem::swap(&mut self.todo, &mut self.next);
        for &working in &self.forced {
            let this = &mut self.working[working as usize];
            let layers = this.forced_layers(level);
            if layers == 0 {
                continue;
            }
            if this.layers == 0 {
                self.todo.push(working);
                this.sides = Sides::NONE;
            }
            this.layers |= layers;
            this.sides |= this.forced_sides;
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
            if RISING {
                this.read_stored(step.layers);
            } else if sky_sources {
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
                step.find_differing();
                continue;
            }
            let emitters = match (input.channel, opacity.mixed()) {
                (LightChannel::Block, Some(mixed)) => &mixed.emitters[..],
                _ => &[],
            };
            self.step::<RISING>(step, opacity.open(), emitters, level);
        }
        let steps_taken = &steps[..todo.len()];
        for step in steps_taken {
            self.commit::<RISING>(input, step, level);
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
    fn step<const RISING: bool>(&self, step: &mut Step, open: &CellMask, emitters: &[(u16, u8)], level: u8) {
        let this = &self.working[step.working as usize];
        let [down, up, mut north, mut south, mut west, mut east] = this.beside;
        // What was not read is not looked at, and the cells there do not differ.
        let mut valid = [u64::MAX; 4];
        if !RISING && !step.sides.has(Direction::North) {
            north = None;
            valid[0] &= !0xFFFF;
        }
        if !RISING && !step.sides.has(Direction::South) {
            south = None;
            valid[3] &= !(0xFFFF << 48);
        }
        if !RISING && !step.sides.has(Direction::West) {
            west = None;
            valid = each(|at| valid[at] & !WEST_CELLS);
        }
        if !RISING && !step.sides.has(Direction::East) {
            east = None;
            valid = each(|at| valid[at] & !EAST_CELLS);
        }
        let lit = |beside: Option<u32>| match beside {
            Some(beside) if RISING && beside != NONE => self.working[beside as usize].gained(),
            _ if RISING => &NO_CELL,
            _ => self.lit(beside, level + 1),
        };
        let beside = [lit(down), lit(up), lit(north), lit(south), lit(west), lit(east)];
        let around = Around { own: if RISING { this.gained() } else { this.lit(level + 1) }, beside };
        let own_edges = self.edges.get(this.edges as usize);
        let edges = [own_edges, self.edges(down), self.edges(north), self.edges(west)];
        let edged = edges.iter().any(Option::is_some);
        let edges = EdgesAround {
            own: edges[0].unwrap_or(&OPEN_EDGES),
            down: edges[1].unwrap_or(&OPEN_EDGES),
            north: edges[2].unwrap_or(&OPEN_EDGES),
            west: edges[3].unwrap_or(&OPEN_EDGES),
        };
        let (mut differing, mut rows) = (0_u16, [0; 4]);
        for y in bits(step.layers) {
            let reached: Layer = if edged { reach_past_edges(&around, &edges, y) } else { reach(&around, y) };
            let (own, open, before) = (layer(around.own, y), layer(open, y), this.stored_layer(y, level));
            let lit = each(|at| own[at] | reached[at] & open[at]);
            let differ = if RISING {
                each(|at| lit[at] & !before[at])
            } else {
                each(|at| (lit[at] ^ before[at]) & valid[at])
            };
            if !RISING {
                set_layer(&mut step.lit, y, each(|at| before[at] ^ differ[at]));
            }
            set_layer(&mut step.differ, y, differ);
            differing |= u16::from(any(differ)) << y;
            rows = each(|at| rows[at] | differ[at]);
        }
        (step.differing, step.rows) = (differing, rows);
        let mut has_emitters = false;
        for cell in emitters.iter().filter(|&&(_, emission)| emission == level).map(|&(cell, _)| cell) {
            has_emitters = true;
            let (word, bit) = (usize::from(cell) / 64, 1 << (cell % 64));
            if RISING {
                let gains = step.layers >> (cell / 256) & 1 != 0 && this.level(cell.into()) < level;
                step.differ[word] |= if gains { bit } else { 0 };
            } else if step.layers >> (cell / 256) & 1 != 0 && valid[word % 4] & bit != 0 {
                let before = step.lit[word] ^ step.differ[word];
                step.lit[word] |= bit;
                step.differ[word] = step.differ[word] & !bit | !before & bit;
            }
        }
        if has_emitters {
            step.find_differing();
        }
    }

    /// Takes what the step has found as the lit cells of the level, and marks where the next level may differ.
    #[inline(always)]
    fn commit<const RISING: bool>(&mut self, input: &mut EditInput<'_>, step: &Step, level: u8) {
        let this = &mut self.working[step.working as usize];
        let (differing, rows) = (step.differing, step.rows);
        if differing != 0 {
            // Before the lit cells are taken: those of a section that was even until now are kept from here on.
            this.note(differing, level, &step.differ);
        }
        if RISING {
            this.set_gained(step.layers, &step.differ);
        } else {
            this.set_lit(step.layers, level, &step.lit);
        }
        if differing != 0 {
            self.mark_around(input, step.working, differing, rows);
        }
    }
}
