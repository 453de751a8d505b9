//! Inlets: blocks that take in every body whose box reaches into them.
//!
//! What is taken in goes into a container of the world or straight into a pipe; what falls out of pipes comes back as a
//! body (see the plugin). A body goes only where the whole of it is taken, and otherwise stays and is offered again in
//! the next tick. Cost: O(awake rows of pools with inlets). What lies in an inlet that has no room does not sleep.

use std::collections::{BTreeMap, BTreeSet};

use crate::body::{Body, Bounds, Flags};
use crate::pool::Pool;
use crate::population::{BodyId, Population};
use voxtick_worlds::{BlockPos, ContainerId, ItemStack, PipeEntry};

/// A body that went into an inlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entered {
    /// The body, which is gone.
    pub body: BodyId,
    /// The inlet.
    pub inlet: BlockPos,
    /// Where its stack is now.
    pub into: Destination,
}

/// Where an inlet leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// Into a container of the world's inventories.
    Container(ContainerId),
    /// Onto a lane of pipes.
    Pipe(PipeEntry),
}

/// Inlets by place, in the canonical order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inlets {
    by_place: BTreeMap<BlockPos, Destination>,
    /// Their coordinates in the same order, for searches.
    columns: [Vec<i32>; 3],
}

impl Inlets {
    fn insert(&mut self, at: BlockPos, destination: Destination) {
        if self.by_place.insert(at, destination).is_none() {
            let row = self.row(at);
            for (column, along) in self.columns.iter_mut().zip([at.x, at.y, at.z]) {
                column.insert(row, along);
            }
        }
    }

    fn remove(&mut self, at: BlockPos) -> bool {
        let was_there = self.by_place.remove(&at).is_some();
        if was_there {
            let row = self.row(at);
            for column in &mut self.columns {
                column.remove(row);
            }
        }
        was_there
    }

    fn is_empty(&self) -> bool {
        self.by_place.is_empty()
    }

    pub(crate) fn columns(&self) -> [&[i32]; 3] {
        self.columns.each_ref().map(Vec::as_slice)
    }

    /// Where a place stands, or would stand, in the columns.
    fn row(&self, at: BlockPos) -> usize {
        let (mut low, mut high) = (0, self.columns[0].len());
        while low < high {
            let middle = low + (high - low) / 2;
            let [x, y, z] = self.columns.each_ref().map(|column| column[middle]);
            if BlockPos::new(x, y, z) < at { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl Population {
    /// Lets the block at `at` take in bodies. Any number of inlets may lead to one destination.
    pub fn add_inlet(&mut self, at: BlockPos, destination: Destination) {
        self.inlets.insert(at, destination);
        let middle = [at.x, at.y, at.z].map(|along| f64::from(along) + 0.5);
        let mut there = Vec::new();
        self.in_sphere(middle, 1.0, &mut there);
        for id in there {
            if let Some((pool, row)) = self.find(id) {
                self.pools[pool].wake(row, pool as u32, &self.places, self.ticks);
            }
        }
    }

    /// Lets the block at `at` take in nothing any more. Returns whether it did.
    pub fn remove_inlet(&mut self, at: BlockPos) -> bool {
        self.inlets.remove(at)
    }

    /// Offers what lies in inlets to their destinations, in ascending order of number; the lowest inlet first where a body
    /// reaches into several. `accepts` takes the whole stack and says so, or changes nothing. Call it after
    /// [`Population::tick`]; the plugin does.
    ///
    /// A body that is held because terrain is not loaded is left alone. In the ledger a stack taken in counts as delivered.
    pub fn take_in(&mut self, mut accepts: impl FnMut(Destination, ItemStack) -> bool) {
        if self.inlets.is_empty() {
            return;
        }
        let mut reaching = std::mem::take(&mut self.reaching);
        reaching.clear();
        self.find_reaching(&mut reaching);
        reaching.sort_unstable();
        for &(number, inlet) in &reaching {
            let (Some((pool, row)), Some(&into)) =
                (self.places.find(number), self.inlets.by_place.get(&inlet))
            else {
                continue;
            };
            if accepts(into, self.pools[pool].rows.stack(row)) {
                let body = self.id(number);
                self.take(body);
                self.ledger.delivered += 1;
                self.events.entered.push(Entered { body, inlet, into });
            }
        }
        self.reaching = reaching;
    }

    /// True where there is any inlet.
    pub(crate) fn has_inlets(&self) -> bool {
        !self.inlets.is_empty()
    }

    fn find_reaching(&self, reaching: &mut Vec<(u32, BlockPos)>) {
        for pool in self.pools_at_inlets() {
            for row in 0..self.pools[pool].awake {
                let rows = &self.pools[pool].rows;
                if !rows.flags[row].has(Flags::UNLOADED) {
                    self.pools[pool].inlets_of(row, &self.inlets, |inlet| {
                        reaching.push((rows.number[row], inlet));
                    });
                }
            }
        }
    }

    /// Pools with bodies that may reach into an inlet, each once, in ascending order.
    fn pools_at_inlets(&self) -> BTreeSet<usize> {
        let beside = |inlet: &BlockPos, x: i32, z: i32| {
            let column = inlet.checked_offset(x, 0, z)?;
            self.pool_of_chunk.get(&column.chunk()).map(|&pool| pool as usize)
        };
        let corners = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
        self.inlets
            .by_place
            .keys()
            .flat_map(|inlet| corners.into_iter().filter_map(|(x, z)| beside(inlet, x, z)))
            .collect()
    }
}

impl Pool {
    /// True where a body reaches into an inlet: such a body does not sleep, so that it is found when there is room.
    pub(crate) fn reaches_inlet(&self, row: usize, inlets: &Inlets) -> bool {
        let mut any = false;
        if !inlets.is_empty() {
            self.inlets_of(row, inlets, |_| any = true);
        }
        any
    }

    fn inlets_of(&self, row: usize, inlets: &Inlets, mut found: impl FnMut(BlockPos)) {
        let bounds = Body::new([self.rows.x[row], self.rows.y[row], self.rows.z[row]], [0.0; 3]).bounds();
        let (low, high) = bounds.cells();
        for x in low[0]..high[0] {
            let column = BlockPos::new(x, low[1], i32::MIN)..=BlockPos::new(x, high[1], i32::MAX);
            for (&inlet, _) in inlets.by_place.range(column) {
                if bounds.overlaps(&cell(inlet)) {
                    found(inlet);
                }
            }
        }
    }
}

fn cell(at: BlockPos) -> Bounds {
    let min = [at.x, at.y, at.z].map(f64::from);
    Bounds { min, max: min.map(|corner| corner + 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_follow_what_comes_and_goes() {
        let mut inlets = Inlets::default();
        let place = |number: i32| BlockPos::new(number * 7 % 5 - 2, number % 3, number * 11 % 4);
        for number in 0..40 {
            inlets.insert(place(number), Destination::Container(ContainerId(0)));
            if number % 3 == 0 {
                inlets.remove(place(number / 2));
            }
            let [x, y, z] = inlets.columns();
            let rows = x.iter().zip(y).zip(z).map(|((&x, &y), &z)| BlockPos::new(x, y, z));
            assert!(rows.eq(inlets.by_place.keys().copied()), "after {number}");
        }
        assert!(!inlets.is_empty());
    }
}
