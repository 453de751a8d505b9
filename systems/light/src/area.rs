//! Light of a set of chunks from nothing, level by level.
//!
//! The cells at least as bright as a level are one mask a section. Going down from 15, one step widens every mask to
//! the cells beside it, across the borders of sections and chunks too, so that after the step for level 1 all light is
//! exact: nothing is queued cell by cell, nothing is exchanged in rounds. Only sections that can gain cells take part
//! in a step, and of those only the layers that can.
//!
//! Cost class: O(layers that light reaches x levels), and one look at every section.

use std::sync::Arc;

use voxtick_worlds::{BlockStates, CellMask, Direction, LightLevels, NIBBLE_BYTES};

use crate::edges::{Edges, OPEN_EDGES};
use crate::facts::MAX_LEVEL;
use crate::masks::{
    EAST_CELLS, EVERY_CELL, Layer, NO_CELL, WEST_CELLS, add_to_planes, any, bits, each, has, layer,
    pack_in_place_at, set_layer,
};
use crate::opacity::Opacity;
use crate::simd::{Width, for_every_width};
use crate::spread::{Around, EdgesAround, reach, reach_past_edges};

/// No chunk, no section, no edges.
pub(crate) const NONE: u32 = u32::MAX;
/// How many layers' worth of scratch are kept from run to run: as many as a chunk needs.
const KEPT_LAYERS: usize = 128;
/// States of a section beside "its cells are at this place".
const UNLIT: u32 = u32::MAX;
const BRIGHT: u32 = u32::MAX - 1;

/// The chunks of an area, as the kernel wants them.
pub(crate) struct AreaInput<'a> {
    /// Per chunk what its sections let through, lowest first; as many sections in each.
    pub(crate) columns: &'a [&'a [Opacity]],
    /// Per chunk the numbers of its neighbours north, south, west and east, or [`NONE`].
    pub(crate) links: &'a [[u32; 4]],
    /// Per chunk whether its levels will be asked for; the light of the others is computed for what it lights.
    pub(crate) kept: &'a [bool],
    pub(crate) states: &'a BlockStates,
}

impl AreaInput<'_> {
    /// Sections of a chunk.
    fn height(&self) -> usize {
        self.columns.first().map_or(0, |column| column.len())
    }

    #[inline(always)]
    fn opacity(&self, place: &Place) -> &Opacity {
        &self.columns[place.chunk as usize][place.section as usize]
    }
}

/// How the sections of an area lie to each other: the same for both channels. Scratch, filled by [`Area::prepare`].
#[derive(Default)]
pub(crate) struct Area {
    places: Vec<Place>,
    /// Closed edges of the sections that have some.
    edges: Vec<Edges>,
}

/// One section of the area.
#[derive(Clone, Copy)]
struct Place {
    chunk: u32,
    section: u32,
    /// In the order of `Direction::ALL`.
    beside: [u32; 6],
    edges: u32,
    /// Its edges, or those of a neighbour towards it, are not all open.
    edged: bool,
}

/// Computes one channel of an area. Holds scratch only: what it computed last, until it is asked for.
#[derive(Default)]
pub(crate) struct AreaKernel {
    slots: Vec<Slot>,
    lit: Vec<LitSection>,
    todo: Vec<u32>,
    next: Vec<u32>,
    fresh: Vec<FreshLayer>,
    /// Per level the cells that have it whatever their neighbours have: section and cell.
    seeds: [Vec<(u32, u16)>; 16],
    /// Nibbles to be used again.
    spare: Vec<Arc<[u8; NIBBLE_BYTES]>>,
}

/// One section while its light is computed.
#[derive(Clone, Copy)]
struct Slot {
    /// Where its cells are in `lit`, or why it has none.
    lit: u32,
    /// Layers to look at in the next step.
    layers: u16,
    /// Layers in which a neighbour may light a cell yet.
    rest: u16,
}

struct LitSection {
    /// The cells at least as bright as the level that was worked on last.
    mask: CellMask,
    /// The levels, as planes of each layer; of sections that will be asked for.
    planes: Option<Arc<[u8; NIBBLE_BYTES]>>,
}

/// Cells of one layer that a step has found.
#[derive(Clone, Copy)]
struct FreshLayer {
    slot: u32,
    y: u32,
    cells: Layer,
}

impl Area {
    /// Takes an area in: links its sections and finds the closed edges.
    pub(crate) fn prepare(&mut self, input: &AreaInput<'_>) {
        self.places.clear();
        self.edges.clear();
        let sections = input.height();
        let slot_of = |chunk: u32, section: usize| {
            if chunk == NONE { NONE } else { chunk * sections as u32 + section as u32 }
        };
        for (chunk, column) in (0..).zip(input.columns) {
            let links = input.links[chunk as usize];
            let beside_column =
                |link: u32| if link == NONE { None } else { Some(input.columns[link as usize]) };
            let (south_column, east_column) = (beside_column(links[1]), beside_column(links[3]));
            for (section, own) in column.iter().enumerate() {
                let down = if section > 0 { slot_of(chunk, section - 1) } else { NONE };
                let up = if section + 1 < sections { slot_of(chunk, section + 1) } else { NONE };
                let [north, south, west, east] = links.map(|link| slot_of(link, section));
                let seams = [
                    (Direction::Up, column.get(section + 1)),
                    (Direction::South, south_column.map(|beside| &beside[section])),
                    (Direction::East, east_column.map(|beside| &beside[section])),
                ];
                let edges = match Edges::with_seams(own, seams, input.states) {
                    None => NONE,
                    Some(edges) => {
                        self.edges.push(edges);
                        self.edges.len() as u32 - 1
                    }
                };
                let beside = [down, up, north, south, west, east];
                let (section, edged) = (section as u32, edges != NONE);
                self.places.push(Place { chunk, section, beside, edges, edged });
            }
        }
        if self.edges.is_empty() {
            return;
        }
        for at in 0..self.places.len() {
            let [down, _, north, _, west, _] = self.places[at].beside;
            let has_edges = |slot: u32| slot != NONE && self.places[slot as usize].edges != NONE;
            self.places[at].edged |= has_edges(down) || has_edges(north) || has_edges(west);
        }
    }

    #[inline(always)]
    fn edges_of(&self, slot: u32) -> &Edges {
        match self.places.get(slot as usize).map_or(NONE, |place| place.edges) {
            NONE => &OPEN_EDGES,
            at => &self.edges[at as usize],
        }
    }

    #[inline(always)]
    fn edges_around(&self, slot: u32) -> EdgesAround<'_> {
        let [down, _, north, _, west, _] = self.places[slot as usize].beside;
        EdgesAround {
            own: self.edges_of(slot),
            down: self.edges_of(down),
            north: self.edges_of(north),
            west: self.edges_of(west),
        }
    }

    /// Bytes of scratch, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>() + self.edges.capacity() * size_of::<Edges>()
    }
}

impl AreaKernel {
    /// Computes block light of a prepared area.
    pub(crate) fn light_blocks(&mut self, width: Width, area: &Area, input: &AreaInput<'_>) {
        self.start(input);
        for (slot, section) in (0..).zip(input.columns.iter().flat_map(|column| column.iter())) {
            for &(cell, level) in section.mixed().map_or(&[][..], |mixed| &mixed.emitters) {
                self.seeds[usize::from(level)].push((slot, cell));
            }
        }
        run_at(width, self, area, input, MAX_LEVEL);
    }

    /// Computes sky light of a prepared area.
    pub(crate) fn light_sky(&mut self, width: Width, area: &Area, input: &AreaInput<'_>) {
        self.start(input);
        for (chunk, column) in input.columns.iter().enumerate() {
            self.fall_from_the_sky(area, chunk * column.len(), column, input.kept[chunk]);
        }
        for slot in 0..self.slots.len() as u32 {
            match self.slots[slot as usize].lit {
                BRIGHT => self.mark_beside_bright(area, slot),
                UNLIT => {}
                at => {
                    let mask = self.lit[at as usize].mask;
                    let (mut layers, mut rows) = (0_u16, [0; 4]);
                    for y in 0..16 {
                        let layer = layer(&mask, y);
                        layers |= u16::from(any(layer)) << y;
                        rows = each(|at| rows[at] | layer[at]);
                    }
                    self.mark_around(area, slot, layers, rows);
                }
            }
        }
        std::mem::swap(&mut self.todo, &mut self.next);
        run_at(width, self, area, input, MAX_LEVEL - 1);
    }

    /// Hands over what was computed for a section of a chunk that is kept, in the form in which chunks keep it.
    pub(crate) fn take_levels(&mut self, width: Width, slot: usize) -> LightLevels {
        let planes = match self.slots[slot].lit {
            UNLIT => return LightLevels::Uniform(0),
            BRIGHT => return LightLevels::Uniform(MAX_LEVEL),
            at => self.lit[at as usize].planes.take(),
        };
        let Some(mut planes) = planes else { return LightLevels::Absent };
        let mut uniform = None;
        pack_in_place_at(width, nibbles(&mut planes), &mut uniform);
        match uniform {
            Some(level) => {
                self.spare.push(planes);
                LightLevels::Uniform(level)
            }
            None => LightLevels::Nibbles(planes),
        }
    }

    /// Takes stored light, which becomes absent, for its memory.
    pub(crate) fn reuse(&mut self, stored: &mut [LightLevels]) {
        for levels in stored {
            if let LightLevels::Nibbles(mut nibbles) = std::mem::replace(levels, LightLevels::Absent)
                && Arc::get_mut(&mut nibbles).is_some()
            {
                self.spare.push(nibbles);
            }
        }
    }

    /// Bytes of scratch, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        let seeds: usize = self.seeds.iter().map(|seeds| seeds.capacity() * size_of::<(u32, u16)>()).sum();
        self.slots.capacity() * size_of::<Slot>()
            + self.lit.capacity() * size_of::<LitSection>()
            + (self.todo.capacity() + self.next.capacity()) * size_of::<u32>()
            + self.fresh.capacity() * size_of::<FreshLayer>()
            + self.spare.len() * NIBBLE_BYTES
            + seeds
    }

    fn start(&mut self, input: &AreaInput<'_>) {
        self.spare.extend(self.lit.drain(..).filter_map(|lit| lit.planes));
        self.todo.clear();
        self.next.clear();
        self.slots.clear();
        let opacities = input.columns.iter().flat_map(|column| column.iter());
        self.slots.extend(opacities.map(|opacity| Slot {
            lit: UNLIT,
            layers: 0,
            rest: if matches!(opacity, Opacity::Opaque) { 0 } else { u16::MAX },
        }));
    }

    /// Gives a section cells of its own, none of them lit yet; returns their place.
    fn begin_section(&mut self, slot: u32, kept: bool) -> u32 {
        let planes = kept.then(|| match self.spare.pop() {
            Some(mut planes) => {
                nibbles(&mut planes).fill(0);
                planes
            }
            None => Arc::new([0; NIBBLE_BYTES]),
        });
        let at = self.lit.len() as u32;
        self.lit.push(LitSection { mask: NO_CELL, planes });
        self.slots[slot as usize].lit = at;
        at
    }

    /// Finds the sky sources of one chunk, whose lowest section has the number `bottom`.
    fn fall_from_the_sky(&mut self, area: &Area, bottom: usize, column: &[Opacity], kept: bool) {
        let mut falling = [u64::MAX; 4];
        for (section, opacity) in column.iter().enumerate().rev() {
            let slot = (bottom + section) as u32;
            let edges = area.edges_of(slot);
            let open_above = std::ptr::eq(edges, &OPEN_EDGES);
            if matches!(opacity, Opacity::Clear) && open_above && falling == [u64::MAX; 4] {
                self.slots[slot as usize] = Slot { lit: BRIGHT, layers: 0, rest: 0 };
                continue;
            }
            let clear = opacity.clear();
            let mut sources = NO_CELL;
            for y in (0..16).rev() {
                let (clear, closed) = (layer(clear, y), layer(&edges.up, y));
                falling = each(|at| falling[at] & clear[at] & !closed[at]);
                set_layer(&mut sources, y, falling);
            }
            if sources == EVERY_CELL {
                self.slots[slot as usize] = Slot { lit: BRIGHT, layers: 0, rest: 0 };
            } else if sources != NO_CELL {
                let at = self.begin_section(slot, kept);
                let lit = &mut self.lit[at as usize];
                lit.mask = sources;
                if let Some(planes) = &mut lit.planes {
                    for y in 0..16 {
                        add_to_planes(nibbles(planes), y, MAX_LEVEL, layer(&sources, y));
                    }
                }
            }
            if !any(falling) {
                break;
            }
        }
    }

    /// Marks what a section that is all sky sources can light.
    fn mark_beside_bright(&mut self, area: &Area, slot: u32) {
        for (side, beside) in area.places[slot as usize].beside.into_iter().enumerate() {
            let layers = [1 << 15, 1, u16::MAX, u16::MAX, u16::MAX, u16::MAX][side];
            self.mark(beside, layers);
        }
    }

    /// Marks the layers that may gain cells now that a section has gained some in `layers`; `rows` are those of all
    /// these layers together.
    #[inline(always)]
    fn mark_around(&mut self, area: &Area, slot: u32, layers: u16, rows: Layer) {
        let all = rows[0] | rows[1] | rows[2] | rows[3];
        let [down, up, north, south, west, east] = area.places[slot as usize].beside;
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
        let layers = layers & marked.rest;
        if marked.layers == 0 && layers != 0 {
            self.next.push(slot);
        }
        marked.layers |= layers;
    }

    #[inline(always)]
    fn mask_of(&self, slot: u32) -> &CellMask {
        match self.slots.get(slot as usize).map_or(UNLIT, |slot| slot.lit) {
            UNLIT => &NO_CELL,
            BRIGHT => &EVERY_CELL,
            at => &self.lit[at as usize].mask,
        }
    }

    #[inline(always)]
    fn around(&self, area: &Area, slot: u32) -> Around<'_> {
        let beside = area.places[slot as usize].beside.map(|beside| self.mask_of(beside));
        Around { own: self.mask_of(slot), beside }
    }
}

for_every_width! {
    fn run_at(kernel: &mut AreaKernel, area: &Area, input: &AreaInput<'_>, from: u8) = run
}

/// Takes all marked sections from level `from` down to level 1.
#[inline(always)]
fn run(kernel: &mut AreaKernel, area: &Area, input: &AreaInput<'_>, from: u8) {
    let mut fresh = std::mem::take(&mut kernel.fresh);
    for level in (1..=from).rev() {
        fresh.clear();
        let todo = std::mem::take(&mut kernel.todo);
        for &slot in &todo {
            let layers = std::mem::take(&mut kernel.slots[slot as usize].layers);
            let opacity = input.opacity(&area.places[slot as usize]);
            let slow = opacity.mixed().map_or(&[][..], |mixed| &mixed.slow);
            let full = step(kernel, area, slot, opacity, layers, &mut fresh);
            if slow.is_empty() {
                kernel.slots[slot as usize].rest &= !full;
            } else {
                enter_slow_cells(kernel, area, slot, slow, level);
            }
        }
        kernel.todo = todo;
        kernel.todo.clear();
        for layers in fresh.chunk_by(|a, b| a.slot == b.slot) {
            commit(kernel, area, input, level, layers);
        }
        let mut seeds = std::mem::take(&mut kernel.seeds[usize::from(level)]);
        for same_section in seeds.chunk_by(|a, b| a.0 == b.0) {
            plant(kernel, area, input, level, same_section);
        }
        seeds.clear();
        kernel.seeds[usize::from(level)] = seeds;
        std::mem::swap(&mut kernel.todo, &mut kernel.next);
    }
    fresh.clear();
    fresh.shrink_to(KEPT_LAYERS);
    kernel.fresh = fresh;
}

/// Finds the cells that join in a section. Returns the layers that no neighbour can add to any more.
#[inline(always)]
fn step(
    kernel: &AreaKernel,
    area: &Area,
    slot: u32,
    opacity: &Opacity,
    layers: u16,
    fresh: &mut Vec<FreshLayer>,
) -> u16 {
    let around = kernel.around(area, slot);
    let open = opacity.open();
    // A layer is written in any case and counts only where it has cells: no branch to be guessed.
    let mut found = [FreshLayer { slot, y: 0, cells: [0; 4] }; 16];
    let (mut count, mut full) = (0, 0);
    let mut join = |y: usize, reached: Layer| {
        let (own, open) = (layer(around.own, y), layer(open, y));
        let dark = each(|at| open[at] & !own[at]);
        let cells = each(|at| reached[at] & dark[at]);
        found[count & 15] = FreshLayer { slot, y: y as u32, cells };
        count += usize::from(any(cells));
        full |= u16::from(cells == dark) << y;
    };
    if area.places[slot as usize].edged {
        let edges = area.edges_around(slot);
        for y in bits(layers) {
            join(y, reach_past_edges(&around, &edges, y));
        }
    } else {
        for y in bits(layers) {
            join(y, reach(&around, y));
        }
    }
    fresh.extend_from_slice(&found[..count]);
    full
}

/// Makes the cells of `fresh`, layers of one section, part of the lit ones and marks what they may light next.
#[inline(always)]
fn commit(kernel: &mut AreaKernel, area: &Area, input: &AreaInput<'_>, level: u8, fresh: &[FreshLayer]) {
    let Some(&FreshLayer { slot, .. }) = fresh.first() else { return };
    let at = match kernel.slots[slot as usize].lit {
        UNLIT => kernel.begin_section(slot, input.kept[area.places[slot as usize].chunk as usize]),
        at => at,
    };
    let LitSection { mask, planes } = &mut kernel.lit[at as usize];
    let (mut layers, mut rows) = (0_u16, [0; 4]);
    for &FreshLayer { y, cells, .. } in fresh {
        let y = y as usize & 15;
        let before = layer(mask, y);
        set_layer(mask, y, each(|at| before[at] | cells[at]));
        layers |= 1 << y;
        rows = each(|at| rows[at] | cells[at]);
    }
    if let Some(planes) = planes {
        let planes = nibbles(planes);
        for &FreshLayer { y, cells, .. } in fresh {
            add_to_planes(planes, y as usize & 15, level, cells);
        }
    }
    kernel.mark_around(area, slot, layers, rows);
}

/// Lights the cells of one section that have a level whatever their neighbours have.
#[inline(always)]
fn plant(kernel: &mut AreaKernel, area: &Area, input: &AreaInput<'_>, level: u8, seeds: &[(u32, u16)]) {
    let slot = seeds[0].0;
    let mut cells = NO_CELL;
    let mut layers = 0_u16;
    let lit = kernel.mask_of(slot);
    for cell in seeds.iter().map(|seed| usize::from(seed.1)).filter(|&cell| !has(lit, cell)) {
        cells[cell / 64] |= 1 << (cell % 64);
        layers |= 1 << (cell / 256);
    }
    let mut fresh = [FreshLayer { slot, y: 0, cells: [0; 4] }; 16];
    let mut count = 0;
    for y in bits(layers) {
        fresh[count & 15] = FreshLayer { slot, y: y as u32, cells: layer(&cells, y) };
        count += 1;
    }
    commit(kernel, area, input, level, &fresh[..count]);
}

/// Notes the cells that cost more than one level: what touches them now lights them as many levels later.
#[cold]
fn enter_slow_cells(kernel: &mut AreaKernel, area: &Area, slot: u32, slow: &[(u16, u8)], level: u8) {
    for &(cell, cost) in slow {
        let at = usize::from(cell);
        let Some(entered) = (level + 1).checked_sub(cost).filter(|&entered| entered > 0) else { continue };
        if has(kernel.mask_of(slot), at) {
            continue;
        }
        let reached = reach_past_edges(&kernel.around(area, slot), &area.edges_around(slot), at / 256);
        if reached[at / 64 % 4] >> (at % 64) & 1 != 0 {
            kernel.seeds[usize::from(entered)].push((slot, cell));
        }
    }
}

/// Nibbles that nobody else has yet.
#[inline(always)]
fn nibbles(planes: &mut Arc<[u8; NIBBLE_BYTES]>) -> &mut [u8; NIBBLE_BYTES] {
    Arc::make_mut(planes)
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
            let input =
                AreaInput { columns: &[&column], links: &[[NONE; 4]], kept: &[true], states: &states };
            let expected = solve(&facts);
            for width in Width::ALL.into_iter().filter(|width| width.is_supported()) {
                let (mut area, mut kernel) = (Area::default(), AreaKernel::default());
                area.prepare(&input);
                kernel.light_blocks(width, &area, &input);
                let levels = kernel.take_levels(width, 0);
                let found: Vec<u8> = (0..4096).map(|cell| levels.level(cell).expect("computed")).collect();
                assert!(found == expected, "seed {seed}, {width:?}");
            }
        }
    }
}
