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

use super::slots::{NONE, Slot, Slots};
use crate::settings::{LaneSettings, UNIT};

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
/// It was made or given other settings while frozen: nothing has waited at its end since, though what is stored of it
/// says so.
pub(crate) const EDITED: u8 = 16;

/// One direction of a segment, in one line of the cache. All distances are in units of 1/65,536 block.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Lane {
    /// The tick at whose end gaps and tail are true. Of an empty lane: the tick in which it became empty.
    pub(crate) base: u64,
    /// The tick in which the front item arrives or has arrived.
    pub(crate) due: u64,
    /// From the front item to the end. Below 0: what it could not move and what is still to be eaten out of the gaps
    /// behind it, never more than they hold.
    gap: i64,
    /// The slot of the front item; on lanes of single items, the row of those.
    pub(crate) head: u32,
    /// The slot of the rearmost item.
    back: u32,
    /// The slot of the first item that is not known to touch the one ahead, where there is one.
    loose: u32,
    pub(crate) count: u32,
    /// How many items behind the front one are known to have no gap.
    touching: u32,
    /// Where the rearmost item is.
    pub(crate) tail: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// What the front item could have moved on beyond the end in the tick it arrives in: less than a block.
    carry: u16,
    /// In blocks.
    length: u16,
    /// Row of the settings.
    pub(crate) class: u16,
    pub(crate) flags: u8,
    /// The direction in which items move.
    pub(crate) direction: u8,
}

impl Lane {
    pub(crate) fn none() -> Lane {
        Lane {
            base: 0,
            due: NEVER,
            head: NONE,
            back: NONE,
            loose: NONE,
            count: 0,
            touching: 0,
            gap: 0,
            tail: 0,
            from: NONE,
            to: NONE,
            carry: 0,
            length: 0,
            class: 0,
            flags: 0,
            direction: 0,
        }
    }

    /// An empty lane of `blocks` steps between two junctions.
    pub(crate) fn new(
        now: u64,
        blocks: u32,
        junctions: (u32, u32),
        direction: u8,
        class: u16,
        flags: u8,
    ) -> Lane {
        // Long runs are cut so that this fits.
        let length = blocks as u16;
        Lane {
            base: now,
            length,
            from: junctions.0,
            to: junctions.1,
            direction,
            class,
            flags,
            ..Lane::none()
        }
    }

    pub(crate) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// From its entry to its end.
    #[inline]
    pub(crate) fn length(&self) -> u32 {
        u32::from(self.length) * UNIT
    }

    /// See the field.
    #[inline]
    pub(crate) fn carry(&self) -> u32 {
        u32::from(self.carry)
    }

    /// True where the front item was at the end at the end of tick `now`.
    pub(crate) fn has_arrived(&self, now: u64) -> bool {
        self.due <= if self.is(FROZEN) { self.base } else { now }
    }

    /// True where the front item arrives in tick `now`.
    #[inline]
    pub(super) fn arrives(&self, now: u64) -> bool {
        self.due == now && self.flags & (LIVE | FROZEN) == LIVE
    }

    /// Units that a free item has moved since the lane was last true.
    fn moved(&self, now: u64, speed: u32) -> u64 {
        if self.is(FROZEN) { 0 } else { (now - self.base) * u64::from(speed) }
    }

    /// Where the rearmost item is at the end of tick `now`.
    fn tail_at(&self, now: u64, settings: LaneSettings) -> u32 {
        let furthest = u64::from(self.length()) - u64::from(self.count - 1) * u64::from(settings.spacing());
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
            return if self.base == now {
                i64::from(self.length()) - spacing
            } else {
                i64::from(self.length())
            };
        }
        // Single items may lie closer than the spacing, and are true already.
        let tail = if self.is(SINGLE) { self.tail } else { self.tail_at(now, settings) };
        i64::from(tail) - spacing
    }

    /// True where there will be no room until an item leaves.
    #[inline]
    pub(crate) fn is_packed(&self, settings: LaneSettings) -> bool {
        u64::from(self.count) * u64::from(settings.spacing()) > u64::from(self.length())
    }

    /// The first tick at which there will be room, if no item leaves; `None` if that takes one.
    pub(crate) fn opens(&self, settings: LaneSettings) -> Option<u64> {
        if self.is(FROZEN) || self.is_packed(settings) {
            return None;
        }
        let missing = settings.spacing().saturating_sub(self.tail);
        Some(self.base + u64::from(missing.div_ceil(settings.speed())))
    }

    /// Makes gaps and tail true at the end of tick `now`.
    pub(crate) fn settle(&mut self, slots: &mut Slots, now: u64, settings: LaneSettings) {
        if self.count == 0 {
            return;
        }
        let moved = self.moved(now, settings.speed());
        self.tail = self.tail_at(now, settings);
        self.base = now;
        let ahead = self.gap - moved as i64;
        self.gap = ahead.max(0);
        let mut left = ahead.min(0).unsigned_abs();
        while left > 0 && self.touching + 1 < self.count {
            let gap = &mut slots.slot_mut(self.loose).gap;
            let eaten = left.min(u64::from(*gap));
            *gap -= eaten as u32;
            left -= eaten;
            if *gap > 0 {
                break;
            }
            self.touching += 1;
            self.loose = slots.behind(self.loose);
        }
    }

    /// The handle of the front item.
    #[inline]
    pub(crate) fn front(&self, slots: &Slots) -> u32 {
        slots.slot(self.head).handle
    }

    /// Reads the front item.
    #[inline]
    pub(crate) fn touch_front(&self, slots: &Slots) -> u32 {
        if self.count == 0 { 0 } else { self.front(slots) }
    }

    /// Reads the rearmost item.
    #[inline]
    pub(crate) fn touch_back(&self, slots: &Slots) -> u32 {
        if self.count == 0 { 0 } else { slots.slot(self.back).handle }
    }

    /// Takes the front item, which has arrived, out in tick `now`; the lane must be settled.
    pub(crate) fn pop(&mut self, slots: &mut Slots, now: u64, settings: LaneSettings) -> u32 {
        let handle = self.front(slots);
        self.count -= 1;
        self.flags &= !REFUSED;
        if self.count == 0 {
            slots.give(self.head);
            self.base = now;
            self.due = NEVER;
            return handle;
        }
        let left = self.head;
        self.head = slots.behind(left);
        if Slots::ends_block(left) {
            slots.give(left);
        }
        self.gap = i64::from(settings.spacing());
        if self.touching > 0 {
            self.touching -= 1;
        } else {
            // The next one was the first loose one.
            self.gap += i64::from(slots.slot(self.head).gap);
            self.loose = slots.behind(self.head);
        }
        self.set_due(now, settings.speed());
        handle
    }

    /// Puts an item in behind all others in tick `now`, at most at the room; the lane must be settled.
    #[inline]
    pub(crate) fn push(
        &mut self,
        slots: &mut Slots,
        now: u64,
        settings: LaneSettings,
        position: u32,
        handle: u32,
    ) {
        let mut gap = 0;
        if self.count == 0 {
            self.base = now;
            self.gap = i64::from(self.length() - position);
            self.touching = 0;
            self.set_due(now, settings.speed());
        } else {
            gap = self.tail - settings.spacing() - position;
        }
        self.append(slots, gap, handle);
        self.tail = position;
    }

    /// Settles and takes the front item, which has arrived, out of a lane whose time does not stand still.
    #[inline(always)]
    pub(super) fn leave(&mut self, slots: &mut Slots, now: u64, settings: LaneSettings) {
        if self.touching == 0 && self.count > 1 {
            let moved = (now - self.base) * u64::from(settings.speed());
            let gap = i64::from(slots.slot(self.loose).gap) + self.gap - moved as i64;
            if gap >= 0 {
                // Nearly always: what the front item could not move, the gap behind it takes up.
                self.base = now;
                self.tail += moved as u32;
                self.gap = i64::from(settings.spacing()) + gap;
                if Slots::ends_block(self.head) {
                    slots.give(self.head);
                }
                self.head = self.loose;
                self.loose = slots.behind(self.loose);
                self.count -= 1;
                self.flags &= !REFUSED;
                self.set_due(now, settings.speed());
                return;
            }
        }
        self.settle(slots, now, settings);
        self.pop(slots, now, settings);
    }

    /// Settles and puts an item in behind all others, `carry` units from the entry or as far as there is room, on a
    /// lane whose time does not stand still. Gives its place; `None`, with nothing done, where there is no room.
    #[inline(always)]
    pub(super) fn enter(
        &mut self,
        slots: &mut Slots,
        now: u64,
        settings: LaneSettings,
        carry: u32,
        handle: u32,
    ) -> Option<u32> {
        if self.count == 0 {
            let position = i64::from(carry).min(self.room(now, settings)) as u32;
            self.push(slots, now, settings, position, handle);
            return Some(position);
        }
        let moved = (now - self.base) * u64::from(settings.speed());
        let tail = self.tail_at(now, settings);
        let room = tail.checked_sub(settings.spacing())?;
        if u64::from(self.tail) + moved == u64::from(tail) {
            // Nothing holds the rearmost item up: what is to be eaten lies ahead of it, and may wait.
            self.base = now;
            self.gap -= moved as i64;
        } else {
            self.settle(slots, now, settings);
        }
        let position = carry.min(room);
        self.append(slots, room - position, handle);
        self.tail = position;
        Some(position)
    }

    #[inline(always)]
    fn append(&mut self, slots: &mut Slots, gap: u32, handle: u32) {
        if self.count == 0 {
            self.back = slots.take();
            self.head = self.back;
        } else {
            self.back = slots.take_behind(self.back);
        }
        *slots.slot_mut(self.back) = Slot { gap, handle };
        self.count += 1;
        if self.touching + 2 == self.count {
            self.loose = self.back;
        }
    }

    /// Works out when the front item arrives, from its gap at the end of tick `now`.
    #[inline]
    pub(crate) fn set_due(&mut self, now: u64, speed: u32) {
        let (due, carry) = arrival(self.gap as u32, now, speed);
        self.keep_due(due, carry);
    }

    /// Sets when the front item arrives, and what it could have moved on.
    pub(crate) fn keep_due(&mut self, due: u64, carry: u32) {
        // Less than the speed, which is at most a block.
        (self.due, self.carry) = (due, carry as u16);
    }

    /// All items at the end of tick `now` as (position, handle), front to back.
    pub(crate) fn items(
        &self,
        slots: &Slots,
        now: u64,
        settings: LaneSettings,
    ) -> impl Iterator<Item = (u32, u32)> {
        let front = self.gap - if self.count == 0 { 0 } else { self.moved(now, settings.speed()) as i64 };
        let mut left = front.min(0).unsigned_abs();
        let mut ahead = u64::from(self.length()) + u64::from(settings.spacing());
        let mut at = self.head;
        (0..self.count).map(move |row| {
            let slot = slots.slot(at);
            at = slots.behind(at);
            let gap = if row == 0 {
                front.max(0) as u64
            } else if row <= self.touching {
                0
            } else {
                u64::from(slot.gap)
            };
            let eaten = if row == 0 { 0 } else { gap.min(left) };
            left -= eaten;
            ahead -= u64::from(settings.spacing()) + gap - eaten;
            (ahead as u32, slot.handle)
        })
    }

    /// Replaces all items by `items` (position, handle; front to back, nowhere closer than the spacing), true at the
    /// end of tick `now`.
    pub(crate) fn refill(
        &mut self,
        slots: &mut Slots,
        now: u64,
        settings: LaneSettings,
        items: &[(u32, u32)],
    ) {
        self.clear(slots);
        self.base = now;
        let mut ahead: Option<u32> = None;
        for &(position, handle) in items {
            let gap = ahead.map_or(0, |ahead| ahead - settings.spacing() - position);
            self.append(slots, gap, handle);
            ahead = Some(position);
        }
        if let (Some(&(front, _)), Some(&(tail, _))) = (items.first(), items.last()) {
            self.gap = i64::from(self.length() - front);
            self.tail = tail;
            self.set_due(now, settings.speed());
        }
    }

    /// Gives all blocks back.
    pub(crate) fn clear(&mut self, slots: &mut Slots) {
        if !self.is(SINGLE) && self.count > 0 {
            while !Slots::share_block(self.head, self.back) {
                let left = self.head;
                self.head = slots.first_behind(left);
                slots.give(left);
            }
            slots.give(self.head);
        }
        (self.head, self.count, self.touching) = (NONE, 0, 0);
        self.due = NEVER;
    }

    /// The tick from which on nothing moves, unless something leaves.
    pub(crate) fn settled_at(&self, settings: LaneSettings) -> u64 {
        if self.count == 0 {
            return self.base;
        }
        let furthest = u64::from(self.length()) - u64::from(self.count - 1) * u64::from(settings.spacing());
        self.base + (furthest - u64::from(self.tail)).div_ceil(u64::from(settings.speed()))
    }
}

/// When an item `gap` units from the end at the end of tick `now` arrives, and how much further it could have moved.
pub(super) fn arrival(gap: u32, now: u64, speed: u32) -> (u64, u32) {
    if gap == 0 {
        return (now + 1, 0);
    }
    let ticks = gap.div_ceil(speed);
    (now + u64::from(ticks), ticks * speed - gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_takes_one_line_of_the_cache() {
        assert_eq!(size_of::<Lane>(), 64);
    }

    #[test]
    fn eating_many_ticks_at_once_equals_eating_them_one_by_one() {
        let settings = LaneSettings::new(3, 10).expect("sound");
        let mut slots = Slots::new();
        let items = [(65_500, 0), (65_480, 1), (65_470, 2), (65_400, 3), (65_390, 4), (65_000, 5)];
        let mut lane = || {
            let mut lane = Lane::new(0, 1, (0, 0), 0, 0, LIVE);
            lane.refill(&mut slots, 0, settings, &items);
            lane
        };
        let (mut slow, mut fast) = (lane(), lane());
        for tick in 1..300 {
            slow.settle(&mut slots, tick, settings);
            let expected: Vec<_> = slow.items(&slots, tick, settings).collect();
            assert_eq!(fast.items(&slots, tick, settings).collect::<Vec<_>>(), expected);
            if tick % 37 == 0 {
                fast.settle(&mut slots, tick, settings);
            }
        }
        assert_eq!(slow.settled_at(settings), 299, "nothing moves any more");
        assert_eq!(
            slow.items(&slots, 299, settings).map(|(at, _)| 65_536 - at).collect::<Vec<_>>(),
            [0, 10, 20, 30, 40, 50]
        );
    }
}
