//! Fixed-width indices, one a cell, packed into 64-bit words.
//!
//! An index never straddles two words: a word holds `64 / bits` of them, lowest bits first, and its remaining bits are
//! zero. For 4 bits and more that is, word for word, what the game stores since 20w17a, so loading and saving need no
//! repacking. 1, 2 and 3 bits are ours alone.

use crate::positions::SECTION_CELLS;

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

    pub(crate) const fn bits(&self) -> u32 {
        self.bits
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
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
        let mask = self.mask();
        for (&word, cells) in self.words.iter().zip(out.chunks_mut(self.per_word as usize)) {
            let mut word = word;
            for cell in cells {
                *cell = (word & mask) as u16;
                word >>= self.bits;
            }
        }
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
