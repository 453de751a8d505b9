//! Building a simulation: options first, then everything is checked and put together at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bevy_ecs::world::World;

use crate::error::BuildError;
use crate::history::DEFAULT_HISTORY;
use crate::plugin::{Parts, Plugin};
use crate::rate::Rate;
use crate::resources::Pool;
use crate::simulation::Simulation;
use crate::sinks::Sink;
use crate::timed::Shared;

/// Collects what a [`Simulation`] is made of. Made by [`Simulation::builder`].
#[must_use = "nothing happens before `build`"]
pub struct SimulationBuilder {
    pub(crate) threads: Option<usize>,
    pub(crate) rate: Rate,
    pub(crate) seed: u64,
    pub(crate) hash: bool,
    pub(crate) history: usize,
    pub(crate) plugins: Vec<Box<dyn Plugin>>,
    pub(crate) sinks: Vec<Box<dyn Sink>>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl SimulationBuilder {
    pub(crate) fn new() -> SimulationBuilder {
        SimulationBuilder {
            threads: None,
            rate: Rate::default(),
            seed: 0,
            hash: false,
            history: DEFAULT_HISTORY,
            plugins: Vec::new(),
            sinks: Vec::new(),
            stop: Arc::default(),
        }
    }

    /// How many threads the simulation's [`Pool`] has, at least 1. Defaults to one for each core
    /// that the process may use. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// How fast ticks follow each other. Defaults to [`Rate::Sprint`].
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rate = rate;
        self
    }

    /// What everything random is derived from. Defaults to 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Whether the state is hashed after every tick. Defaults to `false`, since it reads the whole
    /// state.
    pub fn hash(mut self, hash: bool) -> Self {
        self.hash = hash;
        self
    }

    /// How many of the latest ticks the [`TickHistory`](crate::TickHistory) holds as columns, at
    /// least 1. Defaults to [`DEFAULT_HISTORY`].
    pub fn history(mut self, ticks: usize) -> Self {
        self.history = ticks;
        self
    }

    /// Adds a plugin. Plugins are built in the order in which they are added.
    pub fn plugin(mut self, plugin: impl Plugin + 'static) -> Self {
        self.plugins.push(Box::new(plugin));
        self
    }

    /// Adds a sink. It gets a thread of its own.
    pub fn sink(mut self, sink: impl Sink + 'static) -> Self {
        self.sinks.push(Box::new(sink));
        self
    }

    /// A flag that ends [`Simulation::run`] and [`Simulation::ticks`] after the tick being run once
    /// it is set, say by a handler of Ctrl-C. Several simulations may share one.
    pub fn stop_flag(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// Builds the plugins, puts their stages in order, and starts the threads.
    ///
    /// # Errors
    /// An option is out of range, a plugin fails or is there twice, the stages cannot be put in
    /// order, a system names a stage that does not exist, or a thread cannot be started.
    pub fn build(mut self) -> Result<Simulation, BuildError> {
        self.rate.check()?;
        let threads = self
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
        if threads == 0 {
            return Err(BuildError::NoThreads);
        }
        let pool = Pool::with_threads(threads).map_err(|reason| BuildError::Pool { threads, reason })?;
        let mut parts = Parts {
            world: World::new(),
            threads,
            seed: self.seed,
            shared: Arc::new(Shared::new()),
            stages: Vec::new(),
            systems: Vec::new(),
            rotations: Vec::new(),
            hashes: Vec::new(),
        };
        Simulation::insert_resources(&mut parts, pool);
        parts.add(std::mem::take(&mut self.plugins))?;
        Simulation::assemble(parts, self)
    }
}

impl std::fmt::Debug for SimulationBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plugins: Vec<_> = self.plugins.iter().map(|plugin| plugin.name()).collect();
        let sinks: Vec<_> = self.sinks.iter().map(|sink| sink.name()).collect();
        f.debug_struct("SimulationBuilder")
            .field("threads", &self.threads)
            .field("rate", &self.rate)
            .field("seed", &self.seed)
            .field("hash", &self.hash)
            .field("plugins", &plugins)
            .field("sinks", &sinks)
            .finish_non_exhaustive()
    }
}
