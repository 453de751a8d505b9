//! The nearest three of many positions, found by skipping what is too far away.
//!
//! Only a position closer than the third found so far matters, and it must lie in the box around the
//! query that just holds the ball of that radius. Whether a position lies in the box takes three
//! subtractions and three comparisons of whole numbers, for 32 positions at a time and without a
//! branch; distances are formed for those few that do. The box shrinks fast, so that of n positions
//! in no particular order only about `6 ln n` are ever looked at closely.

mod dispatch;
mod packed;
mod search;

pub use self::packed::PackedPosition;

use self::search::{Sample, Search};

/// A position that was found and how far away it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Neighbour {
    /// Its row in the columns or slice that were searched.
    pub index: usize,
    /// Its [`squared_distance`] from the query.
    pub squared_distance: i64,
}

/// Up to three positions, nearest first; of two equally far ones the lower index comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NearestThree {
    found: [Neighbour; 3],
    count: usize,
}

impl NearestThree {
    /// What was found: as many as there are positions, and at most three.
    pub fn as_slice(&self) -> &[Neighbour] {
        &self.found[..self.count]
    }

    /// Takes in a neighbour that is closer than the third. Those that came before it stay ahead of
    /// it at the same distance, so that they must come in ascending order of index.
    #[inline]
    pub(crate) fn insert(&mut self, neighbour: Neighbour) {
        self.count = (self.count + 1).min(self.found.len());
        let mut place = self.count - 1;
        while place > 0 && self.found[place - 1].squared_distance > neighbour.squared_distance {
            self.found[place] = self.found[place - 1];
            place -= 1;
        }
        self.found[place] = neighbour;
    }

    /// How far away the third is, once there are three.
    #[inline]
    pub(crate) fn third(&self) -> Option<i64> {
        (self.count == self.found.len()).then(|| self.found[2].squared_distance)
    }
}

/// Square of the distance between two positions; `i64::MAX` if it is larger than that.
///
/// It is exact where no coordinate differs by more than 1,753,413,056, and never wraps round (a
/// squared distance in `i32` does beyond 26,754 along each axis).
///
/// ```
/// use voxtick_engine::squared_distance;
///
/// assert_eq!(squared_distance([1, 2, 3], [4, 6, 3]), 25);
/// assert_eq!(squared_distance([i32::MIN; 3], [i32::MAX; 3]), i64::MAX);
/// ```
#[inline]
pub fn squared_distance(a: [i32; 3], b: [i32; 3]) -> i64 {
    let square = |axis: usize| {
        let difference = u64::from(a[axis].abs_diff(b[axis]));
        difference * difference
    };
    let sum = square(0).saturating_add(square(1)).saturating_add(square(2));
    i64::try_from(sum).unwrap_or(i64::MAX)
}

/// Finds the up to three positions nearest to `query`, by [`squared_distance`], then by index.
///
/// The positions are three columns of coordinates; a row that not all three have is no position.
/// Any coordinates do. Cost: `O(n)`, some tenths of a nanosecond a position in no particular order;
/// positions that come closer and closer, the worst order, cost about as much as
/// [`reference::nearest_three`](crate::reference::nearest_three), which gives the same answer in the
/// plainest way.
///
/// ```
/// use voxtick_engine::{Neighbour, nearest_three};
///
/// let (x, y, z) = ([0, 9, 5, 5], [0, 0, 0, 0], [0, 0, 5, -5]);
/// let nearest = nearest_three(&x, &y, &z, [6, 0, 0]);
/// let rows: Vec<usize> = nearest.as_slice().iter().map(|neighbour| neighbour.index).collect();
/// // Rows 2 and 3 are equally far.
/// assert_eq!(rows, [1, 2, 3]);
/// assert_eq!(nearest.as_slice()[0], Neighbour { index: 1, squared_distance: 9 });
/// ```
pub fn nearest_three(x: &[i32], y: &[i32], z: &[i32], query: [i32; 3]) -> NearestThree {
    let rows = x.len().min(y.len()).min(z.len());
    dispatch::columns([&x[..rows], &y[..rows], &z[..rows]], query)
}

/// Finds the up to three packed positions nearest to `query`: the same answer as [`nearest_three`]
/// gives for the unpacked columns.
///
/// ```
/// use voxtick_engine::{PackedPosition, nearest_three_packed};
///
/// let positions = [[8, 64, -3], [7, 64, -3]].map(|position| PackedPosition::pack(position).unwrap());
/// let nearest = nearest_three_packed(&positions, [0, 64, 0]);
/// assert_eq!(nearest.as_slice()[0].index, 1);
/// assert_eq!(nearest.as_slice()[0].squared_distance, 58);
/// ```
pub fn nearest_three_packed(positions: &[PackedPosition], query: [i32; 3]) -> NearestThree {
    dispatch::packed(positions, query)
}

/// Positions that are looked at together: one bit each in a `u32`.
const LANES: usize = 32;

/// Groups whose distances are all formed first, for a small box to begin with.
///
/// PERF: of 1,000 positions some 40 would otherwise be looked at closely: 654 ns a query against 310.
const SAMPLED_GROUPS: usize = 8;

/// With fewer groups than this, a sample costs more than it saves.
const LEAST_GROUPS: usize = 4;

/// The search over columns of equal length. Inlined into one copy for each instruction set.
#[inline(always)]
fn search_columns([x, y, z]: [&[i32]; 3], query: [i32; 3]) -> NearestThree {
    let mut search = Search::new(query);
    let (x_groups, x_rest) = x.as_chunks::<LANES>();
    let (y_groups, y_rest) = y.as_chunks::<LANES>();
    let (z_groups, z_rest) = z.as_chunks::<LANES>();
    let groups = || x_groups.iter().zip(y_groups).zip(z_groups).map(|((x, y), z)| (x, y, z));
    if x_groups.len() >= LEAST_GROUPS {
        let mut sample = Sample::new(query);
        for (x, y, z) in groups().take(SAMPLED_GROUPS) {
            sample.add(x, y, z);
        }
        search.limit(sample.third());
    }
    let mut ranges = search.bounds().map(Range::new);
    for (group, (x, y, z)) in groups().enumerate() {
        let [x_range, y_range, z_range] = ranges;
        let mut mask = 0;
        for lane in 0..LANES {
            let is_inside = x_range.contains(x[lane]) & y_range.contains(y[lane]) & z_range.contains(z[lane]);
            mask |= if is_inside { 1u32 << lane } else { 0 };
        }
        if mask != 0 {
            search.offer_some(mask, group * LANES, |lane| [x[lane], y[lane], z[lane]]);
            if search.is_settled() {
                return search.found();
            }
            ranges = search.bounds().map(Range::new);
        }
    }
    search.offer_some((1 << x_rest.len()) - 1, x_groups.len() * LANES, |row| {
        [x_rest[row], y_rest[row], z_rest[row]]
    });
    search.found()
}

/// The whole numbers of a range, told by one subtraction and one comparison: what lies below the
/// lowest wraps round to far above the widest.
#[derive(Clone, Copy)]
struct Range {
    lowest: i32,
    width: u32,
}

impl Range {
    #[inline(always)]
    fn new((lowest, highest): (i32, i32)) -> Range {
        Range { lowest, width: highest.wrapping_sub(lowest) as u32 }
    }

    #[inline(always)]
    fn contains(self, value: i32) -> bool {
        value.wrapping_sub(self.lowest) as u32 <= self.width
    }
}
