//! The dropped items of a save come in with their chunks, and go back into the records of the chunks' entities.
//!
//! Whoever moves them may keep more of them with the chunk than the game does. Which of both counts is told by a mark
//! that is kept with the chunk too: it says for which record of entities the rest was kept. Where the record is another
//! by now, the game has changed it, and the record counts.

use super::ChunkStorage;
use crate::chunk::NEW_DATA_VERSION;
use crate::entities::{
    EntitiesDocument, EntitiesError, FIRST_WITH_RECORDS, StoredEntity, read_entities, write_entities,
};
use crate::load::LoadChunkError;
use crate::nbt::NbtLimits;
use crate::plugin::failure::StorageFailure;
use crate::plugin::io::EntitiesRecord;
use bevy_ecs::prelude::World as EcsWorld;
use std::collections::BTreeSet;
use twox_hash::XxHash64;
use voxtick_worlds::{
    Chunk, ChunkAttachments, ChunkPos, DroppedItem, DroppedItemHooks, ItemKind, ItemKinds, World,
};

/// The name of the mark among the attachments of a chunk.
const MARK: &str = "voxtick:entities";

/// The entities of a chunk, as they are stored or about to be.
#[derive(Debug)]
pub(super) struct ChunkEntities {
    /// Absent where none are stored.
    record: Option<EntitiesRecord>,
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
        let Some(chunk) = ecs.resource::<World>().chunk(position).cloned() else { return };
        let entities = self.io.read_entities(&chunk);
        self.take_in(ecs, position, entities);
    }

    /// Gives the systems what belongs to a chunk that has entered.
    pub(super) fn take_in(
        &mut self,
        ecs: &mut EcsWorld,
        position: ChunkPos,
        entities: Result<Option<EntitiesRecord>, LoadChunkError>,
    ) {
        let has_place = self.io.has_entities() || !matches!(entities, Ok(None));
        let hooks = ecs.get_resource::<DroppedItemHooks>().copied().filter(|_| has_place);
        let Some(hooks) = hooks else {
            self.put_back(ecs, position);
            return;
        };
        let read = entities.map_err(StorageFailure::Load).and_then(|record| {
            let items = match &record {
                Some(record) => self.read_items(ecs, position, &record.document)?,
                None => Vec::new(),
            };
            Ok((record, items))
        });
        let (record, items) = match read {
            Ok(read) => read,
            Err(failure) => {
                self.failures.push(failure);
                self.put_back(ecs, position);
                return;
            }
        };
        let counts = record_counts(ecs, position, &hooks, record.as_ref().map(|record| &*record.document));
        let refused = self.put_back(ecs, position);
        if (counts || refused.contains(&hooks.kept_as))
            && !items.is_empty()
            && let Err(cause) = (hooks.put_in)(ecs, position, items.clone())
        {
            // Written back, the record would lose them.
            self.failures.push(StorageFailure::DroppedItems { chunk: position, cause });
            return;
        }
        self.entities.insert(position, ChunkEntities { record, items, unsaved: false });
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
        let (Some(items), Some(&hooks)) = (items, ecs.get_resource::<DroppedItemHooks>()) else { return };
        let Some(entities) = self.entities.get_mut(&position) else { return };
        let changed = entities.items != items;
        // Without a mark for what is kept of them, the items would come in from both.
        let unmarked = ecs.resource::<World>().chunk(position).is_some_and(|chunk| {
            chunk.attachments.contains_key(hooks.kept_as) && !chunk.attachments.contains_key(MARK)
        });
        if !changed && !unmarked {
            return;
        }
        let written = match &entities.record {
            _ if !changed => None,
            record => {
                let document = record.as_ref().map(|record| &*record.document);
                match write_items(ecs, position, document, &items, &self.io.limits().nbt) {
                    Ok(written) => written,
                    Err(cause) => {
                        self.failures.push(StorageFailure::Entities { chunk: position, cause });
                        return;
                    }
                }
            }
        };
        let is_written = written.is_some();
        if let Some(written) = written {
            let within = entities.record.as_ref().is_some_and(|record| record.within);
            entities.record = Some(EntitiesRecord { document: written.into(), within });
            entities.unsaved = true;
        }
        let document = entities.record.as_ref().map_or(&[][..], |record| &record.document);
        let mark = mark(document, &items, ecs.resource::<ItemKinds>());
        entities.items = items;
        let Some(chunk) = ecs.resource_mut::<World>().into_inner().chunk_mut(position) else { return };
        let is_other = chunk.attachments.get(MARK).is_some_and(|before| **before != *mark);
        if is_written || unmarked || is_other {
            chunk.attachments.insert(MARK.to_owned(), mark.into());
            chunk.modified = true;
        }
    }

    /// The entities to go with a save of a chunk, which has them from then on.
    pub(super) fn entities_to_save(&mut self, position: ChunkPos) -> Option<EntitiesRecord> {
        let entities = self.entities.get_mut(&position)?;
        if std::mem::take(&mut entities.unsaved) { entities.record.clone() } else { None }
    }
}

/// The record of a chunk's entities with these dropped items in place of those that it had; `None` where it stays.
fn write_items(
    ecs: &mut EcsWorld,
    position: ChunkPos,
    document: Option<&[u8]>,
    items: &[DroppedItem],
    limits: &NbtLimits,
) -> Result<Option<Vec<u8>>, EntitiesError> {
    let Some(chunk) = ecs.resource::<World>().chunk(position) else { return Ok(None) };
    let data_version = chunk.unmodelled.as_ref().map_or(NEW_DATA_VERSION, |kept| kept.data_version);
    let (before, others) = match document {
        Some(document) => {
            let kinds = &mut ecs.resource_mut::<ItemKinds>();
            let stored = read_entities(document, position, limits, kinds)?;
            (EntitiesDocument::Stored(document), stored)
        }
        None if data_version < FIRST_WITH_RECORDS || items.is_empty() => return Ok(None),
        None => (EntitiesDocument::New { data_version, position }, Vec::new()),
    };
    let others = others.into_iter().filter(|entity| matches!(entity, StoredEntity::Other(_)));
    let all: Vec<StoredEntity> = others.chain(items.iter().cloned().map(StoredEntity::Item)).collect();
    let (written, nameless) = write_entities(before, &all, limits, ecs.resource::<ItemKinds>())?;
    // Where none has a name the game's record has nothing to say of them.
    let stays = document.is_none() && nameless == items.len() || document == Some(&written);
    Ok((!stays).then_some(written))
}

/// Whether the record counts, and not what was kept for another one. Of that only what the other one could not say is left
/// then.
fn record_counts(
    ecs: &mut EcsWorld,
    position: ChunkPos,
    hooks: &DroppedItemHooks,
    document: Option<&[u8]>,
) -> bool {
    let marked = |chunk: &Chunk| {
        let kept = chunk.attachments.get(hooks.kept_as)?;
        Some((chunk.attachments.get(MARK)?.clone(), kept.clone()))
    };
    let Some((mark, kept)) = ecs.resource::<World>().chunk(position).and_then(marked) else { return true };
    if agrees(&mark, document.unwrap_or_default(), ecs.resource::<ItemKinds>()) {
        return false;
    }
    let nameless: Vec<ItemKind> =
        kinds_of(&mark).filter(|&(_, hash)| hash == NAMELESS).map(|(kind, _)| kind).collect();
    let rest = (hooks.only)(&kept, position, &nameless);
    if let Some(chunk) = ecs.resource_mut::<World>().chunk_mut(position) {
        chunk.attachments.remove(MARK);
        match rest {
            Some(rest) => chunk.attachments.insert(hooks.kept_as.to_owned(), rest.into()),
            None => chunk.attachments.remove(hooks.kept_as),
        };
        chunk.modified = true;
    }
    true
}

/// In place of the hash of a name, for kinds that have none: their items are in what is kept alone.
const NAMELESS: u64 = 0;

/// The mark for what is kept beside a document: the hash of that, and for each kind of item its number and the hash of its
/// name.
fn mark(document: &[u8], items: &[DroppedItem], kinds: &ItemKinds) -> Vec<u8> {
    let mut mark = XxHash64::oneshot(0, document).to_be_bytes().to_vec();
    let numbers: BTreeSet<ItemKind> = items.iter().map(|item| item.stack.kind).collect();
    for kind in numbers {
        mark.extend(kind.0.to_be_bytes());
        mark.extend(hash_of(kind, kinds).to_be_bytes());
    }
    mark
}

/// The kinds of a mark, each with the hash of its name.
fn kinds_of(mark: &[u8]) -> impl Iterator<Item = (ItemKind, u64)> {
    mark.get(8..).unwrap_or_default().as_chunks::<12>().0.iter().map(|&[a, b, c, d, ref hash @ ..]| {
        (ItemKind(u32::from_be_bytes([a, b, c, d])), u64::from_be_bytes(*hash))
    })
}

/// Whether what was kept with a mark is what this document has.
fn agrees(mark: &[u8], document: &[u8], kinds: &ItemKinds) -> bool {
    mark.first_chunk() == Some(&XxHash64::oneshot(0, document).to_be_bytes())
        && kinds_of(mark).all(|(kind, hash)| hash == NAMELESS || hash == hash_of(kind, kinds))
}

fn hash_of(kind: ItemKind, kinds: &ItemKinds) -> u64 {
    let Some((id, components)) = kinds.name(kind) else { return NAMELESS };
    XxHash64::oneshot(XxHash64::oneshot(0, id.as_bytes()), components)
}
