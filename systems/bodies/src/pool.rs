//! The bodies over one chunk: awake ones first, then sleepers, so that a tick touches a run of rows and no more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::body::{Flags, floor};
use crate::changed_cells::Way;
use crate::columns::{Columns, Row};
use crate::despawn::{Vanishing, ticks_until_despawn};
use crate::disturb::Reached;
use crate::kernel::tile::Tile;
use crate::merge::can_merge;
use crate::settle::Settled;
use crate::sleep;
use crate::sleeper_columns::SleeperColumns;
use crate::state_hash::SleeperSums;
use rustc_hash::FxHashMap;
use voxtick_engine::DirtySet;
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
    /// It is listed as one in which something may.
    pub(crate) is_merging: bool,
    /// While all sleep, none looks for others to merge with before this tick.
    pub(crate) next_look: u64,
    /// How many rows are marked as gone.
    gone: usize,
    pub(crate) vanishing: Vanishing,
    /// The tick for which it is listed as due.
    pub(crate) listed_due: u64,
    /// What is kept of frozen rows, by number: few are at any time.
    pub(crate) frozen: FxHashMap<u32, Frozen>,
    pub(crate) sleepers: SleeperColumns,
    pub(crate) sleeper_sums: SleeperSums,
    pub(crate) settled: Settled,
    pub(crate) reached: Reached,
    /// Places in a batch of throws of those that hit bodies here.
    pub(crate) thrown: Vec<usize>,
}

/// Where the rows of bodies are, by number, and which pools have awake ones.
#[derive(Debug)]
pub(crate) struct Places {
    /// Pool, row and generation of each number. Atomic so that pools may move their rows on threads of their own: no two
    /// write to one number at a time.
    places: Vec<AtomicU64>,
    /// The lowest comes first, so that which number a body gets does not depend on the order in which others went.
    free: BinaryHeap<Reverse<u32>>,
    /// Between ticks, at least the pools with awake rows. Marked by whatever thread works on a pool.
    pub(crate) restless: DirtySet,
}

/// What is kept of a row that is held and put aside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frozen {
    /// Ticks run by then, cut to 32 bits.
    since: u32,
    pub(crate) way: Way,
}

/// Flags of a row that is held and put aside.
pub(crate) const FROZEN: Flags = Flags::SLEEPS.with(Flags::UNLOADED);
const ROW_BITS: u32 = 24;
const POOL_BITS: u32 = 20;
/// Pool number of what does not exist.
const NO_POOL: u32 = (1 << POOL_BITS) - 1;
/// Most pools that there can be.
pub(crate) const POOL_LIMIT: usize = NO_POOL as usize;
/// Most rows that a pool can have.
pub(crate) const ROW_LIMIT: usize = if cfg!(test) { 1 << 14 } else { 1 << ROW_BITS };
const GENERATION_SHIFT: u32 = ROW_BITS + POOL_BITS;

impl Places {
    /// Bytes that each number takes.
    pub(crate) const BYTES: usize = size_of::<u64>();

    /// No numbers in use, and no pools.
    pub(crate) fn new() -> Places {
        let restless = DirtySet::with_limit(POOL_LIMIT as u32);
        Places { places: Vec::new(), free: BinaryHeap::new(), restless }
    }

    /// Notes that a pool has awake rows. It has a number below [`POOL_LIMIT`], which the set takes.
    pub(crate) fn mark_restless(&self, pool: u32) {
        let _ = self.restless.mark(pool);
    }

    /// A number that is not in use, with its generation.
    pub(crate) fn take(&mut self) -> Option<(u32, u32)> {
        while let Some(Reverse(number)) = self.free.pop() {
            // One that has been claimed meanwhile is still listed.
            if self.find(number).is_none() {
                return Some((number, self.generation(number)));
            }
        }
        let number = u32::try_from(self.places.len()).ok().filter(|&number| number != u32::MAX)?;
        self.places.push(AtomicU64::new(u64::from(NO_POOL) << ROW_BITS));
        Some((number, 0))
    }

    /// A number that was in use before, if nobody else has it now; otherwise any. As in [`Places::take`], a row has to be
    /// set for it before the next number is asked for.
    pub(crate) fn claim(&mut self, number: u32) -> Option<(u32, u32)> {
        if number < self.bound() && self.find(number).is_none() {
            return Some((number, self.generation(number)));
        }
        self.take()
    }

    /// Gives a number back; what knows it by its old generation finds nothing from now on.
    pub(crate) fn give_back(&mut self, number: u32) {
        let next = (u64::from(self.generation(number)) + 1) << GENERATION_SHIFT;
        *self.places[number as usize].get_mut() = next | u64::from(NO_POOL) << ROW_BITS;
        self.free.push(Reverse(number));
    }

    pub(crate) fn set(&self, number: u32, pool: u32, row: usize) {
        let place = &self.places[number as usize];
        let generation = place.load(Relaxed) >> GENERATION_SHIFT << GENERATION_SHIFT;
        place.store(generation | u64::from(pool) << ROW_BITS | row as u64, Relaxed);
    }

    /// Pool and row of a number, if it is in use.
    pub(crate) fn find(&self, number: u32) -> Option<(usize, usize)> {
        let place = self.places.get(number as usize)?.load(Relaxed);
        let pool = (place >> ROW_BITS) as u32 & NO_POOL;
        (pool != NO_POOL).then_some((pool as usize, (place & ((1 << ROW_BITS) - 1)) as usize))
    }

    pub(crate) fn generation(&self, number: u32) -> u32 {
        self.places.get(number as usize).map_or(0, |place| (place.load(Relaxed) >> GENERATION_SHIFT) as u32)
    }

    /// How many numbers there have been; all in use are below.
    pub(crate) fn bound(&self) -> u32 {
        self.places.len() as u32
    }
}

impl Pool {
    pub(crate) fn new(chunk: ChunkPos) -> Pool {
        Pool { chunk, listed_due: u64::MAX, ..Pool::default() }
    }

    /// Adds a row, and looks to it that it vanishes in time.
    pub(crate) fn take_over(&mut self, row: &Row, pool: u32, places: &Places, ticks: u64) {
        self.add(row, pool, places);
        if !row.body.flags.has(Flags::NEVER_DESPAWN) {
            let age = (ticks as u32).wrapping_sub(row.born).cast_signed();
            self.vanishing.add(ticks + ticks_until_despawn(age), row.number, self.rows.len());
        }
    }

    /// Adds a row; awake unless it is quarantined.
    fn add(&mut self, row: &Row, pool: u32, places: &Places) {
        let at = self.rows.len();
        self.rows.push(row);
        places.set(row.number, pool, at);
        self.mergeable += usize::from(can_merge(&self.rows, at));
        if row.body.flags.has(Flags::QUARANTINED) {
            self.sleepers_changed();
        } else {
            self.exchange(at, self.awake, pool, places);
            self.sleepers.came_to(at);
            self.one_more_awake(row.body.position[1], pool, places);
        }
    }

    /// Removes a row and returns it as it is in the tick after `ticks` have been run.
    pub(crate) fn remove(&mut self, row: usize, pool: u32, places: &Places, ticks: u64) -> Row {
        let removed = self.row_now(row, ticks);
        if row >= self.awake {
            self.forget_sleeper(row);
        }
        self.mergeable -= usize::from(can_merge(&self.rows, row));
        // PERF: two rows move up; exchanged, what goes would be written twice more.
        let mut hole = row;
        if row < self.awake {
            self.awake -= 1;
            self.move_row(self.awake, row, pool, places);
            hole = self.awake;
        }
        let last = self.rows.len() - 1;
        self.move_row(last, hole, pool, places);
        self.sleepers.came_to(hole);
        self.rows.truncate(last);
        removed
    }

    /// Puts an awake row among the sleepers, with `ticks` run so far, this one included; its speed decays by `slide`.
    pub(crate) fn put_to_sleep(&mut self, row: usize, slide: Flags, pool: u32, places: &Places, ticks: u64) {
        self.set_aside(row, pool, places);
        let row = self.awake;
        self.rows.flags[row] = self.rows.flags[row].with(Flags::SLEEPS).with(slide);
        self.rows.vy[row] = f64::from_bits(ticks);
        self.sleepers.came_to(row);
    }

    /// Puts a row that is held at the edge of what is loaded aside, with `ticks` run so far, this one included. It stands
    /// still, clock and all, until the terrain changes.
    pub(crate) fn freeze(&mut self, row: usize, pool: u32, places: &Places, ticks: u64) {
        self.set_aside(row, pool, places);
        self.rows.flags[self.awake] = self.rows.flags[self.awake].with(Flags::SLEEPS);
        let way = Way::of(&self.rows.body(self.awake), self.chunk);
        self.frozen.insert(self.rows.number[self.awake], Frozen { since: ticks as u32, way });
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

    /// Puts a row where no tick touches it, such as a quarantined one.
    pub(crate) fn set_aside(&mut self, row: usize, pool: u32, places: &Places) {
        self.sleepers_changed();
        self.awake -= 1;
        self.exchange(row, self.awake, pool, places);
    }

    /// Lets a sleeper, or one set aside, take part again.
    pub(crate) fn wake(&mut self, row: usize, pool: u32, places: &Places, ticks: u64) {
        if row < self.awake {
            return;
        }
        let Row { mut body, born, .. } = self.row_now(row, ticks);
        // What woke it may be in its way.
        body.flags = body.flags.without(Flags::CLEAR);
        self.forget_sleeper(row);
        self.rows.set_body(row, &body);
        self.rows.born[row] = born;
        self.exchange(row, self.awake, pool, places);
        self.sleepers.came_to(row);
        self.one_more_awake(body.position[1], pool, places);
    }

    /// The first row after the awake ones, which is at this height, has become one of them.
    fn one_more_awake(&mut self, y: f64, pool: u32, places: &Places) {
        self.reach_to(y);
        if self.awake == 0 {
            places.mark_restless(pool);
        }
        self.awake += 1;
    }

    /// Lets the tile have the heights that a body at `y` can meet in a tick.
    pub(crate) fn reach_to(&mut self, y: f64) {
        let y = floor(y);
        let (low, high) = self.reach.unwrap_or((y, y));
        self.reach = Some((low.min(y - 2), high.max(y + 8)));
    }

    /// Wakes all sleepers.
    pub(crate) fn wake_all(&mut self, pool: u32, places: &Places, ticks: u64) {
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

    /// Gives a row the age that it has when `ticks` ticks have been run. What else of it is to change may change too.
    pub(crate) fn set_age(&mut self, row: usize, age: i32, ticks: u64) {
        self.sleepers_changed();
        let frozen = self.frozen_for(row, ticks);
        self.rows.born[row] = (ticks as u32).wrapping_sub(age.cast_unsigned()).wrapping_sub(frozen);
    }

    fn frozen_for(&self, row: usize, ticks: u64) -> u32 {
        if !self.rows.flags[row].has(FROZEN) {
            return 0;
        }
        let frozen = self.frozen.get(&self.rows.number[row]);
        frozen.map_or(0, |frozen| (ticks as u32).wrapping_sub(frozen.since))
    }

    /// Marks a row for [`Pool::remove_marked`]. Returns whether it is the first.
    pub(crate) fn mark_gone(&mut self, row: usize) -> bool {
        self.rows.flags[row] = self.rows.flags[row].with(Flags::GONE);
        self.gone += 1;
        self.gone == 1
    }

    /// Removes all marked rows in one pass that keeps the order of the others.
    pub(crate) fn remove_marked(&mut self, pool: u32, places: &mut Places) {
        self.sleepers.give_up();
        for row in self.awake..self.rows.len() {
            if self.rows.flags[row].has(Flags::GONE) {
                self.forget_sleeper(row);
            }
        }
        let (mut kept, mut awake) = (0, 0);
        for row in 0..self.rows.len() {
            if self.rows.flags[row].has(Flags::GONE) {
                self.mergeable -= usize::from(can_merge(&self.rows, row));
                places.give_back(self.rows.number[row]);
                continue;
            }
            self.move_row(row, kept, pool, places);
            kept += 1;
            awake += usize::from(row < self.awake);
        }
        self.rows.truncate(kept);
        self.awake = awake;
        self.gone = 0;
    }

    /// Forgets that rows were found clear, because the terrain has changed.
    pub(crate) fn forget_clear(&mut self) {
        for flags in &mut self.rows.flags[..self.awake] {
            *flags = flags.without(Flags::CLEAR);
        }
    }

    /// Writes a row over another.
    fn move_row(&mut self, from: usize, to: usize, pool: u32, places: &Places) {
        if from != to {
            self.rows.copy(from, to);
            places.set(self.rows.number[to], pool, to);
        }
    }

    fn exchange(&mut self, one: usize, other: usize, pool: u32, places: &Places) {
        if one != other {
            self.rows.swap(one, other);
            places.set(self.rows.number[one], pool, one);
            places.set(self.rows.number[other], pool, other);
        }
    }

    /// To be called when a sleeper comes, goes or changes.
    pub(crate) fn sleepers_changed(&mut self) {
        self.sleeper_sums.forget();
        self.next_look = 0;
    }

    /// True where a row is frozen: its clock is put back every tick.
    pub(crate) fn any_frozen(&self) -> bool {
        !self.frozen.is_empty()
    }

    /// Forgets what is kept beside the row of a sleeper.
    fn forget_sleeper(&mut self, row: usize) {
        self.sleepers_changed();
        if self.rows.flags[row].has(FROZEN) {
            self.frozen.remove(&self.rows.number[row]);
        }
    }
}
