//! One bit a cell: the masks that all kernels of this crate work on, and their way from and to stored nibbles.
//!
//! A level of 4 bits is kept as four **planes**, one mask for each bit of the level. Kernels never look at a single
//! nibble: they add to planes by words of 64 cells and pack them once at the end.

use voxtick_worlds::{CellMask, NIBBLE_BYTES};

use crate::simd::for_every_width;

/// No cell.
pub(crate) static NO_CELL: CellMask = [0; 64];
/// Every cell.
pub(crate) static EVERY_CELL: CellMask = [u64::MAX; 64];

/// The cells of a word with `x` = 0, and those with `x` = 15.
pub(crate) const WEST_CELLS: u64 = 0x0001_0001_0001_0001;
pub(crate) const EAST_CELLS: u64 = 0x8000_8000_8000_8000;

/// One layer of a section: four words of four rows along `x`.
pub(crate) type Layer = [u64; 4];

/// The layer at height `y`.
#[inline(always)]
pub(crate) fn layer(mask: &CellMask, y: usize) -> Layer {
    // Heights are below 16; saying so spares the check of each index.
    let start = (y & 15) * 4;
    [mask[start], mask[start + 1], mask[start + 2], mask[start + 3]]
}

/// Writes the layer at height `y`.
#[inline(always)]
pub(crate) fn set_layer(mask: &mut CellMask, y: usize, layer: Layer) {
    let start = (y & 15) * 4;
    mask[start] = layer[0];
    mask[start + 1] = layer[1];
    mask[start + 2] = layer[2];
    mask[start + 3] = layer[3];
}

/// A layer made word by word.
#[inline(always)]
pub(crate) fn each(word: impl Fn(usize) -> u64) -> Layer {
    [word(0), word(1), word(2), word(3)]
}

/// True where the layer holds a cell.
#[inline(always)]
pub(crate) fn any(layer: Layer) -> bool {
    layer[0] | layer[1] | layer[2] | layer[3] != 0
}

/// True where the mask holds `cell`.
#[inline(always)]
pub(crate) fn has(mask: &CellMask, cell: usize) -> bool {
    mask[cell / 64] >> (cell % 64) & 1 != 0
}

/// The numbers of the set bits, ascending.
#[inline(always)]
pub(crate) fn bits(set: u16) -> impl Iterator<Item = usize> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(bit)
    })
}

/// The cells of a mask, ascending.
pub(crate) fn cells(mask: &CellMask) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().flat_map(|(word, &bits)| {
        let mut bits = bits;
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(word * 64 + bit)
        })
    })
}

/// Levels as bits: plane `j` holds the cells whose level has bit `j`.
pub(crate) type Planes = [CellMask; 4];

/// Adds the cells of `fresh` at `level`; they must not have had a level before.
#[inline(always)]
pub(crate) fn add_level(planes: &mut Planes, level: u8, fresh: &CellMask) {
    for (bit, plane) in planes.iter_mut().enumerate() {
        if level >> bit & 1 != 0 {
            for (word, &cells) in plane.iter_mut().zip(fresh) {
                *word |= cells;
            }
        }
    }
}

/// Packs planes into nibbles.
#[inline(always)]
pub(crate) fn pack(planes: &Planes, nibbles: &mut [u8; NIBBLE_BYTES]) {
    for y in 0..16 {
        pack_layer(&layers(planes, y), y, nibbles);
    }
}

/// Packs one layer of planes into the nibbles of that layer.
#[inline(always)]
pub(crate) fn pack_layer(planes: &[Layer; 4], y: usize, nibbles: &mut [u8; NIBBLE_BYTES]) {
    let mut rows = [[0_u64; 4]; 4];
    for (word, rows) in rows.iter_mut().enumerate() {
        *rows = turn([planes[0][word], planes[1][word], planes[2][word], planes[3][word]]);
        *rows = [pack_row(rows[0]), pack_row(rows[1]), pack_row(rows[2]), pack_row(rows[3])];
    }
    let (bytes, _) = nibbles[y * 128..y * 128 + 128].as_chunks_mut::<8>();
    for (bytes, row) in bytes.iter_mut().zip(rows.as_flattened()) {
        *bytes = row.to_le_bytes();
    }
}

/// Reads one layer of nibbles into the same layer of the planes.
#[inline(always)]
pub(crate) fn unpack_layer(nibbles: &[u8; NIBBLE_BYTES], y: usize, planes: &mut Planes) {
    let (bytes, _) = nibbles[y * 128..y * 128 + 128].as_chunks::<8>();
    let mut rows = [0_u64; 16];
    for (row, bytes) in rows.iter_mut().zip(bytes) {
        *row = u64::from_le_bytes(*bytes);
    }
    let layers = planes_of_rows(rows);
    for (plane, layer) in planes.iter_mut().zip(layers) {
        set_layer(plane, y, layer);
    }
}

/// The four planes of a layer, given as 16 rows of 16 nibbles.
#[inline(always)]
pub(crate) fn planes_of_rows(mut rows: [u64; 16]) -> [Layer; 4] {
    for row in &mut rows {
        *row = unpack_row(*row);
    }
    let mut planes = [[0; 4]; 4];
    for word in 0..4 {
        let [a, b, c, d] = turn([rows[word * 4], rows[word * 4 + 1], rows[word * 4 + 2], rows[word * 4 + 3]]);
        planes[0][word] = a;
        planes[1][word] = b;
        planes[2][word] = c;
        planes[3][word] = d;
    }
    planes
}

/// Exchanges rows and planes: a transposition of 4 x 4 pieces of 16 bits.
#[inline(always)]
const fn turn([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    const LOW: u64 = 0x0000_0000_FFFF_FFFF;
    const EVEN: u64 = 0x0000_FFFF_0000_FFFF;
    let (ac, ca) = (a & LOW | c << 32, a >> 32 | c & !LOW);
    let (bd, db) = (b & LOW | d << 32, b >> 32 | d & !LOW);
    [
        ac & EVEN | (bd & EVEN) << 16,
        ac >> 16 & EVEN | bd & !EVEN,
        ca & EVEN | (db & EVEN) << 16,
        ca >> 16 & EVEN | db & !EVEN,
    ]
}

/// The same layer of all four planes.
#[inline(always)]
pub(crate) fn layers(planes: &Planes, y: usize) -> [Layer; 4] {
    [layer(&planes[0], y), layer(&planes[1], y), layer(&planes[2], y), layer(&planes[3], y)]
}

/// Adds the cells of one layer at `level` to levels that are kept in the place of their nibbles, as the planes of each
/// layer, one after the other. The cells must not have had a level before.
#[inline(always)]
pub(crate) fn add_to_planes(levels: &mut [u8; NIBBLE_BYTES], y: usize, level: u8, cells: Layer) {
    let (words, _) = levels[y * 128..y * 128 + 128].as_chunks_mut::<8>();
    for (bit, plane) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        if level >> bit & 1 != 0 {
            let before = each(|at| u64::from_le_bytes(plane[at]));
            *plane = std::array::from_fn(|at| (before[at] | cells[at]).to_le_bytes());
        }
    }
}

for_every_width! {
    /// Turns levels that [`add_to_planes`] has made into nibbles, if they are not all the same; else tells the one.
    pub(crate) fn pack_in_place_at(levels: &mut [u8; NIBBLE_BYTES], uniform: &mut Option<u8>) = pack_in_place
}

#[inline(always)]
fn pack_in_place(levels: &mut [u8; NIBBLE_BYTES], uniform: &mut Option<u8>) {
    let planes_of = |levels: &[u8; NIBBLE_BYTES], y: usize| -> [Layer; 4] {
        let (words, _) = levels[y * 128..y * 128 + 128].as_chunks::<8>();
        std::array::from_fn(|plane| each(|at| u64::from_le_bytes(words[plane * 4 + at])))
    };
    let first = planes_of(levels, 0);
    let is_one = |planes: &[Layer; 4]| planes.iter().all(|plane| plane.iter().all(|&word| word == plane[0]));
    if is_one(&first)
        && first.iter().all(|plane| plane[0].wrapping_add(1) <= 1)
        && (1..16).all(|y| planes_of(levels, y) == first)
    {
        *uniform = Some((0..4).map(|bit| ((first[bit][0] & 1) as u8) << bit).sum());
        return;
    }
    for y in 0..16 {
        let planes = planes_of(levels, y);
        pack_layer(&planes, y, levels);
    }
}

/// Exchanges two groups of bits that lie `shift` apart; `low` marks the lower group.
#[inline(always)]
const fn exchange(value: u64, shift: u32, low: u64) -> u64 {
    let differ = (value >> shift ^ value) & low;
    value ^ differ ^ differ << shift
}

/// Turns four planes of one row (16 bits each, plane 0 lowest) into 16 nibbles: a transposition of a 4 x 16 matrix of
/// bits. The index of a bit is rotated by two places, which four exchanges of index bits do.
#[inline(always)]
const fn pack_row(row: u64) -> u64 {
    let row = exchange(row, 3, 0x0A0A_0A0A_0A0A_0A0A);
    let row = exchange(row, 6, 0x00CC_00CC_00CC_00CC);
    let row = exchange(row, 15, 0x0000_AAAA_0000_AAAA);
    exchange(row, 30, 0xCCCC_CCCC)
}

/// Undoes [`pack_row`].
#[inline(always)]
const fn unpack_row(row: u64) -> u64 {
    let row = exchange(row, 30, 0xCCCC_CCCC);
    let row = exchange(row, 15, 0x0000_AAAA_0000_AAAA);
    let row = exchange(row, 6, 0x00CC_00CC_00CC_00CC);
    exchange(row, 3, 0x0A0A_0A0A_0A0A_0A0A)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Width;

    #[test]
    fn packing_puts_each_bit_of_each_plane_into_its_nibble() {
        for plane in 0..4 {
            for cell in 0..16 {
                assert_eq!(pack_row(1 << (plane * 16 + cell)), 1 << (cell * 4 + plane), "{plane} {cell}");
                assert_eq!(unpack_row(1 << (cell * 4 + plane)), 1 << (plane * 16 + cell), "{plane} {cell}");
            }
        }
    }

    #[test]
    fn levels_survive_planes_and_nibbles() {
        let mut planes = [NO_CELL; 4];
        for level in 0..16_u8 {
            let mut cells = NO_CELL;
            for cell in (0..4096).filter(|cell| cell * 7 % 16 == usize::from(level)) {
                cells[cell / 64] |= 1 << (cell % 64);
            }
            add_level(&mut planes, level, &cells);
        }
        let mut nibbles = [0; NIBBLE_BYTES];
        pack(&planes, &mut nibbles);
        for cell in 0..4096 {
            assert_eq!(usize::from(nibbles[cell / 2] >> (cell % 2 * 4) & 15), cell * 7 % 16);
        }
        let mut back = [NO_CELL; 4];
        (0..16).for_each(|y| unpack_layer(&nibbles, y, &mut back));
        assert!(back == planes);
    }

    #[test]
    fn levels_kept_in_the_place_of_their_nibbles_become_them() {
        for width in Width::ALL.into_iter().filter(|width| width.is_supported()) {
            let (mut levels, mut uniform) = ([0; NIBBLE_BYTES], None);
            for level in 1..16 {
                for y in 0..16 {
                    let bit =
                        |cell: usize| u64::from((cell * 7 + y) % 16 == usize::from(level)) << (cell % 64);
                    let word = |at: usize| (at * 64..at * 64 + 64).map(bit).sum();
                    add_to_planes(&mut levels, y, level, each(word));
                }
            }
            pack_in_place_at(width, &mut levels, &mut uniform);
            assert_eq!(uniform, None);
            for cell in 0..4096 {
                let level = levels[cell / 2] >> (cell % 2 * 4) & 15;
                assert_eq!(usize::from(level), (cell % 256 * 7 + cell / 256) % 16, "{cell}, {width:?}");
            }
            let mut five = [0; NIBBLE_BYTES];
            (0..16).for_each(|y| add_to_planes(&mut five, y, 5, [u64::MAX; 4]));
            pack_in_place_at(width, &mut five, &mut uniform);
            assert_eq!(uniform, Some(5));
            let mut nearly = five;
            add_to_planes(&mut nearly, 15, 2, [0, 0, 0, 1 << 63]);
            let mut no_longer = None;
            pack_in_place_at(width, &mut nearly, &mut no_longer);
            assert_eq!((no_longer, nearly[2046], nearly[2047]), (None, 0x55, 0x75));
        }
    }
}
