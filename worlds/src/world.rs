//! All loaded chunks of one dimension, found by position.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::Resource;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use slab::Slab;

use crate::changes::{BlockChange, ChangeCursor, ChangeLog, Changes, ChunkEvent};
use crate::chunk::Chunk;
use crate::dimension::Dimension;
use crate::positions::{BlockPos, ChunkPos};
use crate::states::{BlockStates, StateId};

/// The loaded chunks of one dimension.
///
/// A plain structure that any program can use; a simulation holds it as a resource. Chunks are found by position in
/// constant time and worked through in ascending order of position, so that nothing depends on the order in which they
/// were loaded.
///
/// ```
/// use voxtick_worlds::{BlockPos, BlockStates, ChangeCursor, Chunk, ChunkPos, Dimension, World};
/// let states = BlockStates::load();
/// let stone = states.parse("stone")?;
/// let mut world = World::new(Dimension::overworld(), states);
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
///
/// let mut cursor = ChangeCursor::default();
/// world.set_block(BlockPos::new(4, 70, 4), stone)?;
/// let changes = world.changes(&mut cursor);
/// assert_eq!((changes.chunks.len(), changes.blocks[0].after), (1, stone));
/// assert!(world.set_block(BlockPos::new(400, 70, 4), stone).is_err(), "no chunk there");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource, Debug)]
pub struct World {
    dimension: Dimension,
    states: Arc<BlockStates>,
    chunks: Slab<Chunk>,
    places: FxHashMap<ChunkPos, usize>,
    /// The same places in the canonical order.
    ordered: BTreeMap<ChunkPos, usize>,
    changes: ChangeLog,
    tick: u64,
}

/// Why a block was not written. Nothing has changed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetBlockError {
    /// The chunk is not loaded.
    #[error("block {position}: {} is not loaded; load it first", position.chunk())]
    NotLoaded {
        /// The block.
        position: BlockPos,
    },
    /// The block lies above or below the build range.
    #[error("block {position} lies outside the build range y = {min_y} to {}", max_y - 1)]
    OutsideBuildRange {
        /// The block.
        position: BlockPos,
        /// The lowest height.
        min_y: i32,
        /// One above the topmost height.
        max_y: i32,
    },
}

/// What became of a batch of writes; see [`World::set_blocks`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchOutcome {
    /// Blocks that now have another state.
    pub changed: usize,
    /// Blocks that had the state already.
    pub unchanged: usize,
    /// Blocks that could not be written.
    pub refused: usize,
}

impl World {
    /// A world without chunks.
    #[must_use]
    pub fn new(dimension: Dimension, states: Arc<BlockStates>) -> World {
        World {
            dimension,
            states,
            chunks: Slab::new(),
            places: FxHashMap::default(),
            ordered: BTreeMap::new(),
            changes: ChangeLog::default(),
            tick: 0,
        }
    }

    /// The table that gives the states of this world their meaning.
    #[must_use]
    pub fn states(&self) -> &Arc<BlockStates> {
        &self.states
    }

    /// The build range and the sky.
    #[must_use]
    pub const fn dimension(&self) -> &Dimension {
        &self.dimension
    }

    /// The chunk at `position`, if it is loaded.
    #[must_use]
    pub fn chunk(&self, position: ChunkPos) -> Option<&Chunk> {
        self.places.get(&position).map(|&place| &self.chunks[place])
    }

    /// The chunk at `position` for writing. Blocks written this way are not recorded as changes: use
    /// [`World::set_block`] where another system is to learn of them.
    pub fn chunk_mut(&mut self, position: ChunkPos) -> Option<&mut Chunk> {
        self.places.get(&position).map(|&place| &mut self.chunks[place])
    }

    /// Puts a chunk where its position says and records that it was loaded; returns the one that was there.
    pub fn insert_chunk(&mut self, chunk: Chunk) -> Option<Chunk> {
        let position = chunk.position();
        self.changes.chunk(ChunkEvent::Loaded(position));
        if let Some(&place) = self.places.get(&position) {
            return Some(std::mem::replace(&mut self.chunks[place], chunk));
        }
        let place = self.chunks.insert(chunk);
        self.places.insert(position, place);
        self.ordered.insert(position, place);
        None
    }

    /// Takes a chunk out and records that it was unloaded.
    pub fn remove_chunk(&mut self, position: ChunkPos) -> Option<Chunk> {
        let place = self.places.remove(&position)?;
        self.ordered.remove(&position);
        self.changes.chunk(ChunkEvent::Unloaded(position));
        Some(self.chunks.remove(place))
    }

    /// All chunks, in ascending order of position.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = &Chunk> {
        self.ordered.values().map(|&place| &self.chunks[place])
    }

    /// The positions of all chunks, ascending.
    pub fn chunk_positions(&self) -> impl ExactSizeIterator<Item = ChunkPos> + '_ {
        self.ordered.keys().copied()
    }

    /// All chunks for writing, in no particular order, for parallel work in which chunks do not depend on each other.
    pub fn chunks_mut_in_parallel(&mut self) -> impl ParallelIterator<Item = &mut Chunk> {
        let chunks: Vec<&mut Chunk> = self.chunks.iter_mut().map(|(_, chunk)| chunk).collect();
        chunks.into_par_iter()
    }

    /// How many chunks are loaded.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// The state at `position`, or `None` where no chunk is loaded or the build range ends.
    #[must_use]
    pub fn block(&self, position: BlockPos) -> Option<StateId> {
        self.chunk(position.chunk())?.block(position.x, position.y, position.z)
    }

    /// Writes one block and returns the state before. Where that differs, a [`BlockChange`] is recorded.
    ///
    /// # Errors
    /// [`SetBlockError`] where no chunk is loaded or the build range ends; nothing has changed then.
    pub fn set_block(&mut self, position: BlockPos, state: StateId) -> Result<StateId, SetBlockError> {
        if !self.dimension.contains_height(position.y) {
            return Err(SetBlockError::OutsideBuildRange {
                position,
                min_y: self.dimension.min_y(),
                max_y: self.dimension.max_y(),
            });
        }
        let before = self
            .places
            .get(&position.chunk())
            .and_then(|&place| {
                self.chunks[place].set_block(position.x, position.y, position.z, state, &self.states)
            })
            .ok_or(SetBlockError::NotLoaded { position })?;
        if before != state {
            self.changes.block(BlockChange { position, before, after: state, tick: self.tick });
        }
        Ok(before)
    }

    /// Writes many blocks in the order given; those that cannot be written are counted and leave the others alone.
    pub fn set_blocks(&mut self, blocks: &[(BlockPos, StateId)]) -> BatchOutcome {
        let mut outcome = BatchOutcome::default();
        for &(position, state) in blocks {
            match self.set_block(position, state) {
                Ok(before) if before == state => outcome.unchanged += 1,
                Ok(_) => outcome.changed += 1,
                Err(_) => outcome.refused += 1,
            }
        }
        outcome
    }

    /// All changes that the reader with this cursor has not seen. They are kept for the tick in which they happen and
    /// the one after it.
    pub fn changes(&self, cursor: &mut ChangeCursor) -> Changes<'_> {
        self.changes.since(cursor)
    }

    /// The tick that changes are recorded with.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Begins tick `tick`: changes are recorded with it from now on, and those that were made before the last call are
    /// forgotten. What is changed between two ticks is kept with the first of them.
    ///
    /// The `WorldsPlugin` calls this at the start of every tick.
    pub fn begin_tick(&mut self, tick: u64) {
        self.changes.begin_tick();
        self.tick = tick;
    }
}
