//! Which bodies touch: a search whose cost follows the bodies and the pairs it keeps, not the pairs there are.
//!
//! A pile of n bodies in one block has about n²/2 touching pairs. A buffer that holds the first ones in a fixed order is
//! enough for whoever works them off tick by tick, and finding those takes O(n + pairs kept).

use crate::body::floor;
use crate::rules::{HALF_WIDTH, HEIGHT};

/// How to look for touching bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TouchSettings {
    /// Bodies with less than this between them touch. Defaults to 0: their boxes overlap.
    pub margin: f64,
    /// Pairs that are kept. Defaults to 65,536.
    pub capacity: usize,
    /// Stop as soon as one more pair than fits is found. Defaults to true; otherwise all are counted.
    pub stop_at_capacity: bool,
    /// The row whose pairs come first; those of the rows before it come last. Defaults to 0. Where the buffer is cut, the
    /// pairs of the last rows are never told; a start that moves on from tick to tick lets every row have its turn.
    pub start: usize,
}

impl Default for TouchSettings {
    fn default() -> TouchSettings {
        TouchSettings { margin: 0.0, capacity: 65_536, stop_at_capacity: true, start: 0 }
    }
}

/// Cells are never smaller than this.
const LEAST_CELL: f64 = 0.0625;

/// Finds pairs of touching bodies; holds nothing but scratch, so one may serve any number of searches.
///
/// ```
/// use voxtick_bodies::{TouchSearch, TouchSettings};
/// let (x, y, z) = ([0.0, 0.2, 5.0], [64.0, 64.1, 64.0], [0.0, 0.0, 0.0]);
/// let mut pairs = Vec::new();
/// let found = TouchSearch::default().touching(&x, &y, &z, &TouchSettings::default(), &mut pairs);
/// assert_eq!((found, pairs), (1, vec![[0, 1]]));
/// ```
#[derive(Debug, Default)]
pub struct TouchSearch {
    cells: Vec<[i32; 3]>,
    /// Where the rows of each bucket begin in `sorted`; one more at the end.
    starts: Vec<u32>,
    /// Rows by bucket, ascending inside each.
    sorted: Vec<u32>,
}

impl TouchSearch {
    /// Writes pairs `[i, j]`, `i < j`, of bodies whose boxes overlap when one is wider by the margin on every side.
    ///
    /// Pairs come by ascending `i` (from the start row on, wrapping round), and for each `i` by the 27 cells around it,
    /// `z` outermost, then `y`, then `x`, and by ascending `j` inside a cell: an order that depends on the positions alone.
    /// What is kept is a prefix of the full list. Returns how many pairs there are, or `capacity + 1` where the search
    /// stopped there.
    ///
    /// The shortest of the three columns counts. Nothing is found for a margin that is below 0 or not a number; positions
    /// that are not numbers touch nothing.
    pub fn touching(
        &mut self,
        x: &[f64],
        y: &[f64],
        z: &[f64],
        settings: &TouchSettings,
        pairs: &mut Vec<[u32; 2]>,
    ) -> usize {
        pairs.clear();
        let count = x.len().min(y.len()).min(z.len()).min(u32::MAX as usize - 1);
        let cell = ((2.0 * HALF_WIDTH).max(HEIGHT) + settings.margin).max(LEAST_CELL);
        // Written so that a margin that is not a number fails.
        if count < 2 || !(settings.margin >= 0.0 && cell.is_finite()) {
            return 0;
        }
        self.sort(x, y, z, count, cell);
        let mut found = 0;
        for turn in 0..count {
            let row = (settings.start % count + turn) % count;
            let mut visited = [usize::MAX; 27];
            let mut visits = 0;
            for step in 0..27 {
                let (dz, dy, dx) = (step / 9 - 1, step / 3 % 3 - 1, step % 3 - 1);
                let [cell_x, cell_y, cell_z] = self.cells[row];
                let neighbour = [cell_x.wrapping_add(dx), cell_y.wrapping_add(dy), cell_z.wrapping_add(dz)];
                let bucket = self.bucket(neighbour);
                if visited[..visits].contains(&bucket) {
                    continue;
                }
                visited[visits] = bucket;
                visits += 1;
                let rows = &self.sorted[self.starts[bucket] as usize..self.starts[bucket + 1] as usize];
                let later = rows.partition_point(|&other| other as usize <= row);
                for &other in &rows[later..] {
                    if !touch([x[row], y[row], z[row]], at(x, y, z, other), settings.margin) {
                        continue;
                    }
                    found += 1;
                    if pairs.len() < settings.capacity {
                        pairs.push([row as u32, other]);
                    } else if settings.stop_at_capacity {
                        return found;
                    }
                }
            }
        }
        found
    }

    /// A counting sort by bucket: stable, so rows ascend inside each.
    fn sort(&mut self, x: &[f64], y: &[f64], z: &[f64], count: usize, cell: f64) {
        self.cells.clear();
        self.cells.extend((0..count).map(|row| {
            [(x[row] - HALF_WIDTH) / cell, y[row] / cell, (z[row] - HALF_WIDTH) / cell].map(floor)
        }));
        let buckets = (2 * count).next_power_of_two().max(16);
        self.starts.clear();
        self.starts.resize(buckets + 1, 0);
        for row in 0..count {
            let bucket = self.bucket(self.cells[row]);
            self.starts[bucket + 1] += 1;
        }
        for bucket in 0..buckets {
            self.starts[bucket + 1] += self.starts[bucket];
        }
        self.sorted.clear();
        self.sorted.resize(count, 0);
        // From the last row down, each to the end of what is left of its bucket; the starts end where they belong.
        for row in (0..count).rev() {
            let bucket = self.bucket(self.cells[row]) + 1;
            self.starts[bucket] -= 1;
            self.sorted[self.starts[bucket] as usize] = row as u32;
        }
        self.starts.rotate_left(1);
        self.starts[buckets] = count as u32;
    }

    fn bucket(&self, [x, y, z]: [i32; 3]) -> usize {
        let hash = x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663) ^ z.wrapping_mul(83_492_791);
        hash.cast_unsigned() as usize & (self.starts.len() - 2)
    }
}

fn at(x: &[f64], y: &[f64], z: &[f64], row: u32) -> [f64; 3] {
    [x[row as usize], y[row as usize], z[row as usize]]
}

/// Strict on all axes: boxes that share a face do not touch.
fn touch(one: [f64; 3], other: [f64; 3], margin: f64) -> bool {
    let low = [one[0] - HALF_WIDTH - margin, one[1] - margin, one[2] - HALF_WIDTH - margin];
    let high = [one[0] + HALF_WIDTH + margin, one[1] + HEIGHT + margin, one[2] + HALF_WIDTH + margin];
    let other_low = [other[0] - HALF_WIDTH, other[1], other[2] - HALF_WIDTH];
    let other_high = [other[0] + HALF_WIDTH, other[1] + HEIGHT, other[2] + HALF_WIDTH];
    (0..3).all(|axis| low[axis] < other_high[axis] && high[axis] > other_low[axis])
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxtick_worlds::generators::split_mix;

    type Cloud = [Vec<f64>; 3];

    fn cloud(seed: u64, count: usize, edge: f64) -> Cloud {
        let mut state = seed;
        let mut next = || {
            state = split_mix(state.wrapping_add(1));
            (state >> 11) as f64 / (1_u64 << 53) as f64 * edge - edge / 2.0
        };
        std::array::from_fn(|_| (0..count).map(|_| next()).collect())
    }

    fn search([x, y, z]: &Cloud, settings: &TouchSettings) -> (usize, Vec<[u32; 2]>) {
        let mut pairs = Vec::new();
        let found = TouchSearch::default().touching(x, y, z, settings, &mut pairs);
        (found, pairs)
    }

    fn by_force([x, y, z]: &Cloud, margin: f64) -> Vec<[u32; 2]> {
        let rows = x.len() as u32;
        (0..rows)
            .flat_map(|one| (one + 1..rows).map(move |other| [one, other]))
            .filter(|&[one, other]| touch(at(x, y, z, one), at(x, y, z, other), margin))
            .collect()
    }

    #[test]
    fn all_pairs_of_random_clouds_are_found_once() {
        for (seed, edge, margin) in [(1, 2.0, 0.0), (2, 6.0, 0.3), (3, 0.4, 0.0), (4, 30.0, 1.5)] {
            let cloud = cloud(seed, 300, edge);
            let settings = TouchSettings { margin, ..TouchSettings::default() };
            let (found, mut pairs) = search(&cloud, &settings);
            assert_eq!(found, pairs.len());
            pairs.sort_unstable();
            assert_eq!(pairs, by_force(&cloud, margin));
        }
    }

    #[test]
    fn a_cut_list_is_a_prefix_of_the_full_one() {
        let cloud = cloud(5, 200, 1.0);
        let (all, full) = search(&cloud, &TouchSettings::default());
        assert!(all > 1_000);
        for capacity in [0, 1, 200] {
            let cut = search(&cloud, &TouchSettings { capacity, ..TouchSettings::default() });
            assert_eq!(cut, (capacity + 1, full[..capacity].to_vec()));
            let counted = TouchSettings { capacity, stop_at_capacity: false, ..TouchSettings::default() };
            assert_eq!(search(&cloud, &counted), (all, full[..capacity].to_vec()));
        }
    }

    #[test]
    fn a_start_that_moves_on_gives_every_row_its_turn() {
        let cloud = cloud(6, 64, 0.2);
        let mut seen = [false; 64];
        for start in 0..64 {
            let settings = TouchSettings { capacity: 4, start, ..TouchSettings::default() };
            search(&cloud, &settings).1.iter().for_each(|&[row, _]| seen[row as usize] = true);
        }
        assert!(seen[..60].iter().all(|&told| told));
    }

    #[test]
    fn hostile_positions_touch_nothing_and_spoil_nothing() {
        let mut cloud = cloud(7, 100, 1.0);
        let clean = by_force(&cloud, 0.0);
        for (axis, value) in [(0, f64::NAN), (1, f64::INFINITY), (2, -1.0e300)] {
            cloud[axis].push(value);
            (0..3).filter(|&other| other != axis).for_each(|other| cloud[other].push(0.0));
        }
        let (_, mut pairs) = search(&cloud, &TouchSettings::default());
        pairs.sort_unstable();
        assert_eq!(pairs, clean);
        let unusable = TouchSettings { margin: f64::NAN, ..TouchSettings::default() };
        assert_eq!(search(&cloud, &unusable).0, 0);
    }
}
