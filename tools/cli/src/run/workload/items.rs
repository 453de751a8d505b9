//! Dropped items all over the loaded chunks, a share of them thrown up again every tick.

use bevy_ecs::prelude::{Res, ResMut, Resource};
use voxtick::bodies::{Bodies, BodyId, Spawn};
use voxtick::engine::{BuildError, Setup, Tick};
use voxtick::worlds::generators::split_mix;
use voxtick::worlds::{ChunkPos, ItemKind, ItemStack, World, stages};

use super::edits::surface;
use crate::run::scenario::ItemSettings;

/// How many kinds of items there are. None is an item of a save.
const KINDS: u64 = 64;

/// What to drop, until the simulation is built.
pub(super) struct Items {
    spawns: Vec<Spawn>,
    throw_every: u32,
    seed: u64,
}

/// The dropped items by turn: in each tick those of one turn are thrown up.
#[derive(Resource)]
struct Throws {
    bodies: Vec<BodyId>,
    every: u32,
    seed: u64,
    /// Kept from tick to tick so that no tick allocates.
    now: Vec<(BodyId, [f64; 3])>,
}

impl Items {
    /// Items spread evenly over the chunks that are loaded now.
    pub(super) fn new(settings: &ItemSettings, seed: u64, world: &World) -> Items {
        let seed = split_mix(seed ^ 0x17E35);
        let chunks: Vec<ChunkPos> = world.chunk_positions().collect();
        let count = if chunks.is_empty() { 0 } else { settings.count };
        let spawn = |number: u32| {
            let hash = split_mix(seed ^ u64::from(number));
            let chunk = chunks[number as usize % chunks.len()];
            let (x, z) = (f64::from(chunk.x) * 16.0, f64::from(chunk.z) * 16.0);
            let (x, z) = (x + share(hash) * 16.0, z + share(hash >> 16) * 16.0);
            let ground =
                surface(world, x.floor() as i32, z.floor() as i32).unwrap_or(world.dimension().max_y());
            Spawn {
                position: [x, f64::from(ground) + share(hash >> 32) * settings.height, z],
                velocity: velocity(hash),
                // Things that neither merge nor vanish, so that their number is the scenario's to the end.
                stack: ItemStack::single(ItemKind((hash % KINDS) as u32)),
                pickup_delay: None,
                age: None,
            }
        };
        Items { spawns: (0..count).map(spawn).collect(), throw_every: settings.throw_every, seed }
    }

    /// Drops them and adds the system that throws.
    pub(super) fn add_to(self, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        if self.spawns.is_empty() {
            return Ok(());
        }
        let bodies = setup
            .world()
            .resource_mut::<Bodies>()
            .spawn(&self.spawns)
            .map_err(|error| BuildError::plugin("workload", error))?;
        if self.throw_every > 0 {
            let now = Vec::with_capacity(bodies.len() / self.throw_every as usize + 1);
            setup
                .resource(Throws { bodies, every: self.throw_every, seed: self.seed, now })
                .system(stages::INTAKE, throw_items);
        }
        Ok(())
    }
}

/// Throws those whose turn it is.
fn throw_items(mut throws: ResMut<Throws>, mut bodies: ResMut<Bodies>, tick: Res<Tick>) {
    let throws = &mut *throws;
    let turn = (tick.0 % u64::from(throws.every)) as usize;
    throws.now.clear();
    for (number, &id) in throws.bodies.iter().enumerate().skip(turn).step_by(throws.every as usize) {
        throws.now.push((id, velocity(split_mix(throws.seed ^ split_mix(tick.0 << 32 | number as u64)))));
    }
    bodies.throw(&throws.now);
}

/// Up to 0.4 blocks a tick to each side, and upwards more than down: the throws of the published harness.
fn velocity(hash: u64) -> [f64; 3] {
    [share(hash >> 8) * 0.8 - 0.4, share(hash >> 24) * 0.6 - 0.2, share(hash >> 40) * 0.8 - 0.4]
}

/// The lowest 16 bits as a number from 0 up to, and without, 1.
fn share(hash: u64) -> f64 {
    f64::from(hash as u16) / 65_536.0
}
