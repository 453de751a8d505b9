//! Block light of one section that nothing enters or leaves.

use voxtick_worlds::{CellMask, NIBBLE_BYTES};

use crate::facts::MAX_LEVEL;
use crate::masks::{EAST_CELLS, Layer, NO_CELL, WEST_CELLS, add_level, any, each, layer, pack, set_layer};
use crate::simd::{Width, for_every_width};

/// Lights one closed section: cells of `opaque` take no light, every other step costs 1.
///
/// `sources` are cells (`y * 256 + z * 16 + x`, below 4,096) with their levels; a source in an opaque cell lights its
/// neighbours all the same. `levels` gets two cells a byte, the lower half first.
///
/// Costs the same for one source as for thousands: the cells at least as bright as a level are one mask, which is
/// widened to its neighbours once a level. A section without sources is recognised at once.
///
/// ```
/// use voxtick_light::light_section;
/// let mut levels = [0; 2048];
/// light_section(&[0; 64], &[(0, 15), (4095, 7)], &mut levels);
/// assert_eq!(levels[0], 0xEF, "15 at the source, 14 beside it");
/// assert_eq!(levels[2047], 0x76);
/// ```
///
/// # Panics
/// Where a source lies outside the section.
pub fn light_section(opaque: &CellMask, sources: &[(u16, u8)], levels: &mut [u8; NIBBLE_BYTES]) {
    light_section_with(Width::detected(), opaque, sources, levels);
}

/// [`light_section`] with the instructions of `width`; the result is the same for all.
///
/// # Panics
/// Where a source lies outside the section.
pub fn light_section_with(
    width: Width,
    opaque: &CellMask,
    sources: &[(u16, u8)],
    levels: &mut [u8; NIBBLE_BYTES],
) {
    if sources.is_empty() {
        levels.fill(0);
        return;
    }
    by_masks_at(width, opaque, sources, levels);
}

for_every_width! {
    fn by_masks_at(
        opaque: &CellMask,
        sources: &[(u16, u8)],
        levels: &mut [u8; NIBBLE_BYTES],
    ) = by_masks
}

#[inline(always)]
fn by_masks(opaque: &CellMask, sources: &[(u16, u8)], levels: &mut [u8; NIBBLE_BYTES]) {
    // Bit `l`: there are sources of level `l`.
    let mut waiting = 0_u32;
    for &(_, level) in sources {
        waiting |= 1 << level.min(MAX_LEVEL);
    }
    let mut lit = NO_CELL;
    let mut planes = [NO_CELL; 4];
    let mut fresh = NO_CELL;
    // Layers that may gain cells in the next step.
    let mut layers = 0_u32;
    for level in (1..=MAX_LEVEL).rev() {
        if layers == 0 && waiting & ((2 << level) - 1) <= 1 {
            break;
        }
        let grown = if layers == 0 { 0 } else { widen(&mut lit, opaque, &mut fresh, layers) };
        if layers == 0 {
            fresh = NO_CELL;
        }
        let mut seeded = 0;
        if waiting >> level & 1 != 0 {
            for &(cell, _) in sources.iter().filter(|&&(_, own)| own.min(MAX_LEVEL) == level) {
                let (word, bit) = (usize::from(cell) / 64, 1 << (cell % 64));
                fresh[word] |= bit & !lit[word];
                lit[word] |= bit;
                seeded |= 1 << (word / 4);
            }
        }
        let changed = grown | seeded;
        if changed != 0 {
            add_level(&mut planes, level, &fresh);
        }
        layers = (changed | changed << 1 | changed >> 1) & 0xFFFF;
    }
    pack(&planes, levels);
}

/// Adds to `lit` the cells beside it that are not opaque, in the given layers; `fresh` gets the new ones. Returns the
/// layers that gained some.
#[inline(always)]
fn widen(lit: &mut CellMask, opaque: &CellMask, fresh: &mut CellMask, layers: u32) -> u32 {
    let mut grown = 0;
    let mut below = [0; 4];
    let mut own = layer(lit, 0);
    for y in 0..16 {
        let above = if y < 15 { layer(lit, y + 1) } else { [0; 4] };
        if layers >> y & 1 != 0 {
            let beside = beside_in_layer(own);
            let closed = layer(opaque, y);
            let new = each(|at| (beside[at] | above[at] | below[at]) & !closed[at] & !own[at]);
            set_layer(fresh, y, new);
            set_layer(lit, y, each(|at| own[at] | new[at]));
            grown |= u32::from(any(new)) << y;
        } else {
            set_layer(fresh, y, [0; 4]);
        }
        below = own;
        own = above;
    }
    grown
}

/// The cells north, south, west and east of those of a layer.
#[inline(always)]
fn beside_in_layer(own: Layer) -> Layer {
    let before = [0, own[0], own[1], own[2]];
    let after = [own[1], own[2], own[3], 0];
    each(|at| {
        let word = own[at];
        (word << 16 | before[at] >> 48)
            | (word >> 16 | after[at] << 48)
            | (word << 1 & !WEST_CELLS)
            | (word >> 1 & !EAST_CELLS)
    })
}
