//! The plugin that gives a simulation its storage, and the systems that run it.

use super::io::{ChunkIo, StorageSettings};
use super::storage::ChunkStorage;
use crate::region::RegionFolder;
use bevy_ecs::prelude::{Mut, World as EcsWorld};
use std::time::Duration;
use voxtick_engine::{Allowance, BuildError, Plugin, Setup};
use voxtick_worlds::{ItemKinds, World, stages};

/// Loads and saves the chunks of a simulation's [`World`] on threads of its own.
///
/// Add it after `WorldsPlugin`. Ask for chunks through [`ChunkStorage`]; chunks that have changed are saved every so
/// many ticks, each in a tick of its own turn; [`ChunkStorage::save_all`] saves the rest before the end.
///
/// A kill leaves every chunk as it was in one of its saves, and two chunks may be of different ones: an item that went
/// from one to the other between these is then there twice, or not at all, as it is in the game. `save_all` takes all
/// chunks as they are in one tick, so what it has made durable is exact; where no item may be lost to a kill, turn the
/// [turns](StoragePlugin::autosave) off and call it between ticks.
///
/// Costs a tick: O(results taken + chunks whose turn to be saved it is + chunks that came or went), and about a
/// microsecond for each chunk that is saved.
///
/// ```
/// use voxtick_anvil::{ChunkStorage, StoragePlugin};
/// use voxtick_anvil::{files::Access, region::{RegionFolder, RegionOptions}};
/// use voxtick_engine::Simulation;
/// use voxtick_worlds::{BlockStates, ChunkPos, Dimension, World, WorldsPlugin};
/// # let folder = tempfile::tempdir()?;
/// let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
/// let regions = RegionFolder::new(folder.path(), options);
/// let world = World::new(Dimension::overworld(), BlockStates::load());
/// let mut simulation = Simulation::builder()
///     .plugin(WorldsPlugin::new(world))
///     .plugin(StoragePlugin::new(regions))
///     .build()?;
/// simulation.world_mut().resource_mut::<ChunkStorage>().load(ChunkPos::new(0, 0));
/// simulation.tick()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StoragePlugin {
    regions: RegionFolder,
    entities: Option<RegionFolder>,
    settings: StorageSettings,
    intake: Allowance,
    autosave: Option<u64>,
    flush_after: u64,
}

impl StoragePlugin {
    /// A plugin for the regions of a folder. Saves every chunk that has changed once in 6,000 ticks, five minutes.
    #[must_use]
    pub fn new(regions: RegionFolder) -> StoragePlugin {
        StoragePlugin {
            regions,
            entities: None,
            settings: StorageSettings::default(),
            intake: Allowance::Time(Duration::from_millis(2)),
            autosave: Some(6000),
            flush_after: 40,
        }
    }

    /// Where the regions of the entities are, `entities` beside `region` in Minecraft Java 1.17 onward. The folder must
    /// exist.
    ///
    /// Dropped items then come in with their chunks, and are written back with them, by the
    /// [`DroppedItemHooks`](voxtick_worlds::DroppedItemHooks) and under the names in
    /// [`ItemKinds`](voxtick_worlds::ItemKinds), which this plugin brings; without the hooks, and for all other entities,
    /// the records stay as they are. Before 1.17 the game kept entities in the chunks' own records: they are taken from
    /// there, and written back there, with or without this folder. Defaults to none.
    #[must_use]
    pub fn entities(mut self, regions: Option<RegionFolder>) -> StoragePlugin {
        self.entities = regions;
        self
    }

    /// How chunks are loaded and saved.
    #[must_use]
    pub fn settings(mut self, settings: StorageSettings) -> StoragePlugin {
        self.settings = settings;
        self
    }

    /// How much may enter in one tick, and how much of what is out of range may leave. Defaults to 2 ms each.
    ///
    /// With [`Allowance::Time`], what is there enters until the time is used; a tick goes over it by one chunk at most,
    /// and which chunks enter in which tick depends on the machine. With [`Allowance::Units`], so many chunks enter, the
    /// nearest of those asked for first, and the tick waits for them: the same chunks in the same tick on every machine,
    /// for replays.
    #[must_use]
    pub fn intake(mut self, allowance: Allowance) -> StoragePlugin {
        self.intake = allowance;
        self
    }

    /// In how many ticks every chunk has its turn to be saved; `None` saves only when told to. Defaults to 6,000.
    #[must_use]
    pub fn autosave(mut self, ticks: Option<u64>) -> StoragePlugin {
        self.autosave = ticks.map(|ticks| ticks.max(1));
        self
    }

    /// How many ticks after the first write to a region all that was written to it by then is made durable, at once.
    /// Defaults to 40, in which all chunks of a region have had their turn. A Linear file is written anew each time.
    #[must_use]
    pub fn flush_after(mut self, ticks: u64) -> StoragePlugin {
        self.flush_after = ticks;
        self
    }
}

impl Plugin for StoragePlugin {
    fn name(&self) -> &'static str {
        "storage"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        let world = setup.world().resource::<World>();
        let (dimension, states) = (world.dimension().clone(), world.states().clone());
        let window = self.settings.window.max(1);
        let io = ChunkIo::start(self.regions, self.entities, dimension, states, self.settings)
            .map_err(|error| BuildError::plugin("storage", error))?;
        if setup.world().get_resource::<ItemKinds>().is_none() {
            setup.resource(ItemKinds::default());
        }
        setup
            .resource(ChunkStorage::new(io, self.intake, window, self.autosave, self.flush_after))
            .system(stages::INTAKE, let_chunks_in)
            .system(stages::STORAGE, let_chunks_out);
        Ok(())
    }
}

fn let_chunks_in(ecs: &mut EcsWorld) {
    ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| storage.let_in(ecs));
}

fn let_chunks_out(ecs: &mut EcsWorld) {
    ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| storage.let_out(ecs));
}
