//! Sources and sinks as columns: where items enter and leave a network, at what rate, and from or into what.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockPos, ContainerId, Direction, Inventories, ItemKind, ItemStack};

use crate::items::{Items, StackId};
use crate::network::{Connections, GraphError, LaneName, NONE, key};
use crate::routers::{Crossing, RoundRobin, Router, SinkState};

/// Puts items onto the lane that leaves a junction in one direction.
///
/// It works while that lane exists; a lane without room makes it wait, and it is served by age like any waiting item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The lane it feeds.
    pub lane: LaneName,
    /// What it puts in: for [`Supply::Container`] the kind and the most of one go are the container's.
    pub stack: ItemStack,
    /// The own speed its items get, in units a tick; 0 for the speed of each lane.
    pub speed: u16,
    /// Ticks from one item to the next, at least 1.
    pub period: u32,
    /// Ticks to wait before the first.
    pub delay: u32,
    /// Where the items come from.
    pub supply: Supply,
}

/// Where the items of a source come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supply {
    /// Never ends.
    Endless,
    /// This many items.
    Items(u64),
    /// An extractor: takes from a container, of one kind or any, up to `stack.count` items at a time.
    Container(ContainerId, Option<ItemKind>),
}

/// Takes items out at a junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sink {
    /// The junction.
    pub position: BlockPos,
    /// The kind it takes; `None` for all.
    pub kind: Option<ItemKind>,
    /// Takes at most one item every so many ticks; 0 for no limit.
    pub period: u32,
    /// Where the items go.
    pub room: Room,
}

/// Where the items of a sink go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Away: there is always room.
    Endless,
    /// Away, but no more than this many: see [`crate::TransitSolver::add_room`].
    Items(u64),
    /// An inserter: into a container, whole stacks only.
    Container(ContainerId),
}

/// Why a source, a sink or a router cannot be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The position is no place for a pipe.
    #[error(transparent)]
    Position(#[from] GraphError),
    /// The source would put in any number of items a tick.
    #[error("the source of {lane} has period 0: use at least 1 tick between items")]
    NoPeriod {
        /// The lane it was to feed.
        lane: LaneName,
    },
    /// More different stacks than can be told apart.
    #[error("the source of {lane} would be the 16777217th different stack: use fewer kinds")]
    TooManyStacks {
        /// The lane it was to feed.
        lane: LaneName,
    },
    /// More routers than can be numbered.
    #[error("the router at {position} would be the 65536th: give one router to several junctions")]
    TooManyRouters {
        /// The junction it was for.
        position: BlockPos,
    },
}

/// Everything that stands at junctions, by row. Rows outlive the pipe they stand at, and work again when it returns.
#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    pub(crate) sources: Vec<SourceRow>,
    pub(crate) sinks: Vec<SinkRow>,
    pub(crate) routers: Vec<Arc<dyn Router>>,
    pub(crate) stations: Vec<Station>,
    /// The station at a position.
    at: FxHashMap<u64, u32>,
    /// Which junctions a container is tied to.
    pub(crate) tied: FxHashMap<ContainerId, Vec<u64>>,
}

/// What stands at one junction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Station {
    pub(crate) key: u64,
    pub(crate) router: u16,
    /// Whether what happens here depends on a container.
    pub(crate) contained: bool,
    pub(crate) sink: u32,
    pub(crate) sources: [u32; 6],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceRow {
    pub(crate) source: Source,
    pub(crate) stack: StackId,
    /// The tick from which on the next item is due; its age when inputs compete.
    pub(crate) due: u64,
    /// The row that its solver keeps of the junction where it stands, `NONE` while there is none.
    pub(crate) joint: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SinkRow {
    pub(crate) sink: Sink,
    /// The first tick at which it takes the next item.
    pub(crate) ready: u64,
    /// The tick in which it took an item last.
    pub(crate) last: u64,
    pub(crate) taken: u64,
}

impl Endpoints {
    pub(crate) fn new() -> Endpoints {
        Endpoints {
            sources: Vec::new(),
            sinks: Vec::new(),
            routers: vec![Arc::new(RoundRobin)],
            stations: Vec::new(),
            at: FxHashMap::default(),
            tied: FxHashMap::default(),
        }
    }

    /// Adds a source, in place of one that fed the same lane. Its first item is due `delay` ticks after `tick`.
    pub(crate) fn add_source(
        &mut self,
        source: Source,
        items: &mut Items,
        tick: u64,
    ) -> Result<u64, EndpointError> {
        let key = key::check(source.lane.from)?;
        if source.period == 0 {
            return Err(EndpointError::NoPeriod { lane: source.lane });
        }
        let stack = items.intern(source.stack).ok_or(EndpointError::TooManyStacks { lane: source.lane })?;
        let due = tick + 1 + u64::from(source.delay);
        let row = SourceRow { source, stack, due, joint: NONE };
        let station = self.station_mut(key);
        let slot = &mut self.stations[station].sources[source.lane.direction.index()];
        if *slot == NONE {
            *slot = self.sources.len() as u32;
            self.sources.push(row);
        } else {
            self.sources[*slot as usize] = row;
        }
        if let Supply::Container(container, _) = source.supply {
            self.tie(container, key);
            self.stations[station].contained = true;
        }
        Ok(key)
    }

    /// Adds a sink, in place of one at the same junction.
    pub(crate) fn add_sink(&mut self, sink: Sink) -> Result<u64, EndpointError> {
        let key = key::check(sink.position)?;
        let row = SinkRow { sink, ready: 0, last: 0, taken: 0 };
        let at = self.station_mut(key);
        let station = &mut self.stations[at];
        if station.sink == NONE {
            station.sink = self.sinks.len() as u32;
            self.sinks.push(row);
        } else {
            self.sinks[station.sink as usize] = row;
        }
        if let Room::Container(container) = sink.room {
            self.tie(container, key);
            self.stations[at].contained = true;
        }
        Ok(key)
    }

    /// Gives junctions a router.
    pub(crate) fn set_router(
        &mut self,
        positions: &[BlockPos],
        router: Arc<dyn Router>,
    ) -> Result<(), EndpointError> {
        let first = positions.first().copied().unwrap_or_default();
        for &position in positions {
            key::check(position)?;
        }
        let known = self.routers.iter().position(|known| Arc::ptr_eq(known, &router));
        let row = match known {
            Some(row) => row,
            None => {
                self.routers.push(router);
                self.routers.len() - 1
            }
        };
        let row = u16::try_from(row).map_err(|_| EndpointError::TooManyRouters { position: first })?;
        for &position in positions {
            let station = self.station_mut(key::pack(position));
            self.stations[station].router = row;
        }
        Ok(())
    }

    /// The row of the station at a position, `NONE` where nothing stands there.
    pub(crate) fn station_at(&self, key: u64) -> u32 {
        self.at.get(&key).copied().unwrap_or(NONE)
    }

    /// The sink at a position.
    pub(crate) fn sink_at(&self, position: BlockPos) -> Option<&SinkRow> {
        let station = self.stations.get(self.station_at(key::check(position).ok()?) as usize)?;
        self.sinks.get(station.sink as usize)
    }

    /// The sink at a position, to be changed.
    pub(crate) fn sink_mut(&mut self, position: BlockPos) -> Option<&mut SinkRow> {
        let station = self.stations.get(self.station_at(key::check(position).ok()?) as usize)?;
        self.sinks.get_mut(station.sink as usize)
    }

    /// Lets the sink at a position take more; false where there is no sink with counted room.
    pub(crate) fn add_room(&mut self, position: BlockPos, count: u64) -> bool {
        let Ok(key) = key::check(position) else { return false };
        let Some(station) = self.stations.get(self.station_at(key) as usize) else { return false };
        match self.sinks.get_mut(station.sink as usize).map(|row| &mut row.sink.room) {
            Some(Room::Items(room)) => {
                *room = room.saturating_add(count);
                true
            }
            _ => false,
        }
    }

    /// Tells what sources and sinks remember, by position.
    pub(crate) fn state_words(&self, mut word: impl FnMut(u64)) {
        let mut stations: Vec<&Station> = self.stations.iter().collect();
        stations.sort_unstable_by_key(|station| station.key);
        for station in stations {
            word(station.key);
            if let Some(sink) = self.sinks.get(station.sink as usize) {
                word(sink.ready);
                word(sink.taken);
            }
            for source in station.sources.iter().filter_map(|&row| self.sources.get(row as usize)) {
                word(source.due);
                if let Supply::Items(left) = source.source.supply {
                    word(left);
                }
            }
        }
    }

    fn station_mut(&mut self, key: u64) -> usize {
        let next = self.stations.len() as u32;
        let row = *self.at.entry(key).or_insert(next);
        if row == next {
            let sources = [NONE; 6];
            self.stations.push(Station { key, router: 0, contained: false, sink: NONE, sources });
        }
        row as usize
    }

    fn tie(&mut self, container: ContainerId, key: u64) {
        let tied = self.tied.entry(container).or_default();
        if let Err(at) = tied.binary_search(&key) {
            tied.insert(at, key);
        }
    }
}

impl SinkRow {
    /// True where it takes anything at any time, so that nothing has to be asked.
    pub(crate) fn takes_all(&self) -> bool {
        self.sink.room == Room::Endless && self.sink.kind.is_none() && self.sink.period == 0
    }

    /// What the sink would say to a stack at `tick`; asks what it is only where that matters.
    pub(crate) fn state(
        &self,
        stack: impl Fn() -> ItemStack,
        tick: u64,
        inventories: Option<&Inventories>,
    ) -> SinkState {
        if self.sink.kind.is_some_and(|kind| kind != stack().kind) {
            return SinkState::None;
        }
        let room = match self.sink.room {
            Room::Endless => true,
            Room::Items(room) => room > 0,
            Room::Container(container) => {
                inventories.is_some_and(|inventories| inventories.has_room_for(container, stack()))
            }
        };
        if room && tick >= self.ready { SinkState::Accepts } else { SinkState::Busy }
    }

    /// Takes a stack that [`SinkRow::state`] has accepted.
    pub(crate) fn take(
        &mut self,
        stack: impl Fn() -> ItemStack,
        tick: u64,
        inventories: Option<&mut Inventories>,
    ) {
        self.taken += 1;
        self.last = tick;
        if self.sink.period > 0 {
            self.ready = tick + u64::from(self.sink.period);
        }
        match &mut self.sink.room {
            Room::Endless => {}
            Room::Items(room) => *room -= 1,
            Room::Container(container) => {
                if let Some(inventories) = inventories {
                    inventories.insert(*container, stack());
                }
            }
        }
    }
}

impl SourceRow {
    /// True where an item is due at `tick` and there is one to put in.
    pub(crate) fn is_ready(&self, tick: u64, inventories: Option<&Inventories>) -> bool {
        self.due <= tick
            && match self.source.supply {
                Supply::Endless => true,
                Supply::Items(left) => left > 0,
                Supply::Container(container, kind) => inventories.is_some_and(|inventories| {
                    inventories.peek(container, kind, self.source.stack.count).is_some()
                }),
            }
    }

    /// Takes the next item out of the supply, which [`SourceRow::is_ready`] has found not to be empty.
    pub(crate) fn draw(
        &mut self,
        tick: u64,
        items: &mut Items,
        inventories: Option<&mut Inventories>,
    ) -> Option<StackId> {
        let stack = match &mut self.source.supply {
            Supply::Endless => Some(self.stack),
            Supply::Items(left) => {
                *left -= 1;
                Some(self.stack)
            }
            Supply::Container(container, kind) => {
                let taken = inventories?.take(*container, *kind, self.source.stack.count);
                taken.map(|stack| items.intern_taken(stack))
            }
        };
        self.due = tick + u64::from(self.source.period);
        stack
    }
}

/// The crossing that a router sees, put together in one place so that every solver asks the same question.
pub(crate) fn crossing(
    key: u64,
    from: usize,
    outs: u8,
    open: u8,
    sink: SinkState,
    cursor: u8,
    stack: ItemStack,
) -> Crossing {
    Crossing {
        position: key::unpack(key),
        from: Direction::ALL[from],
        outs: Connections::from_bits(outs),
        open: Connections::from_bits(open),
        sink,
        cursor,
        stack,
    }
}
