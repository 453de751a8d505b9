//! One tick of all bodies: look at what changed, move, deal with what came of it, age, merge.

use std::sync::Mutex;

use crate::body::{Flags, floor};
use crate::kernel::Tally;
use crate::parallel::{Shared, step_pools};
use crate::population::Population;
use crate::rules::{DESPAWN_AGE, Moment, VOID_DEPTH};
use voxtick_worlds::{BlockPos, ChunkEvent, World};

/// Changed blocks around one pool from which its tile is built anew instead of patched.
const PATCH_LIMIT: usize = 64;

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
            scratch: &self.scratch,
        };
        let tally = step_pools(&mut self.pools, shared);
        self.ticks += 1;
        self.settle(f64::from(world.dimension().min_y() - VOID_DEPTH));
        if self.settings.merging {
            self.merge();
        }
        self.despawn();
        self.events.sort();
        tally
    }

    /// Wakes what lies where the world has changed.
    fn follow_terrain(&mut self, world: &World) {
        let refreshed = self.materials.refresh(world.states());
        let changes = world.changes(&mut self.cursor);
        if changes.missed > 0 || refreshed {
            for pool in 0..self.pools.len() {
                self.disturb_pool(pool);
            }
            return;
        }
        for event in changes.chunks {
            let (ChunkEvent::Loaded(chunk) | ChunkEvent::Unloaded(chunk)) = *event;
            for (x, z) in NEIGHBOURS {
                let pool = chunk.checked_offset(x, z).and_then(|near| self.pool_of_chunk.get(&near));
                if let Some(&pool) = pool {
                    self.disturb_pool(pool as usize);
                }
            }
        }
        let mut changed = std::mem::take(&mut self.changed);
        changed.clear();
        for change in changes.blocks {
            // Dirt in place of stone is nothing to a body.
            if self.materials.of_state(change.before) != self.materials.of_state(change.after) {
                self.add_touched_pools(change.position, &mut changed);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        for of_pool in changed.chunk_by(|one, other| one.0 == other.0) {
            self.disturb_cells(of_pool, world);
        }
        self.changed = changed;
    }

    /// Adds the pools that a change at `at` may matter to.
    fn add_touched_pools(&self, at: BlockPos, changed: &mut Vec<(u32, BlockPos)>) {
        for (x, z) in NEIGHBOURS {
            // A pool sees one column beyond its chunk, and what is held at its edge could meet some more.
            let Some(beside) = at.checked_offset(x * REACH, 0, z * REACH) else { continue };
            if (x, z) != (0, 0) && beside.chunk() == at.chunk() {
                continue;
            }
            if let Some(&pool) = self.pool_of_chunk.get(&beside.chunk()) {
                changed.push((pool, at));
            }
        }
    }

    /// Follows the changes around one pool.
    fn disturb_cells(&mut self, changes: &[(u32, BlockPos)], world: &World) {
        let Some(&(number, _)) = changes.first() else { return };
        let pool = &mut self.pools[number as usize];
        pool.forget_clear();
        if changes.len() > PATCH_LIMIT {
            pool.stale = true;
        } else if !pool.stale && pool.tile.is_built() {
            changes.iter().for_each(|&(_, at)| pool.tile.patch(at, pool.chunk, world, &self.materials));
        }
        pool.thaw(number, &self.places, self.ticks);
        if pool.awake == pool.rows.len() {
            return;
        }
        self.changed_cells.clear();
        changes.iter().for_each(|&(_, at)| self.changed_cells.add(at, pool.chunk));
        if self.changed_cells.is_empty() {
            return;
        }
        self.changed_cells.sort();
        self.movers.clear();
        pool.reached_sleepers(&self.changed_cells, &mut self.movers);
        for &sleeper in &self.movers {
            if let Some((_, row)) = self.places.find(sleeper) {
                pool.wake(row, number, &self.places, self.ticks);
            }
        }
    }

    fn disturb_pool(&mut self, pool: usize) {
        let disturbed = &mut self.pools[pool];
        disturbed.tile.forget();
        disturbed.forget_clear();
        disturbed.wake_all(pool as u32, &self.places, self.ticks);
        let rows = &disturbed.rows;
        let heights = rows.y[..disturbed.awake].iter().map(|&y| floor(y));
        disturbed.reach = heights.fold(None, |reach: Option<(i32, i32)>, y| {
            let (low, high) = reach.unwrap_or((y, y));
            Some((low.min(y - 2), high.max(y + 8)))
        });
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

/// How many columns away from a change a body that is held may be for the change to matter to it.
const REACH: i32 = 8;

/// The chunk or column itself and the eight around it.
const NEIGHBOURS: [(i32, i32); 9] =
    [(-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];
