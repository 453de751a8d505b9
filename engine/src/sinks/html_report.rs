//! A run as one page for people: the course of its ticks, what each stage cost, the worst ticks.

mod chart;
mod course;

use std::path::Path;
use std::time::Duration;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use self::chart::{Bands, stacked_bar};
use self::course::Course;
use super::output::Output;
use super::{Sink, SinkError};
use crate::report::TickReport;
use crate::summary::{HEADER, Percentiles, StageSummary, Summary, figures, grouped, per_cent, time};

/// Writes one HTML page when the run ends, to be opened in any browser and passed on as it is: it
/// asks for no other file and holds no script.
///
/// The page draws the course of the run, stage upon stage, with the longest gap between ticks below
/// it; lists what each stage and each of its systems cost; and shows the worst ticks, each with its
/// own stages and counts, since a mean hides them. A run of any length is drawn in at most 600
/// columns, each of them the worst tick of those it stands for, so the sink takes the same memory
/// for an hour as for a minute.
///
/// ```
/// # use voxtick_engine::{HtmlReportSink, Simulation};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("report.html");
/// let mut simulation = Simulation::builder().sink(HtmlReportSink::create(&path, "an empty run")?).build()?;
/// simulation.run(100)?;
/// simulation.finish();
/// assert!(std::fs::read_to_string(&path)?.contains("<h1>an empty run</h1>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HtmlReportSink {
    output: Output,
    title: String,
    course: Course,
}

impl HtmlReportSink {
    /// Writes to a file, in place of one that is there. The file is created at once and filled when
    /// the run ends. `title` stands at the head of the page: say what ran.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: impl AsRef<Path>, title: impl Into<String>) -> Result<HtmlReportSink, SinkError> {
        let output = Output::create(path.as_ref())?;
        Ok(HtmlReportSink { output, title: title.into(), course: Course::default() })
    }
}

impl Sink for HtmlReportSink {
    fn name(&self) -> &str {
        self.output.name()
    }

    fn tick(&mut self, report: &TickReport) -> Result<(), SinkError> {
        self.course.take(report);
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), SinkError> {
        let page = page(&self.title, &self.course, summary).into_string();
        self.output.write(|writer| writer.write_all(page.as_bytes()))?;
        self.output.flush()
    }
}

fn page(title: &str, course: &Course, summary: &Summary) -> Markup {
    let names: Vec<&str> =
        summary.stages.iter().map(|stage| stage.name).chain(std::iter::once("engine")).collect();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · voxtick" }
                style { (PreEscaped(include_str!("html_report/page.css"))) }
            }
            body {
                h1 { (title) }
                (conditions(summary))
                (headline(summary))
                h2 { "Course of the run" }
                p.note { (course.explanation()) }
                p.legend {
                    @for (place, name) in names.iter().enumerate() {
                        span { i class={ "key s" (place % HUES) } {} (name) }
                    }
                }
                (chart::ticks(course, summary))
                (chart::gaps(course, summary))
                h2 { "Stages" }
                (stages(summary))
                h2 { "Worst ticks" }
                (worst(summary))
            }
        }
    }
}

/// How many hues the page has; more stages than that begin again with the first.
const HUES: usize = 8;

fn conditions(summary: &Summary) -> Markup {
    let build = if cfg!(debug_assertions) { "with debug assertions" } else { "release build" };
    html! {
        p.note {
            "voxtick " (env!("CARGO_PKG_VERSION")) ", " (build) ", "
            (std::env::consts::OS) " on " (std::env::consts::ARCH)
            @if let Some(processor) = processor() { " (" (processor) ")" }
            "; " (summary.threads) @if summary.threads == 1 { " thread" } @else { " threads" }
            ", seed " (summary.seed)
            @if let Some(hash) = summary.hash { ", state hash " code { (format!("{hash:016x}")) } }
        }
    }
}

/// The processor's name, where the system has a file that tells.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn headline(summary: &Summary) -> Markup {
    let figure = |value: String, what: &str| html! { div { b { (value) } span { (what) } } };
    html! {
        div.headline {
            (figure(grouped(summary.ticks), "ticks"))
            (figure(format!("{:.1}", summary.ticks_per_second), "a second"))
            (figure(time(summary.wall.median), "median tick"))
            (figure(time(summary.wall.p99), "99 % of ticks within"))
            (figure(time(summary.wall.max), "worst tick"))
            (figure(time(summary.tick_length), "budget of a tick"))
            (figure(grouped(summary.overrun_ticks), "gaps more than 1 % over it"))
        }
    }
}

fn stages(summary: &Summary) -> Markup {
    let times = |wall: &Percentiles| {
        html! { @for part in [wall.min, wall.median, wall.p95, wall.p99, wall.max] { td { (time(part)) } } }
    };
    let ticks = summary.ticks.max(1) as f64;
    html! {
        table {
            thead {
                tr {
                    @for head in HEADER { th { (head) } }
                    th { "of the tick" }
                }
            }
            @for (place, stage) in summary.stages.iter().enumerate() {
                tbody {
                    tr {
                        th { i class={ "key s" (place % HUES) } {} (stage.name) }
                        (times(&stage.wall))
                        @for figure in figures(stage, summary.ticks) { td { (figure.unwrap_or_default()) } }
                        (share(stage.tick_share, place))
                    }
                    tr.inner { td colspan="11" { (inside(stage, ticks)) } }
                }
            }
            tbody {
                tr {
                    th { i class={ "key s" (summary.stages.len() % HUES) } {} "engine" }
                    (times(&summary.engine.wall))
                    td {} td {} td {}
                    td { (per_cent(summary.engine.budget_share)) }
                    (share(summary.engine.tick_share, summary.stages.len()))
                }
                tr.sum { th { "tick" } (times(&summary.wall)) td {} td {} td {} td {} td {} }
            }
        }
    }
}

fn share(part: f64, place: usize) -> Markup {
    html! {
        td.share { span class={ "s" (place % HUES) } style=(format!("width:{:.1}%", part * 100.0)) {} (per_cent(part)) }
    }
}

/// The systems and counts of a stage, folded away.
fn inside(stage: &StageSummary, ticks: f64) -> Markup {
    html! {
        details {
            summary { (stage.systems.len()) " systems, " (stage.counts.len()) " counts" }
            table {
                thead { tr { @for head in ["system", "mean", "max", "runs", "items", "bytes"] { th { (head) } } } }
                @for system in &stage.systems {
                    tr {
                        th { (system.name) }
                        td { (time(system.total.div_f64(system.calls.max(1) as f64))) }
                        td { (time(system.max)) }
                        td { (grouped(system.calls)) }
                        td { (grouped(system.items)) }
                        td { (grouped(system.bytes)) }
                    }
                }
            }
            @if !stage.counts.is_empty() {
                table {
                    thead { tr { @for head in ["count", "in all", "a tick"] { th { (head) } } } }
                    @for (name, count) in &stage.counts {
                        tr {
                            th { (name) }
                            td { (grouped(*count)) }
                            td { (format!("{:.1}", *count as f64 / ticks)) }
                        }
                    }
                }
            }
        }
    }
}

fn worst(summary: &Summary) -> Markup {
    let longest = summary.worst.first().map_or(Duration::ZERO, |report| report.wall);
    html! {
        table {
            thead { tr { @for head in ["tick", "wall", "gap before it", ""] { th { (head) } } } }
            @for report in &summary.worst {
                tbody {
                    tr {
                        th { (grouped(report.tick)) }
                        td { (time(report.wall)) }
                        td { (time(report.gap)) }
                        td.wide { (stacked_bar(&Bands::of(report), longest)) }
                    }
                    tr.inner { td colspan="4" { (whole(report)) } }
                }
            }
        }
    }
}

/// A tick whole, folded away.
fn whole(report: &TickReport) -> Markup {
    html! {
        details {
            summary {
                @for stage in &report.stages { (stage.name) " " (time(stage.wall)) ", " }
                "engine " (time(report.engine))
            }
            table {
                thead { tr { @for head in ["stage", "wall", "cpu", "items", "bytes", "counts", "systems"] { th { (head) } } } }
                @for stage in &report.stages {
                    tr {
                        th { (stage.name) }
                        td { (time(stage.wall)) }
                        td { @if let Some(cpu) = stage.cpu { (time(cpu)) } }
                        td { (grouped(stage.items)) }
                        td { (grouped(stage.bytes)) }
                        td.text { @for (name, count) in &stage.counts { (name) " " (grouped(*count)) br; } }
                        td.text {
                            @for system in stage.systems.iter().filter(|system| system.calls > 0) {
                                (system.name) " " (time(system.wall)) br;
                            }
                        }
                    }
                }
            }
        }
    }
}
