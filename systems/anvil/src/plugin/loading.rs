//! Set chunks loaded within the tick, for runs that have to be the same on every machine.

use crate::load::{LoadChunkError, load_chunks};
use crate::region::Region;
use crate::{Limits, Notice};
use bevy_ecs::prelude::{Res, ResMut, Resource};
use std::collections::VecDeque;
use std::sync::Arc;
use voxtick_engine::{BuildError, Meter, Plugin, Pool, Setup};
use voxtick_worlds::{ChunkPos, World, stages};

/// Loads chunks of region files into the simulation's [`World`], a set number every tick, in the order given.
///
/// Add it after `WorldsPlugin`. Since the number is a count and not a time, the same chunks enter in the same tick
/// whatever the machine and the number of threads.
///
/// Costs a tick: O(chunks loaded in it).
///
/// ```
/// use voxtick_anvil::{AnvilPlugin, ChunkLoading};
/// use voxtick_engine::Simulation;
/// use voxtick_worlds::{BlockStates, Dimension, World, WorldsPlugin};
/// let world = World::new(Dimension::overworld(), BlockStates::load());
/// let mut simulation = Simulation::builder()
///     .plugin(WorldsPlugin::new(world))
///     .plugin(AnvilPlugin::new())
///     .build()?;
/// simulation.tick()?;
/// assert_eq!(simulation.world().resource::<ChunkLoading>().waiting(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AnvilPlugin {
    loading: ChunkLoading,
}

impl AnvilPlugin {
    /// A plugin that has nothing to load yet.
    #[must_use]
    pub fn new() -> AnvilPlugin {
        AnvilPlugin { loading: ChunkLoading::new() }
    }

    /// Loads all chunks of a region.
    #[must_use]
    pub fn region(mut self, region: &Arc<Region>) -> AnvilPlugin {
        let chunks: Vec<ChunkPos> = region.chunks().collect();
        self.loading.request(region, chunks);
        self
    }

    /// Loads single chunks of a region.
    #[must_use]
    pub fn chunks(mut self, region: &Arc<Region>, chunks: impl IntoIterator<Item = ChunkPos>) -> AnvilPlugin {
        self.loading.request(region, chunks);
        self
    }

    /// How many chunks are loaded in one tick at most. Defaults to all of them in the first.
    #[must_use]
    pub fn chunks_per_tick(mut self, chunks: usize) -> AnvilPlugin {
        self.loading.chunks_per_tick = chunks.max(1);
        self
    }

    /// What reading one chunk may take. Defaults to [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> AnvilPlugin {
        self.loading.limits = limits;
        self
    }
}

impl Default for AnvilPlugin {
    fn default() -> Self {
        AnvilPlugin::new()
    }
}

impl Plugin for AnvilPlugin {
    fn name(&self) -> &'static str {
        "anvil"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        setup.resource(self.loading).system(stages::INTAKE, load_waiting_chunks);
        Ok(())
    }
}

/// What waits to be loaded, and what became of what was.
#[derive(Resource, Debug)]
pub struct ChunkLoading {
    waiting: VecDeque<(Arc<Region>, ChunkPos)>,
    chunks_per_tick: usize,
    limits: Limits,
    /// Chunks loaded so far.
    pub loaded: u64,
    /// Chunks that could not be loaded, in the order of the requests.
    pub failures: Vec<LoadChunkError>,
    /// What was odd about chunks that were loaded.
    pub notices: Vec<(ChunkPos, Notice)>,
}

impl ChunkLoading {
    fn new() -> ChunkLoading {
        ChunkLoading {
            waiting: VecDeque::new(),
            chunks_per_tick: usize::MAX,
            limits: Limits::default(),
            loaded: 0,
            failures: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Asks for chunks of a region, to be loaded after those that wait already.
    pub fn request(&mut self, region: &Arc<Region>, chunks: impl IntoIterator<Item = ChunkPos>) {
        self.waiting.extend(chunks.into_iter().map(|chunk| (region.clone(), chunk)));
    }

    /// How many chunks wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

fn load_waiting_chunks(
    mut loading: ResMut<ChunkLoading>,
    mut world: ResMut<World>,
    pool: Res<Pool>,
    meter: Res<Meter>,
) {
    let mut budget = loading.chunks_per_tick;
    while budget > 0
        && let Some((region, _)) = loading.waiting.front()
    {
        let region = region.clone();
        let same =
            loading.waiting.iter().take(budget).take_while(|(other, _)| Arc::ptr_eq(other, &region)).count();
        let positions: Vec<ChunkPos> = loading.waiting.drain(..same).map(|(_, chunk)| chunk).collect();
        budget -= same;
        let limits = loading.limits;
        let load =
            pool.install(|| load_chunks(&region, &positions, world.dimension(), world.states(), &limits));
        meter.items(load.chunks.len() as u64);
        meter.bytes(load.bytes);
        loading.loaded += load.chunks.len() as u64;
        loading.failures.extend(load.failures);
        loading.notices.extend(load.notices);
        for chunk in load.chunks {
            world.insert_chunk(chunk);
        }
    }
}
