//! What `voxtick run` leaves behind, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::program::{command, run_in};
use serde_json::Value;

const SMALL: &str = "ticks = 12\n[world]\nsize = 2\n[edits]\nblocks = 3\n";

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a report")).expect("JSON")
}

#[test]
fn a_run_leaves_files_that_programs_can_read() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    let run = run_in(folder.path(), &["run", "small.toml", "--trace", "--hash"]);
    assert_eq!(run.code, 0, "{}", run.errors);
    assert!(run.output.contains("light") && run.output.contains("tick"), "{}", run.output);
    let out = folder.path().join("voxtick-out");
    let summary = json(&out.join("summary.json"));
    assert_eq!(summary["ticks"], 12);
    let events = json(&out.join("trace.json"))["traceEvents"].as_array().expect("events").clone();
    assert!(events.iter().filter(|event| event["ph"] == "X").count() > 12 * 3, "ticks, stages and systems");
    let ticks = fs::read_to_string(out.join("ticks.jsonl")).expect("ticks");
    let ticks: Vec<Value> = ticks.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_ticks = ticks.iter().filter(|line| line["kind"] == "tick" && line["wall_ns"].is_u64()).count();
    assert_eq!(of_ticks, 12, "a line a tick");
    assert_eq!(fs::read_to_string(out.join("ticks.csv")).expect("ticks").lines().count() % 13, 0);
}

#[test]
fn json_is_all_that_json_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    let run = run_in(folder.path(), &["run", "small.toml", "--json", "--ticks", "3"]);
    let summary: Value = serde_json::from_str(&run.output).expect("nothing but JSON");
    assert_eq!((run.code, &summary["ticks"]), (0, &Value::from(3)));
    let quiet = run_in(folder.path(), &["run", "small.toml", "--quiet"]);
    assert_eq!((quiet.code, quiet.output.as_str(), quiet.errors.as_str()), (0, "", ""));
}

#[cfg(unix)]
#[test]
fn ctrl_c_finishes_the_tick_and_writes_everything() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    let arguments = ["run", "small.toml", "--ticks", "1000000", "--rate", "100"];
    let mut child = command(&arguments)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("voxtick starts");
    let ticks = folder.path().join("voxtick-out/ticks.jsonl");
    // The file grows once ticks run; a run that never gets there ends this test by its million ticks being refused.
    while !fs::metadata(&ticks).is_ok_and(|file| file.len() > 0) {
        assert!(child.try_wait().expect("a child").is_none(), "the run ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = child.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill");
    assert!(kill.success());
    let status = child.wait().expect("a child");
    assert_eq!(status.code(), Some(130));
    let printed = BufReader::new(child.stdout.take().expect("piped")).lines().count();
    assert!(printed > 5, "the summary is printed: {printed} lines");
    assert!(json(&folder.path().join("voxtick-out/summary.json"))["ticks"].as_u64().expect("a number") > 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_stop_the_run_and_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    fs::create_dir(folder.path().join("out")).expect("a folder");
    std::os::unix::fs::symlink("/dev/full", folder.path().join("out/ticks.csv")).expect("a link");
    let run = run_in(folder.path(), &["run", "small.toml", "--out", "out"]);
    assert_eq!(run.code, 3, "{}", run.errors);
    assert!(run.output.contains("12 ticks"), "{}", run.output);
    assert!(run.errors.contains("ticks.csv"), "{}", run.errors);
}
