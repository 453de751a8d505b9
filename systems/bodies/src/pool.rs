//! The bodies over one chunk: awake ones first, then sleepers, so that a tick touches a run of rows and no more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::body::{Flags, floor};
use crate::columns::{Columns, NONE, Row};
use crate::kernel::tile::Tile;
use crate::merge::can_merge;
use crate::sleep;
use voxtick_worlds::ChunkPos;

/// The bodies of one chunk.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    pub(crate) chunk: ChunkPos,
    pub(crate) rows: Columns,
    /// How many rows are awake: the first ones.
    pub(crate) awake: usize,
    pub(crate) tile: Tile,
    /// The terrain of the tile has changed.
    pub(crate) stale: bool,
    /// The heights that the tile has to have.
    pub(crate) reach: Option<(i32, i32)>,
    /// How many awake rows have something to deal with.
    pub(crate) pending: u64,
    /// How many rows hold stacks that can merge.
    pub(crate) mergeable: usize,
    /// Until this tick something here may find another to merge with.
    pub(crate) merge_until: u64,
    /// How many rows are frozen.
    frozen: usize,
    /// How many rows are marked as gone.
    gone: usize,
    /// No row is due to vanish before this tick.
    pub(crate) next_due: u64,
    /// The first sleeper over each column of the chunk, by number; empty while there is none.
    heads: Vec<u32>,
}

/// Where the rows of bodies are, by number.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Pool, row and generation of each number.
    places: Vec<u64>,
    /// The lowest comes first, so that which number a body gets does not depend on the order in which others went.
    free: BinaryHeap<Reverse<u32>>,
}

/// Flags of a row that is held and put aside.
const FROZEN: Flags = Flags::SLEEPS.with(Flags::UNLOADED);
const ROW_BITS: u32 = 24;
const POOL_BITS: u32 = 20;
/// Pool number of what does not exist.
const NO_POOL: u32 = (1 << POOL_BITS) - 1;
/// Most pools that there can be.
pub(crate) const POOL_LIMIT: usize = NO_POOL as usize;
/// Most rows that a pool can have.
pub(crate) const ROW_LIMIT: usize = 1 << ROW_BITS;
const GENERATION_SHIFT: u32 = ROW_BITS + POOL_BITS;

impl Places {
    /// Bytes that each number takes.
    pub(crate) const BYTES: usize = size_of::<u64>();

    /// A number that is not in use, with its generation.
    pub(crate) fn take(&mut self) -> Option<(u32, u32)> {
        if let Some(Reverse(number)) = self.free.pop() {
            return Some((number, self.generation(number)));
        }
        let number = u32::try_from(self.places.len()).ok().filter(|&number| number != NONE)?;
        self.places.push(u64::from(NO_POOL) << ROW_BITS);
        Some((number, 0))
    }

    /// Gives a number back; what knows it by its old generation finds nothing from now on.
    pub(crate) fn give_back(&mut self, number: u32) {
        let next = (u64::from(self.generation(number)) + 1) << GENERATION_SHIFT;
        self.places[number as usize] = next | u64::from(NO_POOL) << ROW_BITS;
        self.free.push(Reverse(number));
    }

    pub(crate) fn set(&mut self, number: u32, pool: u32, row: usize) {
        let place = &mut self.places[number as usize];
        *place = *place >> GENERATION_SHIFT << GENERATION_SHIFT | u64::from(pool) << ROW_BITS | row as u64;
    }

    /// Pool and row of a number, if it is in use.
    pub(crate) fn find(&self, number: u32) -> Option<(usize, usize)> {
        let place = *self.places.get(number as usize)?;
        let pool = (place >> ROW_BITS) as u32 & NO_POOL;
        (pool != NO_POOL).then_some((pool as usize, (place & ((1 << ROW_BITS) - 1)) as usize))
    }

    pub(crate) fn generation(&self, number: u32) -> u32 {
        self.places.get(number as usize).map_or(0, |place| (place >> GENERATION_SHIFT) as u32)
    }

    /// How many numbers there have been; all in use are below.
    pub(crate) fn bound(&self) -> u32 {
        self.places.len() as u32
    }

    fn row(&self, number: u32) -> usize {
        (self.places[number as usize] & ((1 << ROW_BITS) - 1)) as usize
    }
}

impl Pool {
    pub(crate) fn new(chunk: ChunkPos) -> Pool {
        Pool { chunk, next_due: u64::MAX, ..Pool::default() }
    }

    /// Adds a row; awake unless it is quarantined.
    pub(crate) fn add(&mut self, row: &Row, pool: u32, places: &mut Places) {
        let at = self.rows.len();
        self.rows.push(row);
        places.set(row.number, pool, at);
        self.mergeable += usize::from(can_merge(&self.rows, at));
        if !row.body.flags.has(Flags::QUARANTINED) {
            self.exchange(at, self.awake, pool, places);
            self.awake += 1;
            let [_, y, _] = row.body.position.map(floor);
            let (low, high) = self.reach.unwrap_or((y, y));
            self.reach = Some((low.min(y - 2), high.max(y + 8)));
        }
    }

    /// Removes a row and returns it as it is in the tick after `ticks` have been run.
    pub(crate) fn remove(&mut self, row: usize, pool: u32, places: &mut Places, ticks: u64) -> Row {
        let removed = self.row_now(row, ticks);
        if row >= self.awake {
            self.unlink(row, places);
        }
        let mut hole = row;
        if row < self.awake {
            self.awake -= 1;
            self.exchange(row, self.awake, pool, places);
            hole = self.awake;
        }
        let last = self.rows.len() - 1;
        self.exchange(hole, last, pool, places);
        self.mergeable -= usize::from(can_merge(&self.rows, last));
        self.rows.swap_remove(last);
        removed
    }

    /// Puts an awake row among the sleepers, with `ticks` run so far, this one included.
    pub(crate) fn put_to_sleep(&mut self, row: usize, pool: u32, places: &mut Places, ticks: u64) {
        self.awake -= 1;
        self.exchange(row, self.awake, pool, places);
        let row = self.awake;
        self.rows.flags[row] = self.rows.flags[row].with(Flags::SLEEPS);
        self.rows.vy[row] = f64::from_bits(ticks);
        if self.heads.is_empty() {
            self.heads.resize(256, NONE);
        }
        let column = self.column(row);
        self.rows.next[row] = self.heads[column];
        self.heads[column] = self.rows.number[row];
    }

    /// Puts a row that is held at the edge of what is loaded aside, with `ticks` run so far, this one included. It stands
    /// still, clock and all, until the terrain changes.
    pub(crate) fn freeze(&mut self, row: usize, pool: u32, places: &mut Places, ticks: u64) {
        self.set_aside(row, pool, places);
        self.rows.flags[self.awake] = self.rows.flags[self.awake].with(Flags::SLEEPS);
        self.rows.next[self.awake] = ticks as u32;
        self.frozen += 1;
    }

    /// Wakes what is frozen.
    pub(crate) fn thaw(&mut self, pool: u32, places: &mut Places, ticks: u64) {
        if self.frozen > 0 {
            for row in self.awake..self.rows.len() {
                if self.rows.flags[row].has(FROZEN) {
                    self.wake(row, pool, places, ticks);
                }
            }
        }
    }

    /// A row as it is when `ticks` ticks have been run.
    pub(crate) fn row_now(&self, row: usize, ticks: u64) -> Row {
        let mut now = self.rows.row(row);
        if now.body.flags.has(FROZEN) {
            let frozen = self.frozen_for(row, ticks);
            now.born = now.born.wrapping_add(frozen);
            let offset = now.body.flags.phase_offset().wrapping_sub(frozen);
            now.body.flags = now.body.flags.without(Flags::SLEEPS).with_phase_offset(offset);
        } else {
            now.body = sleep::woken(&now.body, ticks);
        }
        now
    }

    /// Puts a quarantined row where no tick touches it.
    pub(crate) fn set_aside(&mut self, row: usize, pool: u32, places: &mut Places) {
        self.awake -= 1;
        self.exchange(row, self.awake, pool, places);
    }

    /// Lets a sleeper, or one set aside, take part again.
    pub(crate) fn wake(&mut self, row: usize, pool: u32, places: &mut Places, ticks: u64) {
        if row < self.awake {
            return;
        }
        let Row { body, born, .. } = self.row_now(row, ticks);
        self.unlink(row, places);
        self.rows.set_body(row, &body);
        self.rows.born[row] = born;
        self.exchange(row, self.awake, pool, places);
        let y = floor(body.position[1]);
        let (low, high) = self.reach.unwrap_or((y, y));
        self.reach = Some((low.min(y - 2), high.max(y + 8)));
        self.awake += 1;
    }

    /// Wakes all sleepers.
    pub(crate) fn wake_all(&mut self, pool: u32, places: &mut Places, ticks: u64) {
        for row in self.awake..self.rows.len() {
            if self.rows.flags[row].has(Flags::SLEEPS) {
                self.wake(row, pool, places, ticks);
            }
        }
    }

    /// The age of a row when `ticks` ticks have been run, whether or not it ever vanishes.
    pub(crate) fn age_now(&self, row: usize, ticks: u64) -> i32 {
        let frozen = self.frozen_for(row, ticks);
        (ticks as u32).wrapping_sub(self.rows.born[row]).wrapping_sub(frozen).cast_signed()
    }

    /// Gives a row the age that it has when `ticks` ticks have been run.
    pub(crate) fn set_age(&mut self, row: usize, age: i32, ticks: u64) {
        let frozen = self.frozen_for(row, ticks);
        self.rows.born[row] = (ticks as u32).wrapping_sub(age.cast_unsigned()).wrapping_sub(frozen);
    }

    fn frozen_for(&self, row: usize, ticks: u64) -> u32 {
        let is_frozen = self.rows.flags[row].has(FROZEN);
        if is_frozen { (ticks as u32).wrapping_sub(self.rows.next[row]) } else { 0 }
    }

    /// Marks a row for [`Pool::remove_marked`]. Returns whether it is the first.
    pub(crate) fn mark_gone(&mut self, row: usize) -> bool {
        self.rows.flags[row] = self.rows.flags[row].with(Flags::GONE);
        self.gone += 1;
        self.gone == 1
    }

    /// Removes all marked rows in one pass that keeps the order of the others.
    pub(crate) fn remove_marked(&mut self, pool: u32, places: &mut Places) {
        for row in self.awake..self.rows.len() {
            if self.rows.flags[row].has(Flags::GONE) {
                self.unlink(row, places);
            }
        }
        let (mut kept, mut awake) = (0, 0);
        for row in 0..self.rows.len() {
            if self.rows.flags[row].has(Flags::GONE) {
                self.mergeable -= usize::from(can_merge(&self.rows, row));
                places.give_back(self.rows.number[row]);
                continue;
            }
            if kept != row {
                self.rows.copy(row, kept);
                places.set(self.rows.number[kept], pool, kept);
            }
            kept += 1;
            awake += usize::from(row < self.awake);
        }
        self.rows.truncate(kept);
        self.awake = awake;
        self.gone = 0;
    }

    /// Calls `found` with the number of every sleeper over a column (`z * 16 + x`).
    pub(crate) fn sleepers(&self, column: usize, places: &Places, mut found: impl FnMut(u32, usize)) {
        let mut number = self.heads.get(column).copied().unwrap_or(NONE);
        while number != NONE {
            let row = places.row(number);
            found(number, row);
            number = self.rows.next[row];
        }
    }

    /// Forgets that rows were found clear, because the terrain has changed.
    pub(crate) fn forget_clear(&mut self) {
        for flags in &mut self.rows.flags[..self.awake] {
            *flags = flags.without(Flags::CLEAR);
        }
    }

    fn exchange(&mut self, one: usize, other: usize, pool: u32, places: &mut Places) {
        if one != other {
            self.rows.swap(one, other);
            places.set(self.rows.number[one], pool, one);
            places.set(self.rows.number[other], pool, other);
        }
    }

    fn column(&self, row: usize) -> usize {
        let (x, z) = (floor(self.rows.x[row]), floor(self.rows.z[row]));
        ((z & 15) * 16 + (x & 15)) as usize
    }

    fn unlink(&mut self, row: usize, places: &Places) {
        if !self.rows.flags[row].has(Flags::SLEEPS) {
            return;
        }
        if self.rows.flags[row].has(FROZEN) {
            self.frozen -= 1;
            return;
        }
        let (number, after) = (self.rows.number[row], self.rows.next[row]);
        let column = self.column(row);
        if self.heads[column] == number {
            self.heads[column] = after;
            return;
        }
        let mut at = self.heads[column];
        while at != NONE {
            let before = places.row(at);
            at = self.rows.next[before];
            if at == number {
                self.rows.next[before] = after;
                return;
            }
        }
    }
}
