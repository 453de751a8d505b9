//! The loops over packed words, for every processor: compiled once more for the instructions that wider ones have.
//!
//! All builds come from one source of word operations, which the compiler widens by itself, so their results are equal
//! bit for bit. Indices do not straddle words here.

/// A word of packed indices, as it is kept in memory or as a file has it.
pub(crate) trait Word: Copy {
    /// Its bits, those of the first index lowest.
    fn bits(self) -> u64;
}

impl Word for u64 {
    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }
}

/// Big-endian, as the game stores it.
impl Word for [u8; 8] {
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from_be_bytes(self)
    }
}

/// Unpacks as many indices of `bits` bits as `out` has places from as many big-endian longs as that takes.
///
/// ```
/// let mut out = [0; 13];
/// voxtick_worlds::unpack_longs(&[0x21_u64.to_be_bytes(), 31_u64.to_be_bytes()], 5, &mut out);
/// assert_eq!(out, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31]);
/// ```
pub fn unpack_longs(longs: &[[u8; 8]], bits: u32, out: &mut [u16]) {
    unpack(longs, bits, out);
}

/// Packs indices, each of which must fit `bits` bits, into as many words as they take.
pub fn pack_words(indices: &[u16], bits: u32, words: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if wider::is_supported() {
        return wider::pack(indices, bits, words);
    }
    pack_any(indices, bits, words);
}

/// Unpacks as many indices as `out` has places from as many words as that takes.
pub(crate) fn unpack<W: Word>(words: &[W], bits: u32, out: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if wider::is_supported() {
        return wider::unpack(words, bits, out);
    }
    unpack_any::<W, false>(words, bits, out);
}

/// Copies longs to as many `words`, and tells whether every index in them is below `limit`. What follows the last index
/// in its word counts as indices too.
pub(crate) fn take_over(longs: &[[u8; 8]], bits: u32, limit: u64, words: &mut [u64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if wider::is_supported() {
        return wider::take_over(longs, bits, limit, words);
    }
    take_over_any(longs, bits, limit, words)
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "calling a function with more target features than its caller needs a promise that they are there"
)]
mod wider {
    use super::Word;

    /// AVX-512: it alone shifts by lane and narrows lanes in one instruction each; the builds for less are no faster
    /// than the plain one.
    pub(super) fn is_supported() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl")
    }

    pub(super) fn unpack<W: Word>(words: &[W], bits: u32, out: &mut [u16]) {
        #[target_feature(enable = "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
        fn wide<W: Word>(words: &[W], bits: u32, out: &mut [u16]) {
            super::unpack_any::<W, true>(words, bits, out);
        }
        assert!(is_supported());
        // SAFETY: the processor has every feature that `wide` is compiled with.
        unsafe { wide(words, bits, out) }
    }

    pub(super) fn pack(indices: &[u16], bits: u32, words: &mut [u64]) {
        #[target_feature(enable = "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
        fn wide(indices: &[u16], bits: u32, words: &mut [u64]) {
            super::pack_any(indices, bits, words);
        }
        assert!(is_supported());
        // SAFETY: the processor has every feature that `wide` is compiled with.
        unsafe { wide(indices, bits, words) }
    }

    pub(super) fn take_over(longs: &[[u8; 8]], bits: u32, limit: u64, words: &mut [u64]) -> bool {
        #[target_feature(enable = "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
        fn wide(longs: &[[u8; 8]], bits: u32, limit: u64, words: &mut [u64]) -> bool {
            super::take_over_any(longs, bits, limit, words)
        }
        assert!(is_supported());
        // SAFETY: the processor has every feature that `wide` is compiled with.
        unsafe { wide(longs, bits, limit, words) }
    }
}

/// Calls a kernel with the width of an index known at compile time.
// PERF: then the inner loop unrolls to shifts and masks.
macro_rules! with_bits {
    ($bits:expr, $kernel:ident ::<$word:ident $(, $wide:ident)?> ($($argument:expr),*)) => {
        match $bits {
            1 => $kernel::<$word, 1 $(, $wide)?>($($argument),*),
            2 => $kernel::<$word, 2 $(, $wide)?>($($argument),*),
            3 => $kernel::<$word, 3 $(, $wide)?>($($argument),*),
            4 => $kernel::<$word, 4 $(, $wide)?>($($argument),*),
            5 => $kernel::<$word, 5 $(, $wide)?>($($argument),*),
            6 => $kernel::<$word, 6 $(, $wide)?>($($argument),*),
            7 => $kernel::<$word, 7 $(, $wide)?>($($argument),*),
            8 => $kernel::<$word, 8 $(, $wide)?>($($argument),*),
            9 => $kernel::<$word, 9 $(, $wide)?>($($argument),*),
            10 => $kernel::<$word, 10 $(, $wide)?>($($argument),*),
            11 => $kernel::<$word, 11 $(, $wide)?>($($argument),*),
            12 => $kernel::<$word, 12 $(, $wide)?>($($argument),*),
            13 => $kernel::<$word, 13 $(, $wide)?>($($argument),*),
            14 => $kernel::<$word, 14 $(, $wide)?>($($argument),*),
            15 => $kernel::<$word, 15 $(, $wide)?>($($argument),*),
            _ => $kernel::<$word, 16 $(, $wide)?>($($argument),*),
        }
    };
}

#[inline(always)]
fn unpack_any<W: Word, const WIDE: bool>(words: &[W], bits: u32, out: &mut [u16]) {
    with_bits!(bits, unpack_words::<W, WIDE>(words, out));
}

#[inline(always)]
fn unpack_words<W: Word, const BITS: usize, const WIDE: bool>(words: &[W], out: &mut [u16]) {
    let per_word = 64 / BITS;
    // PERF: few indices a word leave lanes empty; then all lanes are written, and the next word writes over those that
    // are too many.
    let done = match per_word {
        ..=4 => unpack_lanes::<W, BITS, 4>(words, out),
        ..=6 if WIDE => unpack_lanes::<W, BITS, 8>(words, out),
        _ => 0,
    };
    // PERF: chunks of a length known at compile time; the last word, which may have fewer cells, goes by itself.
    let (words, mut chunks) = (&words[done..], out[done * per_word..].chunks_exact_mut(per_word));
    for (word, cells) in words.iter().zip(&mut chunks) {
        unpack_word::<BITS>(word.bits(), cells);
    }
    if let Some(last) = words.last() {
        unpack_word::<BITS>(last.bits(), chunks.into_remainder());
    }
}

/// Unpacks words as long as `LANES` cells are left, which are at least as many as a word has; returns how many words.
#[inline(always)]
fn unpack_lanes<W: Word, const BITS: usize, const LANES: usize>(words: &[W], out: &mut [u16]) -> usize {
    let per_word = 64 / BITS;
    let count = out.len().checked_sub(LANES).map_or(0, |spare| spare / per_word + 1).min(words.len());
    for (at, word) in words[..count].iter().enumerate() {
        let word = word.bits();
        let cells: [u16; LANES] =
            std::array::from_fn(|place| (word >> (place * BITS).min(63) & ((1 << BITS) - 1)) as u16);
        out[at * per_word..at * per_word + LANES].copy_from_slice(&cells);
    }
    count
}

#[inline(always)]
fn unpack_word<const BITS: usize>(word: u64, cells: &mut [u16]) {
    for (place, cell) in cells.iter_mut().enumerate() {
        *cell = (word >> (place * BITS) & ((1 << BITS) - 1)) as u16;
    }
}

#[inline(always)]
fn pack_any(indices: &[u16], bits: u32, words: &mut [u64]) {
    with_bits!(bits, pack_each::<u16>(indices, words));
}

#[inline(always)]
fn pack_each<I: Copy + Into<u64>, const BITS: usize>(indices: &[I], words: &mut [u64]) {
    let mut chunks = indices.chunks_exact(64 / BITS);
    for (word, cells) in words.iter_mut().zip(&mut chunks) {
        *word = pack_word::<I, BITS>(cells);
    }
    if let ([_, ..], Some(last)) = (chunks.remainder(), words.last_mut()) {
        *last = pack_word::<I, BITS>(chunks.remainder());
    }
}

#[inline(always)]
fn pack_word<I: Copy + Into<u64>, const BITS: usize>(cells: &[I]) -> u64 {
    cells.iter().enumerate().fold(0, |word, (place, cell)| word | (*cell).into() << (place * BITS))
}

#[inline(always)]
fn take_over_any(longs: &[[u8; 8]], bits: u32, limit: u64, words: &mut [u64]) -> bool {
    let per_word = 64 / bits;
    let mask = (1 << bits) - 1;
    if limit > mask {
        for (word, long) in words.iter_mut().zip(longs) {
            *word = long.bits();
        }
        return true;
    }
    // PERF: every other place of a word is looked at, so that each has a place of room above it. Adding what is missing
    // to 2^bits carries into that room where an index is not below the limit. The topmost place may have too little
    // room within the word and is looked at by itself.
    let places = (0..per_word - 1).step_by(2).fold(0_u64, |sum, place| sum | 1 << (place * bits));
    let (fields, missing, carries) = (places * mask, places * (mask + 1 - limit), places << bits);
    let topmost = (per_word - 1) * bits;
    // Words that hold an index beyond the limit, one bit set in each.
    let mut beyond = 0;
    for (word, long) in words.iter_mut().zip(longs) {
        *word = long.bits();
        let (even, odd) = ((*word & fields) + missing, (*word >> bits & fields) + missing);
        beyond |= (even | odd) & carries | ((*word >> topmost & mask) + (mask + 1 - limit)) >> bits;
    }
    beyond == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_build_gives_back_what_was_packed() {
        for bits in 1..=16_u32 {
            for cells in [0, 1, 7, 64, 255, 256, 4096_usize] {
                let indices: Vec<u16> =
                    (0..cells as u64).map(|cell| (cell * 0x9E37_79B9 % (1 << bits)) as u16).collect();
                let count = cells.div_ceil(64 / bits as usize);
                let mut packed = vec![0; count];
                pack_any(&indices, bits, &mut packed);
                let longs: Vec<[u8; 8]> = packed.iter().map(|word| word.to_be_bytes()).collect();
                let mut unpacked = vec![0; cells];
                unpack_any::<_, false>(&longs, bits, &mut unpacked);
                assert_eq!(unpacked, indices, "{bits} bits, {cells} cells");
                #[cfg(target_arch = "x86_64")]
                if wider::is_supported() {
                    let mut wide = vec![0; count];
                    wider::pack(&indices, bits, &mut wide);
                    assert_eq!(wide, packed, "{bits} bits, {cells} cells");
                    let mut wide = vec![0; cells];
                    wider::unpack(&longs, bits, &mut wide);
                    assert_eq!(wide, indices, "{bits} bits, {cells} cells");
                }
                for limit in [1, (1 << bits) / 2 + 1, (1 << bits) - 1, 1 << bits] {
                    let below = indices.iter().all(|index| u64::from(*index) < limit);
                    let mut taken = vec![0; count];
                    assert_eq!(take_over_any(&longs, bits, limit, &mut taken), below);
                    assert_eq!(taken, packed, "{bits} bits, {cells} cells");
                    #[cfg(target_arch = "x86_64")]
                    if wider::is_supported() {
                        let mut wide = vec![0; count];
                        assert_eq!(wider::take_over(&longs, bits, limit, &mut wide), below);
                        assert_eq!(wide, packed, "{bits} bits, {cells} cells");
                    }
                }
            }
        }
    }
}
