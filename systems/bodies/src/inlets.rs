//! Inlets: blocks that take in every body whose box reaches into them.
//!
//! What is taken in goes into a container of the world, from which pipes extract; what falls out of pipes comes back as a
//! body (see the plugin). Cost: O(awake rows of pools with inlets) + O(sleepers over inlets).

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

    fn find_reaching(&self, reaching: &mut Vec<(u32, BlockPos)>) {
        let mut looked_through = None;
        for &inlet in self.inlets.keys() {
            for (x, z) in [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)] {
                // What reaches in has its middle in this column or the next.
                let Some(column) = inlet.checked_offset(x, 0, z) else { continue };
                let Some(&pool) = self.pool_of_chunk.get(&column.chunk()) else { continue };
                let rows = &self.pools[pool as usize].rows;
                self.pools[pool as usize].sleepers(column.column(), &self.places, |number, row| {
                    if bounds_at([rows.x[row], rows.y[row], rows.z[row]]).overlaps(&cell(inlet)) {
                        reaching.push((number, inlet));
                    }
                });
                // Inlets are in ascending order, so those of a pool mostly follow each other.
                if looked_through != Some(pool) {
                    looked_through = Some(pool);
                    self.find_awake(pool as usize, reaching);
                }
            }
        }
        reaching.sort_unstable();
        reaching.dedup();
    }

    fn find_awake(&self, pool: usize, reaching: &mut Vec<(u32, BlockPos)>) {
        let rows = &self.pools[pool].rows;
        for row in 0..self.pools[pool].awake {
            if rows.flags[row].has(Flags::UNLOADED) {
                continue;
            }
            let bounds = bounds_at([rows.x[row], rows.y[row], rows.z[row]]);
            let (low, high) = bounds.cells();
            for x in low[0]..high[0] {
                let column = BlockPos::new(x, low[1], i32::MIN)..=BlockPos::new(x, high[1], i32::MAX);
                for (&inlet, _) in self.inlets.range(column) {
                    if bounds.overlaps(&cell(inlet)) {
                        reaching.push((rows.number[row], inlet));
                    }
                }
            }
        }
    }
}

fn bounds_at(position: [f64; 3]) -> Bounds {
    Body::new(position, [0.0; 3]).bounds()
}

fn cell(at: BlockPos) -> Bounds {
    let min = [at.x, at.y, at.z].map(f64::from);
    Bounds { min, max: min.map(|corner| corner + 1.0) }
}
