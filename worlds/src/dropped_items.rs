//! Dropped items as the game stores them: what storage and whoever moves them hand each other.

use std::sync::Arc;

use bevy_ecs::prelude::{Resource, World as EcsWorld};
use rustc_hash::FxHashMap;
use twox_hash::XxHash64;

use crate::items::{ItemKind, ItemStack};
use crate::positions::ChunkPos;

/// A dropped item of a save.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedItem {
    /// Middle of the lower face of its box.
    pub position: [f64; 3],
    /// Blocks a tick.
    pub velocity: [f64; 3],
    /// Whether it stood on something.
    pub on_ground: bool,
    /// What it is; the kind is one of [`ItemKinds`].
    pub stack: ItemStack,
    /// Ticks that it has lain there; `None` for one that never vanishes.
    pub age: Option<i16>,
    /// Ticks until it may be picked up; `None` for never.
    pub pickup_delay: Option<u16>,
    /// Its record as it was stored, with all that is not modelled here; `None` for one that was never stored.
    pub record: Option<Arc<[u8]>>,
}

/// How storage and whoever moves dropped items hand them to each other, as a resource that the one who moves them puts in.
/// Neither knows the other. Functions, not closures: all state is in the ECS world.
///
/// The one who moves them may keep more of them with a chunk than the game does, by
/// [`AttachmentHooks`](crate::AttachmentHooks); storage then sees to it that no item comes in twice.
#[derive(Resource, Debug, Clone, Copy)]
pub struct DroppedItemHooks {
    /// The name of those attachments.
    pub kept_as: &'static str,
    /// The items of a chunk as they are now. Equal states give equal items.
    pub items: fn(&EcsWorld, ChunkPos) -> Vec<DroppedItem>,
    /// Of what was kept with a chunk, only the items of these kinds that have no [record](DroppedItem::record); `None` for
    /// none. Bytes that make no sense stay as they are.
    pub only: OnlyKinds,
    /// Puts items of a save into a chunk that has entered the world.
    ///
    /// An error says why none of them is in.
    pub put_in: fn(&mut EcsWorld, ChunkPos, Vec<DroppedItem>) -> Result<(), String>,
}

/// What leaves some kinds of item in what is kept with a chunk; see [`DroppedItemHooks::only`].
pub type OnlyKinds = fn(&[u8], ChunkPos, &[ItemKind]) -> Option<Vec<u8>>;

/// The kinds of item that a save names: a number for each item with its components.
///
/// The number is drawn from the name alone, so that it means the same in every run and in whatever order the items were
/// met; and it is never below [`ItemKinds::FIRST`], so that kinds which a program makes up do not take a name.
///
/// ```
/// use voxtick_worlds::ItemKinds;
/// let mut kinds = ItemKinds::default();
/// kinds.set_stack_limit("minecraft:egg", 16);
/// let egg = kinds.intern("minecraft:egg", &[]).expect("room");
/// assert_eq!(kinds.intern("minecraft:egg", &[]), Some(egg));
/// assert_ne!(kinds.intern("minecraft:egg", b"named"), Some(egg));
/// assert_eq!(kinds.name(egg), Some(("minecraft:egg", &[][..])));
/// assert_eq!(kinds.stack_limit("minecraft:egg"), Some(16));
/// ```
#[derive(Resource, Debug, Clone, Default)]
pub struct ItemKinds {
    names: FxHashMap<ItemKind, Name>,
    limits: FxHashMap<String, u8>,
}

#[derive(Debug, Clone)]
struct Name {
    id: Arc<str>,
    components: Arc<[u8]>,
}

impl ItemKinds {
    /// Most kinds that there can be.
    pub const LIMIT: usize = 1 << 20;

    /// The least number of an item of a save. Those below are for kinds that a program makes up: nothing names them.
    pub const FIRST: ItemKind = ItemKind(1 << 31);

    /// The number of an item with these components, in a form that storage knows; a new one where there is none yet.
    /// `None` where there are 1,048,576 already, or where another item has this number, which one pair in 2^31 does.
    pub fn intern(&mut self, id: &str, components: &[u8]) -> Option<ItemKind> {
        let hash = XxHash64::oneshot(XxHash64::oneshot(0, id.as_bytes()), components);
        let kind = ItemKind(Self::FIRST.0 | hash as u32);
        match self.names.get(&kind) {
            Some(known) => (&*known.id == id && *known.components == *components).then_some(kind),
            None if self.names.len() >= Self::LIMIT => None,
            None => {
                self.names.insert(kind, Name { id: id.into(), components: components.into() });
                Some(kind)
            }
        }
    }

    /// Item and components of a kind.
    #[must_use]
    pub fn name(&self, kind: ItemKind) -> Option<(&str, &[u8])> {
        self.names.get(&kind).map(|name| (&*name.id, &*name.components))
    }

    /// Says how many items of this name one stack may hold.
    pub fn set_stack_limit(&mut self, id: &str, limit: u8) {
        self.limits.insert(id.to_owned(), limit.max(1));
    }

    /// How many items of this name one stack may hold, if it was said. What is not known is taken for full: it never
    /// merges.
    #[must_use]
    pub fn stack_limit(&self, id: &str) -> Option<u8> {
        self.limits.get(id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A spill of kind 1 that was saved with a real world became whatever item was the second to be met in it.
    #[test]
    fn kinds_that_a_program_makes_up_take_no_name_of_a_save() {
        let mut kinds = ItemKinds::default();
        for number in 0..2_000 {
            let kind = kinds.intern(&format!("minecraft:item{number}"), &[]).expect("no two alike");
            assert!(kind >= ItemKinds::FIRST);
        }
        assert!((0..100_000).all(|made_up| kinds.name(ItemKind(made_up)).is_none()));
    }

    #[test]
    fn a_number_means_the_same_in_whatever_order_items_are_met() {
        let (mut one, mut other) = (ItemKinds::default(), ItemKinds::default());
        let (egg, named) = (one.intern("minecraft:egg", &[]), one.intern("minecraft:egg", b"named"));
        assert_eq!(
            (other.intern("minecraft:egg", b"named"), other.intern("minecraft:egg", &[])),
            (named, egg)
        );
        // Kept in files: it must never change.
        assert_eq!(egg, Some(ItemKind(3_918_434_011)));
    }

    #[test]
    fn of_two_items_with_one_number_the_second_gets_none() {
        let mut kinds = ItemKinds::default();
        let egg = kinds.intern("minecraft:egg", &[]).expect("room");
        let name = Name { id: "minecraft:other".into(), components: Arc::from([]) };
        kinds.names.insert(egg, name);
        assert_eq!(kinds.intern("minecraft:egg", &[]), None);
        assert_eq!(kinds.name(egg), Some(("minecraft:other", &[][..])));
    }
}
