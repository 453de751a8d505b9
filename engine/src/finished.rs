//! What a run leaves behind.

use std::fmt;

use crate::sinks::SinkOutcome;
use crate::summary::Summary;

/// The end of a run: its figures, and what became of each sink. Prints as the summary's table and a
/// line for each sink.
#[derive(Debug)]
pub struct Finished {
    /// The figures of the run.
    pub summary: Summary,
    /// The sinks, in the order in which they were added.
    pub sinks: Vec<SinkOutcome>,
}

impl Finished {
    /// The sinks that failed: a program should say so and end with an exit code of its own.
    pub fn failed_sinks(&self) -> impl Iterator<Item = &SinkOutcome> + '_ {
        self.sinks.iter().filter(|sink| sink.error.is_some())
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.summary)?;
        self.sinks.iter().try_for_each(|sink| write!(f, "\n{sink}"))
    }
}
