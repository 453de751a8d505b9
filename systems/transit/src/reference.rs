//! The plainest right way to move items through pipes: one by one, every tick.
//!
//! Each lane keeps its items in flat arrays, front first. A tick advances every item of every lane, then asks every
//! junction in canonical order. After an edit all lanes are found anew by walking from pipe to pipe. Nothing is skipped
//! and nothing remembered but what the rules name, so this is the oracle that [`crate::TransitSolver`] is held against
//! and the other side of `voxtick measure transit`. It never runs in a simulation.
//!
//! The rules of a tick:
//! 1. Every item moves by its speed, front to back, but not closer than the spacing to the one ahead (which has moved
//!    already) and not past the end. The front item that reaches the end has arrived; what it could have moved on is
//!    its carry, good in this tick only.
//! 2. The room at the start of every lane is measured: what leaves in the same tick makes room for the next one.
//! 3. At each junction, waiting items and sources that are due come in turn by age (the tick since which they wait,
//!    then the side they came from). Its router decides; whether the lane has room or the sink accepts is tested when
//!    the move is made. An item handed over starts at its carry and is not advanced again.

mod edits;
mod network;

use std::collections::{BTreeMap, BTreeSet};

use voxtick_worlds::{BlockPos, ChunkPos, Inventories, ItemStack};

use crate::endpoints::{Endpoints, Station, crossing};
use crate::events::{EventKind, Events, Spill, Totals};
use crate::items::{ItemHandle, Items};
use crate::network::{Connections, LaneName, NONE, key};
use crate::routers::{Route, SinkState};
use crate::settings::LaneSettings;

/// Not yet at the end of the lane.
const NOT_ARRIVED: u64 = u64::MAX;

/// Moves items one by one. Construct it, then edit and step it like [`crate::TransitSolver`].
#[derive(Debug, Clone)]
pub struct ReferenceTransit {
    pipes: BTreeMap<BlockPos, Connections>,
    default: LaneSettings,
    /// By name.
    lanes: Vec<Lane>,
    /// By position.
    junctions: Vec<Junction>,
    /// Something was put at a junction since stations were last looked up.
    stations_changed: bool,
    endpoints: Endpoints,
    items: Items,
    events: Events,
    spills: Vec<Spill>,
    totals: Totals,
    unloaded: BTreeSet<ChunkPos>,
    tick: u64,
}

/// A pipe that does anything but pass straight through.
#[derive(Debug, Clone)]
struct Junction {
    position: BlockPos,
    /// What stands there.
    station: u32,
    /// The cursor of its router.
    cursor: u8,
    /// The lanes that arrive from each side, and those that leave to it.
    ins: [Option<usize>; 6],
    outs: [Option<usize>; 6],
}

/// One direction of a segment.
#[derive(Debug, Clone)]
struct Lane {
    name: LaneName,
    /// The junction where it ends.
    to: BlockPos,
    frozen: bool,
    settings: LaneSettings,
    length: u32,
    /// Front first from `first` on; what lies before has left.
    positions: Vec<u32>,
    handles: Vec<u32>,
    /// Own speeds, on lanes that have them.
    speeds: Vec<u32>,
    first: usize,
    /// Items lie closer than the spacing, after an edit: they wait until the one ahead is far enough.
    strained: bool,
    arrived: u64,
    carry: u32,
    /// The front item has been refused and has been told of.
    refused: bool,
    /// Where the next item may start at most; negative for "no room".
    room: i64,
}

impl ReferenceTransit {
    /// A solver without a pipe; lanes move by `settings` unless told otherwise.
    #[must_use]
    pub fn new(settings: LaneSettings) -> ReferenceTransit {
        ReferenceTransit {
            pipes: BTreeMap::new(),
            default: settings,
            lanes: Vec::new(),
            junctions: Vec::new(),
            stations_changed: false,
            endpoints: Endpoints::new(),
            items: Items::new(),
            events: Events::default(),
            spills: Vec::new(),
            totals: Totals::default(),
            unloaded: BTreeSet::new(),
            tick: 0,
        }
    }

    /// Runs one tick.
    pub fn step(&mut self, inventories: &mut Inventories) {
        self.tick += 1;
        for row in 0..self.events.len() {
            if self.events.kinds[row] == EventKind::Delivered {
                self.items.remove(ItemHandle(self.events.handles[row]));
            }
        }
        self.events.clear();
        for lane in &mut self.lanes {
            lane.advance(self.tick);
        }
        if self.stations_changed {
            self.stations_changed = false;
            for junction in &mut self.junctions {
                junction.station = self.endpoints.station_at(key::pack(junction.position));
            }
        }
        for at in 0..self.junctions.len() {
            self.visit(at, inventories);
        }
    }

    /// Asks one junction for all that waits there.
    fn visit(&mut self, at: usize, inventories: &mut Inventories) {
        let mut inputs = [(0u64, 0usize); 12];
        let mut count = 0;
        let junction = &self.junctions[at];
        for (side, lane) in junction.ins.into_iter().enumerate() {
            if let Some(lane) = lane
                && self.lanes[lane].arrived != NOT_ARRIVED
                && !self.lanes[lane].frozen
            {
                inputs[count] = (self.lanes[lane].arrived, side);
                count += 1;
            }
        }
        let station = self.endpoints.stations.get(junction.station as usize).copied();
        for direction in 0..6 {
            let row = station.map_or(NONE, |station| station.sources[direction]);
            if row != NONE && self.endpoints.sources[row as usize].is_ready(self.tick, Some(inventories)) {
                inputs[count] = (self.endpoints.sources[row as usize].due, 6 + direction);
                count += 1;
            }
        }
        inputs[..count].sort_unstable();
        for &(_, input) in &inputs[..count] {
            match station {
                Some(station) if input >= 6 => self.feed(at, input - 6, &station, inventories),
                _ => self.pass_on(at, input, station.as_ref(), inventories),
            }
        }
    }

    /// Lets the front item of the lane that comes in from `side` go where its router sends it.
    fn pass_on(&mut self, at: usize, side: usize, station: Option<&Station>, inventories: &mut Inventories) {
        let junction = &self.junctions[at];
        let key = key::pack(junction.position);
        let Some(from) = junction.ins[side] else { return };
        let handle = self.lanes[from].handles[self.lanes[from].first];
        let stack = self.items.stack(ItemHandle(handle));
        let (mut outs, mut open) = (0u8, 0u8);
        for direction in (0..6).filter(|&direction| direction != side) {
            if let Some(lane) = junction.outs[direction] {
                outs |= 1 << direction;
                open |= u8::from(self.lanes[lane].room >= 0) << direction;
            }
        }
        let sink_row = station.map_or(NONE, |station| station.sink);
        let sink = match sink_row {
            NONE => SinkState::None,
            row => self.endpoints.sinks[row as usize].state(|| stack, self.tick, Some(inventories)),
        };
        let router = station.map_or(0, |station| usize::from(station.router));
        let crossing = crossing(key, side, outs, open, sink, junction.cursor, stack);
        match self.endpoints.routers[router].route(&crossing) {
            Route::Deliver if sink == SinkState::Accepts => {
                self.endpoints.sinks[sink_row as usize].take(|| stack, self.tick, Some(inventories));
                self.lanes[from].pop();
                self.totals.delivered += 1;
                self.events.push(EventKind::Delivered, key, handle);
                return;
            }
            Route::Out(direction) => {
                let lane = self.junctions[at].outs[direction.index()];
                if let Some(lane) = lane.filter(|&lane| self.lanes[lane].room >= 0) {
                    let carry =
                        if self.lanes[from].arrived == self.tick { self.lanes[from].carry } else { 0 };
                    self.lanes[from].pop();
                    self.enter(lane, carry, handle);
                    self.junctions[at].cursor = direction.index() as u8 + 1;
                    return;
                }
            }
            Route::Deliver | Route::Wait => {}
        }
        if !self.lanes[from].refused {
            self.lanes[from].refused = true;
            self.events.push(EventKind::Refused, key, handle);
        }
    }

    /// Lets a source that is due put its item in.
    fn feed(&mut self, at: usize, direction: usize, station: &Station, inventories: &mut Inventories) {
        let Some(lane) = self.junctions[at].outs[direction] else { return };
        let row = station.sources[direction] as usize;
        // An earlier input of this visit may have emptied the container or filled the lane.
        let source = &mut self.endpoints.sources[row];
        if self.lanes[lane].room < 0 || !source.is_ready(self.tick, Some(inventories)) {
            return;
        }
        let Some(stack) = source.draw(self.tick, &mut self.items, Some(inventories)) else { return };
        let handle = self.items.add(stack, source.source.speed).0;
        self.enter(lane, 0, handle);
        self.totals.created += 1;
        self.events.push(EventKind::Created, station.key, handle);
    }

    fn enter(&mut self, lane: usize, carry: u32, handle: u32) {
        let speed = self.items.speed(ItemHandle(handle), self.lanes[lane].settings.speed());
        let lane = &mut self.lanes[lane];
        let position = i64::from(carry).min(lane.room) as u32;
        lane.room = i64::from(position) - i64::from(lane.settings.spacing());
        lane.push(position, handle, speed);
    }

    /// The items of a lane, front to back, as (position, handle); `None` where there is no such lane.
    #[must_use]
    pub fn lane(&self, name: LaneName) -> Option<Vec<(u32, ItemHandle)>> {
        let lane = &self.lanes[self.find_lane(name)?];
        let handles = lane.handles[lane.first..].iter().map(|&handle| ItemHandle(handle));
        Some(lane.positions[lane.first..].iter().copied().zip(handles).collect())
    }

    /// What happened in the last step.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// The stack of an item in a lane, or of one that left in the last step.
    #[must_use]
    pub fn stack(&self, handle: ItemHandle) -> Option<ItemStack> {
        self.items.has_row(handle).then(|| self.items.stack(handle))
    }

    /// How many items came and went.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many items are in lanes, counted one by one.
    #[must_use]
    pub fn item_count(&self) -> u64 {
        self.lanes.iter().map(|lane| (lane.positions.len() - lane.first) as u64).sum()
    }

    /// The names of all lanes, in canonical order.
    #[must_use]
    pub fn lane_names(&self) -> Vec<LaneName> {
        self.lanes.iter().map(|lane| lane.name).collect()
    }

    /// How many ticks have been run.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Where the router of the junction at `position` goes on, as [`crate::Crossing::cursor`].
    #[must_use]
    pub fn cursor(&self, position: BlockPos) -> u8 {
        self.find_junction(position).map_or(0, |at| self.junctions[at].cursor)
    }

    /// How many items the sink at `position` has taken.
    #[must_use]
    pub fn taken(&self, position: BlockPos) -> u64 {
        self.endpoints.sink_at(position).map_or(0, |row| row.taken)
    }

    /// Tells the whole state word by word, in canonical order: what is on every lane, and what junctions remember.
    /// Handles are left out, since they are rows.
    pub fn state_words(&self, mut word: impl FnMut(u64)) {
        word(self.tick);
        for junction in &self.junctions {
            word(key::pack(junction.position));
            word(u64::from(junction.cursor));
            for direction in 0..6 {
                let Some(lane) = junction.outs[direction] else { continue };
                let lane = &self.lanes[lane];
                word((direction as u64) << 32 | (lane.positions.len() - lane.first) as u64);
                word(u64::from(lane.frozen) | u64::from(lane.refused) << 1);
                word(lane.arrived);
                for row in lane.first..lane.positions.len() {
                    let stack = self.items.stack(ItemHandle(lane.handles[row]));
                    word(u64::from(lane.positions[row]));
                    word(
                        u64::from(stack.kind.0) << 16
                            | u64::from(stack.max_count) << 8
                            | u64::from(stack.count),
                    );
                }
            }
        }
        self.endpoints.state_words(word);
    }

    fn find_lane(&self, name: LaneName) -> Option<usize> {
        self.lanes.binary_search_by_key(&name, |lane| lane.name).ok()
    }

    fn find_junction(&self, position: BlockPos) -> Option<usize> {
        self.junctions.binary_search_by_key(&position, |junction| junction.position).ok()
    }
}

impl Lane {
    fn new(name: LaneName, to: BlockPos, length: u32, settings: LaneSettings) -> Lane {
        Lane {
            name,
            to,
            frozen: false,
            settings,
            length,
            positions: Vec::new(),
            handles: Vec::new(),
            speeds: Vec::new(),
            first: 0,
            strained: false,
            arrived: NOT_ARRIVED,
            carry: 0,
            refused: false,
            room: i64::from(length),
        }
    }

    /// Moves every item once and measures the room.
    fn advance(&mut self, tick: u64) {
        if self.frozen {
            self.room = -1;
            return;
        }
        let spacing = self.settings.spacing();
        let Some(&front) = self.positions.get(self.first) else {
            self.room = i64::from(self.length);
            return;
        };
        let front_speed = *self.speeds.get(self.first).unwrap_or(&self.settings.speed());
        if self.arrived == NOT_ARRIVED && front + front_speed >= self.length {
            self.arrived = tick;
            self.carry = if front < self.length { front + front_speed - self.length } else { 0 };
        }
        let positions = &mut self.positions[self.first..];
        let mut limit = self.length;
        if self.strained {
            self.strained = false;
            let mut limit = i64::from(limit);
            for (at, position) in positions.iter_mut().enumerate() {
                let speed = *self.speeds.get(self.first + at).unwrap_or(&self.settings.speed());
                *position = i64::from(*position + speed).min(limit).max(i64::from(*position)) as u32;
                self.strained |= i64::from(*position) > limit;
                limit = i64::from(*position) - i64::from(spacing);
            }
        } else if self.settings.own_speeds() {
            for (position, &speed) in positions.iter_mut().zip(&self.speeds[self.first..]) {
                *position = (*position + speed).min(limit);
                limit = position.wrapping_sub(spacing);
            }
        } else {
            let speed = self.settings.speed();
            for position in positions.iter_mut() {
                *position = (*position + speed).min(limit);
                limit = position.wrapping_sub(spacing);
            }
        }
        self.room = self.positions.last().map_or(0, |&last| i64::from(last) - i64::from(spacing));
    }

    fn push(&mut self, position: u32, handle: u32, speed: u32) {
        self.positions.push(position);
        self.handles.push(handle);
        if self.settings.own_speeds() {
            self.speeds.push(speed);
        }
    }

    fn pop(&mut self) {
        self.first += 1;
        self.arrived = NOT_ARRIVED;
        self.refused = false;
        // The arrays are moved up now and then, so that they stay flat and as short as what they hold.
        if self.first >= 32 && self.first * 2 >= self.positions.len() {
            self.positions.drain(..self.first);
            self.handles.drain(..self.first);
            self.speeds.drain(..self.first.min(self.speeds.len()));
            self.first = 0;
        }
    }
}
