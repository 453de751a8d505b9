//! When it is a chunk's turn to be saved, without looking at those whose turn it is not.

use std::collections::{BTreeMap, BTreeSet};
use voxtick_worlds::{ChangeCursor, ChunkEvent, ChunkPos, RegionPos, World};

/// Ticks over which the chunks of one region are spread, so that a region's saves lie close together and a flush after
/// them serves all.
const SPREAD: u64 = 20;

/// The loaded chunks by the tick of the round in which they have their turn.
#[derive(Debug)]
pub(super) struct Turns {
    ticks: u64,
    chunks: BTreeMap<u64, BTreeSet<ChunkPos>>,
    cursor: ChangeCursor,
}

impl Turns {
    /// Rounds of so many ticks, at least one.
    pub(super) fn new(ticks: u64) -> Turns {
        Turns { ticks, chunks: BTreeMap::new(), cursor: ChangeCursor::default() }
    }

    /// Takes in which chunks have come and gone since the last call. Costs O(those).
    pub(super) fn follow(&mut self, world: &World) {
        let changes = world.changes(&mut self.cursor);
        if changes.missed > 0 {
            self.chunks.clear();
            world.chunk_positions().for_each(|position| self.add(position));
            return;
        }
        for event in changes.chunks {
            match *event {
                ChunkEvent::Loaded(position) => self.add(position),
                ChunkEvent::Unloaded(position) if world.chunk(position).is_none() => self.remove(position),
                ChunkEvent::Unloaded(_) => {}
            }
        }
    }

    /// The chunks whose turn it is, ascending.
    pub(super) fn due(&self, tick: u64) -> impl Iterator<Item = ChunkPos> + '_ {
        self.chunks.get(&(tick % self.ticks)).into_iter().flatten().copied()
    }

    /// Whether it is a chunk's turn, loaded or not.
    pub(super) fn is_due(&self, position: ChunkPos, tick: u64) -> bool {
        self.turn_of(position) == tick % self.ticks
    }

    fn add(&mut self, position: ChunkPos) {
        self.chunks.entry(self.turn_of(position)).or_default().insert(position);
    }

    fn remove(&mut self, position: ChunkPos) {
        let turn = self.turn_of(position);
        if let Some(chunks) = self.chunks.get_mut(&turn) {
            chunks.remove(&position);
            if chunks.is_empty() {
                self.chunks.remove(&turn);
            }
        }
    }

    /// Regions begin anywhere in the round, their chunks within some ticks of each other.
    fn turn_of(&self, position: ChunkPos) -> u64 {
        let RegionPos { x, z } = position.region();
        let start = mix(u64::from(x as u32) << 32 | u64::from(z as u32));
        let place = mix(position.region_entry() as u64) % SPREAD.min(self.ticks);
        (start % self.ticks + place) % self.ticks
    }
}

fn mix(number: u64) -> u64 {
    number.wrapping_add(0x9E37_79B9).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxtick_worlds::{BlockStates, Chunk, Dimension};

    #[test]
    fn every_chunk_has_one_turn_a_round_and_its_region_close_by() {
        let mut world = World::new(Dimension::overworld(), BlockStates::load());
        let mut turns = Turns::new(1000);
        for x in -20..20 {
            world.insert_chunk(Chunk::empty(ChunkPos::new(x, 3), world.dimension()));
        }
        turns.follow(&world);
        world.remove_chunk(ChunkPos::new(-20, 3));
        world.remove_chunk(ChunkPos::new(7, 3));
        world.insert_chunk(Chunk::empty(ChunkPos::new(7, 3), world.dimension()));
        turns.follow(&world);
        let round: Vec<(u64, ChunkPos)> =
            (0..1000).flat_map(|tick| turns.due(tick).map(move |chunk| (tick, chunk))).collect();
        let mut chunks: Vec<ChunkPos> = round.iter().map(|(_, chunk)| *chunk).collect();
        chunks.sort();
        assert!(chunks.into_iter().eq((-19..20).map(|x| ChunkPos::new(x, 3))));
        let ticks: BTreeSet<u64> = round.iter().map(|(tick, _)| *tick).collect();
        assert!((3..=2 * SPREAD as usize).contains(&ticks.len()), "{ticks:?}");
        assert!(round.iter().all(|(tick, chunk)| turns.is_due(*chunk, *tick)));
    }

    #[test]
    fn a_round_of_one_tick_saves_all_of_them_in_each() {
        let mut world = World::new(Dimension::overworld(), BlockStates::load());
        world.insert_chunk(Chunk::empty(ChunkPos::new(5, 5), world.dimension()));
        let mut turns = Turns::new(1);
        turns.follow(&world);
        assert_eq!((turns.due(0).count(), turns.due(7).count()), (1, 1));
    }
}
