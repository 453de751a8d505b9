//! Which bodies vanish with age, and when.
//!
//! A pool knows by number those that vanish within the next 256 ticks, and of all others only from which tick on one of
//! them may; a heap has the pools by the tick in which something is due. So the age of a body is looked at some thirty
//! times in its five minutes, at the cost of no room for most of them. What is due may turn out to have left, or to have
//! been given a longer life.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::body::Flags;
use crate::pool::{Places, Pool};
use crate::population::Population;
use crate::rules::DESPAWN_AGE;

/// Ticks for which a look at all rows of a pool serves at most.
const SOON: usize = 256;
/// Bodies that a pool may know to vanish soon, however few it has.
const LEAST_KNOWN: usize = 64;

/// When the bodies of a pool vanish.
#[derive(Debug)]
pub(crate) struct Vanishing {
    /// Bodies by the tick in which they are due.
    soon: BinaryHeap<Reverse<(u64, u32)>>,
    /// All that are due before this tick are among them.
    known_until: u64,
    /// No other is due before this tick.
    others_from: u64,
}

impl Default for Vanishing {
    fn default() -> Vanishing {
        Vanishing { soon: BinaryHeap::new(), known_until: 0, others_from: u64::MAX }
    }
}

impl Vanishing {
    /// The tick before which nothing is due.
    pub(crate) fn next(&self) -> u64 {
        self.soon.peek().map_or(u64::MAX, |first| first.0.0).min(self.others_from)
    }

    /// Adds a body of a pool with `rows` rows that is due in the tick `due`, or not before it.
    pub(crate) fn add(&mut self, due: u64, number: u32, rows: usize) {
        if due < self.known_until && self.soon.len() < most_known(rows) {
            self.soon.push(Reverse((due, number)));
        } else {
            self.known_until = self.known_until.min(due);
            self.others_from = self.others_from.min(due);
        }
    }

    fn pop(&mut self, ticks: u64) -> Option<u32> {
        let is_due = self.soon.peek().is_some_and(|first| first.0.0 <= ticks);
        if is_due { self.soon.pop().map(|Reverse((_, number))| number) } else { None }
    }
}

/// Few beside the rows: what is known of a body takes room.
fn most_known(rows: usize) -> usize {
    LEAST_KNOWN + rows / 16
}

impl Population {
    /// Removes what has reached the age of 6,000 ticks.
    pub(crate) fn despawn(&mut self) {
        let ticks = self.ticks;
        while let Some(&Reverse((due, number))) = self.due.peek().filter(|next| next.0.0 <= ticks) {
            self.due.pop();
            let pool = &mut self.pools[number as usize];
            if pool.listed_due != due {
                continue;
            }
            self.movers.clear();
            pool.find_vanishing(number, &self.places, ticks, &mut self.movers);
            pool.listed_due = u64::MAX;
            self.list_due(number);
            for place in 0..self.movers.len() {
                // One that was found twice is gone.
                let id = self.id(self.movers[place]);
                if self.take(id).is_some() {
                    self.ledger.despawned += 1;
                    self.events.despawned.push(id);
                }
            }
        }
    }

    /// To be called when something in a pool may vanish earlier than before.
    pub(crate) fn list_due(&mut self, number: u32) {
        let pool = &mut self.pools[number as usize];
        let next = pool.vanishing.next();
        if next < pool.listed_due {
            pool.listed_due = next;
            self.due.push(Reverse((next, number)));
        }
    }
}

impl Pool {
    /// Ticks until a row vanishes; `None` for one that never does.
    fn ticks_left(&self, row: usize, ticks: u64) -> Option<u64> {
        let is_mortal = !self.rows.flags[row].has(Flags::NEVER_DESPAWN);
        is_mortal.then(|| ticks_until_despawn(self.age_now(row, ticks)))
    }

    /// Adds what vanishes now, when `ticks` ticks have been run, to `found`.
    fn find_vanishing(&mut self, pool: u32, places: &Places, ticks: u64, found: &mut Vec<u32>) {
        while let Some(number) = self.vanishing.pop(ticks) {
            let place = places.find(number).filter(|&(at, _)| at == pool as usize);
            match place.and_then(|(_, row)| self.ticks_left(row, ticks)) {
                Some(0) => found.push(number),
                Some(left) => self.vanishing.add(ticks + left, number, self.rows.len()),
                None => {}
            }
        }
        if self.vanishing.others_from <= ticks {
            self.look_at_all(ticks, found);
        }
    }

    /// Finds out of all rows whether they vanish now, soon or later.
    fn look_at_all(&mut self, ticks: u64, found: &mut Vec<u32>) {
        let mut counts = [0; SOON];
        for left in (0..self.rows.len()).filter_map(|row| self.ticks_left(row, ticks)) {
            if let Some(count) = counts.get_mut(left as usize) {
                *count += 1;
            }
        }
        // Where too many are due soon, as many of the next ticks as they fill.
        let mut known = 0;
        let ticks_known = (1..SOON).take_while(|&left| {
            known += counts[left];
            known <= most_known(self.rows.len())
        });
        let known_until = ticks + 1 + ticks_known.count() as u64;
        self.vanishing.soon.clear();
        self.vanishing.known_until = known_until;
        self.vanishing.others_from = u64::MAX;
        for row in 0..self.rows.len() {
            match self.ticks_left(row, ticks) {
                Some(0) => found.push(self.rows.number[row]),
                Some(left) => self.vanishing.add(ticks + left, self.rows.number[row], self.rows.len()),
                None => {}
            }
        }
    }
}

/// Ticks until a body of this age vanishes.
pub(crate) fn ticks_until_despawn(age: i32) -> u64 {
    u64::from((DESPAWN_AGE.cast_signed() - age).max(0).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use crate::{Population, Settings, Spawn};
    use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, World};

    /// Runs bodies of these ages in one chunk; returns in how many ticks all rows were looked at, and the ages of what
    /// vanished in each.
    fn run(ages: impl Iterator<Item = i16>, ticks: u64) -> (usize, Vec<usize>) {
        let states = BlockStates::load();
        let mut population = Population::new(&states, Settings::default());
        let mut world = World::new(Dimension::overworld(), states);
        world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
        let spawns: Vec<Spawn> = ages
            .map(|age| {
                let place = [8.5, 300_000.0, 8.5];
                Spawn { age: Some(age), ..Spawn::at(place, ItemStack::single(ItemKind(0))) }
            })
            .collect();
        population.spawn(&spawns).expect("room");
        let (mut looks, mut vanished) = (0, Vec::new());
        for tick in 0..ticks {
            let before = (population.pools[0].vanishing.known_until, population.count());
            population.tick(&world, 0, 1);
            world.begin_tick(tick + 1);
            looks += usize::from(population.pools[0].vanishing.known_until != before.0);
            vanished.push(before.1 - population.count());
            let known = population.pools[0].vanishing.soon.len();
            assert!(known <= super::most_known(before.1), "{known} of {} are known", before.1);
        }
        (looks, vanished)
    }

    /// A tick in which one body of a chunk vanished once looked at all of them.
    #[test]
    fn all_are_looked_at_once_while_one_after_another_vanishes() {
        let (looks, vanished) = run((0..3_000).map(|number| 5_999 - number), 700);
        assert_eq!(vanished, [1; 700]);
        assert!(looks <= 1 + 700 / super::most_known(2_300), "{looks} looks");
    }

    /// As many as are not to be known beforehand.
    #[test]
    fn thousands_that_vanish_together_do_so_in_their_tick() {
        let ages = (0..3_000).map(|number| if number % 3 == 0 { 5_900 } else { 5_960 - number % 2 });
        let (looks, vanished) = run(ages, 110);
        let expected: Vec<usize> =
            (1..=110).map(|tick| if tick == 100 || tick == 40 || tick == 41 { 1_000 } else { 0 }).collect();
        assert_eq!(vanished, expected);
        assert!(looks <= 4, "{looks} looks");
    }
}
