//! What a solver keeps of a junction, and the decision of where an item there goes.
//!
//! A junction's decisions depend on nothing that another junction does in the same tick: only it puts items into the
//! lanes that leave it and takes items out of those that arrive, and room is that of the end of the advance. So
//! junctions may be asked in any order, or at the same time.

use voxtick_worlds::{Inventories, ItemStack};

use super::lane::{FROZEN, REFUSED};
use super::lanes::Lanes;
use crate::endpoints::{Endpoints, SinkRow, crossing};
use crate::items::{ItemHandle, Items};
use crate::network::NONE;
use crate::routers::{Route, SinkState};

/// One junction, in one line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Junction {
    pub(crate) key: u64,
    /// The tick of the next visit that has been noted for it, `u64::MAX` for none.
    pub(crate) next_visit: u64,
    /// The lane that leaves in each direction; the one that arrives there is its twin (`^ 1`).
    pub(crate) outs: [u32; 6],
    pub(crate) station: u32,
    /// What the station holds, here because it is needed at every visit.
    pub(crate) sink: u32,
    pub(crate) router: u16,
    /// Inputs where something waits: bits 0 to 5 the lanes arriving from each side, 6 to 11 the sources.
    pub(crate) waiting: u16,
    pub(crate) cursor: u8,
    /// The directions in which a lane leaves.
    pub(crate) out_mask: u8,
    /// It is on the list of this tick.
    pub(crate) listed: bool,
}

/// What to do with one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Move the front item onto the lane in this direction, at most this far.
    HandOver { direction: u8, position: u32 },
    /// Give the front item to the sink.
    Deliver,
    /// Let the source put an item in.
    Feed,
    /// It waits, and that has not been told yet.
    Refuse,
    /// It waits.
    Wait,
}

/// What decisions are made from.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) lanes: &'a Lanes,
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) items: &'a Items,
    pub(crate) now: u64,
}

impl Junction {
    pub(crate) fn none() -> Junction {
        Junction {
            key: 0,
            next_visit: u64::MAX,
            outs: [NONE; 6],
            station: NONE,
            sink: NONE,
            router: 0,
            waiting: 0,
            cursor: 0,
            out_mask: 0,
            listed: false,
        }
    }

    /// Notes what waits at this junction, whose row is `joint`, and puts it on one of two lists unless it is on one: `plain`
    /// where nothing stands, else `visits`.
    #[inline]
    pub(super) fn list(
        &mut self,
        joint: u32,
        waiting: u16,
        plain: &mut Vec<u32>,
        visits: &mut Vec<(u64, u32)>,
    ) {
        self.waiting |= waiting;
        if !self.listed {
            self.listed = true;
            if self.station == NONE {
                plain.push(joint);
            } else {
                visits.push((self.key, joint));
            }
        }
    }

    /// The inputs where something waits, oldest first: (tick since which, input).
    pub(crate) fn inputs(
        &self,
        view: &View<'_>,
        inventories: Option<&Inventories>,
        inputs: &mut [(u64, u8); 12],
    ) -> usize {
        let mut count = 0;
        let mut bits = self.waiting;
        while bits != 0 {
            let input = bits.trailing_zeros() as u8;
            bits &= bits - 1;
            let since = if input < 6 {
                let lane = view.lanes.row(self.outs[usize::from(input)] ^ 1);
                if lane.is(FROZEN) {
                    continue;
                }
                lane.due
            } else {
                let station = &view.endpoints.stations[self.station as usize];
                let source = &view.endpoints.sources[station.sources[usize::from(input) - 6] as usize];
                if !source.is_ready(view.now, inventories) {
                    continue;
                }
                source.due
            };
            inputs[count] = (since, input);
            count += 1;
        }
        if count > 1 {
            inputs[..count].sort_unstable();
        }
        count
    }

    /// What becomes of one input. `closed` are directions whose lanes have been filled in this visit already; `sink` is
    /// the sink as earlier inputs have left it.
    #[inline]
    pub(crate) fn decide(
        &self,
        view: &View<'_>,
        input: u8,
        closed: u8,
        sink: Option<&SinkRow>,
        inventories: Option<&Inventories>,
    ) -> Decision {
        match input.checked_sub(6) {
            Some(direction) => self.decide_source(view, direction, closed, inventories),
            None => self.decide_item(view, input, closed, sink, inventories),
        }
    }

    fn decide_source(
        &self,
        view: &View<'_>,
        direction: u8,
        closed: u8,
        inventories: Option<&Inventories>,
    ) -> Decision {
        let station = &view.endpoints.stations[self.station as usize];
        let source = &view.endpoints.sources[station.sources[usize::from(direction)] as usize];
        let lane = self.outs[usize::from(direction)];
        if lane == NONE || closed & (1 << direction) != 0 || view.lanes.room(lane, view.now) < 0 {
            return Decision::Wait;
        }
        if source.is_ready(view.now, inventories) { Decision::Feed } else { Decision::Wait }
    }

    fn decide_item(
        &self,
        view: &View<'_>,
        side: u8,
        closed: u8,
        sink: Option<&SinkRow>,
        inventories: Option<&Inventories>,
    ) -> Decision {
        let from = self.outs[usize::from(side)] ^ 1;
        let stack = || view.items.stack(ItemHandle(view.lanes.front(from)));
        let sink = sink.map_or(SinkState::None, |sink| sink.state(stack, view.now, inventories));
        let decision = if self.router == 0 {
            self.round_robin(view, side, closed, sink)
        } else {
            self.ask_router(view, side, closed, sink, stack())
        };
        match decision {
            Decision::Wait if !view.lanes.row(from).is(REFUSED) => Decision::Refuse,
            decision => decision,
        }
    }

    /// What [`crate::RoundRobin`] decides, without looking at more lanes than it has to.
    #[inline]
    fn round_robin(&self, view: &View<'_>, side: u8, closed: u8, sink: SinkState) -> Decision {
        if sink == SinkState::Accepts {
            return Decision::Deliver;
        }
        let mut left = self.out_mask & !(1 << side);
        while left != 0 {
            let direction = self.turn(left);
            if let Some(decision) = self.hand_over(view, side, direction, closed) {
                return decision;
            }
            left &= !(1 << direction);
        }
        Decision::Wait
    }

    /// The direction whose turn it is, of those in `ways`.
    #[inline]
    pub(crate) fn turn(&self, ways: u8) -> u8 {
        let from_cursor = ways & (0xFFu16 << self.cursor) as u8;
        let next = if from_cursor != 0 { from_cursor } else { ways };
        next.trailing_zeros() as u8
    }

    fn ask_router(
        &self,
        view: &View<'_>,
        side: u8,
        closed: u8,
        sink: SinkState,
        stack: ItemStack,
    ) -> Decision {
        let outs = self.out_mask & !(1 << side);
        let has_room = |&direction: &u8| {
            outs & (1 << direction) != 0 && view.lanes.room(self.outs[usize::from(direction)], view.now) >= 0
        };
        let open = (0..6).filter(has_room).fold(0, |open, direction| open | 1 << direction) & !closed;
        let crossing = crossing(self.key, usize::from(side), outs, open, sink, self.cursor, stack);
        match view.endpoints.routers[usize::from(self.router)].route(&crossing) {
            Route::Deliver if sink == SinkState::Accepts => Decision::Deliver,
            Route::Out(direction) => {
                self.hand_over(view, side, direction.index() as u8, closed).unwrap_or(Decision::Wait)
            }
            Route::Deliver | Route::Wait => Decision::Wait,
        }
    }

    /// The move of the front item from `side` onto the lane in `direction`, if that has room.
    #[inline]
    fn hand_over(&self, view: &View<'_>, side: u8, direction: u8, closed: u8) -> Option<Decision> {
        let lane = self.outs[usize::from(direction)];
        if lane == NONE || closed & (1 << direction) != 0 {
            return None;
        }
        let room = view.lanes.room(lane, view.now);
        if room < 0 {
            return None;
        }
        let from = view.lanes.row(self.outs[usize::from(side)] ^ 1);
        let carry = if from.due == view.now { from.carry() } else { 0 };
        Some(Decision::HandOver { direction, position: i64::from(carry).min(room) as u32 })
    }
}
