//! A copy of a network elsewhere, kept equal by what changed in each tick.
//!
//! Between two events a lane's items move by rules that both sides know, so a feed holds no positions of moving items:
//! only what entered and left lanes, and whole lanes where an edit, a chunk or an insertion changed them. Lanes go by
//! their canonical names and a mirror needs no graph, no routers and no endpoints.

use rustc_hash::FxHashMap;
use voxtick_worlds::ItemStack;

use crate::items::{ItemHandle, Items};
use crate::network::{CUT_EVERY, LaneName};
use crate::settings::{LaneSettings, UNIT};
use crate::snapshot::LaneRecord;
use crate::solver::Lanes;

/// What changed in one tick, in canonical order of the lanes; for one lane in the order in which it happened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deltas {
    /// The tick that has been run.
    pub tick: u64,
    /// What happened between the tick before and this one: edits, chunks, insertions. To be applied first.
    pub before: Vec<Delta>,
    /// What happened in this tick.
    pub during: Vec<Delta>,
}

/// One change of one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// The front item left.
    Left(LaneName),
    /// An item entered behind all others.
    Entered {
        /// The lane.
        lane: LaneName,
        /// Units from its entry.
        position: u32,
        /// The item's handle on the side that feeds.
        handle: u32,
        /// Its own speed, 0 for none.
        speed: u16,
        /// What it is.
        stack: ItemStack,
    },
    /// The lane is as follows from now on.
    Lane {
        /// What is on it.
        record: LaneRecord,
        /// Its length in blocks.
        blocks: u32,
        /// It lies in a chunk that is not loaded: nothing on it moves.
        frozen: bool,
    },
    /// The lane is no more.
    Gone(LaneName),
}

/// The copy.
///
/// ```
/// use voxtick_transit::{LaneSettings, Layout, Mirror, TransitSolver};
/// use voxtick_worlds::{BlockPos, Direction::East, Inventories};
/// let start = BlockPos::new(0, 64, 0);
/// let mut layout = Layout::default();
/// layout.line(start, East, 20, None);
/// layout.feed_line(start, East, 20, 5);
/// let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default())?.with_mirror_feed();
/// let mut mirror = Mirror::default();
/// for _ in 0..500 {
///     transit.step(&mut Inventories::default());
///     mirror.apply(&transit.take_deltas())?;
/// }
/// let lane = voxtick_transit::LaneName { from: start, direction: East };
/// assert_eq!(mirror.lane(lane), transit.lane(lane));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mirror {
    tick: u64,
    lanes: Lanes,
    rows: FxHashMap<LaneName, u32>,
    free: Vec<u32>,
    /// The handles that the feeding side knows items by, by our own rows.
    handles: Vec<u32>,
    items: Items,
}

/// Why deltas cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// A tick is missing or comes twice.
    #[error("the mirror is at tick {at} and was given tick {given}: feed it every tick once, or start anew")]
    Tick {
        /// The mirror's tick.
        at: u64,
        /// The tick of the deltas.
        given: u64,
    },
    /// A lane is not known, holds no item to leave, or has no room for the one that enters.
    #[error("{lane} cannot have changed so: the mirror missed something, start it anew")]
    Lane {
        /// The lane.
        lane: LaneName,
    },
}

impl Default for Mirror {
    /// Without a lane: the first deltas of a feed hold them all.
    fn default() -> Mirror {
        Mirror {
            tick: 0,
            lanes: Lanes::new(LaneSettings::default()),
            rows: FxHashMap::default(),
            free: Vec::new(),
            handles: Vec::new(),
            items: Items::new(),
        }
    }
}

impl Mirror {
    /// Brings the mirror to the tick of `deltas`.
    ///
    /// # Errors
    /// See [`MirrorError`]; the mirror is of no use then.
    pub fn apply(&mut self, deltas: &Deltas) -> Result<(), MirrorError> {
        // A mirror without lanes starts wherever the feed is.
        if self.rows.is_empty() {
            self.tick = deltas.tick.saturating_sub(1);
        }
        if self.tick + 1 != deltas.tick {
            return Err(MirrorError::Tick { at: self.tick, given: deltas.tick });
        }
        for delta in &deltas.before {
            self.change(delta)?;
        }
        self.tick += 1;
        for delta in &deltas.during {
            self.change(delta)?;
        }
        Ok(())
    }

    /// The items of a lane, front to back, as (position, handle on the side that feeds).
    #[must_use]
    pub fn lane(&self, name: LaneName) -> Option<Vec<(u32, ItemHandle)>> {
        let items = self.lanes.items(*self.rows.get(&name)?, self.tick);
        let handle = |row: u32| ItemHandle(self.handles[row as usize]);
        Some(items.into_iter().map(|(position, row)| (position, handle(row))).collect())
    }

    /// What the items of a lane are, front to back.
    #[must_use]
    pub fn stacks(&self, name: LaneName) -> Option<Vec<ItemStack>> {
        let items = self.lanes.items(*self.rows.get(&name)?, self.tick);
        Some(items.into_iter().map(|(_, row)| self.items.stack(ItemHandle(row))).collect())
    }

    /// The tick it is at.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    fn change(&mut self, delta: &Delta) -> Result<(), MirrorError> {
        match delta {
            Delta::Left(name) => {
                let lane = self.find(*name)?;
                if self.lanes.row(lane).count == 0 || !self.lanes.row(lane).has_arrived(self.tick) {
                    return Err(MirrorError::Lane { lane: *name });
                }
                let row = self.lanes.pop(lane, self.tick);
                self.items.remove(ItemHandle(row));
            }
            &Delta::Entered { lane: name, position, handle, speed, stack } => {
                let lane = self.find(name)?;
                self.lanes.settle(lane, self.tick);
                let room = self.lanes.room(lane, self.tick);
                if i64::from(position) > room {
                    return Err(MirrorError::Lane { lane: name });
                }
                let row = self.add(handle, speed, stack);
                self.lanes.push(lane, self.tick, position, row, &self.items);
            }
            Delta::Gone(name) => {
                let lane = self.find(*name)?;
                self.clear(lane);
                self.lanes.remove(lane);
                self.rows.remove(name);
                self.free.push(lane);
            }
            Delta::Lane { record, blocks, frozen } => self.replace(record, *blocks, *frozen)?,
        }
        Ok(())
    }

    fn replace(&mut self, record: &LaneRecord, blocks: u32, frozen: bool) -> Result<(), MirrorError> {
        let fault = MirrorError::Lane { lane: record.lane };
        let length = (blocks <= CUT_EVERY as u32).then(|| blocks * UNIT).ok_or(fault)?;
        let class = self.lanes.class(record.settings).map_err(|_| fault)?;
        let in_order = record.items.is_sorted_by(|ahead, behind| ahead.position >= behind.position);
        if !in_order || record.items.first().is_some_and(|front| front.position > length) {
            return Err(fault);
        }
        let lane = match self.rows.get(&record.lane) {
            Some(&lane) => {
                self.clear(lane);
                lane
            }
            None => {
                let lane = self.free.pop().unwrap_or_else(|| self.lanes.add_row());
                self.rows.insert(record.lane, lane);
                lane
            }
        };
        let items: Vec<(u32, u32)> = record
            .items
            .iter()
            .map(|item| (item.position, self.add(item.handle, item.speed, item.stack)))
            .collect();
        self.lanes.open(lane, self.tick, blocks, class, frozen);
        self.lanes.refill(lane, self.tick, &items, &self.items);
        if let Some(waited) = record.waited {
            self.lanes.row_mut(lane).due = self.tick.saturating_sub(waited);
        }
        Ok(())
    }

    fn find(&self, name: LaneName) -> Result<u32, MirrorError> {
        self.rows.get(&name).copied().ok_or(MirrorError::Lane { lane: name })
    }

    fn add(&mut self, handle: u32, speed: u16, stack: ItemStack) -> u32 {
        let stack = self.items.intern_taken(stack);
        let row = self.items.add(stack, speed).0;
        if self.handles.len() <= row as usize {
            self.handles.resize(row as usize + 1, 0);
        }
        self.handles[row as usize] = handle;
        row
    }

    fn clear(&mut self, lane: u32) {
        for (_, row) in self.lanes.items(lane, self.tick) {
            self.items.remove(ItemHandle(row));
        }
    }
}
