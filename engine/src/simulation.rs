//! The simulation: it owns the world, the stages, the pool and the sinks, and runs tick after tick.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use bevy_ecs::world::World;

use crate::builder::SimulationBuilder;
use crate::clock::thread_cpu_time;
use crate::error::{BuildError, TickError};
use crate::finished::Finished;
use crate::history::TickHistory;
use crate::meter::Meter;
use crate::plugin::{Parts, PluginHash, Rotation};
use crate::rate::Pace;
use crate::report::TickReport;
use crate::resources::{Pool, Seed, Tick};
use crate::runner::{RunnableStage, runnable};
use crate::sinks::{SinkState, SinkThread, WAITING_REPORTS};
use crate::state_hash::StateHasher;
use crate::summary::{Conditions, Summary};
use crate::timed::Shared;

/// A world that is advanced tick by tick through timed stages.
///
/// It owns an ECS world, the stages that [plugins](crate::Plugin) brought, one thread pool, the
/// history of its ticks and the sinks that its reports go to. A process may run any number of
/// simulations at once; they share nothing.
///
/// ```
/// use voxtick_engine::Simulation;
///
/// let mut simulation = Simulation::builder().threads(2).seed(42).build()?;
/// simulation.run(100)?;
/// println!("{}", simulation.summary());
/// for report in simulation.ticks().take(10) {
///     assert!(report?.tick >= 100);
/// }
/// let finished = simulation.finish();
/// assert_eq!(finished.summary.ticks, 110);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    world: World,
    stages: Vec<RunnableStage>,
    rotations: Vec<Rotation>,
    hashes: Vec<PluginHash>,
    hash_every_tick: bool,
    shared: Arc<Shared>,
    pace: Pace,
    stop: Arc<AtomicBool>,
    history: TickHistory,
    sinks: Vec<SinkThread>,
    conditions: Conditions,
    /// The report of the last tick; its buffers are used again by the next one.
    report: TickReport,
    next_tick: u64,
    /// When the last tick started, for the gap.
    last_start: Option<u64>,
    /// What recording the last report took: charged to the next tick.
    recording: u64,
    failed_tick: Option<u64>,
}

impl Simulation {
    /// Starts with the options of a simulation.
    pub fn builder() -> SimulationBuilder {
        SimulationBuilder::new()
    }

    /// Runs one tick and gives its report. At a [fixed rate](crate::Rate::Fixed) it first waits
    /// until the tick is due. It runs even if the [stop flag](SimulationBuilder::stop_flag) is set
    /// (which ends the wait).
    ///
    /// # Errors
    /// A system panicked or could not be run. The tick is not recorded, and every further one is
    /// refused; [`finish`](Simulation::finish) still flushes the sinks.
    pub fn tick(&mut self) -> Result<&TickReport, TickError> {
        let missed = self.pace.wait(&self.shared.clock, &self.stop);
        self.run_tick(missed)
    }

    /// Runs up to `ticks` ticks, fewer if the [stop flag](SimulationBuilder::stop_flag) is set;
    /// gives how many ran.
    ///
    /// # Errors
    /// See [`tick`](Simulation::tick).
    pub fn run(&mut self, ticks: u64) -> Result<u64, TickError> {
        for ran in 0..ticks {
            if self.next()?.is_none() {
                return Ok(ran);
            }
        }
        Ok(ticks)
    }

    /// Runs tick after tick as the iterator is advanced; gives a copy of each report. Ends when the
    /// [stop flag](SimulationBuilder::stop_flag) is set, and after an error.
    pub fn ticks(&mut self) -> Ticks<'_> {
        Ticks { simulation: self, has_failed: false }
    }

    /// The ECS world, between two ticks.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The ECS world, to be changed between two ticks.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// What is remembered of the ticks so far.
    pub fn history(&self) -> &TickHistory {
        &self.history
    }

    /// The state as one number, the same that [`TickReport::hash`] would hold now. For a look at
    /// single ticks: it is there whether or not [hashing](SimulationBuilder::hash) every tick is
    /// on.
    ///
    /// # Errors
    /// A plugin's contribution panicked.
    pub fn state_hash(&self) -> Result<u64, TickError> {
        let mut hashes: Vec<_> = self.hashes.iter().map(|hash| (hash.plugin(), 0)).collect();
        hash_state(self.world.resource::<Tick>().0, &self.world, &self.hashes, &mut hashes)
    }

    /// How the sinks are doing, in the order in which they were added.
    pub fn sinks(&self) -> impl ExactSizeIterator<Item = SinkState<'_>> + '_ {
        self.sinks.iter().map(SinkThread::state)
    }

    /// The names of the stages, in the order in which they run; those without systems are left out.
    pub fn stage_names(&self) -> impl ExactSizeIterator<Item = &'static str> + '_ {
        self.report.stages.iter().map(|stage| stage.name)
    }

    /// The figures of the run so far.
    pub fn summary(&self) -> Summary {
        Summary::new(&self.history, self.conditions)
    }

    /// Ends the run: hands the summary to the sinks and waits until they have written everything.
    ///
    /// A sink's failure stands in the result, see [`Finished::failed_sinks`].
    pub fn finish(mut self) -> Finished {
        let summary = Arc::new(self.summary());
        let sinks = self.sinks.drain(..).map(|sink| sink.finish(summary.clone())).collect();
        Finished { summary: Arc::unwrap_or_clone(summary), sinks }
    }

    /// The next tick, unless the stop flag is set before it starts.
    fn next(&mut self) -> Result<Option<&TickReport>, TickError> {
        if self.stop.load(Relaxed) {
            return Ok(None);
        }
        let missed = self.pace.wait(&self.shared.clock, &self.stop);
        if self.stop.load(Relaxed) {
            return Ok(None);
        }
        self.run_tick(missed).map(Some)
    }

    fn run_tick(&mut self, missed: u64) -> Result<&TickReport, TickError> {
        if let Some(tick) = self.failed_tick {
            return Err(TickError::AfterFailure { tick });
        }
        let tick = self.next_tick;
        let start = self.shared.clock.now();
        let end = self.advance(tick, start).inspect_err(|_| self.failed_tick = Some(tick))?;
        self.next_tick += 1;

        let wall = Duration::from_nanos(end - start + self.recording);
        let gap = Duration::from_nanos(self.last_start.map_or(0, |last| start - last));
        self.last_start = Some(start);
        self.report.tick = tick;
        self.report.start = Duration::from_nanos(start);
        self.report.wall = wall;
        self.report.gap = gap;
        self.report.overrun = gap.saturating_sub(self.conditions.tick_length);
        self.report.missed = missed;
        self.report.recording = Duration::from_nanos(self.recording);

        self.history.record(&self.report);
        self.sinks.iter_mut().for_each(|sink| sink.send(&self.report));
        self.recording = self.shared.clock.now() - end;
        Ok(&self.report)
    }

    /// Runs the stages and fills in the report's stages, engine share and hash. Gives the stamp of
    /// the tick's end.
    fn advance(&mut self, tick: u64, start: u64) -> Result<u64, TickError> {
        let Simulation { world, stages, shared, report, .. } = self;
        world.resource_mut::<Tick>().0 = tick;
        self.rotations.iter().for_each(|rotate| rotate(world));

        let mut engine = self.recording;
        let mut last_end = start;
        let mut cpu = thread_cpu_time();
        for (stage, report) in stages.iter_mut().zip(&mut report.stages) {
            let stamps = stage.run(tick, world, shared, cpu, report)?;
            engine += stamps.start - last_end;
            last_end = stamps.end;
            cpu = stamps.cpu;
        }
        // Removals are told for one tick, as messages are.
        world.clear_trackers();

        report.hashing = Duration::ZERO;
        if self.hash_every_tick {
            let hash_start = shared.clock.now();
            report.hash = Some(hash_state(tick, world, &self.hashes, &mut report.hashes)?);
            report.hashing = Duration::from_nanos(shared.clock.now() - hash_start);
        }
        let end = shared.clock.now();
        report.engine = Duration::from_nanos(engine + (end - last_end));
        Ok(end)
    }

    pub(crate) fn insert_resources(parts: &mut Parts, pool: Pool) {
        parts.world.insert_resource(Tick(0));
        parts.world.insert_resource(Seed(parts.seed));
        parts.world.insert_resource(pool);
        parts.world.insert_resource(Meter::new(parts.shared.meter.clone()));
    }

    pub(crate) fn assemble(mut parts: Parts, options: SimulationBuilder) -> Result<Simulation, BuildError> {
        let stages = runnable(&mut parts)?;
        let report = TickReport {
            hashes: if options.hash {
                parts.hashes.iter().map(|hash| (hash.plugin(), 0)).collect()
            } else {
                Vec::new()
            },
            stages: stages.iter().map(RunnableStage::template).collect(),
            ..TickReport::default()
        };
        let start_sink = |sink: Box<dyn crate::sinks::Sink>| {
            let name = sink.name().to_owned();
            SinkThread::start(sink, &report, WAITING_REPORTS)
                .map_err(|reason| BuildError::SinkThread { sink: name, reason })
        };
        Ok(Simulation {
            stages,
            rotations: parts.rotations,
            hashes: parts.hashes,
            hash_every_tick: options.hash,
            shared: parts.shared,
            pace: Pace::new(options.rate),
            stop: options.stop,
            history: TickHistory::new(options.history, &report),
            sinks: options.sinks.into_iter().map(start_sink).collect::<Result<_, _>>()?,
            conditions: Conditions {
                threads: parts.threads,
                seed: parts.seed,
                tick_length: options.rate.tick_length(),
            },
            world: parts.world,
            report,
            next_tick: 0,
            last_start: None,
            recording: 0,
            failed_tick: None,
        })
    }
}

/// Hashes what each plugin contributes, and all of it to one number.
fn hash_state(
    tick: u64,
    world: &World,
    plugins: &[PluginHash],
    report: &mut [(&'static str, u64)],
) -> Result<u64, TickError> {
    let mut all = StateHasher::new();
    for (plugin, (name, reported)) in plugins.iter().zip(report) {
        *reported = plugin.compute(world).map_err(|message| TickError::HashPanicked {
            tick,
            plugin: plugin.plugin(),
            message,
        })?;
        all.write_bytes(name.as_bytes());
        all.write_u64(*reported);
    }
    Ok(all.finish())
}

/// Runs a tick whenever it is advanced. Made by [`Simulation::ticks`].
#[derive(Debug)]
#[must_use = "no tick runs before the iterator is advanced"]
pub struct Ticks<'a> {
    simulation: &'a mut Simulation,
    has_failed: bool,
}

impl Iterator for Ticks<'_> {
    type Item = Result<TickReport, TickError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let outcome = self.simulation.next().map(|report| report.cloned()).transpose();
        self.has_failed = matches!(outcome, Some(Err(_)));
        outcome
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("stages", &self.stage_names().collect::<Vec<_>>())
            .field("next_tick", &self.next_tick)
            .field("conditions", &self.conditions)
            .field("failed_tick", &self.failed_tick)
            .finish_non_exhaustive()
    }
}
