//! Loads begin, nearest first, and chunks enter the world.

use super::ChunkStorage;
use super::saves::needs_saving;
use crate::load::LoadChunkError;
use crate::plugin::failure::StorageFailure;
use crate::plugin::loads::LoadResult;
use bevy_ecs::prelude::World as EcsWorld;
use std::ops::ControlFlow;
use voxtick_engine::Allowance;
use voxtick_worlds::{ChunkAttachments, ChunkPos, World};

impl ChunkStorage {
    /// Begins as many loads as may be under way.
    pub(super) fn begin_loads(&mut self) {
        while let Some((position, order)) = self.loads.begin(self.window) {
            match self.kept.get_mut(&position) {
                Some(kept) => {
                    kept.wanted = true;
                    self.loads.arrive(order, LoadResult::Kept);
                }
                None => self.io.load(position, order),
            }
        }
    }

    /// Lets the next chunk in whose turn it is; breaks where there is none.
    pub(super) fn enter_next(&mut self, ecs: &mut EcsWorld) -> ControlFlow<()> {
        let next = match self.intake.allowance() {
            Allowance::Time(_) => self.loads.first_arrived(),
            Allowance::Units(_) => {
                let first = self.loads.first();
                while first.is_some_and(|order| !self.loads.has_arrived(order)) && self.io.wait() {
                    self.collect(&mut ecs.resource_mut::<World>());
                }
                first
            }
        };
        match next {
            Some(order) => {
                self.enter(order, ecs);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    }

    fn enter(&mut self, order: u64, ecs: &mut EcsWorld) {
        let Some(load) = self.loads.take(order) else { return };
        self.longest_wait = self.longest_wait.max(self.now.saturating_sub(load.asked_in));
        let position = load.position;
        let world = &mut *ecs.resource_mut::<World>();
        let wanted = !load.cancelled && world.chunk(position).is_none() && self.range.keeps(position);
        match load.result {
            Some(LoadResult::Kept) => {
                if wanted {
                    if let Some(kept) = self.kept.remove(&position) {
                        world.insert_chunk(kept.chunk);
                        self.put_back(ecs, position);
                    }
                } else if let Some(kept) = self.kept.get_mut(&position) {
                    kept.wanted = false;
                    if !needs_saving(&kept.chunk) && !self.saving.contains(&position) {
                        self.kept.remove(&position);
                        self.entities.remove(&position);
                    }
                }
            }
            Some(LoadResult::File(Ok(Some(loaded)))) if wanted => {
                self.totals.loaded += 1;
                self.totals.loaded_bytes += loaded.bytes;
                self.notices.extend(loaded.notices.into_iter().map(|notice| (position, notice)));
                world.insert_chunk(*loaded.chunk);
                self.take_in(ecs, position, loaded.entities);
            }
            Some(LoadResult::File(Ok(None))) => self.totals.absent += 1,
            Some(LoadResult::File(Err(error))) if wanted => {
                self.failures.push(StorageFailure::Load(error));
            }
            Some(LoadResult::File(_)) => {}
            // The thread that had it is gone.
            None => self.failures.push(StorageFailure::Load(LoadChunkError::Fault { chunk: position })),
        }
    }

    /// Gives the systems what is kept with a chunk that has entered. Returns the names of what they refused.
    pub(super) fn put_back(&mut self, ecs: &mut EcsWorld, position: ChunkPos) -> Vec<&'static str> {
        let refused = ChunkAttachments::put_back(ecs, position);
        let names = refused.iter().map(|refused| refused.name).collect();
        self.failures.extend(refused.into_iter().map(StorageFailure::Attachment));
        names
    }
}
