//! The bodies stage of a simulation.

use std::ops::{Deref, DerefMut};

use bevy_ecs::prelude::*;
use voxtick_engine::{BuildError, Meter, Plugin, Pool, Seed, Setup};
use voxtick_worlds::{Inventories, Ledger, SpilledItem, World, stages};

use crate::population::{Population, Settings, Spawn};

/// All bodies of a simulation: a [`Population`] as a resource.
#[derive(Resource, Debug)]
pub struct Bodies(pub Population);

impl Deref for Bodies {
    type Target = Population;

    fn deref(&self) -> &Population {
        &self.0
    }
}

impl DerefMut for Bodies {
    fn deref_mut(&mut self) -> &mut Population {
        &mut self.0
    }
}

/// Adds the resource [`Bodies`] and the system that steps them to the stage "bodies".
///
/// Each tick, what fell out of pipes ([`SpilledItem`]) becomes a body before the bodies move, and what then reaches into an
/// [inlet](Population::add_inlet) goes into its container, where there are [`Inventories`].
///
/// Add it after [`WorldsPlugin`](voxtick_worlds::WorldsPlugin), which brings the stage, the world and the ledger. Cost
/// class: O(awake bodies) and O(changed blocks near sleepers).
///
/// ```
/// use voxtick_bodies::{Bodies, BodiesPlugin, Spawn};
/// use voxtick_engine::Simulation;
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, World, WorldsPlugin};
///
/// let states = BlockStates::load();
/// let stone = states.parse("stone")?;
/// let mut world = World::new(Dimension::overworld(), states);
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// world.set_block(BlockPos::new(8, 69, 8), stone)?;
///
/// let mut simulation =
///     Simulation::builder().plugin(WorldsPlugin::new(world)).plugin(BodiesPlugin::default()).build()?;
/// let apple = Spawn::at([8.5, 72.0, 8.5], ItemStack::new(ItemKind(7), 1, 64));
/// let ids = simulation.world_mut().resource_mut::<Bodies>().spawn(&[apple])?;
/// simulation.run(40)?;
/// let bodies = simulation.world().resource::<Bodies>();
/// assert_eq!(bodies.view(ids[0]).expect("it is there").body.position, [8.5, 70.0, 8.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct BodiesPlugin {
    /// How the bodies are worked on.
    pub settings: Settings,
}

impl Plugin for BodiesPlugin {
    fn name(&self) -> &'static str {
        "bodies"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        let Some(world) = setup.world().get_resource::<World>() else {
            return Err(BuildError::plugin(
                "bodies",
                "there is no world yet; add WorldsPlugin before BodiesPlugin",
            ));
        };
        let population = Population::new(world.states(), self.settings);
        setup.message::<SpilledItem>().resource(Bodies(population)).system(stages::BODIES, step_bodies).hash(
            |world, hasher| {
                for (id, view) in world.resource::<Bodies>().iter() {
                    hasher.write_u32s(&[id.number, id.generation, view.body.flags.results().0]);
                    hasher.write_f64s(&view.body.position);
                    hasher.write_f64s(&view.body.velocity);
                    let stack = view.stack;
                    let pickup = view.pickup_delay.map_or(u32::MAX, u32::from);
                    hasher.write_u32s(&[stack.kind.0, stack.count.into(), stack.max_count.into(), pickup]);
                    hasher.write_i32s(&[view.age.unwrap_or(i32::MIN)]);
                }
            },
        );
        Ok(())
    }
}

fn step_bodies(
    world: Res<World>,
    mut bodies: ResMut<Bodies>,
    mut ledger: ResMut<Ledger>,
    mut spilled: MessageReader<SpilledItem>,
    inventories: Option<ResMut<Inventories>>,
    (pool, seed): (Res<Pool>, Res<Seed>),
    meter: Res<Meter>,
) {
    let threads = pool.threads();
    let (world, seed) = (&*world, seed.0);
    let population = &mut bodies.0;
    for spill in spilled.read() {
        // With the game's delay and no speed of its own, as what a dropper lets go.
        if population.spawn(&[Spawn::at(spill.point, spill.stack)]).is_err() {
            meter.count("no room", 1);
        }
    }
    let tally = pool.install(|| population.tick(world, seed, threads));
    if let Some(mut inventories) = inventories {
        population.take_in(&mut inventories);
    }
    population.settle_ledger(&mut ledger);
    meter.items(tally.awake);
    meter.count("bodies", population.count() as u64);
    meter.count("awake", tally.awake);
    meter.count("exact path", tally.exact);
    meter.count("held", tally.held);
    meter.count("landed", population.events().landed.len() as u64);
    meter.count("merged", population.events().merged.len() as u64);
    meter.count("taken in", population.events().entered.len() as u64);
    meter.count("despawned", population.events().despawned.len() as u64);
}
