//! Visits of junctions at which a single input waits: nearly all of them.
//!
//! The outcome is that of the general visit ([`TransitSolver::visit`]) with one input; what is left out is what one
//! input cannot need: the order of inputs, lanes filled by an earlier one, containers. Each function says false, with
//! nothing done, where that does not hold or where the item cannot move.
//!
//! PERF: about 390 instructions an item handed over, its arrival and what is noted of the next one included, and twice as
//! many before lanes were looked up once each (`valgrind --tool=callgrind` over rings of 20 blocks).

use super::TransitSolver;
use super::junction::{Junction, View};
use super::lane::{FROZEN, SINGLE};
use super::lanes::Stretch;
use super::visit::has_more;
use super::wheel::Due;
use crate::endpoints::{Endpoints, SinkRow, Supply};
use crate::events::EventKind;
use crate::network::NONE;

impl TransitSolver {
    /// Most visits: one item waits at a junction where nothing stands, and the lane whose turn it is has room. False, with
    /// nothing done, in all other cases.
    #[inline]
    pub(super) fn pass_on_alone(&mut self, joint: u32) -> bool {
        let junction = &mut self.junctions[joint as usize];
        let Some(passed) = pass_on(junction, &mut self.lanes.whole(), self.tick) else { return false };
        if passed.opens {
            self.tell_upstream(passed.from);
        }
        self.note_left(passed.from);
        self.note_entered(passed.to, passed.position, passed.handle);
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
        let single = row.is(SINGLE);
        let handle = if single {
            self.leave(lane)
        } else {
            let handle = self.lanes.front(lane);
            if self.lanes.whole().leave_gaps(lane, now) {
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
            self.lanes.whole().enter_gaps(lane, now, 0, handle);
            self.note_entered(lane, 0, handle);
        }
        self.totals.created += 1;
        self.events.push(EventKind::Created, key, handle);
        true
    }
}

/// An item that went from one lane to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    from: u32,
    /// Only what left makes room on `from` for another item.
    opens: bool,
    to: u32,
    position: u32,
    handle: u32,
}

/// See [`TransitSolver::pass_on_alone`]; `None` with nothing done where a lane lies outside `lanes` too.
#[inline(always)]
fn pass_on(junction: &mut Junction, lanes: &mut Stretch<'_>, now: u64) -> Option<Passed> {
    let side = single_bit(junction.waiting)?;
    let ways = junction.out_mask & !(1u16 << side) as u8;
    if ways == 0 {
        return None;
    }
    let direction = junction.turn(ways);
    let (from, to) = (junction.outs[side as usize] ^ 1, junction.outs[direction as usize]);
    let (handle, carry) = lanes.waiting_gaps(from, now)?;
    let position = lanes.enter_gaps(to, now, carry, handle)?;
    junction.waiting = 0;
    junction.listed = false;
    junction.cursor = direction + 1;
    let opens = lanes.leave_gaps(from, now);
    Some(Passed { from, opens, to, position, handle })
}

/// What became of a junction that was visited with the lanes of one stretch.
#[derive(Debug, Clone, Copy)]
pub(super) enum Local {
    /// An item went on from this lane.
    Passed(u32, bool),
    /// An item left this lane for the sink.
    Delivered(u32, bool, u32),
    /// The source may put an item onto this lane, which has room.
    Feed(u32, u32),
    /// Nothing has been done: it is not simple, or concerns lanes elsewhere.
    Left,
}

/// As the functions above, for what needs lanes of one stretch only.
#[inline]
pub(super) fn visit_locally(
    junction: &mut Junction,
    lanes: &mut Stretch<'_>,
    endpoints: &Endpoints,
    now: u64,
) -> Local {
    if junction.station == NONE {
        return match pass_on(junction, lanes, now) {
            Some(passed) => Local::Passed(passed.from, passed.opens),
            None => Local::Left,
        };
    }
    let Some(input) = single_bit(junction.waiting) else { return Local::Left };
    if let Some(direction) = (input as usize).checked_sub(6) {
        let Some((source, to)) = feeding(junction, endpoints, direction, now) else { return Local::Left };
        if !lanes.has_room(to, now) {
            return Local::Left;
        }
        (junction.waiting, junction.listed) = (0, false);
        return Local::Feed(source, to);
    }
    let from = junction.outs[input as usize] ^ 1;
    let takes_all = endpoints.sinks.get(junction.sink as usize).is_some_and(SinkRow::takes_all);
    if !takes_all || junction.router != 0 {
        return Local::Left;
    }
    let Some((handle, _)) = lanes.waiting_gaps(from, now) else { return Local::Left };
    (junction.waiting, junction.listed) = (0, false);
    Local::Delivered(from, lanes.leave_gaps(from, now), handle)
}

/// The source that feeds the lane in `direction` and that lane, where an item is due that no container holds.
#[inline]
fn feeding(junction: &Junction, endpoints: &Endpoints, direction: usize, now: u64) -> Option<(u32, u32)> {
    let source = endpoints.stations[junction.station as usize].sources[direction];
    let row = &endpoints.sources[source as usize];
    let to = junction.outs[direction];
    let contained = matches!(row.source.supply, Supply::Container(..));
    (to != NONE && !contained && row.is_ready(now, None)).then_some((source, to))
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
        return match feeding(junction, view.endpoints, input as usize - 6, now) {
            Some((source, to)) if is_gaps(to) && view.lanes.room(to, now) >= 0 => Plan::Feed { source, to },
            _ => Plan::General,
        };
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
