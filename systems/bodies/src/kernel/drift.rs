//! What water does to the bodies of a batch: the currents of the cells that they are in, and buoyancy.
//!
//! The same arithmetic in the same order as in the exact path, which the tests hold it to. Reading the cells is the part
//! that no vector unit does: bodies are sorted by how many cells they reach into, so that no step of it has to guess.

use crate::body::Flags;
use crate::exact::fluids::{
    BUOYANCY, BUOYANT_SPEED, FLOATING_DEPTH, FLUID_MARGIN, FULL_FLOW_DEPTH, LEAST_FLOW_SQUARED, WATER_DRAG,
    WATER_PUSH,
};
use crate::kernel::currents::{Current, Currents};
use crate::kernel::lanes::{BATCH, Frame, Lanes, outcome, select, whole};
use crate::kernel::tile::SEEN;
use crate::rules::{GRAVITY, HALF_WIDTH, HEIGHT};

/// The water around up to [`BATCH`] bodies.
pub(crate) struct Drift {
    /// The flows of the cells that a body is in, added up.
    x: [f64; BATCH],
    y: [f64; BATCH],
    z: [f64; BATCH],
    /// 1 by the number of those cells; 0 for none.
    share: [f64; BATCH],
    /// How far the water reaches above the lower face of the body's box.
    depth: [f64; BATCH],
}

/// 1 by how many cells a body is in.
const SHARES: [f64; 9] =
    [0.0, 1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0, 1.0 / 6.0, 1.0 / 7.0, 1.0 / 8.0];

impl Drift {
    pub(crate) fn new() -> Drift {
        Drift { x: [0.0; BATCH], y: [0.0; BATCH], z: [0.0; BATCH], share: [0.0; BATCH], depth: [0.0; BATCH] }
    }
}

impl Lanes {
    /// Adds the currents that the first `count` lanes are in to their velocities.
    #[inline(always)]
    pub(super) fn drift(&mut self, count: usize, currents: &Currents, frame: Frame<'_>) {
        self.find_cells(count, frame);
        if !self.add_up_currents(count, currents, frame.stride) {
            return;
        }
        let drift = &self.drift;
        for lane in 0..count {
            let (x, y, z, share) = (drift.x[lane], drift.y[lane], drift.z[lane], drift.share[lane]);
            let squared = x * x + y * y + z * z;
            // What is not known makes the velocity no number, and such a lane is left to the exact path.
            let flows = (squared >= LEAST_FLOW_SQUARED) | squared.is_nan();
            let (x, y, z) = (x * share, y * share, z * share);
            // Never near 0 where the flows add up to anything: a push is as strong as it gets, and the rule for weaker
            // ones does not matter.
            let length = (x * x + y * y + z * z).sqrt();
            let push = |part: f64| part / length * WATER_PUSH;
            let (vx, vy, vz) = (self.vx[lane], self.vy[lane], self.vz[lane]);
            self.vx[lane] = if flows { vx + push(x) } else { vx };
            self.vy[lane] = if flows { vy + push(y) } else { vy };
            self.vz[lane] = if flows { vz + push(z) } else { vz };
        }
    }

    /// Slows and lifts what floats; lets all else fall.
    #[inline(always)]
    pub(super) fn buoy_or_fall(&mut self, count: usize) {
        for lane in 0..count {
            let (vx, vy, vz) = (self.vx[lane], self.vy[lane], self.vz[lane]);
            let floats = self.drift.depth[lane] > FLOATING_DEPTH;
            let lift = if vy < BUOYANT_SPEED { BUOYANCY } else { 0.0 };
            self.vx[lane] = if floats { vx * WATER_DRAG } else { vx };
            self.vy[lane] = if floats { vy + lift } else { vy - GRAVITY };
            self.vz[lane] = if floats { vz * WATER_DRAG } else { vz };
        }
    }

    /// Marks what is in water, and what has come to where the water is not known.
    #[inline(always)]
    pub(super) fn finish_drift(&mut self, count: usize) {
        for lane in 0..count {
            let is_unknown = self.drift.x[lane].is_nan();
            let is_wet = self.drift.share[lane] > 0.0;
            self.flags[lane] |= select(is_wet, u64::from(Flags::WET.0), 0);
            self.outcome[lane] |= select(is_unknown, outcome::EXACT, 0);
        }
    }

    /// Which cells each box is in, and where those stand in the table of currents.
    #[inline(always)]
    fn find_cells(&mut self, count: usize, frame: Frame<'_>) {
        let [west, bottom, north] = frame.origin.map(f64::from);
        let stride = frame.stride as f64;
        for lane in 0..count {
            let (x, y, z) = (self.x[lane], self.y[lane], self.z[lane]);
            let low_x = (x - HALF_WIDTH + FLUID_MARGIN).floor();
            let low_y = (y + FLUID_MARGIN).floor();
            let low_z = (z - HALF_WIDTH + FLUID_MARGIN).floor();
            let wide_x = (x + HALF_WIDTH - FLUID_MARGIN).ceil() - low_x > 1.0;
            let wide_y = (y + HEIGHT - FLUID_MARGIN).ceil() - low_y > 1.0;
            let wide_z = (z + HALF_WIDTH - FLUID_MARGIN).ceil() - low_z > 1.0;
            let (column_x, column_z, row) = (low_x - west, low_z - north, low_y - bottom);
            let fits = (column_x >= 0.0)
                & (column_x <= SEEN as f64 - 2.0)
                & (column_z >= 0.0)
                & (column_z <= SEEN as f64 - 2.0)
                & (row >= 0.0)
                & (row <= stride - 2.0);
            let place = (column_z * SEEN as f64 + column_x) * stride + row;
            self.low_y[lane] = low_y;
            self.extent[lane] = u64::from(wide_x) << 2 | u64::from(wide_y) << 1 | u64::from(wide_z);
            self.place[lane] = if fits { whole(place) } else { u64::MAX };
        }
    }

    /// Adds up the flows of all cells of each lane, `x` outermost, then `y`, then `z`. Returns whether anything flows.
    #[inline(always)]
    fn add_up_currents(&mut self, count: usize, currents: &Currents, stride: usize) -> bool {
        let mut any_flows = false;
        let mut starts = [0_u8; 9];
        for lane in 0..count {
            starts[(self.extent[lane] & 7) as usize + 1] += 1;
        }
        for class in 0..8 {
            starts[class + 1] += starts[class];
        }
        let mut order = [0_u8; BATCH];
        let mut next = starts;
        for lane in 0..count {
            let place = &mut next[(self.extent[lane] & 7) as usize];
            order[usize::from(*place) % BATCH] = lane as u8;
            *place += 1;
        }
        for class in 0..8 {
            let lanes = &order[usize::from(starts[class])..usize::from(starts[class + 1])];
            // The cells of this class in the order in which they count.
            let mut cells = [(0, 0); 8];
            let mut used = 0;
            for cell in 0..8 {
                if cell & !class == 0 {
                    let (x, y, z) = (cell >> 2, cell >> 1 & 1, cell & 1);
                    cells[used] = ((z * SEEN + x) * stride + y, y);
                    used += 1;
                }
            }
            for &lane in lanes {
                any_flows |= self.add_up_lane(usize::from(lane) % BATCH, &cells[..used], currents);
            }
        }
        any_flows
    }

    #[inline(always)]
    fn add_up_lane(&mut self, lane: usize, cells: &[(usize, usize)], currents: &Currents) -> bool {
        let place = self.place[lane] as usize;
        let low_y = self.low_y[lane];
        let floor = self.y[lane] + FLUID_MARGIN;
        let (mut depth, mut count) = (0.0_f64, 0);
        // Four wide: the height comes along and is not used.
        let mut total = [0.0; 4];
        for &(offset, y) in cells {
            let Current(flow) = currents.at_cell(place.wrapping_add(offset));
            // In single precision, as in the exact path: this rounds to it once.
            let surface = f64::from((low_y + y as f64 + flow[3]) as f32);
            let reaches = surface >= floor;
            let above = surface - floor;
            depth = if reaches & (above > depth) { above } else { depth };
            let weight = if depth < FULL_FLOW_DEPTH { depth } else { 1.0 };
            let sum: [f64; 4] = std::array::from_fn(|part| total[part] + flow[part] * weight);
            total = std::array::from_fn(|part| if reaches { sum[part] } else { total[part] });
            count += usize::from(reaches);
        }
        self.drift.x[lane] = total[0];
        self.drift.y[lane] = total[1];
        self.drift.z[lane] = total[2];
        self.drift.share[lane] = SHARES[count];
        self.drift.depth[lane] = depth;
        // What is no number is unequal too.
        total[..3] != [0.0; 3]
    }
}
