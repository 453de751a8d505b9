//! What the sinks write, and what a sink that cannot write leaves behind.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc;

use bevy_ecs::prelude::*;
use serde_json::Value;
use voxtick_engine::{
    CsvSink, HtmlReportSink, JSON_LINES_SCHEMA, JsonLinesSink, Meter, SUMMARY_SCHEMA, Simulation,
    SimulationBuilder, Sink, SinkError, Stage, Summary, SummarySink, TickReport,
};

use crate::common::plugin;

fn work(meter: Res<Meter>) {
    meter.items(10);
    meter.bytes(80);
    meter.count("moved", 4);
}

fn builder() -> SimulationBuilder {
    Simulation::builder().threads(1).seed(11).hash(true).plugin(plugin("work", |setup| {
        setup
            .stage(Stage::new("work"))
            .system("work", work)
            .hash(|world, hasher| hasher.write_u64(world.resource::<voxtick_engine::Tick>().0));
    }))
}

fn run(builder: SimulationBuilder, ticks: u64) -> voxtick_engine::Finished {
    let mut simulation = builder.build().unwrap();
    simulation.run(ticks).unwrap();
    simulation.finish()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn json_lines_hold_a_header_every_tick_and_the_summary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ticks.jsonl");
    let finished = run(builder().sink(JsonLinesSink::create(&path).unwrap()), 25);
    assert_eq!((finished.sinks[0].written, finished.sinks[0].dropped), (25, 0));
    let lines: Vec<Value> = read(&path).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 27);
    assert_eq!((&lines[0]["kind"], &lines[0]["schema"]), (&"header".into(), &JSON_LINES_SCHEMA.into()));

    let tick = &lines[8];
    assert_eq!((&tick["kind"], &tick["tick"]), (&"tick".into(), &7.into()));
    let keys: Vec<_> = tick.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "kind",
        "tick",
        "start_ns",
        "wall_ns",
        "gap_ns",
        "overrun_ns",
        "missed",
        "engine_ns",
        "recording_ns",
        "hashing_ns",
        "hash",
        "hashes",
        "stages",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(tick["hash"].as_str().unwrap().len(), 16);
    assert_eq!(tick["hashes"]["work"].as_str().unwrap().len(), 16);
    let stage = &tick["stages"][0];
    assert_eq!((&stage["name"], &stage["items"], &stage["bytes"]), (&"work".into(), &10.into(), &80.into()));
    assert_eq!(stage["counts"], serde_json::json!({ "moved": 4 }));
    assert_eq!(stage["systems"][0]["name"], "work");
    let parts = stage["wall_ns"].as_u64().unwrap() + tick["engine_ns"].as_u64().unwrap();
    assert_eq!(parts, tick["wall_ns"].as_u64().unwrap());

    assert_eq!((&lines[26]["kind"], &lines[26]["ticks"]), (&"summary".into(), &25.into()));
}

#[test]
fn a_run_without_ticks_still_leaves_well_formed_files() {
    let folder = tempfile::tempdir().unwrap();
    let [lines, table] = ["ticks.jsonl", "ticks.csv"].map(|name| folder.path().join(name));
    let finished =
        run(builder().sink(JsonLinesSink::create(&lines).unwrap()).sink(CsvSink::create(&table).unwrap()), 0);
    assert_eq!(finished.failed_sinks().count(), 0);
    assert_eq!(read(&lines).lines().count(), 2);
    assert_eq!(read(&table), "");
    assert_eq!(finished.summary.wall.count, 0);
}

#[test]
fn csv_rows_have_the_columns_of_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ticks.csv");
    run(builder().sink(CsvSink::create(&path).unwrap()), 5);
    let text = read(&path);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 6);
    assert_eq!(
        rows[0],
        [
            "tick",
            "wall_ns",
            "gap_ns",
            "overrun_ns",
            "missed",
            "engine_ns",
            "hash",
            "work_wall_ns",
            "work_cpu_ns",
            "work_items",
            "work_bytes",
            "work_calls"
        ]
    );
    for (tick, row) in rows[1..].iter().enumerate() {
        assert_eq!(row.len(), rows[0].len());
        assert_eq!((row[0], row[9], row[10], row[11]), (tick.to_string().as_str(), "10", "80", "1"));
        assert!(row[1].parse::<u64>().unwrap() > 0);
    }
}

#[test]
fn the_summary_comes_as_table_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let [json, table] = ["summary.json", "summary.txt"].map(|name| folder.path().join(name));
    let sink = SummarySink::new().json(&json).unwrap().table(&table).unwrap();
    let finished = run(builder().sink(sink), 12);
    let value: Value = serde_json::from_str(&read(&json)).unwrap();
    assert_eq!(
        (&value["schema"], &value["ticks"], &value["seed"]),
        (&SUMMARY_SCHEMA.into(), &12.into(), &11.into())
    );
    assert_eq!(value["stages"][0]["items"], 120);
    assert_eq!(value["worst"].as_array().unwrap().len(), 10);
    assert_eq!(value["hash"].as_str().unwrap(), format!("{:016x}", finished.summary.hash.unwrap()));
    let table = read(&table);
    for word in ["stage", "median", "p95", "p99", "work", "engine", "tick", "ns/item", "budget", "12 ticks"] {
        assert!(table.contains(word), "{word} is missing in\n{table}");
    }
    assert_eq!(table.trim_end(), finished.summary.to_string());
}

/// A writer whose reader has gone, or whose disk is full, after some bytes.
struct Failing {
    room: usize,
    kind: io::ErrorKind,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(self.kind.into());
        }
        let taken = bytes.len().min(self.room);
        self.room -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_or_a_closed_pipe_ends_the_sink_and_not_the_run() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::BrokenPipe] {
        let folder = tempfile::tempdir().unwrap();
        let healthy = folder.path().join("ticks.csv");
        let finished = run(
            builder()
                .sink(JsonLinesSink::new("standard output", Failing { room: 1_000, kind }))
                .sink(CsvSink::create(&healthy).unwrap()),
            40,
        );
        assert_eq!(finished.summary.ticks, 40);
        let failed: Vec<_> = finished.failed_sinks().collect();
        assert_eq!(failed.len(), 1);
        match failed[0].error.as_ref().unwrap() {
            SinkError::Write { target, reason } => {
                assert_eq!((target.as_str(), reason.kind()), ("standard output", kind));
            }
            other => panic!("{other}"),
        }
        assert!(finished.to_string().contains("standard output cannot be written to"));
        assert_eq!(read(&healthy).lines().count(), 41);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_without_room_is_told_by_its_path() {
    let finished = run(builder().sink(JsonLinesSink::create("/dev/full").unwrap()), 3);
    let error = finished.failed_sinks().next().unwrap().to_string();
    assert!(error.contains("/dev/full cannot be written to"), "{error}");
}

#[test]
fn a_path_that_cannot_be_created_is_told_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("ticks.csv");
    let error = CsvSink::create(&path).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{} cannot be created", path.display())), "{error}");
}

#[test]
fn the_page_of_a_run_of_any_length_stands_alone_and_stays_small() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    for ticks in [0, 1, 300, 1_000] {
        let sink = HtmlReportSink::create(&path, "<script>alert(1)</script> & more").unwrap();
        let finished = run(builder().sink(sink), ticks);
        assert_eq!(finished.sinks[0].written, ticks);
        let page = read(&path);
        assert!(page.contains("<h1>&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</h1>"), "{ticks}");
        assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("http"), "{ticks}");
        // A column a tick up to 600 ticks, then the worst of 2 in each.
        let columns = page.matches("class=\"hover\"").count() as u64;
        assert_eq!(columns, if ticks <= 600 { ticks } else { ticks / 2 });
        assert_eq!(page.contains("worst of 2 ticks"), ticks == 1_000);
        // The stage's own figures and the worst ticks are there to unfold.
        assert_eq!(page.matches("<details>").count() as u64, 1 + ticks.min(10));
        assert!(page.len() < 300_000, "{}", page.len());
    }
}

/// A sink that does not move before it is let to.
struct Stuck(mpsc::Receiver<()>);

impl Sink for Stuck {
    fn name(&self) -> &str {
        "stuck"
    }

    fn tick(&mut self, _: &TickReport) -> Result<(), SinkError> {
        let _ = self.0.recv();
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> Result<(), SinkError> {
        Ok(())
    }
}

#[test]
fn a_sink_that_does_not_move_delays_no_tick_and_its_losses_are_counted() {
    let (release, gate) = mpsc::channel();
    let mut simulation = builder().sink(Stuck(gate)).build().unwrap();
    // If a tick waited for the sink, this would never end.
    assert_eq!(simulation.run(5_000).unwrap(), 5_000);
    let state = simulation.sinks().next().unwrap();
    assert_eq!((state.name, state.has_failed), ("stuck", false));
    assert!(state.dropped >= 3_000, "{state:?}");
    drop(release);
    let finished = simulation.finish();
    let sink = &finished.sinks[0];
    assert_eq!(sink.written + sink.dropped, 5_000);
    assert!(sink.written > 0 && sink.dropped > 0);
    assert!(finished.to_string().contains("dropped"));
}

#[test]
fn dropping_a_simulation_writes_what_it_had_but_no_summary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ticks.jsonl");
    let mut simulation = builder().sink(JsonLinesSink::create(&path).unwrap()).build().unwrap();
    simulation.run(4).unwrap();
    drop(simulation);
    let text = read(&path);
    assert_eq!(text.lines().count(), 5);
    assert!(!text.contains("\"kind\":\"summary\""));
}
