//! Reports as comma-separated values.

use std::io::{self, Write};
use std::path::Path;

use super::output::Output;
use super::{Sink, SinkError};
use crate::clock::nanoseconds;
use crate::report::TickReport;
use crate::summary::Summary;

/// Writes one row a tick, for spreadsheets and data frames; the first row names the columns.
///
/// The columns are `tick`, `wall_ns`, `gap_ns`, `overrun_ns`, `missed`, `engine_ns`, `hash` (16
/// hexadecimal digits, or empty), and for each stage `<stage>_wall_ns`, `<stage>_cpu_ns` (empty
/// where the system does not tell), `<stage>_items`, `<stage>_bytes` and `<stage>_calls`. Systems
/// and counts are left to [`JsonLinesSink`]. Without a tick the file stays empty.
///
/// [`JsonLinesSink`]: crate::JsonLinesSink
pub struct CsvSink {
    output: Output,
    has_header: bool,
}

impl CsvSink {
    /// Writes to a file, in place of one that is there.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<CsvSink, SinkError> {
        Ok(CsvSink { output: Output::create(path.as_ref())?, has_header: false })
    }

    /// Writes to anything. The name appears in messages.
    pub fn new(name: impl Into<String>, writer: impl Write + Send + 'static) -> CsvSink {
        CsvSink { output: Output::new(name.into(), writer), has_header: false }
    }
}

impl Sink for CsvSink {
    fn name(&self) -> &str {
        self.output.name()
    }

    fn tick(&mut self, report: &TickReport) -> Result<(), SinkError> {
        if !std::mem::replace(&mut self.has_header, true) {
            self.output.write(|writer| header(writer, report))?;
        }
        self.output.write(|writer| row(writer, report))
    }

    fn finish(&mut self, _: &Summary) -> Result<(), SinkError> {
        self.output.flush()
    }
}

fn header(writer: &mut dyn Write, report: &TickReport) -> io::Result<()> {
    write!(writer, "tick,wall_ns,gap_ns,overrun_ns,missed,engine_ns,hash")?;
    for stage in &report.stages {
        for figure in ["wall_ns", "cpu_ns", "items", "bytes", "calls"] {
            write!(writer, ",{}", field(&format!("{}_{figure}", stage.name)))?;
        }
    }
    writeln!(writer)
}

fn row(writer: &mut dyn Write, report: &TickReport) -> io::Result<()> {
    let TickReport { tick, missed, .. } = report;
    let [wall, gap, overrun, engine] =
        [report.wall, report.gap, report.overrun, report.engine].map(nanoseconds);
    write!(writer, "{tick},{wall},{gap},{overrun},{missed},{engine},")?;
    if let Some(hash) = report.hash {
        write!(writer, "{hash:016x}")?;
    }
    for stage in &report.stages {
        write!(writer, ",{},", nanoseconds(stage.wall))?;
        if let Some(cpu) = stage.cpu {
            write!(writer, "{}", nanoseconds(cpu))?;
        }
        write!(writer, ",{},{},{}", stage.items, stage.bytes, stage.calls)?;
    }
    writeln!(writer)
}

/// A field by the rules of RFC 4180: quoted if it has to be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_split_a_row_are_quoted() {
        assert_eq!(field("light_items"), "light_items");
        assert_eq!(field("a,\"b\"_items"), "\"a,\"\"b\"\"_items\"");
    }
}
