//! The step of all pools, spread over the threads of the pool that it is called in.
//!
//! Bodies do not see each other while they move, so rows may be cut into runs anywhere: no result depends on where, or
//! on which thread takes which.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exact::Scratch;
use crate::kernel::dispatch::Path;
use crate::kernel::rows::RowsMut;
use crate::kernel::{Context, Tally, step_rows};
use crate::material::Materials;
use crate::pool::Pool;
use crate::rules::{Moment, Rules};
use crate::settle::Aftermath;
use crate::terrain::Surroundings;
use crate::world_terrain::{TiledTerrain, WorldTerrain};
use voxtick_worlds::World;

/// Rows that one thread takes at a time: enough that sharing out the work costs nothing beside it.
const RUN: usize = 1_024;

/// What all pools share for one tick.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) world: &'a World,
    pub(crate) materials: &'a Materials,
    pub(crate) rules: &'a Rules,
    pub(crate) moment: Moment,
    pub(crate) path: Path,
    pub(crate) aftermath: Aftermath<'a>,
    /// One for each thread, and one for a caller outside of any pool.
    pub(crate) scratch: &'a [Mutex<Scratch>],
}

/// Steps the awake rows of all pools, and lets each pool deal with what came of it: then its rows are still near.
///
/// `restless` are the pools that have such, ascending; those that still do afterwards are marked for the next tick.
pub(crate) fn step_pools(pools: &mut [Pool], restless: &[u32], shared: Shared<'_>) -> Tally {
    let step = |number, pool: &mut Pool| {
        let tally = step_pool(pool, shared);
        if pool.pending > 0 {
            pool.settle(number, shared.aftermath);
        }
        if pool.awake > 0 {
            shared.aftermath.places.mark_restless(number);
        }
        tally
    };
    spread(pools, 0, restless, &step, &Tally::and)
}

/// Calls `work` for the pools with these ascending numbers, of `pools` of which the first has the number `first`, and
/// joins what it gives: spread over the threads of the pool that it is called in, and without a look at any other pool.
pub(crate) fn spread<T: Default + Send>(
    pools: &mut [Pool],
    first: u32,
    numbers: &[u32],
    work: &(impl Fn(u32, &mut Pool) -> T + Sync),
    join: &(impl Fn(T, T) -> T + Sync),
) -> T {
    match *numbers {
        [] => T::default(),
        [number] => work(number, &mut pools[(number - first) as usize]),
        _ => {
            let (low, high) = numbers.split_at(numbers.len() / 2);
            let (low_pools, high_pools) = pools.split_at_mut((high[0] - first) as usize);
            let (low, high) = rayon::join(
                || spread(low_pools, first, low, work, join),
                || spread(high_pools, high[0], high, work, join),
            );
            join(low, high)
        }
    }
}

fn step_pool(pool: &mut Pool, shared: Shared<'_>) -> Tally {
    let covered = pool
        .reach
        .take()
        .is_some_and(|(low, high)| pool.tile.cover(low, high, pool.chunk, shared.world, shared.materials));
    if pool.stale && !covered {
        pool.tile.rebuild(pool.chunk, shared.world, shared.materials);
    }
    pool.stale = false;
    let world = WorldTerrain::around(shared.world, shared.materials, pool.chunk);
    let terrain = TiledTerrain { tile: &pool.tile, world: &world };
    let context = Context {
        tile: &pool.tile,
        ground: Surroundings { terrain: &terrain, materials: shared.materials },
        rules: shared.rules,
        moment: shared.moment,
        lost_below: shared.aftermath.lost_below,
        path: shared.path,
    };
    let mut tally = step_run(RowsMut::first(&mut pool.rows, pool.awake), &context, shared.scratch);
    pool.reach = tally.reach.take();
    pool.pending = tally.pending;
    tally
}

fn step_run(rows: RowsMut<'_>, context: &Context<'_, TiledTerrain<'_>>, scratch: &[Mutex<Scratch>]) -> Tally {
    if rows.len() > RUN {
        let middle = (rows.len() / 2).next_multiple_of(RUN).min(rows.len());
        let (left, right) = rows.split_at(middle);
        let (left, right) =
            rayon::join(|| step_run(left, context, scratch), || step_run(right, context, scratch));
        return left.and(right);
    }
    step_rows(rows, context, &mut scratch_of_thread(scratch))
}

/// The scratch of the thread that asks.
pub(crate) fn scratch_of_thread(scratch: &[Mutex<Scratch>]) -> MutexGuard<'_, Scratch> {
    let place = rayon::current_thread_index().map_or(0, |index| index + 1) % scratch.len();
    scratch[place].lock().unwrap_or_else(PoisonError::into_inner)
}
