//! Sky light of an area: its sources, and what lies beside them.

use super::layout::{Area, AreaInput};
use super::levels::run_at;
use super::{AreaKernel, BRIGHT, Slot, UNLIT, nibbles};
use crate::edges::OPEN_EDGES;
use crate::facts::MAX_LEVEL;
use crate::masks::{EVERY_CELL, NO_CELL, add_to_planes, any, each, layer, set_layer};
use crate::opacity::Opacity;
use crate::simd::Width;

impl AreaKernel {
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
}
