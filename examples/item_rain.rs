//! A million items rain on hills: falling, then sliding, then asleep, with the table of stages at the end.
#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use voxtick::bodies::{Bodies, BodiesPlugin, Spawn};
use voxtick::prelude::*;
use voxtick::worlds::generators::{Hills, generate, split_mix, square};

const ITEMS: u64 = 1_000_000;
/// Chunks along one edge of the world; the rain stays clear of the outermost.
const EDGE: u16 = 18;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ticks =
        std::env::var("VOXTICK_EXAMPLE_TICKS").ok().and_then(|ticks| ticks.parse().ok()).unwrap_or(200);
    let states = BlockStates::load();
    let hills = Hills::new(1, &states)?;
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&hills, &square(EDGE), world.dimension()) {
        world.insert_chunk(chunk);
    }
    let mut simulation =
        Simulation::builder().plugin(WorldsPlugin::new(world)).plugin(BodiesPlugin::default()).build()?;

    let rained = u64::from(EDGE - 2) * 16;
    let low = -f64::from(EDGE / 2 - 1) * 16.0;
    let rain: Vec<Spawn> = (0..ITEMS)
        .map(|number| {
            let hash = split_mix(number);
            // Thousandths of a block along each side.
            let along = |bits: u64| low + (bits % (rained * 1_000)) as f64 / 1_000.0;
            let (x, z) = (along(hash >> 32), along(hash & 0xFFFF_FFFF));
            let above = f64::from(hills.ground(x.floor() as i32, z.floor() as i32)) + 4.0;
            Spawn::at([x, above + (number % 40) as f64, z], ItemStack::single(ItemKind(number as u32 % 64)))
        })
        .collect();
    simulation.world_mut().resource_mut::<Bodies>().spawn(&rain)?;

    println!("  tick     bodies      awake  exact path");
    for report in simulation.ticks().take(ticks) {
        let report = report?;
        if report.tick % 20 == 0 {
            let Some(stage) = report.stages.iter().find(|stage| stage.name == stages::BODIES) else {
                continue;
            };
            let time = stage.wall.as_secs_f64() * 1e3;
            println!("{:6} {time:7.2} ms {:10} {:11}", report.tick, stage.items, stage.count("exact path"));
        }
    }
    println!("{}", simulation.summary());
    Ok(())
}
