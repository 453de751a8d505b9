//! How long the block state table takes to load, and what look-ups cost: the figures that the docs quote.
#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use std::hint::black_box;
use std::time::Instant;
use voxtick_worlds::{BlockStates, StateId};

fn main() {
    let mut load_times: Vec<f64> = (0..50)
        .map(|_| {
            let start = Instant::now();
            black_box(BlockStates::load());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    let first = load_times[0];
    load_times.sort_by(f64::total_cmp);
    println!("load: first {first:.2} ms, median {:.2} ms, worst {:.2} ms", load_times[25], load_times[49]);

    let states = BlockStates::load();
    let ids: Vec<StateId> = (0..states.known_count() as u32).map(StateId).collect();
    let named: Vec<(&str, Vec<(&str, &str)>)> =
        ids.iter().map(|id| (states.name(*id), states.properties(*id).collect())).collect();
    let start = Instant::now();
    let found = named.iter().filter(|(name, properties)| states.lookup(name, properties).is_some()).count();
    println!(
        "lookup: {:.0} ns a state over {found} states",
        start.elapsed().as_nanos() as f64 / found as f64
    );
}
