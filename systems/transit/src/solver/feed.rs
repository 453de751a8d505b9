//! What a solver notes for mirrors while it runs.

use voxtick_worlds::Direction;

use super::TransitSolver;
use super::lane::{FROZEN, LIVE};
use crate::items::ItemHandle;
use crate::mirror::{Delta, Deltas};
use crate::network::{LaneName, key};

/// Notes by lane row, turned into deltas when a step ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Feed {
    /// Lanes that changed between ticks, with their name at that time.
    changed: Vec<(LaneName, u32)>,
    /// Lane, and position and handle of what entered; `None` for what left.
    moved: Vec<(u32, Option<(u32, u32)>)>,
    deltas: Deltas,
}

impl TransitSolver {
    /// Notes what changes in every tick for [`TransitSolver::take_deltas`]. The first deltas hold every lane.
    #[must_use]
    pub fn with_mirror_feed(mut self) -> TransitSolver {
        self.feed = Some(Box::default());
        for lane in 0..self.lanes.len() as u32 {
            self.note_lane(lane);
        }
        self
    }

    /// Hands out what changed in the last step and since the one before. To be called after every step; empty without
    /// [`TransitSolver::with_mirror_feed`].
    pub fn take_deltas(&mut self) -> Deltas {
        self.feed.as_mut().map(|feed| std::mem::take(&mut feed.deltas)).unwrap_or_default()
    }

    /// Notes that a lane changed between ticks, or is about to be removed.
    pub(super) fn note_lane(&mut self, lane: u32) {
        if self.feed.is_some() && self.lanes.row(lane).is(LIVE) {
            let name = self.lane_name(lane);
            if let Some(feed) = &mut self.feed {
                feed.changed.push((name, lane));
            }
        }
    }

    #[inline]
    pub(super) fn note_left(&mut self, lane: u32) {
        if let Some(feed) = &mut self.feed {
            feed.moved.push((lane, None));
        }
    }

    #[inline]
    pub(super) fn note_entered(&mut self, lane: u32, position: u32, handle: u32) {
        if let Some(feed) = &mut self.feed {
            feed.moved.push((lane, Some((position, handle))));
        }
    }

    /// Writes down the state of all lanes that changed since the last tick, before the next one changes it.
    pub(super) fn note_changes_between_ticks(&mut self) {
        let Some(mut feed) = self.feed.take() else { return };
        feed.changed.sort_unstable();
        feed.changed.dedup_by_key(|&mut (name, _)| name);
        feed.deltas = Deltas { tick: self.tick + 1, ..Deltas::default() };
        for (name, _) in feed.changed.drain(..) {
            feed.deltas.before.push(match self.find_lane(name) {
                Some(lane) => Delta::Lane {
                    record: self.record(name, lane),
                    blocks: self.lanes.row(lane).length() / crate::settings::UNIT,
                    frozen: self.lanes.row(lane).is(FROZEN),
                },
                None => Delta::Gone(name),
            });
        }
        self.feed = Some(feed);
    }

    /// Writes down what left and entered lanes in this tick.
    pub(super) fn note_tick(&mut self) {
        let Some(mut feed) = self.feed.take() else { return };
        let mut during: Vec<(LaneName, bool, Delta)> = Vec::with_capacity(feed.moved.len());
        for (lane, entered) in feed.moved.drain(..) {
            let name = self.lane_name(lane);
            let delta = match entered {
                None => Delta::Left(name),
                Some((position, handle)) => {
                    let item = ItemHandle(handle);
                    let (stack, speed) = (self.items.stack(item), self.items.own_speed(item));
                    Delta::Entered { lane: name, position, handle, speed, stack }
                }
            };
            during.push((name, entered.is_some(), delta));
        }
        // Stable: several that enter one lane keep their order.
        during.sort_by_key(|&(name, entered, _)| (name, entered));
        feed.deltas.during.extend(during.into_iter().map(|(_, _, delta)| delta));
        self.feed = Some(feed);
    }

    fn lane_name(&self, lane: u32) -> LaneName {
        let row = self.lanes.row(lane);
        let from = key::unpack(self.junctions[row.from as usize].key);
        LaneName { from, direction: Direction::ALL[usize::from(row.direction)] }
    }
}
