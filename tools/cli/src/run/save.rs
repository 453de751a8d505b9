//! Writing what a run has changed back to the save it was loaded from.

use bevy_ecs::world::Mut;
use voxtick::anvil::files::Access;
use voxtick::anvil::region::{RegionFolder, RegionFormat, RegionOptions, region_of_path};
use voxtick::anvil::{ChunkStorage, Save, StoragePlugin};
use voxtick::engine::Simulation;
use voxtick::worlds::{ChunkAttachments, ChunkPos, World};

use crate::outcome::{Failure, complain};

/// The storage of a run in a save: writes to the files that the save has.
pub(super) fn storage(save: &Save) -> Result<StoragePlugin, Failure> {
    for (_, file) in save.regions() {
        region_of_path(file).map_err(|error| Failure::usage(format!("--save: {error}; rename the file")))?;
    }
    // New regions are like those that are there.
    let format = save.regions().first().map_or(RegionFormat::Anvil, |(_, file)| RegionFormat::of_path(file));
    let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
    Ok(StoragePlugin::new(RegionFolder::new(save.folder(), options).with_format(format)))
}

/// Gives the systems what an earlier run has kept with the chunks that were loaded before the simulation was built.
pub(super) fn put_back(simulation: &mut Simulation) {
    let ecs = simulation.world_mut();
    let loaded: Vec<ChunkPos> = ecs.resource::<World>().chunk_positions().collect();
    for position in loaded {
        for refused in ChunkAttachments::put_back(ecs, position) {
            complain(&refused.to_string());
        }
    }
}

/// Saves everything that has changed, and lists what could not be saved.
pub(super) fn save_all(simulation: &mut Simulation, quiet: bool) -> Result<(), String> {
    simulation.world_mut().resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| {
        // What failed before was tried again since.
        for failure in storage.failures.drain(..) {
            complain(&format!("during the run: {failure}"));
        }
        let failures = storage.save_all(ecs);
        if !quiet {
            complain(&format!("{} chunks saved", storage.saved()));
        }
        failures.iter().for_each(|failure| complain(&failure.to_string()));
        match failures.len() {
            0 => Ok(()),
            failed => Err(format!("{failed} failures while saving; what is named above is not stored")),
        }
    })
}
