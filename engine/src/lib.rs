//! The engine of voxtick: a tick of timed stages over a `bevy_ecs` world. It knows no voxel.
//!
//! A [`Simulation`] runs **stages** one after the other on one thread; a stage is a chain of
//! **systems** and may use the simulation's [`Pool`] for parallel work. Each tick leaves a
//! [`TickReport`]: the wall and CPU time of each stage, the time of each system, what they worked
//! on (told through the [`Meter`]), and the engine's own share. Reports are remembered by the
//! [`TickHistory`], summed up by the [`Summary`] and written by [sinks](Sink).
//!
//! ```
//! use bevy_ecs::prelude::*;
//! use voxtick_engine::{BuildError, Meter, Plugin, Setup, Simulation, Stage, Tick};
//!
//! #[derive(Resource, Default)]
//! struct Cells(Vec<u64>);
//!
//! fn grow(mut cells: ResMut<Cells>, tick: Res<Tick>, meter: Res<Meter>) {
//!     cells.0.push(tick.0);
//!     meter.items(1);
//! }
//!
//! struct Growth;
//!
//! impl Plugin for Growth {
//!     fn name(&self) -> &'static str {
//!         "growth"
//!     }
//!     fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
//!         setup
//!             .resource(Cells::default())
//!             .stage(Stage::new("growth"))
//!             .system("growth", grow)
//!             .hash(|world, hasher| hasher.write_u64s(&world.resource::<Cells>().0));
//!         Ok(())
//!     }
//! }
//!
//! let mut simulation = Simulation::builder().plugin(Growth).hash(true).build()?;
//! simulation.run(1000)?;
//! println!("{}", simulation.summary());
//! # assert_eq!(simulation.world().resource::<Cells>().0.len(), 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Between worker threads and the tick, and between "something changed" and "it was redone", stand:
//! - the [`HandOff`]: many threads' values, in batches, to the one that drains them;
//! - the [`DirtySet`]: indices that any thread marks and one drains in ascending order;
//! - the [`Budget`] and the [`SharedBudget`]: how much of a tick such work may take, and whose turn
//!   it is;
//! - the [`UpdateQueue`] and the [`UpdateWorker`]: positions that have settled, nearest first, in ticks
//!   or on a thread that sleeps in between;
//! - [`nearest_three`]: the nearest of many positions.
//!
//! What holds:
//! - The order of stages and systems is total and the same in every run; the number of threads, the
//!   [`Rate`] and the sinks change no result.
//! - A steady tick does not allocate; timing costs less than a microsecond a stage.
//! - A sink never delays a tick; what it missed is counted.
//! - A panic in a system is an error that names tick, stage and system; the sinks can still be
//!   flushed.

mod atomics;
mod budget;
mod builder;
mod clock;
mod dirty_set;
mod error;
mod finished;
mod handoff;
mod history;
mod json;
mod meter;
mod nearest;
mod plugin;
mod rate;
pub mod reference;
mod report;
mod resources;
mod runner;
mod simulation;
mod sinks;
mod stage;
mod state_hash;
mod summary;
mod timed;
mod update_queue;

/// The ECS that simulations run on, in the version that this crate uses.
pub use bevy_ecs;

pub use self::budget::{
    Allowance, Budget, BudgetReport, Completed, Progress, RequestId, SharedBudget, Spent, SubmitError,
    WaitReport,
};
pub use self::builder::SimulationBuilder;
pub use self::dirty_set::{DirtySet, Drain, MarkError};
pub use self::error::{BuildError, TickError};
pub use self::finished::Finished;
pub use self::handoff::{
    FlushError, HandOff, HandOffSettings, Producer, ProducerId, PushError, TooManyProducers, TryPushError,
};
pub use self::history::{DEFAULT_HISTORY, StageHistory, TickHistory, WORST_TICKS};
pub use self::meter::Meter;
pub use self::nearest::{
    NearestThree, Neighbour, PackedPosition, nearest_three, nearest_three_packed, squared_distance,
};
pub use self::plugin::{Plugin, Setup};
pub use self::rate::{MissedTicks, Rate};
pub use self::report::{StageReport, SystemReport, TickReport};
pub use self::resources::{Pool, Seed, Tick};
pub use self::simulation::{Simulation, Ticks};
pub use self::sinks::{
    ChromeTraceSink, CsvSink, HtmlReportSink, JSON_LINES_SCHEMA, JsonLinesSink, Sink, SinkError, SinkOutcome,
    SinkState, SummarySink, TraceWindow,
};
pub use self::stage::Stage;
pub use self::state_hash::StateHasher;
pub use self::summary::{EngineSummary, Percentiles, SUMMARY_SCHEMA, StageSummary, Summary, SystemSummary};
pub use self::update_queue::{
    EquallyNear, MarkAgain, Marked, StoppedWorker, Update, UpdateExecutor, UpdateQueue, UpdateQueueSettings,
    UpdateWorker, UpdateWorkerSettings, WorkerGone, WorkerReport,
};
