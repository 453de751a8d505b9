//! The same scenario and seed give the same state after every tick, for any number of threads.

use serde_json::Value;

use crate::program::{run_in, voxtick};

const SCENARIO: &str = r#"
name = "everything"
seed = 11
ticks = 200

[world]
size = 3

[pipes]
items = 4_000
length = 30

[items]
count = 1_500

[edits]
blocks = 6
"#;

#[test]
fn one_two_and_three_threads_give_the_same_hash_for_200_ticks() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("everything.toml"), SCENARIO).expect("written");
    let hashes: Vec<Vec<String>> = ["1", "2", "3"]
        .iter()
        .map(|threads| {
            let run = run_in(
                folder.path(),
                &["run", "everything.toml", "--hash", "--quiet", "--threads", threads, "--out", threads],
            );
            assert_eq!(run.code, 0, "{}", run.errors);
            let lines =
                std::fs::read_to_string(folder.path().join(threads).join("ticks.jsonl")).expect("ticks");
            let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
            let ticks = lines.filter(|line| line["kind"] == "tick");
            ticks.map(|tick| tick["hash"].as_str().expect("a hash").to_owned()).collect()
        })
        .collect();
    assert_eq!(hashes[0].len(), 200, "a hash for every tick");
    for (threads, hashes_of) in hashes.iter().enumerate() {
        let first = hashes[0].iter().zip(hashes_of).position(|(a, b)| a != b);
        assert_eq!(first, None, "{} threads differ from one in this tick", threads + 1);
    }
    let different = hashes[0].windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(different > 190, "the hash follows the state: {different} of 199 ticks changed it");
}

#[test]
fn another_seed_gives_another_world() {
    let hash = |seed| {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let out = out.to_str().expect("UTF-8");
        let run =
            voxtick(&["run", "light-show", "--ticks", "1", "--hash", "--json", "--seed", seed, "--out", out]);
        serde_json::from_str::<Value>(&run.output).expect("JSON")["hash"].to_string()
    };
    assert_ne!(hash("1"), hash("2"));
}
