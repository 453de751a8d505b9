//! What is in transit, as plain data and as bytes: for saves and for starting a mirror.
//!
//! A snapshot names lanes by their canonical names and holds no network: pipes are saved with the blocks of the world,
//! and what a snapshot says about a lane that is no more is spilled when it is restored.
//!
//! The bytes are little-endian: `VXTR`, the format version (2), then the columns in the order of [`Snapshot`]'s fields,
//! each with its length first. Every length is checked against what is left before anything is allocated.

use voxtick_worlds::{BlockPos, ChunkPos, Direction, ItemKind, ItemStack};

use crate::migrate::block_of;
use crate::network::{CUT_EVERY, Connections, GraphError, LaneName, key};
use crate::settings::{LaneSettings, UNIT};

const MAGIC: [u8; 4] = *b"VXTR";
/// The version of the format that this crate writes; it reads this one only.
pub const SNAPSHOT_VERSION: u16 = 2;

/// So many steps of segments may cross one chunk: what bytes can make grow has an end.
const MOST_STEPS: u64 = 1 << 24;

/// Ticks are counted in 64 bits with room to add to them.
const LAST_TICK: u64 = u64::MAX >> 8;

/// The items of a network, or of one chunk's part of it, at the end of a tick.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// The tick that all times count from: that at whose end it was taken; of a chunk where all is ready, the latest of
    /// its times, so that the snapshot stays the same while nothing happens there.
    pub tick: u64,
    /// The chunk whose part it holds; `None` for a whole network.
    pub chunk: Option<ChunkPos>,
    /// Of a chunk: its pipes, and those at which segments that cross it end elsewhere.
    pub pipes: Vec<(BlockPos, Connections)>,
    /// Of a chunk: the segments that cross it or end in it, by the lane towards higher coordinates and the length.
    pub segments: Vec<(LaneName, u32)>,
    /// Of a whole network: how many item rows there are, and which are free, in the order of their release.
    pub rows: u32,
    /// See `rows`.
    pub free: Vec<u32>,
    /// Of a whole network: items created, delivered and spilled.
    pub totals: [u64; 3],
    /// Lanes with items or with settings of their own, by name.
    pub lanes: Vec<LaneRecord>,
    /// Junctions whose router has a cursor.
    pub cursors: Vec<(BlockPos, u8)>,
    /// Sources: lane, ticks until the next item is due (negative while it waits), items left where they are counted.
    pub sources: Vec<(LaneName, i64, u64)>,
    /// Sinks: junction, ticks until it is ready, items taken, room left where it is counted.
    pub sinks: Vec<(BlockPos, i64, u64, u64)>,
}

/// One lane of a [`Snapshot`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneRecord {
    /// Its name.
    pub lane: LaneName,
    /// How items move on it.
    pub settings: LaneSettings,
    /// For how many ticks the front item has waited at the end; `None` while it moves.
    pub waited: Option<u64>,
    /// The front item has been told of as refused.
    pub refused: bool,
    /// Its items, front to back.
    pub items: Vec<ItemRecord>,
}

/// One item of a [`LaneRecord`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemRecord {
    /// Units from the entry of the lane.
    pub position: u32,
    /// Its handle when the snapshot was taken; 0 in that of a chunk.
    pub handle: u32,
    /// Its own speed, 0 for none.
    pub speed: u16,
    /// What it is.
    pub stack: ItemStack,
}

/// Why bytes are no snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The first four bytes are not `VXTR`.
    #[error("not a transit snapshot: it does not begin with VXTR")]
    Magic,
    /// Another version of the format.
    #[error(
        "transit snapshot of version {version}; this program reads version 2: use the program that wrote it"
    )]
    Version {
        /// The version found.
        version: u16,
    },
    /// It ends too early, or a length in it is too great.
    #[error(
        "transit snapshot ends at byte {at} in the middle of its {part}: the file is cut short or damaged"
    )]
    Truncated {
        /// Where.
        at: usize,
        /// In which column.
        part: &'static str,
    },
    /// A value that cannot be.
    #[error("transit snapshot holds an impossible {part} before byte {at}: the file is damaged")]
    Invalid {
        /// Where.
        at: usize,
        /// In which column.
        part: &'static str,
    },
    /// Items and free rows do not make up all rows, each once, or the totals do not add up to the items.
    #[error(
        "transit snapshot does not hold each of its {rows} item rows exactly once: it is damaged or was changed"
    )]
    Rows {
        /// How many rows it claims to have.
        rows: u32,
    },
    /// No simulation runs that long.
    #[error("transit snapshot claims to be of tick {tick}: it is damaged or was changed")]
    Tick {
        /// The tick it claims.
        tick: u64,
    },
    /// Items of a lane are not in order.
    #[error("transit snapshot has items out of order on {lane}: it is damaged or was changed")]
    Order {
        /// The lane.
        lane: LaneName,
    },
    /// It is one of a chunk where one of a whole network was asked for, or the other way round.
    #[error("a transit snapshot of a chunk cannot stand for one of a whole network, nor the other way round")]
    Extent,
    /// Its pipes have no place in the network.
    #[error(transparent)]
    Graph(GraphError),
    /// Segments that do not cross the chunk, or too many steps of them.
    #[error(
        "transit snapshot of chunk {chunk} claims a segment that is not there or more than {MOST_STEPS} steps of \
         them: it is damaged or was changed"
    )]
    Segments {
        /// The chunk.
        chunk: ChunkPos,
    },
    /// There are bytes behind the end.
    #[error("transit snapshot goes on after its end at byte {at}: the file is damaged")]
    TooLong {
        /// Where it should end.
        at: usize,
    },
}

impl Snapshot {
    /// How many items it holds.
    #[must_use]
    pub fn item_count(&self) -> usize {
        self.lanes.iter().map(|lane| lane.items.len()).sum()
    }

    /// The snapshot as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.item_count() * 16 + self.lanes.len() * 32);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&SNAPSHOT_VERSION.to_le_bytes());
        out.extend_from_slice(&self.tick.to_le_bytes());
        out.push(u8::from(self.chunk.is_some()));
        let chunk = self.chunk.unwrap_or_default();
        out.extend_from_slice(&chunk.x.to_le_bytes());
        out.extend_from_slice(&chunk.z.to_le_bytes());
        out.extend_from_slice(&self.rows.to_le_bytes());
        length(&mut out, self.free.len());
        self.free.iter().for_each(|row| out.extend_from_slice(&row.to_le_bytes()));
        self.totals.iter().for_each(|total| out.extend_from_slice(&total.to_le_bytes()));
        length(&mut out, self.pipes.len());
        for &(position, connections) in &self.pipes {
            block(&mut out, position);
            out.push(connections.bits());
        }
        length(&mut out, self.segments.len());
        for &(name, steps) in &self.segments {
            lane(&mut out, name);
            out.extend_from_slice(&steps.to_le_bytes());
        }
        length(&mut out, self.lanes.len());
        for record in &self.lanes {
            lane(&mut out, record.lane);
            out.extend_from_slice(&record.settings.speed().to_le_bytes());
            out.extend_from_slice(&record.settings.spacing().to_le_bytes());
            let own = u8::from(record.settings.own_speeds());
            out.push(own | u8::from(record.refused) << 1 | u8::from(record.waited.is_some()) << 2);
            out.extend_from_slice(&record.waited.unwrap_or(0).to_le_bytes());
            length(&mut out, record.items.len());
            for item in &record.items {
                out.extend_from_slice(&item.position.to_le_bytes());
                out.extend_from_slice(&item.handle.to_le_bytes());
                out.extend_from_slice(&item.speed.to_le_bytes());
                out.extend_from_slice(&item.stack.kind.0.to_le_bytes());
                out.extend_from_slice(&[item.stack.count, item.stack.max_count]);
            }
        }
        length(&mut out, self.cursors.len());
        for &(position, cursor) in &self.cursors {
            block(&mut out, position);
            out.push(cursor);
        }
        length(&mut out, self.sources.len());
        for &(name, due, left) in &self.sources {
            lane(&mut out, name);
            out.extend_from_slice(&due.to_le_bytes());
            out.extend_from_slice(&left.to_le_bytes());
        }
        length(&mut out, self.sinks.len());
        for &(position, ready, taken, room) in &self.sinks {
            block(&mut out, position);
            out.extend_from_slice(&ready.to_le_bytes());
            out.extend_from_slice(&taken.to_le_bytes());
            out.extend_from_slice(&room.to_le_bytes());
        }
        out
    }

    /// Reads what [`Snapshot::to_bytes`] has written.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
        let mut input = Input { bytes, at: 0, part: "header" };
        if input.take::<4>()? != MAGIC {
            return Err(SnapshotError::Magic);
        }
        let version = u16::from_le_bytes(input.take()?);
        if version != SNAPSHOT_VERSION {
            return Err(SnapshotError::Version { version });
        }
        let mut snapshot = Snapshot { tick: input.u64()?, ..Snapshot::default() };
        let has_chunk = input.flag(1)? != 0;
        let chunk = ChunkPos::new(input.u32()? as i32, input.u32()? as i32);
        input.check(has_chunk || chunk == ChunkPos::default())?;
        snapshot.chunk = has_chunk.then_some(chunk);
        input.part = "free rows";
        snapshot.rows = input.u32()?;
        for _ in 0..input.length(4)? {
            let row = input.u32()?;
            input.check(row < snapshot.rows)?;
            snapshot.free.push(row);
        }
        input.part = "totals";
        for total in &mut snapshot.totals {
            *total = u64::from_le_bytes(input.take()?);
        }
        input.part = "pipes";
        for _ in 0..input.length(9)? {
            snapshot.pipes.push((input.block()?, Connections::from_bits(input.flag(63)?)));
        }
        input.part = "segments";
        for _ in 0..input.length(13)? {
            snapshot.segments.push((input.lane()?, input.u32()?));
        }
        input.part = "lanes";
        for _ in 0..input.length(30)? {
            snapshot.lanes.push(input.lane_record()?);
        }
        input.part = "cursors";
        for _ in 0..input.length(9)? {
            let position = input.block()?;
            snapshot.cursors.push((position, input.flag(6)?));
        }
        input.part = "sources";
        for _ in 0..input.length(25)? {
            snapshot.sources.push((input.lane()?, input.u64()? as i64, input.u64()?));
        }
        input.part = "sinks";
        for _ in 0..input.length(32)? {
            snapshot.sinks.push((input.block()?, input.u64()? as i64, input.u64()?, input.u64()?));
        }
        if input.at != bytes.len() {
            return Err(SnapshotError::TooLong { at: input.at });
        }
        snapshot.check()?;
        Ok(snapshot)
    }

    /// True where it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pipes.is_empty() && self.lanes.is_empty()
    }

    /// True where all segments lead to higher coordinates within bounds, and take no more steps than a chunk's may.
    fn check_segments(&self) -> bool {
        let sound = |&(name, length): &(LaneName, u32)| {
            let ahead = name.direction.index() & 1 == 1 && (1..=CUT_EVERY as u32).contains(&length);
            ahead && key::check(block_of(name, length * UNIT)).is_ok()
        };
        let steps: u64 = self.segments.iter().map(|&(_, length)| u64::from(length)).sum();
        steps <= MOST_STEPS && self.segments.iter().all(sound) && self.segments.is_sorted_by(|a, b| a.0 < b.0)
    }

    /// Finds out whether a solver could have made it: items in order on every lane, and in the snapshot of a whole
    /// network every row exactly once.
    ///
    /// # Errors
    /// [`SnapshotError::Tick`], [`SnapshotError::Order`], [`SnapshotError::Rows`], [`SnapshotError::Segments`].
    pub fn check(&self) -> Result<(), SnapshotError> {
        if self.tick > LAST_TICK {
            return Err(SnapshotError::Tick { tick: self.tick });
        }
        for record in &self.lanes {
            if !record.items.is_sorted_by(|ahead, behind| ahead.position >= behind.position) {
                return Err(SnapshotError::Order { lane: record.lane });
            }
        }
        if let Some(chunk) = self.chunk {
            return self.check_segments().then_some(()).ok_or(SnapshotError::Segments { chunk });
        }
        if !self.pipes.is_empty() || !self.segments.is_empty() {
            return Err(SnapshotError::Extent);
        }
        let handles = self.lanes.iter().flat_map(|lane| lane.items.iter().map(|item| item.handle));
        let mut rows: Vec<u32> = handles.chain(self.free.iter().copied()).collect();
        rows.sort_unstable();
        let [created, delivered, spilled] = self.totals;
        let present = created.checked_sub(delivered).and_then(|left| left.checked_sub(spilled));
        if !rows.into_iter().eq(0..self.rows) || present != Some(self.item_count() as u64) {
            return Err(SnapshotError::Rows { rows: self.rows });
        }
        Ok(())
    }
}

fn length(out: &mut Vec<u8>, length: usize) {
    // Columns are limited to what 32 bits can number by the solver's own limits.
    out.extend_from_slice(&(length as u32).to_le_bytes());
}

fn block(out: &mut Vec<u8>, position: BlockPos) {
    out.extend_from_slice(&key::pack(position).to_le_bytes());
}

fn lane(out: &mut Vec<u8>, name: LaneName) {
    block(out, name.from);
    out.push(name.direction.index() as u8);
}

/// Bytes that are read front to back.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    part: &'static str,
}

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let taken = *taken.ok_or(SnapshotError::Truncated { at: self.bytes.len(), part: self.part })?;
        self.at += N;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, SnapshotError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, SnapshotError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    /// A byte that is at most `most`.
    fn flag(&mut self, most: u8) -> Result<u8, SnapshotError> {
        let [byte] = self.take()?;
        self.check(byte <= most)?;
        Ok(byte)
    }

    /// A length, of rows that take at least `row` bytes each.
    fn length(&mut self, row: usize) -> Result<usize, SnapshotError> {
        let length = self.u32()? as usize;
        if length.saturating_mul(row) > self.bytes.len() - self.at {
            return Err(SnapshotError::Truncated { at: self.bytes.len(), part: self.part });
        }
        Ok(length)
    }

    fn block(&mut self) -> Result<BlockPos, SnapshotError> {
        let position = key::unpack(self.u64()?);
        self.check(key::check(position).is_ok())?;
        Ok(position)
    }

    fn lane(&mut self) -> Result<LaneName, SnapshotError> {
        let from = self.block()?;
        let direction = Direction::ALL[usize::from(self.flag(5)?)];
        Ok(LaneName { from, direction })
    }

    fn lane_record(&mut self) -> Result<LaneRecord, SnapshotError> {
        let lane = self.lane()?;
        let settings = LaneSettings::new(self.u32()?, self.u32()?);
        let flags = self.flag(7)?;
        let settings = settings.map_err(|_| SnapshotError::Invalid { at: self.at, part: self.part })?;
        let settings = if flags & 1 != 0 { settings.with_own_speeds() } else { settings };
        let waited = self.u64()?;
        let count = self.length(16)?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            let (position, handle) = (self.u32()?, self.u32()?);
            let speed = u16::from_le_bytes(self.take()?);
            let kind = ItemKind(self.u32()?);
            let [count, max_count] = self.take()?;
            let stack = ItemStack { kind, count, max_count };
            self.check(stack == ItemStack::new(kind, count, max_count))?;
            items.push(ItemRecord { position, handle, speed, stack });
        }
        self.check(flags & 4 != 0 || waited == 0)?;
        let waited = (flags & 4 != 0).then_some(waited);
        Ok(LaneRecord { lane, settings, waited, refused: flags & 2 != 0, items })
    }

    fn check(&self, sound: bool) -> Result<(), SnapshotError> {
        if sound { Ok(()) } else { Err(SnapshotError::Invalid { at: self.at, part: self.part }) }
    }
}
