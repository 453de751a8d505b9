//! The worlds and bodies of the cases, and the same bodies stepped one at a time.

use std::time::{Duration, Instant};

use voxtick::bodies::{
    BodyId, BodyView, Columns, GridTerrain, Materials, Moment, Population, Row, Rules, Scratch, Settings,
    Spawn, Surroundings, reference,
};
use voxtick::engine::Pool;
use voxtick::worlds::generators::split_mix;
use voxtick::worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, World};

use crate::measure::CaseError;

/// Ticks from one throw of a body to its next.
pub(super) const CYCLE: usize = 40;

/// Numbers from 0 to 1 in a fixed order.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> f64 {
        self.0 = split_mix(self.0.wrapping_add(1));
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// That of a throw.
    pub(super) fn velocity(&mut self) -> [f64; 3] {
        [self.next() * 0.8 - 0.4, self.next() * 0.6 - 0.2, self.next() * 0.8 - 0.4]
    }
}

/// A world with bodies in it, and the pool that steps them.
pub(super) struct Arena {
    pub(super) world: World,
    pub(super) population: Population,
    pub(super) ids: Vec<BodyId>,
    pub(super) pool: Pool,
    pub(super) throws: Vec<(BodyId, [f64; 3])>,
    pub(super) random: Random,
    /// Which fortieth of the bodies is thrown next.
    pub(super) turn: usize,
}

impl Arena {
    pub(super) fn new(
        size: [i32; 3],
        solid: f64,
        spawns: &[Spawn],
        settings: Settings,
        threads: usize,
    ) -> Result<Arena, CaseError> {
        let input = |error: &dyn std::fmt::Display| CaseError::Input(error.to_string());
        let states = BlockStates::load();
        let stone = states.parse("stone").map_err(|error| input(&error))?;
        let mut population = Population::new(&states, settings);
        let dimension = Dimension::new("voxtick:measure", 0, size[1], true).map_err(|error| input(&error))?;
        let mut world = World::new(dimension, states);
        let mut random = Random(1);
        for x in 0..size[0] / 16 {
            for z in 0..size[2] / 16 {
                world.insert_chunk(Chunk::empty(ChunkPos::new(x, z), world.dimension()));
            }
        }
        for y in 0..size[1] {
            for z in 0..size[2] {
                for x in 0..size[0] {
                    if y == 0 || random.next() < solid {
                        world.set_block(BlockPos::new(x, y, z), stone).map_err(|error| input(&error))?;
                    }
                }
            }
        }
        let ids = population.spawn(spawns).map_err(|error| input(&error))?;
        let pool = Pool::with_threads(threads).map_err(|error| input(&error))?;
        Ok(Arena { world, population, ids, pool, throws: Vec::new(), random: Random(7), turn: 0 })
    }

    /// Bodies all over 48 x 32 x 48 blocks.
    pub(super) fn random(count: usize, settings: Settings, threads: usize) -> Result<Arena, CaseError> {
        let mut random = Random(2);
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                let position = [random.next() * 48.0, 1.0 + random.next() * 30.0, random.next() * 48.0];
                lasting(position, ItemStack::single(ItemKind(0)))
            })
            .collect();
        Arena::new([48, 32, 48], 0.147, &spawns, settings, threads)
    }

    /// Bodies over a floor of 112 x 112 blocks, 4 to 28 above it, thrown apart.
    pub(super) fn server(
        count: usize,
        stack: ItemStack,
        settings: Settings,
        threads: usize,
    ) -> Result<Arena, CaseError> {
        let mut random = Random(3);
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                let position =
                    [2.0 + random.next() * 108.0, 5.0 + random.next() * 24.0, 2.0 + random.next() * 108.0];
                let mut spawn = lasting(position, stack);
                spawn.velocity = random.velocity();
                spawn
            })
            .collect();
        Arena::new([112, 64, 112], 0.0, &spawns, settings, threads)
    }

    /// `count` ticks, and how long one of them took on average.
    pub(super) fn ticks(&mut self, count: usize) -> Duration {
        self.timed(count, false)
    }

    /// As [`Arena::ticks`], a fortieth of the bodies thrown before each. The throws count, what prepares them does not.
    pub(super) fn thrown_ticks(&mut self, count: usize) -> Duration {
        self.timed(count, true)
    }

    fn timed(&mut self, count: usize, is_thrown: bool) -> Duration {
        let Arena { world, population, ids, pool, throws, random, turn } = self;
        let threads = pool.threads();
        // The pool is entered once.
        let total: Duration = pool.install(|| {
            let tick = |_| {
                if is_thrown {
                    throws.clear();
                    throws.extend(ids.iter().skip(*turn).step_by(CYCLE).map(|&id| (id, random.velocity())));
                    *turn = (*turn + 1) % CYCLE;
                }
                let start = Instant::now();
                if is_thrown {
                    population.throw(throws);
                }
                population.tick(world, 0, threads);
                let time = start.elapsed();
                world.begin_tick(population.ticks());
                time
            };
            (0..count).map(tick).sum()
        });
        total / count as u32
    }

    /// Puts all bodies back to where they were when `start` was written down; then [`CYCLE`] ticks, timed.
    pub(super) fn again(&mut self, start: &[Spawn]) -> Duration {
        self.population.remove(&self.ids);
        self.ids.clear();
        // There is room: as many have just gone.
        let _ = self.population.spawn_into(start, &mut self.ids);
        self.ticks(CYCLE)
    }

    /// All bodies as they are, to begin from there again.
    pub(super) fn written_down(&self) -> Vec<Spawn> {
        let spawn = |view: BodyView| Spawn {
            velocity: view.body.velocity,
            ..lasting(view.body.position, view.stack)
        };
        self.population.iter().map(|(_, view)| spawn(view)).collect()
    }

    /// Ticks until all sleep, and then some.
    pub(super) fn settle(&mut self) -> Result<(), CaseError> {
        for _ in 0..2_000 {
            self.ticks(1);
            if self.population.awake_count() == 0 {
                return Ok(());
            }
        }
        Err(CaseError::Input(format!("{} bodies do not come to rest", self.population.awake_count())))
    }
}

/// A body that neither vanishes nor merges nor may be picked up.
pub(super) fn lasting(position: [f64; 3], stack: ItemStack) -> Spawn {
    Spawn { age: None, pickup_delay: None, ..Spawn::at(position, stack) }
}

/// The same bodies in columns of their own, stepped one at a time over the same terrain in a flat array.
pub(super) struct OneAtATime {
    columns: Columns,
    terrain: GridTerrain,
    materials: Materials,
    scratch: Scratch,
    ticks: u64,
    /// As those of the arena that it began beside.
    random: Random,
    turn: usize,
}

impl OneAtATime {
    pub(super) fn beside(arena: &Arena, size: [i32; 3]) -> OneAtATime {
        let mut terrain = GridTerrain::new([0; 3], size).open_above_and_below();
        for y in 0..size[1] {
            for z in 0..size[2] {
                for x in 0..size[0] {
                    let state = arena.world.block(BlockPos::new(x, y, z)).unwrap_or_default();
                    terrain.set(x, y, z, arena.population.materials().of_state(state));
                }
            }
        }
        let mut columns = Columns::default();
        for (id, view) in arena.population.iter() {
            let row = Row { body: view.body, stack: view.stack, pickup: 0, born: 0, number: id.number };
            columns.push(&row);
        }
        let (materials, scratch) = (arena.population.materials().clone(), Scratch::default());
        let (random, turn) = (Random(arena.random.0), arena.turn);
        OneAtATime { columns, terrain, materials, scratch, ticks: arena.population.ticks(), random, turn }
    }

    fn tick(&mut self) -> Duration {
        let ground = Surroundings { terrain: &self.terrain, materials: &self.materials };
        let moment = Moment { tick: self.ticks, seed: 0 };
        self.ticks += 1;
        let start = Instant::now();
        reference::step_all(&mut self.columns, ground, &Rules::default(), moment, &mut self.scratch);
        start.elapsed()
    }

    /// As [`Arena::ticks`].
    pub(super) fn ticks(&mut self, count: usize) -> Duration {
        (0..count).map(|_| self.tick()).sum::<Duration>() / count as u32
    }

    /// As [`Arena::thrown_ticks`], and the same throws. All bodies of that arena must be here, in its order.
    pub(super) fn thrown_ticks(&mut self, count: usize) -> Duration {
        let tick = |_| {
            let rows = (self.turn..self.columns.len()).step_by(CYCLE);
            let throws: Vec<(usize, [f64; 3])> = rows.map(|row| (row, self.random.velocity())).collect();
            self.turn = (self.turn + 1) % CYCLE;
            let start = Instant::now();
            for (row, velocity) in throws {
                [self.columns.vx[row], self.columns.vy[row], self.columns.vz[row]] = velocity;
            }
            start.elapsed() + self.tick()
        };
        (0..count).map(tick).sum::<Duration>() / count as u32
    }

    /// An error where a body is not the same to the bit.
    pub(super) fn compare(&self, arena: &Arena) -> Result<(), CaseError> {
        let mut first = None;
        let mut count = 0;
        for (row, (id, view)) in arena.population.iter().enumerate() {
            let expected = self.columns.body(row);
            let bits = |body: &voxtick::bodies::Body| {
                (body.position.map(f64::to_bits), body.velocity.map(f64::to_bits), body.flags.results())
            };
            if bits(&view.body) != bits(&expected) {
                count += 1;
                first.get_or_insert_with(|| {
                    format!("body {}: {:?} against {expected:?}", id.number, view.body)
                });
            }
        }
        match first {
            Some(first) => Err(CaseError::Unequal { count, first }),
            None => Ok(()),
        }
    }
}

pub(super) fn same(one: &Arena, other: &Arena) -> Result<(), CaseError> {
    let differing = one.population.iter().zip(other.population.iter()).find(|((_, a), (_, b))| {
        a.body.position.map(f64::to_bits) != b.body.position.map(f64::to_bits)
            || a.body.velocity.map(f64::to_bits) != b.body.velocity.map(f64::to_bits)
            || a.stack != b.stack
    });
    match differing {
        Some(((id, a), (_, b))) => Err(CaseError::Unequal {
            count: 1,
            first: format!("body {}: {:?} against {:?}", id.number, a.body, b.body),
        }),
        None => Ok(()),
    }
}
