//! The storage of a simulation's chunks: what the program asks it for, and what it does in each tick.

mod arrivals;
mod entities;
mod leaving;
mod saves;

use super::autosave::Turns;
use super::failure::StorageFailure;
use super::io::{ChunkIo, IoResult, StorageTimes};
use super::loads::{LoadResult, Loads};
use super::range::Range;
use crate::Notice;
use bevy_ecs::prelude::{Resource, World as EcsWorld};
use entities::ChunkEntities;
use leaving::Leaving;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use voxtick_engine::{
    Allowance, Budget, BudgetReport, MarkAgain, Meter, Tick, UpdateQueue, UpdateQueueSettings,
};
use voxtick_worlds::{Chunk, ChunkPos, World};

/// Chunks loaded and saved so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Totals {
    loaded: u64,
    loaded_bytes: u64,
    absent: u64,
    saved: u64,
    saved_bytes: u64,
    unchanged: u64,
    dropped: u64,
}

/// A chunk that is no more in the world and not yet stored as it was.
#[derive(Debug)]
struct Kept {
    chunk: Chunk,
    /// It is about to enter again.
    wanted: bool,
}

/// The way to the region files, from within a simulation.
#[derive(Resource, Debug)]
pub struct ChunkStorage {
    io: ChunkIo,
    intake: Budget,
    window: usize,
    loads: Loads,
    longest_wait: u64,
    turns: Option<Turns>,
    /// Empty between ticks: memory for the chunks whose turn it is.
    due: Vec<ChunkPos>,
    /// The tick being run.
    now: u64,
    leaving: Leaving,
    range: Range,
    /// The range that the chunks in the world were last compared with, where it is another.
    range_before: Option<Range>,
    /// Chunks whose save is under way: they are not saved again before it is done.
    saving: BTreeSet<ChunkPos>,
    kept: BTreeMap<ChunkPos, Kept>,
    /// Of the chunks in the world and of those kept.
    entities: BTreeMap<ChunkPos, ChunkEntities>,
    /// Regions that were written to, until they are durable.
    unflushed: UpdateQueue<()>,
    /// Flushes under way.
    flushing: usize,
    snapshot_time: u64,
    /// What was spent when it was last reported.
    reported: StorageTimes,
    totals: Totals,
    /// What went wrong, in the order in which it became known. Take it out once it is dealt with.
    pub failures: Vec<StorageFailure>,
    /// What was odd about chunks that were loaded.
    pub notices: Vec<(ChunkPos, Notice)>,
}

impl ChunkStorage {
    pub(super) fn new(
        io: ChunkIo,
        intake: Allowance,
        window: usize,
        autosave: Option<u64>,
        flush_after: u64,
    ) -> Self {
        let unflushed = UpdateQueueSettings {
            capacity: usize::MAX,
            delay: flush_after,
            mark_again: MarkAgain::KeepFirst,
            ..UpdateQueueSettings::default()
        };
        ChunkStorage {
            io,
            intake: Budget::new(intake),
            window,
            loads: Loads::new(),
            longest_wait: 0,
            turns: autosave.map(Turns::new),
            due: Vec::new(),
            now: 0,
            leaving: Leaving::new(intake),
            range: Range::default(),
            range_before: None,
            saving: BTreeSet::new(),
            kept: BTreeMap::new(),
            entities: BTreeMap::new(),
            unflushed: UpdateQueue::new(unflushed),
            flushing: 0,
            snapshot_time: 0,
            reported: StorageTimes::default(),
            totals: Totals::default(),
            failures: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The intake stage: begins loads, and lets in what has arrived.
    pub(super) fn let_in(&mut self, ecs: &mut EcsWorld) {
        self.now = ecs.resource::<Tick>().0;
        let before = self.totals;
        self.begin_loads();
        let mut budget = self.intake.clone();
        // Taking over the results of threads is part of what a budget of time bounds.
        let mut collected = matches!(budget.allowance(), Allowance::Units(_));
        if collected {
            self.collect(&mut ecs.resource_mut::<World>());
        }
        budget.spend(|| {
            if std::mem::replace(&mut collected, true) {
                self.enter_next(ecs)
            } else {
                self.collect(&mut ecs.resource_mut::<World>());
                ControlFlow::Continue(())
            }
        });
        self.intake = budget;
        self.begin_loads();
        self.report(&before, ecs.resource::<Meter>());
    }

    /// The storage stage: drops, saves and has made durable what it is time for.
    pub(super) fn let_out(&mut self, ecs: &mut EcsWorld) {
        let before = self.saving.len();
        self.drop_out_of_range(ecs);
        self.autosave(ecs);
        self.flush_due();
        ecs.resource::<Meter>().items((self.saving.len() - before) as u64);
    }

    /// Asks for a chunk; it enters the world at the beginning of a later tick. Asking again changes nothing, a chunk that
    /// is in the world by then stays as it is, and one out of range is not loaded.
    pub fn load(&mut self, position: ChunkPos) {
        if self.range.keeps(position) {
            self.loads.ask(position, self.now);
        }
    }

    /// Takes a request back: a chunk that has not entered will not. What had not begun costs nothing any more. Returns
    /// whether there was a request.
    pub fn cancel(&mut self, position: ChunkPos) -> bool {
        self.loads.cancel(position)
    }

    /// Chooses what is near: chunks are loaded by their distance to the nearest of these, then in the order of asking.
    pub fn set_points_of_interest(&mut self, points: Vec<ChunkPos>) {
        self.loads.set_points(&points);
        let radius = self.range.radius;
        self.set_range(Range { points, radius });
    }

    /// Chooses what stays: the square of chunks this far around each point of interest. Others are saved if they have
    /// changed and leave the world in the storage stage, and requests for them are taken back; without points of interest
    /// that is all of them. `None`, the default, lets all stay.
    ///
    /// As many leave in a tick as the allowance of the [intake](super::StoragePlugin::intake) permits, so that the jump of a
    /// point costs no tick more than that; one that is in range again by its turn stays.
    ///
    /// Chunks leave once they are two further away than this, so that a point that goes to and fro at a border does not
    /// load and drop the same chunks again and again. Costs what the points move by, not what they cover.
    pub fn set_radius(&mut self, radius: Option<u32>) {
        let points = self.range.points.clone();
        self.set_range(Range { points, radius });
    }

    /// Chunks asked for that have not entered the world.
    #[must_use]
    pub fn loads_under_way(&self) -> usize {
        self.loads.count()
    }

    /// Chunks that were loaded so far.
    #[must_use]
    pub fn loaded(&self) -> u64 {
        self.totals.loaded
    }

    /// Chunks that were written so far; those in which nothing had changed are not.
    #[must_use]
    pub fn saved(&self) -> u64 {
        self.totals.saved
    }

    /// Chunks that have left the world since they were out of range.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.totals.dropped
    }

    /// What letting chunks in has cost so far, with its busiest tick and its largest unit.
    #[must_use]
    pub fn intake(&self) -> &BudgetReport {
        self.intake.report()
    }

    /// The longest that a chunk has waited from being asked for to entering, in ticks.
    #[must_use]
    pub fn longest_wait(&self) -> u64 {
        self.longest_wait
    }

    /// Where time went, on all threads.
    #[must_use]
    pub fn times(&self) -> StorageTimes {
        StorageTimes { snapshot: self.snapshot_time, ..self.io.times() }
    }

    fn set_range(&mut self, range: Range) {
        if range != self.range {
            let before = std::mem::replace(&mut self.range, range);
            self.range_before.get_or_insert(before);
        }
    }

    /// Takes all results that are there.
    fn collect(&mut self, world: &mut World) {
        let mut results = Vec::new();
        self.io.take(|result| results.push(result));
        for result in results {
            match result {
                IoResult::Loaded { order, outcome } => self.loads.arrive(order, LoadResult::File(outcome)),
                IoResult::Saved { position, outcome } => self.saved_one(position, outcome, world),
                IoResult::Flushed { region, outcome } => {
                    self.flushing -= 1;
                    if let Err(error) = outcome {
                        self.flush_later(region);
                        self.failures.push(StorageFailure::Flush(error));
                    }
                }
            }
        }
    }

    /// Tells the meter what has happened beside the tick since the last report.
    fn report(&mut self, before: &Totals, meter: &Meter) {
        let (now, times) = (&self.totals, self.times());
        let oldest = self.loads.oldest().map_or(0, |asked| self.now.saturating_sub(asked));
        meter.items(now.loaded - before.loaded);
        meter.bytes(now.loaded_bytes - before.loaded_bytes);
        meter.count("chunks loaded", now.loaded - before.loaded);
        meter.count("bytes loaded", now.loaded_bytes - before.loaded_bytes);
        meter.count("chunks saved", now.saved - before.saved);
        meter.count("bytes saved", now.saved_bytes - before.saved_bytes);
        meter.count("chunks waiting", self.loads.count() as u64);
        meter.count("saves waiting", self.io.saves_waiting() as u64);
        meter.count("ticks the oldest waits", oldest);
        meter.count("read ns", times.read - self.reported.read);
        meter.count("decode ns", times.decode - self.reported.decode);
        meter.count("snapshot ns", times.snapshot - self.reported.snapshot);
        meter.count("encode ns", times.encode - self.reported.encode);
        meter.count("compress ns", times.compress - self.reported.compress);
        meter.count("transfer ns", times.transfer - self.reported.transfer);
        meter.count("flush ns", times.flush - self.reported.flush);
        self.reported = times;
    }
}
