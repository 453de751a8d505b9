//! Which chunk is loaded next: the nearest to what matters, then the one that was asked for first.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use voxtick_worlds::ChunkPos;

/// Chunks that wait to be loaded.
#[derive(Debug, Default)]
pub(super) struct LoadQueue {
    /// By distance to the nearest point of interest, squared, and by order of asking.
    waiting: BTreeMap<(u64, u64), ChunkPos>,
    places: FxHashMap<ChunkPos, (u64, u64)>,
    points: Vec<ChunkPos>,
}

impl LoadQueue {
    /// Adds a chunk; `order` must grow. A chunk that waits already stays where it is.
    pub(super) fn push(&mut self, position: ChunkPos, order: u64) -> bool {
        if self.places.contains_key(&position) {
            return false;
        }
        let place = (self.distance(position), order);
        self.waiting.insert(place, position);
        self.places.insert(position, place);
        true
    }

    /// Takes a chunk out that nobody wants any more.
    pub(super) fn cancel(&mut self, position: ChunkPos) -> bool {
        match self.places.remove(&position) {
            Some(place) => self.waiting.remove(&place).is_some(),
            None => false,
        }
    }

    /// The next chunk, and its place in the order of asking.
    pub(super) fn pop(&mut self) -> Option<(ChunkPos, u64)> {
        let ((_, order), position) = self.waiting.pop_first()?;
        self.places.remove(&position);
        Some((position, order))
    }

    /// Chooses what distances are measured from. Without points the order of asking decides alone.
    pub(super) fn set_points(&mut self, points: Vec<ChunkPos>) {
        self.points = points;
        let waiting = std::mem::take(&mut self.waiting);
        for ((_, order), position) in waiting {
            let place = (self.distance(position), order);
            self.waiting.insert(place, position);
            self.places.insert(position, place);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    fn distance(&self, position: ChunkPos) -> u64 {
        let squared = |point: &ChunkPos| {
            let (x, z) = (position.x.abs_diff(point.x), position.z.abs_diff(point.z));
            (u64::from(x) * u64::from(x)).saturating_add(u64::from(z) * u64::from(z))
        };
        self.points.iter().map(squared).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(queue: &mut LoadQueue) -> Vec<i32> {
        std::iter::from_fn(|| queue.pop()).map(|(position, _)| position.x).collect()
    }

    #[test]
    fn the_nearest_comes_first_and_then_the_oldest() {
        let mut queue = LoadQueue::default();
        for (order, x) in [5, -3, 9, 3, 100].into_iter().enumerate() {
            assert!(queue.push(ChunkPos::new(x, 0), order as u64));
        }
        assert!(!queue.push(ChunkPos::new(9, 0), 7), "it waits already");
        queue.set_points(vec![ChunkPos::new(0, 0), ChunkPos::new(101, 0)]);
        assert!(queue.push(ChunkPos::new(1, 0), 8));
        assert!(queue.cancel(ChunkPos::new(9, 0)) && !queue.cancel(ChunkPos::new(9, 0)));
        assert_eq!(queue.len(), 5);
        assert_eq!(order(&mut queue), [100, 1, -3, 3, 5]);
    }

    #[test]
    fn without_points_it_is_first_come_first_served() {
        let mut queue = LoadQueue::default();
        for (order, x) in [5, -3, i32::MAX, i32::MIN].into_iter().enumerate() {
            queue.push(ChunkPos::new(x, x), order as u64);
        }
        assert_eq!(order(&mut queue), [5, -3, i32::MAX, i32::MIN]);
    }
}
