//! Pipes that are blocks of a world: which states are pipes, where they open to, how fast items move in them.

use std::fmt;

use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, SECTION_CELLS, SectionPos, StateId};

use crate::network::{Connections, Segment};
use crate::settings::LaneSettings;

/// What a block is as a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipeShape {
    /// The sides it opens to.
    pub connections: Connections,
    /// How items move in it. A lane moves by the slowest speed and the widest spacing of its blocks, both ends
    /// included.
    pub settings: LaneSettings,
}

/// Which block states are pipes.
///
/// ```
/// use voxtick_transit::{Connections, LaneSettings, PipeBlocks, PipeShape};
/// use voxtick_worlds::{BlockStates, Direction};
/// // Iron chains are straight pipes along their axis.
/// let mut pipes = PipeBlocks::new(|states: &BlockStates, state| {
///     let axis = states.properties(state).find(|&(name, _)| name == "axis").map(|(_, axis)| axis);
///     let ways = match axis.filter(|_| states.name(state) == "minecraft:iron_chain")? {
///         "x" => [Direction::West, Direction::East],
///         "y" => [Direction::Down, Direction::Up],
///         _ => [Direction::North, Direction::South],
///     };
///     Some(PipeShape { connections: Connections::of(&ways), settings: LaneSettings::default() })
/// });
/// let states = BlockStates::load();
/// let chain = states.parse("iron_chain[axis=y]")?;
/// assert!(pipes.shape(chain, &states).is_some_and(|pipe| pipe.connections.has(Direction::Up)));
/// assert_eq!(pipes.shape(states.parse("stone")?, &states), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PipeBlocks {
    shape: Box<ShapeOf>,
    known: FxHashMap<StateId, Option<PipeShape>>,
    /// Settings of pipes that have been read, where they are not the default.
    settings: FxHashMap<BlockPos, LaneSettings>,
    /// Where pipes have been seen, by chunk; some may be no more.
    seen: FxHashMap<ChunkPos, Vec<BlockPos>>,
}

type ShapeOf = dyn Fn(&BlockStates, StateId) -> Option<PipeShape> + Send + Sync;

impl PipeBlocks {
    /// Pipes are the states for which `shape` gives one. It is asked once a state.
    #[must_use]
    pub fn new(
        shape: impl Fn(&BlockStates, StateId) -> Option<PipeShape> + Send + Sync + 'static,
    ) -> PipeBlocks {
        PipeBlocks {
            shape: Box::new(shape),
            known: FxHashMap::default(),
            settings: FxHashMap::default(),
            seen: FxHashMap::default(),
        }
    }

    /// What a state is as a pipe; `None` for all else.
    pub fn shape(&mut self, state: StateId, states: &BlockStates) -> Option<PipeShape> {
        *self.known.entry(state).or_insert_with(|| (self.shape)(states, state))
    }

    /// All pipes of a chunk, section by section.
    pub fn read_chunk(&mut self, chunk: &Chunk, states: &BlockStates) -> Vec<(BlockPos, Connections)> {
        let mut pipes = Vec::new();
        for (at, section) in chunk.sections().iter().enumerate() {
            let y = chunk.min_section() + at as i32;
            let place = SectionPos::new(chunk.position().x, y, chunk.position().z);
            if section.palette().iter().all(|&state| self.shape(state, states).is_none()) {
                continue;
            }
            for cell in 0..SECTION_CELLS {
                let shape = self.shape(section.get(cell), states);
                if let (Some(shape), Some(position)) = (shape, place.checked_block(cell)) {
                    self.remember(position, Some(shape));
                    pipes.push((position, shape.connections));
                }
            }
        }
        pipes
    }

    /// Notes what stands at a position now.
    pub(crate) fn remember(&mut self, position: BlockPos, shape: Option<PipeShape>) {
        if shape.is_some() {
            self.seen.entry(position.chunk()).or_default().push(position);
        }
        match shape {
            Some(shape) if shape.settings != LaneSettings::default() => {
                self.settings.insert(position, shape.settings);
            }
            _ => drop(self.settings.remove(&position)),
        }
    }

    /// Notes pipes that came with a chunk's attachment: its blocks will say which of them are there.
    pub(crate) fn remember_seen(&mut self, pipes: impl IntoIterator<Item = BlockPos>) {
        for position in pipes {
            self.seen.entry(position.chunk()).or_default().push(position);
        }
    }

    /// Where pipes have been seen in a chunk, in canonical order; forgets them.
    pub(crate) fn take_seen(&mut self, chunk: ChunkPos) -> Vec<BlockPos> {
        let mut seen = self.seen.remove(&chunk).unwrap_or_default();
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    /// How items move on a segment; `None` where all its pipes are as by default.
    pub(crate) fn settings_of(&self, segment: &Segment) -> Option<LaneSettings> {
        if self.settings.is_empty() {
            return None;
        }
        let of = |position| self.settings.get(&position).copied();
        segment.positions().filter_map(of).reduce(LaneSettings::slower)
    }
}

impl fmt::Debug for PipeBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipeBlocks").field("known", &self.known.len()).finish_non_exhaustive()
    }
}
