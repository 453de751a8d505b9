//! The Chrome trace is well-formed JSON whose events nest as stages and systems do.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use voxtick_engine::{ChromeTraceSink, Simulation, Stage, TraceWindow};

use crate::common::{busy, plugin, spin};

fn traced(window: TraceWindow, run: impl FnOnce(&mut Simulation)) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let mut simulation = Simulation::builder()
        .threads(1)
        .sink(ChromeTraceSink::create(&path, window).unwrap())
        .plugin(busy("bodies", Duration::from_micros(50)))
        .plugin(plugin("light", |setup| {
            setup
                .stage(Stage::new("light").after("bodies"))
                .named_system("light", "a \"quoted\" system", || spin(Duration::from_micros(20)))
                .named_system("light", "flood", || spin(Duration::from_micros(30)));
        }))
        .build()
        .unwrap();
    run(&mut simulation);
    let finished = simulation.finish();
    assert_eq!(finished.failed_sinks().count(), 0, "{finished}");
    load(&path)
}

fn load(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn complete_events(trace: &Value) -> Vec<&Value> {
    trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X").collect()
}

/// Start and end of an event in nanoseconds.
fn span(event: &Value) -> (i64, i64) {
    let nanoseconds = |field: &str| (event[field].as_f64().unwrap() * 1e3).round() as i64;
    (nanoseconds("ts"), nanoseconds("ts") + nanoseconds("dur"))
}

#[test]
fn every_event_lies_inside_the_one_it_belongs_to() {
    let trace = traced(TraceWindow::Last(10), |simulation| {
        simulation.run(25).unwrap();
    });
    let events = complete_events(&trace);
    let mut open: Vec<(&str, (i64, i64))> = Vec::new();
    let mut last_start = i64::MIN;
    for event in &events {
        let category = event["cat"].as_str().unwrap();
        let depth = ["tick", "stage", "system"].iter().position(|known| *known == category).unwrap();
        let (start, end) = span(event);
        assert!(start >= last_start && end >= start, "{event}");
        last_start = start;
        open.truncate(depth);
        assert_eq!(open.len(), depth, "{event} belongs to nothing");
        if let Some((_, (outer_start, outer_end))) = open.last() {
            assert!(*outer_start <= start && end <= *outer_end, "{event}");
        }
        open.push((category, (start, end)));
        assert_eq!((&event["pid"], &event["tid"]), (&Value::from(1), &Value::from(1)));
    }
    // Each tick: itself, two stages, three systems.
    assert_eq!(events.len(), 10 * 6);
    let names: Vec<_> = events[..6].iter().map(|event| event["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["tick 15", "bodies", "spin", "light", "a \"quoted\" system", "flood"]);
}

#[test]
fn ticks_follow_each_other_without_overlap() {
    let trace = traced(TraceWindow::Last(100), |simulation| {
        simulation.run(50).unwrap();
    });
    let ticks: Vec<_> =
        complete_events(&trace).into_iter().filter(|event| event["cat"] == "tick").map(span).collect();
    assert_eq!(ticks.len(), 50);
    assert!(ticks.windows(2).all(|pair| pair[0].1 <= pair[1].0));
}

#[test]
fn a_window_of_slow_ticks_holds_only_those() {
    let trace = traced(TraceWindow::LongerThan(Duration::from_secs(1)), |simulation| {
        simulation.run(10).unwrap();
    });
    assert_eq!(complete_events(&trace).len(), 0);
    assert_eq!((&trace["otherData"]["ticks"], &trace["otherData"]["ticks_run"]), (&0.into(), &10.into()));
    let trace = traced(TraceWindow::LongerThan(Duration::from_micros(99)), |simulation| {
        simulation.run(10).unwrap();
    });
    assert_eq!(trace["otherData"]["ticks"], 10);
}
