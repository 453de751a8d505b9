//! Writing what a run has changed back to the save it was loaded from.

use std::path::Path;

use bevy_ecs::world::Mut;
use voxtick::anvil::files::Access;
use voxtick::anvil::region::{RegionFolder, RegionFormat, RegionOptions, region_of_path};
use voxtick::anvil::{ChunkStorage, Save, StoragePlugin};
use voxtick::engine::Simulation;
use voxtick::worlds::{ChunkAttachments, ChunkPos, World};

use crate::outcome::{Failure, complain};

/// The storage of a run in a save: reads the dropped items of the chunks, and writes to the files that the save has if it
/// may.
pub(super) fn storage(save: &Save, writes: bool) -> Result<StoragePlugin, Failure> {
    if writes {
        for (_, file) in save.regions() {
            region_of_path(file)
                .map_err(|error| Failure::usage(format!("--save: {error}; rename the file")))?;
        }
    }
    // New regions are like those that are there.
    let format = save.regions().first().map_or(RegionFormat::Anvil, |(_, file)| RegionFormat::of_path(file));
    let access = if writes { Access::Write } else { Access::Read };
    let options = RegionOptions { access, ..RegionOptions::default() };
    let folder = |folder: &Path| RegionFolder::new(folder, options.clone()).with_format(format);
    let entities = save.entities_folder();
    let storage = StoragePlugin::new(folder(save.folder())).entities(entities.as_deref().map(folder));
    Ok(if writes { storage } else { storage.autosave(None) })
}

/// Gives the systems what belongs to the chunks that were loaded before the simulation was built.
pub(super) fn put_back(simulation: &mut Simulation) {
    let ecs = simulation.world_mut();
    let loaded: Vec<ChunkPos> = ecs.resource::<World>().chunk_positions().collect();
    if !ecs.contains_resource::<ChunkStorage>() {
        for position in loaded {
            for refused in ChunkAttachments::put_back(ecs, position) {
                complain(&refused.to_string());
            }
        }
        return;
    }
    ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| {
        loaded.into_iter().for_each(|position| storage.adopt(ecs, position));
        for failure in storage.failures.drain(..) {
            complain(&failure.to_string());
        }
    });
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
