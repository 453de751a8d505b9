//! What a storage is told to do with the simulation's world at hand.

use bevy_ecs::prelude::{Mut, World as EcsWorld};
use voxtick_anvil::{ChunkStorage, StorageFailure};
use voxtick_engine::Simulation;
use voxtick_worlds::ChunkPos;

/// Saves all of it; returns what failed.
pub(crate) fn save_all(simulation: &mut Simulation) -> Vec<StorageFailure> {
    with(simulation, ChunkStorage::save_all)
}

pub(crate) fn unload(simulation: &mut Simulation, position: ChunkPos) {
    with(simulation, |storage, ecs| storage.unload(ecs, position));
}

fn with<T>(simulation: &mut Simulation, job: impl FnOnce(&mut ChunkStorage, &mut EcsWorld) -> T) -> T {
    let ecs = simulation.world_mut();
    ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| job(&mut storage, ecs))
}
