//! Positions packed into one 64-bit word, and the search over them without unpacking.

use super::search::{Sample, Search};
use super::{LANES, LEAST_GROUPS, NearestThree, SAMPLED_GROUPS};

/// A position in one word: x in the upper 26 bits, z in the next 26, y in the lower 12, each in two's
/// complement (the layout of Minecraft Java 1.14 onward).
///
/// ```
/// use voxtick_engine::PackedPosition;
///
/// let packed = PackedPosition::pack([-30_000_000, -64, 29_999_999]).expect("within 26, 12 and 26 bits");
/// assert_eq!(packed.unpack(), [-30_000_000, -64, 29_999_999]);
/// assert_eq!(PackedPosition::pack([0, 2048, 0]), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct PackedPosition(pub i64);

/// Bits of x and of z.
const WIDE: u32 = 26;
/// Bits of y.
const NARROW: u32 = 12;

impl PackedPosition {
    /// Packs a position; `None` if x or z is outside -2^25..2^25, or y outside -2^11..2^11.
    pub fn pack([x, y, z]: [i32; 3]) -> Option<PackedPosition> {
        let fits = |value: i32, bits: u32| value >= -1 << (bits - 1) && value < 1 << (bits - 1);
        let field = |value: i32, bits: u32| i64::from(value) & ((1 << bits) - 1);
        (fits(x, WIDE) && fits(y, NARROW) && fits(z, WIDE)).then(|| {
            PackedPosition(field(x, WIDE) << (WIDE + NARROW) | field(z, WIDE) << NARROW | field(y, NARROW))
        })
    }

    /// The position.
    #[inline]
    pub fn unpack(self) -> [i32; 3] {
        let x = self.0 >> (WIDE + NARROW);
        let y = self.0 << (2 * WIDE) >> (2 * WIDE);
        let z = self.0 << WIDE >> (WIDE + NARROW);
        [x as i32, y as i32, z as i32]
    }
}

/// The search over packed positions. Inlined into one copy for each instruction set.
#[inline(always)]
pub(super) fn search_packed(positions: &[PackedPosition], query: [i32; 3]) -> NearestThree {
    let mut search = Search::new(query);
    let (groups, rest) = positions.as_chunks::<LANES>();
    if groups.len() >= LEAST_GROUPS {
        let mut sample = Sample::new(query);
        for positions in groups.iter().take(SAMPLED_GROUPS) {
            let mut columns = [[0; LANES]; 3];
            for (lane, position) in positions.iter().enumerate() {
                [columns[0][lane], columns[1][lane], columns[2][lane]] = position.unpack();
            }
            sample.add(&columns[0], &columns[1], &columns[2]);
        }
        search.limit(sample.third());
    }
    let mut ranges = field_ranges(search.bounds());
    for (group, positions) in groups.iter().enumerate() {
        let [x_range, y_range, z_range] = ranges;
        let mut mask = 0;
        for (lane, position) in positions.iter().enumerate() {
            // Each field in turn is moved to the top; what is below it does not decide.
            let is_inside = x_range.contains(position.0)
                & y_range.contains(position.0 << (2 * WIDE))
                & z_range.contains(position.0 << WIDE);
            mask |= if is_inside { 1u64 << lane } else { 0 };
        }
        let mask = mask as u32;
        if mask != 0 {
            search.offer_some(mask, group * LANES, |lane| positions[lane].unpack());
            if search.is_settled() {
                return search.found();
            }
            ranges = field_ranges(search.bounds());
        }
    }
    search.offer_some((1 << rest.len()) - 1, groups.len() * LANES, |row| rest[row].unpack());
    search.found()
}

#[inline(always)]
fn field_ranges([x, y, z]: [(i32, i32); 3]) -> [TopBits; 3] {
    [TopBits::new(x, WIDE), TopBits::new(y, NARROW), TopBits::new(z, WIDE)]
}

/// A range of the field in the top bits of a word, whatever the bits below.
#[derive(Clone, Copy)]
struct TopBits {
    /// Added to a word, moves the lowest of the range to `i64::MIN`.
    shift: i64,
    highest: i64,
}

impl TopBits {
    /// The part of a range that a field of so many bits can hold; a range outside of that is moved
    /// to the nearest value, which is harmless: a few positions more are looked at closely.
    #[inline(always)]
    fn new((lowest, highest): (i32, i32), bits: u32) -> TopBits {
        let (least, most) = (-1_i64 << (bits - 1), (1_i64 << (bits - 1)) - 1);
        let (lowest, highest) = (i64::from(lowest).clamp(least, most), i64::from(highest).clamp(least, most));
        let (unit, below) = (64 - bits, (1_i64 << (64 - bits)) - 1);
        TopBits {
            shift: i64::MIN.wrapping_sub(lowest << unit),
            highest: i64::MIN.wrapping_add((highest - lowest) << unit | below),
        }
    }

    #[inline(always)]
    fn contains(self, word: i64) -> bool {
        word.wrapping_add(self.shift) <= self.highest
    }
}
