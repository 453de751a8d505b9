//! From rows to a record.

use super::read::{EntitiesError, StoredEntity, holder, short, triple};
use super::{FIRST_WITH_COMPONENTS, NEVER_DESPAWN, NEVER_PICK_UP};
use crate::chunk::patch::Patch;
use crate::nbt::{Nbt, NbtLimits, NbtWriter, Tag, Tape};
use voxtick_worlds::{ChunkPos, DroppedItem, ItemKinds};

/// What entities are written into.
#[derive(Debug, Clone, Copy)]
pub enum EntitiesDocument<'a> {
    /// The inflated record that they were read from: all but the list stays as it is.
    Stored(&'a [u8]),
    /// A new record of an `entities` region.
    New {
        /// The game's number for the version that it is for.
        data_version: i32,
        /// The chunk.
        position: ChunkPos,
    },
}

/// The document with these entities in place of those that it had.
///
/// An entity that is as it was read comes out byte for byte. Items whose kind `kinds` does not know keep the name that
/// their record has; without a record they cannot be written and are counted in the second result.
///
/// # Errors
/// The stored document is no NBT.
pub fn write_entities(
    document: EntitiesDocument<'_>,
    entities: &[StoredEntity],
    limits: &NbtLimits,
    kinds: &ItemKinds,
) -> Result<(Vec<u8>, usize), EntitiesError> {
    let fresh;
    let stored = match document {
        EntitiesDocument::Stored(stored) => stored,
        EntitiesDocument::New { data_version, position } => {
            fresh = new_document(data_version, position);
            &fresh
        }
    };
    let mut tape = Tape::new();
    let root = tape.parse(stored, limits)?;
    let version = root.field("DataVersion").and_then(|version| version.integer()).unwrap_or(0);
    let mut records = Vec::new();
    let mut written = 0;
    for entity in entities {
        let before = records.len();
        match entity {
            StoredEntity::Other(record) => records.extend_from_slice(record),
            StoredEntity::Item(item) => write_item(item, version, limits, kinds, &mut records)?,
        }
        written += usize::from(records.len() > before);
    }
    let mut patch = Patch::default();
    patch.set_field(holder(root), "Entities", Tag::List, |writer| {
        writer.list(if written == 0 { Tag::End } else { Tag::Compound }, written);
        writer.raw(&records);
    });
    // An empty list may have been one of any kind; then it stays.
    let was_empty = holder(root).field("Entities").is_some_and(|list| list.element_count() == Some(0));
    if was_empty && written == 0 {
        patch.clear();
    }
    let mut out = Vec::new();
    patch.apply(stored, &mut out);
    Ok((out, entities.len() - written))
}

fn new_document(data_version: i32, position: ChunkPos) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = NbtWriter::new(&mut bytes);
    writer.begin(Tag::Compound, "");
    writer.begin(Tag::Int, "DataVersion");
    writer.int(data_version);
    writer.begin(Tag::IntArray, "Position");
    for number in [2, position.x, position.z] {
        writer.int(number);
    }
    writer.end();
    bytes
}

/// Writes nothing where the item has no name.
fn write_item(
    item: &DroppedItem,
    version: i64,
    limits: &NbtLimits,
    kinds: &ItemKinds,
    out: &mut Vec<u8>,
) -> Result<(), EntitiesError> {
    let mut document = Vec::new();
    NbtWriter::new(&mut document).begin(Tag::Compound, "");
    let head = document.len();
    match (&item.record, kinds.name(item.stack.kind)) {
        (Some(record), _) => document.extend_from_slice(record),
        (None, Some((id, components))) => new_record(id, components, version, &mut document),
        (None, None) => return Ok(()),
    }
    let mut tape = Tape::new();
    let entity = tape.parse(&document, limits)?;
    let mut patch = Patch::default();
    for (name, now) in [("Pos", item.position), ("Motion", item.velocity)] {
        let before = entity.field(name).and_then(triple);
        if before.map(|at| at.map(f64::to_bits)) != Some(now.map(f64::to_bits)) {
            patch.set_field(entity, name, Tag::List, |writer| {
                writer.list(Tag::Double, 3);
                now.iter().for_each(|part| writer.raw(&part.to_be_bytes()));
            });
        }
    }
    let delay = |delay: u16| i16::try_from(delay).unwrap_or(NEVER_PICK_UP - 1);
    let shorts = [
        ("Age", item.age.unwrap_or(NEVER_DESPAWN)),
        ("PickupDelay", item.pickup_delay.map_or(NEVER_PICK_UP, delay)),
    ];
    for (name, now) in shorts {
        // The game counts a wait down past 0; none is left either way.
        let before = short(entity, name).map(|before| if name == "Age" { before } else { before.max(0) });
        if before != Some(now) {
            patch.set_field(entity, name, Tag::Short, |writer| writer.raw(&now.to_be_bytes()));
        }
    }
    let on_ground = entity.field("OnGround").and_then(|flag| flag.integer()) == Some(1);
    if on_ground != item.on_ground {
        patch.set_field(entity, "OnGround", Tag::Byte, |writer| writer.byte(item.on_ground.into()));
    }
    if let Some(stack) = entity.field("Item") {
        set_count(&mut patch, stack, item.stack.count, version);
    }
    let mut patched = Vec::new();
    patch.apply(&document, &mut patched);
    out.extend_from_slice(&patched[head..]);
    Ok(())
}

fn set_count(patch: &mut Patch, stack: Nbt<'_>, count: u8, version: i64) {
    let before = stack.field("count").or_else(|| stack.field("Count"));
    if before.map_or(Some(1), |before| before.integer()) == Some(count.into()) {
        return;
    }
    let is_int = before.map_or(version >= FIRST_WITH_COMPONENTS, |before| before.tag() == Tag::Int);
    let name = if stack.field("Count").is_some() || !is_int { "Count" } else { "count" };
    if is_int {
        patch.set_field(stack, name, Tag::Int, |writer| writer.int(count.into()));
    } else {
        patch.set_field(stack, name, Tag::Byte, |writer| writer.byte(count.cast_signed()));
    }
}

/// An item at rest; what it has beyond that is set as if it had changed.
fn new_record(id: &str, components: &[u8], version: i64, out: &mut Vec<u8>) {
    let mut writer = NbtWriter::new(out);
    writer.begin(Tag::String, "id");
    writer.string("minecraft:item");
    writer.begin(Tag::Compound, "Item");
    writer.begin(Tag::String, "id");
    writer.string(id);
    if !components.is_empty() {
        writer.begin(Tag::Compound, if version >= FIRST_WITH_COMPONENTS { "components" } else { "tag" });
        writer.raw(components);
    }
    if version >= FIRST_WITH_COMPONENTS {
        writer.begin(Tag::Int, "count");
        writer.int(1);
    } else {
        writer.begin(Tag::Byte, "Count");
        writer.byte(1);
    }
    writer.end();
    writer.end();
}
