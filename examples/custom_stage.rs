//! A stage of your own among the standard ones: saplings that grow, with the items worked on counted.
//!
//! The stage runs after the intake and before the light, so that a sapling that becomes a log casts its shadow in the
//! same tick.
#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use voxtick::light::LightPlugin;
use voxtick::prelude::*;
use voxtick::worlds::generators::{Hills, generate, position_hash, square};

/// Saplings as columns: where each stands and when it grows.
#[derive(Resource, Default)]
struct Saplings {
    positions: Vec<BlockPos>,
    grow_at: Vec<u64>,
}

struct Forestry {
    saplings: Saplings,
    log: StateId,
}

#[derive(Resource)]
struct Log(StateId);

impl Plugin for Forestry {
    fn name(&self) -> &'static str {
        "forestry"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        setup
            .resource(self.saplings)
            .resource(Log(self.log))
            .stage(Stage::new("forestry").after(stages::INTAKE).before(stages::LIGHT))
            .system("forestry", grow)
            .hash(|ecs, hasher| hasher.write_u64s(&ecs.resource::<Saplings>().grow_at));
        Ok(())
    }
}

/// Costs O(saplings): fine for a thousand; a million would want a timer wheel.
fn grow(
    mut saplings: ResMut<Saplings>,
    mut world: ResMut<World>,
    log: Res<Log>,
    tick: Res<Tick>,
    meter: Res<Meter>,
) {
    // From the back, so that removing a row does not move one that is still to come.
    for row in (0..saplings.grow_at.len()).rev() {
        if saplings.grow_at[row] > tick.0 {
            continue;
        }
        let position = saplings.positions.swap_remove(row);
        saplings.grow_at.swap_remove(row);
        // A chunk that has been unloaded meanwhile grows nothing.
        if world.set_block(position, log.0).is_ok() {
            meter.count("trees grown", 1);
        }
    }
    meter.items(saplings.positions.len() as u64);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ticks =
        std::env::var("VOXTICK_EXAMPLE_TICKS").ok().and_then(|ticks| ticks.parse().ok()).unwrap_or(200);
    let states = BlockStates::load();
    let (hills, log) = (Hills::new(1, &states)?, states.parse("oak_log")?);
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&hills, &square(4), world.dimension()) {
        world.insert_chunk(chunk);
    }
    let mut saplings = Saplings::default();
    for (x, z) in (-32..32).step_by(4).flat_map(|x| (-32..32).step_by(4).map(move |z| (x, z))) {
        saplings.positions.push(BlockPos::new(x, hills.ground(x, z), z));
        saplings.grow_at.push(position_hash(1, x, 0, z) % 200);
    }

    let mut simulation = Simulation::builder()
        .plugin(WorldsPlugin::new(world))
        .plugin(LightPlugin::new())
        .plugin(Forestry { saplings, log })
        .build()?;
    simulation.run(ticks)?;
    println!("{}", simulation.summary());
    Ok(())
}
