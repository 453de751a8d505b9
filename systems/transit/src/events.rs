//! What happened in a tick, as columns in canonical order, and what fell out of pipes that were taken away.

use voxtick_worlds::{BlockPos, ItemStack};

use crate::items::ItemHandle;
use crate::network::key;

/// What happened to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// A source or an extractor put it into its lane.
    Created = 0,
    /// The sink at the junction took it.
    Delivered = 1,
    /// It reached the end of its lane and has to wait: told once, not every tick it waits.
    Refused = 2,
}

/// One row of [`Events`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The junction where it happened.
    pub position: BlockPos,
    /// The item. Its stack can be asked for until the next step, even where it was delivered.
    pub handle: ItemHandle,
}

/// The events of one tick: by position of the junction, then in the order in which they were decided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    pub(crate) kinds: Vec<EventKind>,
    pub(crate) keys: Vec<u64>,
    pub(crate) handles: Vec<u32>,
}

impl Events {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// True where nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// What happened, row by row.
    #[must_use]
    pub fn kinds(&self) -> &[EventKind] {
        &self.kinds
    }

    /// One row; `None` past the end.
    #[must_use]
    pub fn row(&self, row: usize) -> Option<Event> {
        Some(Event {
            kind: *self.kinds.get(row)?,
            position: key::unpack(self.keys[row]),
            handle: ItemHandle(self.handles[row]),
        })
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        (0..self.len()).filter_map(|row| self.row(row))
    }

    /// The handles of what was delivered.
    pub(crate) fn delivered(&self) -> impl Iterator<Item = u32> + '_ {
        let delivered = |&(_, &kind): &(usize, &EventKind)| kind == EventKind::Delivered;
        self.kinds.iter().enumerate().filter(delivered).map(|(row, _)| self.handles[row])
    }

    pub(crate) fn push(&mut self, kind: EventKind, key: u64, handle: u32) {
        self.kinds.push(kind);
        self.keys.push(key);
        self.handles.push(handle);
    }

    /// Puts rows in the order of their junctions, and keeps the order of those of one junction.
    pub(crate) fn sort(&mut self, order: &mut Vec<u32>) {
        if self.keys.is_sorted() {
            return;
        }
        order.clear();
        order.extend(0..self.len() as u32);
        // Unstable with the row as second key is stable, and needs no buffer.
        order.sort_unstable_by_key(|&row| (self.keys[row as usize], row));
        // Each row is swapped into its place; rows that have been placed are passed over.
        for place in 0..order.len() {
            let mut from = order[place] as usize;
            while from < place {
                from = order[from] as usize;
            }
            self.kinds.swap(place, from);
            self.keys.swap(place, from);
            self.handles.swap(place, from);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.kinds.clear();
        self.keys.clear();
        self.handles.clear();
    }
}

/// An item that lost its place in a pipe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spill {
    /// The item's handle, free for others from now on.
    pub handle: ItemHandle,
    /// What fell out.
    pub stack: ItemStack,
    /// Where: the point on the line through the centres of the blocks, exact.
    pub point: [f64; 3],
}

/// How many items came and went since the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Put into lanes: by sources, extractors, insertion, loading.
    pub created: u64,
    /// Taken by sinks.
    pub delivered: u64,
    /// Fallen out of pipes that were taken away.
    pub spilled: u64,
    /// Taken out with their chunks; what comes back with one is created anew.
    pub stored: u64,
}

impl Totals {
    /// How many items must be in lanes.
    #[must_use]
    pub const fn present(&self) -> u64 {
        self.created - self.delivered - self.spilled - self.stored
    }
}
