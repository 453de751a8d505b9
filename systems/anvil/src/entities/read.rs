//! From a record to rows.

use std::sync::Arc;

use super::{NEVER_DESPAWN, NEVER_PICK_UP};
use crate::nbt::{Nbt, NbtError, NbtLimits, Tag, Tape};
use voxtick_worlds::{ChunkPos, DroppedItem, ItemKinds, ItemStack};

/// One entity of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredEntity {
    /// A dropped item.
    Item(DroppedItem),
    /// Any other, or an item that makes no sense: its record as it is stored.
    Other(Arc<[u8]>),
}

/// Why the entities of a chunk cannot be read. Nothing of them is used then.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EntitiesError {
    /// The record is no NBT.
    #[error(transparent)]
    Nbt(#[from] NbtError),
    /// The list is something else.
    #[error("`Entities` is no list of compounds: mend the record or take it out")]
    NoList,
    /// The record says that it belongs elsewhere.
    #[error("the entities say that they belong to {found}; they were written to the wrong place")]
    WrongPosition {
        /// Where they say they belong.
        found: ChunkPos,
    },
}

/// The entities that `document` has, the inflated record of the chunk at `position`, in their order; none where it has
/// no list.
///
/// Items and their components get numbers in `kinds`. An item whose fields are missing, of another kind or out of range is
/// kept as any other entity is.
///
/// # Errors
/// [`EntitiesError`] where the record as a whole cannot be read.
pub fn read_entities(
    document: &[u8],
    position: ChunkPos,
    limits: &NbtLimits,
    kinds: &mut ItemKinds,
) -> Result<Vec<StoredEntity>, EntitiesError> {
    let mut tape = Tape::new();
    let root = tape.parse(document, limits)?;
    if let Some(&[x, z]) = root.field("Position").and_then(|position| position.int_array()) {
        let found = ChunkPos::new(i32::from_be_bytes(x), i32::from_be_bytes(z));
        if found != position {
            return Err(EntitiesError::WrongPosition { found });
        }
    }
    let Some(list) = holder(root).field("Entities") else { return Ok(Vec::new()) };
    let is_empty = list.element_count() == Some(0);
    if list.tag() != Tag::List || list.element_tag() != Tag::Compound && !is_empty {
        return Err(EntitiesError::NoList);
    }
    let read = |entity: Nbt<'_>| match read_item(entity, kinds) {
        Some(item) => StoredEntity::Item(item),
        None => StoredEntity::Other(entity.payload().into()),
    };
    Ok(list.items().map(read).collect())
}

/// The compound that has the list.
pub(super) fn holder(root: Nbt<'_>) -> Nbt<'_> {
    root.field("Level").filter(|level| level.tag() == Tag::Compound).unwrap_or(root)
}

fn read_item(entity: Nbt<'_>, kinds: &mut ItemKinds) -> Option<DroppedItem> {
    if entity.field("id")?.text_bytes()? != b"minecraft:item" {
        return None;
    }
    let item = entity.field("Item")?;
    let count = item.field("count").or_else(|| item.field("Count"));
    let count = count.map_or(Some(1), |count| u8::try_from(count.integer()?).ok())?;
    if !(1..=99).contains(&count) {
        return None;
    }
    let id = item.field("id")?.text()?;
    let components = item.field("components").or_else(|| item.field("tag"));
    // A kind is new only where all else is sound.
    let (position, velocity) =
        (triple(entity.field("Pos")?)?, entity.field("Motion").map_or(Some([0.0; 3]), triple)?);
    let age = short(entity, "Age")?;
    let pickup_delay = short(entity, "PickupDelay")?;
    let kind = kinds.intern(&id, components.map_or(&[], |components| components.payload()))?;
    let limit = kinds.stack_limit(&id).unwrap_or(count).max(count);
    Some(DroppedItem {
        position,
        velocity,
        on_ground: entity.field("OnGround").and_then(|flag| flag.integer()) == Some(1),
        stack: ItemStack::new(kind, count, limit),
        age: (age != NEVER_DESPAWN).then_some(age),
        pickup_delay: (pickup_delay != NEVER_PICK_UP).then(|| pickup_delay.max(0).cast_unsigned()),
        record: Some(entity.payload().into()),
    })
}

/// A list of three doubles.
pub(super) fn triple(list: Nbt<'_>) -> Option<[f64; 3]> {
    if list.tag() != Tag::List || list.element_tag() != Tag::Double || list.element_count() != Some(3) {
        return None;
    }
    let (doubles, _) = list.payload().get(5..)?.as_chunks();
    let &[x, y, z] = doubles else { return None };
    Some([x, y, z].map(f64::from_be_bytes))
}

/// A whole number that a short holds; 0 where it is missing, as in the game.
pub(super) fn short(entity: Nbt<'_>, name: &str) -> Option<i16> {
    entity.field(name).map_or(Some(0), |value| i16::try_from(value.integer()?).ok())
}
