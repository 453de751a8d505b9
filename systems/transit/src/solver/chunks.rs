//! What a chunk has of a network, to be stored with it, taken out and put back.
//!
//! An item belongs to the chunk of the block that it is in. A lane that crosses a chunk that is not loaded stands still,
//! so what is stored of it stays true for as long as the chunk is away, and what the lane has in other chunks waits for
//! it. Pipes stay in the network when their chunk leaves: they are what the lanes of its neighbours lead to. In a
//! network that does not know them yet they come back with the first chunk that one of their segments crosses.

use std::collections::BTreeMap;

use voxtick_worlds::{BlockPos, ChunkPos};

use super::lane::{EDITED, FROZEN, REFUSED};
use super::{TransitSolver, joint_of};
use crate::endpoints::{Room, Supply};
use crate::items::ItemHandle;
use crate::loading::chunks_of;
use crate::migrate::block_of;
use crate::network::{Connections, LaneName, Segment, key};
use crate::settings::UNIT;
use crate::snapshot::{Snapshot, SnapshotError};

impl TransitSolver {
    /// What belongs to one chunk: its pipes with the segments that cross it, the items that are in its blocks, and what
    /// its junctions, sources and sinks remember. Costs what lies in the chunk and what is on lanes that cross it.
    #[must_use]
    pub fn chunk_snapshot(&self, chunk: ChunkPos) -> Snapshot {
        let mut snapshot = Snapshot { chunk: Some(chunk), ..Snapshot::default() };
        // Times in ticks of this run, and the latest of them, from which all are counted in the snapshot. What is still to
        // come counts from now: a later run has to wait as long.
        let mut latest = 0;
        let mut nodes: Vec<(u64, u32)> =
            self.graph.nodes_in(chunk).iter().map(|&node| (self.graph.node(node).key, node)).collect();
        nodes.sort_unstable();
        for run in self.graph.segments_in(chunk) {
            let segment = self.graph.segment(run);
            snapshot.segments.push((segment.forward(), segment.length));
            for end in [segment.low, segment.high] {
                if end.chunk() != chunk {
                    let connections = self.graph.connections(end).unwrap_or_default();
                    snapshot.pipes.push((end, connections));
                }
            }
            for name in [segment.forward(), segment.backward()] {
                let Some(lane) = self.find_lane(name) else { continue };
                let mut record = self.record(name, lane);
                let front = record.items.first().copied();
                record.items.retain(|item| block_of(name, item.position).chunk() == chunk);
                record.items.iter_mut().for_each(|item| item.handle = 0);
                let has_front = front.is_some_and(|it| block_of(name, it.position).chunk() == chunk);
                record.refused &= has_front;
                record.waited = record.waited.filter(|_| has_front).map(|waited| self.tick - waited);
                latest = latest.max(record.waited.unwrap_or(0));
                if !record.items.is_empty() || self.lanes.row(lane).class != 0 {
                    snapshot.lanes.push(record);
                }
            }
        }
        for &(key, node) in &nodes {
            let position = key::unpack(key);
            snapshot.pipes.push((position, self.graph.node(node).connections));
            if let Some(joint) = joint_of(&self.joints, node)
                && self.junctions[joint as usize].cursor != 0
            {
                snapshot.cursors.push((position, self.junctions[joint as usize].cursor));
            }
            let Some(station) = self.endpoints.stations.get(self.endpoints.station_at(key) as usize) else {
                continue;
            };
            for row in station.sources.iter().filter_map(|&row| self.endpoints.sources.get(row as usize)) {
                let left = if let Supply::Items(left) = row.source.supply { left } else { 0 };
                snapshot.sources.push((row.source.lane, row.due as i64, left));
                latest = latest.max(row.due);
            }
            if let Some(row) = self.endpoints.sinks.get(station.sink as usize) {
                let room = if let Room::Items(room) = row.sink.room { room } else { 0 };
                snapshot.sinks.push((position, row.ready as i64, row.taken, room));
                latest = latest.max(row.ready);
            }
        }
        let latest = latest.min(self.tick);
        snapshot.tick = latest;
        for waited in snapshot.lanes.iter_mut().filter_map(|record| record.waited.as_mut()) {
            *waited = latest - *waited;
        }
        snapshot.sources.iter_mut().for_each(|source| source.1 -= latest as i64);
        snapshot.sinks.iter_mut().for_each(|sink| sink.1 -= latest as i64);
        snapshot.segments.sort_unstable();
        snapshot.pipes.sort_unstable_by_key(|&(position, _)| position);
        snapshot.pipes.dedup();
        snapshot.lanes.sort_unstable_by_key(|record| record.lane);
        snapshot
    }

    /// As [`TransitSolver::chunk_snapshot`]; the chunk leaves: it is unloaded, and its items are taken out of the
    /// network until [`TransitSolver::put_back`] brings them. Its pipes stay, and stand still.
    pub fn take_out(&mut self, chunk: ChunkPos) -> Snapshot {
        let snapshot = self.chunk_snapshot(chunk);
        self.set_loaded(chunk, false);
        self.away.insert(chunk);
        for record in snapshot.lanes.iter().filter(|record| !record.items.is_empty()) {
            let Some(lane) = self.find_lane(record.lane) else { continue };
            let here = |&(position, _): &(u32, u32)| block_of(record.lane, position).chunk() == chunk;
            let (gone, rest): (Vec<_>, Vec<_>) =
                self.lanes.items(lane, self.tick).into_iter().partition(here);
            self.note_lane(lane);
            self.set_items(lane, &rest, None);
            for (_, handle) in gone {
                self.items.remove(ItemHandle(handle));
                self.totals.stored += 1;
            }
        }
        snapshot
    }

    /// Puts back what [`TransitSolver::take_out`] or [`TransitSolver::chunk_snapshot`] gave, in this run or an earlier
    /// one, under new handles. `absent` are the chunks among [`Snapshot::chunks`] that are not loaded either: segments
    /// that cross one stand still until [`TransitSolver::set_loaded`] says that it is.
    ///
    /// Where the network is the one that was stored, everything goes on as if the chunk had stood still all the time. A
    /// lane that was edited meanwhile keeps the edit, and what is at its end waits from when it moves again. An item
    /// whose lane is no more goes onto one that covers its block in its direction, else it is spilled. What stood at
    /// junctions keeps its state from this run, if the chunk was taken out in it.
    ///
    /// # Errors
    /// The snapshot contradicts itself (see [`Snapshot::check`]), is not of a chunk, or has more pipes than the network
    /// can hold; nothing has changed then.
    pub fn put_back(&mut self, snapshot: &Snapshot, absent: &[ChunkPos]) -> Result<(), SnapshotError> {
        snapshot.check()?;
        let chunk = snapshot.chunk.ok_or(SnapshotError::Extent)?;
        let same_run = self.away.contains(&chunk);
        if !same_run {
            self.add_missing_pipes(snapshot, chunk, absent)?;
        }
        self.away.remove(&chunk);
        for &absent in absent {
            self.set_loaded(absent, false);
        }
        let mut coming: BTreeMap<u32, Vec<(u32, i64, u32)>> = BTreeMap::new();
        for record in &snapshot.lanes {
            if !same_run
                && let Some(lane) = self.find_lane(record.lane)
                && self.lanes.settings(lane) != record.settings
                && !self.lanes.row(lane).is(EDITED)
            {
                // The lane exists; where 65,536 other settings do too, it keeps its own.
                let _ = self.set_lane(record.lane, record.settings);
                self.lanes.row_mut(lane).flags &= !EDITED;
            }
            for item in &record.items {
                // A stack beyond the limit of different ones is taken in all the same: it exists.
                let stack = self.items.intern_taken(item.stack);
                let handle = self.items.add(stack, item.speed).0;
                self.totals.created += 1;
                match self.covering(record.lane, item.position) {
                    Some((lane, position)) => {
                        coming.entry(lane).or_default().push((position, start_of(record.lane), handle));
                    }
                    None => self.spill(record.lane, &[(item.position, handle)]),
                }
            }
        }
        for (lane, mut items) in coming {
            self.note_lane(lane);
            // Of two lanes that were joined, what begins the one ahead stays ahead of what ends the one behind.
            items.sort_by_key(|&(_, start, _)| std::cmp::Reverse(start));
            let mut all = self.lanes.items(lane, self.tick);
            all.extend(items.into_iter().map(|(position, _, handle)| (position, handle)));
            all.sort_by_key(|&(position, _)| std::cmp::Reverse(position));
            let record = snapshot.lanes.iter().find(|record| self.find_lane(record.lane) == Some(lane));
            let edited = self.lanes.row(lane).is(EDITED);
            let waits = record.filter(|_| !edited).and_then(|record| {
                let at_end = record.items.first()?.position == self.lanes.row(lane).length();
                let since = if same_run { snapshot.tick } else { self.tick };
                at_end.then_some((since.saturating_sub(record.waited?), record.refused))
            });
            self.set_items(lane, &all, waits);
        }
        if !same_run {
            self.restore_stations(snapshot, self.tick);
        }
        for &(name, length) in &snapshot.segments {
            for end in [name.from, far_end(name, length)] {
                self.refresh_at(key::pack(end));
            }
        }
        Ok(())
    }

    /// The chunks with a lane that an item entered or left or on which items moved after the end of tick `since`, or
    /// with a source or sink that was used or not ready yet, in canonical order: those whose
    /// [`TransitSolver::chunk_snapshot`] may have changed. Storing these, at the end of one tick, keeps every item in
    /// exactly one place.
    #[must_use]
    pub fn dirty_chunks(&self, since: u64) -> Vec<ChunkPos> {
        let mut chunks = Vec::new();
        for run in 0..self.graph.run_slots() as u32 {
            let lanes = [run * 2, run * 2 + 1];
            if self.graph.is_live_segment(run)
                && lanes.iter().any(|&lane| self.lanes.changed_after(lane, since))
            {
                chunks.extend(chunks_of(&self.graph.segment(run)));
            }
        }
        for station in &self.endpoints.stations {
            let sources = station.sources.iter().filter_map(|&row| self.endpoints.sources.get(row as usize));
            // One that is used is due later than that.
            let fed = sources.into_iter().any(|row| row.due > since);
            let sink = self.endpoints.sinks.get(station.sink as usize);
            if fed || sink.is_some_and(|row| row.last.max(row.ready) > since) {
                chunks.push(key::unpack(station.key).chunk());
            }
        }
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    }

    /// Replaces the items of a lane. The front item waits since the tick and has been refused as `waits` says; where it
    /// is the one that was in front before, as before.
    fn set_items(&mut self, lane: u32, items: &[(u32, u32)], waits: Option<(u64, bool)>) {
        let row = self.lanes.row(lane);
        let (due, arrived, refused) = (row.due, row.has_arrived(self.tick), row.is(REFUSED));
        let front = (row.count > 0).then(|| self.lanes.front(lane));
        self.lanes.refill(lane, self.tick, items, &self.items);
        let same_front = front.is_some() && front == items.first().map(|&(_, handle)| handle);
        let waits = waits.or((same_front && arrived).then_some((due, refused)));
        let row = self.lanes.row_mut(lane);
        row.flags &= !REFUSED;
        match waits {
            Some((since, refused)) => {
                row.keep_due(since, 0);
                row.flags |= if refused { REFUSED } else { 0 };
            }
            None if row.count > 0 && !row.is(FROZEN) => self.lanes.note_arrival(lane),
            None => {}
        }
    }

    /// Lays the pipes of the chunk, and those that its segments lead to in chunks that are not there yet.
    fn add_missing_pipes(
        &mut self,
        snapshot: &Snapshot,
        chunk: ChunkPos,
        absent: &[ChunkPos],
    ) -> Result<(), SnapshotError> {
        let missing = |graph: &crate::SegmentedGraph, at: BlockPos| {
            // What a loaded chunk has no pipe at has been taken away there since.
            (at.chunk() == chunk || absent.contains(&at.chunk())) && graph.connections(at).is_none()
        };
        let mut pipes = snapshot.pipes.clone();
        for &(name, length) in &snapshot.segments {
            let straight = Connections::of(&[name.direction, name.direction.opposite()]);
            let inner = (1..length).map(|step| (block_of(name, step * UNIT), straight));
            pipes.extend(inner.filter(|&(at, _)| at.chunk() != chunk && missing(&self.graph, at)));
        }
        pipes.retain(|&(at, _)| missing(&self.graph, at));
        if !pipes.is_empty() {
            self.add_pipes(&pipes).map_err(SnapshotError::Graph)?;
            // What comes back as it was stored is no edit.
            for &run in &self.graph.delta().added {
                for lane in [run * 2, run * 2 + 1] {
                    self.lanes.row_mut(lane).flags &= !EDITED;
                }
            }
        }
        Ok(())
    }

    /// The lane in the direction of `name` that covers the block `position` units from its entry, and the place there:
    /// of two that meet in a junction the one that ends there.
    fn covering(&self, name: LaneName, position: u32) -> Option<(u32, u32)> {
        if let Some(lane) = self.find_lane(name)
            && position <= self.lanes.row(lane).length()
        {
            return Some((lane, position));
        }
        let node = self.graph.find(block_of(name, position))?;
        let forward = name.direction.index() & 1 == 1;
        let arms = [name.direction.index() ^ 1, name.direction.index()];
        let runs = match self.graph.passing(node, name.direction) {
            Some(run) => [Some(run), None],
            None => arms.map(|arm| self.graph.closed_arm(node, arm)),
        };
        let axis = key::axis_of(name.direction.index());
        let coordinate = |block: BlockPos| i64::from(key::along(key::pack(block), axis)) * i64::from(UNIT);
        let step = if forward { i64::from(position) } else { -i64::from(position) };
        let at = coordinate(name.from) + step;
        runs.into_iter().flatten().find_map(|run| {
            let segment = self.graph.segment(run);
            let lane = if forward { segment.forward() } else { segment.backward() };
            let way = if forward { at - coordinate(segment.low) } else { coordinate(segment.high) - at };
            let on = (0..=i64::from(segment.length) * i64::from(UNIT)).contains(&way);
            on.then_some(()).and_then(|()| Some((self.find_lane(lane)?, way as u32)))
        })
    }
}

impl Snapshot {
    /// The chunks that the segments of a chunk's snapshot cross.
    #[must_use]
    pub fn chunks(&self) -> Vec<ChunkPos> {
        let segments = self.segments.iter().map(|&(name, length)| Segment {
            low: name.from,
            high: far_end(name, length),
            length,
        });
        let mut chunks: Vec<ChunkPos> = segments.flat_map(|segment| chunks_of(&segment)).collect();
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    }
}

/// Where a lane of this length ends.
fn far_end(name: LaneName, length: u32) -> BlockPos {
    block_of(name, length * UNIT)
}

/// How far along its way a lane begins: of two on one line, more for the one ahead.
fn start_of(name: LaneName) -> i64 {
    let (x, y, z) = name.direction.step();
    let from = name.from;
    [(from.x, x), (from.y, y), (from.z, z)].iter().map(|&(at, step)| i64::from(at) * i64::from(step)).sum()
}
