//! A visit of a junction: what waits there is asked for, oldest first, and when to ask again is noted.

use voxtick_worlds::Inventories;

use super::TransitSolver;
use super::junction::{Decision, View};
use super::lane::{NEVER, REFUSED, SINGLE};
use super::wheel::Due;
use crate::endpoints::{Room, SourceRow, Supply};
use crate::events::EventKind;
use crate::items::ItemHandle;
use crate::network::NONE;

impl TransitSolver {
    /// Asks one junction for all that waits there.
    pub(super) fn visit(&mut self, joint: u32, inventories: &mut Inventories) {
        let junction = &mut self.junctions[joint as usize];
        junction.listed = false;
        if junction.waiting == 0 {
            return;
        }
        if self.lanes.any_singles() {
            self.settle_singles_ahead(joint);
        }
        let mut inputs = [(0, 0); 12];
        let junction = &self.junctions[joint as usize];
        let view =
            View { lanes: &self.lanes, endpoints: &self.endpoints, items: &self.items, now: self.tick };
        let count = junction.inputs(&view, Some(inventories), &mut inputs);
        let sink = junction.sink;
        let mut moved = false;
        for &(_, input) in &inputs[..count] {
            let junction = &self.junctions[joint as usize];
            let view =
                View { lanes: &self.lanes, endpoints: &self.endpoints, items: &self.items, now: self.tick };
            let row = self.endpoints.sinks.get(sink as usize);
            let decision = junction.decide(&view, input, 0, row, Some(inventories));
            moved |= self.commit(joint, input, decision, sink, inventories);
        }
        if self.junctions[joint as usize].waiting != 0 {
            self.plan_next_visit(joint, moved, sink);
        }
    }

    /// Makes sure that the room of lanes of single items is known as far as this visit can need it.
    fn settle_singles_ahead(&mut self, joint: u32) {
        let junction = self.junctions[joint as usize];
        let carry = |side: usize| {
            let row = self.lanes.row(junction.outs[side] ^ 1);
            if junction.waiting & (1 << side) != 0 && row.due == self.tick { row.carry() } else { 0 }
        };
        let most = (0..6).filter(|&side| junction.outs[side] != NONE).map(carry).max().unwrap_or(0);
        for lane in junction.outs {
            if lane != NONE && self.lanes.row(lane).is(SINGLE) {
                self.lanes.settle_for(lane, self.tick, most);
            }
        }
    }

    /// Carries a decision out; true where something moved.
    fn commit(
        &mut self,
        joint: u32,
        input: u8,
        decision: Decision,
        sink: u32,
        inventories: &mut Inventories,
    ) -> bool {
        let junction = &mut self.junctions[joint as usize];
        let key = junction.key;
        match decision {
            Decision::Wait => return false,
            Decision::Refuse => {
                let from = junction.outs[usize::from(input)] ^ 1;
                self.lanes.row_mut(from).flags |= REFUSED;
                self.events.push(EventKind::Refused, key, self.lanes.front(from));
                return false;
            }
            Decision::HandOver { direction, position } => {
                junction.waiting &= !(1 << input);
                junction.cursor = direction + 1;
                let from = junction.outs[usize::from(input)] ^ 1;
                let to = junction.outs[usize::from(direction)];
                let handle = self.leave(from);
                self.enter(to, position, handle);
            }
            Decision::Deliver => {
                junction.waiting &= !(1 << input);
                let from = junction.outs[usize::from(input)] ^ 1;
                let handle = self.leave(from);
                let row = &mut self.endpoints.sinks[sink as usize];
                let items = &self.items;
                row.take(|| items.stack(ItemHandle(handle)), self.tick, Some(inventories));
                self.totals.delivered += 1;
                self.events.push(EventKind::Delivered, key, handle);
                if let Room::Container(container) = row.sink.room {
                    self.call_tied(container, Some(key));
                }
            }
            Decision::Feed => {
                junction.waiting &= !(1 << input);
                let direction = usize::from(input) - 6;
                let to = junction.outs[direction];
                let at = self.endpoints.stations[junction.station as usize].sources[direction];
                let row = &mut self.endpoints.sources[at as usize];
                let Some(stack) = row.draw(self.tick, &mut self.items, Some(inventories)) else {
                    return false;
                };
                let supply = row.source.supply;
                let handle = self.items.add(stack, row.source.speed).0;
                if has_more(row) {
                    self.wheel.push(row.due, Due::Source(at).entry());
                }
                self.enter(to, 0, handle);
                self.totals.created += 1;
                self.events.push(EventKind::Created, key, handle);
                if let Supply::Container(container, _) = supply {
                    self.call_tied(container, Some(key));
                }
            }
        }
        true
    }

    /// Takes the front item off a lane, notes when the next one arrives, and tells who waits for room on it.
    pub(super) fn leave(&mut self, lane: u32) -> u32 {
        let handle = self.lanes.pop(lane, self.tick);
        self.note_left(lane);
        if self.lanes.row(lane).due != NEVER {
            self.lanes.note_arrival(lane);
        }
        if self.lanes.room(lane, self.tick) < 0 {
            self.tell_upstream(lane);
        }
        handle
    }

    /// Tells what waits at the entry of a lane without room that it may have some, now that an item has left it.
    pub(super) fn tell_upstream(&mut self, lane: u32) {
        let upstream = self.lanes.row(lane).from;
        if self.junctions[upstream as usize].waiting != 0
            && let Some(tick) = self.lanes.opens(lane)
        {
            self.recheck(upstream, tick.max(self.tick + 1));
        }
    }

    /// Puts an item onto a lane that has room.
    pub(super) fn enter(&mut self, lane: u32, position: u32, handle: u32) {
        self.lanes.push(lane, self.tick, position, handle, &self.items);
        self.note_entered(lane, position, handle);
        if self.lanes.row(lane).count == 1 {
            self.lanes.note_arrival(lane);
        }
    }

    /// Notes the next tick in which what waits at a junction could fare otherwise.
    fn plan_next_visit(&mut self, joint: u32, moved: bool, sink: u32) {
        if moved || self.polled {
            self.recheck(joint, self.tick + 1);
            return;
        }
        let mut next = u64::MAX;
        for lane in self.junctions[joint as usize].outs {
            if lane != NONE
                && self.lanes.room(lane, self.tick) < 0
                && let Some(tick) = self.lanes.opens(lane)
            {
                next = next.min(tick.max(self.tick + 1));
            }
        }
        if let Some(row) = self.endpoints.sinks.get(sink as usize)
            && row.ready > self.tick
        {
            next = next.min(row.ready);
        }
        if next != u64::MAX {
            self.recheck(joint, next);
        }
    }

    /// Notes a visit of a junction at `tick`, unless it has an earlier one.
    pub(super) fn recheck(&mut self, joint: u32, tick: u64) {
        let junction = &mut self.junctions[joint as usize];
        if tick < junction.next_visit {
            junction.next_visit = tick;
            self.wheel.push(tick, Due::Junction(joint).entry());
        }
    }
}

/// True where another item of a source will be due.
pub(super) fn has_more(source: &SourceRow) -> bool {
    source.source.supply != Supply::Items(0)
}
