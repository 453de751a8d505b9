//! The fast step: rows of one pool, a batch at a time.
//!
//! Three kinds of rows, told apart by their flags and by what they can touch: those that rest and only wait for their
//! phase get gravity and nothing else; those among air and full cubes go through [`lanes`]; all others take the
//! [exact path](crate::exact), one by one.

pub(crate) mod dispatch;
mod lanes;
pub(crate) mod rows;
pub(crate) mod tile;

use crate::body::{Body, Flags, floor};
use crate::exact::{self, Scratch, Stepped};
use crate::rules::{GRAVITY, Moment, Rules, THROTTLE_SPEED_SQUARED};
use crate::sleep;
use crate::terrain::{Surroundings, Terrain};
use dispatch::Path;
use lanes::{BATCH, Frame, Lanes, outcome};
use rows::RowsMut;
use tile::Tile;

/// What all rows of one pool share for one tick.
#[derive(Debug)]
pub(crate) struct Context<'a, T> {
    pub(crate) tile: &'a Tile,
    pub(crate) ground: Surroundings<'a, T>,
    pub(crate) rules: &'a Rules,
    pub(crate) moment: Moment,
    pub(crate) lost_below: f64,
    pub(crate) path: Path,
}

/// How many rows went which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Rows that were awake.
    pub awake: u64,
    /// Rows that rested and waited for their phase.
    pub throttled: u64,
    /// Rows that took the exact path.
    pub exact: u64,
    /// Rows that were held because terrain is not loaded.
    pub held: u64,
    /// Rows that have something for the pool to deal with.
    pub(crate) pending: u64,
    /// The lowest and highest block heights of rows that the tile did not reach.
    pub(crate) reach: Option<(i32, i32)>,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub(crate) fn and(self, other: Tally) -> Tally {
        let reach = match (self.reach, other.reach) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, None) => one,
            (None, one) => one,
        };
        Tally {
            awake: self.awake + other.awake,
            throttled: self.throttled + other.throttled,
            exact: self.exact + other.exact,
            held: self.held + other.held,
            pending: self.pending + other.pending,
            reach,
        }
    }
}

/// Steps `rows` by one tick.
pub(crate) fn step_rows<T: Terrain>(
    mut rows: RowsMut<'_>,
    context: &Context<'_, T>,
    scratch: &mut Scratch,
) -> Tally {
    let mut lanes = Lanes::new();
    let mut tally = Tally::default();
    while !rows.is_empty() {
        let count = rows.len().min(BATCH);
        let (mut batch, rest) = rows.split_at(count);
        tally = tally.and(step_batch(&mut batch, context, &mut lanes, scratch));
        rows = rest;
    }
    tally
}

fn step_batch<T: Terrain>(
    rows: &mut RowsMut<'_>,
    context: &Context<'_, T>,
    lanes: &mut Lanes,
    scratch: &mut Scratch,
) -> Tally {
    let mut active = [0_u8; BATCH];
    let count = sort_out_throttled(rows, context.moment.tick, &mut active);
    let active = &active[..count];
    let mut tally = Tally { awake: rows.len() as u64, ..Tally::default() };
    tally.throttled = tally.awake - count as u64;
    if count == 0 {
        return tally;
    }
    load(rows, active, lanes);
    let frame = Frame {
        cells: context.tile.cells(),
        stride: context.tile.stride(),
        origin: context.tile.origin(),
        small_moves: context.rules.small_moves,
        lost_below: context.lost_below,
        tick: context.moment.tick,
    };
    // Whole vectors: the lanes beyond the last are computed from what was there and not stored.
    context.path.step(lanes, count.next_multiple_of(8), frame);
    for (lane, &row) in active.iter().enumerate() {
        let row = usize::from(row);
        let outcome = lanes.outcome[lane];
        if outcome & outcome::EXACT != 0 {
            tally = tally.and(step_exactly(rows, row, context, scratch));
            continue;
        }
        rows.x[row] = lanes.x[lane];
        rows.y[row] = lanes.y[lane];
        rows.z[row] = lanes.z[lane];
        rows.vx[row] = lanes.vx[lane];
        rows.vy[row] = lanes.vy[lane];
        rows.vz[row] = lanes.vz[lane];
        let pending = (outcome >> 1) as u32 * Flags::LEFT.0;
        rows.flags[row] = Flags(lanes.flags[lane] as u32 | pending);
        tally.pending += u64::from(pending != 0);
    }
    tally
}

/// The outcomes of lanes and the flags of rows are in the same order.
const _: () = assert!(
    Flags::LEFT.0 * (outcome::LEFT as u32 >> 1) == Flags::LEFT.0
        && Flags::LEFT.0 * (outcome::LANDED as u32 >> 1) == Flags::LANDED.0
        && Flags::LEFT.0 * (outcome::RESTS as u32 >> 1) == Flags::RESTS.0
);

/// Applies gravity to the rows that rest and wait for their phase; writes the places of all others to `active`.
fn sort_out_throttled(rows: &mut RowsMut<'_>, tick: u64, active: &mut [u8; BATCH]) -> usize {
    const RESTING: u32 = Flags::ON_GROUND.0 | Flags::CLEAR.0;
    const STUCK: u32 = Flags::STUCK_WEB.0 | Flags::STUCK_SNOW.0 | Flags::QUARANTINED.0;
    let mut count = 0;
    for row in 0..rows.len().min(BATCH) {
        let flags = rows.flags[row];
        let (vx, vz) = (rows.vx[row], rows.vz[row]);
        let slides = vx * vx + vz * vz > THROTTLE_SPEED_SQUARED;
        let waits = (flags.0 & (RESTING | STUCK) == RESTING) & !slides & (flags.phase(tick) != 0);
        active[count] = row as u8;
        count += usize::from(!waits);
        if waits {
            rows.vy[row] -= GRAVITY;
            rows.flags[row] = flags.without(Flags::OUTPUTS).with(Flags::THROTTLED);
        }
    }
    count
}

fn load(rows: &RowsMut<'_>, active: &[u8], lanes: &mut Lanes) {
    for (lane, &row) in active.iter().enumerate() {
        let row = usize::from(row);
        lanes.x[lane] = rows.x[row];
        lanes.y[lane] = rows.y[row];
        lanes.z[lane] = rows.z[row];
        lanes.vx[lane] = rows.vx[row];
        lanes.vy[lane] = rows.vy[row];
        lanes.vz[lane] = rows.vz[row];
        lanes.flags[lane] = u64::from(rows.flags[row].0);
    }
}

/// How the speed of a body decays that will repeat from now on what it has just done; `None` for any other.
fn slide_of_resting<T: Terrain>(
    before: &Body,
    after: &Body,
    context: &Context<'_, T>,
    scratch: &mut Scratch,
) -> Option<Flags> {
    let repeats = before.flags.has(Flags::ON_GROUND)
        && after.flags.has(Flags::ON_GROUND.with(Flags::CLEAR))
        && after.flags.0 & (Flags::HIT_SIDEWAYS.0 | Flags::GROUND_NO_BLOCKS.0 | Flags::MOVED.0) == 0
        && before.flags.phase(context.moment.tick) == 0
        && before.velocity[1] - GRAVITY == lanes::RESTING_SPEED
        && after.velocity[1].to_bits() == (-0.0_f64).to_bits();
    if !repeats {
        return None;
    }
    let (friction, speed_factor) = exact::resting_ground(before, context.ground, scratch)?;
    sleep::slide_bits(friction, speed_factor)
}

/// One row by the exact path.
fn step_exactly<T: Terrain>(
    rows: &mut RowsMut<'_>,
    row: usize,
    context: &Context<'_, T>,
    scratch: &mut Scratch,
) -> Tally {
    let before = rows.body(row);
    let mut body = before;
    let stepped =
        exact::step(&mut body, rows.number[row], context.ground, context.rules, context.moment, scratch);
    let mut tally = Tally { exact: 1, ..Tally::default() };
    let mut pending = Flags::default();
    match stepped {
        Stepped::Held => {
            rows.born[row] = rows.born[row].wrapping_add(1);
            tally.held = 1;
            // A change within a few blocks tells; what is faster would have to be watched from farther away.
            let is_slow = body.velocity.iter().all(|speed| speed.abs() <= 4.0);
            pending = pending.set(Flags::RESTS, is_slow);
        }
        Stepped::Quarantined => pending = Flags::REFUSED,
        Stepped::Done => {
            let [x, y, z] = body.position;
            let [west, bottom, north] = context.tile.origin();
            let inside = floor(x) >> 4 == (west + 1) >> 4 && floor(z) >> 4 == (north + 1) >> 4;
            let grounded = body.flags.has(Flags::ON_GROUND);
            pending = pending
                .set(Flags::LEFT, !inside || y < context.lost_below)
                .set(Flags::LANDED, grounded && !before.flags.has(Flags::ON_GROUND));
            body.flags = body.flags.set(Flags::CLEAR, grounded && exact::is_clear(&body, context.ground));
            if let Some(slide) = slide_of_resting(&before, &body, context, scratch) {
                pending = pending.with(Flags::RESTS).with(slide);
            }
            let top = bottom + context.tile.stride() as i32;
            let (low, high) = body.bounds().swept(body.velocity).cells();
            if low[1] - 2 < bottom || high[1] + 7 > top {
                tally.reach = Some((low[1] - 2, high[1] + 7));
            }
        }
    }
    tally.pending = u64::from(pending != Flags::default());
    body.flags = body.flags.with(Flags::EXACT).with(pending);
    rows.set_body(row, &body);
    tally
}
