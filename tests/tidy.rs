//! What the compiler does not hold: module docs, the code map, the layers, what kernels may name, file lengths.

#![expect(
    clippy::print_stdout,
    reason = "the longest files are listed for whoever looks for the next one to split"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a file before its tests. Longer: look for the phase that wants a file of its own.
const LONGEST_FILE: usize = 600;

/// What each crate may depend on: the layers run `cli -> facade -> systems -> worlds -> engine`, and one system never
/// imports another.
const LAYERS: [(&str, &[&str]); 8] = [
    ("engine", &[]),
    ("worlds", &["voxtick-engine"]),
    ("systems/anvil", &["voxtick-engine", "voxtick-worlds"]),
    ("systems/light", &["voxtick-engine", "voxtick-worlds"]),
    ("systems/bodies", &["voxtick-engine", "voxtick-worlds"]),
    ("systems/transit", &["voxtick-engine", "voxtick-worlds"]),
    (
        "",
        &[
            "voxtick-anvil",
            "voxtick-bodies",
            "voxtick-engine",
            "voxtick-light",
            "voxtick-transit",
            "voxtick-worlds",
        ],
    ),
    ("tools/cli", &["voxtick"]),
];

/// Words that no kernel may contain, with what they would bring in.
const NOT_IN_KERNELS: [(&str, &str); 9] = [
    ("bevy_ecs", "an ECS type: that belongs in plugin.rs"),
    ("voxtick_engine", "the tick: that belongs in plugin.rs"),
    ("std::fs", "a file"),
    ("std::net", "a socket"),
    ("std::time", "a clock"),
    ("Instant::now", "a clock"),
    ("thread::spawn", "a thread start"),
    ("thread::scope", "a thread start"),
    ("ThreadPoolBuilder", "a pool of its own"),
];

/// What the engine has for whoever shares work between threads, and which knows neither ticks nor systems.
const PLAIN_STRUCTURES: [&str; 1] = ["voxtick_engine::DirtySet"];

/// Float operations that round once where the rules round twice, or differ from platform to platform.
const NOT_DETERMINISTIC: [&str; 12] = [
    ".mul_add(",
    "fadd_fast",
    "fmul_fast",
    "_fmadd_",
    ".powf(",
    ".powi(",
    ".sin(",
    ".cos(",
    ".tan(",
    ".exp(",
    ".ln(",
    ".hypot(",
];

#[test]
fn every_module_says_what_lives_in_it() {
    let silent: Vec<_> = sources().into_iter().filter(|file| !file.text.starts_with("//!")).collect();
    assert_none("modules without a first line `//! ...`", silent.iter().map(|file| file.name.clone()));
}

#[test]
fn the_code_map_and_the_tree_agree() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let mapped: BTreeSet<String> = map
        .lines()
        .filter_map(|line| line.strip_prefix("### `"))
        .filter_map(|line| line.split('`').next())
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect();
    let present: BTreeSet<String> = folders().into_iter().chain(crates()).collect();
    assert_none("folders and crates that ARCHITECTURE.md does not map", present.difference(&mapped).cloned());
    assert_none(
        "folders and crates that ARCHITECTURE.md maps and that do not exist",
        mapped.difference(&present).cloned(),
    );
}

#[test]
fn imports_run_one_way() {
    let mut wrong = Vec::new();
    for (folder, allowed) in LAYERS {
        let manifest = root().join(folder).join("Cargo.toml");
        let manifest =
            fs::read_to_string(&manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
        for name in dependencies(&manifest) {
            if name.starts_with("voxtick") && !allowed.contains(&name.as_str()) {
                wrong.push(format!(
                    "{} depends on {name}",
                    if folder.is_empty() { "the facade" } else { folder }
                ));
            }
        }
    }
    assert_none("imports against the layers", wrong);
    let known: BTreeSet<String> = LAYERS.iter().map(|layer| layer.0.to_owned()).collect();
    let unknown = crates().into_iter().filter(|name| !known.contains(name) && name != "worlds/generator");
    assert_none("crates without a layer in this test", unknown);
}

#[test]
fn kernels_name_no_ecs_file_clock_or_thread() {
    let mut found = Vec::new();
    for file in kernels() {
        for (word, what) in NOT_IN_KERNELS {
            // Reading files is what the anvil system is for; it still knows no clock and no thread.
            if word == "std::fs" && file.name.starts_with("systems/anvil/") {
                continue;
            }
            let is_plain = |line: &String| PLAIN_STRUCTURES.iter().any(|plain| line.contains(plain));
            let lines = file.lines_with(word).filter(|line| !is_plain(line));
            found.extend(lines.map(|line| format!("{line}: {what}")));
        }
    }
    assert_none("words that do not belong in a kernel", found);
}

#[test]
fn kernels_compute_alike_on_every_machine() {
    let found = kernels().into_iter().flat_map(|file| {
        NOT_DETERMINISTIC
            .iter()
            .flat_map(|word| file.lines_with(word).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    });
    assert_none("float operations that differ between platforms", found);
}

#[test]
fn files_can_be_held_in_the_head() {
    let mut lengths: Vec<(usize, String)> =
        sources().into_iter().map(|file| (file.code_lines(), file.name)).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    println!("the longest files, tests not counted:");
    for (lines, name) in lengths.iter().take(10) {
        println!("{lines:6} {name}");
    }
    println!("{:6} median of {} files", lengths[lengths.len() / 2].0, lengths.len());
    let long = lengths.iter().filter(|length| length.0 > LONGEST_FILE);
    assert_none(
        "files over the cap",
        long.map(|(lines, name)| format!("{name}: {lines} lines, at most {LONGEST_FILE}")),
    );
}

#[test]
fn nothing_is_unfinished_or_switched_off() {
    // Split so that this file does not find itself.
    let words = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[ign", "ore"),
        concat!("FIX", "ME"),
    ];
    let found = sources().into_iter().flat_map(|file| {
        words.iter().flat_map(|word| file.lines_with(word).collect::<Vec<_>>()).collect::<Vec<_>>()
    });
    assert_none("unfinished or switched-off places", found);
}

struct Source {
    /// Path from the root, with `/`.
    name: String,
    text: String,
}

impl Source {
    /// `name:line: text` of each line before the tests that contains `word` outside a comment.
    fn lines_with(&self, word: &str) -> impl Iterator<Item = String> {
        self.text
            .lines()
            .take(self.code_lines())
            .enumerate()
            .filter(move |(_, line)| line.split("//").next().is_some_and(|code| code.contains(word)))
            .map(|(number, line)| format!("{}:{}: {}", self.name, number + 1, line.trim()))
    }

    /// Lines before the module of tests.
    fn code_lines(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().collect();
        lines
            .windows(2)
            .position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].trim_start().starts_with("mod "))
            .unwrap_or(lines.len())
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files of the project.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    for folder in folders() {
        collect(&root().join(&folder), &folder, &mut found);
    }
    assert!(found.len() > 30, "only {} Rust files found below {}", found.len(), root().display());
    found
}

/// The files of the system crates that must know nothing of the tick: all but the plugin, the crate page and tests.
fn kernels() -> Vec<Source> {
    let outside = |name: &str| {
        name.ends_with("/plugin.rs")
            || name.contains("/plugin/")
            || name.ends_with("/lib.rs")
            || !name.contains("/src/")
            || name.ends_with("/tests.rs")
    };
    sources().into_iter().filter(|file| file.name.starts_with("systems/") && !outside(&file.name)).collect()
}

fn collect(folder: &Path, name: &str, found: &mut Vec<Source>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("a folder of the project")
        .map(|entry| entry.expect("an entry"))
        .collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            if !["target", "node_modules"].contains(&&*entry.file_name().to_string_lossy()) {
                collect(&path, &name, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(Source { text: fs::read_to_string(&path).expect("UTF-8"), name });
        }
    }
}

/// Top-level folders that belong to the project.
fn folders() -> Vec<String> {
    let mut folders: Vec<String> = fs::read_dir(root())
        .expect("the root")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("target") && name != ".git" && name != "voxtick-out")
        .collect();
    folders.sort();
    folders
}

/// Folders of the crates, from the workspace's list of members.
fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let members = manifest
        .split("members = [")
        .nth(1)
        .and_then(|rest| rest.split(']').next())
        .expect("a list of members");
    members.split('"').skip(1).step_by(2).filter(|name| *name != ".").map(str::to_owned).collect()
}

/// The names below `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

fn assert_none(what: &str, found: impl IntoIterator<Item = String>) {
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}
