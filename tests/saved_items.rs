//! Bodies in a save: what the game knows of them is in its records, and all else is kept beside the chunks.

use std::path::Path;

use bevy_ecs::world::Mut;
use voxtick::anvil::compression::Compression;
use voxtick::anvil::entities::{EntitiesDocument, StoredEntity, write_entities};
use voxtick::anvil::files::Access;
use voxtick::anvil::nbt::NbtLimits;
use voxtick::anvil::region::{Overwrite, Region, RegionFolder, RegionOptions};
use voxtick::anvil::{ChunkStorage, StoragePlugin};
use voxtick::bodies::{Bodies, BodiesPlugin, Spawn};
use voxtick::prelude::*;
use voxtick::worlds::generators::{Superflat, generate};
use voxtick::worlds::{DroppedItem, ItemKinds};

const HERE: ChunkPos = ChunkPos::new(0, 0);
/// As a pipe of a scenario lets it fall: nothing names its kind.
const SPILL: ItemStack = ItemStack::new(ItemKind(1), 2, 64);

/// As the game would write it: eggs in one stack.
fn store_eggs(save: &Path, count: u8) {
    let mut kinds = ItemKinds::default();
    let kind = kinds.intern("minecraft:egg", &[]).expect("room");
    let eggs = DroppedItem {
        position: [8.5, -60.0, 8.5],
        velocity: [0.0; 3],
        on_ground: true,
        stack: ItemStack::new(kind, count, 16),
        age: None,
        pickup_delay: Some(0),
        record: None,
    };
    let new = EntitiesDocument::New { data_version: 4786, position: HERE };
    let entities = [StoredEntity::Item(eggs)];
    let (document, _) = write_entities(new, &entities, &NbtLimits::default(), &kinds).expect("a document");
    let region = Region::open_for_writing(save.join("entities/r.0.0.mca")).expect("it opens");
    region.write(HERE, Compression::Uncompressed, &document, 7, Overwrite::Sound).expect("written");
    region.flush().expect("flushed");
}

fn simulation(save: &Path, world: World) -> Simulation {
    let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
    let folder = |name: &str| RegionFolder::new(save.join(name), options.clone());
    Simulation::builder()
        .threads(1)
        .plugin(WorldsPlugin::new(world))
        .plugin(BodiesPlugin::default())
        .plugin(StoragePlugin::new(folder("region")).entities(Some(folder("entities"))).autosave(None))
        .build()
        .expect("a simulation")
}

fn save_all(simulation: &mut Simulation) {
    let ecs = simulation.world_mut();
    let failures = ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| storage.save_all(ecs));
    assert!(failures.is_empty(), "{failures:?}");
}

/// The bodies of the chunk, once it is loaded: how many items of what name.
fn load(simulation: &mut Simulation) -> Vec<(Option<String>, u8)> {
    simulation.world_mut().resource_mut::<ChunkStorage>().load(HERE);
    while simulation.world().resource::<ChunkStorage>().loads_under_way() > 0 {
        simulation.tick().expect("a tick");
    }
    let ecs = simulation.world();
    let name = |kind| ecs.resource::<ItemKinds>().name(kind).map(|(id, _)| id.to_owned());
    let bodies = ecs.resource::<Bodies>().iter();
    let mut found: Vec<_> = bodies.map(|(_, view)| (name(view.stack.kind), view.stack.count)).collect();
    found.sort();
    found
}

/// A spill in a chunk of a save took the name of an item, and was lost where the game had changed the chunk's entities.
#[test]
fn what_pipes_spill_is_no_item_of_the_save_and_is_not_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["region", "entities"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    let empty = || World::new(Dimension::overworld(), BlockStates::load());
    let mut world = empty();
    let flat = Superflat::classic(world.states()).expect("known blocks");
    for mut chunk in generate(&flat, &[HERE], world.dimension()) {
        chunk.modified = true;
        world.insert_chunk(chunk);
    }
    save_all(&mut simulation(folder.path(), world));
    store_eggs(folder.path(), 3);

    let (eggs, spill) = (|count| (Some("minecraft:egg".to_owned()), count), (None, SPILL.count));
    let mut first = simulation(folder.path(), empty());
    assert_eq!(load(&mut first), [eggs(3)]);
    let mut bodies = first.world_mut().resource_mut::<Bodies>();
    bodies.spawn(&[Spawn { age: None, ..Spawn::at([2.5, -58.0, 2.5], SPILL) }]).expect("room");
    first.run(20).expect("ticks");
    save_all(&mut first);
    drop(first);
    let mut second = simulation(folder.path(), empty());
    assert_eq!(load(&mut second), [spill.clone(), eggs(3)], "each once");
    second.run(20).expect("ticks");
    save_all(&mut second);
    drop(second);
    store_eggs(folder.path(), 5);
    for _ in 0..2 {
        let mut next = simulation(folder.path(), empty());
        assert_eq!(
            load(&mut next),
            [spill.clone(), eggs(5)],
            "the game's record counts, and the spill is there"
        );
        save_all(&mut next);
    }
}
