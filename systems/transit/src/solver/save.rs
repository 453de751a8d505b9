//! Saving and restoring what is in transit in a whole network.

use voxtick_worlds::Direction;

use super::lane::{EDITED, LIVE, NEVER, REFUSED};
use super::wheel::{Due, Wheel};
use super::{TransitSolver, joint_of};
use crate::endpoints::{Room, Supply};
use crate::events::{Spill, Totals};
use crate::items::ItemHandle;
use crate::migrate::lost_point;
use crate::network::{LaneName, NONE, key};
use crate::snapshot::{ItemRecord, LaneRecord, Snapshot, SnapshotError};

impl TransitSolver {
    /// Everything in transit at the end of this tick, in canonical order.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.collect();
        snapshot.rows = self.items.rows() as u32;
        // What was delivered in the last step is free from the next one on.
        snapshot.free = self.items.free().to_vec();
        snapshot.free.extend(self.events.delivered());
        let totals = self.totals;
        snapshot.totals = [totals.created - totals.stored, totals.delivered, totals.spilled];
        snapshot
    }

    /// Puts back what the snapshot of a whole network holds: it replaces all that is in transit; handles, totals and the
    /// tick become those of the snapshot.
    ///
    /// Where the network is the one that was saved, everything goes on as it would have. An item whose lane is no more,
    /// or is too short, is spilled: see [`TransitSolver::take_spills`]. Routers and containers are not part of a
    /// snapshot.
    ///
    /// # Errors
    /// The snapshot contradicts itself (see [`Snapshot::check`]) or is one of a chunk; nothing has changed then.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        snapshot.check()?;
        if snapshot.chunk.is_some() {
            return Err(SnapshotError::Extent);
        }
        self.clear_all(snapshot);
        for record in &snapshot.lanes {
            self.restore_lane(record);
        }
        self.restore_stations(snapshot, snapshot.tick);
        for lane in 0..self.lanes.len() as u32 {
            self.note_lane(lane);
        }
        for joint in 0..self.junctions.len() {
            if self.junctions[joint].key != 0 {
                self.refresh_at(self.junctions[joint].key);
            }
        }
        Ok(())
    }

    /// Gives junctions, sources and sinks back what they remember; times count from `tick`.
    pub(super) fn restore_stations(&mut self, snapshot: &Snapshot, tick: u64) {
        for &(position, cursor) in &snapshot.cursors {
            if let Some(joint) = self.joint_at(position) {
                self.junctions[joint as usize].cursor = cursor;
            }
        }
        for &(name, due, left) in &snapshot.sources {
            self.restore_source(name, tick.saturating_add_signed(due), left);
        }
        for &(position, ready, taken, room) in &snapshot.sinks {
            if let Some(row) = self.endpoints.sink_mut(position) {
                row.ready = tick.saturating_add_signed(ready);
                row.taken = taken;
                if let Room::Items(left) = &mut row.sink.room {
                    *left = room;
                }
            }
        }
    }

    fn clear_all(&mut self, snapshot: &Snapshot) {
        self.tick = snapshot.tick;
        self.wheel = Wheel::new(self.tick);
        self.lanes.restart(self.tick);
        self.events.clear();
        self.items.restore_rows(snapshot.rows as usize, snapshot.free.clone());
        let [created, delivered, spilled] = snapshot.totals;
        self.totals = Totals { created, delivered, spilled, stored: 0 };
        self.away.clear();
        for lane in 0..self.lanes.len() as u32 {
            if self.lanes.row(lane).is(LIVE) {
                self.lanes.refill(lane, self.tick, &[], &self.items);
                self.lanes.row_mut(lane).flags &= !(REFUSED | EDITED);
            }
        }
        for junction in &mut self.junctions {
            junction.next_visit = u64::MAX;
            junction.cursor = 0;
        }
        for row in 0..self.endpoints.sources.len() as u32 {
            let due = self.endpoints.sources[row as usize].due.max(self.tick + 1);
            self.endpoints.sources[row as usize].due = due;
            self.wheel.push(due, Due::Source(row).entry());
        }
    }

    fn restore_lane(&mut self, record: &LaneRecord) {
        let mut items = Vec::with_capacity(record.items.len());
        for item in &record.items {
            // A stack beyond the limit of different ones is taken in all the same: it exists.
            let stack = self.items.intern_taken(item.stack);
            self.items.restore(ItemHandle(item.handle), stack, item.speed);
            items.push((item.position, item.handle));
        }
        let Some(lane) = self.find_lane(record.lane) else {
            self.spill(record.lane, &items);
            return;
        };
        // Empty, unless the snapshot names the lane twice.
        let before = self.lanes.items(lane, self.tick);
        self.spill(record.lane, &before);
        let length = self.lanes.row(lane).length();
        let fits = items.partition_point(|&(position, _)| position > length);
        let beyond: Vec<(u32, u32)> = items.drain(..fits).collect();
        self.spill(record.lane, &beyond);
        if let Ok(class) = self.lanes.class(record.settings) {
            self.lanes.row_mut(lane).class = class;
        }
        self.lanes.refill(lane, self.tick, &items, &self.items);
        let row = self.lanes.row_mut(lane);
        row.flags &= !REFUSED;
        match record.waited {
            Some(waited)
                if beyond.is_empty() && items.first().is_some_and(|&(position, _)| position == length) =>
            {
                row.due = self.tick.saturating_sub(waited);
                row.flags |= if record.refused { REFUSED } else { 0 };
            }
            _ if row.due != NEVER => self.lanes.note_arrival(lane),
            _ => {}
        }
    }

    fn restore_source(&mut self, name: LaneName, due: u64, left: u64) {
        let Ok(key) = key::check(name.from) else { return };
        let station = self.endpoints.stations.get(self.endpoints.station_at(key) as usize);
        let Some(at) = station.map(|station| station.sources[name.direction.index()]) else { return };
        if let Some(row) = self.endpoints.sources.get_mut(at as usize) {
            row.due = due;
            if let Supply::Items(items) = &mut row.source.supply {
                *items = left;
            }
            if row.due > self.tick {
                self.wheel.push(row.due, Due::Source(at).entry());
            }
        }
    }

    /// Lets items fall where a lane of this name would have them.
    pub(super) fn spill(&mut self, name: LaneName, items: &[(u32, u32)]) {
        for &(position, handle) in items {
            let handle = ItemHandle(handle);
            let point = lost_point(name, position);
            self.spills.push(Spill { handle, stack: self.items.stack(handle), point });
            self.items.remove(handle);
            self.totals.spilled += 1;
        }
    }

    fn collect(&self) -> Snapshot {
        let mut snapshot = Snapshot { tick: self.tick, ..Snapshot::default() };
        let mut joints: Vec<(u64, u32)> = (0..self.graph.node_slots() as u32)
            .filter_map(|node| Some((self.graph.node(node).key, joint_of(&self.joints, node)?)))
            .collect();
        joints.sort_unstable();
        for (key, joint) in joints {
            let junction = &self.junctions[joint as usize];
            if junction.cursor != 0 {
                snapshot.cursors.push((key::unpack(key), junction.cursor));
            }
            for (direction, &lane) in junction.outs.iter().enumerate().filter(|&(_, &lane)| lane != NONE) {
                let name = LaneName { from: key::unpack(key), direction: Direction::ALL[direction] };
                let row = self.lanes.row(lane);
                if row.count > 0 || row.class != 0 {
                    snapshot.lanes.push(self.record(name, lane));
                }
            }
        }
        let ticks_from_now = |tick: u64| tick as i64 - self.tick as i64;
        let mut stations: Vec<_> = self.endpoints.stations.iter().collect();
        stations.sort_unstable_by_key(|station| station.key);
        for station in stations {
            for row in station.sources.iter().filter_map(|&row| self.endpoints.sources.get(row as usize)) {
                let left = if let Supply::Items(left) = row.source.supply { left } else { 0 };
                snapshot.sources.push((row.source.lane, ticks_from_now(row.due), left));
            }
            if let Some(row) = self.endpoints.sinks.get(station.sink as usize) {
                let room = if let Room::Items(room) = row.sink.room { room } else { 0 };
                let position = key::unpack(station.key);
                snapshot.sinks.push((position, ticks_from_now(row.ready), row.taken, room));
            }
        }
        snapshot
    }

    pub(super) fn record(&self, lane: LaneName, at: u32) -> LaneRecord {
        let row = self.lanes.row(at);
        let item = |(position, handle)| {
            let handle = ItemHandle(handle);
            let (stack, speed) = (self.items.stack(handle), self.items.own_speed(handle));
            ItemRecord { position, handle: handle.0, speed, stack }
        };
        LaneRecord {
            lane,
            settings: self.lanes.settings(at),
            waited: row.has_arrived(self.tick).then(|| self.tick - row.due),
            refused: row.is(REFUSED),
            items: self.lanes.items(at, self.tick).into_iter().map(item).collect(),
        }
    }
}
