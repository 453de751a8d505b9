//! The world as a part of a simulation.

use bevy_ecs::prelude::{Res, ResMut};
use voxtick_engine::{BuildError, Plugin, Setup, Stage, Tick};

use crate::attachments::ChunkAttachments;
use crate::items::Ledger;
use crate::stages;
use crate::world::World;

/// Puts a [`World`] into a simulation, with the stages that all systems share and the [`Ledger`] of its items.
///
/// Add it before the plugins of the systems: they add their work to the stages named in [`stages`], which run in the
/// order of [`stages::ORDER`]. The state hash covers every block, whatever order the chunks were loaded in.
///
/// Costs a tick: O(1), and with hashing on O(changed sections + sections).
///
/// ```
/// use voxtick_engine::Simulation;
/// use voxtick_worlds::{BlockStates, Dimension, World, WorldsPlugin};
/// let world = World::new(Dimension::overworld(), BlockStates::load());
/// let mut simulation = Simulation::builder().plugin(WorldsPlugin::new(world)).build()?;
/// simulation.run(20)?;
/// assert_eq!(simulation.world().resource::<World>().tick(), 19);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WorldsPlugin {
    world: World,
}

impl WorldsPlugin {
    /// A plugin that puts `world` into the simulation.
    #[must_use]
    pub const fn new(world: World) -> WorldsPlugin {
        WorldsPlugin { world }
    }
}

impl Plugin for WorldsPlugin {
    fn name(&self) -> &'static str {
        "worlds"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        setup.stage(Stage::new(stages::ORDER[0]));
        for pair in stages::ORDER.windows(2) {
            setup.stage(Stage::new(pair[1]).after(pair[0]));
        }
        setup
            .resource(self.world)
            .resource(Ledger::default())
            .resource(ChunkAttachments::default())
            .system(stages::INTAKE, begin_tick)
            .hash(|ecs, hasher| {
                let world = ecs.resource::<World>();
                for chunk in world.chunks() {
                    hasher.write_i32s(&[chunk.position().x, chunk.position().z]);
                    for section in chunk.sections() {
                        hasher.write_u64(section.content_hash(world.states()));
                    }
                }
            });
        Ok(())
    }
}

fn begin_tick(mut world: ResMut<World>, tick: Res<Tick>) {
    world.begin_tick(tick.0);
}
