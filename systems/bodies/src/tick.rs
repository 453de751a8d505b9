//! One tick of all bodies: look at what changed, move, deal with what came of it, age, merge.

use std::sync::Mutex;

use crate::kernel::Tally;
use crate::parallel::{Shared, step_pools};
use crate::population::Population;
use crate::rules::{Moment, VOID_DEPTH};
use crate::settle::Aftermath;
use voxtick_worlds::World;

impl Population {
    /// Runs one tick over `world`, in parallel on the rayon pool that it is called in, which has `threads` threads.
    ///
    /// The same for every number of threads. Reads the world's changes since the last call, so it must be called in
    /// every tick of the world.
    pub fn tick(&mut self, world: &World, seed: u64, threads: usize) -> Tally {
        self.events.clear();
        while self.scratch.len() <= threads {
            self.scratch.push(Mutex::default());
        }
        self.follow_terrain(world);
        let mut listed = std::mem::take(&mut self.listed);
        self.take_restless(&mut listed);
        let shared = Shared {
            world,
            materials: &self.materials,
            rules: &self.settings.rules,
            moment: Moment { tick: self.ticks, seed },
            path: self.settings.path,
            aftermath: Aftermath {
                places: &self.places,
                inlets: &self.inlets,
                ticks: self.ticks + 1,
                lost_below: f64::from(world.dimension().min_y() - VOID_DEPTH),
                sleeping: self.settings.sleeping,
            },
            scratch: &self.scratch,
        };
        let tally = step_pools(&mut self.pools, &listed, shared);
        self.ticks += 1;
        self.gather_settled(&mut listed);
        if self.settings.merging {
            self.merge(&listed);
        }
        self.listed = listed;
        self.despawn();
        self.events.sort();
        tally
    }
}

#[cfg(test)]
mod tests {
    use crate::{Population, Settings, Spawn};
    use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, World};

    /// A tick once looked at every chunk that had ever had a body, asleep or not, several times over.
    #[test]
    fn a_tick_looks_at_chunks_with_awake_bodies_alone() {
        let states = BlockStates::load();
        let stone = states.parse("stone").expect("a known state");
        let mut population = Population::new(&states, Settings::default());
        let mut world = World::new(Dimension::overworld(), states);
        let middles: Vec<i32> = (0..40).map(|chunk| chunk * 16 + 8).collect();
        for &x in &middles {
            world.insert_chunk(Chunk::empty(ChunkPos::new(x >> 4, 0), world.dimension()));
            world.set_block(BlockPos::new(x, 63, 8), stone).expect("loaded");
        }
        let spawns: Vec<Spawn> = middles
            .iter()
            .map(|&x| Spawn::at([f64::from(x) + 0.5, 64.0, 8.5], ItemStack::new(ItemKind(1), 3, 64)))
            .collect();
        let ids = population.spawn(&spawns).expect("room");
        let mut tick = |population: &mut Population, number: u64| {
            population.tick(&world, 7, 1);
            world.begin_tick(number + 1);
        };
        (0..8).for_each(|number| tick(&mut population, number));
        let restless = |population: &Population| {
            let mut pools = Vec::new();
            population.take_restless(&mut pools);
            pools.iter().for_each(|&pool| population.places.mark_restless(pool));
            pools
        };
        assert_eq!((population.awake_count(), restless(&population)), (0, vec![]));
        // It is thrown into the next chunk, which is looked at from then on, and its own no more.
        population.throw(&[(ids[17], [9.0, 0.1, 0.0])]);
        assert_eq!(restless(&population), [17]);
        tick(&mut population, 8);
        assert_eq!(restless(&population), [18]);
        // All vanish in the same tick, for which each chunk is listed once.
        assert_eq!(population.due.len(), 40);
        (9..6_000).for_each(|number| tick(&mut population, number));
        assert_eq!((population.count(), population.due.len()), (0, 0));
    }
}
