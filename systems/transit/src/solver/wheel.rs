//! A timing wheel: what is due at which tick, without looking at what is not.
//!
//! Entries lie in blocks of 15 that are chained per tick, so that filling and emptying a tick touches few cache lines
//! and a steady load allocates nothing. What is due beyond the wheel's turn waits in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ticks in one turn.
const TURN: u64 = 1024;
const BLOCK: usize = 15;
const NONE: u32 = u32::MAX;

/// Something that falls due: a kind and a row, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry(u32);

/// What falls due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// The front item of a lane arrives.
    Arrival(u32),
    /// The next item of a source is due.
    Source(u32),
    /// A junction where something waits is worth a visit.
    Junction(u32),
}

/// The greatest row that an entry can name.
pub(crate) const MAX_ROW: u32 = (1 << 30) - 1;

#[derive(Debug, Clone)]
pub(crate) struct Wheel {
    /// First block of each tick and how many entries it holds; further blocks of the chain are full.
    slots: Vec<(u32, u32)>,
    blocks: Vec<Block>,
    free: Vec<u32>,
    far: BinaryHeap<Reverse<(u64, Entry)>>,
    /// The last tick that was taken out.
    now: u64,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    entries: [Entry; BLOCK],
    next: u32,
}

impl Entry {
    pub(crate) fn new(due: Due) -> Entry {
        Entry(match due {
            Due::Arrival(row) => row,
            Due::Source(row) => row | 1 << 30,
            Due::Junction(row) => row | 2 << 30,
        })
    }

    pub(crate) fn due(self) -> Due {
        let row = self.0 & MAX_ROW;
        match self.0 >> 30 {
            0 => Due::Arrival(row),
            1 => Due::Source(row),
            _ => Due::Junction(row),
        }
    }
}

impl Wheel {
    pub(crate) fn new(now: u64) -> Wheel {
        Wheel {
            slots: vec![(NONE, 0); TURN as usize],
            blocks: Vec::new(),
            free: Vec::new(),
            far: BinaryHeap::new(),
            now,
        }
    }

    /// Notes an entry for a tick that has not been taken out yet.
    pub(crate) fn push(&mut self, tick: u64, due: Due) {
        debug_assert!(tick > self.now, "an entry for tick {tick} at tick {}", self.now);
        if tick - self.now >= TURN {
            self.far.push(Reverse((tick, Entry::new(due))));
            return;
        }
        let slot = &mut self.slots[(tick % TURN) as usize];
        if slot.0 == NONE || slot.1 as usize == BLOCK {
            let next = slot.0;
            let block = Block { entries: [Entry(0); BLOCK], next };
            slot.0 = match self.free.pop() {
                Some(at) => {
                    self.blocks[at as usize] = block;
                    at
                }
                None => {
                    self.blocks.push(block);
                    (self.blocks.len() - 1) as u32
                }
            };
            slot.1 = 0;
        }
        self.blocks[slot.0 as usize].entries[slot.1 as usize] = Entry::new(due);
        slot.1 += 1;
    }

    /// Goes on to the next tick and hands out its entries, in no order.
    pub(crate) fn advance(&mut self, into: &mut Vec<Entry>) {
        self.now += 1;
        while let Some(&Reverse((tick, entry))) = self.far.peek() {
            if tick > self.now {
                break;
            }
            self.far.pop();
            into.push(entry);
        }
        let slot = &mut self.slots[(self.now % TURN) as usize];
        let (mut at, mut count) = std::mem::replace(slot, (NONE, 0));
        while at != NONE {
            let block = &self.blocks[at as usize];
            into.extend_from_slice(&block.entries[..count as usize]);
            self.free.push(at);
            at = block.next;
            count = BLOCK as u32;
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * 8
            + self.blocks.capacity() * 64
            + self.free.capacity() * 4
            + self.far.capacity() * 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_comes_out_once_and_in_its_tick() {
        let mut wheel = Wheel::new(40);
        let mut expected = Vec::new();
        for row in 0..5000u32 {
            let tick = 41 + u64::from(row.wrapping_mul(2_654_435_761) % 3000);
            wheel.push(tick, if row % 3 == 0 { Due::Source(row) } else { Due::Arrival(row) });
            expected.push((tick, row));
        }
        let mut found = Vec::new();
        let mut out = Vec::new();
        for tick in 41..3100 {
            out.clear();
            wheel.advance(&mut out);
            for entry in &out {
                match entry.due() {
                    Due::Source(row) | Due::Arrival(row) => found.push((tick, row)),
                    Due::Junction(row) => panic!("junction {row} was never pushed"),
                }
            }
        }
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_steady_load_reuses_its_blocks() {
        let mut wheel = Wheel::new(0);
        let mut out = Vec::new();
        for _ in 0..4000 {
            for row in 0..100 {
                wheel.push(wheel.now + 1 + u64::from(row), Due::Arrival(row));
            }
            out.clear();
            wheel.advance(&mut out);
        }
        assert!(wheel.blocks.len() < 1500, "{} blocks", wheel.blocks.len());
    }
}
