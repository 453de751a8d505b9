//! Chunks on their way into the world: those that wait, nearest first, and those that are under way.

use super::io::Loaded;
use crate::load::LoadChunkError;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use voxtick_engine::{EquallyNear, MarkAgain, UpdateQueue, UpdateQueueSettings};
use voxtick_worlds::ChunkPos;

/// All loads that were asked for and have not entered.
#[derive(Debug)]
pub(super) struct Loads {
    /// Its time is the order of asking, so that of two equally far the one asked for first comes first.
    waiting: UpdateQueue<u64>,
    asked: u64,
    /// When the loads were asked for, by order of asking.
    ticks: BTreeMap<u64, u64>,
    /// Loads that have begun, in the order in which they have.
    under_way: BTreeMap<u64, UnderWay>,
    orders: FxHashMap<ChunkPos, u64>,
    begun: u64,
    /// Those under way whose results are there.
    arrived: BTreeSet<u64>,
}

/// A load that has begun.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) position: ChunkPos,
    /// The order of asking.
    asked: u64,
    /// The tick in which it was asked for.
    pub(super) asked_in: u64,
    /// Nobody wants it any more.
    pub(super) cancelled: bool,
    pub(super) result: Option<LoadResult>,
}

/// What became of a load.
#[derive(Debug)]
pub(super) enum LoadResult {
    /// `None` where the chunk is absent.
    File(Result<Option<Loaded>, LoadChunkError>),
    /// It is still here, since it was unloaded shortly before.
    Kept,
}

impl Loads {
    pub(super) fn new() -> Loads {
        let settings = UpdateQueueSettings {
            capacity: usize::MAX,
            delay: 0,
            mark_again: MarkAgain::KeepFirst,
            equally_near: EquallyNear::OldestFirst,
        };
        let mut waiting = UpdateQueue::new(settings);
        waiting.set_centres(&[]);
        Loads {
            waiting,
            asked: 0,
            ticks: BTreeMap::new(),
            under_way: BTreeMap::new(),
            orders: FxHashMap::default(),
            begun: 0,
            arrived: BTreeSet::new(),
        }
    }

    /// Asks for a chunk; one that was asked for already keeps its place.
    pub(super) fn ask(&mut self, position: ChunkPos, tick: u64) {
        if let Some(load) = self.orders.get(&position).and_then(|order| self.under_way.get_mut(order)) {
            load.cancelled = false;
            return;
        }
        if self.waiting.contains(cell(position)) {
            return;
        }
        let order = self.asked;
        self.asked += 1;
        self.ticks.insert(order, tick);
        // There is no end to its room, and the position does not wait.
        let _ = self.waiting.mark(cell(position), order, order);
    }

    /// Takes a request back. What has not begun costs nothing any more.
    pub(super) fn cancel(&mut self, position: ChunkPos) -> bool {
        if let Some(update) = self.waiting.take(cell(position)) {
            self.ticks.remove(&update.update);
            return true;
        }
        let under_way = self.orders.get(&position).and_then(|order| self.under_way.get_mut(order));
        under_way.is_some_and(|load| !std::mem::replace(&mut load.cancelled, true))
    }

    /// Takes back what waits and is not wanted.
    pub(super) fn cancel_unless(&mut self, wanted: impl Fn(ChunkPos) -> bool) {
        let all = self.waiting.take_all();
        for update in all {
            if wanted(chunk(update.position)) {
                let _ = self.waiting.put_back(update);
            } else {
                self.ticks.remove(&update.update);
            }
        }
    }

    /// Chooses what is near; without points the order of asking decides.
    pub(super) fn set_points(&mut self, points: &[ChunkPos]) {
        let centres: Vec<[i32; 3]> = points.iter().copied().map(cell).collect();
        self.waiting.set_centres(&centres);
    }

    /// Begins the nearest load, unless `window` are under way. Returns the chunk and the load's place among those begun.
    pub(super) fn begin(&mut self, window: usize) -> Option<(ChunkPos, u64)> {
        if self.under_way.len() >= window {
            return None;
        }
        let update = self.waiting.take_ready(self.asked)?;
        let (position, order) = (chunk(update.position), self.begun);
        self.begun += 1;
        let asked = update.update;
        let asked_in = self.ticks.get(&asked).copied().unwrap_or(0);
        let load = UnderWay { position, asked, asked_in, cancelled: false, result: None };
        self.under_way.insert(order, load);
        self.orders.insert(position, order);
        Some((position, order))
    }

    /// Notes the result of a load.
    pub(super) fn arrive(&mut self, order: u64, result: LoadResult) {
        if let Some(load) = self.under_way.get_mut(&order) {
            load.result = Some(result);
            self.arrived.insert(order);
        }
    }

    /// The load that began first.
    pub(super) fn first(&self) -> Option<u64> {
        self.under_way.keys().next().copied()
    }

    /// The load that began first of those that have arrived.
    pub(super) fn first_arrived(&self) -> Option<u64> {
        self.arrived.first().copied()
    }

    pub(super) fn has_arrived(&self, order: u64) -> bool {
        self.arrived.contains(&order)
    }

    /// Takes a load that has arrived.
    pub(super) fn take(&mut self, order: u64) -> Option<UnderWay> {
        self.arrived.remove(&order);
        let load = self.under_way.remove(&order)?;
        self.orders.remove(&load.position);
        self.ticks.remove(&load.asked);
        Some(load)
    }

    /// Loads that have not entered.
    pub(super) fn count(&self) -> usize {
        self.ticks.len()
    }

    /// The tick in which the oldest of them was asked for.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.ticks.values().next().copied()
    }
}

fn cell(position: ChunkPos) -> [i32; 3] {
    [position.x, 0, position.z]
}

fn chunk([x, _, z]: [i32; 3]) -> ChunkPos {
    ChunkPos::new(x, z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(loads: &mut Loads) -> Vec<i32> {
        std::iter::from_fn(|| loads.begin(usize::MAX)).map(|(position, _)| position.x).collect()
    }

    #[test]
    fn the_nearest_comes_first_and_then_the_oldest() {
        let mut loads = Loads::new();
        for (tick, x) in [5, -3, 9, 3, 100].into_iter().enumerate() {
            loads.ask(ChunkPos::new(x, 0), tick as u64);
        }
        loads.ask(ChunkPos::new(9, 0), 7);
        loads.set_points(&[ChunkPos::new(0, 0), ChunkPos::new(101, 0)]);
        loads.ask(ChunkPos::new(1, 0), 8);
        assert!(loads.cancel(ChunkPos::new(9, 0)) && !loads.cancel(ChunkPos::new(9, 0)));
        assert_eq!((loads.count(), loads.oldest()), (5, Some(0)));
        assert_eq!(order(&mut loads), [100, 1, -3, 3, 5]);
    }

    #[test]
    fn without_points_it_is_first_come_first_served() {
        let mut loads = Loads::new();
        for x in [5, -3, i32::MAX, i32::MIN] {
            loads.ask(ChunkPos::new(x, x), 0);
        }
        assert_eq!(order(&mut loads), [5, -3, i32::MAX, i32::MIN]);
    }

    #[test]
    fn no_more_begin_than_the_window_and_a_request_taken_back_never_does() {
        let mut loads = Loads::new();
        for x in 0..5 {
            loads.ask(ChunkPos::new(x, 0), 0);
        }
        loads.cancel_unless(|position| position.x != 1);
        assert_eq!(loads.begin(2), Some((ChunkPos::new(0, 0), 0)));
        assert_eq!(loads.begin(2), Some((ChunkPos::new(2, 0), 1)));
        assert_eq!(loads.begin(2), None);
        loads.arrive(1, LoadResult::Kept);
        assert_eq!((loads.first(), loads.first_arrived()), (Some(0), Some(1)));
        assert!(loads.cancel(ChunkPos::new(0, 0)) && loads.take(1).is_some());
        loads.ask(ChunkPos::new(0, 0), 9);
        assert!(loads.take(0).is_some_and(|load| !load.cancelled), "wanted again");
        assert!(loads.cancel(ChunkPos::new(4, 0)));
        assert_eq!(loads.begin(2), Some((ChunkPos::new(3, 0), 2)));
    }
}
