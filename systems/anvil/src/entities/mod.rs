//! The entities of a chunk: dropped items are read and written, all others stay byte for byte and in their order.
//!
//! Minecraft Java 1.17 onward keeps them in region files of their own, in the folder `entities`; before, they lie in the
//! chunk's own record. Either way they are a list named `Entities`: in the root, or in the compound `Level`. Of a dropped
//! item (`minecraft:item`) what is modelled is place, speed, age, wait for pick-up and how many there are; its record
//! goes with it, and what has not changed is written back as it was.

mod read;
mod within;
mod write;

pub use read::{EntitiesError, StoredEntity, read_entities};
pub(crate) use within::{FIRST_WITH_RECORDS, document_within};
pub use write::{EntitiesDocument, write_entities};

/// The first version whose stacks have `components` and an int `count` in place of `tag` and a byte `Count` (24w09a).
const FIRST_WITH_COMPONENTS: i64 = 3818;
/// In `Age`: it never vanishes.
const NEVER_DESPAWN: i16 = i16::MIN;
/// In `PickupDelay`: nobody may ever pick it up.
const NEVER_PICK_UP: i16 = i16::MAX;

#[cfg(test)]
mod tests;
