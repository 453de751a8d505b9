//! Light of a set of chunks from nothing, level by level.
//!
//! The cells at least as bright as a level are one mask a section. Going down from 15, one step widens every mask to
//! the cells beside it, across the borders of sections and chunks too, so that after the step for level 1 all light is
//! exact: nothing is queued cell by cell, nothing is exchanged in rounds. Only sections that can gain cells take part
//! in a step, and of those only the layers that can.
//!
//! Cost class: O(sections that light reaches x levels), and one look at every other section.

use voxtick_worlds::{BlockStates, CellMask, Direction, LightLevels};

use crate::edges::{Edges, OPEN_EDGES};
use crate::facts::MAX_LEVEL;
use crate::masks::{
    EAST_CELLS, EVERY_CELL, NO_CELL, Planes, WEST_CELLS, add_level, any, each, has, layer, set_layer,
    store_at,
};
use crate::opacity::Opacity;
use crate::simd::{Width, for_every_width};
use crate::spread::{Around, EdgesAround, reach, reach_past_edges};

/// No chunk, no section, no edges.
pub(crate) const NONE: u32 = u32::MAX;
/// States of a section beside "its masks are at this place".
const UNLIT: u32 = u32::MAX;
const OPAQUE: u32 = u32::MAX - 1;
const BRIGHT: u32 = u32::MAX - 2;
const NO_MASKS_FROM: u32 = BRIGHT;

/// The chunks of an area, as the kernel wants them.
pub(crate) struct AreaInput<'a> {
    /// Per chunk what its sections let through, lowest first; as many sections in each.
    pub(crate) columns: &'a [&'a [Opacity]],
    /// Per chunk the numbers of its neighbours north, south, west and east, or [`NONE`].
    pub(crate) links: &'a [[u32; 4]],
    pub(crate) states: &'a BlockStates,
}

/// Lights areas. Holds scratch only: what it computed last, until it is asked for.
#[derive(Default)]
pub(crate) struct AreaKernel {
    slots: Vec<Slot>,
    /// Closed edges of the sections that have some.
    edges: Vec<Edges>,
    lit: Vec<LitSection>,
    todo: Vec<u32>,
    next: Vec<u32>,
    fresh: Vec<(u32, CellMask)>,
    /// Per level the cells that have it whatever their neighbours have: section and cell.
    seeds: [Vec<(u32, u16)>; 16],
}

/// One section of the area.
#[derive(Clone, Copy)]
struct Slot {
    /// In the order of `Direction::ALL`.
    beside: [u32; 6],
    /// Where its masks are in `lit`, or why it has none.
    lit: u32,
    edges: u32,
    /// Layers to look at in the next step.
    layers: u16,
    /// Its edges, or those of a neighbour towards it, are not all open.
    edged: bool,
    /// Nothing can become brighter any more but by its own seeds.
    full: bool,
}

struct LitSection {
    /// The cells at least as bright as the level that was worked on last.
    mask: CellMask,
    planes: Planes,
}

impl AreaKernel {
    /// Takes an area in: links its sections and finds the closed edges. Both channels can be lit after that.
    pub(crate) fn prepare(&mut self, input: &AreaInput<'_>) {
        self.slots.clear();
        self.edges.clear();
        let Some(first) = input.columns.first() else { return };
        let sections = first.len();
        let slot_of = |chunk: u32, section: usize| {
            if chunk == NONE { NONE } else { chunk * sections as u32 + section as u32 }
        };
        let opacity = |slot: u32| -> Option<&Opacity> {
            (slot != NONE).then(|| &input.columns[slot as usize / sections][slot as usize % sections])
        };
        for (chunk, column) in (0..).zip(input.columns) {
            let links = input.links[chunk as usize];
            for (section, own) in column.iter().enumerate() {
                let down = if section > 0 { slot_of(chunk, section - 1) } else { NONE };
                let up = if section + 1 < sections { slot_of(chunk, section + 1) } else { NONE };
                let [north, south, west, east] = links.map(|link| slot_of(link, section));
                let seams = [
                    (Direction::Up, opacity(up)),
                    (Direction::South, opacity(south)),
                    (Direction::East, opacity(east)),
                ];
                let edges = match Edges::with_seams(own, seams, input.states) {
                    None => NONE,
                    Some(edges) => {
                        self.edges.push(edges);
                        self.edges.len() as u32 - 1
                    }
                };
                self.slots.push(Slot {
                    beside: [down, up, north, south, west, east],
                    lit: UNLIT,
                    edges,
                    layers: 0,
                    edged: edges != NONE,
                    full: false,
                });
            }
        }
        if self.edges.is_empty() {
            return;
        }
        for at in 0..self.slots.len() {
            let [down, _, north, _, west, _] = self.slots[at].beside;
            let has_edges = |slot: u32| slot != NONE && self.slots[slot as usize].edges != NONE;
            self.slots[at].edged |= has_edges(down) || has_edges(north) || has_edges(west);
        }
    }

    /// Computes block light of the prepared area.
    pub(crate) fn light_blocks(&mut self, width: Width, input: &AreaInput<'_>) {
        self.start(input);
        for (slot, section) in (0..).zip(input.columns.iter().flat_map(|column| column.iter())) {
            for &(cell, level) in section.mixed().map_or(&[][..], |mixed| &mixed.emitters) {
                self.seeds[usize::from(level)].push((slot, cell));
            }
        }
        run_at(width, self, input, MAX_LEVEL);
    }

    /// Computes sky light of the prepared area.
    pub(crate) fn light_sky(&mut self, width: Width, input: &AreaInput<'_>) {
        self.start(input);
        let Some(sections) = input.columns.first().map(|column| column.len()) else { return };
        for (chunk, column) in input.columns.iter().enumerate() {
            self.fall_from_the_sky(chunk * sections, column);
        }
        for slot in 0..self.slots.len() as u32 {
            match self.slots[slot as usize].lit {
                BRIGHT => self.mark_beside_bright(slot),
                UNLIT | OPAQUE => {}
                at => {
                    let mask = self.lit[at as usize].mask;
                    self.mark_around(slot, &mask);
                }
            }
        }
        std::mem::swap(&mut self.todo, &mut self.next);
        run_at(width, self, input, MAX_LEVEL - 1);
    }

    /// Writes what was computed for a section, in the form in which chunks keep it.
    pub(crate) fn levels(&self, width: Width, slot: usize, levels: &mut LightLevels) {
        match self.slots[slot].lit {
            UNLIT | OPAQUE => *levels = LightLevels::Uniform(0),
            BRIGHT => *levels = LightLevels::Uniform(MAX_LEVEL),
            at => store_at(width, &self.lit[at as usize].planes, levels),
        }
    }

    fn start(&mut self, input: &AreaInput<'_>) {
        self.lit.clear();
        self.todo.clear();
        self.next.clear();
        let opacities = input.columns.iter().flat_map(|column| column.iter());
        for (slot, opacity) in self.slots.iter_mut().zip(opacities) {
            slot.lit = if matches!(opacity, Opacity::Opaque) { OPAQUE } else { UNLIT };
            slot.layers = 0;
            slot.full = slot.lit == OPAQUE;
        }
    }

    /// Finds the sky sources of one chunk, whose lowest section has the number `bottom`.
    fn fall_from_the_sky(&mut self, bottom: usize, column: &[Opacity]) {
        let mut falling = [u64::MAX; 4];
        for (section, opacity) in column.iter().enumerate().rev() {
            let slot = &mut self.slots[bottom + section];
            if matches!(opacity, Opacity::Clear) && slot.edges == NONE && falling == [u64::MAX; 4] {
                slot.lit = BRIGHT;
                slot.full = true;
                continue;
            }
            let clear = opacity.clear();
            let edges = if slot.edges == NONE { &OPEN_EDGES } else { &self.edges[slot.edges as usize] };
            let mut sources = NO_CELL;
            for y in (0..16).rev() {
                let (clear, closed) = (layer(clear, y), layer(&edges.up, y));
                falling = each(|at| falling[at] & clear[at] & !closed[at]);
                set_layer(&mut sources, y, falling);
            }
            if sources == EVERY_CELL {
                slot.lit = BRIGHT;
                slot.full = true;
            } else if sources != NO_CELL {
                slot.lit = self.lit.len() as u32;
                slot.full = is_full(opacity, &sources);
                self.lit.push(LitSection { mask: sources, planes: [sources; 4] });
            }
            if !any(falling) {
                break;
            }
        }
    }

    /// Marks what a section that is all sky sources can light.
    fn mark_beside_bright(&mut self, slot: u32) {
        for (side, beside) in self.slots[slot as usize].beside.into_iter().enumerate() {
            let layers = [1 << 15, 1, u16::MAX, u16::MAX, u16::MAX, u16::MAX][side];
            self.mark(beside, layers);
        }
    }

    /// Marks the layers that may gain cells now that a section has gained those of `fresh`.
    #[inline(always)]
    fn mark_around(&mut self, slot: u32, fresh: &CellMask) {
        let mut layers = 0_u16;
        let mut rows = [0; 4];
        for y in 0..16 {
            let layer = layer(fresh, y);
            layers |= u16::from(any(layer)) << y;
            rows = each(|at| rows[at] | layer[at]);
        }
        let all = rows[0] | rows[1] | rows[2] | rows[3];
        let [down, up, north, south, west, east] = self.slots[slot as usize].beside;
        self.mark(slot, layers | layers << 1 | layers >> 1);
        if layers & 1 != 0 {
            self.mark(down, 1 << 15);
        }
        if layers >> 15 != 0 {
            self.mark(up, 1);
        }
        if rows[0] & 0xFFFF != 0 {
            self.mark(north, layers);
        }
        if rows[3] >> 48 != 0 {
            self.mark(south, layers);
        }
        if all & WEST_CELLS != 0 {
            self.mark(west, layers);
        }
        if all & EAST_CELLS != 0 {
            self.mark(east, layers);
        }
    }

    #[inline(always)]
    fn mark(&mut self, slot: u32, layers: u16) {
        let Some(marked) = self.slots.get_mut(slot as usize) else { return };
        if marked.full {
            return;
        }
        if marked.layers == 0 {
            self.next.push(slot);
        }
        marked.layers |= layers;
    }

    #[inline(always)]
    fn mask_of(&self, slot: u32) -> &CellMask {
        match self.slots.get(slot as usize).map_or(UNLIT, |slot| slot.lit) {
            UNLIT | OPAQUE => &NO_CELL,
            BRIGHT => &EVERY_CELL,
            at => &self.lit[at as usize].mask,
        }
    }

    #[inline(always)]
    fn around(&self, slot: u32) -> Around<'_> {
        let [down, up, north, south, west, east] = self.slots[slot as usize].beside;
        let mask = |slot: u32| self.mask_of(slot);
        let beside = [mask(down), mask(up), mask(north), mask(south), mask(west), mask(east)];
        Around { own: mask(slot), beside }
    }

    #[inline(always)]
    fn edges_of(&self, slot: u32) -> &Edges {
        match self.slots.get(slot as usize).map_or(NONE, |slot| slot.edges) {
            NONE => &OPEN_EDGES,
            at => &self.edges[at as usize],
        }
    }
}

for_every_width! {
    fn run_at(kernel: &mut AreaKernel, input: &AreaInput<'_>, from: u8) = run
}

/// Takes all marked sections from level `from` down to level 1.
#[inline(always)]
fn run(kernel: &mut AreaKernel, input: &AreaInput<'_>, from: u8) {
    let Some(sections) = input.columns.first().map(|column| column.len()) else { return };
    let opacity = |slot: u32| &input.columns[slot as usize / sections][slot as usize % sections];
    let mut fresh = std::mem::take(&mut kernel.fresh);
    for level in (1..=from).rev() {
        fresh.clear();
        let todo = std::mem::take(&mut kernel.todo);
        for &slot in &todo {
            let layers = std::mem::take(&mut kernel.slots[slot as usize].layers);
            if kernel.slots[slot as usize].full {
                continue;
            }
            fresh.push((slot, NO_CELL));
            let at = fresh.len() - 1;
            if !step(kernel, slot, opacity(slot), layers, &mut fresh[at].1) {
                fresh.pop();
            }
            if let Some(mixed) = opacity(slot).mixed()
                && !mixed.slow.is_empty()
            {
                enter_slow_cells(kernel, slot, &mixed.slow, level);
            }
        }
        kernel.todo = todo;
        kernel.todo.clear();
        for (slot, cells) in &fresh {
            commit(kernel, *slot, opacity(*slot), level, cells);
        }
        let mut seeds = std::mem::take(&mut kernel.seeds[usize::from(level)]);
        for same_section in seeds.chunk_by(|a, b| a.0 == b.0) {
            let slot = same_section[0].0;
            let lit = kernel.mask_of(slot);
            let mut cells = NO_CELL;
            for &(_, cell) in same_section.iter().filter(|(_, cell)| !has(lit, usize::from(*cell))) {
                cells[usize::from(cell) / 64] |= 1 << (cell % 64);
            }
            if cells != NO_CELL {
                commit(kernel, slot, opacity(slot), level, &cells);
            }
        }
        seeds.clear();
        kernel.seeds[usize::from(level)] = seeds;
        std::mem::swap(&mut kernel.todo, &mut kernel.next);
    }
    for slot in std::mem::take(&mut kernel.todo) {
        kernel.slots[slot as usize].layers = 0;
    }
    kernel.fresh = fresh;
}

/// Finds the cells that join in a section; true where there are any.
#[inline(always)]
fn step(kernel: &AreaKernel, slot: u32, opacity: &Opacity, layers: u16, fresh: &mut CellMask) -> bool {
    let this = &kernel.slots[slot as usize];
    let around =
        Around { own: kernel.mask_of(slot), beside: this.beside.map(|beside| kernel.mask_of(beside)) };
    let open = opacity.open();
    let mut grown = false;
    let mut join = |y: usize, reached: [u64; 4]| {
        let (own, open) = (layer(around.own, y), layer(open, y));
        let new = each(|at| reached[at] & open[at] & !own[at]);
        set_layer(fresh, y, new);
        grown |= any(new);
    };
    if this.edged {
        let edges = EdgesAround {
            own: kernel.edges_of(slot),
            down: kernel.edges_of(this.beside[0]),
            north: kernel.edges_of(this.beside[2]),
            west: kernel.edges_of(this.beside[4]),
        };
        for y in (0..16).filter(|y| layers >> y & 1 != 0) {
            join(y, reach_past_edges(&around, &edges, y));
        }
    } else {
        for y in (0..16).filter(|y| layers >> y & 1 != 0) {
            join(y, reach(&around, y));
        }
    }
    grown
}

/// Makes the cells of `fresh` part of the lit ones and marks what they may light next.
#[inline(always)]
fn commit(kernel: &mut AreaKernel, slot: u32, opacity: &Opacity, level: u8, fresh: &CellMask) {
    if kernel.slots[slot as usize].lit >= NO_MASKS_FROM {
        kernel.slots[slot as usize].lit = kernel.lit.len() as u32;
        kernel.lit.push(LitSection { mask: NO_CELL, planes: [NO_CELL; 4] });
    }
    let section = &mut kernel.lit[kernel.slots[slot as usize].lit as usize];
    for (word, &cells) in section.mask.iter_mut().zip(fresh) {
        *word |= cells;
    }
    add_level(&mut section.planes, level, fresh);
    let full = is_full(opacity, &section.mask);
    kernel.slots[slot as usize].full = full;
    kernel.mark_around(slot, fresh);
}

/// True where no further cell of the section can be lit by a neighbour.
#[inline(always)]
fn is_full(opacity: &Opacity, lit: &CellMask) -> bool {
    let mut rest = 0;
    for (&open, &lit) in opacity.open().iter().zip(lit) {
        rest |= open & !lit;
    }
    rest == 0 && opacity.mixed().is_none_or(|mixed| mixed.slow.is_empty())
}

/// Notes the cells that cost more than one level: what touches them now lights them as many levels later.
#[cold]
fn enter_slow_cells(kernel: &mut AreaKernel, slot: u32, slow: &[(u16, u8)], level: u8) {
    let this = kernel.slots[slot as usize];
    for &(cell, cost) in slow {
        let at = usize::from(cell);
        let Some(entered) = (level + 1).checked_sub(cost).filter(|&entered| entered > 0) else { continue };
        if has(kernel.mask_of(slot), at) {
            continue;
        }
        let around = kernel.around(slot);
        let edges = EdgesAround {
            own: kernel.edges_of(slot),
            down: kernel.edges_of(this.beside[0]),
            north: kernel.edges_of(this.beside[2]),
            west: kernel.edges_of(this.beside[4]),
        };
        let reached = reach_past_edges(&around, &edges, at / 256);
        if reached[at / 64 % 4] >> (at % 64) & 1 != 0 {
            kernel.seeds[usize::from(entered)].push((slot, cell));
        }
    }
}

#[cfg(test)]
mod tests {
    use voxtick_worlds::Direction;

    use super::*;
    use crate::facts::LightFacts;

    /// A section in which dampening, which no state of the game has above 1 and below 15, takes every value, and its
    /// light by going over all cells until nothing changes.
    fn solve(facts: &[LightFacts]) -> Vec<u8> {
        let mut levels: Vec<u8> = facts.iter().map(|facts| facts.emission).collect();
        loop {
            let before = levels.clone();
            for cell in 0..4096 {
                for beside in
                    Direction::ALL.into_iter().filter_map(|side| crate::opacity::beside_within(cell, side))
                {
                    levels[cell] = levels[cell].max(levels[beside].saturating_sub(facts[cell].step()));
                }
            }
            if levels == before {
                return levels;
            }
        }
    }

    #[test]
    fn cells_of_every_cost_are_entered_as_late_as_they_should() {
        let states = BlockStates::load();
        for seed in 0..12_u64 {
            let mut random = seed + 1;
            let mut next = |bound: u64| {
                random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                (random >> 33) % bound
            };
            let facts: Vec<LightFacts> = (0..4096)
                .map(|_| LightFacts {
                    emission: if next(300) == 0 { next(16) as u8 } else { 0 },
                    dampening: if next(3) == 0 { next(16) as u8 } else { 0 },
                    faces: [0; 6],
                })
                .collect();
            let mut section = Opacity::Clear;
            for (cell, &facts) in facts.iter().enumerate() {
                section.set(cell, facts, &states);
            }
            let column = [section];
            let input = AreaInput { columns: &[&column], links: &[[NONE; 4]], states: &states };
            let expected = solve(&facts);
            for width in Width::ALL.into_iter().filter(|width| width.is_supported()) {
                let mut kernel = AreaKernel::default();
                let mut levels = LightLevels::Absent;
                kernel.prepare(&input);
                kernel.light_blocks(width, &input);
                kernel.levels(width, 0, &mut levels);
                let found: Vec<u8> = (0..4096).map(|cell| levels.level(cell).expect("computed")).collect();
                assert!(found == expected, "seed {seed}, {width:?}");
            }
        }
    }
}
