//! All marked sections from level to level: what joins the lit cells, and what they may light next.

use super::layout::{Area, AreaInput};
use super::{AreaKernel, FreshLayer, KEPT_LAYERS, LitSection, UNLIT, nibbles};
use crate::masks::{Layer, NO_CELL, add_to_planes, any, bits, each, has, layer, set_layer};
use crate::opacity::Opacity;
use crate::simd::for_every_width;
use crate::spread::{reach, reach_past_edges};

for_every_width! {
    pub(super) fn run_at(kernel: &mut AreaKernel, area: &Area, input: &AreaInput<'_>, from: u8) = run
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
