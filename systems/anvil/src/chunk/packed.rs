//! Packed indices as the game stores them: big-endian longs, lowest bits first.

use super::error::DecodeSectionError;
use voxtick_worlds::{pack_words, unpack_longs};

/// Bits that an index of a palette of `entries` takes, at least `least`.
pub(super) fn bits_for(entries: usize, least: u32) -> u32 {
    let needed = if entries <= 1 { 0 } else { usize::BITS - (entries - 1).leading_zeros() };
    needed.max(least)
}

/// Longs that `cells` indices of `bits` bits take.
pub(super) fn long_count(cells: usize, bits: u32, straddling: bool) -> usize {
    if straddling { (cells * bits as usize).div_ceil(64) } else { cells.div_ceil(64 / bits as usize) }
}

/// The width of the indices that `longs` longs hold: the one the game uses for a palette of `entries` entries, at
/// least `least` bits, or else one that the length tells. Some tools pack tighter or wider than the game does.
pub(super) fn width(
    field: &'static str,
    longs: usize,
    cells: usize,
    entries: usize,
    least: u32,
    straddling: bool,
) -> Result<u32, DecodeSectionError> {
    let usual = bits_for(entries, least);
    let fits = |bits: &u32| long_count(cells, *bits, straddling) == longs;
    if fits(&usual) {
        return Ok(usual);
    }
    (bits_for(entries, 1)..=16).find(fits).ok_or_else(|| DecodeSectionError::DataLength {
        field,
        found: longs,
        expected: long_count(cells, usual, straddling),
        entries,
    })
}

/// Unpacks one index a cell: `out.len()` indices of `bits` bits each, as the game packs them, lowest bits first, in
/// big-endian longs. They straddle longs before DataVersion 2529 (20w17a) and never later.
///
/// ```
/// use voxtick_anvil::chunk::{pack_indices, unpack_indices};
/// let (mut words, mut out) = (Vec::new(), [0; 13]);
/// pack_indices(&[1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31], 5, false, &mut words);
/// assert_eq!(words, [1 | 2 << 5 | 3 << 10, 31]);
/// let longs: Vec<[u8; 8]> = words.iter().map(|word| word.to_be_bytes()).collect();
/// unpack_indices(&longs, 5, false, &mut out);
/// assert_eq!(out, [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31]);
/// ```
///
/// # Panics
/// Where `bits` is not 1 to 16, or there are more or fewer longs than the indices take.
pub fn unpack(longs: &[[u8; 8]], bits: u32, straddling: bool, out: &mut [u16]) {
    assert!((1..=16).contains(&bits), "{bits} bits an index");
    assert_eq!(longs.len(), long_count(out.len(), bits, straddling), "longs for {} indices", out.len());
    if straddling { unpack_straddling(longs, bits, out) } else { unpack_longs(longs, bits, out) }
}

/// Packs one index a cell, each of which must fit `bits`, into the words that the game stores as big-endian longs;
/// what `words` held is dropped. See [`unpack`] for how.
///
/// # Panics
/// Where `bits` is not 1 to 16.
pub fn pack(indices: &[u16], bits: u32, straddling: bool, words: &mut Vec<u64>) {
    assert!((1..=16).contains(&bits), "{bits} bits an index");
    words.clear();
    words.resize(long_count(indices.len(), bits, straddling), 0);
    if straddling { pack_straddling(indices, bits, words) } else { pack_words(indices, bits, words) }
}

fn unpack_straddling(longs: &[[u8; 8]], bits: u32, out: &mut [u16]) {
    let mask = (1_u128 << bits) - 1;
    let word = |index: usize| longs.get(index).map_or(0, |long| u64::from_be_bytes(*long));
    for (index, cell) in out.iter_mut().enumerate() {
        let bit = index * bits as usize;
        let pair = u128::from(word(bit / 64)) | u128::from(word(bit / 64 + 1)) << 64;
        *cell = (pair >> (bit % 64) & mask) as u16;
    }
}

fn pack_straddling(indices: &[u16], bits: u32, words: &mut [u64]) {
    for (index, cell) in indices.iter().enumerate() {
        let bit = index * bits as usize;
        let pair = u128::from(*cell) << (bit % 64);
        words[bit / 64] |= pair as u64;
        if let Some(next) = words.get_mut(bit / 64 + 1) {
            *next |= (pair >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack_bit_by_bit(values: &[u16], bits: u32, straddling: bool) -> Vec<[u8; 8]> {
        let mut words = vec![0_u64; long_count(values.len(), bits, straddling)];
        for (index, value) in values.iter().enumerate() {
            for bit in 0..bits as usize {
                let place = if straddling {
                    index * bits as usize + bit
                } else {
                    let per_word = 64 / bits as usize;
                    index / per_word * 64 + index % per_word * bits as usize + bit
                };
                words[place / 64] |= u64::from(value >> bit & 1) << (place % 64);
            }
        }
        words.into_iter().map(u64::to_be_bytes).collect()
    }

    #[test]
    fn every_width_gives_back_what_was_packed_bit_by_bit() {
        for straddling in [false, true] {
            for bits in 1..=16 {
                let values: Vec<u16> =
                    (0..4096_u64).map(|cell| (cell * 0x9E37_79B9 % (1 << bits)) as u16).collect();
                let mut out = [0; 4096];
                let packed = pack_bit_by_bit(&values, bits, straddling);
                unpack(&packed, bits, straddling, &mut out);
                let mut words = Vec::new();
                pack(&values, bits, straddling, &mut words);
                assert!(words.iter().map(|word| word.to_be_bytes()).eq(packed), "{bits} bits");
                assert_eq!(out.as_slice(), values, "{bits} bits");
            }
        }
    }

    #[test]
    fn a_number_of_longs_that_fits_no_width_is_refused_with_both_numbers() {
        assert_eq!(
            width("data", 255, 4096, 16, 4, false),
            Err(DecodeSectionError::DataLength { field: "data", found: 255, expected: 256, entries: 16 })
        );
        // Two bits cannot tell 16 entries apart.
        assert!(width("data", 128, 4096, 16, 4, false).is_err());
    }

    #[test]
    fn the_usual_width_is_taken_where_the_length_allows_it_and_told_by_the_length_elsewhere() {
        assert_eq!(width("data", 820, 4096, 2048, 4, false), Ok(11));
        assert_eq!(width("data", 820, 4096, 2049, 4, false), Ok(12));
        assert_eq!(width("data", 128, 4096, 3, 4, true), Ok(2));
        assert_eq!(width("data", 512, 4096, 3, 4, false), Ok(8));
    }

    #[test]
    fn long_counts_are_those_of_the_format() {
        let counts: Vec<usize> = (4..=13).map(|bits| long_count(4096, bits, false)).collect();
        assert_eq!(counts, [256, 342, 410, 456, 512, 586, 683, 820, 820, 1024]);
    }
}
