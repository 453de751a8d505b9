//! A window of ticks as a Chrome trace, which Perfetto and other viewers open.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::output::Output;
use super::{Sink, SinkError};
use crate::clock::nanoseconds;
use crate::report::TickReport;
use crate::summary::Summary;

/// Which ticks a [`ChromeTraceSink`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TraceWindow {
    /// The last so many ticks of the run.
    Last(usize),
    /// Ticks whose wall time is longer than this: the latest of them if they are too many for the
    /// file.
    LongerThan(Duration),
}

/// Writes a window of ticks as a Chrome trace when the run ends; open it at
/// <https://ui.perfetto.dev>.
///
/// Ticks, stages and systems are complete events (`"ph": "X"`), each inside the one it belongs to.
/// Times are in microseconds since the simulation was built, exact to the nanosecond. An event's
/// `args` hold items, bytes, counts and CPU time. The file is kept below 48 MB, since viewers fail
/// on larger ones: of a longer window the oldest ticks are left out, and `otherData` tells how
/// many.
///
/// ```
/// # use voxtick_engine::{ChromeTraceSink, Simulation, TraceWindow};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("trace.json");
/// let trace = ChromeTraceSink::create(&path, TraceWindow::Last(200))?;
/// let mut simulation = Simulation::builder().sink(trace).build()?;
/// simulation.run(1000)?;
/// simulation.finish();
/// let trace: serde_json::Value = serde_json::from_slice(&std::fs::read(&path)?)?;
/// assert_eq!(trace["otherData"]["ticks"], 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChromeTraceSink {
    output: Output,
    window: TraceWindow,
    limit: usize,
    /// The ticks of the window as JSON text, oldest first.
    ticks: VecDeque<String>,
    bytes: usize,
    left_out: u64,
}

/// Size that the events of a file may have.
const LIMIT: usize = 48_000_000;

/// One complete event of the trace format.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    cat: &'static str,
    ph: &'static str,
    pid: u32,
    tid: u32,
    ts: f64,
    dur: f64,
    args: serde_json::Value,
}

impl ChromeTraceSink {
    /// Writes to a file, in place of one that is there. The file is created at once and filled when
    /// the run ends.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: impl AsRef<Path>, window: TraceWindow) -> Result<ChromeTraceSink, SinkError> {
        let output = Output::create(path.as_ref())?;
        Ok(ChromeTraceSink { output, window, limit: LIMIT, ticks: VecDeque::new(), bytes: 0, left_out: 0 })
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.ticks.pop_front() {
            self.bytes -= oldest.len();
        }
    }
}

impl Sink for ChromeTraceSink {
    fn name(&self) -> &str {
        self.output.name()
    }

    fn tick(&mut self, report: &TickReport) -> Result<(), SinkError> {
        if matches!(self.window, TraceWindow::LongerThan(limit) if report.wall <= limit) {
            return Ok(());
        }
        let text = events_of(report).map_err(SinkError::other)?;
        self.bytes += text.len();
        self.ticks.push_back(text);
        if let TraceWindow::Last(count) = self.window {
            while self.ticks.len() > count {
                self.forget_oldest();
            }
        }
        while self.bytes > self.limit {
            self.forget_oldest();
            self.left_out += 1;
        }
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), SinkError> {
        let window = match self.window {
            TraceWindow::Last(count) => format!("the last {count} ticks"),
            TraceWindow::LongerThan(limit) => format!("ticks longer than {limit:?}"),
        };
        let other = json!({
            "producer": concat!("voxtick-engine ", env!("CARGO_PKG_VERSION")),
            "window": window,
            "ticks": self.ticks.len(),
            "ticks_left_out": self.left_out,
            "ticks_run": summary.ticks,
            "threads": summary.threads,
            "seed": summary.seed,
        });
        let ticks = &self.ticks;
        self.output.write(|writer| write_trace(writer, &other, ticks))?;
        self.output.flush()
    }
}

fn write_trace(
    writer: &mut dyn Write,
    other: &serde_json::Value,
    ticks: &VecDeque<String>,
) -> io::Result<()> {
    writeln!(writer, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{other},\"traceEvents\":[")?;
    let named = |kind: &str, name: &str| json!({ "name": kind, "ph": "M", "pid": 1, "tid": 1, "args": { "name": name } });
    let [process, thread] = [named("process_name", "voxtick"), named("thread_name", "tick")];
    write!(writer, "{process},\n{thread}")?;
    for events in ticks {
        write!(writer, ",\n{events}")?;
    }
    writeln!(writer, "\n]}}")
}

/// The events of a tick, as JSON objects with a comma between them: the tick, then each stage and
/// its systems.
fn events_of(report: &TickReport) -> serde_json::Result<String> {
    let mut text = String::new();
    let mut add = |name: &str, cat, start: Duration, length: Duration, args| {
        let [ts, dur] = [start, length].map(|time| nanoseconds(time) as f64 / 1e3);
        let event = Event { name, cat, ph: "X", pid: 1, tid: 1, ts, dur, args };
        if !text.is_empty() {
            text.push_str(",\n");
        }
        text.push_str(&serde_json::to_string(&event)?);
        Ok::<_, serde_json::Error>(())
    };

    let inside = report.wall.saturating_sub(report.recording);
    let [gap, overrun, engine] = [report.gap, report.overrun, report.engine].map(nanoseconds);
    let args = json!({ "tick": report.tick, "gap_ns": gap, "overrun_ns": overrun, "engine_ns": engine });
    add(&format!("tick {}", report.tick), "tick", report.start, inside, args)?;
    for stage in &report.stages {
        let counts: BTreeMap<_, _> = stage.counts.iter().copied().collect();
        let cpu = stage.cpu.map(nanoseconds);
        let args = json!({ "items": stage.items, "bytes": stage.bytes, "cpu_ns": cpu, "counts": counts });
        add(stage.name, "stage", stage.start, stage.wall, args)?;
        for system in stage.systems.iter().filter(|system| system.calls > 0) {
            let args = json!({ "items": system.items, "bytes": system.bytes });
            add(system.name, "system", system.start, system.wall, args)?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_beyond_the_size_limit_keeps_the_latest_ticks_and_tells_of_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        let mut sink = ChromeTraceSink::create(&path, TraceWindow::Last(1_000)).unwrap();
        sink.limit = 2_000;
        let simulation = crate::Simulation::builder().threads(1).build().unwrap();
        for tick in 0..100 {
            sink.tick(&TickReport { tick, ..TickReport::default() }).unwrap();
        }
        sink.finish(&simulation.summary()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.len() < 3_000, "{}", text.len());
        let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let kept = trace["otherData"]["ticks"].as_u64().unwrap();
        assert_eq!(trace["otherData"]["ticks_left_out"].as_u64().unwrap(), 100 - kept);
        assert_eq!(events.last().unwrap()["name"], "tick 99");
        assert_eq!(events.len() as u64, kept + 2);
    }
}
