//! One tick of all bodies: look at what changed, move, deal with what came of it, age, merge.

use std::sync::Mutex;

use crate::body::Flags;
use crate::kernel::Tally;
use crate::parallel::{Shared, step_pools};
use crate::population::Population;
use crate::rules::{DESPAWN_AGE, Moment, VOID_DEPTH};
use crate::settle::Aftermath;
use voxtick_worlds::World;

impl Population {
    /// Runs one tick over `world`, in parallel on the rayon pool that it is called in, which has `threads` threads.
    ///
    /// The same for every number of threads. Reads the world's changes since the last call, so it must be called in
    /// every tick of the world.
    pub fn tick(&mut self, world: &World, seed: u64, threads: usize) -> Tally {
        self.events.clear();
        while self.scratch.len() <= threads {
            self.scratch.push(Mutex::default());
        }
        self.follow_terrain(world);
        let shared = Shared {
            world,
            materials: &self.materials,
            rules: &self.settings.rules,
            moment: Moment { tick: self.ticks, seed },
            path: self.settings.path,
            aftermath: Aftermath {
                places: &self.places,
                inlets: &self.inlets,
                ticks: self.ticks + 1,
                lost_below: f64::from(world.dimension().min_y() - VOID_DEPTH),
                sleeping: self.settings.sleeping,
            },
            scratch: &self.scratch,
        };
        let tally = step_pools(&mut self.pools, shared);
        self.ticks += 1;
        self.gather_settled();
        if self.settings.merging {
            self.merge();
        }
        self.despawn();
        self.events.sort();
        tally
    }

    /// Removes what has reached the age of 6,000 ticks.
    fn despawn(&mut self) {
        let ticks = self.ticks;
        for pool in 0..self.pools.len() {
            if self.pools[pool].next_due > ticks {
                continue;
            }
            let mut next_due = u64::MAX;
            self.movers.clear();
            let rows = &self.pools[pool].rows;
            for row in 0..rows.len() {
                if rows.flags[row].has(Flags::NEVER_DESPAWN) {
                    continue;
                }
                let age = self.pools[pool].age_now(row, ticks);
                match u64::from((DESPAWN_AGE.cast_signed() - age).max(0).cast_unsigned()) {
                    0 => self.movers.push(rows.number[row]),
                    left => next_due = next_due.min(ticks + left),
                }
            }
            self.pools[pool].next_due = next_due;
            for place in 0..self.movers.len() {
                let id = self.id(self.movers[place]);
                if self.take(id).is_some() {
                    self.ledger.despawned += 1;
                    self.events.despawned.push(id);
                }
            }
        }
    }
}
