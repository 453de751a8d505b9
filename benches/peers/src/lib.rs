//! Pairs of measurements: two sides in turn in one process, and the ratio formed round by round.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use voxtick_anvil::compression::Inflater;
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_anvil::{ChunkDecoder, Limits};
use voxtick_worlds::{BlockStates, Dimension, RegionPos};

/// Rounds of a comparison.
pub const ROUNDS: usize = 12;
/// t(0.9995) for 11 degrees of freedom: the bounds hold at 99.9 %.
const STUDENT_T: f64 = 4.437;
/// A sample shorter than this says more about the clock than about the work.
const SHORTEST: Duration = Duration::from_millis(8);

/// Prints the line above the rows.
pub fn print_head() {
    println!(
        "{:44} {:>12} {:>12} {:>9}  bounds (99.9 %, {ROUNDS} rounds in turn)",
        "case", "ours", "other", "ratio"
    );
}

/// Times both sides in turn and prints a row: microseconds a call of each, and the other by ours. The caller has
/// checked that both give the same.
pub fn compare(name: &str, mut ours: impl FnMut(), mut other: impl FnMut()) {
    let (our_calls, other_calls) = (calls_for(&mut ours), calls_for(&mut other));
    let (mut our_times, mut other_times) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            our_times.push(time(&mut ours, our_calls));
            other_times.push(time(&mut other, other_calls));
        } else {
            other_times.push(time(&mut other, other_calls));
            our_times.push(time(&mut ours, our_calls));
        }
    }
    print_row(name, &our_times, &other_times);
}

/// Prints a row out of what each round took, in microseconds: the means, and the other by ours round by round.
pub fn print_row(name: &str, ours: &[f64], other: &[f64]) {
    let count = ours.len() as f64;
    let ratios: Vec<f64> = ours.iter().zip(other).map(|(ours, other)| other / ours).collect();
    let mean = ratios.iter().sum::<f64>() / count;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = STUDENT_T * (variance / count).sqrt();
    println!(
        "{name:44} {:9.1} us {:9.1} us {mean:8.2}x  {:.2} to {:.2}",
        ours.iter().sum::<f64>() / count,
        other.iter().sum::<f64>() / count,
        mean - half,
        mean + half
    );
}

fn time(work: &mut impl FnMut(), calls: u32) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| work());
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

fn calls_for(work: &mut impl FnMut()) -> u32 {
    let mut calls = 1;
    while calls < 1 << 20 && time(work, calls) * f64::from(calls) < SHORTEST.as_secs_f64() * 1e6 {
        calls *= 2;
    }
    calls
}

/// The region that is compared on: the one given on the command line, or the 1.21 region below `VOXTICK_DATA`.
pub fn region_path() -> PathBuf {
    if let Some(path) = std::env::args_os().nth(1) {
        return path.into();
    }
    let data = std::env::var_os("VOXTICK_DATA").expect("give a region file, or set VOXTICK_DATA");
    PathBuf::from(data).join("worlds/java-1.21/r.0.0.mca")
}

/// The first `count` finished chunks of the region: their records and their NBT.
pub fn finished_chunks(count: usize) -> Vec<(StoredChunk, Vec<u8>)> {
    let path = region_path();
    let region = Region::open_as(&path, RegionPos::new(0, 0)).expect("the region opens");
    let mut decoder = ChunkDecoder::new(Dimension::overworld(), BlockStates::load(), Limits::default());
    let mut chunks = Vec::new();
    for position in region.chunks() {
        let mut stored = StoredChunk::default();
        if let Ok(true) = region.read(position, &mut stored, &Limits::default())
            && decoder.decode(position, &stored).is_ok_and(|decoded| decoded.chunk.status.is_full())
        {
            let mut nbt = Vec::new();
            let inflated =
                Inflater::new().inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt);
            inflated.expect("it inflated before");
            chunks.push((stored, nbt));
        }
        if chunks.len() == count {
            break;
        }
    }
    assert!(!chunks.is_empty(), "{} has no finished chunk", path.display());
    println!("{} finished chunks of {}", chunks.len(), path.display());
    chunks
}
