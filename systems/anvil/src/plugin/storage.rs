//! Loading and saving beside the tick: results enter at its beginning, changed chunks leave at its end.

use super::io::{ChunkIo, ChunkIoSettings, IoResult, IoTimes, Loaded, SaveChunkError, Saved};
use crate::Notice;
use crate::load::LoadChunkError;
use crate::region::{FlushFolderError, RegionFolder};
use bevy_ecs::prelude::{Res, ResMut, Resource};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};
use voxtick_engine::{BuildError, Meter, Plugin, Setup, Tick};
use voxtick_worlds::{Chunk, ChunkPos, World, stages};

/// How much may enter in one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntakeBudget {
    /// What is there, until this much time is used; a tick goes over it by one chunk at most. Which chunks enter in
    /// which tick depends on the machine.
    Time(Duration),
    /// This many chunks, in the order in which they were asked for, waiting for them if need be: the same chunks in
    /// the same tick on every machine, for replays.
    Chunks(usize),
}

impl Default for IntakeBudget {
    fn default() -> Self {
        IntakeBudget::Time(Duration::from_millis(2))
    }
}

/// Loads and saves the chunks of a simulation's [`World`] on threads of its own.
///
/// Add it after `WorldsPlugin`. Ask for chunks through [`ChunkStorage`]; chunks that have changed are saved every so
/// many ticks, each in a tick of its own turn; [`ChunkStorage::save_all`] saves the rest before the end.
///
/// Costs a tick: O(results taken + loaded chunks) and about a microsecond for each chunk whose turn to be saved it is.
///
/// ```
/// use voxtick_anvil::{ChunkStorage, StoragePlugin};
/// use voxtick_anvil::{files::Access, region::{RegionFolder, RegionOptions}};
/// use voxtick_engine::Simulation;
/// use voxtick_worlds::{BlockStates, ChunkPos, Dimension, World, WorldsPlugin};
/// # let folder = tempfile::tempdir()?;
/// let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
/// let regions = RegionFolder::new(folder.path(), options);
/// let world = World::new(Dimension::overworld(), BlockStates::load());
/// let mut simulation = Simulation::builder()
///     .plugin(WorldsPlugin::new(world))
///     .plugin(StoragePlugin::new(regions))
///     .build()?;
/// simulation.world_mut().resource_mut::<ChunkStorage>().load(ChunkPos::new(0, 0));
/// simulation.tick()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StoragePlugin {
    regions: RegionFolder,
    settings: ChunkIoSettings,
    budget: IntakeBudget,
    autosave: Option<u64>,
}

impl StoragePlugin {
    /// A plugin for the regions of a folder. Saves every chunk that has changed once in 6,000 ticks, five minutes.
    #[must_use]
    pub fn new(regions: RegionFolder) -> StoragePlugin {
        StoragePlugin {
            regions,
            settings: ChunkIoSettings::default(),
            budget: IntakeBudget::default(),
            autosave: Some(6000),
        }
    }

    /// How chunks are loaded and saved.
    #[must_use]
    pub fn settings(mut self, settings: ChunkIoSettings) -> StoragePlugin {
        self.settings = settings;
        self
    }

    /// How much may enter in one tick. Defaults to 2 ms.
    #[must_use]
    pub fn budget(mut self, budget: IntakeBudget) -> StoragePlugin {
        self.budget = budget;
        self
    }

    /// In how many ticks every chunk has its turn to be saved; `None` saves only when told to. Defaults to 6,000.
    #[must_use]
    pub fn autosave(mut self, ticks: Option<u64>) -> StoragePlugin {
        self.autosave = ticks.map(|ticks| ticks.max(1));
        self
    }
}

impl Plugin for StoragePlugin {
    fn name(&self) -> &'static str {
        "storage"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        let world = setup.world().resource::<World>();
        let (dimension, states) = (world.dimension().clone(), world.states().clone());
        let io = ChunkIo::start(self.regions, dimension, states, self.settings)
            .map_err(|error| BuildError::plugin("storage", error))?;
        setup
            .resource(ChunkStorage {
                io,
                budget: self.budget,
                autosave: self.autosave,
                asked: BTreeMap::new(),
                now: 0,
                reported: IoTimes::default(),
                arrived: BTreeMap::new(),
                saving: FxHashSet::default(),
                load_after_save: Vec::new(),
                returned: VecDeque::new(),
                totals: Totals::default(),
                failures: Vec::new(),
                notices: Vec::new(),
            })
            .system(stages::INTAKE, take_results)
            .system(stages::STORAGE, save_changed_chunks);
        Ok(())
    }
}

/// What went wrong beside the tick.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageFailure {
    /// A chunk could not be loaded. It is not absent: generate nothing in its place.
    #[error(transparent)]
    Load(LoadChunkError),
    /// A chunk could not be saved. It is still in the world, or kept here, and is tried again.
    #[error(transparent)]
    Save(SaveChunkError),
    /// What was saved is not durable yet. It is tried again.
    #[error(transparent)]
    Flush(FlushFolderError),
}

/// Chunks loaded and saved so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Totals {
    loaded: u64,
    absent: u64,
    saved: u64,
    saved_bytes: u64,
    unchanged: u64,
}

/// The way to the region files, from within a simulation.
#[derive(Resource, Debug)]
pub struct ChunkStorage {
    io: ChunkIo,
    budget: IntakeBudget,
    autosave: Option<u64>,
    /// Numbers of the loads that have not entered, each with the tick in which it was asked for.
    asked: BTreeMap<u64, u64>,
    /// The tick being run.
    now: u64,
    /// What the threads had spent when it was last reported.
    reported: IoTimes,
    /// Loads that have arrived and wait for their turn.
    arrived: BTreeMap<u64, (ChunkPos, Result<Option<Loaded>, LoadChunkError>)>,
    /// Chunks whose save is under way: they are not saved again before it is done.
    saving: FxHashSet<ChunkPos>,
    /// Chunks asked for while their save was under way.
    load_after_save: Vec<ChunkPos>,
    /// Chunks that are no more in the world and could not be saved.
    returned: VecDeque<Box<Chunk>>,
    totals: Totals,
    /// What went wrong, in the order in which it became known. Take it out once it is dealt with.
    pub failures: Vec<StorageFailure>,
    /// What was odd about chunks that were loaded.
    pub notices: Vec<(ChunkPos, Notice)>,
}

impl ChunkStorage {
    /// Asks for a chunk; it enters the world at the beginning of a later tick. Asking again changes nothing.
    pub fn load(&mut self, position: ChunkPos) {
        if self.saving.contains(&position) {
            self.load_after_save.push(position);
        } else if let Some(order) = self.io.load(position) {
            self.asked.insert(order, self.now);
        }
    }

    /// Chooses what is near: chunks are loaded by their distance to the nearest of these.
    pub fn set_points_of_interest(&mut self, points: Vec<ChunkPos>) {
        self.io.set_points_of_interest(points);
    }

    /// Takes a chunk out of the world, and saves it if it has changed.
    pub fn unload(&mut self, world: &mut World, position: ChunkPos) {
        if let Some(chunk) = world.remove_chunk(position)
            && needs_saving(&chunk)
        {
            if self.saving.contains(&position) {
                // Its former state is being written; what is newer goes after it.
                self.returned.push_back(Box::new(chunk));
            } else {
                self.saving.insert(position);
                self.io.save(chunk);
            }
        }
    }

    /// Saves every chunk that has changed, makes all of it durable, and waits for both. Returns what failed.
    pub fn save_all(&mut self, world: &mut World) -> Vec<StorageFailure> {
        let before = self.failures.len();
        self.finish_saves(world);
        let dirty: Vec<ChunkPos> =
            world.chunks().filter(|chunk| needs_saving(chunk)).map(Chunk::position).collect();
        dirty.into_iter().for_each(|position| self.save(world, position));
        for chunk in std::mem::take(&mut self.returned) {
            self.saving.insert(chunk.position());
            self.io.save(*chunk);
        }
        self.finish_saves(world);
        self.io.flush();
        while let Some(result) = self.io.wait() {
            let flushed = matches!(result, IoResult::Flushed(_));
            self.take(result, world);
            if flushed {
                break;
            }
        }
        self.failures.split_off(before)
    }

    /// Loads and saves that have not begun.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.io.waiting()
    }

    /// Chunks asked for that have not entered the world.
    #[must_use]
    pub fn loads_under_way(&self) -> usize {
        self.asked.len() + self.load_after_save.len()
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

    /// The threads, for their times.
    #[must_use]
    pub fn io(&self) -> &ChunkIo {
        &self.io
    }

    /// What happened beside the tick since the last report.
    fn report(&mut self, before: Totals, meter: &Meter) {
        let (now, times) = (self.totals, self.io.times());
        let oldest = self.asked.values().next().map_or(0, |asked| self.now.saturating_sub(*asked));
        meter.count("chunks waiting", self.loads_under_way() as u64);
        meter.count("ticks the oldest waits", oldest);
        meter.count("chunks saved", now.saved - before.saved);
        meter.count("bytes saved", now.saved_bytes - before.saved_bytes);
        meter.count("read ns", times.read - self.reported.read);
        meter.count("decode ns", times.decode - self.reported.decode);
        meter.count("encode ns", times.encode - self.reported.encode);
        meter.count("pack ns", times.pack - self.reported.pack);
        meter.count("write ns", times.write - self.reported.write);
        self.reported = times;
    }

    fn save(&mut self, world: &mut World, position: ChunkPos) {
        if let Some(chunk) = world.chunk_mut(position) {
            chunk.modified = false;
            self.saving.insert(position);
            self.io.save(chunk.clone());
        }
    }

    fn finish_saves(&mut self, world: &mut World) {
        while !self.saving.is_empty()
            && let Some(result) = self.io.wait()
        {
            self.take(result, world);
        }
    }

    /// Notes a result; loads wait for their turn.
    fn take(&mut self, result: IoResult, world: &mut World) {
        match result {
            IoResult::Loaded { position, order, outcome } => {
                self.arrived.insert(order, (position, outcome));
            }
            IoResult::Saved { position, outcome } => self.saved_one(position, outcome, world),
            IoResult::Flushed(Ok(())) => {}
            IoResult::Flushed(Err(error)) => self.failures.push(StorageFailure::Flush(error)),
        }
    }

    fn saved_one(&mut self, position: ChunkPos, outcome: Result<Saved, SaveChunkError>, world: &mut World) {
        self.saving.remove(&position);
        match outcome {
            Ok(Saved { stored: None }) => self.totals.unchanged += 1,
            Ok(Saved { stored: Some(stored) }) => {
                self.totals.saved += 1;
                self.totals.saved_bytes += stored.bytes.len() as u64;
                // What is saved next is compared with what the file holds now.
                if let Some(chunk) = world.chunk_mut(position) {
                    chunk.unmodelled = Some(stored.clone());
                }
                for chunk in self.returned.iter_mut().filter(|chunk| chunk.position() == position) {
                    chunk.unmodelled = Some(stored.clone());
                }
            }
            Err(error) => {
                match world.chunk_mut(position) {
                    Some(chunk) => chunk.modified = true,
                    // A newer state of it may wait here already.
                    None if self.returned.iter().any(|chunk| chunk.position() == position) => {}
                    None => self.returned.push_back(error.chunk.clone()),
                }
                self.failures.push(StorageFailure::Save(error));
            }
        }
        if let Some(place) = self.load_after_save.iter().position(|waiting| *waiting == position) {
            self.load_after_save.swap_remove(place);
            self.load(position);
        }
    }

    /// Lets a load that has arrived enter the world. Returns its bytes.
    fn enter(&mut self, order: u64, world: &mut World) -> u64 {
        self.asked.remove(&order);
        let Some((position, outcome)) = self.arrived.remove(&order) else { return 0 };
        match outcome {
            Ok(Some(loaded)) => {
                self.totals.loaded += 1;
                self.notices.extend(loaded.notices.into_iter().map(|notice| (position, notice)));
                world.insert_chunk(*loaded.chunk);
                loaded.bytes
            }
            Ok(None) => {
                self.totals.absent += 1;
                0
            }
            Err(error) => {
                self.failures.push(StorageFailure::Load(error));
                0
            }
        }
    }
}

fn needs_saving(chunk: &Chunk) -> bool {
    chunk.modified || chunk.unmodelled.is_none()
}

fn take_results(
    mut storage: ResMut<ChunkStorage>,
    mut world: ResMut<World>,
    tick: Res<Tick>,
    meter: Res<Meter>,
) {
    let storage = &mut *storage;
    storage.now = tick.0;
    let before = storage.totals;
    let mut bytes = 0;
    match storage.budget {
        IntakeBudget::Time(time) => {
            let start = Instant::now();
            while start.elapsed() < time {
                if let Some(order) = storage.arrived.keys().next().copied() {
                    bytes += storage.enter(order, &mut world);
                } else if let Some(result) = storage.io.try_result() {
                    storage.take(result, &mut world);
                } else {
                    break;
                }
            }
        }
        IntakeBudget::Chunks(most) => {
            while let Some(result) = storage.io.try_result() {
                storage.take(result, &mut world);
            }
            for _ in 0..most {
                let Some(order) = storage.asked.keys().next().copied() else { break };
                while !storage.arrived.contains_key(&order)
                    && let Some(result) = storage.io.wait()
                {
                    storage.take(result, &mut world);
                }
                bytes += storage.enter(order, &mut world);
            }
        }
    }
    meter.items(storage.totals.loaded - before.loaded);
    meter.bytes(bytes);
    storage.report(before, &meter);
}

fn save_changed_chunks(
    mut storage: ResMut<ChunkStorage>,
    mut world: ResMut<World>,
    tick: Res<Tick>,
    meter: Res<Meter>,
) {
    let storage = &mut *storage;
    let Some(ticks) = storage.autosave else { return };
    let turn = tick.0 % ticks;
    let due: Vec<ChunkPos> = world
        .chunks()
        .filter(|chunk| needs_saving(chunk) && turn_of(chunk.position(), ticks) == turn)
        .map(Chunk::position)
        .filter(|position| !storage.saving.contains(position))
        .collect();
    meter.items(due.len() as u64);
    due.into_iter().for_each(|position| storage.save(&mut world, position));
    for chunk in std::mem::take(&mut storage.returned) {
        if storage.saving.insert(chunk.position()) {
            storage.io.save(*chunk);
        } else {
            storage.returned.push_back(chunk);
        }
    }
    if turn + 1 == ticks {
        storage.io.flush();
    }
}

/// The tick of the round in which a chunk is saved: neighbours take different turns.
fn turn_of(position: ChunkPos, ticks: u64) -> u64 {
    let mixed = u64::from(position.x as u32) << 32 | u64::from(position.z as u32);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % ticks
}
