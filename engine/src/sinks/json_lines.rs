//! Reports as JSON Lines.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::output::Output;
use super::{Sink, SinkError};
use crate::report::TickReport;
use crate::summary::Summary;

/// The version of the lines that [`JsonLinesSink`] writes; raised when a field changes its meaning
/// or goes. New fields may come without a new version.
pub const JSON_LINES_SCHEMA: u32 = 1;

/// Writes one JSON object a line: a header, then one for each tick, then the summary.
///
/// Every object has a `kind`. Times are whole nanoseconds in fields ending in `_ns`; hashes are 16
/// hexadecimal digits.
///
/// | kind | fields |
/// |---|---|
/// | `header` | `schema` ([`JSON_LINES_SCHEMA`]), `producer` |
/// | `tick` | the fields of [`TickReport`]: `tick`, `start_ns`, `wall_ns`, `gap_ns`, `overrun_ns`, `missed`, `engine_ns`, `recording_ns`, `hashing_ns`, `hash` (or null), `hashes` (object by plugin), `stages` |
/// | `summary` | the fields of [`Summary`] |
///
/// An entry of `stages` has `name`, `start_ns`, `wall_ns`, `cpu_ns` (or null), `items`, `bytes`,
/// `calls`, `counts` (object by name) and `systems`; an entry of those has `name`, `start_ns`,
/// `wall_ns`, `items`, `bytes` and `calls`. A file without a `summary` line ended early. Lines
/// reach the file within about a second.
///
/// ```
/// # use voxtick_engine::{JsonLinesSink, Simulation};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("ticks.jsonl");
/// let mut simulation = Simulation::builder().sink(JsonLinesSink::create(&path)?).build()?;
/// simulation.run(3)?;
/// simulation.finish();
/// let text = std::fs::read_to_string(&path)?;
/// let kinds: Vec<_> = text
///     .lines()
///     .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].clone())
///     .collect();
/// assert_eq!(kinds, ["header", "tick", "tick", "tick", "summary"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JsonLinesSink {
    output: Output,
    has_header: bool,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line<'a> {
    Header { schema: u32, producer: &'static str },
    Tick(&'a TickReport),
    Summary(&'a Summary),
}

impl JsonLinesSink {
    /// Writes to a file, in place of one that is there.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<JsonLinesSink, SinkError> {
        Output::create(path.as_ref()).map(JsonLinesSink::to)
    }

    /// Writes to anything, such as the standard output. The name appears in messages.
    pub fn new(name: impl Into<String>, writer: impl Write + Send + 'static) -> JsonLinesSink {
        JsonLinesSink::to(Output::new(name.into(), writer))
    }

    fn to(output: Output) -> JsonLinesSink {
        JsonLinesSink { output, has_header: false }
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), SinkError> {
        self.output.write(|writer| {
            serde_json::to_writer(&mut *writer, line)?;
            writer.write_all(b"\n")
        })
    }

    fn header(&mut self) -> Result<(), SinkError> {
        if std::mem::replace(&mut self.has_header, true) {
            return Ok(());
        }
        let producer = concat!("voxtick-engine ", env!("CARGO_PKG_VERSION"));
        self.line(&Line::Header { schema: JSON_LINES_SCHEMA, producer })
    }
}

impl Sink for JsonLinesSink {
    fn name(&self) -> &str {
        self.output.name()
    }

    fn tick(&mut self, report: &TickReport) -> Result<(), SinkError> {
        self.header()?;
        self.line(&Line::Tick(report))
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), SinkError> {
        self.header()?;
        self.line(&Line::Summary(summary))?;
        self.output.flush()
    }
}
