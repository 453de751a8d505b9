//! What changes the network of a solver between ticks: pipes, sources, sinks, routers, chunks, single items.

use std::sync::Arc;

use voxtick_worlds::{BlockPos, ChunkPos, ItemStack};

use super::lane::{EDITED, FROZEN, LIVE, Lane, REFUSED};
use super::wheel::Due;
use super::{Junction, TransitSolver, joint_of};
use crate::endpoints::{EndpointError, Sink, Source};
use crate::events::Spill;
use crate::insertion::InsertError;
use crate::items::ItemHandle;
use crate::loading::is_loaded;
use crate::migrate::{OldLane, rehome};
use crate::network::{Connections, GraphError, LaneName, NONE, SegmentedGraph, key};
use crate::routers::Router;
use crate::settings::{LaneSettings, SettingsError};

impl TransitSolver {
    /// Adds a pipe or changes its connections; items keep their places.
    ///
    /// # Errors
    /// The position is no place for a pipe.
    pub fn add_pipe(&mut self, position: BlockPos, connections: Connections) -> Result<(), GraphError> {
        self.graph.add(position, connections)?;
        self.adopt();
        Ok(())
    }

    /// Adds many pipes at once.
    ///
    /// # Errors
    /// A position is no place for a pipe; nothing has changed then.
    pub fn add_pipes(&mut self, pipes: &[(BlockPos, Connections)]) -> Result<(), GraphError> {
        self.graph.add_many(pipes)?;
        self.adopt();
        Ok(())
    }

    /// Takes a pipe away; true where there was one. Items on it fall out: see [`TransitSolver::take_spills`].
    pub fn remove_pipe(&mut self, position: BlockPos) -> bool {
        let removed = self.graph.remove(position);
        self.adopt();
        removed
    }

    /// Makes the lanes of a graph that was built before the solver.
    pub(super) fn open_all_lanes(&mut self) {
        self.lanes.grow(self.graph.run_slots() * 2);
        for run in 0..self.graph.run_slots() as u32 {
            if self.graph.is_live_segment(run) {
                let forward = self.graph.segment(run).direction().index();
                self.open_lane(run, forward, 0);
                self.open_lane(run, forward ^ 1, 0);
            }
        }
        for node in 0..self.graph.node_slots() as u32 {
            self.refresh_junction(self.graph.node(node).key, node);
        }
    }

    /// Brings lanes and junctions in line with the last edit of the graph.
    fn adopt(&mut self) {
        let delta = self.graph.delta().clone();
        self.lanes.grow(self.graph.run_slots() * 2);
        self.joints.resize(self.graph.node_slots(), NONE);
        let mut ends = Vec::new();
        let mut old = Vec::new();
        for &(run, segment) in &delta.removed {
            ends.extend([key::pack(segment.low), key::pack(segment.high)]);
            let forward = segment.direction().index();
            for direction in [forward, forward ^ 1] {
                let lane = lane_row(run, direction);
                self.note_lane(lane);
                let travellers = self.lanes.items(lane, self.tick);
                old.push(OldLane { segment, direction, settings: self.lanes.settings(lane), travellers });
                self.lanes.remove(lane);
            }
        }
        let (new, lost) = rehome(&self.graph, old, &delta.added, self.lanes.default_settings());
        for lane in new {
            // The settings come from lanes that had a class already, or from two of them: a class is missing only where
            // 65,536 others exist, and then the slower lane keeps to the default.
            let class = self.lanes.class(lane.settings).unwrap_or(0);
            let row = self.open_lane(lane.run, lane.direction, class);
            if !lane.travellers.is_empty() {
                self.lanes.refill(row, self.tick, &lane.travellers, &self.items);
                self.lanes.note_arrival(row);
            }
        }
        for &run in &delta.added {
            let segment = self.graph.segment(run);
            ends.extend([key::pack(segment.low), key::pack(segment.high)]);
        }
        for lost in lost {
            let handle = ItemHandle(lost.handle);
            self.spills.push(Spill { handle, stack: self.items.stack(handle), point: lost.point });
            self.items.remove(handle);
            self.totals.spilled += 1;
        }
        for &(key, node) in &delta.touched {
            if let Some(joint) = joint_of(&self.joints, node) {
                self.junctions[joint as usize].cursor = 0;
            }
            self.refresh_junction(key, node);
        }
        for key in ends {
            self.refresh_at(key);
        }
        for &run in &delta.added {
            self.note_lane(run * 2);
            self.note_lane(run * 2 + 1);
        }
    }

    /// Makes an empty lane.
    fn open_lane(&mut self, run: u32, direction: usize, class: u16) -> u32 {
        let lane = lane_row(run, direction);
        let it = self.graph.run(run);
        let (from, to) = if direction & 1 == 1 { (it.low, it.high) } else { (it.high, it.low) };
        let (from, to) = (self.joint(from), self.joint(to));
        let it = self.graph.run(run);
        let blocks = it.length;
        let frozen = !is_loaded(&self.graph.segment(run), &self.unloaded);
        let flags = if frozen { LIVE | FROZEN | EDITED } else { LIVE };
        self.lanes.put(lane, Lane::new(self.tick, blocks, (from, to), direction as u8, class, flags));
        if self.lanes.settings(lane).own_speeds() {
            self.lanes.refill(lane, self.tick, &[], &self.items);
        }
        lane
    }

    /// Works out anew what the solver keeps of a junction, after an edit around it; empty for what is none (any more).
    fn refresh_junction(&mut self, key: u64, node: u32) {
        let junction = self.graph.find_key(key) == Some(node) && self.graph.is_live_junction(node);
        let joint = match (junction, joint_of(&self.joints, node)) {
            (true, _) => self.joint(node),
            (false, Some(joint)) => {
                self.junctions[joint as usize] = Junction::none();
                self.free_joints.push(joint);
                self.joints[node as usize] = NONE;
                NONE
            }
            (false, None) => NONE,
        };
        let station = self.endpoints.station_at(key);
        if station != NONE {
            for row in self.endpoints.stations[station as usize].sources {
                if row != NONE {
                    self.endpoints.sources[row as usize].joint = joint;
                }
            }
        }
        let Some(it) = self.junctions.get_mut(joint as usize) else { return };
        // Entries of the wheel that name this junction are ignored unless they meet the tick of a later note.
        *it = Junction { key, cursor: it.cursor, ..Junction::none() };
        it.station = station;
        if let Some(station) = self.endpoints.stations.get(station as usize) {
            (it.sink, it.router) = (station.sink, station.router);
        }
        for direction in 0..6 {
            if let Some(run) = self.graph.closed_arm(node, direction) {
                it.outs[direction] = lane_row(run, direction);
                it.out_mask |= 1 << direction;
                let arriving = self.lanes.row(lane_row(run, direction ^ 1));
                it.waiting |= u16::from(arriving.has_arrived(self.tick)) << direction;
            }
        }
        if station != NONE {
            for (direction, &row) in self.endpoints.stations[station as usize].sources.iter().enumerate() {
                let waits = row != NONE && self.endpoints.sources[row as usize].due <= self.tick;
                it.waiting |= u16::from(waits) << (6 + direction);
            }
        }
        if it.waiting != 0 {
            self.recheck(joint, self.tick + 1);
        }
    }

    /// The row of the junction at a node, made where there is none yet.
    fn joint(&mut self, node: u32) -> u32 {
        if let Some(joint) = joint_of(&self.joints, node) {
            return joint;
        }
        let joint = match self.free_joints.pop() {
            Some(joint) => joint,
            None => {
                self.junctions.push(Junction::none());
                (self.junctions.len() - 1) as u32
            }
        };
        self.joints[node as usize] = joint;
        joint
    }

    /// Gives a lane a new speed and spacing; items keep their places.
    ///
    /// # Errors
    /// There is no such lane, or there are 65,536 different settings.
    pub fn set_lane(&mut self, name: LaneName, settings: LaneSettings) -> Result<(), SettingsError> {
        let lane = self.find_lane(name).ok_or(SettingsError::NoLane { lane: name })?;
        let class = self.lanes.class(settings)?;
        self.note_lane(lane);
        let travellers = self.lanes.items(lane, self.tick);
        let row = self.lanes.row_mut(lane);
        row.class = class;
        row.flags &= !REFUSED;
        row.flags |= if row.is(FROZEN) { EDITED } else { 0 };
        let (from, to) = (row.from, row.to);
        self.lanes.refill(lane, self.tick, &travellers, &self.items);
        if !travellers.is_empty() {
            self.lanes.note_arrival(lane);
        }
        for joint in [from, to] {
            self.refresh_at(self.junctions[joint as usize].key);
        }
        Ok(())
    }

    /// How items move on a lane.
    pub(crate) fn lane_settings(&self, name: LaneName) -> Option<LaneSettings> {
        Some(self.lanes.settings(self.find_lane(name)?))
    }

    /// Adds a source, in place of one that fed the same lane.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn add_source(&mut self, source: Source) -> Result<(), EndpointError> {
        let key = self.endpoints.add_source(source, &mut self.items, self.tick)?;
        let station = &self.endpoints.stations[self.endpoints.station_at(key) as usize];
        let row = station.sources[source.lane.direction.index()];
        self.wheel.push(self.endpoints.sources[row as usize].due, Due::Source(row).entry());
        self.refresh_at(key);
        Ok(())
    }

    /// Adds a sink, in place of one at the same junction.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn add_sink(&mut self, sink: Sink) -> Result<(), EndpointError> {
        let key = self.endpoints.add_sink(sink)?;
        self.refresh_at(key);
        Ok(())
    }

    /// Gives junctions a router, in place of [`crate::RoundRobin`] or of the one they had.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn set_router(
        &mut self,
        positions: &[BlockPos],
        router: Arc<dyn Router>,
    ) -> Result<(), EndpointError> {
        self.endpoints.set_router(positions, router)?;
        for &position in positions {
            self.refresh_at(key::pack(position));
        }
        Ok(())
    }

    /// Tells that the router at `position` may decide otherwise from now on. Waiting items are asked for when something
    /// they wait for changes; what a router keeps to itself is not seen without this.
    pub fn wake(&mut self, position: BlockPos) {
        if let Some(joint) = self.joint_at(position) {
            self.recheck(joint, self.tick + 1);
        }
    }

    /// Lets the sink at `position` take `count` more items; false where there is no sink with counted room.
    pub fn add_room(&mut self, position: BlockPos, count: u64) -> bool {
        let added = self.endpoints.add_room(position, count);
        self.wake(position);
        added
    }

    /// Loads or unloads a chunk: segments that cross an unloaded one stand still, to the unit and the tick, and no item
    /// enters them. Costs what lies in the chunk.
    pub fn set_loaded(&mut self, chunk: ChunkPos, loaded: bool) {
        let changed = if loaded { self.unloaded.remove(&chunk) } else { self.unloaded.insert(chunk) };
        if !changed {
            return;
        }
        for run in self.graph.segments_in(chunk) {
            let frozen = !is_loaded(&self.graph.segment(run), &self.unloaded);
            for lane in [run * 2, run * 2 + 1] {
                if self.lanes.row(lane).is(FROZEN) != frozen {
                    self.set_frozen(lane, frozen);
                }
            }
        }
    }

    fn set_frozen(&mut self, lane: u32, frozen: bool) {
        self.note_lane(lane);
        self.lanes.settle(lane, self.tick);
        let row = self.lanes.row_mut(lane);
        if frozen {
            row.flags |= FROZEN;
            return;
        }
        row.flags &= !(FROZEN | EDITED);
        // All arrivals still to come are later by the time it stood still; one that waits has waited all along.
        let stood = self.tick - row.base;
        row.base = self.tick;
        let (from, to) = (row.from, row.to);
        if row.count > 0 && row.due > self.tick - stood {
            row.due += stood;
            self.lanes.note_arrival(lane);
        }
        self.recheck(from, self.tick + 1);
        self.recheck(to, self.tick + 1);
    }

    /// Puts an item onto a lane, `position` units from its entry. `speed` is its own speed for lanes that have such, 0
    /// for the speed of each lane. Costs the number of items on the lane, except behind all others.
    ///
    /// # Errors
    /// See [`InsertError`].
    pub fn insert(
        &mut self,
        name: LaneName,
        position: u32,
        stack: ItemStack,
        speed: u16,
    ) -> Result<ItemHandle, InsertError> {
        let lane = self.find_lane(name).ok_or(InsertError::NoLane { lane: name })?;
        let row = self.lanes.row(lane);
        if row.is(FROZEN) {
            return Err(InsertError::NotLoaded { lane: name });
        }
        if position > row.length() {
            return Err(InsertError::BeyondEnd { lane: name, position, length: row.length() });
        }
        let spacing = self.lanes.settings(lane).spacing();
        self.note_lane(lane);
        self.lanes.settle(lane, self.tick);
        let row = self.lanes.row(lane);
        let behind_all = row.count == 0 || row.tail >= spacing && row.tail - spacing >= position;
        if behind_all {
            let handle = self.new_item(stack, speed)?;
            self.enter_at(lane, position, handle);
            self.wake_entry(lane);
            return Ok(handle);
        }
        let mut items = self.lanes.items(lane, self.tick);
        let at = items.partition_point(|&(ahead, _)| ahead > position);
        let ahead = at.checked_sub(1).map(|at| items[at].0);
        let behind = items.get(at).map(|&(behind, _)| behind);
        if ahead.is_some_and(|ahead| ahead - position < spacing)
            || behind.is_some_and(|behind| position - behind < spacing)
        {
            return Err(InsertError::TooClose { lane: name, position, spacing });
        }
        let handle = self.new_item(stack, speed)?;
        items.insert(at, (position, handle.0));
        let (due, carry) = (self.lanes.row(lane).due, self.lanes.row(lane).carry());
        self.lanes.refill(lane, self.tick, &items, &self.items);
        if at > 0 {
            self.lanes.row_mut(lane).keep_due(due, carry);
        } else {
            self.lanes.note_arrival(lane);
        }
        self.wake_entry(lane);
        Ok(handle)
    }

    /// Has what waits where a lane begins asked for again: a router may send it elsewhere now that the lane has less
    /// room.
    fn wake_entry(&mut self, lane: u32) {
        let from = self.lanes.row(lane).from;
        if self.junctions[from as usize].waiting != 0 {
            self.recheck(from, self.tick + 1);
        }
    }

    /// Makes room for `count` more items.
    pub(crate) fn reserve_items(&mut self, count: usize) {
        self.items.reserve(count);
    }

    fn new_item(&mut self, stack: ItemStack, speed: u16) -> Result<ItemHandle, InsertError> {
        let stack = self.items.intern(stack).ok_or(InsertError::TooManyStacks)?;
        self.totals.created += 1;
        Ok(self.items.add(stack, speed))
    }

    fn enter_at(&mut self, lane: u32, position: u32, handle: ItemHandle) {
        self.lanes.push(lane, self.tick, position, handle.0, &self.items);
        if self.lanes.row(lane).count == 1 {
            self.lanes.note_arrival(lane);
        }
    }

    /// Hands out what fell out of pipes since the last call.
    pub fn take_spills(&mut self) -> Vec<Spill> {
        std::mem::take(&mut self.spills)
    }

    pub(super) fn refresh_at(&mut self, key: u64) {
        if let Some(node) = self.graph.find_key(key) {
            self.refresh_junction(key, node);
        }
    }
}

/// The row of a lane: two a run, towards higher coordinates first.
fn lane_row(run: u32, direction: usize) -> u32 {
    run * 2 + 1 - (direction as u32 & 1)
}

impl From<SegmentedGraph> for TransitSolver {
    /// A solver with [`LaneSettings::default`].
    fn from(graph: SegmentedGraph) -> TransitSolver {
        TransitSolver::new(graph, LaneSettings::default())
    }
}
