//! Dropped items of a save come in with their chunks and go back into their records; all else in these stays.
#![expect(clippy::print_stderr, reason = "says loudly which real files were used")]

#[path = "support/made.rs"]
mod made;
#[path = "support/saving.rs"]
mod saving;

use bevy_ecs::prelude::{Mut, Resource};
use fastnbt::Value;
use made::{RegionBytes, empty_chunk};
use saving::{save_all, unload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use voxtick_anvil::compression::{Compression, Inflater};
use voxtick_anvil::entities::{EntitiesDocument, StoredEntity, read_entities, write_entities};
use voxtick_anvil::files::Access;
use voxtick_anvil::nbt::NbtLimits;
use voxtick_anvil::region::{Overwrite, Region, RegionFolder, RegionOptions, StoredChunk};
use voxtick_anvil::{ChunkStorage, Limits, StoragePlugin};
use voxtick_engine::Simulation;
use voxtick_worlds::{
    AttachmentHooks, BlockStates, ChunkAttachments, ChunkPos, Dimension, DroppedItem, DroppedItemHooks,
    ItemKind, ItemKinds, ItemStack, World, WorldsPlugin,
};

const HERE: ChunkPos = ChunkPos::new(3, 4);
const THERE: ChunkPos = ChunkPos::new(5, 4);
const NAMELESS: ItemKind = ItemKind(1);

/// Who moves items, made up: each has a number beside what the game stores. Those from 200 on are of a kind that has no
/// name.
#[derive(Resource, Default)]
struct Movers(BTreeMap<ChunkPos, Vec<(DroppedItem, u8)>>);

const DROPPED_ITEMS: DroppedItemHooks = DroppedItemHooks {
    kept_as: "test:movers",
    items: |ecs, chunk| {
        let movers = ecs.resource::<Movers>().0.get(&chunk);
        movers.into_iter().flatten().map(|(item, _)| item.clone()).collect()
    },
    only: |bytes, _, kinds| {
        let rest: Vec<u8> =
            bytes.iter().copied().filter(|&number| number >= 200 && kinds.contains(&NAMELESS)).collect();
        (!rest.is_empty()).then_some(rest)
    },
    put_in: |ecs, chunk, items| {
        if items.iter().any(|item| item.position[1] > 1000.0) {
            return Err("too high".to_owned());
        }
        let movers = &mut ecs.resource_mut::<Movers>().0;
        movers.entry(chunk).or_default().extend(items.into_iter().map(|item| (item, 0)));
        Ok(())
    },
};

/// Keeps the numbers, and the items only by how many they are: what comes back has to come from them.
const KEPT: AttachmentHooks = AttachmentHooks {
    name: "test:movers",
    store: |ecs, chunk| {
        let movers = ecs.resource::<Movers>().0.get(&chunk)?;
        (!movers.is_empty()).then(|| movers.iter().map(|(_, number)| *number).collect())
    },
    take_out: |ecs, chunk| {
        let movers = ecs.resource_mut::<Movers>().0.remove(&chunk)?;
        (!movers.is_empty()).then(|| movers.iter().map(|(_, number)| *number).collect())
    },
    put_back: |ecs, chunk, bytes| {
        if bytes.contains(&199) {
            return Err("199 is no number".to_owned());
        }
        let eggs = ecs.resource_mut::<ItemKinds>().intern("minecraft:egg", &[]).expect("room");
        let item = |number: &u8| {
            let kind = if *number < 200 { eggs } else { NAMELESS };
            (egg(ItemStack::new(kind, 7, 7), f64::from(*number)), *number)
        };
        ecs.resource_mut::<Movers>().0.insert(chunk, bytes.iter().map(item).collect());
        Ok(())
    },
};

fn egg(stack: ItemStack, y: f64) -> DroppedItem {
    DroppedItem {
        position: [50.5, y, 70.5],
        velocity: [0.0, -0.04, 0.0],
        on_ground: false,
        stack,
        age: Some(5),
        pickup_delay: Some(0),
        record: None,
    }
}

fn pig() -> StoredEntity {
    let mut record = vec![8, 0, 2, b'i', b'd', 0, 13];
    record.extend(b"minecraft:pig");
    record.push(0);
    StoredEntity::Other(record.into())
}

/// A document with a pig, an egg at each of these heights, and another pig.
fn document(chunk: ChunkPos, heights: &[f64]) -> Vec<u8> {
    let mut kinds = ItemKinds::default();
    let kind = kinds.intern("minecraft:egg", &[]).expect("room");
    let mut entities = vec![pig()];
    entities.extend(heights.iter().map(|y| StoredEntity::Item(egg(ItemStack::new(kind, 7, 7), *y))));
    entities.push(pig());
    let new = EntitiesDocument::New { data_version: 3953, position: chunk };
    write_entities(new, &entities, &NbtLimits::default(), &kinds).expect("a document").0
}

/// A save with two chunks and the entities of the first.
fn save() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut chunks = RegionBytes::new();
    for chunk in [HERE, THERE] {
        let entry = (chunk.z * 32 + chunk.x) as usize;
        chunks.chunk(entry, 3, &empty_chunk(chunk.x, chunk.z));
    }
    for name in ["region", "entities"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    chunks.write(&folder.path().join("region"), "r.0.0.mca");
    store_entities(folder.path(), &document(HERE, &[64.0]));
    folder
}

fn entities_path(save: &Path) -> PathBuf {
    save.join("entities/r.0.0.mca")
}

fn store_entities(save: &Path, document: &[u8]) {
    let region = Region::open_for_writing(entities_path(save)).expect("it opens");
    region.write(HERE, Compression::Uncompressed, document, 1, Overwrite::Damaged).expect("written");
    region.flush().expect("flushed");
}

fn stored_document(save: &Path, chunk: ChunkPos) -> Option<Vec<u8>> {
    stored_in(&entities_path(save), chunk)
}

fn stored_in(path: &Path, chunk: ChunkPos) -> Option<Vec<u8>> {
    let region = Region::open(path).expect("it opens");
    let (mut stored, mut nbt) = (StoredChunk::default(), Vec::new());
    region.read(chunk, &mut stored, &Limits::default()).expect("it is whole").then(|| {
        Inflater::new().inflate(stored.compression(), stored.payload(), 1 << 20, &mut nbt).expect("whole");
        nbt
    })
}

/// The heights of the items of a document, and how many other entities there are.
fn stored_heights(save: &Path, chunk: ChunkPos) -> (Vec<f64>, usize) {
    heights_in(&stored_document(save, chunk).expect("a record"), chunk)
}

fn heights_in(document: &[u8], chunk: ChunkPos) -> (Vec<f64>, usize) {
    let mut kinds = ItemKinds::default();
    let entities = read_entities(document, chunk, &NbtLimits::default(), &mut kinds).expect("readable");
    let others = entities.iter().filter(|entity| **entity == pig()).count();
    let height = |entity: &StoredEntity| match entity {
        StoredEntity::Item(item) => Some(item.position[1]),
        StoredEntity::Other(_) => None,
    };
    (entities.iter().filter_map(height).collect(), others)
}

fn simulation(save: &Path) -> Simulation {
    let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
    let folder = |name: &str| RegionFolder::new(save.join(name), options.clone());
    let entities = save.join("entities").is_dir().then(|| folder("entities"));
    let storage = StoragePlugin::new(folder("region")).entities(entities).autosave(None);
    let world = World::new(Dimension::overworld(), BlockStates::load());
    let built = Simulation::builder().threads(1).plugin(WorldsPlugin::new(world)).plugin(storage).build();
    let mut simulation = built.expect("it builds");
    let ecs = simulation.world_mut();
    ecs.init_resource::<Movers>();
    ecs.insert_resource(DROPPED_ITEMS);
    ecs.resource_mut::<ChunkAttachments>().register(KEPT).expect("the first");
    simulation
}

fn storage<T>(simulation: &mut Simulation, job: impl FnOnce(&mut ChunkStorage) -> T) -> T {
    job(&mut simulation.world_mut().resource_mut::<ChunkStorage>())
}

fn load(simulation: &mut Simulation, chunk: ChunkPos) {
    storage(simulation, |storage| storage.load(chunk));
    while storage(simulation, |storage| storage.loads_under_way()) > 0 {
        simulation.tick().expect("the tick runs");
    }
}

fn movers(simulation: &mut Simulation) -> &mut Vec<(DroppedItem, u8)> {
    simulation.world_mut().resource_mut::<Movers>().into_inner().0.entry(HERE).or_default()
}

fn heights(simulation: &mut Simulation) -> Vec<f64> {
    movers(simulation).iter().map(|(item, _)| item.position[1]).collect()
}

#[test]
fn what_has_not_moved_leaves_the_file_to_the_byte() {
    let folder = save();
    let before = std::fs::read(entities_path(folder.path())).expect("a file");
    let mut first = simulation(folder.path());
    load(&mut first, HERE);
    assert_eq!(heights(&mut first), [64.0]);
    assert!(save_all(&mut first).is_empty());
    drop(first);
    assert_eq!(std::fs::read(entities_path(folder.path())).expect("a file"), before);
}

#[test]
fn items_that_have_moved_or_gone_or_come_are_written_and_all_else_stays() {
    let folder = save();
    let mut first = simulation(folder.path());
    load(&mut first, HERE);
    movers(&mut first)[0].0.position[1] = 60.0;
    assert!(save_all(&mut first).is_empty());
    assert_eq!(stored_heights(folder.path(), HERE), (vec![60.0], 2));
    let mut another = movers(&mut first)[0].clone();
    another.0.position[1] = 59.0;
    movers(&mut first).push(another.clone());
    // A chunk that had no record gets one.
    load(&mut first, THERE);
    another.0.position[0] = 90.0;
    first.world_mut().resource_mut::<Movers>().0.insert(THERE, vec![another]);
    assert!(save_all(&mut first).is_empty());
    assert_eq!(stored_heights(folder.path(), HERE), (vec![60.0, 59.0], 2));
    assert_eq!(stored_heights(folder.path(), THERE), (vec![59.0], 0));
    movers(&mut first).clear();
    unload(&mut first, HERE);
    assert!(save_all(&mut first).is_empty());
    drop(first);
    assert_eq!(stored_heights(folder.path(), HERE), (vec![], 2));
    let mut second = simulation(folder.path());
    load(&mut second, HERE);
    assert_eq!(heights(&mut second), [0.0; 0], "what has gone stays away");
}

#[test]
fn no_item_comes_in_twice_and_what_the_game_has_written_since_counts() {
    let folder = save();
    let mut first = simulation(folder.path());
    load(&mut first, HERE);
    // What the mover keeps alone knows this item by its number, 40.
    movers(&mut first)[0].1 = 40;
    movers(&mut first)[0].0.position[1] = 61.0;
    unload(&mut first, HERE);
    // Before and after its save has come through.
    for ticks in [0, 30] {
        first.run(ticks).expect("the ticks run");
        load(&mut first, HERE);
        assert_eq!(heights(&mut first), [40.0], "as the mover has kept it, once");
        unload(&mut first, HERE);
    }
    assert!(save_all(&mut first).is_empty());
    drop(first);
    let mut second = simulation(folder.path());
    load(&mut second, HERE);
    assert_eq!(heights(&mut second), [40.0]);
    assert!(save_all(&mut second).is_empty());
    drop(second);
    store_entities(folder.path(), &document(HERE, &[70.0, 71.0]));
    let mut third = simulation(folder.path());
    load(&mut third, HERE);
    assert_eq!(heights(&mut third), [70.0, 71.0], "the game has moved it, and dropped another");
}

/// Where the game had changed the record, all that was kept beside it was dropped, made-up kinds among it.
#[test]
fn what_has_no_name_stays_when_the_record_counts() {
    let folder = save();
    let mut first = simulation(folder.path());
    load(&mut first, HERE);
    movers(&mut first)[0].0.position[1] = 61.0;
    movers(&mut first).push((egg(ItemStack::new(NAMELESS, 2, 7), 210.0), 210));
    assert!(save_all(&mut first).is_empty());
    drop(first);
    assert_eq!(stored_heights(folder.path(), HERE), (vec![61.0], 2));
    store_entities(folder.path(), &document(HERE, &[70.0, 71.0]));
    for _ in 0..2 {
        let mut next = simulation(folder.path());
        load(&mut next, HERE);
        let mut now = heights(&mut next);
        now.sort_by(f64::total_cmp);
        // The mover keeps of those of the record the number 0 alone, and puts them there the second time.
        assert!(now == [70.0, 71.0, 210.0] || now == [0.0, 0.0, 210.0], "{now:?}");
        assert!(save_all(&mut next).is_empty());
    }
}

/// A chunk whose only items had no name had no mark, and a record that never differed neither: both came in.
#[test]
fn an_item_that_never_changes_comes_in_once() {
    for nameless in [false, true] {
        let folder = save();
        for expected in [64.0, 0.0, 0.0] {
            let mut next = simulation(folder.path());
            load(&mut next, HERE);
            let now: Vec<f64> = heights(&mut next).into_iter().filter(|&height| height != 210.0).collect();
            assert_eq!(now, [expected], "by the record, then as the mover has kept it");
            // As it stands in the record.
            movers(&mut next).retain(|&(_, number)| number < 200);
            movers(&mut next)[0].0.position[1] = 64.0;
            if nameless {
                movers(&mut next).push((egg(ItemStack::new(NAMELESS, 2, 7), 210.0), 210));
            }
            assert!(save_all(&mut next).is_empty());
        }
    }
}

/// The items of the record were gone from it with the next save where what was kept of them had been refused.
#[test]
fn the_record_counts_where_what_was_kept_is_refused() {
    let folder = save();
    let mut first = simulation(folder.path());
    load(&mut first, HERE);
    movers(&mut first)[0].0.position[1] = 61.0;
    movers(&mut first)[0].1 = 199;
    assert!(save_all(&mut first).is_empty());
    drop(first);
    let mut second = simulation(folder.path());
    load(&mut second, HERE);
    assert_eq!(heights(&mut second), [61.0]);
    assert!(storage(&mut second, |storage| storage.failures.drain(..).count()) == 1);
    assert!(save_all(&mut second).is_empty());
    assert_eq!(stored_heights(folder.path(), HERE), (vec![61.0], 2));
}

/// A record of entities that cannot be read must not cost the chunk, nor be written over.
#[test]
fn a_record_that_makes_no_sense_is_told_and_stays() {
    let folder = save();
    for (bytes, part) in [(&b"no NBT"[..], "the entities of chunk"), (&document(HERE, &[2000.0]), "too high")]
    {
        store_entities(folder.path(), bytes);
        let mut first = simulation(folder.path());
        load(&mut first, HERE);
        let told: Vec<String> = storage(&mut first, |storage| {
            storage.failures.drain(..).map(|failure| failure.to_string()).collect()
        });
        assert!(told.len() == 1 && told[0].contains(part), "{told:?}");
        let loaded = first.world().resource::<World>().chunk(HERE).is_some();
        assert!(loaded, "the chunk is whole");
        let kind = first.world_mut().resource_mut::<ItemKinds>().intern("minecraft:egg", &[]).expect("room");
        movers(&mut first).push((egg(ItemStack::new(kind, 1, 1), 30.0), 30));
        assert!(save_all(&mut first).is_empty());
        drop(first);
        assert_eq!(stored_document(folder.path(), HERE).as_deref(), Some(bytes));
        let mut second = simulation(folder.path());
        load(&mut second, HERE);
        assert_eq!(heights(&mut second), [30.0], "what came since is kept with the chunk");
        movers(&mut second).clear();
        assert!(save_all(&mut second).is_empty());
    }
}

#[test]
fn chunks_that_were_there_before_are_adopted() {
    let folder = save();
    let mut first = simulation(folder.path());
    let ecs = first.world_mut();
    let world = &mut *ecs.resource_mut::<World>();
    let chunk = voxtick_worlds::Chunk::empty(HERE, world.dimension());
    world.insert_chunk(chunk);
    ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| storage.adopt(ecs, HERE));
    assert_eq!(heights(&mut first), [64.0]);
    assert!(storage(&mut first, |storage| storage.failures.is_empty()));
}

/// The entities of a document in the record of their chunk, as the game wrote it before 1.17.
fn old_chunk(entities: &[u8]) -> Vec<u8> {
    let mut entities: BTreeMap<String, Value> = fastnbt::from_bytes(entities).expect("NBT");
    let level = fastnbt::nbt!({
        "xPos": HERE.x, "zPos": HERE.z, "Status": "full", "InhabitedTime": 77_i64,
        "Entities": entities.remove("Entities").expect("a list"), "Sections": [],
    });
    fastnbt::to_bytes(&fastnbt::nbt!({ "DataVersion": 2578, "Level": level })).expect("NBT can be written")
}

#[test]
fn entities_in_the_records_of_chunks_come_in_and_go_back_there() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("region")).expect("a folder");
    let mut chunks = RegionBytes::new();
    chunks.chunk((HERE.z * 32 + HERE.x) as usize, 3, &old_chunk(&document(HERE, &[64.0])));
    let path = chunks.write(&folder.path().join("region"), "r.0.0.mca");
    let entities = |record: &[u8]| {
        read_entities(record, HERE, &NbtLimits::default(), &mut ItemKinds::default()).expect("readable")
    };
    let before = entities(&stored_in(&path, HERE).expect("a record"));
    let mut first = simulation(folder.path());
    load(&mut first, HERE);
    assert_eq!(heights(&mut first), [64.0]);
    assert!(save_all(&mut first).is_empty());
    assert!(entities(&stored_in(&path, HERE).expect("a record")) == before, "nothing has moved");

    movers(&mut first)[0].1 = 40;
    movers(&mut first)[0].0.position[1] = 61.0;
    assert!(save_all(&mut first).is_empty());
    drop(first);
    let record = stored_in(&path, HERE).expect("a record");
    assert_eq!(heights_in(&record, HERE), (vec![61.0], 2));
    let level = |record: &[u8]| -> BTreeMap<String, Value> {
        let mut root: BTreeMap<String, Value> = fastnbt::from_bytes(record).expect("NBT");
        let Some(Value::Compound(mut level)) = root.remove("Level") else { panic!("no level: {root:?}") };
        level.remove("Entities");
        level.into_iter().collect()
    };
    assert_eq!(level(&record), level(&old_chunk(&document(HERE, &[]))), "all else stays");

    let mut second = simulation(folder.path());
    load(&mut second, HERE);
    assert_eq!(heights(&mut second), [40.0], "as the mover has kept it, once");
    assert!(save_all(&mut second).is_empty());
    drop(second);

    // The game has moved it, and keeps what it does not know.
    let mut kinds = ItemKinds::default();
    let moved = document(HERE, &[70.0, 71.0]);
    let moved = read_entities(&moved, HERE, &NbtLimits::default(), &mut kinds).expect("readable");
    let stored = EntitiesDocument::Stored(&record);
    let (record, _) = write_entities(stored, &moved, &NbtLimits::default(), &kinds).expect("readable");
    let region = Region::open_for_writing(&path).expect("it opens");
    region.write(HERE, Compression::Uncompressed, &record, 1, Overwrite::Sound).expect("written");
    drop(region);
    let mut third = simulation(folder.path());
    load(&mut third, HERE);
    assert_eq!(heights(&mut third), [70.0, 71.0], "the game's record counts");
}

#[test]
fn an_item_dropped_in_a_real_chunk_of_1_16_is_written_beside_what_the_game_has_there() {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else {
        eprintln!("VOXTICK_DATA is not set: no real chunk of 1.16 is at hand");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("region/r.0.0.mca");
    std::fs::create_dir(folder.path().join("region")).expect("a folder");
    std::fs::copy(Path::new(&data).join("worlds/java-1.16/r.0.0.mca"), &path).expect("it can be copied");
    let read = |chunk: ChunkPos| {
        let record = stored_in(&path, chunk).expect("a record");
        let mut kinds = ItemKinds::default();
        read_entities(&record, chunk, &NbtLimits::default(), &mut kinds).expect("the game wrote it")
    };
    let chunks: Vec<ChunkPos> = Region::open(&path).expect("it opens").chunks().collect();
    let before: Vec<Vec<StoredEntity>> = chunks.iter().map(|chunk| read(*chunk)).collect();
    let fullest = (0..chunks.len()).max_by_key(|place| before[*place].len()).expect("some chunk");
    let mut simulation = simulation(folder.path());
    chunks.iter().for_each(|chunk| load(&mut simulation, *chunk));
    let items = |entities: &[StoredEntity]| {
        entities.iter().filter(|entity| matches!(entity, StoredEntity::Item(_))).count()
    };
    let movers = &mut simulation.world_mut().resource_mut::<Movers>().into_inner().0;
    assert!(
        chunks
            .iter()
            .zip(&before)
            .all(|(chunk, before)| movers.get(chunk).map_or(0, Vec::len) == items(before))
    );
    let kind = simulation.world_mut().resource_mut::<ItemKinds>().intern("minecraft:egg", &[]).expect("room");
    let dropped = (egg(ItemStack::new(kind, 7, 7), 65.0), 0);
    let movers = &mut simulation.world_mut().resource_mut::<Movers>().into_inner().0;
    movers.entry(chunks[fullest]).or_default().push(dropped);
    assert!(save_all(&mut simulation).is_empty());
    drop(simulation);
    for (place, (chunk, before)) in chunks.iter().zip(&before).enumerate() {
        let after = read(*chunk);
        let is_here = |entity: &&StoredEntity| matches!(entity, StoredEntity::Other(_));
        assert!(after.iter().filter(is_here).eq(before.iter().filter(is_here)), "{chunk}");
        assert_eq!(items(&after), items(before) + usize::from(place == fullest), "{chunk}");
    }
    eprintln!("{} entities in {}", before[fullest].len(), chunks[fullest]);
}
