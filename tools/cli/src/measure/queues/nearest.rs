//! The three nearest of many positions: our search beside the plain loop, over columns and over packed positions.

use voxtick::engine::{NearestThree, PackedPosition, nearest_three, nearest_three_packed};

use super::agree;
use crate::measure::{Case, Pair};

/// Queries of one call, so that no branch learns the answer by heart.
const QUERIES: usize = 64;

pub(super) fn cases() -> Vec<Case> {
    [1_000, 100_000].into_iter().flat_map(|count| [columns(count), packed(count)]).collect()
}

fn columns(count: usize) -> Case {
    let items = (count * QUERIES) as u64;
    Case::new(format!("queues/nearest/n={count}"), ("box search", "plain loop"), items, move || {
        let input = Input::new(count);
        let (ours, plain) = (input.clone(), input);
        let ours = move |query| found(nearest_three(&ours.x, &ours.y, &ours.z, query));
        let plain = move |query| {
            let rows = plain.x.iter().zip(&plain.y).zip(&plain.z);
            plain_loop(rows.map(|((&x, &y), &z)| [x, y, z]), query)
        };
        pair(ours, plain)
    })
}

fn packed(count: usize) -> Case {
    let items = (count * QUERIES) as u64;
    Case::new(format!("queues/nearest/packed/n={count}"), ("box search", "plain loop"), items, move || {
        let input = Input::new(count);
        let positions: Vec<PackedPosition> = (0..count).filter_map(|row| input.packed(row)).collect();
        let (ours, plain) = (positions.clone(), positions);
        let ours = move |query| found(nearest_three_packed(&ours, query));
        let plain = move |query| plain_loop(plain.iter().map(|position| position.unpack()), query);
        pair(ours, plain)
    })
}

fn pair(
    ours: impl Fn([i32; 3]) -> Found + 'static,
    plain: impl Fn([i32; 3]) -> Found + 'static,
) -> Result<Pair, crate::measure::CaseError> {
    for query in queries() {
        agree(&ours(query), &plain(query))?;
    }
    let all = |find: &dyn Fn([i32; 3]) -> Found| {
        for query in queries() {
            std::hint::black_box(find(std::hint::black_box(query)));
        }
    };
    Ok(Pair::new(move || all(&ours), move || all(&plain)))
}

/// Distance and row of the three nearest.
type Found = [(i64, usize); 3];

fn found(nearest: NearestThree) -> Found {
    let mut found = [(i64::MAX, usize::MAX); 3];
    for (place, neighbour) in found.iter_mut().zip(nearest.as_slice()) {
        *place = (neighbour.squared_distance, neighbour.index);
    }
    found
}

/// What one would write for positions that are not far apart: no care for differences beyond `i32`.
#[inline]
fn plain_loop(positions: impl Iterator<Item = [i32; 3]>, query: [i32; 3]) -> Found {
    let mut best = [(i64::MAX, usize::MAX); 3];
    for (row, position) in positions.enumerate() {
        let [x, y, z] = [0, 1, 2].map(|axis| i64::from(position[axis]) - i64::from(query[axis]));
        let distance = x * x + y * y + z * z;
        if distance < best[2].0 {
            best = if distance < best[0].0 {
                [(distance, row), best[0], best[1]]
            } else if distance < best[1].0 {
                [best[0], (distance, row), best[1]]
            } else {
                [best[0], best[1], (distance, row)]
            };
        }
    }
    best
}

/// Positions strewn over a world 20,000 wide and 384 high.
#[derive(Clone)]
struct Input {
    x: Vec<i32>,
    y: Vec<i32>,
    z: Vec<i32>,
}

impl Input {
    fn new(count: usize) -> Input {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut column = |width: u64| -> Vec<i32> {
            let mut next = || {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                (random % width) as i32 - (width / 2) as i32
            };
            (0..count).map(|_| next()).collect()
        };
        Input { x: column(20_000), y: column(384), z: column(20_000) }
    }

    fn packed(&self, row: usize) -> Option<PackedPosition> {
        PackedPosition::pack([self.x[row], self.y[row], self.z[row]])
    }
}

fn queries() -> impl Iterator<Item = [i32; 3]> {
    (0..QUERIES as i32).map(|number| [number * 300 - 9_000, number * 7 % 300 - 150, 9_000 - number * 250])
}
