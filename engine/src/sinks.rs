//! Sinks: where reports go.
//!
//! Every sink has a thread of its own and gets the reports through a bounded hand-off, so that a
//! slow disk never delays a tick. What a sink could not keep up with is counted and told at the
//! end.

mod chrome_trace;
mod csv;
mod handoff;
mod html_report;
mod json_lines;
mod output;
mod summary_files;

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

pub use self::chrome_trace::{ChromeTraceSink, TraceWindow};
pub use self::csv::CsvSink;
pub(crate) use self::handoff::{SinkThread, WAITING_REPORTS};
pub use self::html_report::HtmlReportSink;
pub use self::json_lines::{JSON_LINES_SCHEMA, JsonLinesSink};
pub use self::summary_files::SummarySink;
use crate::report::TickReport;
use crate::summary::Summary;

/// A place where reports go: a file, a pipe, a display.
///
/// A sink runs on a thread of its own. After its first error it is not called again; the run goes
/// on, and the error stands in its [`SinkOutcome`].
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// use voxtick_engine::{Simulation, Sink, SinkError, Summary, TickReport};
///
/// struct SlowTicks(Arc<AtomicU64>);
///
/// impl Sink for SlowTicks {
///     fn name(&self) -> &str {
///         "slow ticks"
///     }
///     fn tick(&mut self, report: &TickReport) -> Result<(), SinkError> {
///         self.0.fetch_add(u64::from(report.wall.as_millis() > 50), Ordering::Relaxed);
///         Ok(())
///     }
///     fn finish(&mut self, _: &Summary) -> Result<(), SinkError> {
///         Ok(())
///     }
/// }
///
/// let slow = Arc::new(AtomicU64::new(0));
/// let mut simulation = Simulation::builder().sink(SlowTicks(slow.clone())).build()?;
/// simulation.run(20)?;
/// let finished = simulation.finish();
/// assert_eq!(finished.sinks[0].written, 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Sink: Send {
    /// The sink's name, for messages: what it is and where it writes.
    fn name(&self) -> &str;

    /// Takes the report of a tick. Reports come in the order of their ticks; some may be missing if
    /// the sink is too slow.
    ///
    /// # Errors
    /// The report could not be written; the sink is not called again.
    fn tick(&mut self, report: &TickReport) -> Result<(), SinkError>;

    /// Takes the summary at the end of the run and brings everything to its place.
    ///
    /// # Errors
    /// Something could not be written.
    fn finish(&mut self, summary: &Summary) -> Result<(), SinkError>;
}

/// Why a sink could not be opened or written to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SinkError {
    /// A file could not be created.
    #[error(
        "{} cannot be created, check that its folder exists and may be written to: {reason}",
        path.display()
    )]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system had to say.
        reason: std::io::Error,
    },
    /// A file or pipe could not be written to: the disk is full, the reader has gone.
    #[error("{target} cannot be written to, what it holds ends early: {reason}")]
    Write {
        /// The file or pipe.
        target: String,
        /// What the system had to say.
        reason: std::io::Error,
    },
    /// The sink panicked.
    #[error("the sink panicked: {message}")]
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// A reason of the sink's own.
    #[error("{0}")]
    Other(Box<dyn Error + Send + Sync>),
}

impl SinkError {
    /// A sink's own reason for not being able to go on.
    pub fn other(reason: impl Into<Box<dyn Error + Send + Sync>>) -> SinkError {
        SinkError::Other(reason.into())
    }
}

/// How a sink is doing while the simulation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkState<'a> {
    /// The sink's name.
    pub name: &'a str,
    /// How many reports it did not get so far, since it was too slow.
    pub dropped: u64,
    /// Whether it has failed; why is told at the end.
    pub has_failed: bool,
}

/// What became of a sink.
#[derive(Debug)]
pub struct SinkOutcome {
    /// The sink's name.
    pub name: String,
    /// How many reports it took.
    pub written: u64,
    /// How many reports it did not get, since it was too slow or had failed.
    pub dropped: u64,
    /// Why it failed, if it did.
    pub error: Option<SinkError>,
}

impl fmt::Display for SinkOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} reports written", self.name, self.written)?;
        if self.dropped > 0 {
            write!(f, ", {} dropped", self.dropped)?;
        }
        match &self.error {
            Some(error) => write!(f, "; failed: {error}"),
            None => Ok(()),
        }
    }
}
