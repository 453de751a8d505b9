//! Merging of like stacks that lie together.
//!
//! A body looks for others every second tick of its age in which its block position changed, and else every fortieth
//! (Minecraft Java 1.16 onward). Bodies look in ascending order of number and try those they find in ascending order, so
//! that neither threads nor the places of rows matter. Of two stacks the larger takes in the other; of equal ones the one
//! that was found takes in the one that looked. Only whole stacks merge.
//!
//! A pool is looked through only while a stack that can merge is awake in it or beside it, and for forty ticks after:
//! then everything in it has looked once since the last change, and nothing can come of looking again. Cost: O(rows of
//! such pools) for finding who looks, and O(stacks that can merge there) where anybody does.

use crate::body::{Bounds, Flags, floor};
use crate::columns::{Columns, NEVER_PICK_UP};
use crate::despawn::ticks_until_despawn;
use crate::disturb::NEIGHBOURS;
use crate::pool::Pool;
use crate::population::Population;
use crate::rules::DESPAWN_AGE;

/// How far beside its box a body looks.
const REACH: f64 = 0.5;
/// No candidate: the end of a list.
const NONE: u32 = u32::MAX;
/// Ticks of age between two looks of a body that stays where it is.
const RESTING_PERIOD: i32 = 40;

/// True where a stack can ever take in another or be taken in: full ones, those nobody may pick up and those that never
/// vanish cannot.
pub(crate) fn can_merge(columns: &Columns, row: usize) -> bool {
    let [count, max_count] = columns.count[row];
    count < max_count && columns.pickup[row] != NEVER_PICK_UP && !columns.flags[row].has(Flags::NEVER_DESPAWN)
}

/// True where a body of this age looks for others now.
pub(crate) fn looks_now(flags: Flags, age: i32) -> bool {
    // PERF: two divisions by constants instead of one by either: half of what a look at a resting pile took.
    let is_time = if flags.has(Flags::MOVED_BLOCK) { age % 2 == 0 } else { age % RESTING_PERIOD == 0 };
    is_time && age < DESPAWN_AGE.cast_signed() && !flags.has(Flags::UNLOADED)
}

/// True where a body in `bounds` that looks finds one in `other`.
pub(crate) fn finds(bounds: &Bounds, other: &Bounds) -> bool {
    let mut search = *bounds;
    for axis in [0, 2] {
        search.min[axis] -= REACH;
        search.max[axis] += REACH;
    }
    search.overlaps(other)
}

/// The clocks of the stack that results: the longer wait, the younger age. Given and returned as (age, wait from age 0).
pub(crate) fn merged_clocks(one: (i32, i16), other: (i32, i16)) -> (i32, i16) {
    let left = |(age, pickup): (i32, i16)| i32::from(pickup) - age;
    let age = one.0.min(other.0);
    let wait = left(one).max(left(other)) + age;
    (age, wait.clamp(-32_767, 32_767) as i16)
}

/// A stack that can merge, as the search sees it.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    number: u32,
    pool: u32,
    row: u32,
    kind: u32,
    cell: [i32; 2],
    position: [f64; 3],
    age: i32,
    pickup: i16,
    count: u8,
    max_count: u8,
    looks: bool,
    /// It takes no part, or no more.
    gone: bool,
    /// It has taken in others, which its row is told at the end.
    grown: bool,
}

/// Room for the search, kept between ticks.
#[derive(Debug, Default)]
pub(crate) struct MergeScratch {
    candidates: Vec<Candidate>,
    /// One bit for each number that can merge.
    members: Vec<u64>,
    /// First candidate of each bucket, and the least count in it.
    heads: Vec<(u32, u8)>,
    /// Next candidate of the same bucket; ascending by number.
    next: Vec<u32>,
    /// Pools to look through.
    active: Vec<u32>,
    /// Pools that have lost rows.
    thinned: Vec<u32>,
}

impl Population {
    /// Merges what lies together.
    ///
    /// `pools` holds all that have awake rows, and maybe others.
    pub(crate) fn merge(&mut self, pools: &[u32]) {
        let mut scratch = std::mem::take(&mut self.merging);
        self.collect_candidates(&mut scratch, pools);
        if scratch.candidates.iter().any(|candidate| candidate.looks) {
            scratch.fill_buckets();
            for looker in 0..scratch.candidates.len() {
                if scratch.candidates[looker].looks && !scratch.candidates[looker].gone {
                    self.look(looker, &mut scratch);
                }
            }
            for candidate in scratch.candidates.iter().filter(|candidate| candidate.grown) {
                self.pools[candidate.pool as usize].take_in(candidate, self.ticks);
                self.list_due(candidate.pool);
            }
            for &pool in &scratch.thinned {
                self.pools[pool as usize].remove_marked(pool, &mut self.places);
            }
        }
        self.merging = scratch;
    }

    /// Ascending by number.
    fn collect_candidates(&mut self, scratch: &mut MergeScratch, pools: &[u32]) {
        scratch.candidates.clear();
        scratch.active.clear();
        scratch.thinned.clear();
        let until = self.ticks + u64::from(RESTING_PERIOD.cast_unsigned());
        for &number in pools {
            let pool = &mut self.pools[number as usize];
            if pool.mergeable > 0 && pool.awake > 0 {
                pool.merge_until = until;
                if !std::mem::replace(&mut pool.is_merging, true) {
                    self.mergers.push(number);
                }
            }
        }
        self.mergers.retain(|&number| {
            let pool = &mut self.pools[number as usize];
            pool.is_merging = pool.merge_until >= self.ticks;
            pool.is_merging
        });
        // What lies beside a chunk may be found from there.
        for &number in &self.mergers {
            let chunk = self.pools[number as usize].chunk;
            for (x, z) in NEIGHBOURS {
                let near = chunk.checked_offset(x, z).and_then(|near| self.pool_of_chunk.get(&near));
                scratch.active.extend(near.filter(|&&near| self.pools[near as usize].mergeable > 0));
            }
        }
        scratch.active.sort_unstable();
        scratch.active.dedup();
        if !scratch.active.iter().any(|&pool| self.pools[pool as usize].any_looks(self.ticks)) {
            return;
        }
        // One bit a number: reading them off in order costs less than sorting.
        scratch.members.clear();
        scratch.members.resize(self.places.bound() as usize / 64 + 1, 0);
        for &pool in &scratch.active {
            let rows = &self.pools[pool as usize].rows;
            for row in (0..rows.len()).filter(|&row| can_merge(rows, row)) {
                let number = rows.number[row];
                scratch.members[number as usize / 64] |= 1 << (number % 64);
            }
        }
        for word in 0..scratch.members.len() {
            let mut bits = scratch.members[word];
            while bits != 0 {
                let number = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if let Some((pool, row)) = self.places.find(number) {
                    scratch.candidates.push(self.candidate(number, pool, row));
                }
            }
        }
    }

    fn candidate(&self, number: u32, pool: usize, row: usize) -> Candidate {
        let rows = &self.pools[pool].rows;
        let age = self.pools[pool].age_now(row, self.ticks);
        let position = [rows.x[row], rows.y[row], rows.z[row]];
        let [count, max_count] = rows.count[row];
        Candidate {
            number,
            pool: pool as u32,
            row: row as u32,
            kind: rows.kind[row].0,
            cell: [floor(position[0]), floor(position[2])],
            position,
            age,
            pickup: rows.pickup[row],
            count,
            max_count,
            looks: looks_now(rows.flags[row], age),
            // One that is about to vanish, or is no sane body, takes no part.
            gone: age >= DESPAWN_AGE.cast_signed() || rows.flags[row].has(Flags::QUARANTINED),
            grown: false,
        }
    }

    /// Lets one body look for others.
    fn look(&mut self, looker: usize, scratch: &mut MergeScratch) {
        let seeker = &scratch.candidates[looker];
        let bounds = bounds_at(seeker.position);
        let low = [0, 2].map(|axis| floor(seeker.position[axis] - 0.75));
        let high = [0, 2].map(|axis| floor(seeker.position[axis] + 0.75));
        // One list a column: at most two columns along each axis, three where the middle one is crossed whole.
        let mut cursors = [NONE; 9];
        let mut lists = 0;
        for x in low[0]..=high[0] {
            for z in low[1]..=high[1] {
                let (head, least) = scratch.heads[scratch.bucket(seeker.kind, [x, z])];
                if head != NONE && u16::from(least) + u16::from(seeker.count) <= u16::from(seeker.max_count) {
                    cursors[lists] = head;
                    lists += 1;
                }
            }
        }
        loop {
            // The lowest number of all lists: candidates are in ascending order.
            let Some(list) =
                (0..lists).filter(|&list| cursors[list] != NONE).min_by_key(|&list| cursors[list])
            else {
                return;
            };
            let place = cursors[list] as usize;
            cursors[list] = scratch.next_alive(place);
            let (found, seeker) = (&scratch.candidates[place], &scratch.candidates[looker]);
            if place == looker
                || found.gone
                || found.kind != seeker.kind
                || found.max_count != seeker.max_count
                || u16::from(found.count) + u16::from(seeker.count) > u16::from(seeker.max_count)
                || !finds(&bounds, &bounds_at(found.position))
            {
                continue;
            }
            let MergeScratch { candidates, thinned, .. } = &mut *scratch;
            if candidates[place].count < candidates[looker].count {
                self.merge_pair(place, looker, candidates, thinned);
                if candidates[looker].gone {
                    return;
                }
            } else {
                self.merge_pair(looker, place, candidates, thinned);
                return;
            }
        }
    }

    fn merge_pair(&mut self, from: usize, into: usize, candidates: &mut [Candidate], thinned: &mut Vec<u32>) {
        // PERF: field by field; a copy of a candidate right after a write to it waits for that write.
        let giver = &mut candidates[from];
        giver.gone = true;
        // What it had taken in goes with it.
        giver.grown = false;
        let Candidate { number, pool, row, count, age, pickup, .. } = *giver;
        let taker = &mut candidates[into];
        taker.count += count;
        taker.gone = taker.count == taker.max_count;
        taker.grown = true;
        (taker.age, taker.pickup) = merged_clocks((age, pickup), (taker.age, taker.pickup));
        if self.pools[pool as usize].mark_gone(row as usize) {
            thinned.push(pool);
        }
        if !self.records.is_empty() {
            self.records.remove(&number);
        }
        self.count -= 1;
        self.ledger.merged += 1;
        self.events.merged.push((self.id(number), self.id(taker.number)));
    }
}

impl Pool {
    /// Writes what a stack has become to its row.
    fn take_in(&mut self, grown: &Candidate, ticks: u64) {
        let row = grown.row as usize;
        self.mergeable -= usize::from(grown.count == grown.max_count);
        self.set_age(row, grown.age, ticks);
        self.rows.pickup[row] = grown.pickup;
        self.rows.count[row][0] = grown.count;
        self.vanishing.add(ticks + ticks_until_despawn(grown.age), grown.number, self.rows.len());
    }

    /// True where a row looks for others when `ticks` ticks have been run. While all sleep, the next time is worked out
    /// once.
    fn any_looks(&mut self, ticks: u64) -> bool {
        if self.awake == 0 && ticks < self.next_look {
            return false;
        }
        let mut wait = u64::MAX;
        for row in (0..self.rows.len()).filter(|&row| can_merge(&self.rows, row)) {
            let (flags, age) = (self.rows.flags[row], self.age_now(row, ticks));
            if looks_now(flags, age) {
                return true;
            }
            let period = if flags.has(Flags::MOVED_BLOCK) { 1 } else { RESTING_PERIOD };
            wait = wait.min(u64::from((period - age.rem_euclid(period)).cast_unsigned()));
        }
        self.next_look = ticks.saturating_add(wait);
        false
    }
}

fn bounds_at(position: [f64; 3]) -> Bounds {
    crate::body::Body::new(position, [0.0; 3]).bounds()
}

impl MergeScratch {
    fn bucket(&self, kind: u32, [x, z]: [i32; 2]) -> usize {
        // PERF: three products that do not wait for each other; a body asks for up to nine columns.
        let product = |value: u32, factor: u64| u64::from(value).wrapping_mul(factor);
        let hash = product(x.cast_unsigned(), 0x9E37_79B9_7F4A_7C15)
            ^ product(z.cast_unsigned(), 0xC2B2_AE3D_27D4_EB4F)
            ^ product(kind, 0x1656_67B1_9E37_79F9);
        (hash >> 32) as usize & (self.heads.len() - 1)
    }

    fn fill_buckets(&mut self) {
        self.heads.clear();
        self.heads.resize((self.candidates.len() * 2).next_power_of_two(), (NONE, u8::MAX));
        self.next.clear();
        self.next.resize(self.candidates.len(), NONE);
        // From the last on, so that each list ascends.
        for place in (0..self.candidates.len()).rev() {
            let candidate = self.candidates[place];
            if candidate.gone {
                continue;
            }
            let bucket = self.bucket(candidate.kind, candidate.cell);
            let (head, least) = &mut self.heads[bucket];
            self.next[place] = *head;
            *head = place as u32;
            *least = (*least).min(candidate.count);
        }
    }

    /// The next candidate of the list that is not gone; those between are taken out of it.
    fn next_alive(&mut self, place: usize) -> u32 {
        let mut next = self.next[place];
        while next != NONE && self.candidates[next as usize].gone {
            next = self.next[next as usize];
        }
        self.next[place] = next;
        next
    }
}
