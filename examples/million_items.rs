//! A million items in pipes and a hundred thousand on the ground, with live timings: one line every twenty ticks, then
//! the table of stages.
#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use voxtick::bodies::{Bodies, BodiesPlugin, Spawn};
use voxtick::prelude::*;
use voxtick::transit::{LaneSettings, Layout, Lines, TransitPlugin};
use voxtick::worlds::generators::{Hills, generate, split_mix, square};

const PIPED: u64 = 1_000_000;
const DROPPED: u64 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ticks =
        std::env::var("VOXTICK_EXAMPLE_TICKS").ok().and_then(|ticks| ticks.parse().ok()).unwrap_or(200);
    let states = BlockStates::load();
    let hills = Hills::new(1, &states)?;
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&hills, &square(8), world.dimension()) {
        world.insert_chunk(chunk);
    }

    // Straight lines with a junction every 20 blocks, fed every third tick.
    let settings = LaneSettings::default();
    let mut layout = Layout::default();
    layout.lines(&Lines { junction_every: Some(20), ..Lines::flowing(100, PIPED, settings, 3) });

    let mut simulation = Simulation::builder()
        .plugin(WorldsPlugin::new(world))
        .plugin(TransitPlugin::from_layout(&layout, settings)?)
        .plugin(BodiesPlugin::default())
        .build()?;

    let drops: Vec<Spawn> = (0..DROPPED)
        .map(|number| {
            let hash = split_mix(number);
            let (x, z) = ((hash % 128) as i32 - 64, (hash >> 8 & 127) as i32 - 64);
            let above = f64::from(hills.ground(x, z)) + 1.0 + (hash >> 40 & 15) as f64;
            Spawn::at(
                [f64::from(x) + 0.5, above, f64::from(z) + 0.5],
                ItemStack::single(ItemKind(number as u32 % 64)),
            )
        })
        .collect();
    simulation.world_mut().resource_mut::<Bodies>().spawn(&drops)?;

    println!("  tick    transit     bodies    awake");
    for report in simulation.ticks().take(ticks) {
        let report = report?;
        if report.tick % 20 == 0 {
            let stage = |name: &str| report.stages.iter().find(|stage| stage.name == name);
            let time = |name: &str| stage(name).map_or(0.0, |stage| stage.wall.as_secs_f64() * 1e3);
            let awake = stage(stages::BODIES).map_or(0, |stage| stage.items);
            println!(
                "{:6} {:7.2} ms {:7.2} ms {awake:8}",
                report.tick,
                time(stages::TRANSIT),
                time(stages::BODIES)
            );
        }
    }
    println!("{}", simulation.summary());
    Ok(())
}
