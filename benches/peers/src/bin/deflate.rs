//! libdeflate against zlib-rs over the chunk records of a real region, each in a binary of its own, so that nothing that
//! one of them is built with touches the other.
//!
//! This one writes the input, runs the two in turn, and forms the ratios round by round. Both pack the NBT of the
//! chunks, and both inflate the same streams: those of the game, and those that our `Packer` makes at each level.
//!
//! ```text
//! cargo build --release --features libdeflate --bin deflate_libdeflate
//! cargo build --release --features zlib-rs --bin deflate_zlib_rs
//! cargo run --release --bin deflate [REGION.mca]
//! ```

#[path = "../deflate.rs"]
#[expect(dead_code, reason = "the binaries alone do the jobs")]
mod deflate;

use deflate::{Document, LEVELS};
use std::path::Path;
use std::process::Command;
use voxtick_anvil::compression::{Compression, Packer};
use voxtick_peers::{ROUNDS, finished_chunks, print_head, print_row};

fn main() {
    let program = std::env::current_exe().expect("this program has a path");
    let input = program.with_file_name("deflate.input");
    let mut packers = LEVELS.map(|level| Packer::with_level(level).expect("a level"));
    let documents: Vec<Document> = finished_chunks(48)
        .into_iter()
        .map(|(stored, nbt)| {
            assert_eq!(stored.compression(), Compression::Zlib, "the game packs with zlib");
            let [level_1, level_2, level_6, level_9] = packers.each_mut().map(|packer| {
                let mut packed = Vec::new();
                packer.pack(Compression::Zlib, &nbt, &mut packed);
                packed
            });
            Document { packed: [stored.payload().to_vec(), level_1, level_2, level_6, level_9], nbt }
        })
        .collect();
    deflate::write(&input, &documents);

    let binaries = ["deflate_libdeflate", "deflate_zlib_rs"].map(|name| program.with_file_name(name));
    let mut rounds: Vec<[Vec<Job>; 2]> = Vec::new();
    for round in 0..ROUNDS {
        let mut jobs = [Vec::new(), Vec::new()];
        for turn in 0..2 {
            let side = (turn + round) % 2;
            let line = run(&binaries[side], &input);
            if round == 0 {
                print!("{line}");
            }
            jobs[side] = parse(&line);
        }
        rounds.push(jobs);
    }
    println!("\na chunk; ours is libdeflate, the other zlib-rs");
    print_head();
    for (place, (name, _, bytes)) in rounds[0][0].iter().enumerate() {
        let times = |side: usize| rounds.iter().map(|jobs| jobs[side][place].1).collect::<Vec<f64>>();
        let other_bytes = rounds[0][1][place].2;
        print_row(&format!("{name} ({bytes:.0}, {other_bytes:.0} bytes)"), &times(0), &times(1));
    }
    std::fs::remove_file(&input).expect("it was written");
}

/// Name, microseconds and bytes a chunk.
type Job = (String, f64, f64);

fn run(binary: &Path, input: &Path) -> String {
    let output = Command::new(binary).arg(input).output().unwrap_or_else(|error| {
        panic!("{}: {error}; build it first, as the documentation of this program says", binary.display())
    });
    assert!(output.status.success(), "{}: {}", binary.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn parse(line: &str) -> Vec<Job> {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let number = |word: &str| word.parse().expect("a number");
    words
        .as_chunks()
        .0
        .iter()
        .map(|[name, time, bytes]| (name.to_string(), number(time), number(bytes)))
        .collect()
}
