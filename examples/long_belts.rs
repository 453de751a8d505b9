//! Eight million items on pipes of a hundred blocks, moving, and what a tick of them costs.
//!
//! `cargo run --release --example long_belts [ITEMS]`

#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use voxtick::engine::Simulation;
use voxtick::transit::{LaneSettings, Layout, Lines, Transit, TransitPlugin};
use voxtick::worlds::{BlockStates, Dimension, World, WorldsPlugin};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let items = match std::env::args().nth(1) {
        Some(items) => items.parse()?,
        None => 8_000_000,
    };
    // One block a second; every line is fed every third tick and delivers as often.
    let settings = LaneSettings::default();
    let lines = Lines::flowing(100, items, settings, 3);
    let mut layout = Layout::default();
    layout.lines(&lines);
    println!("laying {} lines of {} blocks for {items} items ...", lines.lines, lines.blocks);

    let world = World::new(Dimension::overworld(), BlockStates::load());
    let mut simulation = Simulation::builder()
        .plugin(WorldsPlugin::new(world))
        .plugin(TransitPlugin::from_layout(&layout, settings)?)
        .build()?;
    let ticks =
        std::env::var("VOXTICK_EXAMPLE_TICKS").ok().and_then(|ticks| ticks.parse().ok()).unwrap_or(200);
    simulation.run(ticks)?;

    println!("{}", simulation.summary());
    let transit = &simulation.world().resource::<Transit>().0;
    let (lanes, in_flight) = transit.memory_bytes();
    println!(
        "{} items in flight, {} delivered; {:.1} bytes an item, {:.0} bytes a lane",
        transit.item_count(),
        transit.totals().delivered,
        in_flight as f64 / transit.item_count().max(1) as f64,
        lanes as f64 / transit.lane_count() as f64,
    );
    Ok(())
}
