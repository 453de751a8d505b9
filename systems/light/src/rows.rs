//! From packed palette indices to bits: what is true of the palette entry of each cell, row by row.
//!
//! Unpacking 4,096 indices one by one costs more than lighting the section. Indices of up to 3 bits are looked up several
//! at a time instead, and those of 4 to 8 bits are turned into planes, on which what is asked of them is decided for 64
//! cells at a time.

use voxtick_worlds::{CellMask, SECTION_CELLS, Section};

use crate::masks::{EVERY_CELL, NO_CELL, Planes, planes_of_rows, set_layer};
use crate::simd::{Width, for_every_width};

/// One bit in each of three groups of 16.
const LANES: u64 = 0x0001_0001_0001;
const ROWS: usize = SECTION_CELLS / 16;

/// Three masks: the cells whose palette entry has bit 0 of its flags, those that have bit 16, and those that have bit 32.
pub(crate) fn flag_masks(width: Width, section: &Section, flags: &[u64]) -> [CellMask; 3] {
    let mut masks = [NO_CELL; 3];
    if let Some((bits @ 4..=8, words)) = section.packed_indices() {
        // An index beyond the palette, which no section has, is never true.
        let mut truths = [[0_u16; 3]; 16];
        for (entry, flags) in flags.iter().take(256).enumerate() {
            for (group, truth) in truths[entry / 16].iter_mut().enumerate() {
                *truth |= ((flags >> (16 * group) & 1) as u16) << (entry % 16);
            }
        }
        let truths = &truths[..flags.len().div_ceil(16).min(16)];
        match bits {
            4 => by_planes_of_4_at(width, words, truths, &mut masks),
            5 => by_planes_of_5_at(width, words, truths, &mut masks),
            6 => by_planes_of_6_at(width, words, truths, &mut masks),
            7 => by_planes_of_7_at(width, words, truths, &mut masks),
            _ => by_planes_of_8_at(width, words, truths, &mut masks),
        }
        return masks;
    }
    for_each_row(section, flags, |row, bits| {
        for (group, mask) in masks.iter_mut().enumerate() {
            mask[row / 4] |= (bits >> (16 * group) & 0xFFFF) << (row % 4 * 16);
        }
    });
    masks
}

for_every_width! {
    fn by_planes_of_4_at(words: &[u64], truths: &[[u16; 3]], masks: &mut [CellMask; 3]) = by_planes::<4>
}
for_every_width! {
    fn by_planes_of_5_at(words: &[u64], truths: &[[u16; 3]], masks: &mut [CellMask; 3]) = by_planes::<5>
}
for_every_width! {
    fn by_planes_of_6_at(words: &[u64], truths: &[[u16; 3]], masks: &mut [CellMask; 3]) = by_planes::<6>
}
for_every_width! {
    fn by_planes_of_7_at(words: &[u64], truths: &[[u16; 3]], masks: &mut [CellMask; 3]) = by_planes::<7>
}
for_every_width! {
    fn by_planes_of_8_at(words: &[u64], truths: &[[u16; 3]], masks: &mut [CellMask; 3]) = by_planes::<8>
}

/// Indices of 4 to 8 bits, of which stored sections have 4 and 5 most often: they are turned into planes like those of
/// levels, the low four bits and the others. What a flag says of 16 entries, one element of `truths`, is a function of
/// the four low planes then, and the high ones tell where those 16 are meant.
#[inline(always)]
fn by_planes<const BITS: usize>(words: &[u64], truths: &[[u16; 3]], masks: &mut [CellMask; 3]) {
    let (mut low, mut high) = ([NO_CELL; 4], [NO_CELL; 4]);
    if BITS == 4 {
        planes_of_all_rows(words, &mut low);
    } else {
        let (mut low_rows, mut high_rows) = ([0; ROWS], [0; ROWS]);
        split_rows::<BITS>(words, &mut low_rows, &mut high_rows);
        planes_of_all_rows(&low_rows, &mut low);
        planes_of_all_rows(&high_rows, &mut high);
    }
    for (number, truths) in truths.iter().enumerate() {
        let mut meant = EVERY_CELL;
        for (bit, plane) in high.iter().enumerate().take(BITS - 4) {
            let other = 0_u64.wrapping_sub((!number >> bit & 1) as u64);
            (0..64).for_each(|word| meant[word] &= plane[word] ^ other);
        }
        for (mask, &truth) in masks.iter_mut().zip(truths).filter(|(_, truth)| **truth != 0) {
            for (word, found) in mask.iter_mut().enumerate() {
                *found |=
                    meant[word] & decide(truth, [low[0][word], low[1][word], low[2][word], low[3][word]]);
            }
        }
    }
}

#[inline(always)]
fn planes_of_all_rows(rows: &[u64], planes: &mut Planes) {
    for (y, rows) in rows.as_chunks::<16>().0.iter().enumerate().take(16) {
        let layers = planes_of_rows(*rows);
        for (plane, layer) in planes.iter_mut().zip(layers) {
            set_layer(plane, y, layer);
        }
    }
}

/// Splits indices of 5 to 8 bits into rows of their low four bits and rows of their others.
#[inline(always)]
fn split_rows<const BITS: usize>(words: &[u64], low: &mut [u64; ROWS], high: &mut [u64; ROWS]) {
    let per_word = 64 / BITS;
    // Eight indices at a time, which may lie in two words. After `period` words, of eight indices each time as many as a
    // word has, they begin with a word again, so that all shifts within a period are known here.
    let period = if BITS == 6 { 4 } else { 8 };
    let mut padded = [0; 2 * ROWS + 8];
    padded[..words.len().min(2 * ROWS)].copy_from_slice(&words[..words.len().min(2 * ROWS)]);
    let mut halves = [0; 2 * ROWS + 12];
    let whole = halves.chunks_exact_mut(period * per_word / 8);
    for (halves, words) in whole.zip(padded.windows(period).step_by(period)) {
        for (at, half) in halves.iter_mut().enumerate() {
            let (word, skipped) = (at * 8 / per_word, at * 8 % per_word);
            let here = per_word - skipped;
            let rest = if here < 8 { words[word + 1] << (BITS * here) } else { 0 };
            *half = words[word] >> (BITS * skipped) | rest;
        }
    }
    for (halves, (low, high)) in halves.as_chunks::<2>().0.iter().zip(low.iter_mut().zip(high)) {
        let [first, second] = halves.map(close_up::<BITS>);
        *low = first | second << 32;
        let [first, second] = halves.map(|half| close_up::<BITS>(half >> 4 & fields(BITS, 8, BITS - 4)));
        *high = first | second << 32;
    }
}

/// Moves the low four bits of eight fields of `BITS` bits together.
#[inline(always)]
const fn close_up<const BITS: usize>(value: u64) -> u64 {
    let gap = BITS - 4;
    let value = value & fields(BITS, 8, 4);
    let even = fields(2 * BITS, 4, 4);
    let value = value & even | value >> gap & even << 4;
    let even = fields(4 * BITS, 2, 8);
    let value = value & even | value >> (2 * gap) & even << 8;
    value & 0xFFFF | value >> (4 * gap) & 0xFFFF_0000
}

/// The lowest `width` bits of each of `count` fields that lie `pitch` bits apart.
const fn fields(pitch: usize, count: usize, width: usize) -> u64 {
    let (mut mask, mut at) = (0, 0);
    while at < count {
        mask |= ((1 << width) - 1) << (at * pitch);
        at += 1;
    }
    mask
}

/// For each bit the entry of `truth` that the same bits of `index` number.
#[inline(always)]
fn decide(truth: u16, index: [u64; 4]) -> u64 {
    let entry = |at: usize| 0_u64.wrapping_sub(u64::from(truth >> at & 1));
    let choose = |bit: usize, one: u64, zero: u64| zero ^ index[bit] & (one ^ zero);
    let pair = |at: usize| choose(0, entry(at + 1), entry(at));
    let four = |at: usize| choose(1, pair(at + 2), pair(at));
    let eight = |at: usize| choose(2, four(at + 4), four(at));
    choose(3, eight(8), eight(0))
}

/// Calls `row` for each of the 256 rows of 16 cells with three groups of 16 bits: bit `x` of group `g` is bit `16 * g`
/// of the flags of the palette entry of cell `x`.
///
/// `flags` holds one entry for each of the palette's; only bits 0, 16 and 32 count.
#[inline(always)]
fn for_each_row(section: &Section, flags: &[u64], mut row: impl FnMut(usize, u64)) {
    match section.packed_indices() {
        None => (0..ROWS).for_each(|at| row(at, (flags[0] & LANES) * 0xFFFF)),
        Some((1, words)) => one_bit(words, flags, row),
        Some((2, words)) => looked_up::<2, 4, 256>(words, flags, row),
        Some((3, words)) => looked_up::<3, 2, 64>(words, flags, row),
        Some((bits, words)) => {
            let (mask, per_word) = ((1 << bits) - 1, 64 / bits as usize);
            for at in 0..ROWS {
                let mut of_row = 0;
                for x in 0..16 {
                    let cell = at * 16 + x;
                    let index = words[cell / per_word] >> (cell % per_word * bits as usize) & mask;
                    of_row |= flags[index as usize] << x;
                }
                row(at, of_row);
            }
        }
    }
}

/// Two entries: the words are masks already.
#[inline(always)]
fn one_bit(words: &[u64], flags: &[u64], mut row: impl FnMut(usize, u64)) {
    let entry = |at: usize| flags.get(at).copied().unwrap_or(0) & LANES;
    let (always, differ) = (entry(0) * 0xFFFF, entry(0) ^ entry(1));
    for (at, &word) in words.iter().enumerate() {
        for part in 0..4 {
            row(at * 4 + part, always ^ (differ * (word >> (part * 16) & 0xFFFF)));
        }
    }
}

/// `CELLS` indices of `BITS` bits at a time, by a table of all `ENTRIES` combinations.
#[inline(always)]
fn looked_up<const BITS: usize, const CELLS: usize, const ENTRIES: usize>(
    words: &[u64],
    flags: &[u64],
    mut row: impl FnMut(usize, u64),
) {
    let entry = |at: usize| flags.get(at).copied().unwrap_or(0) & LANES;
    let group = LANES * ((1 << CELLS) - 1);
    let mut table = [0; ENTRIES];
    table[0] = entry(0) * ((1 << CELLS) - 1);
    for at in 1..ENTRIES {
        // The first cell's flags, before those of the cells after it, which an earlier entry has.
        table[at] = entry(at & ((1 << BITS) - 1)) | table[at >> BITS] << 1 & group;
    }
    let per_word = 64 / BITS;
    let (mut word, mut skipped) = (0, 0);
    for at in 0..ROWS {
        // The 16 indices of the row, which may lie in two words.
        let mut indices = words[word] >> (BITS * skipped);
        let here = per_word - skipped;
        if here < 16 {
            indices |= words[word + 1] << (BITS * here);
        }
        let mut bits = 0;
        for group in 0..16 / CELLS {
            let index = indices >> (group * CELLS * BITS) & (ENTRIES as u64 - 1);
            bits |= table[index as usize] << (group * CELLS);
        }
        row(at, bits);
        skipped += 16;
        if skipped >= per_word {
            skipped -= per_word;
            word += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxtick_worlds::StateId;

    #[test]
    fn every_width_of_index_gives_the_flags_of_each_cell() {
        for entries in [1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 33, 65, 100, 129, 256, 300] {
            let palette: Vec<StateId> = (0..entries).map(|at| StateId(at as u32)).collect();
            let mut indices = [0_u16; SECTION_CELLS];
            for (cell, index) in indices.iter_mut().enumerate() {
                *index = (cell * 31 % entries) as u16;
            }
            let section = Section::from_palette(&palette, &indices).expect("valid");
            let flags: Vec<u64> = section
                .palette()
                .iter()
                .map(|state| {
                    u64::from(state.0 & 1)
                        | u64::from(state.0 >> 1 & 1) << 16
                        | u64::from(state.0 >> 2 & 1) << 32
                })
                .collect();
            for width in Width::ALL.into_iter().filter(|width| width.is_supported()) {
                let masks = flag_masks(width, &section, &flags);
                for cell in 0..SECTION_CELLS {
                    let state = section.get(cell).0;
                    let found = masks.map(|mask| (mask[cell / 64] >> (cell % 64) & 1) as u32);
                    assert_eq!(
                        found,
                        [state & 1, state >> 1 & 1, state >> 2 & 1],
                        "{entries} entries, {cell}"
                    );
                }
            }
        }
    }
}
