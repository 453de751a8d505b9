//! The changed cells in and around one chunk, and which bodies they concern.

use std::ops::RangeInclusive;

use crate::body::{Body, floor};
use crate::rules::{HALF_WIDTH, HEIGHT};
use voxtick_worlds::{BlockPos, ChunkPos};

/// Half a box and all that a sleeper can still drift: cells farther away do not concern it.
pub(crate) const SLEEPER_REACH: f64 = HALF_WIDTH + 0.001;
/// How far a sleeper would fall in its moving phase, and a little.
const SLEEPER_FALL: f64 = 0.17;
/// How many columns away from its chunk a frozen body can look, and a few more: faster ones are not frozen.
pub(crate) const FROZEN_REACH: i32 = 8;
/// Columns along one edge of what a pool's sleepers reach.
const EDGE: usize = 18;

/// Changed cells in and around one chunk, by column.
#[derive(Debug, Default)]
pub(crate) struct ChangedCells {
    /// One bit a column, one word for each `z`; as many as five bits can tell.
    columns: [u32; 32],
    /// The same for what is up to [`FROZEN_REACH`] columns from the chunk.
    around: [u32; 32],
    /// The lowest and the highest of these.
    heights: Option<(i32, i32)>,
    cells: Vec<(u16, i32)>,
}

/// Where a body that is held looks at blocks on its next move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// From the column [`FROZEN_REACH`] before the chunk on, both ends included.
    x: (u8, u8),
    z: (u8, u8),
    heights: (i16, i16),
}

/// A column along one axis, counted from the one `reach` before the chunk.
fn column_from(along: i32, chunk: i32, reach: i32) -> i64 {
    i64::from(along) - i64::from(chunk) * 16 + i64::from(reach)
}

impl Way {
    /// That of a body of this chunk that is not too fast to be frozen.
    pub(crate) fn of(body: &Body, chunk: ChunkPos) -> Way {
        let (low, high) = body.bounds().swept(body.velocity).cells();
        let column = |along, chunk| column_from(along, chunk, FROZEN_REACH).clamp(0, 31) as u8;
        let height = |y: i32| y.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        // Fluids flow by what is beside, above and beyond, and a push leads somewhat farther.
        Way {
            x: (column(low[0] - 2, chunk.x), column(high[0] + 1, chunk.x)),
            z: (column(low[2] - 2, chunk.z), column(high[2] + 1, chunk.z)),
            heights: (height(low[1] - 3), height(high[1] + 3)),
        }
    }
}

impl ChangedCells {
    /// Forgets all cells.
    pub(crate) fn clear(&mut self) {
        self.columns = [0; 32];
        self.around = [0; 32];
        self.heights = None;
        self.cells.clear();
    }

    /// Adds a cell, unless it is too far from the chunk to concern anything in it.
    pub(crate) fn add(&mut self, at: BlockPos, chunk: ChunkPos) {
        let column = |along, chunk, reach, edge| {
            usize::try_from(column_from(along, chunk, reach)).ok().filter(|&column| column < edge)
        };
        let around =
            [(at.x, chunk.x), (at.z, chunk.z)].map(|(at, chunk)| column(at, chunk, FROZEN_REACH, 32));
        if let [Some(x), Some(z)] = around {
            self.around[z] |= 1 << x;
            let (lowest, highest) = self.heights.unwrap_or((at.y, at.y));
            self.heights = Some((lowest.min(at.y), highest.max(at.y)));
        }
        if let (Some(x), Some(z)) = (column(at.x, chunk.x, 1, EDGE), column(at.z, chunk.z, 1, EDGE)) {
            self.columns[z] |= 1 << x;
            self.cells.push(((z * EDGE + x) as u16, at.y));
        }
    }

    /// To be called when all cells have been added.
    pub(crate) fn sort(&mut self) {
        self.cells.sort_unstable();
        self.cells.dedup();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// False where no block that a held body looks at has changed. Can be true too soon.
    pub(crate) fn any_on(&self, way: &Way) -> bool {
        let Some((lowest, highest)) = self.heights else { return false };
        let columns = !0 << way.x.0 & !0 >> (31 - way.x.1);
        lowest <= way.heights.1.into()
            && highest >= way.heights.0.into()
            && self.around[way.z.0.into()..=way.z.1.into()].iter().any(|&line| line & columns != 0)
    }

    /// The columns that the lowest corner of a sleeper's reach can lie in where it reaches a changed one: a word for each
    /// `z`, both from the column north-west of the chunk on.
    pub(crate) fn corners(&self) -> [u32; EDGE - 1] {
        std::array::from_fn(|z| {
            let both = self.columns[z] | self.columns[z + 1];
            (both | both >> 1) & ((1 << (EDGE - 1)) - 1)
        })
    }

    /// True where a sleeper at `position` in the chunk, its next move or its ground reaches a changed cell.
    #[inline]
    pub(crate) fn any_within_reach(&self, [x, y, z]: [f64; 3], chunk: ChunkPos) -> bool {
        // In columns from one before the chunk on: never below 0, so that cutting off rounds down.
        let [x, z] = [(x, chunk.x), (z, chunk.z)].map(|(at, chunk)| at - (f64::from(chunk) * 16.0 - 1.0));
        if !self.any_near(x, z) {
            return false;
        }
        let columns = |along: f64| [(along - SLEEPER_REACH) as usize, (along + SLEEPER_REACH) as usize];
        let heights = floor(y - SLEEPER_FALL) - 1..=floor(y + HEIGHT);
        columns(z).iter().any(|&z| columns(x).iter().any(|&x| self.any_changed([x, z], &heights)))
    }

    /// False where no column that a sleeper at `x` and `z` reaches has changed. Can be true by a hair too soon.
    #[inline(always)]
    fn any_near(&self, x: f64, z: f64) -> bool {
        // PERF: the sum with 2^52 rounds to whole numbers, half a column earlier; conversions took four times as long as all
        // the rest, and most who are asked lie beside.
        let column = |along: f64| (along - 0.5 + 4_503_599_627_370_496.0).to_bits() as usize & 31;
        let reach = SLEEPER_REACH + 1.0e-9;
        let lines = self.columns[column(z - reach)] | self.columns[column(z + reach)];
        lines & (1 << column(x - reach) | 1 << column(x + reach)) != 0
    }

    fn any_changed(&self, [x, z]: [usize; 2], heights: &RangeInclusive<i32>) -> bool {
        let column = (z * EDGE + x) as u16;
        let first = self.cells.partition_point(|&cell| cell < (column, *heights.start()));
        self.cells.get(first).is_some_and(|&cell| cell <= (column, *heights.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A changed block once woke all that was held over its column, however far above.
    #[test]
    fn a_change_concerns_what_is_held_on_its_way_alone() {
        let here = ChunkPos::new(3, -2);
        let way = Way::of(&Body::new([48.1, 70.0, -24.5], [-0.4, -0.2, 0.0]), here);
        let concerns = |x: i32, y: i32, z: i32| {
            let mut changed = ChangedCells::default();
            changed.add(BlockPos::new(x, y, z), here);
            changed.any_on(&way)
        };
        assert!(concerns(48, 70, -25) && concerns(47, 69, -25) && concerns(46, 71, -26));
        assert!(!concerns(48, 60, -25) && !concerns(48, 80, -25), "far below and above");
        assert!(!concerns(55, 70, -25) && !concerns(48, 70, -31) && !concerns(44, 70, -25), "beside its way");
        assert!(!ChangedCells::default().any_on(&way));
    }
}
