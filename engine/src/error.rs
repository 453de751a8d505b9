//! What can go wrong when a simulation is built and when it ticks.

use std::error::Error;

use thiserror::Error;

/// Why a simulation could not be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two plugins have the same name.
    #[error("plugin `{plugin}` is added twice: add it once, or give the second one a name of its own")]
    DuplicatePlugin {
        /// The name.
        plugin: &'static str,
    },
    /// Two stages have the same name.
    #[error(
        "stage `{stage}` is added by plugin `{first_plugin}` and again by plugin \
         `{second_plugin}`: add systems to the first one, or name the second one differently"
    )]
    DuplicateStage {
        /// The stage's name.
        stage: &'static str,
        /// The plugin that added it first.
        first_plugin: &'static str,
        /// The plugin that added it again.
        second_plugin: &'static str,
    },
    /// A stage is placed before or after one that no plugin adds.
    #[error(
        "stage `{stage}` of plugin `{plugin}` is placed before or after stage `{anchor}`, which \
         does not exist: add the plugin that brings it, or use one of {}",
        quoted(known)
    )]
    UnknownAnchor {
        /// The stage that was to be placed.
        stage: &'static str,
        /// The stage that is missing.
        anchor: &'static str,
        /// The plugin that added `stage`.
        plugin: &'static str,
        /// The stages there are.
        known: Vec<&'static str>,
    },
    /// Stages wait for each other.
    #[error("stages run after each other in a circle: {}: remove one of their anchors", chain(stages))]
    StageCycle {
        /// The stages of the circle, each running after the next one, the last one after the first.
        stages: Vec<&'static str>,
    },
    /// A system is added to a stage that no plugin adds.
    #[error(
        "system `{system}` of plugin `{plugin}` is added to stage `{stage}`, which does not exist: \
         add the plugin that brings it, or use one of {}",
        quoted(known)
    )]
    UnknownStage {
        /// The system.
        system: &'static str,
        /// The stage that is missing.
        stage: &'static str,
        /// The plugin that added the system.
        plugin: &'static str,
        /// The stages there are.
        known: Vec<&'static str>,
    },
    /// A stage's systems could not be made ready, for instance since one borrows the same resource
    /// twice.
    #[error("the systems of stage `{stage}` cannot be made ready: {message}")]
    Stage {
        /// The stage.
        stage: &'static str,
        /// What the ECS had to say.
        message: String,
    },
    /// The number of threads is 0.
    #[error("a simulation needs at least 1 thread, not 0: leave the number out for one a core")]
    NoThreads,
    /// The thread pool could not be started.
    #[error("the pool of {threads} threads could not be started, ask for fewer: {reason}")]
    Pool {
        /// How many threads were asked for.
        threads: usize,
        /// What the pool had to say.
        reason: rayon::ThreadPoolBuildError,
    },
    /// The tick rate is no rate.
    #[error("{ticks_per_second} ticks a second is no tick rate: use a number above 0 and up to 1000000")]
    Rate {
        /// The rate that was asked for.
        ticks_per_second: f64,
    },
    /// The thread of a sink could not be started.
    #[error("the thread of sink `{sink}` could not be started: {reason}")]
    SinkThread {
        /// The sink.
        sink: String,
        /// What the system had to say.
        reason: std::io::Error,
    },
    /// A plugin could not set itself up, for reasons of its own.
    #[error("plugin `{plugin}` cannot be set up: {reason}")]
    Plugin {
        /// The plugin.
        plugin: &'static str,
        /// Its reason.
        reason: Box<dyn Error + Send + Sync>,
    },
}

impl BuildError {
    /// A plugin's own reason for not being able to set itself up.
    pub fn plugin(plugin: &'static str, reason: impl Into<Box<dyn Error + Send + Sync>>) -> BuildError {
        BuildError::Plugin { plugin, reason: reason.into() }
    }
}

/// Why a tick could not be finished. The simulation refuses further ticks; its sinks can still be
/// flushed by [`Simulation::finish`](crate::Simulation::finish).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TickError {
    /// A system panicked.
    #[error("tick {tick}: system `{system}` of stage `{stage}` panicked: {message}")]
    Panicked {
        /// The tick's number.
        tick: u64,
        /// The stage.
        stage: &'static str,
        /// The system, or the last one that ran, if applying its commands panicked.
        system: &'static str,
        /// The panic's message.
        message: String,
    },
    /// A system could not be run, for instance since a resource is missing.
    #[error("tick {tick}: system `{system}` of stage `{stage}` could not be run: {message}")]
    SystemFailed {
        /// The tick's number.
        tick: u64,
        /// The stage.
        stage: &'static str,
        /// The system.
        system: &'static str,
        /// What the ECS had to say.
        message: String,
    },
    /// A plugin's contribution to the state hash panicked.
    #[error("tick {tick}: the state hash of plugin `{plugin}` panicked: {message}")]
    HashPanicked {
        /// The tick's number.
        tick: u64,
        /// The plugin.
        plugin: &'static str,
        /// The panic's message.
        message: String,
    },
    /// An earlier tick failed, so that the state cannot be trusted any more.
    #[error("tick {tick} failed, so that the simulation cannot go on: finish it and build a new one")]
    AfterFailure {
        /// The number of the tick that failed.
        tick: u64,
    },
}

/// The message of a panic that was caught.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "(the panic carries no message)".to_owned())
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn chain(stages: &[&str]) -> String {
    let round: Vec<_> = stages.iter().chain(stages.first()).map(|stage| format!("`{stage}`")).collect();
    round.join(" after ")
}
