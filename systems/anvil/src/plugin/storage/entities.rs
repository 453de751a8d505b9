//! The dropped items of a save come in with their chunks, and go back into the records of the chunks' entities.
//!
//! Whoever moves them may keep more of them with the chunk than the game does. Which of both counts is told by a mark
//! that is kept with the chunk too: it says for which record of entities the rest was kept. Where the record is another
//! by now, the game has changed it, and the record counts.

use super::ChunkStorage;
use crate::chunk::NEW_DATA_VERSION;
use crate::entities::{EntitiesDocument, StoredEntity, read_entities, write_entities};
use crate::load::LoadChunkError;
use crate::plugin::failure::StorageFailure;
use bevy_ecs::prelude::World as EcsWorld;
use std::collections::BTreeSet;
use std::sync::Arc;
use twox_hash::XxHash64;
use voxtick_worlds::{
    Chunk, ChunkAttachments, ChunkPos, DroppedItem, DroppedItemHooks, ItemKind, ItemKinds, World,
};

/// The first version that keeps entities in records of their own (20w45a).
const FIRST_WITH_RECORDS: i32 = 2681;
/// The name of the mark among the attachments of a chunk.
const MARK: &str = "voxtick:entities";

/// The entities of a chunk, as they are stored or about to be.
#[derive(Debug)]
pub(super) struct ChunkEntities {
    /// Absent where there is no record.
    document: Option<Arc<[u8]>>,
    /// The dropped items in it.
    items: Vec<DroppedItem>,
    /// The files do not have it yet.
    pub(super) unsaved: bool,
}

impl ChunkStorage {
    /// Takes in what is stored beside a chunk that has entered the world past this storage: what systems keep with it,
    /// and its dropped items. Reads a file here and now: not for use within a tick.
    ///
    /// `ecs` is the simulation's world, out of which this resource was taken for the call.
    pub fn adopt(&mut self, ecs: &mut EcsWorld, position: ChunkPos) {
        let entities = self.io.read_entities(position);
        self.take_in(ecs, position, entities);
    }

    /// Gives the systems what belongs to a chunk that has entered.
    pub(super) fn take_in(
        &mut self,
        ecs: &mut EcsWorld,
        position: ChunkPos,
        entities: Result<Option<Vec<u8>>, LoadChunkError>,
    ) {
        let hooks = ecs.get_resource::<DroppedItemHooks>().copied().filter(|_| self.io.has_entities());
        let Some(hooks) = hooks else { return self.put_back(ecs, position) };
        let read = entities.map_err(StorageFailure::Load).and_then(|document| {
            let items = match &document {
                Some(document) => self.read_items(ecs, position, document)?,
                None => Vec::new(),
            };
            Ok((document, items))
        });
        let (document, items) = match read {
            Ok(read) => read,
            Err(failure) => {
                self.failures.push(failure);
                return self.put_back(ecs, position);
            }
        };
        let counts = record_counts(ecs, position, hooks.kept_as, document.as_deref());
        self.put_back(ecs, position);
        if counts
            && !items.is_empty()
            && let Err(cause) = (hooks.put_in)(ecs, position, items.clone())
        {
            // Written back, the record would lose those that are not in.
            self.failures.push(StorageFailure::DroppedItems { chunk: position, cause });
            return;
        }
        let entities = ChunkEntities { document: document.map(Arc::from), items, unsaved: false };
        self.entities.insert(position, entities);
    }

    fn read_items(
        &self,
        ecs: &mut EcsWorld,
        position: ChunkPos,
        document: &[u8],
    ) -> Result<Vec<DroppedItem>, StorageFailure> {
        let kinds = &mut ecs.resource_mut::<ItemKinds>();
        let entities = read_entities(document, position, &self.io.limits().nbt, kinds)
            .map_err(|cause| StorageFailure::Entities { chunk: position, cause })?;
        let item = |entity| match entity {
            StoredEntity::Item(item) => Some(item),
            StoredEntity::Other(_) => None,
        };
        Ok(entities.into_iter().filter_map(item).collect())
    }

    /// Brings what is kept with a chunk of the world up to date.
    pub(super) fn store(&mut self, ecs: &mut EcsWorld, position: ChunkPos) {
        let items = self.dropped_items(ecs, position);
        ChunkAttachments::store(ecs, position);
        self.keep_entities(ecs, position, items);
    }

    /// The dropped items of a chunk whose record of entities may be written.
    pub(super) fn dropped_items(&self, ecs: &EcsWorld, position: ChunkPos) -> Option<Vec<DroppedItem>> {
        let hooks = ecs.get_resource::<DroppedItemHooks>()?;
        self.entities.contains_key(&position).then(|| (hooks.items)(ecs, position))
    }

    /// Makes the record of a chunk's entities say what its dropped items are now. The chunk counts as modified where that
    /// changes it.
    pub(super) fn keep_entities(
        &mut self,
        ecs: &mut EcsWorld,
        position: ChunkPos,
        items: Option<Vec<DroppedItem>>,
    ) {
        let Some(items) = items else { return };
        let Some(entities) = self.entities.get_mut(&position).filter(|entities| entities.items != items)
        else {
            return;
        };
        let limits = self.io.limits().nbt;
        let Some(chunk) = ecs.resource::<World>().chunk(position) else { return };
        let data_version = chunk.unmodelled.as_ref().map_or(NEW_DATA_VERSION, |kept| kept.data_version);
        let (document, others) = match &entities.document {
            Some(document) => {
                let kinds = &mut ecs.resource_mut::<ItemKinds>();
                let stored = read_entities(document, position, &limits, kinds).unwrap_or_default();
                (EntitiesDocument::Stored(document), stored)
            }
            None if data_version < FIRST_WITH_RECORDS || items.is_empty() => return,
            None => (EntitiesDocument::New { data_version, position }, Vec::new()),
        };
        let others = others.into_iter().filter(|entity| matches!(entity, StoredEntity::Other(_)));
        let all: Vec<StoredEntity> = others.chain(items.iter().cloned().map(StoredEntity::Item)).collect();
        let kinds = ecs.resource::<ItemKinds>();
        let (written, nameless) = match write_entities(document, &all, &limits, kinds) {
            Ok(written) => written,
            Err(cause) => {
                self.failures.push(StorageFailure::Entities { chunk: position, cause });
                return;
            }
        };
        // Where none has a name the game's record has nothing to say of them.
        let is_new = entities.document.is_none();
        if is_new && nameless == items.len() || entities.document.as_deref() == Some(written.as_slice()) {
            entities.items = items;
            return;
        }
        let mark = mark(&written, nameless > 0, &items, kinds);
        *entities = ChunkEntities { document: Some(written.into()), items, unsaved: true };
        if let Some(chunk) = ecs.resource_mut::<World>().chunk_mut(position) {
            chunk.attachments.insert(MARK.to_owned(), mark.into());
            chunk.modified = true;
        }
    }

    /// The document to go with a save of a chunk, which has it from then on.
    pub(super) fn entities_to_save(&mut self, position: ChunkPos) -> Option<Arc<[u8]>> {
        let entities = self.entities.get_mut(&position)?;
        if std::mem::take(&mut entities.unsaved) { entities.document.clone() } else { None }
    }
}

/// Whether the record counts, and not what was kept for another one, which is taken away then.
fn record_counts(ecs: &mut EcsWorld, position: ChunkPos, kept_as: &str, document: Option<&[u8]>) -> bool {
    let is_marked = |chunk: &Chunk| {
        let kept = chunk.attachments.contains_key(kept_as);
        chunk.attachments.get(MARK).filter(|_| kept).cloned()
    };
    let Some(mark) = ecs.resource::<World>().chunk(position).and_then(is_marked) else { return true };
    if agrees(&mark, document.unwrap_or_default(), ecs.resource::<ItemKinds>()) {
        return false;
    }
    if let Some(chunk) = ecs.resource_mut::<World>().chunk_mut(position) {
        chunk.attachments.remove(kept_as);
        chunk.modified = true;
    }
    true
}

/// The mark for what is kept beside a document: the hash of that, whether some of the items have no name and are in what
/// is kept alone, and what the numbers of their kinds stand for.
fn mark(document: &[u8], nameless: bool, items: &[DroppedItem], kinds: &ItemKinds) -> Vec<u8> {
    let mut mark = XxHash64::oneshot(0, document).to_be_bytes().to_vec();
    mark.push(nameless.into());
    let numbers: BTreeSet<ItemKind> = items.iter().map(|item| item.stack.kind).collect();
    for kind in numbers {
        mark.extend(kind.0.to_be_bytes());
        mark.extend(hash_of(kind, kinds).to_be_bytes());
    }
    mark
}

/// Whether what was kept with a mark is what this document has.
fn agrees(mark: &[u8], document: &[u8], kinds: &ItemKinds) -> bool {
    let Some((hash, [nameless, rest @ ..])) = mark.split_first_chunk() else { return false };
    // Numbers of kinds without a name mean what they always do.
    let same_kinds = || {
        rest.as_chunks::<12>().0.iter().all(|&[a, b, c, d, ref hash @ ..]| {
            hash_of(ItemKind(u32::from_be_bytes([a, b, c, d])), kinds).to_be_bytes() == *hash
        })
    };
    *hash == XxHash64::oneshot(0, document).to_be_bytes() && (*nameless == 1 || same_kinds())
}

fn hash_of(kind: ItemKind, kinds: &ItemKinds) -> u64 {
    let Some((id, components)) = kinds.name(kind) else { return 0 };
    XxHash64::oneshot(XxHash64::oneshot(0, id.as_bytes()), components)
}
