//! `voxtick run`: builds the world of a scenario, lets it tick, and reports.

mod interrupt;
mod load;
mod save;
mod scenario;
mod workload;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use voxtick::anvil::Save;
use voxtick::bodies::BodiesPlugin;
use voxtick::engine::{
    ChromeTraceSink, CsvSink, Finished, HtmlReportSink, JsonLinesSink, MissedTicks, Pool, Rate, Simulation,
    SimulationBuilder, SinkError, SummarySink, TraceWindow,
};
use voxtick::light::LightPlugin;
use voxtick::worlds::{BlockStates, WorldsPlugin};

use crate::arguments::RunArguments;
use crate::outcome::{Failure, Outcome, complain};
use crate::progress::RunProgress;
use scenario::Scenario;
use workload::Workload;

/// Ticks in `trace.json`.
const TRACED_TICKS: usize = 600;

/// Runs `voxtick run`.
pub(crate) fn run(arguments: &RunArguments) -> Result<Outcome, Failure> {
    let scenario = settle(arguments)?;
    let stop = interrupt::stop_flag().map_err(Failure::simulation)?;
    let threads = arguments
        .threads
        .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let pool = Pool::with_threads(threads).map_err(Failure::simulation)?;
    let (world, loaded_from) =
        pool.install(|| load::world(&scenario, BlockStates::load(), arguments.quiet))?;
    let storage = match &loaded_from {
        Some(save) => Some(save::storage(save, arguments.save)?),
        None => None,
    };
    let target = loaded_from.filter(|_| arguments.save);
    // Kept until the end of the run.
    let _lock = target.as_ref().map(Save::lock_session).transpose().map_err(Failure::usage)?;
    drop(pool);

    let workload = Workload::prepare(&scenario, &world).map_err(Failure::usage)?;
    let transit = workload::transit(&scenario, &world).map_err(Failure::usage)?;
    let mut builder = Simulation::builder()
        .threads(threads)
        .rate(match scenario.rate {
            scenario::Rate::Sprint => Rate::Sprint,
            scenario::Rate::PerSecond(ticks_per_second) => {
                Rate::Fixed { ticks_per_second, missed: MissedTicks::default() }
            }
        })
        .seed(scenario.seed)
        .hash(arguments.hash)
        .stop_flag(stop.clone())
        .plugin(WorldsPlugin::new(world))
        .plugin(transit)
        .plugin(BodiesPlugin::default())
        .plugin(LightPlugin::new())
        .plugin(workload);
    if let Some(storage) = storage {
        builder = builder.plugin(storage);
    }
    let mut simulation = with_sinks(builder, &scenario, arguments)?.build().map_err(Failure::simulation)?;
    save::put_back(&mut simulation);

    let mut progress = RunProgress::new(scenario.ticks, arguments.quiet);
    let mut failed = None;
    while simulation.history().ticks_run() < scenario.ticks
        && !stop.load(std::sync::atomic::Ordering::Relaxed)
    {
        match simulation.run(1) {
            Ok(_) => progress.tick(simulation.history().ticks_run(), || pace(&simulation)),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    progress.finish();
    let interrupted = simulation.history().ticks_run() < scenario.ticks && failed.is_none();
    let saved = match &failed {
        Some(_) if arguments.save => Err("what has changed since the last turns is not saved".to_owned()),
        None if arguments.save => save::save_all(&mut simulation, arguments.quiet),
        _ => Ok(()),
    };
    let finished = simulation.finish();
    let printed = print(&finished, arguments);
    for sink in finished.failed_sinks() {
        complain(&sink.to_string());
    }
    if let Err(lost) = &saved {
        complain(lost);
    }
    match failed {
        Some(error) => Err(Failure::simulation(error)),
        None if saved.is_err() => Ok(Outcome::OutputLost),
        None if interrupted => Ok(Outcome::Interrupted),
        None if printed.is_err() || finished.failed_sinks().next().is_some() => Ok(Outcome::OutputLost),
        None => Ok(Outcome::Success),
    }
}

/// The scenario with what the command line says over it.
fn settle(arguments: &RunArguments) -> Result<Scenario, Failure> {
    let mut scenario = Scenario::find(&arguments.scenario).map_err(Failure::usage)?;
    scenario.ticks = arguments.ticks.unwrap_or(scenario.ticks);
    scenario.seed = arguments.seed.unwrap_or(scenario.seed);
    if let Some(rate) = &arguments.rate {
        scenario.rate =
            scenario::Rate::parse(rate).map_err(|error| Failure::usage(format!("--rate: {error}")))?;
    }
    if let Some(world) = &arguments.world {
        scenario.world.path = Some(world.clone());
    }
    if scenario.world.needs_path && scenario.world.path.is_none() {
        return Err(Failure::usage(format!(
            "scenario `{}` runs in a world of yours: give it one with --world PATH",
            scenario.name
        )));
    }
    if arguments.save && scenario.world.path.is_none() {
        return Err(Failure::usage(
            "--save writes back to the world of a run: give it one with --world PATH",
        ));
    }
    Ok(scenario)
}

/// Adds the files that a run leaves behind.
fn with_sinks(
    builder: SimulationBuilder,
    scenario: &Scenario,
    arguments: &RunArguments,
) -> Result<SimulationBuilder, Failure> {
    let out: &Path = &arguments.out;
    fs::create_dir_all(out).map_err(|error| {
        Failure::usage(format!(
            "{}: the folder for the reports cannot be made: {error}; choose another with --out",
            out.display()
        ))
    })?;
    let title = match &scenario.world.path {
        Some(path) => format!("{} in {}", scenario.name, path.display()),
        None => scenario.name.clone(),
    };
    let build = || -> Result<SimulationBuilder, SinkError> {
        let builder = builder
            .sink(JsonLinesSink::create(out.join("ticks.jsonl"))?)
            .sink(CsvSink::create(out.join("ticks.csv"))?)
            .sink(HtmlReportSink::create(out.join("report.html"), title)?)
            .sink(SummarySink::new().json(out.join("summary.json"))?.table(out.join("summary.txt"))?);
        if !arguments.trace {
            return Ok(builder);
        }
        Ok(builder.sink(ChromeTraceSink::create(out.join("trace.json"), TraceWindow::Last(TRACED_TICKS))?))
    };
    build().map_err(Failure::usage)
}

/// What the progress bar says of the last ticks.
fn pace(simulation: &Simulation) -> String {
    const TICKS: usize = 100;
    let history = simulation.history();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    match (history.recent(TICKS), history.recent_ticks_per_second(TICKS)) {
        (Some(wall), Some(rate)) => format!(
            "{rate:.1} ticks/s, median {:.2} ms, worst {:.2} ms",
            milliseconds(wall.median),
            milliseconds(wall.max)
        ),
        _ => String::new(),
    }
}

fn print(finished: &Finished, arguments: &RunArguments) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer(&mut out, &finished.summary)?;
        writeln!(out)
    } else if arguments.quiet {
        Ok(())
    } else {
        writeln!(out, "{finished}")?;
        writeln!(out, "reports: {}", arguments.out.join("report.html").display())
    }
}
