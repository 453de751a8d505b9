//! Inlets: blocks that take in every body whose box reaches into them.
//!
//! What is taken in goes into a container of the world or straight into a pipe; what falls out of pipes comes back as a
//! body (see the plugin). A body goes only where the whole of it is taken, and otherwise stays and is offered again in
//! the next tick. Cost: O(pools with awake rows + awake rows of pools with inlets), however many inlets there are. What lies in an inlet
//! that has no room does not sleep.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use crate::body::{Body, Bounds, Flags};
use crate::pool::Pool;
use crate::population::{BodyId, Population};
use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockPos, ChunkPos, ContainerId, ItemStack, PipeEntry};

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
    /// Chunks with bodies of which some may reach into inlets, and into how many.
    beside: FxHashMap<ChunkPos, u32>,
}

impl Inlets {
    fn insert(&mut self, at: BlockPos, destination: Destination) {
        if self.by_place.insert(at, destination).is_none() {
            let row = self.row(at);
            for (column, along) in self.columns.iter_mut().zip([at.x, at.y, at.z]) {
                column.insert(row, along);
            }
            for chunk in chunks_beside(at) {
                *self.beside.entry(chunk).or_default() += 1;
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
            for chunk in chunks_beside(at) {
                if let Entry::Occupied(mut count) = self.beside.entry(chunk) {
                    *count.get_mut() -= 1;
                    if *count.get() == 0 {
                        count.remove();
                    }
                }
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
        let mut listed = std::mem::take(&mut self.listed);
        self.take_restless(&mut listed);
        listed.iter().for_each(|&pool| self.places.mark_restless(pool));
        self.find_reaching(&listed, &mut reaching);
        self.listed = listed;
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

    fn find_reaching(&self, restless: &[u32], reaching: &mut Vec<(u32, BlockPos)>) {
        let is_beside_any = |pool: &&Pool| self.inlets.beside.contains_key(&pool.chunk);
        for pool in restless.iter().map(|&pool| &self.pools[pool as usize]).filter(is_beside_any) {
            for row in 0..pool.awake {
                if !pool.rows.flags[row].has(Flags::UNLOADED) {
                    pool.inlets_of(row, &self.inlets, |inlet| {
                        reaching.push((pool.rows.number[row], inlet));
                    });
                }
            }
        }
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

/// The chunks with columns within one of a block, each once.
fn chunks_beside(at: BlockPos) -> impl Iterator<Item = ChunkPos> {
    let corners = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
    let chunks = corners.map(|(x, z)| at.checked_offset(x, 0, z).map(BlockPos::chunk));
    (0..4)
        .filter(move |&corner| !chunks[..corner].contains(&chunks[corner]))
        .filter_map(move |corner| chunks[corner])
}

fn cell(at: BlockPos) -> Bounds {
    let min = [at.x, at.y, at.z].map(f64::from);
    Bounds { min, max: min.map(|corner| corner + 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_and_chunks_follow_what_comes_and_goes() {
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
            let mut beside = FxHashMap::default();
            for chunk in inlets.by_place.keys().flat_map(|&inlet| chunks_beside(inlet)) {
                *beside.entry(chunk).or_default() += 1;
            }
            assert_eq!(inlets.beside, beside, "after {number}");
        }
        assert!(!inlets.is_empty());
    }
}
