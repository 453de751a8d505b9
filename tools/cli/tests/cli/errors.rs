//! Whatever the user gives, the answer is one line that says what, where and what to do, and the right exit code.

use std::fs;

use crate::program::{run_in, voxtick};

/// The run ends with this code and one line that has all these parts in it.
fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let run = voxtick(arguments);
    assert_eq!(run.code, code, "{arguments:?}: {}", run.errors);
    assert_eq!(run.errors.lines().count(), 1, "{arguments:?}: {}", run.errors);
    for part in parts {
        assert!(run.errors.contains(part), "{arguments:?} should say `{part}`: {}", run.errors);
    }
}

#[test]
fn a_path_that_is_no_world_gets_a_message_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    fs::create_dir_all(folder.path().join("empty/region")).expect("a folder");
    fs::create_dir(folder.path().join("pictures")).expect("a folder");
    fs::write(folder.path().join("notes.txt"), "not a region").expect("a file");
    fs::write(folder.path().join("r.0.0.mca"), "").expect("a file");
    for command in [&["world", "info"][..], &["run", "--ticks", "1", "--world"][..]] {
        let with = |path: &str| {
            [command, &[path]].concat().iter().map(|part| (*part).to_owned()).collect::<Vec<_>>()
        };
        let check = |name: &str, part: &str| {
            let arguments = with(&path(name));
            refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), 2, &[name, part]);
        };
        check("nowhere", "does not exist");
        check("empty", "the world is empty");
        check("pictures", "no save");
        check("notes.txt", "no save");
    }
    refused(&["run", "--world", &path("r.0.0.mca")], 2, &["no finished chunk"]);
}

#[test]
fn a_scenario_that_cannot_be_used_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bad.toml"), "seed = 1\nticks = 5\ntick = 7\n").expect("a file");
    fs::write(folder.path().join("bytes.toml"), [0xFF, 0xFE, 0]).expect("a file");
    let bad = run_in(folder.path(), &["run", "bad.toml"]);
    assert_eq!(
        (bad.code, bad.errors.trim()),
        (2, "voxtick: bad.toml:3: unknown key `tick`, did you mean `ticks`?")
    );
    let bytes = run_in(folder.path(), &["run", "bytes.toml"]);
    assert_eq!((bytes.code, bytes.errors.lines().count()), (2, 1), "{}", bytes.errors);
    refused(&["run", "factroy"], 2, &["did you mean `factory`?"]);
    refused(&["run", "real-world"], 2, &["--world PATH"]);
    refused(&["run", "--rate", "quick"], 2, &["--rate", "sprint"]);
}

#[test]
fn a_report_folder_that_cannot_be_made_is_refused_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "").expect("a file");
    let run = run_in(folder.path(), &["run", "long-belts", "--ticks", "1", "--out", "file/out"]);
    assert_eq!(run.code, 2, "{}", run.errors);
    assert!(run.errors.contains("file/out") && run.errors.contains("--out"), "{}", run.errors);
}

#[test]
fn unknown_measurements_and_flags_are_refused() {
    refused(&["measure", "lihgt"], 2, &["no case begins with lihgt", "--list"]);
    assert_eq!(voxtick(&["run", "--tiks", "3"]).code, 2);
    assert_eq!(voxtick(&["run", "--threads", "0"]).code, 2);
}

#[test]
fn a_damaged_chunk_is_named_and_the_exit_code_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    // One entry that points into the header, in a file that holds nothing else.
    let mut region = vec![0; 8192];
    region[..4].copy_from_slice(&[0, 0, 1, 1]);
    fs::write(folder.path().join("r.0.0.mca"), region).expect("a file");
    let run = run_in(folder.path(), &["world", "info", "r.0.0.mca"]);
    assert_eq!(run.code, 1, "{}{}", run.output, run.errors);
    assert!(run.output.contains("part of the header"), "{}", run.output);
    let json = run_in(folder.path(), &["world", "info", "r.0.0.mca", "--json"]);
    let info: serde_json::Value = serde_json::from_str(&json.output).expect("JSON");
    assert_eq!((json.code, &info[0]["damaged_chunks"]), (1, &serde_json::json!(1)));
}
