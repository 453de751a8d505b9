//! What changes the network of the reference between ticks: pipes, sources, sinks, routers, chunks, single items.

use std::sync::Arc;

use voxtick_worlds::{BlockPos, ChunkPos, ItemStack};

use super::{Lane, NOT_ARRIVED, ReferenceTransit};
use crate::endpoints::{EndpointError, Sink, Source};
use crate::events::Spill;
use crate::insertion::InsertError;
use crate::items::ItemHandle;
use crate::loading::is_loaded;
use crate::migrate::{OldLane, rehome};
use crate::network::{Connections, GraphError, LaneName};
use crate::routers::Router;
use crate::settings::{LaneSettings, SettingsError, UNIT};

impl ReferenceTransit {
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

    /// Takes a pipe away; true where there was one.
    pub fn remove_pipe(&mut self, position: BlockPos) -> bool {
        let removed = self.graph.remove(position);
        self.adopt();
        removed
    }

    /// Brings lanes in line with the last edit of the graph.
    fn adopt(&mut self) {
        let delta = self.graph.delta().clone();
        self.order.clear();
        self.lanes.resize(self.graph.run_slots() * 2, Lane::none());
        self.cursors.resize(self.graph.node_slots(), 0);
        let mut old = Vec::new();
        for &(run, segment) in &delta.removed {
            let forward = segment.direction().index();
            for (side, direction) in [forward, forward ^ 1].into_iter().enumerate() {
                let lane = std::mem::replace(&mut self.lanes[run as usize * 2 + side], Lane::none());
                let travellers = lane.positions[lane.first..].iter().copied();
                let travellers = travellers.zip(lane.handles[lane.first..].iter().copied()).collect();
                old.push(OldLane { segment, direction, settings: lane.settings, travellers });
            }
        }
        let (new, lost) = rehome(&self.graph, old, &delta.added, self.default);
        for lane in new {
            let segment = self.graph.segment(lane.run);
            let mut it = Lane::new(segment.length * UNIT, lane.settings);
            it.frozen = !is_loaded(&segment, &self.unloaded);
            for (position, handle) in lane.travellers {
                it.push(position, handle, self.items.speed(ItemHandle(handle), lane.settings.speed()));
            }
            it.strained = true;
            self.lanes[lane.run as usize * 2 + 1 - (lane.direction & 1)] = it;
        }
        for lost in lost {
            let handle = ItemHandle(lost.handle);
            self.spills.push(Spill { handle, stack: self.items.stack(handle), point: lost.point });
            self.items.remove(handle);
            self.totals.spilled += 1;
        }
        for (_, node) in delta.touched {
            self.cursors[node as usize] = 0;
        }
    }

    /// Gives a lane a new speed and spacing; items keep their places.
    ///
    /// # Errors
    /// There is no such lane.
    pub fn set_lane(&mut self, name: LaneName, settings: LaneSettings) -> Result<(), SettingsError> {
        let at = self.find_lane(name).ok_or(SettingsError::NoLane { lane: name })?;
        let lane = &mut self.lanes[at];
        lane.positions.drain(..lane.first);
        lane.handles.drain(..lane.first);
        lane.first = 0;
        lane.settings = settings;
        lane.speeds.clear();
        if settings.own_speeds() {
            let speeds =
                lane.handles.iter().map(|&handle| self.items.speed(ItemHandle(handle), settings.speed()));
            lane.speeds.extend(speeds);
        }
        lane.strained = true;
        lane.arrived = NOT_ARRIVED;
        lane.refused = false;
        Ok(())
    }

    /// Adds a source.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn add_source(&mut self, source: Source) -> Result<(), EndpointError> {
        self.endpoints.add_source(source, &mut self.items, self.tick)?;
        self.order.clear();
        Ok(())
    }

    /// Adds a sink.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn add_sink(&mut self, sink: Sink) -> Result<(), EndpointError> {
        self.endpoints.add_sink(sink)?;
        self.order.clear();
        Ok(())
    }

    /// Gives junctions a router.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn set_router(
        &mut self,
        positions: &[BlockPos],
        router: Arc<dyn Router>,
    ) -> Result<(), EndpointError> {
        self.endpoints.set_router(positions, router)?;
        self.order.clear();
        Ok(())
    }

    /// Lets the sink at `position` take `count` more items; false where there is no sink with counted room.
    pub fn add_room(&mut self, position: BlockPos, count: u64) -> bool {
        self.endpoints.add_room(position, count)
    }

    /// Loads or unloads a chunk: segments that cross an unloaded one stand still, to the unit and the tick.
    pub fn set_loaded(&mut self, chunk: ChunkPos, loaded: bool) {
        let changed = if loaded { self.unloaded.remove(&chunk) } else { self.unloaded.insert(chunk) };
        if !changed {
            return;
        }
        for run in 0..self.graph.run_slots() as u32 {
            if self.graph.is_live_segment(run) {
                let frozen = !is_loaded(&self.graph.segment(run), &self.unloaded);
                self.lanes[run as usize * 2].frozen = frozen;
                self.lanes[run as usize * 2 + 1].frozen = frozen;
            }
        }
    }

    /// Puts an item onto a lane, `position` units from its entry.
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
        let at = self.find_lane(name).ok_or(InsertError::NoLane { lane: name })?;
        let lane = &self.lanes[at];
        if lane.frozen {
            return Err(InsertError::NotLoaded { lane: name });
        }
        if position > lane.length {
            return Err(InsertError::BeyondEnd { lane: name, position, length: lane.length });
        }
        let spacing = lane.settings.spacing();
        let row = lane.first + lane.positions[lane.first..].partition_point(|&ahead| ahead > position);
        let ahead = row.checked_sub(1).filter(|&row| row >= lane.first).map(|row| lane.positions[row]);
        let behind = lane.positions.get(row).copied();
        if ahead.is_some_and(|ahead| ahead - position < spacing)
            || behind.is_some_and(|behind| position - behind < spacing)
        {
            return Err(InsertError::TooClose { lane: name, position, spacing });
        }
        let stack = self.items.intern(stack).ok_or(InsertError::TooManyStacks)?;
        let handle = self.items.add(stack, speed);
        let limit = lane.settings.speed();
        let lane = &mut self.lanes[at];
        lane.positions.insert(row, position);
        lane.handles.insert(row, handle.0);
        if lane.settings.own_speeds() {
            lane.speeds.insert(row, self.items.speed(handle, limit));
        }
        self.totals.created += 1;
        Ok(handle)
    }

    /// Hands out what fell out of pipes since the last call.
    pub fn take_spills(&mut self) -> Vec<Spill> {
        std::mem::take(&mut self.spills)
    }
}
