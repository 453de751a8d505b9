//! From packed palette indices to bits: what is true of the palette entry of each cell, row by row.
//!
//! Unpacking 4,096 indices one by one costs more than lighting the section. Indices of up to 4 bits are looked up
//! several at a time instead.

use voxtick_worlds::{CellMask, SECTION_CELLS, Section};

use crate::masks::{NO_CELL, each, planes_of_rows, set_layer};
use crate::simd::{Width, for_every_width};

/// One bit in each of three groups of 16.
const LANES: u64 = 0x0001_0001_0001;
const ROWS: usize = SECTION_CELLS / 16;

/// Three masks: the cells whose palette entry has bit 0 of its flags, those that have bit 16, and those that have bit 32.
pub(crate) fn flag_masks(width: Width, section: &Section, flags: &[u64]) -> [CellMask; 3] {
    let mut masks = [NO_CELL; 3];
    if let Some((4, words)) = section.packed_indices()
        && let Some(words) = words.first_chunk()
    {
        let mut truths = [0_u16; 3];
        for (entry, flags) in flags.iter().take(16).enumerate() {
            for (group, truth) in truths.iter_mut().enumerate() {
                *truth |= ((flags >> (16 * group) & 1) as u16) << entry;
            }
        }
        four_bits_at(width, words, &truths, &mut masks);
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
    fn four_bits_at(words: &[u64; ROWS], truths: &[u16; 3], masks: &mut [CellMask; 3]) = four_bits
}

/// Indices of 4 bits, the commonest width of stored sections: a word is a row, and its bits are turned into planes like
/// those of levels. What a flag says of all 16 entries is a function of four bits then, worked out for a layer at a
/// time.
#[inline(always)]
fn four_bits(words: &[u64; ROWS], truths: &[u16; 3], masks: &mut [CellMask; 3]) {
    let (layers, _) = words.as_chunks::<16>();
    for (y, rows) in layers.iter().enumerate() {
        let planes = planes_of_rows(*rows);
        for (mask, &truth) in masks.iter_mut().zip(truths) {
            set_layer(
                mask,
                y,
                each(|at| decide(truth, [planes[0][at], planes[1][at], planes[2][at], planes[3][at]])),
            );
        }
    }
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
        Some((4, words)) => looked_up::<4, 2, 256>(words, flags, row),
        Some((5, words)) => one_by_one::<5>(words, flags, row),
        Some((6, words)) => one_by_one::<6>(words, flags, row),
        Some((7, words)) => one_by_one::<7>(words, flags, row),
        Some((8, words)) => one_by_one::<8>(words, flags, row),
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

/// Indices of 5 to 8 bits, of which eight fit a word.
#[inline(always)]
fn one_by_one<const BITS: usize>(words: &[u64], flags: &[u64], mut row: impl FnMut(usize, u64)) {
    // An index beyond the palette, which no section has, would read nothing.
    let mut table = [0; 256];
    for (entry, &flags) in table.iter_mut().zip(flags) {
        *entry = flags & LANES;
    }
    let per_word = 64 / BITS;
    let (mut word, mut skipped) = (0, 0);
    for at in 0..ROWS {
        let mut of_row = 0;
        for half in 0..2 {
            // Eight indices, which may lie in two words.
            let mut indices = words[word] >> (BITS * skipped);
            let here = per_word - skipped;
            if here < 8 {
                indices |= words[word + 1] << (BITS * here);
            }
            for x in 0..8 {
                let index = indices >> (x * BITS) & ((1 << BITS) - 1);
                of_row |= table[index as usize & 255] << (half * 8 + x);
            }
            skipped += 8;
            if skipped >= per_word {
                skipped -= per_word;
                word += 1;
            }
        }
        row(at, of_row);
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
        for entries in [1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 65, 129, 300] {
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
