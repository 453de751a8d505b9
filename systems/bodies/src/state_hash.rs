//! One number for the state of all bodies, which costs what is awake and what changed.
//!
//! It is the sum of a number for each body, so that no order matters. What sleeps repeats itself every four ticks: a
//! pool keeps the sums of its sleepers for all four, and forgets them when one of them comes, goes or changes.

use std::sync::{Mutex, PoisonError};

use crate::columns::Row;
use crate::pool::{Places, Pool};
use crate::population::Population;
use voxtick_worlds::generators::split_mix;

/// Horizontal speeds below this count as none. Bodies at rest keep such for some 5,000 ticks, though nothing moves.
const LEAST_SPEED: f64 = 1.0 / (1_u64 << 40) as f64;

/// The sums of a pool's sleepers in ticks that leave 0, 1, 2 and 3 by division by four, while they are known.
#[derive(Debug, Default)]
pub(crate) struct SleeperSums(Mutex<Option<[u64; 4]>>);

impl SleeperSums {
    /// To be called when a sleeper comes, goes or changes.
    pub(crate) fn forget(&mut self) {
        *self.0.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Population {
    /// A number for the state of all bodies: equal for equal states in the same tick, whichever bodies sleep and in
    /// whatever order chunks were loaded.
    ///
    /// Speeds below 2^-40 blocks a tick along `x` and `z` count as none. Costs O(awake bodies + sleepers of chunks in
    /// which one fell asleep, woke or changed in the last 200 ticks or so).
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        self.pools
            .iter()
            .fold(0, |sum: u64, pool| sum.wrapping_add(pool.state_hash(&self.places, self.ticks)))
    }
}

impl Pool {
    fn state_hash(&self, places: &Places, ticks: u64) -> u64 {
        let awake = sum_of(self, 0..self.awake, places, ticks);
        if self.awake == self.rows.len() {
            return awake;
        }
        let mut known = self.sleeper_sums.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sleepers = self.awake..self.rows.len();
        let sums = match *known {
            Some(sums) => sums,
            None if self.is_settled(ticks) => {
                let mut sums = [0; 4];
                for later in ticks..ticks + 4 {
                    sums[later as usize % 4] = sum_of(self, sleepers.clone(), places, later);
                }
                *known = Some(sums);
                sums
            }
            None => [sum_of(self, sleepers, places, ticks); 4],
        };
        awake.wrapping_add(sums[ticks as usize % 4])
    }

    /// True where nothing of a sleeper changes any more that counts.
    fn is_settled(&self, ticks: u64) -> bool {
        let slides = |row: usize| {
            let [vx, _, vz] = self.row_now(row, ticks).body.velocity;
            vx.abs() >= LEAST_SPEED || vz.abs() >= LEAST_SPEED
        };
        !self.any_frozen() && !(self.awake..self.rows.len()).any(slides)
    }
}

fn sum_of(pool: &Pool, rows: std::ops::Range<usize>, places: &Places, ticks: u64) -> u64 {
    rows.fold(0, |sum, row| {
        let now = pool.row_now(row, ticks);
        sum.wrapping_add(hash_of(&now, places.generation(now.number)))
    })
}

fn hash_of(row: &Row, generation: u32) -> u64 {
    let [x, y, z] = row.body.position.map(f64::to_bits);
    let [vx, vy, vz] = row.body.velocity;
    let side = |speed: f64| if speed.abs() < LEAST_SPEED { 0 } else { speed.to_bits() };
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let counts = u32::from(row.stack.count) << 24 | u32::from(row.stack.max_count) << 16;
    [
        x,
        y,
        z,
        side(vx),
        vy.to_bits(),
        side(vz),
        pair(row.number, generation),
        pair(row.body.flags.results().0, row.stack.kind.0),
        pair(counts | u32::from(row.pickup.cast_unsigned()), row.born),
    ]
    .into_iter()
    .fold(0, |hash, word| split_mix(hash.rotate_left(1) ^ word))
}
