//! Dropped items as the game stores them: what storage and whoever moves them hand each other.

use std::sync::Arc;

use bevy_ecs::prelude::{Resource, World as EcsWorld};
use rustc_hash::FxHashMap;

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

/// How storage and whoever moves dropped items hand them to each other, as a resource. Neither knows the other: whoever
/// has both puts it in. Functions, not closures: all state is in the ECS world.
///
/// The one who moves them may keep more of them with a chunk than the game does, by
/// [`AttachmentHooks`](crate::AttachmentHooks); storage then sees to it that no item comes in twice.
#[derive(Resource, Debug, Clone, Copy)]
pub struct DroppedItemHooks {
    /// The name of those attachments.
    pub kept_as: &'static str,
    /// The items of a chunk as they are now. Equal states give equal items.
    pub items: fn(&EcsWorld, ChunkPos) -> Vec<DroppedItem>,
    /// Puts items of a save into a chunk that has entered the world.
    ///
    /// An error says why not all of them are in.
    pub put_in: fn(&mut EcsWorld, ChunkPos, Vec<DroppedItem>) -> Result<(), String>,
}

/// The kinds of item that a save names: a number for each item with its components.
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
    names: Vec<Name>,
    places: FxHashMap<Name, ItemKind>,
    limits: FxHashMap<String, u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name {
    id: Arc<str>,
    components: Arc<[u8]>,
}

impl ItemKinds {
    /// Most kinds that there can be. Numbers from here on never stand for an item of a save: programs that make up kinds of
    /// their own beside those of a save take these.
    pub const LIMIT: u32 = 1 << 20;

    /// The number of an item with these components, in a form that storage knows; a new one where there is none yet.
    /// `None` where there are 1,048,576 already.
    pub fn intern(&mut self, id: &str, components: &[u8]) -> Option<ItemKind> {
        let name = Name { id: id.into(), components: components.into() };
        if let Some(&kind) = self.places.get(&name) {
            return Some(kind);
        }
        if self.names.len() >= Self::LIMIT as usize {
            return None;
        }
        let kind = ItemKind(self.names.len() as u32);
        self.names.push(name.clone());
        self.places.insert(name, kind);
        Some(kind)
    }

    /// Item and components of a kind.
    #[must_use]
    pub fn name(&self, kind: ItemKind) -> Option<(&str, &[u8])> {
        self.names.get(kind.0 as usize).map(|name| (&*name.id, &*name.components))
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
