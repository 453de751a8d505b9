//! Inlets: blocks that take in every body whose box reaches into them.
//!
//! What is taken in goes into a container of the world, from which pipes extract; what falls out of pipes comes back as a
//! body (see the plugin). Cost: O(awake rows of pools with inlets). What lies in
//! an inlet that has no room does not sleep.

use std::collections::BTreeSet;

use crate::body::{Body, Bounds, Flags};
use crate::population::{BodyId, Population};
use voxtick_worlds::{BlockPos, ContainerId, Inventories};

/// A body that went into an inlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entered {
    /// The body, which is gone.
    pub body: BodyId,
    /// The inlet.
    pub inlet: BlockPos,
    /// Where its stack is now.
    pub container: ContainerId,
}

impl Population {
    /// Lets the block at `at` take in bodies, into `container`. One container may have any number of inlets.
    pub fn add_inlet(&mut self, at: BlockPos, container: ContainerId) {
        self.inlets.insert(at, container);
        let middle = [at.x, at.y, at.z].map(|along| f64::from(along) + 0.5);
        let mut there = Vec::new();
        self.in_sphere(middle, 1.0, &mut there);
        for id in there {
            if let Some((pool, row)) = self.find(id) {
                self.pools[pool].wake(row, pool as u32, &mut self.places, self.ticks);
            }
        }
    }

    /// Lets the block at `at` take in nothing any more. Returns whether it did.
    pub fn remove_inlet(&mut self, at: BlockPos) -> bool {
        self.inlets.remove(&at).is_some()
    }

    /// Takes in what lies in inlets, in ascending order of number, as long as it fits whole; the lowest inlet first where
    /// a body reaches into several. Call it after [`Population::tick`]; the plugin does.
    ///
    /// A body that is held because terrain is not loaded is left alone. In the ledger a stack taken in counts as delivered.
    pub fn take_in(&mut self, inventories: &mut Inventories) {
        if self.inlets.is_empty() {
            return;
        }
        let mut reaching = std::mem::take(&mut self.reaching);
        reaching.clear();
        self.find_reaching(&mut reaching);
        reaching.sort_unstable();
        for &(number, inlet) in &reaching {
            let (Some((pool, row)), Some(&container)) = (self.places.find(number), self.inlets.get(&inlet))
            else {
                continue;
            };
            if inventories.insert(container, self.pools[pool].rows.stack(row)) {
                let body = self.id(number);
                self.take(body);
                self.ledger.delivered += 1;
                self.events.entered.push(Entered { body, inlet, container });
            }
        }
        self.reaching = reaching;
    }

    /// True where a body reaches into an inlet: such a body does not sleep, so that it is found when there is room.
    pub(crate) fn reaches_inlet(&self, pool: usize, row: usize) -> bool {
        if self.inlets.is_empty() {
            return false;
        }
        let mut any = false;
        self.inlets_of(pool, row, |_| any = true);
        any
    }

    fn find_reaching(&self, reaching: &mut Vec<(u32, BlockPos)>) {
        for pool in self.pools_at_inlets() {
            for row in 0..self.pools[pool].awake {
                let rows = &self.pools[pool].rows;
                if !rows.flags[row].has(Flags::UNLOADED) {
                    self.inlets_of(pool, row, |inlet| reaching.push((rows.number[row], inlet)));
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
            .keys()
            .flat_map(|inlet| corners.into_iter().filter_map(|(x, z)| beside(inlet, x, z)))
            .collect()
    }

    fn inlets_of(&self, pool: usize, row: usize, mut found: impl FnMut(BlockPos)) {
        let rows = &self.pools[pool].rows;
        let bounds = Body::new([rows.x[row], rows.y[row], rows.z[row]], [0.0; 3]).bounds();
        let (low, high) = bounds.cells();
        for x in low[0]..high[0] {
            let column = BlockPos::new(x, low[1], i32::MIN)..=BlockPos::new(x, high[1], i32::MAX);
            for (&inlet, _) in self.inlets.range(column) {
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
