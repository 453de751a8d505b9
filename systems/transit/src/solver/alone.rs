//! Visits of junctions at which a single input waits: nearly all of them.
//!
//! The outcome is that of the general visit ([`TransitSolver::visit`]) with one input; what is left out is what one
//! input cannot need: the order of inputs, lanes filled by an earlier one, containers. Each function says false, with
//! nothing done, where that does not hold or where the item cannot move.
//!
//! PERF: about 150 instructions an item handed over, against 700 by the general way (`valgrind --tool=callgrind` over
//! rings of 20 blocks).

use super::junction::{Junction, View};
use super::lane::{FROZEN, SINGLE};
use super::wheel::Due;
use super::{TransitSolver, has_more};
use crate::endpoints::Supply;
use crate::events::EventKind;
use crate::network::NONE;

impl TransitSolver {
    /// Most visits: one item waits at a junction where nothing stands, and the lane whose turn it is has room. False, with
    /// nothing done, in all other cases.
    #[inline]
    pub(super) fn pass_on_alone(&mut self, joint: u32) -> bool {
        let now = self.tick;
        let junction = &mut self.junctions[joint as usize];
        let Some(side) = single_bit(junction.waiting) else { return false };
        let ways = junction.out_mask & !(1u16 << side) as u8;
        if ways == 0 {
            return false;
        }
        let direction = junction.turn(ways);
        let (from, to) = (junction.outs[side as usize] ^ 1, junction.outs[direction as usize]);
        let Some((handle, carry)) = self.lanes.waiting_gaps(from, now) else { return false };
        let Some(position) = self.lanes.enter_gaps(to, now, carry, handle) else { return false };
        junction.waiting = 0;
        junction.listed = false;
        junction.cursor = direction + 1;
        if self.lanes.leave_gaps(from, now) {
            self.tell_upstream(from);
        }
        self.note_left(from);
        self.note_entered(to, position, handle);
        true
    }

    /// A source is due, or an item has come to a sink, at a junction where nothing else waits.
    #[inline]
    pub(super) fn feed_or_deliver_alone(&mut self, joint: u32) -> bool {
        match single_bit(self.junctions[joint as usize].waiting) {
            Some(side) if side < 6 => self.deliver_alone(joint, side as usize),
            Some(input) => self.feed_alone(joint, input as usize - 6),
            None => false,
        }
    }

    fn deliver_alone(&mut self, joint: u32, side: usize) -> bool {
        let now = self.tick;
        let junction = &mut self.junctions[joint as usize];
        let Some(sink) = self.endpoints.sinks.get_mut(junction.sink as usize) else { return false };
        let lane = junction.outs[side] ^ 1;
        let row = self.lanes.row(lane);
        if !sink.takes_all() || junction.router != 0 || row.is(FROZEN) {
            return false;
        }
        sink.taken += 1;
        sink.last = now;
        junction.waiting = 0;
        junction.listed = false;
        let key = junction.key;
        let handle = if row.is(SINGLE) {
            self.leave(lane)
        } else {
            let handle = self.lanes.front(lane);
            if self.lanes.leave_gaps(lane, now) {
                self.tell_upstream(lane);
            }
            self.note_left(lane);
            handle
        };
        self.totals.delivered += 1;
        self.events.push(EventKind::Delivered, key, handle);
        true
    }

    fn feed_alone(&mut self, joint: u32, direction: usize) -> bool {
        let now = self.tick;
        let junction = &mut self.junctions[joint as usize];
        let at = self.endpoints.stations[junction.station as usize].sources[direction];
        let source = &mut self.endpoints.sources[at as usize];
        let lane = junction.outs[direction];
        if lane == NONE
            || matches!(source.source.supply, Supply::Container(..))
            || !source.is_ready(now, None)
        {
            return false;
        }
        let single = self.lanes.row(lane).is(SINGLE);
        if single {
            self.lanes.settle_for(lane, now, 0);
        }
        if self.lanes.room(lane, now) < 0 {
            return false;
        }
        let Some(stack) = source.draw(now, &mut self.items, None) else { return false };
        junction.waiting = 0;
        junction.listed = false;
        if has_more(source) {
            self.wheel.push(source.due, Due::Source(at).entry());
        }
        let handle = self.items.add(stack, source.source.speed).0;
        let key = junction.key;
        if single {
            self.enter(lane, 0, handle);
        } else {
            self.lanes.enter_gaps(lane, now, 0, handle);
            self.note_entered(lane, 0, handle);
        }
        self.totals.created += 1;
        self.events.push(EventKind::Created, key, handle);
        true
    }
}

/// The number of the one bit that is set; `None` for none and for several.
#[inline]
fn single_bit(bits: u16) -> Option<u32> {
    (bits != 0 && bits & (bits - 1) == 0).then(|| bits.trailing_zeros())
}

/// What becomes of the one input of a junction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Plan {
    HandOver {
        from: u32,
        direction: u8,
        position: u32,
    },
    Deliver {
        from: u32,
    },
    Feed {
        source: u32,
        to: u32,
    },
    /// Not simple: it has to be visited.
    General,
}

/// As the functions above, but decided only: for many junctions at once.
pub(super) fn plan(view: &View<'_>, junction: &Junction) -> Plan {
    let now = view.now;
    let Some(input) = single_bit(junction.waiting) else { return Plan::General };
    let is_gaps = |lane: u32| view.lanes.row(lane).flags & (FROZEN | SINGLE) == 0;
    if input >= 6 {
        let direction = input as usize - 6;
        let source = view.endpoints.stations[junction.station as usize].sources[direction];
        let row = &view.endpoints.sources[source as usize];
        let to = junction.outs[direction];
        let contained = matches!(row.source.supply, Supply::Container(..));
        if to == NONE || contained || !row.is_ready(now, None) || !is_gaps(to) || view.lanes.room(to, now) < 0
        {
            return Plan::General;
        }
        return Plan::Feed { source, to };
    }
    let from = junction.outs[input as usize] ^ 1;
    if !is_gaps(from) {
        return Plan::General;
    }
    if let Some(sink) = view.endpoints.sinks.get(junction.sink as usize) {
        return if sink.takes_all() && junction.router == 0 { Plan::Deliver { from } } else { Plan::General };
    }
    let ways = junction.out_mask & !(1u16 << input) as u8;
    if junction.station != NONE || ways == 0 {
        return Plan::General;
    }
    let direction = junction.turn(ways);
    let to = junction.outs[usize::from(direction)];
    let room = view.lanes.room(to, now);
    if !is_gaps(to) || room < 0 {
        return Plan::General;
    }
    let row = view.lanes.row(from);
    let carry = if row.due == now { row.carry() } else { 0 };
    Plan::HandOver { from, direction, position: i64::from(carry).min(room) as u32 }
}
