//! Running the stages: a schedule for each, on the tick's thread, and the report of what it did.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bevy_ecs::schedule::{IntoScheduleConfigs, Schedule, ScheduleLabel, SingleThreadedExecutor, SystemSet};
use bevy_ecs::world::World;

use crate::clock::thread_cpu_time;
use crate::error::{BuildError, TickError, panic_message};
use crate::meter::Counts;
use crate::plugin::{Parts, PlacedSystem};
use crate::report::{StageReport, SystemReport};
use crate::stage::{names, order};
use crate::timed::{FailureKind, Shared, SystemCells};

/// A stage that has systems, ready to run.
pub(crate) struct RunnableStage {
    name: &'static str,
    schedule: Schedule,
    systems: Vec<Arc<SystemCells>>,
    counts: Counts,
}

/// The clocks around a stage that has run.
pub(crate) struct Stamps {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) cpu: Option<u64>,
}

/// A stage is a schedule of this label.
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct StageLabel(&'static str);

/// The place of a system in the chain of its stage.
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
struct Place(usize);

/// Puts the stages in order and makes their systems ready.
pub(crate) fn runnable(parts: &mut Parts) -> Result<Vec<RunnableStage>, BuildError> {
    let order = order(&parts.stages)?;
    if let Some(lost) = parts
        .systems
        .iter()
        .find(|system| parts.stages.iter().all(|placed| placed.stage.name() != system.stage))
    {
        return Err(BuildError::UnknownStage {
            system: lost.cells.name,
            stage: lost.stage,
            plugin: lost.plugin,
            known: names(&parts.stages),
        });
    }
    let mut waiting = std::mem::take(&mut parts.systems);
    let mut stages = Vec::new();
    for index in order {
        let name = parts.stages[index].stage.name();
        let (systems, others): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|system| system.stage == name);
        waiting = others;
        if !systems.is_empty() {
            stages.push(RunnableStage::new(name, systems, &mut parts.world)?);
        }
    }
    Ok(stages)
}

impl RunnableStage {
    fn new(
        name: &'static str,
        systems: Vec<PlacedSystem>,
        world: &mut World,
    ) -> Result<RunnableStage, BuildError> {
        let mut schedule = Schedule::new(StageLabel(name));
        schedule.set_executor(SingleThreadedExecutor::new());
        let mut cells = Vec::with_capacity(systems.len());
        for (place, system) in systems.into_iter().enumerate() {
            let config = system.system.in_set(Place(place));
            schedule.add_systems(if place == 0 { config } else { config.after(Place(place - 1)) });
            cells.push(system.cells);
        }
        // A system whose parameters contradict each other panics when it is made ready.
        match catch_unwind(AssertUnwindSafe(|| schedule.initialize(world))) {
            Ok(Ok(_)) => Ok(RunnableStage { name, schedule, systems: cells, counts: Counts::new() }),
            Ok(Err(error)) => {
                Err(BuildError::Stage { stage: name, message: error.to_string(schedule.graph(), world) })
            }
            Err(panic) => Err(BuildError::Stage { stage: name, message: panic_message(&*panic) }),
        }
    }

    /// A report of the shape that this stage's reports have.
    pub(crate) fn template(&self) -> StageReport {
        let system = |cells: &Arc<SystemCells>| SystemReport { name: cells.name, ..SystemReport::default() };
        StageReport {
            name: self.name,
            systems: self.systems.iter().map(system).collect(),
            ..StageReport::default()
        }
    }

    /// Runs the systems and fills the report in. `cpu` is the thread's CPU time at the end of the
    /// stage before: the clock is read once a stage, since reading it costs more than all other
    /// bookkeeping.
    pub(crate) fn run(
        &mut self,
        tick: u64,
        world: &mut World,
        shared: &Shared,
        cpu: Option<u64>,
        report: &mut StageReport,
    ) -> Result<Stamps, TickError> {
        shared.meter.open(&mut self.counts);
        self.systems.iter().for_each(|cells| cells.clear());

        let start = shared.clock.now();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.schedule.run(world)));
        let end = shared.clock.now();
        let cpu_end = thread_cpu_time();

        shared.meter.close(&mut self.counts);
        self.check(tick, outcome, shared)?;

        report.start = Duration::from_nanos(start);
        report.wall = Duration::from_nanos(end - start);
        // One thread cannot use more than the wall time: what exceeds it is the bookkeeping since
        // the last reading.
        report.cpu = cpu
            .zip(cpu_end)
            .map(|(start, end)| Duration::from_nanos(end.saturating_sub(start)).min(report.wall));
        report.items = shared.meter.items();
        report.bytes = shared.meter.bytes();
        report.counts.clone_from(&self.counts);
        self.counts.iter_mut().for_each(|(_, count)| *count = 0);
        report.calls = 0;
        for (report_of_system, cells) in report.systems.iter_mut().zip(&self.systems) {
            *report_of_system = cells.report();
            report.calls += report_of_system.calls;
        }
        Ok(Stamps { start, end, cpu: cpu_end })
    }

    fn check(&self, tick: u64, outcome: std::thread::Result<()>, shared: &Shared) -> Result<(), TickError> {
        let stage = self.name;
        if let Some(failure) = shared.take_failure() {
            let (system, message) = (failure.system, failure.message);
            return Err(match failure.kind {
                FailureKind::Panicked => TickError::Panicked { tick, stage, system, message },
                FailureKind::NotRun => TickError::SystemFailed { tick, stage, system, message },
            });
        }
        outcome.map_err(|panic| {
            // Outside the systems themselves only their commands can panic.
            let latest = shared.latest.load(Relaxed);
            let system =
                self.systems.iter().find(|cells| cells.index == latest).map_or("(none)", |cells| cells.name);
            TickError::Panicked { tick, stage, system, message: panic_message(&*panic) }
        })
    }
}

impl SystemCells {
    fn report(&self) -> SystemReport {
        SystemReport {
            name: self.name,
            start: Duration::from_nanos(self.start.load(Relaxed)),
            wall: Duration::from_nanos(self.wall.load(Relaxed)),
            items: self.items.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            calls: self.calls.load(Relaxed),
        }
    }
}
