//! Which chunks stay: those near a point of interest.

use voxtick_worlds::ChunkPos;

/// How much further than they stay wanted chunks are kept, so that a point that goes to and fro at a border does not
/// load and drop the same chunks again and again.
pub(super) const MARGIN: u32 = 2;

/// The chunks within a square around each of the points.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Range {
    pub(super) points: Vec<ChunkPos>,
    /// `None` where everything stays.
    pub(super) radius: Option<u32>,
}

/// The chunks of a rectangle, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Square {
    x: (i64, i64),
    z: (i64, i64),
}

impl Range {
    /// Whether a chunk stays, the margin included.
    pub(super) fn keeps(&self, position: ChunkPos) -> bool {
        let Some(radius) = self.radius else { return true };
        self.points.iter().any(|point| {
            let far = position.x.abs_diff(point.x).max(position.z.abs_diff(point.z));
            far <= radius.saturating_add(MARGIN)
        })
    }

    /// The positions that were kept by `before` and are not by this range. Costs what the points have moved by, not what
    /// they cover.
    ///
    /// `None` where that is more than `most` positions, or all of them: look at what there is instead.
    pub(super) fn left_since(&self, before: &Range, most: u64) -> Option<Vec<ChunkPos>> {
        if self.radius.is_none() {
            return Some(Vec::new());
        }
        before.radius?;
        let now = self.squares();
        let mut strips = Vec::new();
        for was in before.squares() {
            // What the nearest square covers too is passed over unseen.
            match now.iter().min_by_key(|square| square.distance(&was)) {
                Some(nearest) => strips.extend(was.outside(nearest)),
                None => strips.push(was),
            }
        }
        if strips.iter().map(Square::area).fold(0, u64::saturating_add) > most {
            return None;
        }
        let positions = strips.iter().flat_map(Square::positions);
        Some(positions.filter(|position| !self.keeps(*position)).collect())
    }

    fn squares(&self) -> Vec<Square> {
        let reach = i64::from(self.radius.unwrap_or(0).saturating_add(MARGIN));
        let within = |at: i64| at.clamp(i32::MIN.into(), i32::MAX.into());
        let around = |at: i32| (within(i64::from(at) - reach), within(i64::from(at) + reach));
        self.points.iter().map(|point| Square { x: around(point.x), z: around(point.z) }).collect()
    }
}

impl Square {
    fn distance(&self, other: &Square) -> i64 {
        (self.x.0 - other.x.0).abs().max((self.z.0 - other.z.0).abs())
    }

    fn area(&self) -> u64 {
        let length = |(from, to): (i64, i64)| (to - from + 1).unsigned_abs();
        length(self.x).saturating_mul(length(self.z))
    }

    fn positions(&self) -> impl Iterator<Item = ChunkPos> + use<> {
        let (x, z) = (self.x, self.z);
        // Squares end where positions do.
        (x.0..=x.1).flat_map(move |x| (z.0..=z.1).map(move |z| ChunkPos::new(x as i32, z as i32)))
    }

    /// What of this square another does not cover, in rectangles.
    fn outside(self, other: &Square) -> Vec<Square> {
        let shared = (self.x.0.max(other.x.0), self.x.1.min(other.x.1));
        let beside = runs_outside(self.x, other.x).map(|x| Square { x, z: self.z });
        let above = runs_outside(self.z, other.z).map(|z| Square { x: shared, z });
        beside.chain(above.filter(|square| square.x.0 <= square.x.1)).collect()
    }
}

/// The runs of `own` that lie outside `other`.
fn runs_outside(own: (i64, i64), other: (i64, i64)) -> impl Iterator<Item = (i64, i64)> {
    let before = (own.0, own.1.min(other.0 - 1));
    let after = (own.0.max(other.1 + 1), own.1);
    [before, after].into_iter().filter(|(from, to)| from <= to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(points: &[(i32, i32)], radius: u32) -> Range {
        Range { points: points.iter().map(|(x, z)| ChunkPos::new(*x, *z)).collect(), radius: Some(radius) }
    }

    #[test]
    fn a_step_looks_at_one_row_only() {
        let (before, after) = (range(&[(0, 0)], 10), range(&[(1, 0)], 10));
        let left = after.left_since(&before, u64::MAX).expect("little has changed");
        assert_eq!(left, (-12..=12).map(|z| ChunkPos::new(-12, z)).collect::<Vec<_>>());
        assert_eq!(before.left_since(&before, 0), Some(Vec::new()));
    }

    #[test]
    fn the_end_of_the_world_is_no_border() {
        let corner = range(&[(i32::MAX, i32::MIN)], u32::MAX);
        assert!(corner.keeps(ChunkPos::new(i32::MIN, i32::MAX)));
        let before = range(&[(i32::MAX, i32::MAX)], 1);
        let left = range(&[(i32::MAX - 1, i32::MAX)], 1).left_since(&before, u64::MAX);
        assert_eq!(left, Some(Vec::new()), "what would be left lies beyond the end");
        let wide = range(&[(0, 0)], u32::MAX);
        assert_eq!(range(&[(0, 0)], 1).left_since(&wide, 1 << 20), None, "too many to look at");
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_was_kept_and_is_not(
            before in prop::collection::vec((-6..6, -6..6), 0..4),
            after in prop::collection::vec((-6..6, -6..6), 0..4),
            radii in (0..4_u32, 0..4_u32),
        ) {
            let (before, after) = (range(&before, radii.0), range(&after, radii.1));
            let mut left = after.left_since(&before, u64::MAX).expect("within bounds");
            left.sort();
            left.dedup();
            let all = (-20..20).flat_map(|x| (-20..20).map(move |z| ChunkPos::new(x, z)));
            let plain: Vec<ChunkPos> = all.filter(|at| before.keeps(*at) && !after.keeps(*at)).collect();
            prop_assert_eq!(left, plain);
        }
    }
}
