//! Chunks that are out of range leave the world, within the same allowance a tick as others enter.

use super::ChunkStorage;
use bevy_ecs::prelude::World as EcsWorld;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use voxtick_engine::{Allowance, Budget};
use voxtick_worlds::{ChangeCursor, ChunkEvent, ChunkPos, World};

/// Chunks that are to leave.
#[derive(Debug)]
pub(super) struct Leaving {
    cursor: ChangeCursor,
    /// In the order in which they leave. Some may be in range again by their turn, or gone.
    waiting: VecDeque<ChunkPos>,
    pub(super) budget: Budget,
}

impl Leaving {
    pub(super) fn new(allowance: Allowance) -> Leaving {
        Leaving { cursor: ChangeCursor::default(), waiting: VecDeque::new(), budget: Budget::new(allowance) }
    }
}

impl ChunkStorage {
    /// Drops chunks that are out of range, as many as the allowance permits; the others leave in the ticks that follow.
    /// Costs O(what has moved + chunks that came + chunks that leave).
    pub(super) fn drop_out_of_range(&mut self, ecs: &mut EcsWorld) {
        self.find_leaving(ecs.resource::<World>());
        let mut budget = self.leaving.budget.clone();
        budget.spend(|| {
            while let Some(position) = self.leaving.waiting.pop_front() {
                if !self.range.keeps(position) && ecs.resource::<World>().chunk(position).is_some() {
                    self.unload(ecs, position);
                    self.totals.dropped += 1;
                    return ControlFlow::Continue(());
                }
            }
            ControlFlow::Break(())
        });
        self.leaving.budget = budget;
    }

    /// Finds the chunks that are out of range since the last call.
    fn find_leaving(&mut self, world: &World) {
        let changes = world.changes(&mut self.leaving.cursor);
        match self.range_before.take() {
            Some(before) => {
                let most = world.chunk_count() as u64;
                if let Some(positions) = self.range.left_since(&before, most) {
                    positions.iter().for_each(|position| {
                        self.loads.cancel(*position);
                    });
                    self.leaving.waiting.extend(positions);
                } else {
                    self.leaving.waiting.clear();
                    self.leaving.waiting.extend(world.chunk_positions());
                    let range = &self.range;
                    self.loads.cancel_unless(|position| range.keeps(position));
                }
            }
            None if self.range.radius.is_none() => return,
            None => {}
        }
        if changes.missed > 0 {
            self.leaving.waiting.clear();
            self.leaving.waiting.extend(world.chunk_positions());
        }
        let came = changes.chunks.iter().filter_map(|event| match event {
            ChunkEvent::Loaded(position) => Some(*position),
            ChunkEvent::Unloaded(_) => None,
        });
        self.leaving.waiting.extend(came.filter(|position| !self.range.keeps(*position)));
    }
}
