//! Which sleepers of a pool lie over which columns of blocks, so that a changed block concerns those near it and nothing
//! looks at the others.
//!
//! The rows themselves are sorted by column when blocks have changed near a pool a few times, and what has moved to
//! another row or fallen asleep since then is listed. Cost of looking: O(sleepers over the columns asked for and those beside
//! them + rows listed). When those are more than a sixteenth of all, the order is given up until it pays again.

use crate::changed_cells::SLEEPER_REACH;
use voxtick_worlds::ChunkPos;

/// Columns along one edge that the lowest corner of a sleeper's reach can lie in: those of the chunk and one more to the
/// west and north. What has its corner in one reaches no farther than the next to the east and south.
pub(crate) const EDGE: usize = 17;
/// Rows that may be listed, however few are sorted.
const LEAST_LISTED: usize = 64;
/// Looks at all sleepers before they are sorted, which takes as long as some five of them.
const LOOKS: u8 = 4;

/// A column by `z` and `x`, counted from the one north-west of the chunk; one beyond the last for what lies nowhere.
pub(crate) type Corner = u16;
/// That of a row that does not sleep.
pub(crate) const NOWHERE: Corner = (EDGE * EDGE) as Corner;

/// Where the sleepers over each column are.
#[derive(Debug, Default)]
pub(crate) struct SleeperColumns {
    /// The first row of each column when they were sorted, and the one after the last; none while they are not.
    starts: Vec<u32>,
    /// Rows with others than then.
    listed: Vec<u32>,
    /// Looks at all sleepers since the order was given up.
    looks: u8,
}

/// The column that the lowest corner of a sleeper's reach lies in. It is in this chunk.
pub(crate) fn corner_of(x: f64, z: f64, chunk: ChunkPos) -> Corner {
    // Cutting off rounds down: what is in the chunk reaches no farther than one column to the west or north.
    let column = |along: f64, chunk: i32| (along - SLEEPER_REACH - (f64::from(chunk) * 16.0 - 1.0)) as usize;
    (column(z, chunk.z) * EDGE + column(x, chunk.x)) as Corner
}

impl SleeperColumns {
    /// True where the rows are to be sorted now. Asked once for each look.
    pub(crate) fn wants_order(&mut self) -> bool {
        self.looks = (self.looks + 1).min(LOOKS);
        self.starts.is_empty() && self.looks == LOOKS
    }

    /// Tells the order in which rows from `first` on, which have these corners, are to stand from now on.
    pub(crate) fn sort(&mut self, first: usize, corners: impl Iterator<Item = Corner> + Clone) -> Vec<u32> {
        let mut counts = [0; EDGE * EDGE + 1];
        corners.clone().for_each(|corner| counts[usize::from(corner)] += 1);
        self.starts.clear();
        let mut next = first as u32;
        for count in counts {
            self.starts.push(next);
            next += count;
        }
        let mut places = self.starts.clone();
        let mut order = vec![0; next as usize - first];
        for (row, corner) in (first as u32..).zip(corners) {
            let place = &mut places[usize::from(corner)];
            order[*place as usize - first] = row;
            *place += 1;
        }
        order
    }

    /// To be called when a sleeper has come to a row.
    pub(crate) fn came_to(&mut self, row: usize) {
        let Some(&end) = self.starts.last() else { return };
        let sorted = (end - self.starts[0]) as usize;
        if self.listed.len() >= LEAST_LISTED + sorted / 16 {
            self.give_up();
        } else {
            self.listed.push(row as u32);
        }
    }

    /// Forgets the order.
    pub(crate) fn give_up(&mut self) {
        self.starts.clear();
        self.listed.clear();
        self.looks = 0;
    }

    /// Shows all rows in which a sleeper can lie over one of the columns `near`, a word for each `z`. They are among
    /// `sleepers`, may have none over those columns, and can be shown twice.
    pub(crate) fn visit(
        &mut self,
        near: &[u32; EDGE],
        sleepers: std::ops::Range<usize>,
        mut show: impl FnMut(usize),
    ) {
        if self.starts.is_empty() {
            sleepers.for_each(show);
            return;
        }
        for (z, &line) in near.iter().enumerate() {
            let mut left = line;
            while left != 0 {
                let corner = z * EDGE + left.trailing_zeros() as usize;
                left &= left - 1;
                let [start, end] = [corner, corner + 1].map(|corner| self.starts[corner] as usize);
                (start.max(sleepers.start)..end.min(sleepers.end)).for_each(&mut show);
            }
        }
        self.listed.retain(|&row| sleepers.contains(&(row as usize)));
        self.listed.iter().for_each(|&row| show(row as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changed_cells::ChangedCells;
    use voxtick_worlds::BlockPos;
    use voxtick_worlds::generators::split_mix;

    const HERE: ChunkPos = ChunkPos::new(-2, 3);

    /// Places over the chunk, by number.
    fn place(number: u32) -> [f64; 3] {
        let hash = split_mix(u64::from(number));
        let along = |bits: u64| (bits & 0xFF_FFFF) as f64 / 1_048_576.0;
        [along(hash) - 32.0, 64.0, along(hash >> 24) + 48.0]
    }

    fn corner(number: u32) -> Corner {
        let [x, _, z] = place(number);
        corner_of(x, z, HERE)
    }

    fn changed(cells: &[BlockPos]) -> ChangedCells {
        let mut changed = ChangedCells::default();
        cells.iter().for_each(|&at| changed.add(at, HERE));
        changed.sort();
        changed
    }

    /// Sleepers in rows from 10 on, sorted.
    fn sorted(numbers: &[u32]) -> (SleeperColumns, Vec<u32>) {
        let mut sleepers = SleeperColumns::default();
        let order = sleepers.sort(10, numbers.iter().map(|&number| corner(number)));
        let rows = order.iter().map(|&row| numbers[row as usize - 10]);
        let rows = vec![u32::MAX; 10].into_iter().chain(rows).collect();
        (sleepers, rows)
    }

    /// How many rows are looked at, and the bodies in them that are reached; ascending.
    fn look(sleepers: &mut SleeperColumns, rows: &[u32], changed: &ChangedCells) -> (usize, Vec<u32>) {
        let (mut visits, mut found) = (0, Vec::new());
        sleepers.visit(&changed.corners(), 10..rows.len(), |row| {
            visits += 1;
            found.extend(changed.any_within_reach(place(rows[row]), HERE).then_some(rows[row]));
        });
        found.sort_unstable();
        found.dedup();
        (visits, found)
    }

    #[test]
    fn all_that_a_change_reaches_are_found_wherever_they_lie() {
        let (mut sleepers, mut rows) = sorted(&Vec::from_iter(0..2_000));
        // Some change places, and some fall asleep.
        for number in 0..40 {
            let (one, other) = (10 + number, 1_900 - 13 * number);
            rows.swap(one, other);
            sleepers.came_to(one);
            sleepers.came_to(other);
        }
        for number in 2_000..2_100 {
            sleepers.came_to(rows.len());
            rows.push(number);
        }
        assert!(!sleepers.starts.is_empty(), "the order holds");
        // Every column of the chunk and around it, the corners of both among them.
        for (x, z) in (-34..-14).flat_map(|x| (46..66).map(move |z| (x, z))) {
            let changed = changed(&[BlockPos::new(x, 63, z), BlockPos::new(x, 80, z + 1)]);
            let expected: Vec<u32> =
                (0..2_100).filter(|&number| changed.any_within_reach(place(number), HERE)).collect();
            assert_eq!(look(&mut sleepers, &rows, &changed).1, expected, "{x}, {z}");
        }
    }

    /// A changed block once took a look at every sleeper of its chunk.
    #[test]
    fn a_change_looks_at_no_more_where_more_sleep_elsewhere() {
        let is_near = |number: u32| {
            let [x, _, z] = place(number);
            (x + 19.5).abs() < 2.0 && (z - 55.5).abs() < 2.0
        };
        let near: Vec<u32> = (0..20_000).filter(|&number| is_near(number)).take(60).collect();
        let visits = |others: usize| {
            let elsewhere = (0..).filter(|&number| !is_near(number)).take(others);
            let (mut sleepers, rows) = sorted(&Vec::from_iter(near.iter().copied().chain(elsewhere)));
            look(&mut sleepers, &rows, &changed(&[BlockPos::new(-20, 63, 55)]))
        };
        let (few, reached) = visits(0);
        assert!((1..=60).contains(&few) && !reached.is_empty(), "{few} visits, {reached:?}");
        assert_eq!(visits(19_000), (few, reached));
    }

    /// Rows that are told again and again must not pile up where nobody looks.
    #[test]
    fn the_order_is_given_up_when_much_has_changed_and_pays_again_after_some_looks() {
        let mut sleepers = SleeperColumns::default();
        assert_eq!([(); 4].map(|()| sleepers.wants_order()), [false, false, false, true]);
        (sleepers, _) = sorted(&Vec::from_iter(0..1_600));
        for times in 0..164 {
            sleepers.came_to(10 + times % 5);
            assert_eq!(sleepers.listed.len(), times + 1);
        }
        sleepers.came_to(10);
        assert_eq!((sleepers.starts.len(), sleepers.listed.len()), (0, 0));
        sleepers.came_to(10);
        assert!(sleepers.listed.is_empty(), "nothing is told of rows that are not sorted");
        assert_eq!([(); 4].map(|()| sleepers.wants_order()), [false, false, false, true]);
    }
}
