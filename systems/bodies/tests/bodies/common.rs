//! A small world with bodies in it, stepped by the reference and by the kernel side by side.

use std::sync::{Arc, OnceLock};

use voxtick_bodies::{
    BodyId, Columns, Materials, Moment, NEVER_PICK_UP, Population, Row, Rules, Scratch, Settings, Spawn,
    Surroundings, WorldTerrain, reference,
};
use voxtick_worlds::generators::split_mix;
use voxtick_worlds::{
    BlockPos, BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, StateId, World,
};

/// A sample of all that bodies treat in a way of its own.
pub(crate) const ALL_KINDS: &[&str] = &[
    "stone",
    "stone",
    "stone",
    "dirt",
    "oak_slab",
    "oak_slab[type=top]",
    "oak_stairs",
    "oak_fence[east=true]",
    "cobblestone_wall",
    "oak_fence_gate",
    "water",
    "water[level=3]",
    "water[level=8]",
    "lava",
    "lava[level=2]",
    "cobweb",
    "powder_snow",
    "slime_block",
    "red_bed",
    "honey_block",
    "soul_sand",
    "ice",
    "blue_ice",
    "bubble_column[drag=true]",
    "bubble_column[drag=false]",
    "white_carpet",
    "ladder",
    "torch",
    "snow[layers=3]",
    "oak_fence[waterlogged=true]",
    "chest",
    "farmland",
    "hopper",
];

/// Water of all depths, and what bounds it.
pub(crate) const WATERS: &[&str] = &[
    "water",
    "water",
    "water[level=1]",
    "water[level=4]",
    "water[level=7]",
    "water[level=8]",
    "stone",
    "ice",
    "oak_slab",
    "oak_fence[waterlogged=true]",
    "lava[level=2]",
    "seagrass",
];

pub(crate) const SEED: u64 = 99;
const WEST: i32 = -16;
const EDGE: i32 = 48;
const HEIGHT: i32 = 32;

pub(crate) struct Arena {
    pub(crate) world: World,
    pub(crate) population: Population,
    pub(crate) ids: Vec<BodyId>,
    columns: Columns,
    materials: Materials,
    states: Vec<StateId>,
    scratch: Scratch,
    ticks: u64,
    gone: Vec<bool>,
    merging: bool,
    pub(crate) changes_a_tick: usize,
    /// A chunk that is not loaded for a while.
    away: Option<Chunk>,
}

pub(crate) struct Throw {
    pub(crate) seed: u64,
    pub(crate) horizontal: f64,
    pub(crate) down: f64,
    pub(crate) up: f64,
}

/// The table of states, made once: making it takes longer than most tests.
pub(crate) fn states() -> Arc<BlockStates> {
    static STATES: OnceLock<Arc<BlockStates>> = OnceLock::new();
    STATES.get_or_init(BlockStates::load).clone()
}

/// Numbers from 0 to 1 in a fixed order.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = split_mix(self.0.wrapping_add(1));
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() * bound as f64) as usize
    }
}

impl Arena {
    /// As [`Arena::random`] with stacks of a few kinds, so that they merge.
    pub(crate) fn of_stacks(seed: u64, solid: f64, count: usize, settings: Settings) -> Arena {
        let mut arena = Arena::random(seed, &["stone"], solid, 0, settings);
        let mut random = Random(seed ^ 77);
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                let position = [random.next() * 9.0, 4.0 + random.next() * 20.0, random.next() * 9.0 + 11.0];
                let max_count = [16, 64][random.below(2)];
                let count = 1 + random.below(usize::from(max_count)) as u8;
                let stack = ItemStack::new(ItemKind(random.below(3) as u32), count / 2, max_count);
                let pickup_delay = [Some(10), Some(40), None][random.below(20) / 9];
                let age = [Some(0), Some(3), None][random.below(20) / 9];
                Spawn { age, pickup_delay, ..Spawn::at(position, stack) }
            })
            .collect();
        arena.spawn(&spawns);
        arena
    }

    /// 48 x 32 x 48 cells, a share `solid` of them filled with `kinds`, and `count` bodies all over it.
    pub(crate) fn random(seed: u64, kinds: &[&str], solid: f64, count: usize, settings: Settings) -> Arena {
        let states = states();
        let mut random = Random(seed);
        let kinds: Vec<StateId> =
            kinds.iter().map(|kind| states.parse(kind).expect("a known state")).collect();
        let population = Population::new(&states, settings);
        let materials = population.materials().clone();
        let dimension = Dimension::new("minecraft:test", 0, HEIGHT, true).expect("a valid range");
        let mut world = World::new(dimension, states);
        for x in -1..2 {
            for z in -1..2 {
                world.insert_chunk(Chunk::empty(ChunkPos::new(x, z), world.dimension()));
            }
        }
        for y in 0..HEIGHT {
            for z in WEST..WEST + EDGE {
                for x in WEST..WEST + EDGE {
                    if random.next() < solid {
                        let kind = kinds[random.below(kinds.len())];
                        world.set_block(BlockPos::new(x, y, z), kind).expect("inside");
                    }
                }
            }
        }
        let mut arena = Arena {
            world,
            population,
            ids: Vec::new(),
            columns: Columns::default(),
            materials,
            states: kinds,
            scratch: Scratch::default(),
            ticks: 0,
            gone: Vec::new(),
            merging: settings.merging,
            changes_a_tick: 0,
            away: None,
        };
        let spawns: Vec<Spawn> = (0..count)
            .map(|index| {
                let along = |random: &mut Random| f64::from(WEST) + random.next() * f64::from(EDGE);
                let position = [along(&mut random), random.next() * f64::from(HEIGHT), along(&mut random)];
                let age = if index % 7 == 0 { None } else { Some(0) };
                Spawn { age, ..Spawn::at(position, ItemStack::single(ItemKind(index as u32))) }
            })
            .collect();
        arena.spawn(&spawns);
        arena
    }

    pub(crate) fn spawn(&mut self, spawns: &[Spawn]) {
        let ids = self.population.spawn(spawns).expect("room");
        for (&id, spawn) in ids.iter().zip(spawns) {
            let view = self.population.view(id).expect("made");
            self.columns.push(&Row {
                body: view.body,
                stack: view.stack,
                pickup: spawn
                    .pickup_delay
                    .map_or(NEVER_PICK_UP, |delay| delay as i16 + spawn.age.unwrap_or(0)),
                born: (self.ticks as u32).wrapping_sub(spawn.age.unwrap_or(0) as u32),
                number: id.number,
            });
        }
        self.ids.extend(ids);
        self.gone.resize(self.ids.len(), false);
    }

    pub(crate) fn throw_all(&mut self, throw: Throw) {
        let mut random = Random(throw.seed);
        let mut throws = Vec::new();
        for row in 0..self.columns.len() {
            let mut side = || (random.next() * 2.0 - 1.0) * throw.horizontal;
            let (x, z) = (side(), side());
            let velocity = [x, throw.down + random.next() * (throw.up - throw.down), z];
            [self.columns.vx[row], self.columns.vy[row], self.columns.vz[row]] = velocity;
            throws.push((self.ids[self.columns.number[row] as usize], velocity));
        }
        self.population.throw(&throws);
    }

    pub(crate) fn change_blocks(&mut self, seed: u64, count: usize) {
        let mut random = Random(seed);
        for _ in 0..count {
            let mut along = |low: i32, edge: i32| low + random.below(edge as usize) as i32;
            let at = BlockPos::new(along(WEST, EDGE), along(0, HEIGHT), along(WEST, EDGE));
            let choice = random.below(self.states.len() + 1);
            let state = self.states.get(choice).copied().unwrap_or(StateId::AIR);
            self.world.set_block(at, state).expect("inside");
        }
    }

    /// Takes a chunk out, or puts back the one that was.
    pub(crate) fn toggle_chunk(&mut self, seed: u64) {
        let mut random = Random(seed);
        let at = ChunkPos::new(random.below(3) as i32 - 1, random.below(3) as i32 - 1);
        match self.away.take() {
            Some(chunk) => assert!(self.world.insert_chunk(chunk).is_none(), "it was away"),
            None => self.away = self.world.remove_chunk(at),
        }
    }

    /// Changes blocks that bodies are in, lie on or lie beside.
    pub(crate) fn change_blocks_at_bodies(&mut self, seed: u64, count: usize) {
        let mut random = Random(seed);
        for _ in 0..count {
            let [x, y, z] = self.columns.body(random.below(self.columns.len())).position;
            let mut beside = |along: f64, low: f64| (along + low + random.next() * 1.4).floor() as i32;
            let at = BlockPos::new(beside(x, -0.7), beside(y, -1.2), beside(z, -0.7));
            let choice = random.below(self.states.len() + 2);
            let state = self.states.get(choice).copied().unwrap_or(StateId::AIR);
            // What has fallen out of the world lies nowhere.
            let _ = self.world.set_block(at, state);
        }
    }

    pub(crate) fn step_reference(&mut self, rules: &Rules) {
        let terrain = WorldTerrain::around(&self.world, &self.materials, ChunkPos::new(0, 0));
        let ground = Surroundings { terrain: &terrain, materials: &self.materials };
        let moment = Moment { tick: self.ticks, seed: SEED };
        reference::step_all(&mut self.columns, ground, rules, moment, &mut self.scratch);
        self.ticks += 1;
        if self.merging {
            reference::merge_all(&mut self.columns, self.ticks);
        }
    }

    pub(crate) fn step_population(&mut self, threads: usize) {
        self.population.tick(&self.world, SEED, threads);
        self.world.begin_tick(self.ticks);
    }

    pub(crate) fn asleep(&self) -> usize {
        self.population.count() - self.population.awake_count()
    }

    /// As [`Arena::assert_equal`], with bodies that the reference knows nothing of left out.
    pub(crate) fn assert_others_equal(&mut self, what: &str) {
        let merging = std::mem::replace(&mut self.merging, true);
        self.assert_equal(what);
        self.merging = merging;
    }

    /// Bodies that are lost below the world are left out: only the population takes them out.
    pub(crate) fn assert_equal(&mut self, what: &str) {
        let lost = f64::from(-voxtick_bodies::rules::VOID_DEPTH);
        for row in 0..self.columns.len() {
            let number = self.columns.number[row] as usize;
            let expected = self.columns.body(row);
            let Some(view) = self.population.view(self.ids[number]) else {
                let known = std::mem::replace(&mut self.gone[number], true);
                assert!(
                    known || expected.position[1] < lost,
                    "{what}: body {number} is gone after {} ticks at {:?}",
                    self.ticks,
                    expected.position
                );
                continue;
            };
            let same = expected.position.map(f64::to_bits) == view.body.position.map(f64::to_bits)
                && expected.velocity.map(f64::to_bits) == view.body.velocity.map(f64::to_bits)
                && expected.flags.results() == view.body.flags.results();
            assert!(
                same,
                "{what}: body {number} after {} ticks\nreference {expected:?}\nkernel    {:?}",
                self.ticks, view.body
            );
            assert_eq!(self.columns.age(row, self.ticks), view.age, "{what}: age of body {number}");
            assert_eq!(self.columns.stack(row), view.stack, "{what}: stack of body {number}");
        }
        let gone = self.gone.iter().filter(|&&gone| gone).count();
        if !self.merging {
            assert_eq!(self.population.count() + gone, self.columns.len(), "{what}: bodies");
        }
    }
}
