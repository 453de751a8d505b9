//! The share of the fuzzing that every machine runs: the seeds of `fuzz/seeds`, and small changes of them.

#[path = "support/targets.rs"]
mod targets;

use std::path::Path;
use voxtick_worlds::generators::split_mix;

/// Changed inputs for each seed.
const MUTATIONS: u64 = 70;

/// Runs a target over its seeds and what comes of changing them, the same on every machine.
fn run(subject: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(subject);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no seed", folder.display());
    for file in files {
        let seed = std::fs::read(&file).expect("a seed");
        target(&seed);
        for number in 0..MUTATIONS {
            target(&mutated(&seed, number));
        }
    }
}

/// A seed with one to four bytes changed, or a part of it cut out, repeated or cut off.
fn mutated(seed: &[u8], number: u64) -> Vec<u8> {
    let mut state = number;
    let mut below = |bound: usize| {
        state = split_mix(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
        (state % bound.max(1) as u64) as usize
    };
    let mut bytes = seed.to_vec();
    let (a, b) = (below(bytes.len()), below(bytes.len()));
    let part = a.min(b)..a.max(b);
    match below(6) {
        0 => bytes.truncate(a),
        1 => drop(bytes.drain(part)),
        2 => {
            let again = bytes[part.clone()].to_vec();
            bytes.splice(part.end..part.end, again);
        }
        _ => {
            for _ in 0..=below(4) {
                let (at, value) = (below(bytes.len()), [0, 1, 0x7F, 0x80, 0xFF, below(256) as u8][below(6)]);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
        }
    }
    bytes
}

#[test]
fn region_headers() {
    run("region_header", targets::region_header);
}

#[test]
fn chunk_records() {
    run("chunk_record", targets::chunk_record);
}

#[test]
fn documents() {
    run("nbt", targets::nbt);
}

#[test]
fn lz4_blocks() {
    run("lz4_blocks", targets::lz4_blocks);
}

#[test]
fn linear_files() {
    run("linear", targets::linear);
}

#[test]
fn sections() {
    run("section", targets::section);
}

/// Runs a target over one of its seeds.
fn run_seed(subject: &str, name: &str, target: fn(&[u8])) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(subject).join(name);
    target(&std::fs::read(file).expect("a seed"));
}

/// A section with two palettes was read by the last and written by the first, so a changed block was lost.
#[test]
fn of_two_fields_with_one_name_the_one_that_is_written_is_read() {
    run_seed("section", "two_palettes", targets::section);
}

/// The reference was narrowed to compare with, which changed a bit of a float that is a signalling NaN; the tape keeps it.
#[test]
fn a_signalling_nan_is_the_same_to_the_tape_and_to_the_reference() {
    run_seed("nbt", "signalling_nan", targets::nbt);
}

/// A chunk that a bucket has and the head does not name was damaged, until a neighbour's being written named it: then it
/// passed for sound.
#[test]
fn what_the_head_of_a_linear_file_contradicts_stays_damaged_when_it_is_written() {
    run_seed("linear", "v2_not_named", targets::linear);
}
