//! The light stage of a simulation.

use bevy_ecs::prelude::{Res, ResMut, Resource};
use voxtick_engine::{BuildError, Meter, Plugin, Pool, Setup, StateHasher};
use voxtick_worlds::{ChunkLight, LightLevels, World, stages};

use crate::lighting::{LightBudget, Lighting};

/// Keeps the light of the simulation's [`World`] up to date; add it after `WorldsPlugin`.
///
/// Its system `relight` runs in the stage [`stages::LIGHT`]: it reads the changed blocks and the chunks that came or
/// went, and reports items (cells changed) and the counts `changes taken`, `cells changed`,
/// `sections touched` and `chunks waiting`. The state hash covers the light of all chunks. Costs nothing in a tick without changes.
///
/// ```
/// use voxtick_engine::Simulation;
/// use voxtick_light::LightPlugin;
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, World, WorldsPlugin};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// let mut simulation =
///     Simulation::builder().plugin(WorldsPlugin::new(world)).plugin(LightPlugin::new()).build()?;
/// simulation.tick()?;
///
/// let mut world = simulation.world_mut().resource_mut::<World>();
/// let torch = world.states().parse("torch")?;
/// world.set_block(BlockPos::new(8, 70, 8), torch)?;
/// let report = simulation.tick()?;
/// let light = report.stages.iter().find(|stage| stage.name == "light").expect("a standard stage");
/// assert_eq!(light.count("changes taken"), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct LightPlugin {
    budget: Option<LightBudget>,
}

impl LightPlugin {
    /// The plugin with default settings.
    #[must_use]
    pub const fn new() -> LightPlugin {
        LightPlugin { budget: None }
    }

    /// Limits how many chunks that came are lit in one tick; see [`Lighting::set_budget`]. Defaults to no limit.
    #[must_use]
    pub const fn budget(mut self, budget: LightBudget) -> LightPlugin {
        self.budget = Some(budget);
        self
    }
}

/// The light that the stage keeps, with what it has to know of the world.
#[derive(Resource)]
struct KeptLight(Lighting);

impl Plugin for LightPlugin {
    fn name(&self) -> &'static str {
        "light"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        let mut lighting = Lighting::new();
        lighting.set_budget(self.budget);
        setup.resource(KeptLight(lighting)).system(stages::LIGHT, relight).hash(|ecs, hasher| {
            for chunk in ecs.resource::<World>().chunks() {
                if let Some(light) = &chunk.light {
                    hash_light(light, hasher);
                }
            }
        });
        Ok(())
    }
}

fn relight(mut world: ResMut<World>, mut lighting: ResMut<KeptLight>, pool: Res<Pool>, meter: Res<Meter>) {
    let outcome = pool.install(|| lighting.0.update(&mut world));
    meter.items(outcome.cells_changed);
    meter.count("changes taken", outcome.changes);
    meter.count("cells changed", outcome.cells_changed);
    meter.count("sections touched", outcome.sections_touched);
    meter.count("chunks waiting", lighting.0.waiting_chunks() as u64);
}

fn hash_light(light: &ChunkLight, hasher: &mut StateHasher) {
    hasher.write_u64(u64::from(light.incomplete));
    for levels in light.block.iter().chain(&light.sky) {
        match levels {
            LightLevels::Absent => hasher.write_u64(0),
            LightLevels::Uniform(level) => hasher.write_u64(1 + u64::from(*level)),
            // Levels that became alike one by one are the same state as levels that always were.
            LightLevels::Nibbles(nibbles)
                if nibbles.iter().all(|&pair| pair == nibbles[0] & 15 | nibbles[0] << 4) =>
            {
                hasher.write_u64(1 + u64::from(nibbles[0] & 15));
            }
            LightLevels::Nibbles(nibbles) => {
                hasher.write_u64(17);
                hasher.write_bytes(nibbles.as_slice());
            }
        }
    }
}
