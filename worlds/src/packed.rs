//! Fixed-width indices, one a cell, packed into 64-bit words.
//!
//! An index never straddles two words: a word holds `64 / bits` of them, lowest bits first, and its remaining bits are
//! zero. For 4 bits and more that is, word for word, what the game stores since 20w17a, so loading and saving need no
//! repacking. 1, 2 and 3 bits are ours alone.

use crate::positions::SECTION_CELLS;
use crate::words;

/// 4,096 indices of equal width.
#[derive(Debug, Clone)]
pub(crate) struct PackedIndices {
    bits: u32,
    per_word: u32,
    words: Box<[u64]>,
}

impl PackedIndices {
    /// The width that holds the indices of a palette with `entries` entries: at least 1.
    pub(crate) const fn bits_for(entries: usize) -> u32 {
        if entries <= 2 { 1 } else { usize::BITS - (entries - 1).leading_zeros() }
    }

    /// All indices 0, each `bits` wide (1 to 16).
    pub(crate) fn zeroed(bits: u32) -> PackedIndices {
        debug_assert!((1..=16).contains(&bits), "{bits} bits a cell");
        let per_word = 64 / bits;
        let words = SECTION_CELLS.div_ceil(per_word as usize);
        PackedIndices { bits, per_word, words: vec![0; words].into_boxed_slice() }
    }

    /// Indices that are packed already, in big-endian longs, and whether all are below `limit`; `None` where `bits` is not
    /// 1 to 16 or there are more or fewer longs than that takes. Bits that belong to no index are cleared.
    pub(crate) fn from_longs(bits: u32, longs: &[[u8; 8]], limit: usize) -> Option<(PackedIndices, bool)> {
        if !(1..=16).contains(&bits) || longs.len() != SECTION_CELLS.div_ceil(64 / bits as usize) {
            return None;
        }
        let mut packed = PackedIndices::zeroed(bits);
        let below = words::take_over(longs, bits, limit as u64, &mut packed.words);
        let used = u64::MAX >> (64 - packed.per_word * bits);
        if used != u64::MAX {
            packed.words.iter_mut().for_each(|word| *word &= used);
        }
        let in_last = SECTION_CELLS as u32 % packed.per_word;
        if in_last > 0
            && let Some(last) = packed.words.last_mut()
        {
            *last &= (1 << (in_last * bits)) - 1;
        }
        // What was cleared may have been taken for an index of the last word.
        let below = below || packed.all_below(limit);
        Some((packed, below))
    }

    /// The words as they are packed.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether every index is below `limit`.
    fn all_below(&self, limit: usize) -> bool {
        (0..SECTION_CELLS).all(|cell| self.get(cell) < limit)
    }

    /// The index that every cell has, if they are all alike.
    pub(crate) fn only_index(&self) -> Option<usize> {
        let index = self.words[0] & self.mask();
        let (last, whole) = self.words.split_last()?;
        let in_last = SECTION_CELLS as u32 - whole.len() as u32 * self.per_word;
        let alike = index * self.everywhere();
        let tail = if in_last * self.bits == 64 { u64::MAX } else { (1 << (in_last * self.bits)) - 1 };
        (whole.iter().all(|&word| word == alike) && *last == alike & tail).then_some(index as usize)
    }

    /// A word with a one in every place: its product with an index has the index in every place.
    fn everywhere(&self) -> u64 {
        (0..self.per_word).fold(0, |sum, place| sum | 1 << (place * self.bits))
    }

    /// How many cells have each index below `entries`, which all must be.
    pub(crate) fn counts(&self, entries: usize) -> Vec<u16> {
        let mut counts = vec![0_u16; entries];
        let (mask, per_word) = (self.mask(), self.per_word as usize);
        let everywhere = self.everywhere();
        let whole_words = SECTION_CELLS / per_word;
        for &word in &self.words[..whole_words] {
            let first = word & mask;
            // PERF: most words of real terrain hold one state, and counting cell by cell costs 12 times as much.
            if word == first * everywhere {
                counts[first as usize] += per_word as u16;
            } else {
                let mut word = word;
                for _ in 0..per_word {
                    counts[(word & mask) as usize] += 1;
                    word >>= self.bits;
                }
            }
        }
        for cell in whole_words * per_word..SECTION_CELLS {
            counts[self.get(cell)] += 1;
        }
        counts
    }

    pub(crate) const fn bits(&self) -> u32 {
        self.bits
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val::<[u64]>(&self.words)
    }

    /// The index of `cell`, which must be below 4,096.
    pub(crate) fn get(&self, cell: usize) -> usize {
        let (word, shift) = self.place(cell);
        (self.words[word] >> shift & self.mask()) as usize
    }

    /// Writes the index of `cell`, which must be below 4,096; `index` must fit the width.
    pub(crate) fn set(&mut self, cell: usize, index: usize) {
        debug_assert!(index as u64 <= self.mask(), "index {index} in {} bits", self.bits);
        let (word, shift) = self.place(cell);
        self.words[word] = self.words[word] & !(self.mask() << shift) | (index as u64) << shift;
    }

    /// Writes every index, asking `index` for each cell in order.
    pub(crate) fn pack_from(&mut self, mut index: impl FnMut(usize) -> u16) {
        let (bits, per_word) = (self.bits, self.per_word as usize);
        for (at, word) in self.words.iter_mut().enumerate() {
            let first = at * per_word;
            let mut packed = 0;
            for cell in (first..SECTION_CELLS.min(first + per_word)).rev() {
                packed = packed << bits | u64::from(index(cell));
            }
            *word = packed;
        }
    }

    /// Writes every index to `out`.
    pub(crate) fn unpack(&self, out: &mut [u16; SECTION_CELLS]) {
        words::unpack(&self.words, self.bits, out);
    }

    /// How many cells from `start` on have the index of `start`.
    pub(crate) fn run_length(&self, start: usize) -> usize {
        let index = self.get(start);
        (start + 1..SECTION_CELLS).take_while(|&cell| self.get(cell) == index).count() + 1
    }

    /// The same indices at a greater width.
    pub(crate) fn widened(&self, bits: u32) -> PackedIndices {
        let mut wide = PackedIndices::zeroed(bits);
        wide.pack_from(|cell| self.get(cell) as u16);
        wide
    }

    const fn mask(&self) -> u64 {
        (1 << self.bits) - 1
    }

    const fn place(&self, cell: usize) -> (usize, u32) {
        // 32-bit division: a third of the latency of the 64-bit one.
        let (word, slot) = (cell as u32 / self.per_word, cell as u32 % self.per_word);
        (word as usize, slot * self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_gives_back_what_was_packed() {
        for bits in 1..=16 {
            let index = |cell: usize| (cell as u64 * 0x9E37_79B9 % (1 << bits)) as u16;
            let mut packed = PackedIndices::zeroed(bits);
            packed.pack_from(index);
            let mut one_by_one = PackedIndices::zeroed(bits);
            let mut out = [0; SECTION_CELLS];
            packed.unpack(&mut out);
            for (cell, &unpacked) in out.iter().enumerate() {
                one_by_one.set(cell, index(cell).into());
                assert_eq!(packed.get(cell), usize::from(index(cell)), "{bits} bits, cell {cell}");
                assert_eq!(unpacked, index(cell), "{bits} bits, cell {cell}");
            }
            assert_eq!(packed.words, one_by_one.words);
        }
    }

    #[test]
    fn words_are_taken_over_and_counted_at_every_width() {
        for bits in 1..=16 {
            // Runs as in terrain, and single cells.
            let index =
                |cell: usize| ((cell / 37 * 5 + usize::from(cell.is_multiple_of(11))) % (1 << bits)) as u16;
            let mut packed = PackedIndices::zeroed(bits);
            packed.pack_from(index);
            let noisy: Box<[u64]> = match 64 % bits {
                0 => packed.words.clone(),
                _ => packed.words.iter().map(|word| word | 1 << 63).collect(),
            };
            let longs: Vec<[u8; 8]> = noisy.iter().map(|word| word.to_be_bytes()).collect();
            let (taken, below) =
                PackedIndices::from_longs(bits, &longs, 1 << bits).expect("as many as it takes");
            assert_eq!((&taken.words, below), (&packed.words, true), "{bits} bits");
            let mut expected = vec![0_u16; 1 << bits];
            (0..SECTION_CELLS).for_each(|cell| expected[usize::from(index(cell))] += 1);
            assert_eq!(taken.counts(1 << bits), expected, "{bits} bits");
            assert!(PackedIndices::from_longs(bits, &[[0; 8]; 3], 1).is_none());
        }
        assert!(PackedIndices::from_longs(17, &[[0; 8]; 1366], 1).is_none());
    }

    /// Whether all indices are below the limit, with bits set that belong to no index.
    fn all_below(packed: &PackedIndices, limit: usize) -> bool {
        let noise = if packed.per_word * packed.bits < 64 { 1 << 63 } else { 0 };
        let mut longs: Vec<[u8; 8]> = packed.words.iter().map(|word| (word | noise).to_be_bytes()).collect();
        if !(SECTION_CELLS as u32).is_multiple_of(packed.per_word)
            && let Some(last) = longs.last_mut()
        {
            last[0] = 0xFF;
        }
        let (taken, below) =
            PackedIndices::from_longs(packed.bits, &longs, limit).expect("as many as it takes");
        assert_eq!(taken.words, packed.words);
        below
    }

    #[test]
    fn one_index_beyond_the_limit_is_found_in_any_cell() {
        for bits in 1..=16 {
            for limit in
                [1, 2, 3, (1 << bits) / 2 + 1, (1 << bits) - 1].into_iter().filter(|limit| *limit < 1 << bits)
            {
                let mut packed = PackedIndices::zeroed(bits);
                packed.pack_from(|cell| (cell % limit) as u16);
                assert!(all_below(&packed, limit), "{bits} bits, limit {limit}");
                for cell in (0..200).chain(3900..SECTION_CELLS) {
                    let before = packed.get(cell);
                    for beyond in [limit, (1 << bits) - 1] {
                        packed.set(cell, beyond);
                        assert!(!all_below(&packed, limit), "{bits} bits, limit {limit}, cell {cell}");
                    }
                    packed.set(cell, before);
                }
            }
            assert!(all_below(&PackedIndices::zeroed(bits), 1 << bits));
        }
    }

    #[test]
    fn cells_that_are_all_alike_are_told_from_those_that_are_not() {
        for bits in 1..=16 {
            let mut packed = PackedIndices::zeroed(bits);
            packed.pack_from(|_| 1);
            assert_eq!(packed.only_index(), Some(1), "{bits} bits");
            for cell in (0..70).chain(4000..SECTION_CELLS) {
                packed.set(cell, 0);
                assert_eq!(packed.only_index(), None, "{bits} bits, cell {cell}");
                packed.set(cell, 1);
            }
        }
    }

    #[test]
    fn word_counts_are_those_of_the_format() {
        for (bits, words) in
            [(4, 256), (5, 342), (6, 410), (7, 456), (8, 512), (9, 586), (10, 683), (11, 820), (13, 1024)]
        {
            assert_eq!(PackedIndices::zeroed(bits).words.len(), words, "{bits} bits");
        }
    }

    #[test]
    fn widths_grow_with_the_palette() {
        for (entries, bits) in
            [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (16, 4), (17, 5), (257, 9), (4096, 12)]
        {
            assert_eq!(PackedIndices::bits_for(entries), bits, "{entries} entries");
        }
    }

    #[test]
    fn runs_end_where_the_index_changes() {
        let mut packed = PackedIndices::zeroed(5);
        for cell in 40..90 {
            packed.set(cell, 3);
        }
        assert_eq!((packed.run_length(0), packed.run_length(40), packed.run_length(90)), (40, 50, 4006));
    }
}
