//! The loops over packed words, for every processor: compiled once more for the instructions that wider ones have.
//!
//! All builds come from one source of word operations, which the compiler widens by itself, so their results are equal
//! bit for bit. Indices do not straddle words here.

/// Unpacks as many indices as `out` has places from as many big-endian words as that takes.
pub(super) fn unpack(longs: &[[u8; 8]], bits: u32, out: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if wider::is_supported() {
        return wider::unpack(longs, bits, out);
    }
    unpack_any::<false>(longs, bits, out);
}

/// Packs indices into as many words as they take.
pub(super) fn pack(indices: &[u16], bits: u32, words: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    if wider::is_supported() {
        return wider::pack(indices, bits, words);
    }
    pack_any(indices, bits, words);
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "calling a function with more target features than its caller needs a promise that they are there"
)]
mod wider {
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

    pub(super) fn unpack(longs: &[[u8; 8]], bits: u32, out: &mut [u16]) {
        #[target_feature(enable = "avx2,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
        fn wide(longs: &[[u8; 8]], bits: u32, out: &mut [u16]) {
            super::unpack_any::<true>(longs, bits, out);
        }
        assert!(is_supported());
        // SAFETY: the processor has every feature that `wide` is compiled with.
        unsafe { wide(longs, bits, out) }
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
}

/// Calls a kernel with the width of an index known at compile time.
// PERF: then the inner loop unrolls to shifts and masks.
macro_rules! with_bits {
    ($bits:expr, $kernel:ident $(::<$wide:ident>)? ($($argument:expr),*)) => {
        match $bits {
            1 => $kernel::<1 $(, $wide)?>($($argument),*),
            2 => $kernel::<2 $(, $wide)?>($($argument),*),
            3 => $kernel::<3 $(, $wide)?>($($argument),*),
            4 => $kernel::<4 $(, $wide)?>($($argument),*),
            5 => $kernel::<5 $(, $wide)?>($($argument),*),
            6 => $kernel::<6 $(, $wide)?>($($argument),*),
            7 => $kernel::<7 $(, $wide)?>($($argument),*),
            8 => $kernel::<8 $(, $wide)?>($($argument),*),
            9 => $kernel::<9 $(, $wide)?>($($argument),*),
            10 => $kernel::<10 $(, $wide)?>($($argument),*),
            11 => $kernel::<11 $(, $wide)?>($($argument),*),
            12 => $kernel::<12 $(, $wide)?>($($argument),*),
            13 => $kernel::<13 $(, $wide)?>($($argument),*),
            14 => $kernel::<14 $(, $wide)?>($($argument),*),
            15 => $kernel::<15 $(, $wide)?>($($argument),*),
            _ => $kernel::<16 $(, $wide)?>($($argument),*),
        }
    };
}

#[inline(always)]
fn unpack_any<const WIDE: bool>(longs: &[[u8; 8]], bits: u32, out: &mut [u16]) {
    with_bits!(bits, unpack_words::<WIDE>(longs, out));
}

#[inline(always)]
fn unpack_words<const BITS: usize, const WIDE: bool>(longs: &[[u8; 8]], out: &mut [u16]) {
    let per_word = 64 / BITS;
    // PERF: few indices a word leave lanes empty; then all lanes are written, and the next word writes over those that
    // are too many.
    let done = match per_word {
        ..=4 => unpack_lanes::<BITS, 4>(longs, out),
        ..=6 if WIDE => unpack_lanes::<BITS, 8>(longs, out),
        _ => 0,
    };
    // PERF: chunks of a length known at compile time; the last word, which may have fewer cells, goes by itself.
    let (longs, mut chunks) = (&longs[done..], out[done * per_word..].chunks_exact_mut(per_word));
    for (long, cells) in longs.iter().zip(&mut chunks) {
        unpack_word::<BITS>(*long, cells);
    }
    if let Some(last) = longs.last() {
        unpack_word::<BITS>(*last, chunks.into_remainder());
    }
}

/// Unpacks words as long as `LANES` cells are left, which are at least as many as a word has; returns how many words.
#[inline(always)]
fn unpack_lanes<const BITS: usize, const LANES: usize>(longs: &[[u8; 8]], out: &mut [u16]) -> usize {
    let per_word = 64 / BITS;
    let words = out.len().checked_sub(LANES).map_or(0, |spare| spare / per_word + 1).min(longs.len());
    for (word, long) in longs[..words].iter().enumerate() {
        let long = u64::from_be_bytes(*long);
        let cells: [u16; LANES] =
            std::array::from_fn(|place| (long >> (place * BITS).min(63) & ((1 << BITS) - 1)) as u16);
        out[word * per_word..word * per_word + LANES].copy_from_slice(&cells);
    }
    words
}

#[inline(always)]
fn unpack_word<const BITS: usize>(long: [u8; 8], cells: &mut [u16]) {
    let word = u64::from_be_bytes(long);
    for (place, cell) in cells.iter_mut().enumerate() {
        *cell = (word >> (place * BITS) & ((1 << BITS) - 1)) as u16;
    }
}

#[inline(always)]
fn pack_any(indices: &[u16], bits: u32, words: &mut [u64]) {
    with_bits!(bits, pack_words(indices, words));
}

#[inline(always)]
fn pack_words<const BITS: usize>(indices: &[u16], words: &mut [u64]) {
    let mut chunks = indices.chunks_exact(64 / BITS);
    for (word, cells) in words.iter_mut().zip(&mut chunks) {
        *word = pack_word::<BITS>(cells);
    }
    if let ([_, ..], Some(last)) = (chunks.remainder(), words.last_mut()) {
        *last = pack_word::<BITS>(chunks.remainder());
    }
}

#[inline(always)]
fn pack_word<const BITS: usize>(cells: &[u16]) -> u64 {
    cells.iter().enumerate().fold(0, |word, (place, cell)| word | u64::from(*cell) << (place * BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_for_wider_processors_gives_the_same() {
        #[cfg(target_arch = "x86_64")]
        if wider::is_supported() {
            for bits in 1..=16_u32 {
                for cells in [0, 1, 7, 64, 255, 256, 4096_usize] {
                    let indices: Vec<u16> =
                        (0..cells as u64).map(|cell| (cell * 0x9E37_79B9 % (1 << bits)) as u16).collect();
                    let count = cells.div_ceil(64 / bits as usize);
                    let (mut plain, mut wide) = (vec![0; count], vec![0; count]);
                    pack_any(&indices, bits, &mut plain);
                    wider::pack(&indices, bits, &mut wide);
                    assert_eq!(plain, wide, "{bits} bits, {cells} cells");
                    let longs: Vec<[u8; 8]> = plain.iter().map(|word| word.to_be_bytes()).collect();
                    let (mut plain, mut wide) = (vec![0; cells], vec![0; cells]);
                    unpack_any::<false>(&longs, bits, &mut plain);
                    wider::unpack(&longs, bits, &mut wide);
                    assert_eq!(plain, indices, "{bits} bits, {cells} cells");
                    assert_eq!(wide, indices, "{bits} bits, {cells} cells");
                }
            }
        }
    }
}
