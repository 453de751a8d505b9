//! The step of bodies among air, water and full cubes, without a branch, so that it compiles to vector code.
//!
//! Plain Rust over arrays: the compiler turns the loops into SSE, AVX2, AVX-512 or NEON code according to the features of
//! the function that they are inlined into (see [`dispatch`](super::dispatch)), and since it is the same IEEE
//! arithmetic in the same order, all agree to the bit. Every decision is a select. A lane that the rules here do not
//! cover is marked for the exact path and not written.

use crate::body::Flags;
use crate::kernel::currents::Currents;
use crate::kernel::drift::Drift;
use crate::kernel::tile::{EDGE, WINDOW};
use crate::rules::{
    DRAG_GROUND, DRAG_HORIZONTAL, DRAG_VERTICAL, EPSILON, GRAVITY, HALF_WIDTH, HEIGHT, POSITION_LIMIT,
    SAME_MOVE, SPEED_LIMIT, SUPPORT_DEPTH, THROTTLE_SPEED_SQUARED,
};

/// Bodies that are worked on at a time.
pub(crate) const BATCH: usize = 128;

/// Vertical speed of a body at rest after four ticks of gravity: what it falls with when its phase comes.
pub(crate) const RESTING_SPEED: f64 = -0.0 - GRAVITY - GRAVITY - GRAVITY - GRAVITY;

/// Friction of a block like stone, times drag, in single precision.
const GROUND_FACTOR: f64 = (0.6_f32 * DRAG_GROUND) as f64;

/// Motion of up to [`BATCH`] bodies side by side, and what became of them.
pub(crate) struct Lanes {
    pub(crate) x: [f64; BATCH],
    pub(crate) y: [f64; BATCH],
    pub(crate) z: [f64; BATCH],
    pub(crate) vx: [f64; BATCH],
    pub(crate) vy: [f64; BATCH],
    pub(crate) vz: [f64; BATCH],
    /// In: flags as they are. Out: as they will be.
    pub(crate) flags: [u64; BATCH],
    pub(super) low_x: [f64; BATCH],
    pub(super) low_y: [f64; BATCH],
    pub(super) low_z: [f64; BATCH],
    /// Which cells the sweep covers beyond the lowest: bit 0 east, bit 1 south, heights from bit 8.
    pub(super) extent: [u64; BATCH],
    /// Place of the window in the tile; `u64::MAX` for a lane that needs the exact path.
    pub(super) place: [u64; BATCH],
    window: [u64; BATCH],
    pub(super) drift: Drift,
    /// One of the bits of [`outcome`] each.
    pub(crate) outcome: [u64; BATCH],
}

/// What became of a lane.
pub(crate) mod outcome {
    /// Not stepped: the exact path has to.
    pub(crate) const EXACT: u64 = 1;
    /// It has left the pool's chunk, or is lost below the world.
    pub(crate) const LEFT: u64 = 2;
    /// It has come to stand on the ground.
    pub(crate) const LANDED: u64 = 4;
    /// It will repeat itself for as long as nothing changes.
    pub(crate) const RESTS: u64 = 8;
}

/// The tile and the chunk as numbers that lanes can use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) cells: &'a [u8],
    /// The water that the bodies drift in; `None` for bodies that nothing but gravity acts on.
    pub(crate) currents: Option<&'a Currents>,
    pub(crate) stride: usize,
    pub(crate) origin: [i32; 3],
    pub(crate) small_moves: bool,
    /// Bodies below this height are lost.
    pub(crate) lost_below: f64,
    pub(crate) tick: u64,
}

const EVERY_ROW: u64 = 0x0101_0101_0101_0101;
const SOLID: u64 = 0x0F * EVERY_ROW;
const SPECIAL: u64 = 0xF0 * EVERY_ROW;
const WEST: u64 = 0x55 * EVERY_ROW;
const EAST: u64 = 0xAA * EVERY_ROW;
const NORTH: u64 = 0x33 * EVERY_ROW;
const SOUTH: u64 = 0xCC * EVERY_ROW;

impl Lanes {
    pub(crate) fn new() -> Lanes {
        Lanes {
            x: [0.0; BATCH],
            y: [0.0; BATCH],
            z: [0.0; BATCH],
            vx: [0.0; BATCH],
            vy: [0.0; BATCH],
            vz: [0.0; BATCH],
            flags: [0; BATCH],
            low_x: [0.0; BATCH],
            low_y: [0.0; BATCH],
            low_z: [0.0; BATCH],
            extent: [0; BATCH],
            place: [0; BATCH],
            window: [0; BATCH],
            drift: Drift::new(),
            outcome: [0; BATCH],
        }
    }

    /// Steps the first `count` lanes.
    #[inline(always)]
    pub(crate) fn step(&mut self, count: usize, frame: Frame<'_>) {
        let count = count.min(BATCH);
        match frame.currents {
            None => self.step_as::<false>(count, frame),
            Some(currents) => {
                self.drift(count, currents, frame);
                self.buoy_or_fall(count);
                self.step_as::<true>(count, frame);
                // Where no water flows, a second look would tell nothing that matters.
                if !currents.is_calm() {
                    self.drift(count, currents, frame);
                }
                self.finish_drift(count);
            }
        }
    }

    /// The move itself: of what drifts, when the water has done its part, or of what only falls.
    #[inline(always)]
    fn step_as<const DRIFTS: bool>(&mut self, count: usize, frame: Frame<'_>) {
        self.find_windows::<DRIFTS>(count, frame);
        self.read_windows(count, frame.cells);
        self.travel::<DRIFTS>(count, frame);
    }

    /// Which cells each sweep touches, and where they stand in the tile.
    #[inline(always)]
    fn find_windows<const DRIFTS: bool>(&mut self, count: usize, frame: Frame<'_>) {
        let [west, bottom, north] = frame.origin.map(f64::from);
        let stride = frame.stride as f64;
        for lane in 0..count {
            let (x, y, z) = (self.x[lane], self.y[lane], self.z[lane]);
            let (vx, vz) = (self.vx[lane], self.vz[lane]);
            let vy = if DRIFTS { self.vy[lane] } else { self.vy[lane] - GRAVITY };
            let low_x = (x - HALF_WIDTH + below(vx)).floor();
            let low_y = (y + below(vy)).floor();
            let low_z = (z - HALF_WIDTH + below(vz)).floor();
            let span_x = (x + HALF_WIDTH + above(vx)).ceil() - low_x;
            let span_y = (y + HEIGHT + above(vy)).ceil() - low_y;
            let span_z = (z + HALF_WIDTH + above(vz)).ceil() - low_z;
            // Written so that what is not a number fails.
            let sane = (x.abs() <= POSITION_LIMIT)
                & (y.abs() <= POSITION_LIMIT)
                & (z.abs() <= POSITION_LIMIT)
                & (vx.abs() <= SPEED_LIMIT)
                & (vy.abs() <= SPEED_LIMIT)
                & (vz.abs() <= SPEED_LIMIT);
            let column_x = low_x - west;
            let column_z = low_z - north;
            let row = low_y - 1.0 - bottom;
            let fits = (span_x <= 2.0)
                & (span_y <= WINDOW as f64 - 1.0)
                & (span_z <= 2.0)
                & (column_x >= 0.0)
                & (column_x < EDGE as f64)
                & (column_z >= 0.0)
                & (column_z < EDGE as f64)
                & (row >= 0.0)
                & (row <= stride - WINDOW as f64);
            let stuck =
                self.flags[lane] & u64::from(Flags::STUCK_WEB.0 | Flags::STUCK_SNOW.0 | Flags::QUARANTINED.0);
            let usable = sane & fits & (stuck == 0);
            let place = (column_z * EDGE as f64 + column_x) * stride + row;
            self.low_x[lane] = low_x;
            self.low_y[lane] = low_y;
            self.low_z[lane] = low_z;
            self.extent[lane] = u64::from(span_x > 1.0) | u64::from(span_z > 1.0) << 1 | whole(span_y) << 8;
            self.place[lane] = if usable { whole(place) } else { u64::MAX };
        }
    }

    #[inline(always)]
    fn read_windows(&mut self, count: usize, cells: &[u8]) {
        for lane in 0..count {
            let place = self.place[lane] as usize;
            // All cells special: what has no window takes the exact path.
            self.window[lane] = cells
                .get(place..place.wrapping_add(WINDOW))
                .and_then(|rows| rows.try_into().ok())
                .map_or(u64::MAX, u64::from_le_bytes);
        }
    }

    #[inline(always)]
    fn travel<const DRIFTS: bool>(&mut self, count: usize, frame: Frame<'_>) {
        let low_chunk_x = f64::from(frame.origin[0] + 1);
        let low_chunk_z = f64::from(frame.origin[2] + 1);
        let tick = frame.tick & 3;
        let small_moves = frame.small_moves;
        for lane in 0..count {
            let (x, y, z) = (self.x[lane], self.y[lane], self.z[lane]);
            let (vx, vz) = (self.vx[lane], self.vz[lane]);
            let vy = if DRIFTS { self.vy[lane] } else { self.vy[lane] - GRAVITY };
            let flags = self.flags[lane];
            let window = self.window[lane];
            // The window begins one row below the sweep.
            let bottom = self.low_y[lane] - 1.0;
            let (face_x, face_z) = (self.low_x[lane] + 1.0, self.low_z[lane] + 1.0);
            let extent = self.extent[lane];
            let rows = !0 >> (56 - 8 * (extent >> 8 & 7));
            let columns = select(extent & 1 != 0, !0, WEST) & select(extent & 2 != 0, !0, NORTH);
            let seen = window & columns & rows;
            let solid = seen & SOLID & !0xFF;
            let any = solid != 0;
            let mut exact = seen & SPECIAL != 0;

            let (min_x, max_x) = (x - HALF_WIDTH, x + HALF_WIDTH);
            let (min_z, max_z) = (z - HALF_WIDTH, z + HALF_WIDTH);
            let (mut min_y, mut max_y) = (y, y + HEIGHT);

            // Vertical: the nearest layer of cubes over the body's own columns.
            let under = solid
                & (select(min_x + EPSILON < face_x, WEST, 0) | select(max_x - EPSILON >= face_x, EAST, 0))
                & (select(min_z + EPSILON < face_z, NORTH, 0) | select(max_z - EPSILON >= face_z, SOUTH, 0));
            let row_low = whole((min_y + EPSILON).floor() - bottom) & 7;
            let row_high = whole((max_y - EPSILON).floor() - bottom) & 7;
            let rows_below = !(!0 << (8 * row_low));
            let rows_above = !0 << (8 * row_high) << 8;
            exact |= under & !rows_below & !rows_above != 0;
            let falls = vy < 0.0;
            let over = under & rows_above;
            let layer = if falls { under & rows_below } else { over & over.wrapping_neg() };
            // The layer's number is that of the highest bit's byte.
            let number = 7 - u64::from((layer | 1).leading_zeros() >> 3);
            let face_y = bottom + fraction(number) + if falls { 1.0 } else { 0.0 };
            let dy = shorten(vy, layer != 0, face_y - if falls { min_y } else { max_y }, any);
            exact |= (layer != 0) & is_residue(dy);
            min_y += dy;
            max_y += dy;

            // Horizontal: the larger component first. `a` is its axis; the halves of the window change places with it.
            let row_low = whole((min_y + EPSILON).floor() - bottom) & 7;
            let row_high = whole((max_y - EPSILON).floor() - bottom) & 7;
            let beside = solid & (!0 << (8 * row_low)) & !(!0 << (8 * row_high) << 8);
            let z_first = vx.abs() < vz.abs();
            let turned = (beside & (0x99 * EVERY_ROW))
                | (beside & (0x22 * EVERY_ROW)) << 1
                | (beside & (0x44 * EVERY_ROW)) >> 1;
            let cubes = select(z_first, turned, beside);
            let (va, vb) = if z_first { (vz, vx) } else { (vx, vz) };
            let (face_a, face_b) = if z_first { (face_z, face_x) } else { (face_x, face_z) };
            let (mut min_a, mut max_a) = if z_first { (min_z, max_z) } else { (min_x, max_x) };
            let (min_b, max_b) = if z_first { (min_x, max_x) } else { (min_z, max_z) };

            let along = cubes
                & (select(min_b + EPSILON < face_b, NORTH, 0) | select(max_b - EPSILON >= face_b, SOUTH, 0));
            let forward = va > 0.0;
            let ahead = if forward {
                (along & EAST != 0) & (max_a - EPSILON < face_a)
            } else {
                (along & WEST != 0) & (min_a + EPSILON >= face_a) & (va < 0.0)
            };
            let da = shorten(va, ahead, face_a - if forward { max_a } else { min_a }, any);
            exact |= ahead & is_residue(da);
            min_a += da;
            max_a += da;

            let along = cubes
                & (select(min_a + EPSILON < face_a, WEST, 0) | select(max_a - EPSILON >= face_a, EAST, 0));
            let forward = vb > 0.0;
            let ahead = if forward {
                (along & SOUTH != 0) & (max_b - EPSILON < face_b)
            } else {
                (along & NORTH != 0) & (min_b + EPSILON >= face_b) & (vb < 0.0)
            };
            let db = shorten(vb, ahead, face_b - if forward { max_b } else { min_b }, any);
            exact |= ahead & is_residue(db);

            let (dx, dz) = if z_first { (db, da) } else { (da, db) };
            let moved_squared = dx * dx + dy * dy + dz * dz;
            let wanted_squared = vx * vx + vy * vy + vz * vz;
            let applies =
                (moved_squared > EPSILON) | (small_moves & (wanted_squared - moved_squared < EPSILON));
            let was_grounded = flags & u64::from(Flags::ON_GROUND.0) != 0;
            let phase = ((flags >> 24) + tick) & 3;
            let slides = vx * vx + vz * vz > THROTTLE_SPEED_SQUARED;
            let is_throttled = was_grounded & !slides & (phase != 0);
            // In water, one that has to wait for its phase is pushed all the same. Elsewhere it is known to be clear and is
            // not here, or has to be looked at exactly.
            let waits = DRIFTS & is_throttled;
            exact |= !DRIFTS & is_throttled;
            let new_x = if applies & !waits { x + dx } else { x };
            let new_y = if applies & !waits { y + dy } else { y };
            let new_z = if applies & !waits { z + dz } else { z };

            let hit_x = (vx - dx).abs() >= SAME_MOVE;
            let hit_z = (vz - dz).abs() >= SAME_MOVE;
            let hit_y = vy != dy;
            let grounded = hit_y & falls;

            // What carries it: a block under its box, or under where the box was before it slid; else nothing does.
            let slab = whole((new_y - SUPPORT_DEPTH).floor() - bottom) & 7;
            let carriers = (seen >> (8 * slab)) & 0xF;
            let (new_min_x, new_max_x) = (new_x - HALF_WIDTH, new_x + HALF_WIDTH);
            let (new_min_z, new_max_z) = (new_z - HALF_WIDTH, new_z + HALF_WIDTH);
            let carried = carriers
                & over_columns(new_min_x, new_max_x, face_x, WEST, EAST)
                & over_columns(new_min_z, new_max_z, face_z, NORTH, SOUTH)
                != 0;
            let (old_min_x, old_max_x) = (new_min_x - dx, new_max_x - dx);
            let (old_min_z, old_max_z) = (new_min_z - dz, new_max_z - dz);
            let had_carried = carriers
                & over_columns(old_min_x, old_max_x, face_x, WEST, EAST)
                & over_columns(old_min_z, old_max_z, face_z, NORTH, SOUTH)
                != 0;
            let had_none = flags & u64::from(Flags::GROUND_NO_BLOCKS.0) != 0;
            let no_blocks = grounded & !carried & (had_none | !had_carried);
            // Rounding can put a face of these boxes a hair beyond the columns that were read.
            let (end_x, end_z) = (face_x + fraction(extent & 1), face_z + fraction(extent >> 1 & 1));
            let outside = (new_min_x < face_x - 1.0)
                | (new_max_x > end_x)
                | (old_min_x < face_x - 1.0)
                | (old_max_x > end_x)
                | (new_min_z < face_z - 1.0)
                | (new_max_z > end_z)
                | (old_min_z < face_z - 1.0)
                | (old_max_z > end_z);
            exact |= grounded & outside & !carried & !waits;

            let factor = if grounded { GROUND_FACTOR } else { DRAG_HORIZONTAL };
            let moved_vx = (if hit_x { 0.0 } else { vx }) * factor;
            let moved_vy = (if hit_y { vy * 0.0 } else { vy }) * DRAG_VERTICAL;
            let moved_vz = (if hit_z { 0.0 } else { vz }) * factor;
            self.vx[lane] = if waits { vx } else { moved_vx };
            self.vy[lane] = if waits { vy } else { moved_vy };
            self.vz[lane] = if waits { vz } else { moved_vz };
            self.x[lane] = new_x;
            self.y[lane] = new_y;
            self.z[lane] = new_z;

            let moved = (new_x.to_bits() != x.to_bits())
                | (new_y.to_bits() != y.to_bits())
                | (new_z.to_bits() != z.to_bits());
            let moved_block =
                (new_x.floor() != x.floor()) | (new_y.floor() != y.floor()) | (new_z.floor() != z.floor());
            // In water, whether it is to rest or clear is for the exact path to find out.
            let rests = !DRIFTS
                & carried
                & grounded
                & was_grounded
                & (phase == 0)
                & (vy == RESTING_SPEED)
                & !moved
                & !hit_x
                & !hit_z
                & (beside == 0);
            let left = (new_x < low_chunk_x)
                | (new_x >= low_chunk_x + 16.0)
                | (new_z < low_chunk_z)
                | (new_z >= low_chunk_z + 16.0)
                | (new_y < frame.lost_below);

            let stepped = flags & u64::from(!STEPPED.0)
                | select(DRIFTS, 0, u64::from(Flags::CLEAR.0))
                | select(grounded, u64::from(Flags::ON_GROUND.0), 0)
                | select(no_blocks, u64::from(Flags::GROUND_NO_BLOCKS.0), 0)
                | select(hit_x | hit_z, u64::from(Flags::HIT_SIDEWAYS.0), 0)
                | select(hit_y, u64::from(Flags::HIT_VERTICALLY.0), 0)
                | select(moved, u64::from(Flags::MOVED.0), 0)
                | select(moved_block, u64::from(Flags::MOVED_BLOCK.0), 0);
            let waiting =
                flags & u64::from(!(Flags::OUTPUTS.0 | Flags::CLEAR.0)) | u64::from(Flags::THROTTLED.0);
            self.flags[lane] = select(waits, waiting, stepped);
            self.outcome[lane] = select(exact, outcome::EXACT, 0)
                | select(left, outcome::LEFT, 0)
                | select(grounded & !was_grounded, outcome::LANDED, 0)
                | select(rests, outcome::RESTS, 0);
        }
    }
}

/// The flags that a step writes.
const STEPPED: Flags = Flags(
    Flags::OUTPUTS.0
        | Flags::CLEAR.0
        | Flags::ON_GROUND.0
        | Flags::HIT_SIDEWAYS.0
        | Flags::HIT_VERTICALLY.0
        | Flags::GROUND_NO_BLOCKS.0,
);

/// What is left of the way `by` to a face that is `gap` away, if one is in the way. Where anything solid is near, a way
/// shorter than 1e-7 is none.
#[inline(always)]
fn shorten(by: f64, blocked: bool, gap: f64, any: bool) -> f64 {
    let limited = if by < 0.0 {
        if gap > by { gap } else { by }
    } else if gap < by {
        gap
    } else {
        by
    };
    let left = if blocked { limited } else { by };
    let none = any & (by.abs() < EPSILON) & (by != 0.0);
    if none { 0.0 } else { left }
}

/// What is left of a way stays or becomes none according to what else is in the way: not decided here.
#[inline(always)]
fn is_residue(way: f64) -> bool {
    (way != 0.0) & (way.abs() < EPSILON)
}

/// The columns that a box covers of the two on either side of `face`.
#[inline(always)]
fn over_columns(min: f64, max: f64, face: f64, before: u64, after: u64) -> u64 {
    select(min < face, before, 0) | select(max > face, after, 0)
}

#[inline(always)]
fn below(speed: f64) -> f64 {
    if speed < 0.0 { speed } else { 0.0 }
}

#[inline(always)]
fn above(speed: f64) -> f64 {
    if speed > 0.0 { speed } else { 0.0 }
}

#[inline(always)]
pub(super) fn select(condition: bool, yes: u64, no: u64) -> u64 {
    if condition { yes } else { no }
}

/// 2^52: the sum with a whole number from 0 on holds it in its lowest bits. Vector units have no other conversion in
/// common.
const WHOLE: f64 = 4_503_599_627_370_496.0;

#[inline(always)]
pub(super) fn whole(value: f64) -> u64 {
    (value + WHOLE).to_bits() & 0xFFFF_FFFF
}

#[inline(always)]
fn fraction(value: u64) -> f64 {
    f64::from_bits(value | WHOLE.to_bits()) - WHOLE
}
