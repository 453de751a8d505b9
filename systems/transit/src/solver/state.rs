//! What can be asked of a solver: items, events, totals, memory, and its whole state word by word.

use voxtick_worlds::{BlockPos, ItemStack};

use super::lane::{FROZEN, NEVER, REFUSED};
use super::{TransitSolver, joint_of};
use crate::events::{Events, Totals};
use crate::items::ItemHandle;
use crate::network::{LaneName, NONE, SegmentedGraph};

impl TransitSolver {
    /// The items of a lane, front to back, as (position, handle); `None` where there is no such lane.
    #[must_use]
    pub fn lane(&self, name: LaneName) -> Option<Vec<(u32, ItemHandle)>> {
        let items = self.lanes.items(self.find_lane(name)?, self.tick);
        Some(items.into_iter().map(|(position, handle)| (position, ItemHandle(handle))).collect())
    }

    /// What happened in the last step.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// The stack of an item in a lane, or of one that left in the last step.
    #[must_use]
    pub fn stack(&self, handle: ItemHandle) -> Option<ItemStack> {
        self.items.has_row(handle).then(|| self.items.stack(handle))
    }

    /// How many items came and went.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many items are in lanes, counted lane by lane.
    #[must_use]
    pub fn item_count(&self) -> u64 {
        self.lanes.rows().map(|row| u64::from(row.count)).sum()
    }

    /// How many lanes there are.
    #[must_use]
    pub fn lane_count(&self) -> usize {
        self.graph.segment_count() * 2
    }

    /// How many lanes hold items none of which can move.
    #[must_use]
    pub fn settled_lane_count(&self) -> usize {
        let settled = |&lane: &u32| self.lanes.row(lane).count > 0 && self.lanes.is_settled(lane, self.tick);
        (0..self.lanes.len() as u32).filter(settled).count()
    }

    /// The network.
    #[must_use]
    pub fn graph(&self) -> &SegmentedGraph {
        &self.graph
    }

    /// How many ticks have been run.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Where the router of the junction at `position` goes on, as [`crate::Crossing::cursor`].
    #[must_use]
    pub fn cursor(&self, position: BlockPos) -> u8 {
        self.joint_at(position).map_or(0, |joint| self.junctions[joint as usize].cursor)
    }

    /// How many items the sink at `position` has taken.
    #[must_use]
    pub fn taken(&self, position: BlockPos) -> u64 {
        self.endpoints.sink_at(position).map_or(0, |row| row.taken)
    }

    /// Bytes held for lanes and the items in them: (lanes without items, items with handles and stacks).
    #[must_use]
    pub fn memory_bytes(&self) -> (usize, usize) {
        let (lanes, items) = self.lanes.memory_bytes();
        (lanes + self.wheel.memory_bytes(), items + self.items.memory_bytes())
    }

    /// Tells the whole state word by word, in canonical order: what is on every lane, and what junctions remember.
    /// Handles are left out, since they are rows. Equal to that of the reference in the same state.
    pub fn state_words(&self, mut word: impl FnMut(u64)) {
        word(self.tick);
        let mut junctions: Vec<(u64, u32)> = (0..self.graph.node_slots() as u32)
            .filter(|&node| self.graph.is_live_junction(node))
            .map(|node| (self.graph.node(node).key, node))
            .collect();
        junctions.sort_unstable();
        for (key, node) in junctions {
            let Some(joint) = joint_of(&self.joints, node) else { continue };
            let junction = &self.junctions[joint as usize];
            word(key);
            word(u64::from(junction.cursor));
            for (direction, &lane) in junction.outs.iter().enumerate().filter(|&(_, &lane)| lane != NONE) {
                let row = self.lanes.row(lane);
                word((direction as u64) << 32 | u64::from(row.count));
                word(u64::from(row.is(FROZEN)) | u64::from(row.is(REFUSED)) << 1);
                word(if row.has_arrived(self.tick) { row.due } else { NEVER });
                for (position, handle) in self.lanes.items(lane, self.tick) {
                    let stack = self.items.stack(ItemHandle(handle));
                    word(u64::from(position));
                    word(
                        u64::from(stack.kind.0) << 16
                            | u64::from(stack.max_count) << 8
                            | u64::from(stack.count),
                    );
                }
            }
        }
        self.endpoints.state_words(word);
    }
}
