//! The state of a search: the best three so far and the box in which a better one must lie.

use super::{LANES, NearestThree, Neighbour, squared_distance};

pub(super) struct Search {
    query: [i32; 3],
    found: NearestThree,
    bounds: [(i32, i32); 3],
}

/// 2^62: below it a distance fits into an `i64` however it was rounded.
const LARGEST_LIMIT: f64 = (1_u64 << 62) as f64;

impl Search {
    #[inline(always)]
    pub(super) fn new(query: [i32; 3]) -> Search {
        Search { query, found: NearestThree::default(), bounds: [(i32::MIN, i32::MAX); 3] }
    }

    /// Lowest and highest coordinate on each axis of what can still be among the nearest three.
    #[inline(always)]
    pub(super) fn bounds(&self) -> [(i32, i32); 3] {
        self.bounds
    }

    /// Tells that three positions are at most so far away.
    #[inline(always)]
    pub(super) fn limit(&mut self, third: f64) {
        // Beyond `i64` all distances are equal, and the lower index decides: no box then.
        if third < LARGEST_LIMIT {
            self.bounds = self.query.map(|centre| bounds_of_ball(centre, third));
        }
    }

    /// Looks closely at those positions of a group whose bits are set. Groups must come in ascending
    /// order.
    #[inline(always)]
    pub(super) fn offer_some(&mut self, mut mask: u32, first: usize, position: impl Fn(usize) -> [i32; 3]) {
        let before = self.found.third();
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            let squared_distance = squared_distance(self.query, position(lane));
            if self.found.third().is_none_or(|third| squared_distance < third) {
                self.found.insert(Neighbour { index: first + lane, squared_distance });
            }
            mask &= mask - 1;
        }
        if let Some(third) = self.found.third()
            && Some(third) != before
        {
            // Once there are three, a fourth of the same distance comes too late. The box may grow
            // by this when it came from a sample, but holds all that matters either way.
            self.limit(third as f64);
        }
    }

    /// Three positions at distance zero: nothing is closer.
    #[inline(always)]
    pub(super) fn is_settled(&self) -> bool {
        self.found.third() == Some(0)
    }

    #[inline(always)]
    pub(super) fn found(self) -> NearestThree {
        self.found
    }
}

/// Where on an axis a position must lie to be at most as far as `third`; sometimes 1 too wide.
#[inline(always)]
fn bounds_of_ball(centre: i32, third: f64) -> (i32, i32) {
    // PERF: a root in `f64` is a few times faster than an exact one in whole numbers. It is wrong by
    // far less than 1, so that one more is always enough; distances decide in the end.
    let radius = third.sqrt() as i64 + 1;
    let clamp = |value: i64| value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    (clamp(i64::from(centre) - radius), clamp(i64::from(centre) + radius))
}

/// The distances of some positions, kept only as the least of each lane: what the third least of
/// them is, no more than a bound for the search.
pub(super) struct Sample {
    query: [f64; 3],
    least: [f64; LANES],
}

impl Sample {
    #[inline(always)]
    pub(super) fn new(query: [i32; 3]) -> Sample {
        Sample { query: query.map(f64::from), least: [f64::INFINITY; LANES] }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, x: &[i32; LANES], y: &[i32; LANES], z: &[i32; LANES]) {
        let [query_x, query_y, query_z] = self.query;
        for lane in 0..LANES {
            // Differences are exact, squares are rounded at the 53rd bit: the bound has room for that.
            let x = f64::from(x[lane]) - query_x;
            let y = f64::from(y[lane]) - query_y;
            let z = f64::from(z[lane]) - query_z;
            let squared_distance = x * x + y * y + z * z;
            let least = self.least[lane];
            self.least[lane] = if squared_distance < least { squared_distance } else { least };
        }
    }

    /// A distance that at least three of the positions are within.
    #[inline(always)]
    pub(super) fn third(&self) -> f64 {
        let mut least = [f64::INFINITY; 3];
        for &value in &self.least {
            let mut value = value;
            for place in &mut least {
                (*place, value) = if value < *place { (value, *place) } else { (*place, value) };
            }
        }
        least[2]
    }
}
