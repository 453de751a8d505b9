//! The wrapper around every system: it times the system, notes its share of the meter, and catches
//! what goes wrong in it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use bevy_ecs::system::{Adapt, AdapterSystem, IntoSystem, RunSystemError, System};

use crate::clock::Clock;
use crate::error::panic_message;
use crate::meter::MeterCells;

/// Wraps a system, so that it writes to `cells` and `shared` whenever it runs.
pub(crate) fn timed<M, S: IntoSystem<(), (), M>>(
    system: S,
    cells: Arc<SystemCells>,
    shared: Arc<Shared>,
) -> AdapterSystem<Timed, S::System> {
    let system = IntoSystem::into_system(system);
    let name = system.name();
    AdapterSystem::new(Timed { cells, shared }, system, name)
}

pub(crate) struct Timed {
    cells: Arc<SystemCells>,
    shared: Arc<Shared>,
}

/// What one system did in its last run. Written by the system's wrapper, read by the engine after
/// the stage.
#[derive(Debug)]
pub(crate) struct SystemCells {
    pub(crate) name: &'static str,
    /// Which system this is among all of the simulation.
    pub(crate) index: usize,
    pub(crate) start: AtomicU64,
    pub(crate) wall: AtomicU64,
    pub(crate) items: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) calls: AtomicU64,
}

/// What all systems of a simulation share with the engine.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) meter: Arc<MeterCells>,
    /// The system that ran last, to blame it for what its commands do.
    pub(crate) latest: AtomicUsize,
    has_failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

/// Why a system did not come to its end.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) system: &'static str,
    pub(crate) kind: FailureKind,
    pub(crate) message: String,
}

#[derive(Debug)]
pub(crate) enum FailureKind {
    Panicked,
    NotRun,
}

impl SystemCells {
    pub(crate) fn new(name: &'static str, index: usize) -> SystemCells {
        SystemCells {
            name,
            index,
            start: AtomicU64::new(0),
            wall: AtomicU64::new(0),
            items: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
        }
    }

    /// Empties the cells before a stage runs, so that a system that does not run reports nothing.
    pub(crate) fn clear(&self) {
        for cell in [&self.start, &self.wall, &self.items, &self.bytes, &self.calls] {
            cell.store(0, Relaxed);
        }
    }
}

impl Shared {
    pub(crate) fn new() -> Shared {
        Shared {
            clock: Clock::start(),
            meter: Arc::default(),
            latest: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    pub(crate) fn take_failure(&self) -> Option<Failure> {
        if !self.has_failed.load(Relaxed) {
            return None;
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn fail(&self, failure: Failure) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        self.has_failed.store(true, Relaxed);
    }
}

impl<S: System<In = (), Out = ()>> Adapt<S> for Timed {
    type In = ();
    type Out = ();

    fn adapt(
        &mut self,
        input: (),
        run_system: impl FnOnce(()) -> Result<(), RunSystemError>,
    ) -> Result<(), RunSystemError> {
        let Timed { cells, shared } = self;
        // The systems of a stage run as one chain: after a failure the rest of it stands still.
        if shared.has_failed.load(Relaxed) {
            return Ok(());
        }
        shared.latest.store(cells.index, Relaxed);
        let (items, bytes) = (shared.meter.items(), shared.meter.bytes());
        let start = shared.clock.now();
        let outcome = catch_unwind(AssertUnwindSafe(|| run_system(input)));
        let end = shared.clock.now();

        let failed = |kind, message| shared.fail(Failure { system: cells.name, kind, message });
        match outcome {
            Ok(Ok(())) => {
                cells.start.store(start, Relaxed);
                cells.wall.store(end - start, Relaxed);
                cells.items.store(shared.meter.items() - items, Relaxed);
                cells.bytes.store(shared.meter.bytes() - bytes, Relaxed);
                cells.calls.store(1, Relaxed);
            }
            Ok(Err(RunSystemError::Skipped(_))) => {}
            Ok(Err(RunSystemError::Failed(error))) => {
                failed(FailureKind::NotRun, first_line(&error.to_string()))
            }
            Err(panic) => failed(FailureKind::Panicked, panic_message(&*panic)),
        }
        Ok(())
    }
}

/// What went wrong, without the advice on ECS types that follows it.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}
