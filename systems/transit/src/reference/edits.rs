//! What changes the network of the reference between ticks: pipes, sources, sinks, routers, chunks, single items.
//!
//! After an edit of pipes everything is built anew. The rules:
//! 1. A lane that leads from the same junction to the same junction as before keeps all it had.
//! 2. Of all others, the items keep their place and their way in the world: each goes onto the new lane that covers its
//!    point in its direction; of two that meet there, onto the one that ends there. Items that lie closer than the
//!    spacing wait until the one ahead is far enough.
//! 3. A new lane is as slow and as wide as the slowest and the widest of the lanes that lay where it lies.
//! 4. Items without such a lane are spilled, in canonical order of the lanes they were on, front to back.
//! 5. A junction whose pipe was put, taken or given other connections begins its turns anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use voxtick_worlds::{BlockPos, ChunkPos, ItemStack};

use super::network::{Pipes, at_step, trace};
use super::{Junction, Lane, NOT_ARRIVED, ReferenceTransit};
use crate::endpoints::{EndpointError, Sink, Source};
use crate::events::Spill;
use crate::insertion::InsertError;
use crate::items::ItemHandle;
use crate::network::{Connections, GraphError, LaneName, NONE, key};
use crate::routers::Router;
use crate::settings::{LaneSettings, SettingsError, UNIT};

/// A point on the lines through the centres of blocks, in units.
type Point = [i64; 3];

impl ReferenceTransit {
    /// Adds a pipe or changes its connections; items keep their places.
    ///
    /// # Errors
    /// The position is no place for a pipe.
    pub fn add_pipe(&mut self, position: BlockPos, connections: Connections) -> Result<(), GraphError> {
        self.add_pipes(&[(position, connections)])
    }

    /// Adds many pipes at once; where a position comes twice, the last connections win.
    ///
    /// # Errors
    /// A position is no place for a pipe; nothing has changed then.
    pub fn add_pipes(&mut self, pipes: &[(BlockPos, Connections)]) -> Result<(), GraphError> {
        for &(position, _) in pipes {
            key::check(position)?;
        }
        let before = self.pipes.clone();
        self.pipes.extend(pipes.iter().copied());
        self.rebuild(&before);
        Ok(())
    }

    /// Takes a pipe away; true where there was one.
    pub fn remove_pipe(&mut self, position: BlockPos) -> bool {
        let before = self.pipes.clone();
        let removed = self.pipes.remove(&position).is_some();
        self.rebuild(&before);
        removed
    }

    /// Finds all junctions and lanes anew and gives every item its place on them.
    fn rebuild(&mut self, before: &Pipes) {
        let (positions, paths) = trace(&self.pipes);
        let mut cursors: BTreeMap<BlockPos, u8> =
            self.junctions.drain(..).map(|junction| (junction.position, junction.cursor)).collect();
        cursors.retain(|position, _| before.get(position) == self.pipes.get(position));
        let mut old: BTreeMap<LaneName, Lane> = self.lanes.drain(..).map(|lane| (lane.name, lane)).collect();
        let mut fresh = Vec::new();
        for path in paths {
            match old.remove(&path.name) {
                Some(lane) if lane.to == path.to => self.lanes.push(lane),
                replaced => {
                    old.extend(replaced.map(|lane| (lane.name, lane)));
                    fresh.push(self.lanes.len());
                    let mut lane = Lane::new(path.name, path.to, path.steps as u32 * UNIT, self.default);
                    lane.frozen = lane.blocks().any(|block| self.unloaded.contains(&block.chunk()));
                    lane.strained = true;
                    self.lanes.push(lane);
                }
            }
        }
        for &at in &fresh {
            let lane = &mut self.lanes[at];
            let lay_here = old.values().filter(|old| lane.shares_a_step_with(old));
            if let Some(settings) = lay_here.map(|old| old.settings).reduce(LaneSettings::slower) {
                lane.settings = settings;
            }
        }
        let mut moved: Vec<Vec<(u32, u32)>> = vec![Vec::new(); fresh.len()];
        // Along one line the items of the lane ahead come first, so that of two in one point that one stays ahead.
        let mut ahead_first: Vec<&Lane> = old.values().collect();
        ahead_first.sort_by_key(|lane| {
            let (x, y, z) = lane.name.direction.step();
            let from = lane.name.from;
            -(i64::from(from.x) * i64::from(x)
                + i64::from(from.y) * i64::from(y)
                + i64::from(from.z) * i64::from(z))
        });
        let mut lost = Vec::new();
        for lane in ahead_first {
            for (&position, &handle) in lane.positions[lane.first..].iter().zip(&lane.handles[lane.first..]) {
                let point = lane.point(position);
                let places = fresh.iter().enumerate().filter_map(|(row, &at)| {
                    let place = &self.lanes[at];
                    (place.name.direction == lane.name.direction).then_some(())?;
                    Some((place.position_of(point)?, row))
                });
                match places.max() {
                    Some((position, row)) => moved[row].push((position, handle)),
                    None => lost.push((lane.name, point, handle)),
                }
            }
        }
        for (&at, mut items) in fresh.iter().zip(moved) {
            items.sort_by_key(|&(position, _)| std::cmp::Reverse(position));
            for (position, handle) in items {
                let lane = &mut self.lanes[at];
                lane.push(position, handle, self.items.speed(ItemHandle(handle), lane.settings.speed()));
            }
        }
        lost.sort_by_key(|&(lane, _, _)| lane);
        for (_, point, handle) in lost {
            let handle = ItemHandle(handle);
            let point = point.map(|at| at as f64 / f64::from(UNIT) + 0.5);
            self.spills.push(Spill { handle, stack: self.items.stack(handle), point });
            self.items.remove(handle);
            self.totals.spilled += 1;
        }
        self.join(positions, &cursors);
    }

    /// Makes the junctions and tells them their lanes.
    fn join(&mut self, positions: Vec<BlockPos>, cursors: &BTreeMap<BlockPos, u8>) {
        for position in positions {
            let cursor = cursors.get(&position).copied().unwrap_or(0);
            let (ins, outs) = ([None; 6], [None; 6]);
            self.junctions.push(Junction { position, station: NONE, cursor, ins, outs });
        }
        for at in 0..self.lanes.len() {
            let (name, to) = (self.lanes[at].name, self.lanes[at].to);
            if let Some(from) = self.find_junction(name.from) {
                self.junctions[from].outs[name.direction.index()] = Some(at);
            }
            if let Some(to) = self.find_junction(to) {
                self.junctions[to].ins[name.direction.opposite().index()] = Some(at);
            }
        }
        self.stations_changed = true;
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
        self.stations_changed = true;
        Ok(())
    }

    /// Adds a sink.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub fn add_sink(&mut self, sink: Sink) -> Result<(), EndpointError> {
        self.endpoints.add_sink(sink)?;
        self.stations_changed = true;
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
        self.stations_changed = true;
        Ok(())
    }

    /// Lets the sink at `position` take `count` more items; false where there is no sink with counted room.
    pub fn add_room(&mut self, position: BlockPos, count: u64) -> bool {
        self.endpoints.add_room(position, count)
    }

    /// Loads or unloads a chunk: segments that cross an unloaded one stand still, to the unit and the tick.
    pub fn set_loaded(&mut self, chunk: ChunkPos, loaded: bool) {
        if loaded {
            self.unloaded.remove(&chunk);
        } else {
            self.unloaded.insert(chunk);
        }
        for lane in &mut self.lanes {
            lane.frozen = lane.blocks().any(|block| self.unloaded.contains(&block.chunk()));
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

impl Lane {
    /// All blocks from its entry to its end.
    fn blocks(&self) -> impl Iterator<Item = BlockPos> + use<> {
        let LaneName { from, direction } = self.name;
        (0..=(self.length / UNIT) as i32).map(move |step| at_step(from, direction, step))
    }

    /// Where in the world `position` units from its entry are.
    fn point(&self, position: u32) -> Point {
        let LaneName { from, direction } = self.name;
        let (x, y, z) = direction.step();
        let coordinate = |block: i32, step: i32| {
            i64::from(block) * i64::from(UNIT) + i64::from(step) * i64::from(position)
        };
        [coordinate(from.x, x), coordinate(from.y, y), coordinate(from.z, z)]
    }

    /// How many units from its entry a point is; `None` where it does not lie on the lane.
    fn position_of(&self, point: Point) -> Option<u32> {
        let [entry, end] = [self.point(0), self.point(self.length)];
        let on = (0..3)
            .all(|axis| (entry[axis].min(end[axis])..=entry[axis].max(end[axis])).contains(&point[axis]));
        on.then(|| (0..3).map(|axis| (point[axis] - entry[axis]).unsigned_abs() as u32).sum())
    }

    /// True where both run through two neighbouring blocks in the same direction.
    fn shares_a_step_with(&self, other: &Lane) -> bool {
        let middle = |lane: &Lane, step: u32| lane.point(step * UNIT + UNIT / 2);
        self.name.direction == other.name.direction
            && (0..other.length / UNIT).any(|step| self.position_of(middle(other, step)).is_some())
    }
}
