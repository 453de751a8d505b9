//! A lane that costs nothing until something meets something.
//!
//! Items are kept as gaps: how much further than the spacing each lies behind the one ahead, and how far the front item
//! is from the end. In one tick every item wants to move by the speed; what the front cannot move, the lane **eats**
//! out of its gaps, front to back, and all items behind the last gap eaten move at full speed. Eating is additive: the
//! outcome of any number of ticks is that of eating their sum at once. So a lane keeps the tick its gaps were true at
//! and is brought up to date only when an item enters or leaves it. The place of the rearmost item, which decides
//! whether another may enter, follows from a sum and needs no item at all.
//!
//! The gaps that have been eaten up form a prefix, whose length is kept: each item is passed over once in its life.

use crate::settings::LaneSettings;

/// Never: no front item.
pub(crate) const NEVER: u64 = u64::MAX;

/// Bits of [`Lane::flags`].
pub(crate) const LIVE: u8 = 1;
/// Part of it lies in a chunk that is not loaded: its time stands still.
pub(crate) const FROZEN: u8 = 2;
/// The front item has been refused, and that has been told.
pub(crate) const REFUSED: u8 = 4;
/// Items are kept one by one: see [`super::single`].
pub(crate) const SINGLE: u8 = 8;

/// One item in the ring of a lane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot {
    /// How much further than the spacing it is from the item ahead, when the lane was last true; unused for the front.
    gap: u32,
    handle: u32,
}

/// One direction of a segment. All distances are in units of 1/65,536 block.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    ring: Box<[Slot]>,
    /// The tick at whose end gaps and tail are true. Of an empty lane: the tick in which it became empty.
    pub(crate) base: u64,
    /// The tick in which the front item arrives or has arrived.
    pub(crate) due: u64,
    /// Index of the front item in the ring; on lanes of single items, the row of those.
    pub(crate) head: u32,
    pub(crate) count: u32,
    /// How many items behind the front one are known to have no gap.
    touching: u32,
    /// From the front item to the end.
    gap: u32,
    /// Where the rearmost item is.
    pub(crate) tail: u32,
    pub(crate) length: u32,
    /// What the front item could have moved on beyond the end in the tick it arrives in.
    pub(crate) carry: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Row of the settings.
    pub(crate) class: u16,
    pub(crate) flags: u8,
    /// The direction in which items move.
    pub(crate) direction: u8,
}

impl Lane {
    pub(crate) fn none() -> Lane {
        Lane {
            ring: Box::default(),
            base: 0,
            due: NEVER,
            head: 0,
            count: 0,
            touching: 0,
            gap: 0,
            tail: 0,
            length: 0,
            carry: 0,
            from: u32::MAX,
            to: u32::MAX,
            class: 0,
            flags: 0,
            direction: 0,
        }
    }

    /// An empty lane between two nodes.
    pub(crate) fn new(
        now: u64,
        length: u32,
        nodes: (u32, u32),
        direction: u8,
        class: u16,
        flags: u8,
    ) -> Lane {
        Lane { base: now, length, from: nodes.0, to: nodes.1, direction, class, flags, ..Lane::none() }
    }

    pub(crate) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// True where the front item was at the end at the end of tick `now`.
    pub(crate) fn has_arrived(&self, now: u64) -> bool {
        self.due <= if self.is(FROZEN) { self.base } else { now }
    }

    /// Units that a free item has moved since the lane was last true.
    fn moved(&self, now: u64, speed: u32) -> u64 {
        if self.is(FROZEN) { 0 } else { (now - self.base) * u64::from(speed) }
    }

    /// Where the rearmost item is at the end of tick `now`.
    fn tail_at(&self, now: u64, settings: LaneSettings) -> u32 {
        let furthest = u64::from(self.length) - u64::from(self.count - 1) * u64::from(settings.spacing());
        (u64::from(self.tail) + self.moved(now, settings.speed())).min(furthest) as u32
    }

    /// Where the next item may start at most, negative for "no room". What left in tick `now` makes no room yet.
    #[inline]
    pub(crate) fn room(&self, now: u64, settings: LaneSettings) -> i64 {
        if self.is(FROZEN) {
            return -1;
        }
        let spacing = i64::from(settings.spacing());
        if self.count == 0 {
            return if self.base == now { i64::from(self.length) - spacing } else { i64::from(self.length) };
        }
        // Single items may lie closer than the spacing, and are true already.
        let tail = if self.is(SINGLE) { self.tail } else { self.tail_at(now, settings) };
        i64::from(tail) - spacing
    }

    /// The first tick at which there will be room, if no item leaves; `None` if that takes one.
    pub(crate) fn opens(&self, settings: LaneSettings) -> Option<u64> {
        let spacing = u64::from(settings.spacing());
        if self.is(FROZEN) || u64::from(self.count) * spacing > u64::from(self.length) {
            return None;
        }
        let missing = settings.spacing().saturating_sub(self.tail);
        Some(self.base + u64::from(missing.div_ceil(settings.speed())))
    }

    /// Makes gaps and tail true at the end of tick `now`.
    #[inline]
    pub(crate) fn settle(&mut self, now: u64, settings: LaneSettings) {
        if self.count == 0 {
            return;
        }
        let mut left = self.moved(now, settings.speed());
        self.tail = self.tail_at(now, settings);
        self.base = now;
        let eaten = left.min(u64::from(self.gap));
        self.gap -= eaten as u32;
        left -= eaten;
        while left > 0 && self.touching + 1 < self.count {
            let at = self.at(self.touching + 1);
            let gap = &mut self.ring[at].gap;
            let eaten = left.min(u64::from(*gap));
            *gap -= eaten as u32;
            left -= eaten;
            if *gap > 0 {
                break;
            }
            self.touching += 1;
        }
    }

    /// The handle of the front item.
    #[inline]
    pub(crate) fn front(&self) -> u32 {
        self.ring[self.head as usize].handle
    }

    /// Reads the row behind the front item, which the next [`Lane::pop`] needs.
    #[inline]
    pub(crate) fn touch_front(&self) -> u32 {
        if self.ring.is_empty() { 0 } else { self.ring[self.at(1)].handle }
    }

    /// Reads the row that the next [`Lane::push`] fills.
    #[inline]
    pub(crate) fn touch_back(&self) -> u32 {
        if self.ring.is_empty() { 0 } else { self.ring[self.at(self.count)].handle }
    }

    /// Takes the front item, which has arrived, out in tick `now`; the lane must be settled.
    #[inline]
    pub(crate) fn pop(&mut self, now: u64, settings: LaneSettings) -> u32 {
        let handle = self.front();
        self.head = self.at(1) as u32;
        self.count -= 1;
        self.flags &= !REFUSED;
        if self.count == 0 {
            self.base = now;
            self.due = NEVER;
        } else {
            self.gap = settings.spacing();
            if self.touching > 0 {
                self.touching -= 1;
            } else {
                self.gap += self.ring[self.head as usize].gap;
            }
            self.set_due(now, settings.speed());
        }
        handle
    }

    /// Puts an item in behind all others in tick `now`, at most at the room; the lane must be settled.
    #[inline]
    pub(crate) fn push(&mut self, now: u64, settings: LaneSettings, position: u32, handle: u32) {
        if self.count as usize == self.ring.len() {
            self.grow(settings);
        }
        let at = self.at(self.count);
        let mut gap = 0;
        if self.count == 0 {
            self.base = now;
            self.gap = self.length - position;
            self.touching = 0;
            self.set_due(now, settings.speed());
        } else {
            gap = self.tail - settings.spacing() - position;
        }
        self.ring[at] = Slot { gap, handle };
        self.tail = position;
        self.count += 1;
    }

    /// Works out when the front item arrives, from its gap at the end of tick `now`.
    pub(crate) fn set_due(&mut self, now: u64, speed: u32) {
        let ticks = u64::from(self.gap.div_ceil(speed)).max(1);
        self.due = now + ticks;
        self.carry = if self.gap == 0 { 0 } else { (ticks * u64::from(speed) - u64::from(self.gap)) as u32 };
    }

    /// All items at the end of tick `now` as (position, handle), front to back.
    pub(crate) fn items(&self, now: u64, settings: LaneSettings) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut left = if self.count == 0 { 0 } else { self.moved(now, settings.speed()) };
        let mut ahead = u64::from(self.length) + u64::from(settings.spacing());
        (0..self.count).map(move |row| {
            let slot = &self.ring[self.at(row)];
            let gap = u64::from(if row == 0 {
                self.gap
            } else if row <= self.touching {
                0
            } else {
                slot.gap
            });
            let eaten = gap.min(left);
            left -= eaten;
            ahead -= u64::from(settings.spacing()) + gap - eaten;
            (ahead as u32, slot.handle)
        })
    }

    /// Replaces all items by `items` (position, handle; front to back, nowhere closer than the spacing), true at the
    /// end of tick `now`.
    pub(crate) fn refill(&mut self, now: u64, settings: LaneSettings, items: &[(u32, u32)]) {
        self.ring = vec![Slot::default(); items.len()].into_boxed_slice();
        self.head = 0;
        self.touching = 0;
        self.count = items.len() as u32;
        self.base = now;
        self.due = NEVER;
        for (at, &(position, handle)) in items.iter().enumerate() {
            let gap = match at.checked_sub(1) {
                Some(ahead) => items[ahead].0 - settings.spacing() - position,
                None => 0,
            };
            self.ring[at] = Slot { gap, handle };
        }
        if let (Some(&(front, _)), Some(&(tail, _))) = (items.first(), items.last()) {
            self.gap = self.length - front;
            self.tail = tail;
            self.set_due(now, settings.speed());
        }
    }

    /// Gives the ring back, where items are kept one by one.
    pub(crate) fn drop_ring(&mut self) {
        self.ring = Box::default();
    }

    /// The tick from which on nothing moves, unless something leaves.
    pub(crate) fn settled_at(&self, settings: LaneSettings) -> u64 {
        if self.count == 0 {
            return self.base;
        }
        let furthest = u64::from(self.length) - u64::from(self.count - 1) * u64::from(settings.spacing());
        self.base + (furthest - u64::from(self.tail)).div_ceil(u64::from(settings.speed()))
    }

    /// Makes room for `count` more items at once.
    pub(crate) fn reserve(&mut self, count: u32) {
        let needed = (self.count + count) as usize;
        if needed > self.ring.len() {
            self.resize(needed);
        }
    }

    pub(crate) fn ring_bytes(&self) -> usize {
        size_of_val(&*self.ring)
    }

    /// An eighth more room each time, and never more than fits at the spacing: memory per item is what counts here.
    fn grow(&mut self, settings: LaneSettings) {
        let most = (self.length / settings.spacing()) as usize + 1;
        let wanted = (self.ring.len() + self.ring.len() / 8 + 4).min(most);
        self.resize(wanted.max(self.ring.len() + 1));
    }

    fn resize(&mut self, slots: usize) {
        let mut ring = vec![Slot::default(); slots].into_boxed_slice();
        for row in 0..self.count {
            ring[row as usize] = self.ring[self.at(row)];
        }
        self.ring = ring;
        self.head = 0;
    }

    /// The index of item `row` from the front.
    #[inline]
    fn at(&self, row: u32) -> usize {
        let at = (self.head + row) as usize;
        if at >= self.ring.len() { at - self.ring.len() } else { at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_takes_at_most_72_bytes_and_an_item_8() {
        assert!(size_of::<Lane>() <= 72, "{}", size_of::<Lane>());
        assert_eq!(size_of::<Slot>(), 8);
    }

    #[test]
    fn eating_many_ticks_at_once_equals_eating_them_one_by_one() {
        let settings = LaneSettings::new(3, 10).expect("sound");
        let mut slow = Lane { length: 65_536, ..Lane::none() };
        slow.refill(
            0,
            settings,
            &[(65_500, 0), (65_480, 1), (65_470, 2), (65_400, 3), (65_390, 4), (65_000, 5)],
        );
        let mut fast = slow.clone();
        for tick in 1..300 {
            slow.settle(tick, settings);
            let expected: Vec<_> = slow.items(tick, settings).collect();
            assert_eq!(fast.items(tick, settings).collect::<Vec<_>>(), expected);
            if tick % 37 == 0 {
                fast.settle(tick, settings);
            }
        }
        assert_eq!(slow.settled_at(settings), 299, "nothing moves any more");
        assert_eq!(
            slow.items(299, settings).map(|(at, _)| 65_536 - at).collect::<Vec<_>>(),
            [0, 10, 20, 30, 40, 50]
        );
    }
}
