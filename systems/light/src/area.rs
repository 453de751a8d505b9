//! Light of a set of chunks from nothing, level by level.
//!
//! The cells at least as bright as a level are one mask a section. Going down from 15, one step widens every mask to
//! the cells beside it, across the borders of sections and chunks too, so that after the step for level 1 all light is
//! exact: nothing is queued cell by cell, nothing is exchanged in rounds. Only sections that can gain cells take part
//! in a step, and of those only the layers that can.
//!
//! Cost class: O(layers that light reaches x levels), and one look at every section.

mod layout;
mod levels;
mod sky;

use std::sync::Arc;

use voxtick_worlds::{CellMask, LightLevels, NIBBLE_BYTES};

pub(crate) use self::layout::{Area, AreaInput, NONE};
use self::levels::run_at;
use crate::facts::MAX_LEVEL;
use crate::masks::{EAST_CELLS, EVERY_CELL, Layer, NO_CELL, WEST_CELLS, pack_in_place_at};
use crate::opacity::Opacity;
use crate::simd::Width;
use crate::spread::Around;

/// How many layers' worth of scratch are kept from run to run: as many as a chunk needs.
const KEPT_LAYERS: usize = 128;
/// States of a section beside "its cells are at this place".
const UNLIT: u32 = u32::MAX;
const BRIGHT: u32 = u32::MAX - 1;

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

/// Nibbles that nobody else has yet.
#[inline(always)]
fn nibbles(planes: &mut Arc<[u8; NIBBLE_BYTES]>) -> &mut [u8; NIBBLE_BYTES] {
    Arc::make_mut(planes)
}

#[cfg(test)]
mod tests {
    use voxtick_worlds::{BlockStates, Direction};

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
