//! What changed in a world, for any number of readers that look when it suits them.

use crate::positions::{BlockPos, ChunkPos};
use crate::states::StateId;

/// One block that got another state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockChange {
    /// Where.
    pub position: BlockPos,
    /// The state until then.
    pub before: StateId,
    /// The state from then on.
    pub after: StateId,
    /// The tick in which it happened.
    pub tick: u64,
}

/// A chunk that came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkEvent {
    /// The chunk is in the world since, with all its blocks; if one was there before, it has been replaced.
    Loaded(ChunkPos),
    /// The chunk is in the world no more.
    Unloaded(ChunkPos),
}

/// How far one reader has read the changes of a world. A new one starts with all that is still kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangeCursor {
    blocks: u64,
    chunks: u64,
}

/// What a reader has not seen yet, oldest first.
///
/// Blocks and chunks are two lists: a reader that cares for the order of a chunk's coming and its blocks' changes looks
/// at the world, which has the blocks as they are now.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// Blocks that changed.
    pub blocks: &'a [BlockChange],
    /// Chunks that came or went.
    pub chunks: &'a [ChunkEvent],
    /// How many of either were dropped unread because the reader did not look for more than one tick. A reader that
    /// finds this above 0 must look at the whole world.
    pub missed: u64,
}

/// Changes of this tick and the one before.
#[derive(Debug, Default)]
pub(crate) struct ChangeLog {
    blocks: Log<BlockChange>,
    chunks: Log<ChunkEvent>,
}

impl ChangeLog {
    pub(crate) fn block(&mut self, change: BlockChange) {
        self.blocks.entries.push(change);
    }

    pub(crate) fn chunk(&mut self, event: ChunkEvent) {
        self.chunks.entries.push(event);
    }

    pub(crate) fn since(&self, cursor: &mut ChangeCursor) -> Changes<'_> {
        let (blocks, missed_blocks) = self.blocks.since(&mut cursor.blocks);
        let (chunks, missed_chunks) = self.chunks.since(&mut cursor.chunks);
        Changes { blocks, chunks, missed: missed_blocks + missed_chunks }
    }

    pub(crate) fn begin_tick(&mut self) {
        self.blocks.begin_tick();
        self.chunks.begin_tick();
    }
}

#[derive(Debug)]
struct Log<T> {
    entries: Vec<T>,
    /// The number of the first kept entry, counted from the beginning of the world.
    first: u64,
    /// How many of the kept entries are of the tick before.
    of_last_tick: usize,
}

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log { entries: Vec::new(), first: 0, of_last_tick: 0 }
    }
}

impl<T> Log<T> {
    fn since(&self, cursor: &mut u64) -> (&[T], u64) {
        let missed = self.first.saturating_sub(*cursor);
        let seen = usize::try_from(cursor.saturating_sub(self.first)).unwrap_or(usize::MAX);
        *cursor = self.first + self.entries.len() as u64;
        (self.entries.get(seen..).unwrap_or(&[]), missed)
    }

    fn begin_tick(&mut self) {
        self.entries.drain(..self.of_last_tick);
        self.first += self.of_last_tick as u64;
        self.of_last_tick = self.entries.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(log: &Log<u32>, cursor: &mut u64) -> (Vec<u32>, u64) {
        let (entries, missed) = log.since(cursor);
        (entries.to_vec(), missed)
    }

    #[test]
    fn every_reader_sees_each_change_once() {
        let mut log = Log::default();
        let (mut early, mut late) = (0, 0);
        log.entries.push(1);
        assert_eq!(numbers(&log, &mut early), (vec![1], 0));
        log.begin_tick();
        log.entries.push(2);
        assert_eq!(numbers(&log, &mut early), (vec![2], 0));
        assert_eq!(numbers(&log, &mut late), (vec![1, 2], 0));
        assert_eq!(numbers(&log, &mut late), (vec![], 0));
    }

    #[test]
    fn a_reader_that_sleeps_too_long_is_told_how_much_it_missed() {
        let mut log = Log::default();
        let mut cursor = 0;
        log.entries.extend([1, 2]);
        log.begin_tick();
        log.entries.push(3);
        log.begin_tick();
        assert_eq!(numbers(&log, &mut cursor), (vec![3], 2));
    }
}
