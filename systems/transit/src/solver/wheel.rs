//! A timing wheel: what is due at which tick, without looking at what is not.
//!
//! Entries lie in blocks of 15 that are chained per tick, so that filling and emptying a tick touches few cache lines
//! and a steady load allocates nothing. What is due beyond the wheel's turn waits in a heap; a wheel whose heap grows
//! long is made larger, so that a small network has a small one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ticks in the least and in the greatest turn.
const LEAST_TURN: usize = 8;
const MOST_TURN: usize = 1024;
const BLOCK: usize = 15;
const NONE: u32 = u32::MAX;

/// Numbers that fall due.
#[derive(Debug, Clone)]
pub(crate) struct Wheel {
    slots: Vec<Slot>,
    blocks: Vec<Block>,
    free: Vec<u32>,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// The last tick that was taken out.
    now: u64,
}

/// One tick: its chain of blocks, of which all but the last are full.
#[derive(Debug, Clone, Copy)]
struct Slot {
    first: u32,
    last: u32,
    /// Places left in the last block.
    left: u32,
}

const EMPTY: Slot = Slot { first: NONE, last: NONE, left: 0 };

#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Block {
    entries: [u32; BLOCK],
    next: u32,
}

/// What falls due beside the arrivals on lanes, as the number of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// The next item of a source is due.
    Source(u32),
    /// A junction where something waits is worth a visit.
    Junction(u32),
}

impl Due {
    /// There are fewer than 2^30 rows of either kind.
    pub(crate) fn entry(self) -> u32 {
        match self {
            Due::Source(row) => row << 1,
            Due::Junction(row) => row << 1 | 1,
        }
    }

    pub(crate) fn of(entry: u32) -> Due {
        if entry & 1 == 0 { Due::Source(entry >> 1) } else { Due::Junction(entry >> 1) }
    }
}

impl Wheel {
    pub(crate) fn new(now: u64) -> Wheel {
        Wheel {
            slots: vec![EMPTY; LEAST_TURN],
            blocks: Vec::new(),
            free: Vec::new(),
            far: BinaryHeap::new(),
            now,
        }
    }

    /// Notes an entry for a tick that has not been taken out yet.
    #[inline(always)]
    pub(crate) fn push(&mut self, tick: u64, entry: u32) {
        debug_assert!(tick > self.now, "an entry for tick {tick} at tick {}", self.now);
        if tick - self.now >= self.slots.len() as u64 {
            self.push_far(tick, entry);
            return;
        }
        let at = self.slot_of(tick);
        if self.slots[at].left == 0 {
            self.add_block(at);
        }
        let slot = &mut self.slots[at];
        self.blocks[slot.last as usize].entries[BLOCK - slot.left as usize] = entry;
        slot.left -= 1;
    }

    /// Where a tick of this turn is noted. Turns are powers of two.
    #[inline]
    fn slot_of(&self, tick: u64) -> usize {
        tick as usize & (self.slots.len() - 1)
    }

    /// Chains one more block to those of a tick.
    #[inline(never)]
    fn add_block(&mut self, slot: usize) {
        let block = Block { entries: [0; BLOCK], next: NONE };
        let at = match self.free.pop() {
            Some(at) => {
                self.blocks[at as usize] = block;
                at
            }
            None => {
                self.blocks.push(block);
                (self.blocks.len() - 1) as u32
            }
        };
        let slot = &mut self.slots[slot];
        match self.blocks.get_mut(slot.last as usize) {
            Some(last) => last.next = at,
            None => slot.first = at,
        }
        (slot.last, slot.left) = (at, BLOCK as u32);
    }

    #[inline(never)]
    fn push_far(&mut self, tick: u64, entry: u32) {
        self.far.push(Reverse((tick, entry)));
        let turn = self.slots.len();
        if turn < MOST_TURN && self.far.len() > turn {
            let mut larger = Wheel { slots: vec![EMPTY; turn * 2], ..Wheel::new(self.now) };
            let mut entries = Vec::new();
            for ahead in 1..turn as u64 {
                self.take(self.now + ahead, &mut entries);
                entries.drain(..).for_each(|entry| larger.push(self.now + ahead, entry));
            }
            for Reverse((tick, entry)) in std::mem::take(&mut self.far) {
                larger.push(tick, entry);
            }
            *self = larger;
        }
    }

    /// Goes on to the next tick and hands out its entries, those noted in one tick in the order in which they were.
    pub(crate) fn advance(&mut self, into: &mut Vec<u32>) {
        self.now += 1;
        while let Some(&Reverse((tick, entry))) = self.far.peek() {
            if tick > self.now {
                break;
            }
            self.far.pop();
            into.push(entry);
        }
        self.take(self.now, into);
    }

    /// Takes out the entries noted for a tick of this turn.
    fn take(&mut self, tick: u64, into: &mut Vec<u32>) {
        let at = self.slot_of(tick);
        let slot = std::mem::replace(&mut self.slots[at], EMPTY);
        let mut at = slot.first;
        while at != NONE {
            let block = &self.blocks[at as usize];
            let count = if at == slot.last { BLOCK - slot.left as usize } else { BLOCK };
            into.extend_from_slice(&block.entries[..count]);
            self.free.push(at);
            at = block.next;
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
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
            wheel.push(tick, row);
            expected.push((tick, row));
        }
        assert_eq!(wheel.slots.len(), MOST_TURN, "many entries make it large");
        let mut found = Vec::new();
        let mut out = Vec::new();
        for tick in 41..3100 {
            out.clear();
            wheel.advance(&mut out);
            found.extend(out.iter().map(|&row| (tick, row)));
        }
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn sources_and_junctions_are_told_apart() {
        for due in [Due::Source(0), Due::Junction(0), Due::Source(1 << 29), Due::Junction((1 << 30) - 1)] {
            assert_eq!(Due::of(due.entry()), due);
        }
    }

    #[test]
    fn a_steady_load_reuses_its_blocks() {
        let mut wheel = Wheel::new(0);
        let mut out = Vec::new();
        for _ in 0..4000 {
            for row in 0..100 {
                wheel.push(wheel.now + 1 + u64::from(row), row);
            }
            out.clear();
            wheel.advance(&mut out);
        }
        assert!(wheel.blocks.len() < 1500, "{} blocks", wheel.blocks.len());
    }
}
