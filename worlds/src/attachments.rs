//! What systems keep beside the blocks of a chunk and want stored with it: its dropped items, what is in its pipes.
//!
//! A system registers an [`AttachmentHooks`] under a name of its own in the resource [`ChunkAttachments`]; the storage
//! calls them when a chunk enters, is saved or leaves. Neither knows the other: what passes between them is bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::{Resource, World as EcsWorld};
use voxtick_engine::BuildError;

use crate::positions::ChunkPos;
use crate::world::World;

/// Bytes that systems want kept with a chunk, by namespaced name such as `voxtick:bodies`.
///
/// Names that no system of this simulation knows stay as they came.
pub type Attachments = BTreeMap<String, Arc<[u8]>>;

/// What one system does with its part of a chunk. Functions, not closures: all state is in the ECS world.
#[derive(Debug, Clone, Copy)]
pub struct AttachmentHooks {
    /// The name under which the bytes are kept, with a namespace: `voxtick:bodies`.
    pub name: &'static str,
    /// The bytes for what the system has in the chunk now; `None` for nothing. Equal states give equal bytes.
    pub store: fn(&EcsWorld, ChunkPos) -> Option<Vec<u8>>,
    /// As `store`, and takes all of it out of the simulation: the chunk leaves.
    pub take_out: fn(&mut EcsWorld, ChunkPos) -> Option<Vec<u8>>,
    /// Puts back what `store` or `take_out` gave, in this run or an earlier one; the chunk is in the world by then.
    ///
    /// An error says what is wrong with the bytes; nothing is put back then.
    pub put_back: fn(&mut EcsWorld, ChunkPos, &[u8]) -> Result<(), String>,
}

/// All [`AttachmentHooks`] of a simulation, in the order in which they were registered. `WorldsPlugin` brings it.
///
/// ```
/// use bevy_ecs::prelude::{Resource, World as EcsWorld};
/// use voxtick_engine::Simulation;
/// use voxtick_worlds::{
///     AttachmentHooks, BlockStates, Chunk, ChunkAttachments, ChunkPos, Dimension, World, WorldsPlugin,
/// };
///
/// /// How many visitors a chunk had.
/// #[derive(Resource, Default)]
/// struct Visitors(std::collections::BTreeMap<ChunkPos, u8>);
///
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// let here = ChunkPos::new(0, 0);
/// world.insert_chunk(Chunk::empty(here, world.dimension()));
/// let mut simulation = Simulation::builder().plugin(WorldsPlugin::new(world)).build()?;
/// let ecs = simulation.world_mut();
/// ecs.insert_resource(Visitors([(here, 3)].into()));
/// ecs.resource_mut::<ChunkAttachments>().register(AttachmentHooks {
///     name: "guestbook:visitors",
///     store: |ecs, chunk| ecs.resource::<Visitors>().0.get(&chunk).map(|&count| vec![count]),
///     take_out: |ecs, chunk| ecs.resource_mut::<Visitors>().0.remove(&chunk).map(|count| vec![count]),
///     put_back: |ecs, chunk, bytes| match bytes {
///         [count] => {
///             ecs.resource_mut::<Visitors>().0.insert(chunk, *count);
///             Ok(())
///         }
///         _ => Err(format!("{} bytes where 1 was expected", bytes.len())),
///     },
/// })?;
///
/// ChunkAttachments::take_out(ecs, here);
/// assert!(ecs.resource::<Visitors>().0.is_empty());
/// assert!(ChunkAttachments::put_back(ecs, here).is_empty());
/// assert_eq!(ecs.resource::<Visitors>().0[&here], 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource, Debug, Default)]
pub struct ChunkAttachments {
    hooks: Vec<AttachmentHooks>,
}

/// Bytes kept with a chunk that the system they belong to does not understand.
///
/// They stay with the chunk under [`kept_as`](RefusedAttachment::kept_as), so that the next save neither loses nor
/// replaces them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "what is kept as {name} with chunk {chunk} cannot be put back: {cause}; the bytes are kept as {kept_as}"
)]
pub struct RefusedAttachment {
    /// The chunk.
    pub chunk: ChunkPos,
    /// The name under which they were found.
    pub name: &'static str,
    /// The name under which they are kept now.
    pub kept_as: String,
    /// What is wrong with them.
    pub cause: String,
}

impl ChunkAttachments {
    /// Adds the hooks of a system.
    ///
    /// # Errors
    /// The name is taken, or has no namespace.
    pub fn register(&mut self, hooks: AttachmentHooks) -> Result<(), BuildError> {
        if self.hooks.iter().any(|known| known.name == hooks.name) {
            return Err(BuildError::plugin(
                hooks.name,
                "two systems keep something with chunks under this name",
            ));
        }
        if !hooks.name.split_once(':').is_some_and(|(space, name)| !space.is_empty() && !name.is_empty()) {
            return Err(BuildError::plugin(
                hooks.name,
                "what is kept with chunks needs a name such as `mine:this`",
            ));
        }
        self.hooks.push(hooks);
        Ok(())
    }

    /// Brings the attachments of a loaded chunk up to date; if they change, the chunk counts as modified. Returns
    /// whether they did. Costs what the systems have in that chunk.
    pub fn store(ecs: &mut EcsWorld, position: ChunkPos) -> bool {
        let stored = Self::each(ecs, |ecs, hooks| (hooks.name, (hooks.store)(ecs, position)));
        Self::keep(ecs, position, stored)
    }

    /// As [`ChunkAttachments::store`], and takes all that the systems have in the chunk out of the simulation. Call it
    /// before the chunk is removed from the world.
    pub fn take_out(ecs: &mut EcsWorld, position: ChunkPos) -> bool {
        let stored = Self::each(ecs, |ecs, hooks| (hooks.name, (hooks.take_out)(ecs, position)));
        Self::keep(ecs, position, stored)
    }

    /// Gives the systems what is kept with a chunk that has entered the world. Returns what was refused.
    pub fn put_back(ecs: &mut EcsWorld, position: ChunkPos) -> Vec<RefusedAttachment> {
        let refused = Self::each(ecs, |ecs, hooks| {
            let kept = ecs.resource::<World>().chunk(position)?.attachments.get(hooks.name)?.clone();
            let cause = (hooks.put_back)(ecs, position, &kept).err()?;
            Some((hooks.name, cause))
        });
        let mut world = ecs.resource_mut::<World>();
        let Some(chunk) = world.chunk_mut(position) else { return Vec::new() };
        refused
            .into_iter()
            .flatten()
            .map(|(name, cause)| {
                let kept_as = free_name(&chunk.attachments, name);
                if let Some(bytes) = chunk.attachments.remove(name) {
                    chunk.attachments.insert(kept_as.clone(), bytes);
                    chunk.modified = true;
                }
                RefusedAttachment { chunk: position, name, kept_as, cause }
            })
            .collect()
    }

    /// What `job` gives for each system, in the order in which they were registered.
    fn each<T>(ecs: &mut EcsWorld, mut job: impl FnMut(&mut EcsWorld, &AttachmentHooks) -> T) -> Vec<T> {
        // None while no WorldsPlugin is there: then nobody could register.
        let hooks = ecs.get_resource::<ChunkAttachments>().map(|all| all.hooks.clone()).unwrap_or_default();
        hooks.iter().map(|hooks| job(ecs, hooks)).collect()
    }

    fn keep(ecs: &mut EcsWorld, position: ChunkPos, stored: Vec<(&'static str, Option<Vec<u8>>)>) -> bool {
        let mut world = ecs.resource_mut::<World>();
        let Some(chunk) = world.chunk_mut(position) else { return false };
        let mut changed = false;
        for (name, bytes) in stored {
            let before = chunk.attachments.get(name).map(|bytes| &**bytes);
            if before == bytes.as_deref() {
                continue;
            }
            changed = true;
            match bytes {
                Some(bytes) => chunk.attachments.insert(name.to_owned(), bytes.into()),
                None => chunk.attachments.remove(name),
            };
        }
        chunk.modified |= changed;
        changed
    }
}

/// A name for refused bytes under which none are kept yet: earlier ones are not replaced either.
fn free_name(attachments: &Attachments, name: &str) -> String {
    let mut candidates =
        std::iter::once(format!("{name}.refused")).chain((2_u64..).map(|n| format!("{name}.refused{n}")));
    candidates.find(|candidate| !attachments.contains_key(candidate)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockStates, Chunk, Dimension};

    const HERE: ChunkPos = ChunkPos::new(2, -3);

    #[derive(Resource, Default)]
    struct Marks(BTreeMap<ChunkPos, Vec<u8>>);

    const MARKS: AttachmentHooks = AttachmentHooks {
        name: "test:marks",
        store: |ecs, chunk| ecs.resource::<Marks>().0.get(&chunk).cloned(),
        take_out: |ecs, chunk| ecs.resource_mut::<Marks>().0.remove(&chunk),
        put_back: |ecs, chunk, bytes| {
            if bytes.is_empty() {
                return Err("no bytes".to_owned());
            }
            ecs.resource_mut::<Marks>().0.insert(chunk, bytes.to_vec());
            Ok(())
        },
    };

    fn with_chunk() -> EcsWorld {
        let mut world = World::new(Dimension::overworld(), BlockStates::load());
        world.insert_chunk(Chunk::empty(HERE, world.dimension()));
        let mut ecs = EcsWorld::new();
        ecs.insert_resource(world);
        ecs.init_resource::<Marks>();
        ecs.init_resource::<ChunkAttachments>();
        ecs.resource_mut::<ChunkAttachments>().register(MARKS).expect("the first");
        ecs
    }

    fn chunk(ecs: &EcsWorld) -> &Chunk {
        ecs.resource::<World>().chunk(HERE).expect("it is there")
    }

    #[test]
    fn a_chunk_is_modified_only_when_what_is_kept_with_it_changes() {
        let mut ecs = with_chunk();
        assert!(!ChunkAttachments::store(&mut ecs, HERE));
        ecs.resource_mut::<Marks>().0.insert(HERE, vec![7]);
        assert!(ChunkAttachments::store(&mut ecs, HERE));
        assert!(chunk(&ecs).modified);
        ecs.resource_mut::<World>().chunk_mut(HERE).expect("it is there").modified = false;
        assert!(!ChunkAttachments::store(&mut ecs, HERE), "it is the same as before");
        assert!(!chunk(&ecs).modified);
        ecs.resource_mut::<Marks>().0.clear();
        assert!(ChunkAttachments::store(&mut ecs, HERE), "what is gone is no more kept");
        assert!(chunk(&ecs).attachments.is_empty());
    }

    #[test]
    fn what_is_taken_out_comes_back() {
        let mut ecs = with_chunk();
        ecs.resource_mut::<Marks>().0.insert(HERE, vec![1, 2]);
        ChunkAttachments::take_out(&mut ecs, HERE);
        assert!(ecs.resource::<Marks>().0.is_empty());
        assert_eq!(ChunkAttachments::put_back(&mut ecs, HERE), []);
        assert_eq!(ecs.resource::<Marks>().0[&HERE], [1, 2]);
    }

    #[test]
    fn refused_bytes_are_kept_beside_and_survive_the_next_store() {
        let mut ecs = with_chunk();
        for expected in ["test:marks.refused", "test:marks.refused2"] {
            let mut world = ecs.resource_mut::<World>();
            let chunk = world.chunk_mut(HERE).expect("it is there");
            chunk.attachments.insert("test:marks".to_owned(), Arc::from([]));
            let refused = ChunkAttachments::put_back(&mut ecs, HERE);
            assert_eq!(refused.len(), 1);
            assert_eq!(refused[0].kept_as, expected);
        }
        ChunkAttachments::store(&mut ecs, HERE);
        let names: Vec<&str> = chunk(&ecs).attachments.keys().map(String::as_str).collect();
        assert_eq!(names, ["test:marks.refused", "test:marks.refused2"]);
    }

    #[test]
    fn names_are_namespaced_and_taken_once() {
        let mut all = ChunkAttachments::default();
        assert!(all.register(MARKS).is_ok());
        assert!(all.register(MARKS).is_err());
        assert!(all.register(AttachmentHooks { name: "marks", ..MARKS }).is_err());
    }
}
