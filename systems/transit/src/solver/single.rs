//! Items kept one by one, for lanes on which each has its own speed, and for lanes whose items lie closer than the
//! spacing after an edit.
//!
//! A tick is a running minimum: an item gets as far as its speed carries it, but not closer than the spacing to the one
//! ahead. With `p + speed + row * spacing` in place of `p`, "not closer" is "not more", and the running minimum of
//! eight items takes three steps instead of eight; see [`super::prefix`]. Nothing runs until somebody looks at the
//! lane; then all ticks since are run while its arrays are in the cache.

use super::lane::{FROZEN, Lane, NEVER};
use super::prefix;
use crate::settings::LaneSettings;

/// Arrays of one lane, front first from `first` on; what lies before has left.
#[derive(Debug, Clone, Default)]
pub(crate) struct Singles {
    positions: Vec<u32>,
    /// Speed minus one.
    speeds: Vec<u16>,
    handles: Vec<u32>,
    first: usize,
    /// Items may lie closer than the spacing.
    strained: bool,
    /// The last tick moved nothing, so no later one will, unless something leaves.
    settled: bool,
}

impl Singles {
    /// Makes positions true at the end of tick `now`.
    pub(crate) fn settle(&mut self, lane: &mut Lane, now: u64, settings: LaneSettings) {
        if self.handles.len() == self.first {
            return;
        }
        for _ in lane.base..now {
            if self.settled {
                break;
            }
            self.advance(lane.length, settings.spacing());
        }
        lane.base = now;
        lane.tail = *self.positions.last().unwrap_or(&0);
    }

    fn advance(&mut self, length: u32, spacing: u32) {
        let positions = &mut self.positions[self.first..];
        let speeds = &self.speeds[self.first..];
        if !self.strained {
            self.settled = !prefix::advance(positions, speeds, length, spacing);
            return;
        }
        self.strained = false;
        self.settled = true;
        let mut limit = i64::from(length);
        for (position, &speed) in positions.iter_mut().zip(speeds) {
            let before = i64::from(*position);
            let after = (before + i64::from(speed) + 1).min(limit).max(before);
            *position = after as u32;
            self.settled &= after == before;
            self.strained |= after > limit;
            limit = after - i64::from(spacing);
        }
    }

    /// The earliest tick at which there may be room for another item, if none leaves.
    pub(crate) fn opens(&self, lane: &Lane, settings: LaneSettings) -> Option<u64> {
        let (Some(&tail), Some(&speed)) = (self.positions.last(), self.speeds.last()) else {
            return Some(lane.base);
        };
        if self.settled || lane.flags & FROZEN != 0 {
            return None;
        }
        let missing = settings.spacing().saturating_sub(tail);
        Some(lane.base + u64::from(missing.div_ceil(u32::from(speed) + 1)).max(1))
    }

    pub(crate) fn front(&self) -> u32 {
        self.handles[self.first]
    }

    /// Takes the front item out; the lane must be settled.
    pub(crate) fn pop(&mut self, lane: &mut Lane, now: u64) -> u32 {
        let handle = self.front();
        self.first += 1;
        self.settled = false;
        lane.count -= 1;
        lane.base = now;
        if self.first >= 32 && self.first * 2 >= self.handles.len() {
            self.positions.drain(..self.first);
            self.speeds.drain(..self.first);
            self.handles.drain(..self.first);
            self.first = 0;
        }
        self.set_due(lane, now);
        handle
    }

    /// Puts an item in behind all others; the lane must be settled.
    pub(crate) fn push(&mut self, lane: &mut Lane, now: u64, position: u32, speed: u32, handle: u32) {
        self.positions.push(position);
        self.speeds.push((speed - 1) as u16);
        self.handles.push(handle);
        self.settled = false;
        lane.count += 1;
        lane.tail = position;
        lane.base = now;
        if lane.count == 1 {
            self.set_due(lane, now);
        }
    }

    /// Replaces all items by `items` (position, handle, speed; front to back), true at the end of tick `now`.
    pub(crate) fn refill(&mut self, lane: &mut Lane, now: u64, items: impl Iterator<Item = (u32, u32, u32)>) {
        *self = Singles { strained: true, ..Singles::default() };
        for (position, handle, speed) in items {
            self.positions.push(position);
            self.speeds.push((speed - 1) as u16);
            self.handles.push(handle);
        }
        lane.count = self.handles.len() as u32;
        lane.base = now;
        lane.tail = self.positions.last().copied().unwrap_or(0);
        self.set_due(lane, now);
    }

    /// Positions and handles as they were when the lane was last settled.
    pub(crate) fn items(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.positions[self.first..].iter().copied().zip(self.handles[self.first..].iter().copied())
    }

    /// True where items may lie closer than the spacing.
    pub(crate) fn is_strained(&self) -> bool {
        self.strained
    }

    /// True where nothing moves any more.
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    pub(crate) fn bytes(&self) -> usize {
        self.positions.capacity() * 4 + self.speeds.capacity() * 2 + self.handles.capacity() * 4
    }

    fn set_due(&self, lane: &mut Lane, now: u64) {
        let (Some(&front), Some(&speed)) = (self.positions.get(self.first), self.speeds.get(self.first))
        else {
            lane.due = NEVER;
            return;
        };
        let (gap, speed) = (lane.length - front, u32::from(speed) + 1);
        let ticks = u64::from(gap.div_ceil(speed)).max(1);
        lane.due = now + ticks;
        lane.carry = if gap == 0 { 0 } else { (ticks * u64::from(speed) - u64::from(gap)) as u32 };
    }
}
