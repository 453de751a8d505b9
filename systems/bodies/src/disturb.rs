//! What changed terrain does to bodies: tiles follow it, and sleepers that it concerns wake.
//!
//! A changed block concerns a sleeper whose box, next move or ground reaches its cell. Such a one is asked whether its next
//! move would still be like its last: by the [ground](crate::flat_ground) as most have it, or by taking that move. If so, it
//! sleeps on, and at most its speed decays otherwise from then on; if not, it wakes. Cost: O(changes + sleepers over the
//! columns that have changed and those beside them), most of it for the sleepers concerned; and what is awake in the
//! chunks, and held at the edge of what is loaded.

use rayon::prelude::*;

use crate::body::Body;
use crate::changed_cells::{ChangedCells, FROZEN_REACH};
use crate::exact::Scratch;
use crate::flat_ground::FlatGround;
use crate::kernel::slide_of_sleeper;
use crate::parallel::{scratch_of_thread, spread};
use crate::pool::{FROZEN, Places, Pool};
use crate::population::Population;
use crate::rules::{Moment, Rules};
use crate::sleep;
use crate::sleeper_columns::{NOWHERE, corner_of};
use crate::terrain::Surroundings;
use crate::world_terrain::{TiledTerrain, WorldTerrain};
use crate::{Flags, Materials};
use std::sync::Mutex;
use voxtick_worlds::{BlockPos, ChunkEvent, World};

/// Changed blocks around one pool from which its tile is built anew instead of patched.
const PATCH_LIMIT: usize = 64;
/// The chunk or column itself and the eight around it.
pub(crate) const NEIGHBOURS: [(i32, i32); 9] =
    [(-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// Room for following changes, one a pool, kept between ticks.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    cells: ChangedCells,
    /// Rows of sleepers, ascending.
    rows: Vec<u32>,
    /// Those whose speeds decay otherwise now, and how.
    sliding_rows: Vec<u32>,
    sliding: Vec<(Body, Flags)>,
}

/// What pools need to know to follow changes.
#[derive(Clone, Copy)]
struct Changed<'a> {
    /// By number of the pool.
    blocks: &'a [(u32, BlockPos)],
    world: &'a World,
    materials: &'a Materials,
    rules: &'a Rules,
    places: &'a Places,
    /// Ticks run so far.
    ticks: u64,
    scratch: &'a [Mutex<Scratch>],
}

impl Population {
    /// Wakes what lies where the world has changed.
    pub(crate) fn follow_terrain(&mut self, world: &World) {
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
        if !changed.is_empty() {
            changed.par_sort_unstable();
            changed.dedup();
            let shared = Changed {
                blocks: &changed,
                world,
                materials: &self.materials,
                rules: &self.settings.rules,
                places: &self.places,
                ticks: self.ticks,
                scratch: &self.scratch,
            };
            self.listed.clear();
            self.listed.extend(changed.iter().map(|&(pool, _)| pool));
            self.listed.dedup();
            let follow = |number, pool: &mut Pool| pool.follow_changes(number, shared);
            spread(&mut self.pools, 0, &self.listed, &follow, &|(), ()| ());
        }
        self.changed = changed;
    }

    /// Adds the pools that a change at `at` may matter to.
    fn add_touched_pools(&self, at: BlockPos, changed: &mut Vec<(u32, BlockPos)>) {
        for (x, z) in NEIGHBOURS {
            // A pool sees one column beyond its chunk, and what is held at its edge could meet some more.
            let Some(beside) = at.checked_offset(x * FROZEN_REACH, 0, z * FROZEN_REACH) else { continue };
            if (x, z) != (0, 0) && beside.chunk() == at.chunk() {
                continue;
            }
            if let Some(&pool) = self.pool_of_chunk.get(&beside.chunk()) {
                changed.push((pool, at));
            }
        }
    }

    fn disturb_pool(&mut self, pool: usize) {
        let disturbed = &mut self.pools[pool];
        disturbed.tile.forget();
        disturbed.forget_clear();
        disturbed.wake_all(pool as u32, &self.places, self.ticks);
        disturbed.reach = None;
        for row in 0..disturbed.awake {
            disturbed.reach_to(disturbed.rows.y[row]);
        }
    }
}

impl Pool {
    /// Follows the changes around this pool, which has this number.
    fn follow_changes(&mut self, number: u32, changed: Changed<'_>) {
        let first = changed.blocks.partition_point(|&(pool, _)| pool < number);
        let count = changed.blocks[first..].partition_point(|&(pool, _)| pool == number);
        let blocks = &changed.blocks[first..first + count];
        self.forget_clear();
        if blocks.len() > PATCH_LIMIT {
            self.stale = true;
        } else if !self.stale && self.tile.is_built() {
            for &(_, at) in blocks {
                self.tile.patch(at, self.chunk, changed.world, changed.materials);
            }
        }
        if self.awake == self.rows.len() {
            return;
        }
        let mut reached = std::mem::take(&mut self.reached);
        reached.cells.clear();
        reached.rows.clear();
        blocks.iter().for_each(|&(_, at)| reached.cells.add(at, self.chunk));
        self.thaw(&reached.cells, number, changed.places, changed.ticks, &mut reached.rows);
        if !reached.cells.is_empty() {
            reached.cells.sort();
            self.reached_sleepers(&reached.cells, number, changed.places, &mut reached.rows);
        }
        if !reached.rows.is_empty() {
            if self.stale && self.tile.is_built() {
                self.tile.rebuild(self.chunk, changed.world, changed.materials);
                self.stale = false;
            }
            self.ask_sleepers(number, &mut reached, changed);
        }
        self.reached = reached;
    }

    /// Wakes what is frozen where a block of its way has changed. `rows` is room for it.
    fn thaw(&mut self, changed: &ChangedCells, pool: u32, places: &Places, ticks: u64, rows: &mut Vec<u32>) {
        let concerned = self.frozen.iter().filter(|(_, frozen)| changed.any_on(&frozen.way));
        rows.extend(concerned.filter_map(|(&number, _)| places.find(number)).map(|(_, row)| row as u32));
        // Ascending: one that wakes changes places with none that is still to wake.
        rows.sort_unstable();
        rows.drain(..).for_each(|row| self.wake(row as usize, pool, places, ticks));
    }

    /// Writes the rows of the sleepers whose boxes, next moves or ground reach one of the changed cells to `found`, in
    /// ascending order.
    fn reached_sleepers(&mut self, changed: &ChangedCells, pool: u32, places: &Places, found: &mut Vec<u32>) {
        let sleeps = |flags: Flags| flags.0 & FROZEN.0 == Flags::SLEEPS.0;
        let Pool { sleepers, rows, awake, chunk, .. } = self;
        if sleepers.wants_order() {
            let corner = |row: usize| {
                if sleeps(rows.flags[row]) { corner_of(rows.x[row], rows.z[row], *chunk) } else { NOWHERE }
            };
            let order = sleepers.sort(*awake, (*awake..rows.len()).map(corner));
            rows.reorder(*awake, &order);
            (*awake..rows.len()).for_each(|row| places.set(rows.number[row], pool, row));
        }
        sleepers.visit(&changed.corners(), *awake..rows.len(), |row| {
            let position = [rows.x[row], rows.y[row], rows.z[row]];
            if sleeps(rows.flags[row]) && changed.any_within_reach(position, *chunk) {
                found.push(row as u32);
            }
        });
        found.sort_unstable();
        found.dedup();
    }

    /// Lets sleepers wake that would move, and the speeds of the others decay as they do on the ground as it is now.
    fn ask_sleepers(&mut self, number: u32, reached: &mut Reached, changed: Changed<'_>) {
        let mut scratch = scratch_of_thread(changed.scratch);
        let world = WorldTerrain::around(changed.world, changed.materials, self.chunk);
        let terrain = TiledTerrain { tile: &self.tile, world: &world };
        let ground = Surroundings { terrain: &terrain, materials: changed.materials };
        let mut flat = FlatGround::around(self.chunk.x * 16, self.chunk.z * 16);
        let Reached { rows, sliding_rows, sliding, .. } = reached;
        rows.retain(|&row| {
            let body = self.rows.body(row as usize);
            let mut exactly = || {
                let (before, tick) = sleep::before_next_move(&body, changed.ticks);
                let moment = Moment { tick, seed: 0 };
                let number = self.rows.number[row as usize];
                slide_of_sleeper(&before, number, ground, changed.rules, moment, &mut scratch)
            };
            let slide = flat.slide_of(&body, ground);
            debug_assert!(slide.is_none() || slide == exactly(), "{body:?}");
            let slide = slide.or_else(exactly);
            if let Some(slide) = slide.filter(|slide| body.flags.0 & Flags::SLIDE.0 != slide.0) {
                sliding_rows.push(row);
                sliding.push((body, slide));
            }
            slide.is_none()
        });
        if !sliding.is_empty() {
            sleep::lie_on_other_ground(sliding, changed.ticks);
            sliding_rows
                .drain(..)
                .zip(sliding.drain(..))
                .for_each(|(row, (body, _))| self.rows.set_body(row as usize, &body));
            self.sleepers_changed();
        }
        // Ascending: one that wakes changes places with none that is still to wake.
        rows.drain(..).for_each(|row| self.wake(row as usize, number, changed.places, changed.ticks));
    }
}
