//! The fast step: rows of one pool, a batch at a time.
//!
//! Four kinds of rows, told apart by their flags and by what they can touch: those that rest and only wait for their
//! phase get gravity and nothing else; those among air and full cubes go through [`lanes`], those in water too with what
//! [`drift`] adds; all others take the [exact path](crate::exact), one by one.

pub(crate) mod currents;
pub(crate) mod dispatch;
mod drift;
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
    /// Rows that drifted in water, or fell into it.
    pub drifting: u64,
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
            drifting: self.drifting + other.drifting,
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
    let (mut falling, mut drifting, mut rest) = (Picked::new(), Picked::new(), Picked::new());
    let currents = context.tile.currents();
    sort_out_throttled(rows, context.moment.tick, currents.is_some(), [&mut falling, &mut drifting]);
    let mut tally = Tally { awake: rows.len() as u64, ..Tally::default() };
    tally.throttled = tally.awake - (falling.count + drifting.count) as u64;
    let frame = Frame {
        cells: context.tile.cells(),
        currents: None,
        stride: context.tile.stride(),
        origin: context.tile.origin(),
        small_moves: context.rules.small_moves,
        lost_below: context.lost_below,
        tick: context.moment.tick,
    };
    if currents.is_some() {
        let frame_in_water = Frame { cells: context.tile.open_cells(), currents, ..frame };
        tally.pending += step_lanes(rows, falling.rows(), lanes, frame, context.path, &mut drifting);
        tally.pending += step_lanes(rows, drifting.rows(), lanes, frame_in_water, context.path, &mut rest);
        tally.drifting = (drifting.count - rest.count) as u64;
    } else {
        tally.pending += step_lanes(rows, falling.rows(), lanes, frame, context.path, &mut rest);
    }
    for &row in rest.rows() {
        tally = tally.and(step_exactly(rows, usize::from(row), context, scratch));
    }
    tally
}

/// Some of the rows of a batch.
struct Picked {
    rows: [u8; BATCH],
    count: usize,
}

impl Picked {
    fn new() -> Picked {
        Picked { rows: [0; BATCH], count: 0 }
    }

    /// Adds a row where `holds`, without a branch.
    #[inline(always)]
    fn add_if(&mut self, row: u8, holds: bool) {
        self.rows[self.count % BATCH] = row;
        self.count += usize::from(holds);
    }

    fn rows(&self) -> &[u8] {
        &self.rows[..self.count]
    }
}

/// Steps the `picked` rows side by side. Those that these lanes do not cover are left as they are and added to `rest`.
/// Returns how many rows have something for the pool to deal with.
fn step_lanes(
    rows: &mut RowsMut<'_>,
    picked: &[u8],
    lanes: &mut Lanes,
    frame: Frame<'_>,
    path: Path,
    rest: &mut Picked,
) -> u64 {
    if picked.is_empty() {
        return 0;
    }
    // All rows of the batch in their order: those that join the others in water come after them.
    let is_whole = picked.len() == rows.len() && picked.is_sorted();
    if is_whole {
        load_all(rows, lanes);
    } else {
        load(rows, picked, lanes);
    }
    // Whole vectors: the lanes beyond the last are computed from what was there and not stored.
    path.step(lanes, picked.len().next_multiple_of(8), frame);
    let any_rest =
        lanes.outcome[..picked.len()].iter().fold(0, |any, outcome| any | outcome) & outcome::EXACT;
    if is_whole && any_rest == 0 {
        return store_all(rows, lanes);
    }
    let mut count = 0;
    for (lane, &row) in picked.iter().enumerate() {
        let outcome = lanes.outcome[lane];
        if outcome & outcome::EXACT != 0 {
            rest.add_if(row, true);
            continue;
        }
        let row = usize::from(row);
        rows.x[row] = lanes.x[lane];
        rows.y[row] = lanes.y[lane];
        rows.z[row] = lanes.z[lane];
        rows.vx[row] = lanes.vx[lane];
        rows.vy[row] = lanes.vy[lane];
        rows.vz[row] = lanes.vz[lane];
        let pending = (outcome >> 1) as u32 * Flags::LEFT.0;
        rows.flags[row] = Flags(lanes.flags[lane] as u32 | pending);
        count += u64::from(pending != 0);
    }
    count
}

/// The outcomes of lanes and the flags of rows are in the same order.
const _: () = assert!(
    Flags::LEFT.0 * (outcome::LEFT as u32 >> 1) == Flags::LEFT.0
        && Flags::LEFT.0 * (outcome::LANDED as u32 >> 1) == Flags::LANDED.0
        && Flags::LEFT.0 * (outcome::RESTS as u32 >> 1) == Flags::RESTS.0
);

/// Applies gravity to the rows that rest and wait for their phase; picks all others, those in water apart where there
/// is any.
fn sort_out_throttled(
    rows: &mut RowsMut<'_>,
    tick: u64,
    any_water: bool,
    [falling, drifting]: [&mut Picked; 2],
) {
    const RESTING: u32 = Flags::ON_GROUND.0 | Flags::CLEAR.0;
    const STUCK: u32 = Flags::STUCK_WEB.0 | Flags::STUCK_SNOW.0 | Flags::QUARANTINED.0;
    let wet = if any_water { Flags::WET.0 } else { 0 };
    for row in 0..rows.len().min(BATCH) {
        let flags = rows.flags[row];
        let (vx, vz) = (rows.vx[row], rows.vz[row]);
        let slides = vx * vx + vz * vz > THROTTLE_SPEED_SQUARED;
        let waits = (flags.0 & (RESTING | STUCK) == RESTING) & !slides & (flags.phase(tick) != 0);
        let drifts = flags.0 & wet != 0;
        falling.add_if(row as u8, !waits & !drifts);
        drifting.add_if(row as u8, !waits & drifts);
        if waits {
            rows.vy[row] -= GRAVITY;
            rows.flags[row] = flags.without(Flags::OUTPUTS).with(Flags::THROTTLED);
        }
    }
}

/// Stores lanes that are all rows of the batch, in order. Returns as [`step_lanes`].
fn store_all(rows: &mut RowsMut<'_>, lanes: &Lanes) -> u64 {
    let count = rows.len();
    rows.x.copy_from_slice(&lanes.x[..count]);
    rows.y.copy_from_slice(&lanes.y[..count]);
    rows.z.copy_from_slice(&lanes.z[..count]);
    rows.vx.copy_from_slice(&lanes.vx[..count]);
    rows.vy.copy_from_slice(&lanes.vy[..count]);
    rows.vz.copy_from_slice(&lanes.vz[..count]);
    let mut any = 0;
    for ((flags, &stepped), &outcome) in rows.flags.iter_mut().zip(&lanes.flags).zip(&lanes.outcome) {
        let pending = (outcome >> 1) as u32 * Flags::LEFT.0;
        *flags = Flags(stepped as u32 | pending);
        any += u64::from(pending != 0);
    }
    any
}

fn load_all(rows: &RowsMut<'_>, lanes: &mut Lanes) {
    let count = rows.len();
    lanes.x[..count].copy_from_slice(rows.x);
    lanes.y[..count].copy_from_slice(rows.y);
    lanes.z[..count].copy_from_slice(rows.z);
    lanes.vx[..count].copy_from_slice(rows.vx);
    lanes.vy[..count].copy_from_slice(rows.vy);
    lanes.vz[..count].copy_from_slice(rows.vz);
    for (lane, flags) in lanes.flags.iter_mut().zip(rows.flags.iter()) {
        *lane = u64::from(flags.0);
    }
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

/// How the speed of a sleeper decays from its next move on, which it makes in `moment` and stands `before`; `None` where
/// that move would not be like its last.
pub(crate) fn slide_of_sleeper<T: Terrain>(
    before: &Body,
    number: u32,
    ground: Surroundings<'_, T>,
    rules: &Rules,
    moment: Moment,
    scratch: &mut Scratch,
) -> Option<Flags> {
    let mut after = *before;
    let stepped = exact::step(&mut after, number, ground, rules, moment, scratch);
    let lasting = |body: &Body| body.flags.results().without(Flags::OUTPUTS);
    if stepped != Stepped::Done || lasting(&after) != lasting(before) {
        return None;
    }
    after.flags = after.flags.set(Flags::CLEAR, exact::is_clear(&after, ground));
    slide_of_resting(before, &after, ground, moment, scratch)
}

/// How the speed of a body decays that will repeat from now on what it has just done; `None` for any other.
fn slide_of_resting<T: Terrain>(
    before: &Body,
    after: &Body,
    ground: Surroundings<'_, T>,
    moment: Moment,
    scratch: &mut Scratch,
) -> Option<Flags> {
    let repeats = before.flags.has(Flags::ON_GROUND)
        && after.flags.has(Flags::ON_GROUND.with(Flags::CLEAR))
        && after.flags.0 & (Flags::HIT_SIDEWAYS.0 | Flags::GROUND_NO_BLOCKS.0 | Flags::MOVED.0) == 0
        && before.flags.phase(moment.tick) == 0
        && before.velocity[1] - GRAVITY == lanes::RESTING_SPEED
        && after.velocity[1].to_bits() == (-0.0_f64).to_bits();
    if !repeats {
        return None;
    }
    let (friction, speed_factor) = exact::resting_ground(before, ground, scratch)?;
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
            // What draws its speed anew each tick can have a way in the next.
            let repeats = is_slow && !exact::is_pushed_at_random(&body, context.ground);
            pending = pending.set(Flags::RESTS, repeats);
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
            let (ground, moment) = (context.ground, context.moment);
            if let Some(slide) = slide_of_resting(&before, &body, ground, moment, scratch) {
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
