//! Which bodies are somewhere: by box, by sphere, the nearest.
//!
//! Cost: O(pools in reach + rows of those). Answers come in ascending order of number.

use crate::body::{Body, Bounds, floor};
use crate::pool::Pool;
use crate::population::{BodyId, Population};
use crate::rules::HALF_WIDTH;
use voxtick_worlds::ChunkPos;

impl Population {
    /// Writes the bodies whose boxes overlap `space` to `found`.
    pub fn in_box(&self, space: &Bounds, found: &mut Vec<BodyId>) {
        self.search(space, found, |body| body.bounds().overlaps(space));
    }

    /// Writes the bodies whose boxes have a point within `radius` of `middle` to `found`.
    pub fn in_sphere(&self, middle: [f64; 3], radius: f64, found: &mut Vec<BodyId>) {
        let space = Bounds { min: middle.map(|at| at - radius), max: middle.map(|at| at + radius) };
        self.search(&space, found, |body| squared_distance(&body.bounds(), middle) <= radius * radius);
    }

    /// The up to three bodies whose boxes are nearest to `to`, nearest first; of equally near ones the lowest number.
    #[must_use]
    pub fn nearest_three(&self, to: [f64; 3]) -> Vec<BodyId> {
        let mut best: Vec<(f64, u32)> = Vec::with_capacity(4);
        let mut pools: Vec<(f64, &Pool)> =
            self.pools.iter().map(|pool| (squared_distance(&reach_of(pool.chunk), to), pool)).collect();
        pools.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        for (least, pool) in pools {
            if best.len() == 3 && best[2].0 < least {
                break;
            }
            for row in 0..pool.rows.len() {
                let distance = squared_distance(&bounds_of(pool, row), to);
                if distance.is_nan() {
                    continue;
                }
                let entry = (distance, pool.rows.number[row]);
                let rank = best.partition_point(|one| (one.0, one.1) < entry);
                if rank < 3 {
                    best.insert(rank, entry);
                    best.truncate(3);
                }
            }
        }
        best.into_iter().map(|(_, number)| self.id(number)).collect()
    }

    fn search(&self, space: &Bounds, found: &mut Vec<BodyId>, holds: impl Fn(&Body) -> bool) {
        found.clear();
        // A body belongs to the chunk of its middle and reaches half its width beyond.
        let low = [0, 2].map(|axis| floor(space.min[axis] - HALF_WIDTH) >> 4);
        let high = [0, 2].map(|axis| floor(space.max[axis] + HALF_WIDTH) >> 4);
        let columns = self.ordered.range(ChunkPos::new(low[0], i32::MIN)..=ChunkPos::new(high[0], i32::MAX));
        for (_, &pool) in columns.filter(|(chunk, _)| (low[1]..=high[1]).contains(&chunk.z)) {
            let pool = &self.pools[pool as usize];
            for row in 0..pool.rows.len() {
                let position = [pool.rows.x[row], pool.rows.y[row], pool.rows.z[row]];
                if holds(&Body::new(position, [0.0; 3])) {
                    found.push(self.id(pool.rows.number[row]));
                }
            }
        }
        found.sort_unstable();
    }
}

fn bounds_of(pool: &Pool, row: usize) -> Bounds {
    Body::new([pool.rows.x[row], pool.rows.y[row], pool.rows.z[row]], [0.0; 3]).bounds()
}

/// All that bodies of a chunk can fill.
fn reach_of(chunk: ChunkPos) -> Bounds {
    let (x, z) = (f64::from(chunk.x) * 16.0, f64::from(chunk.z) * 16.0);
    Bounds {
        min: [x - HALF_WIDTH, f64::NEG_INFINITY, z - HALF_WIDTH],
        max: [x + 16.0 + HALF_WIDTH, f64::INFINITY, z + 16.0 + HALF_WIDTH],
    }
}

fn squared_distance(bounds: &Bounds, to: [f64; 3]) -> f64 {
    let away = [0, 1, 2].map(|axis| {
        let short = bounds.min[axis] - to[axis];
        let long = to[axis] - bounds.max[axis];
        if short > 0.0 {
            short
        } else if long > 0.0 {
            long
        } else {
            0.0
        }
    });
    away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::{Settings, Spawn};
    use voxtick_worlds::{BlockStates, ItemKind, ItemStack};

    fn scattered() -> (Population, Vec<BodyId>) {
        let mut population = Population::new(&BlockStates::load(), Settings::default());
        let spawns: Vec<Spawn> = (0..400)
            .map(|place| {
                let at = |step: i32| f64::from((place * step) % 97) - 48.0;
                Spawn::at([at(31), at(17), at(53)], ItemStack::single(ItemKind(0)))
            })
            .collect();
        let ids = population.spawn(&spawns).expect("room");
        (population, ids)
    }

    #[test]
    fn a_box_and_a_sphere_find_what_looking_at_all_finds() {
        let (population, ids) = scattered();
        let middle = [3.0, -2.0, 16.0];
        let space = Bounds { min: [-20.0, -30.0, -1.0], max: [3.0, 9.0, 31.9] };
        let (mut in_box, mut in_sphere) = (Vec::new(), Vec::new());
        population.in_box(&space, &mut in_box);
        population.in_sphere(middle, 21.5, &mut in_sphere);
        let bounds = |id: &BodyId| population.view(*id).expect("there").body.bounds();
        let boxed: Vec<BodyId> = ids.iter().copied().filter(|id| bounds(id).overlaps(&space)).collect();
        let near: Vec<BodyId> =
            ids.iter().copied().filter(|id| squared_distance(&bounds(id), middle) <= 21.5 * 21.5).collect();
        assert!(boxed.len() > 10 && near.len() > 10, "{} and {}", boxed.len(), near.len());
        assert_eq!((in_box, in_sphere), (boxed, near));
    }

    #[test]
    fn the_nearest_three_are_those_of_a_full_sort() {
        let (population, mut ids) = scattered();
        for to in [[0.0, 0.0, 0.0], [-200.0, 5.0, 60.0], [17.2, -8.0, -31.0]] {
            ids.sort_by(|one, other| {
                let distance =
                    |id: &BodyId| squared_distance(&population.view(*id).expect("there").body.bounds(), to);
                distance(one).total_cmp(&distance(other)).then(one.cmp(other))
            });
            assert_eq!(population.nearest_three(to), ids[..3]);
        }
    }
}
