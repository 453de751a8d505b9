//! Pipes that are blocks of a world: which states are pipes, where they open to, how fast items move in them.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
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
    /// Settings of the pipes that have been read.
    settings: FxHashMap<BlockPos, LaneSettings>,
    /// How many pipes have each of them.
    in_use: FxHashMap<LaneSettings, usize>,
    /// Pipes that were there before with other settings, since this was last asked.
    changed: Vec<BlockPos>,
    /// Where pipes have been seen, by chunk; some may be no more.
    seen: FxHashMap<ChunkPos, FxHashSet<BlockPos>>,
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
            in_use: FxHashMap::default(),
            changed: Vec::new(),
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
        let seen = self.seen.entry(position.chunk()).or_default();
        let before = match shape {
            Some(shape) => {
                seen.insert(position);
                *self.in_use.entry(shape.settings).or_default() += 1;
                self.settings.insert(position, shape.settings)
            }
            None => {
                seen.remove(&position);
                self.settings.remove(&position)
            }
        };
        let Some(before) = before else { return };
        if shape.is_some_and(|shape| shape.settings != before) {
            self.changed.push(position);
        }
        if let Some(count) = self.in_use.get_mut(&before) {
            *count -= 1;
            if *count == 0 {
                self.in_use.remove(&before);
            }
        }
    }

    /// Notes pipes that came with a chunk's attachment: its blocks will say which of them are there.
    pub(crate) fn remember_seen(&mut self, pipes: impl IntoIterator<Item = BlockPos>) {
        for position in pipes {
            self.seen.entry(position.chunk()).or_default().insert(position);
        }
    }

    /// Pipes that stayed and have other settings than when this was last asked.
    pub(crate) fn take_changed(&mut self) -> Vec<BlockPos> {
        std::mem::take(&mut self.changed)
    }

    /// Where pipes have been seen in a chunk, in canonical order; forgets them.
    pub(crate) fn take_seen(&mut self, chunk: ChunkPos) -> Vec<BlockPos> {
        let mut seen: Vec<BlockPos> = self.seen.remove(&chunk).unwrap_or_default().into_iter().collect();
        seen.sort_unstable();
        seen
    }

    /// How items move on a segment; `None` where none of its pipes has been read.
    pub(crate) fn settings_of(&self, segment: &Segment) -> Option<LaneSettings> {
        let of = |position| self.settings.get(&position).copied();
        // Where all pipes have the same settings, the length of the segment does not matter.
        if self.in_use.len() == 1
            && let Some(settings) = of(segment.low)
        {
            return Some(settings);
        }
        segment.positions().filter_map(of).reduce(LaneSettings::slower)
    }
}

impl fmt::Debug for PipeBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipeBlocks").field("known", &self.known.len()).finish_non_exhaustive()
    }
}
