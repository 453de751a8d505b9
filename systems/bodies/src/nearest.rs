//! The three nearest of many block positions.

use voxtick_worlds::BlockPos;

/// Places of the up to three nearest, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nearest {
    places: [u32; 3],
    count: u8,
}

impl Nearest {
    /// The places found: three, or fewer where there were not so many.
    #[must_use]
    pub fn places(&self) -> &[u32] {
        &self.places[..usize::from(self.count)]
    }
}

/// The three of the positions `x`, `y`, `z` that are nearest to `to`, by squared distance in 64 bits; of equally near ones
/// the first. Squares of distances beyond 2^32 blocks count as equal.
///
/// ```
/// use voxtick_bodies::nearest_three;
/// use voxtick_worlds::BlockPos;
/// let (x, y, z) = ([9, 1, -3, 3], [0, 0, 0, 0], [0, 0, 0, 0]);
/// assert_eq!(nearest_three(BlockPos::new(0, 0, 0), &x, &y, &z).places(), [1, 2, 3]);
/// ```
#[must_use]
pub fn nearest_three(to: BlockPos, x: &[i32], y: &[i32], z: &[i32]) -> Nearest {
    nearest_of(x.iter().zip(y).zip(z).map(|((&x, &y), &z)| squared_distance(to, BlockPos::new(x, y, z))))
}

/// The same over positions packed in the game's way: 26 bits of `x`, 26 of `z`, 12 of `y`, highest first.
#[must_use]
pub fn nearest_three_packed(to: BlockPos, packed: &[u64]) -> Nearest {
    nearest_of(packed.iter().map(|&position| squared_distance(to, unpack(position))))
}

fn nearest_of(distances: impl Iterator<Item = u64>) -> Nearest {
    let mut best = [u64::MAX; 3];
    let mut nearest = Nearest::default();
    for (place, distance) in distances.enumerate() {
        let filled = usize::from(nearest.count);
        if filled == 3 && distance >= best[2] {
            continue;
        }
        // After those that are as near: they came first.
        let rank = best[..filled].partition_point(|&nearer| nearer <= distance);
        for at in (rank + 1..3).rev() {
            best[at] = best[at - 1];
            nearest.places[at] = nearest.places[at - 1];
        }
        best[rank] = distance;
        nearest.places[rank] = place as u32;
        nearest.count = nearest.count.saturating_add(1).min(3);
    }
    nearest
}

fn squared_distance(one: BlockPos, other: BlockPos) -> u64 {
    let square = |a: i32, b: i32| u64::from(a.abs_diff(b)).pow(2);
    square(one.x, other.x).saturating_add(square(one.y, other.y)).saturating_add(square(one.z, other.z))
}

fn unpack(packed: u64) -> BlockPos {
    let packed = packed.cast_signed();
    BlockPos::new((packed >> 38) as i32, (packed << 52 >> 52) as i32, (packed << 26 >> 38) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxtick_worlds::generators::split_mix;

    fn pack(position: BlockPos) -> u64 {
        let bits = |value: i32, count: u32| u64::from(value.cast_unsigned()) & ((1 << count) - 1);
        bits(position.x, 26) << 38 | bits(position.z, 26) << 12 | bits(position.y, 12)
    }

    #[test]
    fn both_forms_agree_with_a_full_sort() {
        for seed in 0..200_u64 {
            let count = (seed % 9) as usize;
            let coordinate = |place: usize, axis: u64| {
                let bits = split_mix(seed * 1_000 + place as u64 * 3 + axis);
                if axis == 1 { (bits % 9) as i32 - 4 } else { (bits % 60_000_000) as i32 - 30_000_000 }
            };
            let [x, y, z]: [Vec<i32>; 3] =
                [0, 1, 2].map(|axis| (0..count).map(|place| coordinate(place, axis)).collect());
            let to = BlockPos::new(29_999_999, 2, -29_999_999);
            let mut order: Vec<u32> = (0..count as u32).collect();
            let at = |place: u32| {
                let place = place as usize;
                BlockPos::new(x[place], y[place], z[place])
            };
            order.sort_by_key(|&place| squared_distance(to, at(place)));
            order.truncate(3);
            assert_eq!(nearest_three(to, &x, &y, &z).places(), order);
            let packed: Vec<u64> = (0..count as u32).map(|place| pack(at(place))).collect();
            assert_eq!(nearest_three_packed(to, &packed).places(), order);
        }
    }

    #[test]
    fn of_equally_near_ones_the_first_three_are_taken() {
        let (x, zero) = ([1, -1, 1, -1], [0; 4]);
        assert_eq!(nearest_three(BlockPos::new(0, 0, 0), &x, &zero, &zero).places(), [0, 1, 2]);
    }

    #[test]
    fn distances_across_the_whole_range_do_not_wrap() {
        let x = [i32::MAX, i32::MIN, 5];
        let nearest = nearest_three(BlockPos::new(i32::MIN, 0, 0), &x, &[0; 3], &[0; 3]);
        assert_eq!(nearest.places(), [1, 2, 0]);
    }
}
