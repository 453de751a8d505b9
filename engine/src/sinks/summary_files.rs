//! The summary of a run as files: the table for people, the JSON for programs.

use std::path::Path;

use super::output::Output;
use super::{Sink, SinkError};
use crate::report::TickReport;
use crate::summary::Summary;

/// Writes the [`Summary`] at the end of the run: as JSON, as a table, or both.
///
/// The files are created at once, so that a path that cannot be written to is known before the run.
pub struct SummarySink {
    name: String,
    json: Option<Output>,
    table: Option<Output>,
}

impl SummarySink {
    /// Writes nothing yet: name at least one file.
    pub fn new() -> SummarySink {
        SummarySink { name: "summary".to_owned(), json: None, table: None }
    }

    /// Writes the JSON object to a file, in place of one that is there.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn json(mut self, path: impl AsRef<Path>) -> Result<SummarySink, SinkError> {
        self.json = Some(self.open(path.as_ref())?);
        Ok(self)
    }

    /// Writes the table to a file, in place of one that is there.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn table(mut self, path: impl AsRef<Path>) -> Result<SummarySink, SinkError> {
        self.table = Some(self.open(path.as_ref())?);
        Ok(self)
    }

    fn open(&mut self, path: &Path) -> Result<Output, SinkError> {
        let output = Output::create(path)?;
        self.name.push(' ');
        self.name.push_str(output.name());
        Ok(output)
    }
}

impl Default for SummarySink {
    fn default() -> Self {
        SummarySink::new()
    }
}

impl Sink for SummarySink {
    fn name(&self) -> &str {
        &self.name
    }

    fn tick(&mut self, _: &TickReport) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), SinkError> {
        if let Some(output) = &mut self.json {
            output.write(|writer| {
                serde_json::to_writer_pretty(&mut *writer, summary)?;
                writer.write_all(b"\n")
            })?;
            output.flush()?;
        }
        if let Some(output) = &mut self.table {
            output.write(|writer| writeln!(writer, "{summary}"))?;
            output.flush()?;
        }
        Ok(())
    }
}
