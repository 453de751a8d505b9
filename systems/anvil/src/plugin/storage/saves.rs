//! Chunks are saved: in their turn, when they leave, and all of them at the end.

use super::{ChunkStorage, Kept};
use crate::plugin::failure::{SaveChunkError, StorageFailure};
use crate::plugin::io::Saved;
use bevy_ecs::prelude::World as EcsWorld;
use std::time::Instant;
use voxtick_worlds::{Chunk, ChunkAttachments, ChunkPos, RegionPos, World};

impl ChunkStorage {
    /// Takes a chunk out of the world, with what systems keep in it, and saves it if it has changed.
    ///
    /// `ecs` is the simulation's world, out of which this resource was taken for the call.
    pub fn unload(&mut self, ecs: &mut EcsWorld, position: ChunkPos) {
        let items = self.dropped_items(ecs, position);
        ChunkAttachments::take_out(ecs, position);
        self.keep_entities(ecs, position, items);
        let Some(chunk) = ecs.resource_mut::<World>().remove_chunk(position) else { return };
        // A save that is under way may fail, and a chunk that was changed since has to follow it.
        if needs_saving(&chunk) || self.saving.contains(&position) {
            self.kept.insert(position, Kept { chunk, wanted: false });
            self.save_kept(position);
        } else {
            self.entities.remove(&position);
        }
    }

    /// Saves every chunk that has changed, or in which what systems keep has, makes all of it durable, and waits for
    /// both. Returns what failed.
    ///
    /// `ecs` is the simulation's world, out of which this resource was taken for the call:
    ///
    /// ```
    /// # use bevy_ecs::prelude::Mut;
    /// # use voxtick_anvil::{ChunkStorage, StorageFailure};
    /// # use voxtick_engine::Simulation;
    /// fn save(simulation: &mut Simulation) -> Vec<StorageFailure> {
    ///     let ecs = simulation.world_mut();
    ///     ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| storage.save_all(ecs))
    /// }
    /// ```
    pub fn save_all(&mut self, ecs: &mut EcsWorld) -> Vec<StorageFailure> {
        let before = self.failures.len();
        let loaded: Vec<ChunkPos> = ecs.resource::<World>().chunk_positions().collect();
        for position in loaded {
            self.store(ecs, position);
        }
        let world = &mut *ecs.resource_mut::<World>();
        self.finish_saves(world);
        let dirty: Vec<ChunkPos> =
            world.chunks().filter(|chunk| needs_saving(chunk)).map(Chunk::position).collect();
        dirty.into_iter().for_each(|position| self.save(world, position));
        let kept: Vec<ChunkPos> = self.kept.keys().copied().collect();
        kept.into_iter().for_each(|position| self.save_kept(position));
        self.finish_saves(world);
        for update in self.unflushed.take_all() {
            self.flush(update.position);
        }
        while self.flushing > 0 && self.io.wait() {
            self.collect(world);
        }
        self.failures.split_off(before)
    }

    /// Saves the chunks whose turn it is, where they or what systems keep in them have changed.
    pub(super) fn autosave(&mut self, ecs: &mut EcsWorld) {
        let Some(turns) = &mut self.turns else { return };
        turns.follow(ecs.resource::<World>());
        let mut due = std::mem::take(&mut self.due);
        due.extend(turns.due(self.now));
        let kept: Vec<ChunkPos> =
            self.kept.keys().copied().filter(|position| turns.is_due(*position, self.now)).collect();
        for position in due.drain(..) {
            self.store(ecs, position);
            let world = &mut *ecs.resource_mut::<World>();
            if world.chunk(position).is_some_and(needs_saving) {
                self.save(world, position);
            }
        }
        self.due = due;
        kept.into_iter().for_each(|position| self.save_kept(position));
    }

    /// Has the regions made durable whose time has come.
    pub(super) fn flush_due(&mut self) {
        while let Some(update) = self.unflushed.take_ready(self.now) {
            self.flush(update.position);
        }
    }

    /// Saves a chunk of the world.
    fn save(&mut self, world: &mut World, position: ChunkPos) {
        let start = Instant::now();
        if let Some(chunk) = world.chunk_mut(position)
            && self.saving.insert(position)
        {
            chunk.modified = false;
            let snapshot = chunk.clone();
            self.snapshot_time += start.elapsed().as_nanos() as u64;
            let entities = self.entities_to_save(position);
            self.io.save(snapshot, entities);
        }
    }

    /// Saves a chunk that is no more in the world, unless its save is under way.
    fn save_kept(&mut self, position: ChunkPos) {
        if let Some(kept) = self.kept.get_mut(&position)
            && needs_saving(&kept.chunk)
            && self.saving.insert(position)
        {
            kept.chunk.modified = false;
            let chunk = kept.chunk.clone();
            let entities = self.entities_to_save(position);
            self.io.save(chunk, entities);
        }
    }

    fn finish_saves(&mut self, world: &mut World) {
        while !self.saving.is_empty() && self.io.wait() {
            self.collect(world);
        }
    }

    pub(super) fn saved_one(
        &mut self,
        position: ChunkPos,
        outcome: Result<Saved, SaveChunkError>,
        world: &mut World,
    ) {
        self.saving.remove(&position);
        let chunk = match self.kept.get_mut(&position) {
            Some(kept) => Some(&mut kept.chunk),
            None => world.chunk_mut(position),
        };
        match outcome {
            Ok(Saved { stored: None }) => self.totals.unchanged += 1,
            Ok(Saved { stored: Some(stored) }) => {
                self.totals.saved += 1;
                self.totals.saved_bytes += stored.bytes.len() as u64;
                // What is saved next is compared with what the file holds now.
                if let Some(chunk) = chunk {
                    chunk.unmodelled = Some(stored);
                }
                self.flush_later(position.region());
            }
            Err(error) => {
                if let Some(entities) = self.entities.get_mut(&position) {
                    entities.unsaved = true;
                }
                match chunk {
                    Some(chunk) => chunk.modified = true,
                    // Somebody took it out of the world past this storage: what was to be saved is all there is.
                    None => {
                        let mut chunk = (*error.chunk).clone();
                        chunk.modified = true;
                        self.kept.insert(position, Kept { chunk, wanted: false });
                    }
                }
                self.failures.push(StorageFailure::Save(error));
                // Tried again in its next turn.
                return;
            }
        }
        if let Some(kept) = self.kept.get(&position) {
            if needs_saving(&kept.chunk) {
                self.save_kept(position);
            } else if !kept.wanted {
                self.kept.remove(&position);
                self.entities.remove(&position);
            }
        }
    }

    /// Has a region made durable some ticks from now.
    pub(super) fn flush_later(&mut self, region: RegionPos) {
        // There is no end to its room; one that waits already keeps its time.
        let _ = self.unflushed.mark([region.x, 0, region.z], (), self.now);
    }

    fn flush(&mut self, [x, _, z]: [i32; 3]) {
        self.flushing += 1;
        self.io.flush(RegionPos::new(x, z));
    }
}

/// Whether the file does not hold a chunk as it is.
pub(super) fn needs_saving(chunk: &Chunk) -> bool {
    chunk.modified || chunk.unmodelled.is_none()
}
