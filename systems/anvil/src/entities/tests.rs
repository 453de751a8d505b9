//! Entities read and written: what is not touched stays to the byte, what makes no sense is kept.

use super::*;
use crate::nbt::{NbtLimits, NbtWriter, Tag, Tape};
use proptest::prelude::*;
use voxtick_worlds::{ChunkPos, DroppedItem, ItemKinds, ItemStack};

const HERE: ChunkPos = ChunkPos::new(3, -5);

/// A field with any payload.
fn field(tag: Tag, name: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = NbtWriter::new(&mut bytes);
    writer.begin(tag, name);
    writer.raw(payload);
    bytes
}

fn text(name: &str, text: &str) -> Vec<u8> {
    let mut payload = Vec::new();
    NbtWriter::new(&mut payload).string(text);
    field(Tag::String, name, &payload)
}

fn triple(name: &str, parts: [f64; 3]) -> Vec<u8> {
    let mut payload = Vec::new();
    let mut writer = NbtWriter::new(&mut payload);
    writer.list(Tag::Double, 3);
    parts.iter().for_each(|part| writer.raw(&part.to_be_bytes()));
    field(Tag::List, name, &payload)
}

fn compound(fields: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = fields.concat();
    bytes.push(0);
    bytes
}

fn item(count: &[u8], position: [f64; 3], age: &[u8]) -> Vec<u8> {
    let stack = compound(&[text("id", "minecraft:egg"), count.to_vec()]);
    compound(&[
        text("id", "minecraft:item"),
        field(Tag::IntArray, "UUID", &[0, 0, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2]),
        triple("Pos", position),
        field(Tag::Short, "Fire", &[0xFF, 0xFF]),
        triple("Motion", [0.0, -0.0, 1.0e-9]),
        field(Tag::Short, "Age", age),
        field(Tag::Short, "PickupDelay", &[0x7F, 0xFF]),
        field(Tag::Compound, "Item", &stack),
    ])
}

fn document(level: bool, entities: &[Vec<u8>]) -> Vec<u8> {
    let mut list = Vec::new();
    let mut writer = NbtWriter::new(&mut list);
    writer.list(if entities.is_empty() { Tag::End } else { Tag::Compound }, entities.len());
    writer.raw(&entities.concat());
    let list = field(Tag::List, "Entities", &list);
    let version = field(Tag::Int, "DataVersion", &3955_i32.to_be_bytes());
    let root = if level {
        compound(&[version, field(Tag::Compound, "Level", &compound(&[list, text("Status", "full")]))])
    } else {
        let position = [2_i32, HERE.x, HERE.z].map(i32::to_be_bytes).concat();
        compound(&[version, list, field(Tag::IntArray, "Position", &position)])
    };
    field(Tag::Compound, "", &root)
}

fn read(document: &[u8], kinds: &mut ItemKinds) -> Vec<StoredEntity> {
    read_entities(document, HERE, &NbtLimits::default(), kinds).expect("readable")
}

fn write(document: &[u8], entities: &[StoredEntity], kinds: &ItemKinds) -> Vec<u8> {
    let written = write_entities(EntitiesDocument::Stored(document), entities, &NbtLimits::default(), kinds);
    let (bytes, left_out) = written.expect("readable");
    assert_eq!(left_out, 0);
    bytes
}

const ONE: [u8; 4] = 1_i32.to_be_bytes();

#[test]
fn what_has_not_changed_comes_out_to_the_byte_in_both_layouts() {
    let pig = compound(&[text("id", "minecraft:pig"), field(Tag::Float, "Health", &[1, 2, 3, 4])]);
    let count = field(Tag::Int, "count", &7_i32.to_be_bytes());
    for level in [false, true] {
        let before =
            document(level, &[pig.clone(), item(&count, [50.5, 64.0, -70.25], &[0, 9]), pig.clone()]);
        let mut kinds = ItemKinds::default();
        let entities = read(&before, &mut kinds);
        let [StoredEntity::Other(first), StoredEntity::Item(egg), StoredEntity::Other(_)] = &entities[..]
        else {
            panic!("{entities:?}");
        };
        assert_eq!(**first, pig[..]);
        assert_eq!((egg.age, egg.pickup_delay, egg.stack.count), (Some(9), None, 7));
        assert_eq!(write(&before, &entities, &kinds), before);
    }
}

#[test]
fn what_has_changed_is_read_back_and_the_rest_of_the_record_stays() {
    let mut kinds = ItemKinds::default();
    kinds.set_stack_limit("minecraft:egg", 16);
    for count in [field(Tag::Int, "count", &ONE), field(Tag::Byte, "Count", &[1]), Vec::new()] {
        let before = document(false, &[item(&count, [50.5, 64.0, -70.25], &[0x80, 0])]);
        let mut entities = read(&before, &mut kinds);
        let StoredEntity::Item(egg) = &mut entities[0] else { panic!("an item") };
        assert_eq!((egg.age, egg.stack.max_count), (None, 16));
        egg.position = [51.0, 63.0, -79.875];
        egg.velocity = [0.0, -0.04, 0.0];
        egg.stack.count = 12;
        egg.age = Some(5_999);
        egg.pickup_delay = Some(10);
        egg.on_ground = true;
        let egg = egg.clone();
        let after = write(&before, &entities, &kinds);
        let again = read(&after, &mut kinds);
        let [StoredEntity::Item(read)] = &again[..] else { panic!("an item") };
        assert_eq!(DroppedItem { record: None, ..read.clone() }, DroppedItem { record: None, ..egg });
        let record = read.record.as_ref().expect("it was stored");
        let uuid =
            field(Tag::IntArray, "UUID", &[0, 0, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2]);
        assert!(record.windows(uuid.len()).any(|part| part == uuid), "what is not modelled is still there");
        assert_eq!(write(&after, &again, &kinds), after);
    }
}

#[test]
fn an_item_without_a_record_gets_one() {
    let mut kinds = ItemKinds::default();
    let kind = kinds.intern("minecraft:stick", &[]).expect("room");
    let stick = DroppedItem {
        position: [48.5, 70.0, -80.0],
        velocity: [0.1, 0.2, 0.3],
        on_ground: false,
        stack: ItemStack::new(kind, 5, 5),
        age: Some(3),
        pickup_delay: Some(40),
        record: None,
    };
    for data_version in [2_860, 4_671] {
        let new = EntitiesDocument::New { data_version, position: HERE };
        let entities = [StoredEntity::Item(stick.clone())];
        let (bytes, left_out) =
            write_entities(new, &entities, &NbtLimits::default(), &kinds).expect("a document");
        assert_eq!(left_out, 0);
        let again = read(&bytes, &mut kinds);
        let [StoredEntity::Item(read)] = &again[..] else { panic!("{again:?}") };
        assert_eq!(DroppedItem { record: None, ..read.clone() }, stick);
    }
    let nameless = StoredEntity::Item(DroppedItem {
        stack: ItemStack::new(voxtick_worlds::ItemKind(99), 1, 1),
        ..stick
    });
    let new = EntitiesDocument::New { data_version: 4_671, position: HERE };
    let (_, left_out) = write_entities(new, &[nameless], &NbtLimits::default(), &kinds).expect("a document");
    assert_eq!(left_out, 1);
}

#[test]
fn items_that_make_no_sense_are_kept_as_they_are() {
    let sound = field(Tag::Int, "count", &ONE);
    let place = [50.0, 64.0, -70.0];
    let strange = [
        item(&field(Tag::Int, "count", &0_i32.to_be_bytes()), place, &[0, 1]),
        item(&field(Tag::Int, "count", &100_i32.to_be_bytes()), place, &[0, 1]),
        item(&text("count", "many"), place, &[0, 1]),
        compound(&[text("id", "minecraft:item")]),
        compound(&[field(Tag::Int, "id", &ONE)]),
    ];
    for record in strange {
        let before = document(false, std::slice::from_ref(&record));
        let mut kinds = ItemKinds::default();
        let entities = read(&before, &mut kinds);
        assert_eq!(entities, [StoredEntity::Other(record.into())]);
        assert_eq!(write(&before, &entities, &kinds), before);
    }
    // A place that is none is a body's business: it is quarantined there, and comes back as it was.
    let before = document(true, &[item(&sound, [f64::NAN, f64::INFINITY, 1.0e300], &[0, 1])]);
    let mut kinds = ItemKinds::default();
    let entities = read(&before, &mut kinds);
    assert!(matches!(&entities[..], [StoredEntity::Item(_)]));
    assert_eq!(write(&before, &entities, &kinds), before);
}

#[test]
fn records_of_other_places_and_lists_of_other_kinds_are_errors() {
    let before = document(false, &[]);
    let mut kinds = ItemKinds::default();
    let elsewhere = read_entities(&before, ChunkPos::new(0, 0), &NbtLimits::default(), &mut kinds);
    assert_eq!(elsewhere, Err(EntitiesError::WrongPosition { found: HERE }));
    let odd = field(Tag::Compound, "", &compound(&[text("Entities", "none")]));
    assert_eq!(read_entities(&odd, HERE, &NbtLimits::default(), &mut kinds), Err(EntitiesError::NoList));
    let nothing = field(Tag::Compound, "", &compound(&[]));
    assert_eq!(read(&nothing, &mut kinds), []);
}

proptest! {
    #[test]
    fn any_list_of_items_comes_back(
        items in prop::collection::vec((any::<[u64; 6]>(), 1_u8..=99, any::<i16>(), any::<i16>(), any::<bool>()), 0..6),
        level in any::<bool>(),
    ) {
        let mut kinds = ItemKinds::default();
        let kind = kinds.intern("minecraft:egg", &[]).expect("room");
        let entities: Vec<StoredEntity> = items
            .into_iter()
            .map(|([x, y, z, vx, vy, vz], count, age, delay, on_ground)| {
                StoredEntity::Item(DroppedItem {
                    position: [x, y, z].map(f64::from_bits),
                    velocity: [vx, vy, vz].map(f64::from_bits),
                    on_ground,
                    stack: ItemStack::new(kind, count, count),
                    age: (age != NEVER_DESPAWN).then_some(age),
                    pickup_delay: (delay != NEVER_PICK_UP).then(|| delay.max(0).cast_unsigned()),
                    record: None,
                })
            })
            .collect();
        let bytes = write(&document(level, &[]), &entities, &kinds);
        let again = read(&bytes, &mut kinds);
        prop_assert_eq!(again.len(), entities.len());
        for (read, expected) in again.iter().zip(&entities) {
            let (StoredEntity::Item(read), StoredEntity::Item(expected)) = (read, expected) else {
                return Err(TestCaseError::fail("an item became something else"));
            };
            prop_assert_eq!(read.position.map(f64::to_bits), expected.position.map(f64::to_bits));
            prop_assert_eq!(read.velocity.map(f64::to_bits), expected.velocity.map(f64::to_bits));
            prop_assert_eq!((read.stack, read.age), (expected.stack, expected.age));
            prop_assert_eq!((read.pickup_delay, read.on_ground), (expected.pickup_delay, expected.on_ground));
        }
        prop_assert_eq!(write(&bytes, &again, &kinds), bytes.clone());
        let mut tape = Tape::new();
        prop_assert!(tape.parse(&bytes, &NbtLimits::default()).is_ok());
    }

    #[test]
    fn bent_bytes_never_panic(at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let count = field(Tag::Int, "count", &ONE);
        let mut bytes = document(false, &[item(&count, [50.0, 64.0, -70.0], &[0, 1])]);
        let at = at.index(bytes.len());
        bytes[at] = value;
        let mut kinds = ItemKinds::default();
        if let Ok(entities) = read_entities(&bytes, HERE, &NbtLimits::default(), &mut kinds) {
            let written = write_entities(EntitiesDocument::Stored(&bytes), &entities, &NbtLimits::default(), &kinds);
            prop_assert!(written.is_ok());
        }
    }
}
