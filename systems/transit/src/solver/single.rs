//! Items kept one by one, for lanes on which each has its own speed, and for lanes whose items lie closer than the
//! spacing after an edit.
//!
//! Any number of ticks is one running minimum. An item gets as far as its speed carries it, but not closer than the
//! spacing to the one ahead; so after `t` ticks it is where the least of `p[j] + t * speed[j] - (i - j) * spacing` over
//! itself and all items `j` ahead has it. (It holds after one tick; and where `j` is held up on its way by a slower `k`,
//! the term of `k` is the lesser one.) With `row * spacing` added to every place, that is a running minimum; see
//! [`super::prefix`]. Nothing runs until somebody looks at the lane; then all ticks since are run at once.

use super::lane::{FROZEN, Lane, NEVER, arrival};
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
    /// Items that entered since the lane was last settled, in order.
    pending: Vec<Pending>,
    /// The least speed of all items there have been since the lane was last empty, minus one.
    slowest: u16,
    /// Items may lie closer than the spacing.
    strained: bool,
    /// The last tick moved nothing, so no later one will, unless something leaves.
    settled: bool,
}

/// An item that entered behind all others without the others being looked at.
#[derive(Debug, Clone, Copy)]
struct Pending {
    tick: u64,
    position: u32,
    handle: u32,
    speed: u16,
}

impl Singles {
    /// Makes positions true at the end of tick `now`.
    pub(crate) fn settle(&mut self, lane: &mut Lane, now: u64, settings: LaneSettings) {
        if lane.count == 0 {
            return;
        }
        if self.strained {
            // What lies too close is no running minimum: tick by tick, until all are apart.
            for _ in lane.base..now {
                if !self.strained || self.settled {
                    break;
                }
                self.part(lane.length(), settings.spacing());
                lane.base += 1;
            }
        }
        if !self.settled && lane.base < now {
            let positions = &mut self.positions[self.first..];
            let speeds = &self.speeds[self.first..];
            self.settled =
                !prefix::advance(positions, speeds, lane.length(), settings.spacing(), now - lane.base);
        }
        for entered in self.pending.drain(..) {
            let limit = self
                .positions
                .last()
                .map_or(i64::from(lane.length()), |&ahead| i64::from(ahead) - i64::from(settings.spacing()));
            let wanted =
                i64::from(entered.position) + (now - entered.tick) as i64 * (i64::from(entered.speed) + 1);
            self.positions.push(wanted.min(limit) as u32);
            self.speeds.push(entered.speed);
            self.handles.push(entered.handle);
            self.settled = false;
        }
        lane.base = now;
        lane.tail = *self.positions.last().unwrap_or(&0);
    }

    /// True where an item may enter in tick `now` without the others being looked at: until the front item arrives,
    /// nothing is held up for good, so every item moves at least as far in a tick as the slowest does.
    pub(crate) fn can_wait(&self, lane: &Lane, now: u64) -> bool {
        lane.count > 0 && lane.base < now && now < lane.due && !self.strained
    }

    /// A place that the rearmost item has reached at the end of tick `now` without doubt; `None` where there is doubt.
    pub(crate) fn certain_tail(&self, lane: &Lane, now: u64) -> Option<u32> {
        if !self.can_wait(lane, now) || lane.flags & FROZEN != 0 {
            return None;
        }
        let (tick, position, _) = self.rearmost(lane)?;
        let moved = (now - tick).saturating_mul(u64::from(self.slowest) + 1);
        Some((u64::from(position) + moved).min(u64::from(lane.length())) as u32)
    }

    /// Puts an item in behind all others, to be looked at later; see [`Singles::can_wait`].
    pub(crate) fn push_later(&mut self, lane: &mut Lane, now: u64, position: u32, speed: u32, handle: u32) {
        let speed = (speed - 1) as u16;
        self.slowest = self.slowest.min(speed);
        self.pending.push(Pending { tick: now, position, handle, speed });
        lane.count += 1;
        lane.tail = position;
    }

    /// Of the rearmost item: a tick, where it was at its end, and its speed.
    fn rearmost(&self, lane: &Lane) -> Option<(u64, u32, u32)> {
        match self.pending.last() {
            Some(entered) => Some((entered.tick, entered.position, u32::from(entered.speed) + 1)),
            None => Some((lane.base, *self.positions.last()?, u32::from(*self.speeds.last()?) + 1)),
        }
    }

    /// One tick of items that may lie closer than the spacing: those wait until the one ahead is far enough.
    fn part(&mut self, length: u32, spacing: u32) {
        self.strained = false;
        self.settled = true;
        let mut limit = i64::from(length);
        for (position, &speed) in self.positions[self.first..].iter_mut().zip(&self.speeds[self.first..]) {
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
        let Some((tick, tail, speed)) = self.rearmost(lane) else { return Some(lane.base) };
        if self.is_settled() || lane.flags & FROZEN != 0 {
            return None;
        }
        let missing = settings.spacing().saturating_sub(tail);
        Some(tick + u64::from(missing.div_ceil(speed)).max(1))
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
        let speed = (speed - 1) as u16;
        self.slowest = if lane.count == 0 { speed } else { self.slowest.min(speed) };
        self.positions.push(position);
        self.speeds.push(speed);
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
        self.slowest = self.speeds.iter().copied().min().unwrap_or(0);
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
        self.settled && self.pending.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        let pending = self.pending.capacity() * size_of::<Pending>();
        pending + self.positions.capacity() * 4 + self.speeds.capacity() * 2 + self.handles.capacity() * 4
    }

    fn set_due(&self, lane: &mut Lane, now: u64) {
        let (Some(&front), Some(&speed)) = (self.positions.get(self.first), self.speeds.get(self.first))
        else {
            lane.due = NEVER;
            return;
        };
        let (due, carry) = arrival(lane.length() - front, now, u32::from(speed) + 1);
        lane.keep_due(due, carry);
    }
}
