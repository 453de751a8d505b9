//! Dropped items: the kernel against the reference, moving and at rest, and what merging and touching pairs cost.
//!
//! Moving bodies are those of a random world of 48 x 32 x 48 blocks, 14.7 % of them stone, over a floor; each is thrown
//! again every 40 ticks, a fortieth of them in each tick, so that one tick is like another and a few of them make a
//! sample. A tick's throws count.

use std::time::{Duration, Instant};

use voxtick::bodies::{
    BodyId, BodyView, Columns, GridTerrain, Materials, Moment, Population, Row, Rules, Scratch, Settings,
    Spawn, Surroundings, TouchSearch, TouchSettings, reference,
};
use voxtick::engine::Pool;
use voxtick::worlds::generators::split_mix;
use voxtick::worlds::{
    BlockPos, BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, StateId, World,
};

use super::{Case, CaseError, Pair};

/// Ticks from one throw of a body to its next.
const CYCLE: usize = 40;

/// The cases of this subject. Items are bodies.
pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [1_000, 10_000, 32_768, 100_000, 1_000_000]
        .map(|count| {
            let name = format!("bodies/moving/n={count}/threads=1");
            Case::new(name, ("kernel", "one at a time"), count, move || moving(count as usize))
        })
        .into();
    cases.push(Case::new(
        "bodies/moving/n=1000000/threads=2",
        ("two threads", "one thread"),
        1_000_000,
        || threads(1_000_000),
    ));
    for count in [20_000, 1_000_000] {
        let name = format!("bodies/resting/n={count}");
        cases.push(Case::new(name, ("resting", "moving"), count, move || resting(count as usize)));
    }
    let sides = ("kernel", "one at a time");
    for (name, water) in [("current", Water::Current), ("still", Water::Still)] {
        cases.push(Case::new(format!("bodies/water/n=10000/{name}"), sides, 10_000, move || {
            drifting(10_000, water)
        }));
        let sides = ("drifting", "falling");
        cases.push(Case::new(
            format!("bodies/water/n=10000/{name}/against=falling"),
            sides,
            10_000,
            move || drifting_and_falling(10_000, water),
        ));
    }
    let sides = ("1,000 changes", "10,000 changes");
    cases.push(Case::new("bodies/resting/n=1000000/changes=1000", sides, 1_000_000, || changes(1_000_000)));
    let sides = ("merging on", "merging off");
    cases.push(Case::new("bodies/merge/unmergeable=20000", sides, 20_000, || unmergeable(20_000)));
    cases.push(Case::new("bodies/merge/pile=5000", sides, 5_000, || merge_pile(5_000)));
    let sides = ("first n pairs", "all pairs counted");
    for count in [4_096, 16_384] {
        let name = format!("bodies/pairs/pile={count}");
        cases.push(Case::new(name, sides, count, move || pairs_pile(count as usize)));
    }
    for phase in ["falling", "resting"] {
        let name = format!("bodies/server/n=20000/phase={phase}");
        let is_resting = phase == "resting";
        cases.push(Case::new(name, ("kernel", "one at a time"), 20_000, move || server(20_000, is_resting)));
    }
    cases
}

/// Numbers from 0 to 1 in a fixed order.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = split_mix(self.0.wrapping_add(1));
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// That of a throw.
    fn velocity(&mut self) -> [f64; 3] {
        [self.next() * 0.8 - 0.4, self.next() * 0.6 - 0.2, self.next() * 0.8 - 0.4]
    }
}

/// Ticks that make a sample of some milliseconds.
fn sample_of(count: usize) -> usize {
    (400_000 / count).max(1)
}

/// A world with bodies in it, and the pool that steps them.
struct Arena {
    world: World,
    population: Population,
    ids: Vec<BodyId>,
    pool: Pool,
    throws: Vec<(BodyId, [f64; 3])>,
    random: Random,
    /// Which fortieth of the bodies is thrown next.
    turn: usize,
}

impl Arena {
    fn new(
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
    fn random(count: usize, settings: Settings, threads: usize) -> Result<Arena, CaseError> {
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
    fn server(
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

    /// `count` ticks, and how long one of them took on average. The pool is entered once.
    fn ticks(&mut self, count: usize) -> Duration {
        let (world, population, threads) = (&mut self.world, &mut self.population, self.pool.threads());
        let total: Duration = self.pool.install(|| {
            let tick = |_| {
                let start = Instant::now();
                population.tick(world, 0, threads);
                let time = start.elapsed();
                world.begin_tick(population.ticks());
                time
            };
            (0..count).map(tick).sum()
        });
        total / count as u32
    }

    /// As [`Arena::ticks`], a fortieth of the bodies thrown before each. The throws count, what prepares them does not.
    fn thrown_ticks(&mut self, count: usize) -> Duration {
        let Arena { world, population, ids, pool, throws, random, turn } = self;
        let threads = pool.threads();
        let total: Duration = pool.install(|| {
            let tick = |_| {
                throws.clear();
                throws.extend(ids.iter().skip(*turn).step_by(CYCLE).map(|&id| (id, random.velocity())));
                *turn = (*turn + 1) % CYCLE;
                let start = Instant::now();
                population.throw(throws);
                population.tick(world, 0, threads);
                let time = start.elapsed();
                world.begin_tick(population.ticks());
                time
            };
            (0..count).map(tick).sum()
        });
        total / count as u32
    }

    /// Ticks until all sleep, and then some.
    fn settle(&mut self) -> Result<(), CaseError> {
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
fn lasting(position: [f64; 3], stack: ItemStack) -> Spawn {
    Spawn { age: None, pickup_delay: None, ..Spawn::at(position, stack) }
}

/// The same bodies in columns of their own, stepped one at a time over the same terrain in a flat array.
struct OneAtATime {
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
    fn beside(arena: &Arena, size: [i32; 3]) -> OneAtATime {
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
    fn ticks(&mut self, count: usize) -> Duration {
        (0..count).map(|_| self.tick()).sum::<Duration>() / count as u32
    }

    /// As [`Arena::thrown_ticks`], and the same throws. All bodies of that arena must be here, in its order.
    fn thrown_ticks(&mut self, count: usize) -> Duration {
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
    fn compare(&self, arena: &Arena) -> Result<(), CaseError> {
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

fn moving(count: usize) -> Result<Pair, CaseError> {
    let mut arena = Arena::random(count, Settings::default(), 1)?;
    // From then on each tick is like the last: bodies in all ticks since their throw.
    arena.thrown_ticks(CYCLE);
    let mut plain = OneAtATime::beside(&arena, [48, 32, 48]);
    let compared = (1_600_000 / count).clamp(4, CYCLE);
    arena.thrown_ticks(compared);
    plain.thrown_ticks(compared);
    plain.compare(&arena)?;
    let ticks = sample_of(count);
    Ok(Pair::sampled(move || arena.thrown_ticks(ticks), move || plain.thrown_ticks(ticks)))
}

fn threads(count: usize) -> Result<Pair, CaseError> {
    let mut two = Arena::random(count, Settings::default(), 2)?;
    let mut one = Arena::random(count, Settings::default(), 1)?;
    two.thrown_ticks(CYCLE);
    one.thrown_ticks(CYCLE);
    same(&two, &one)?;
    Ok(Pair::sampled(move || two.thrown_ticks(4), move || one.thrown_ticks(4)))
}

fn resting(count: usize) -> Result<Pair, CaseError> {
    let single = ItemStack::single(ItemKind(0));
    let mut resting = Arena::server(count, single, Settings::default(), 1)?;
    let mut moving = Arena::server(count, single, Settings::default(), 1)?;
    resting.settle()?;
    // Those that never sleep take long to come as far; of many, the fall has to do.
    let without_sleep = Settings { sleeping: false, ..Settings::default() };
    let mut awake = Arena::server(count, single, without_sleep, 1)?;
    if count <= 100_000 {
        awake.ticks(resting.population.ticks() as usize);
        same(&resting, &awake)?;
    } else {
        moving.ticks(CYCLE);
        awake.ticks(CYCLE);
        same(&moving, &awake)?;
    }
    moving.thrown_ticks(CYCLE);
    Ok(Pair::sampled(move || resting.ticks(10_000), move || moving.thrown_ticks(sample_of(count))))
}

/// What bodies drift in.
#[derive(Clone, Copy)]
enum Water {
    /// One block deep, from sources in every sixteenth row down to the seventh row on either side.
    Current,
    /// Six blocks of sources.
    Still,
}

impl Arena {
    /// Bodies a little above 48 x 48 blocks of water, and as fast as if dropped into it.
    fn afloat(count: usize, water: Water) -> Result<Arena, CaseError> {
        let mut random = Random(2);
        let depth = if let Water::Current = water { 1 } else { 6 };
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                let position = [
                    1.2 + random.next() * 45.6,
                    f64::from(depth) + random.next(),
                    1.2 + random.next() * 45.6,
                ];
                let mut spawn = lasting(position, ItemStack::single(ItemKind(0)));
                spawn.velocity = [random.next() * 0.2 - 0.1, 0.0, random.next() * 0.2 - 0.1];
                spawn
            })
            .collect();
        let mut arena = Arena::new([48, 32, 48], 0.0, &spawns, Settings::default(), 1)?;
        let input = |error: &dyn std::fmt::Display| CaseError::Input(error.to_string());
        let levels: Vec<StateId> = (0..8)
            .map(|level| arena.world.states().parse(&format!("water[level={level}]")))
            .collect::<Result<_, _>>()
            .map_err(|error| input(&error))?;
        let stone = arena.world.states().parse("stone").map_err(|error| input(&error))?;
        for x in 0..48_i32 {
            for (y, z) in (1..=depth).flat_map(|y| (0..48).map(move |z| (y, z))) {
                let state = match water {
                    Water::Current => levels[((x + 8) % 16 - 8).unsigned_abs().min(7) as usize],
                    Water::Still => levels[0],
                };
                arena.world.set_block(BlockPos::new(x, y, z), state).map_err(|error| input(&error))?;
            }
        }
        // A basin: nothing drifts out of it.
        for (y, along) in (1..12).flat_map(|y| (0..48).map(move |along| (y, along))) {
            for (x, z) in [(along, 0), (along, 47), (0, along), (47, along)] {
                arena.world.set_block(BlockPos::new(x, y, z), stone).map_err(|error| input(&error))?;
            }
        }
        Ok(arena)
    }

    /// Bodies high in the air.
    fn aloft(count: usize) -> Result<Arena, CaseError> {
        let mut random = Random(2);
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                let position = [random.next() * 48.0, 60.0 + random.next(), random.next() * 48.0];
                lasting(position, ItemStack::single(ItemKind(0)))
            })
            .collect();
        Arena::new([48, 64, 48], 0.0, &spawns, Settings::default(), 1)
    }

    /// Puts all bodies back to where they were when `start` was written down; then [`CYCLE`] ticks, timed.
    fn again(&mut self, start: &[Spawn]) -> Duration {
        self.population.remove(&self.ids);
        self.ids.clear();
        // There is room: as many have just gone.
        let _ = self.population.spawn_into(start, &mut self.ids);
        self.ticks(CYCLE)
    }

    /// All bodies as they are, to begin from there again.
    fn written_down(&self) -> Vec<Spawn> {
        let spawn = |view: BodyView| Spawn {
            velocity: view.body.velocity,
            ..lasting(view.body.position, view.stack)
        };
        self.population.iter().map(|(_, view)| spawn(view)).collect()
    }
}

fn drifting(count: usize, water: Water) -> Result<Pair, CaseError> {
    let mut arena = Arena::afloat(count, water)?;
    let mut plain = OneAtATime::beside(&arena, [48, 32, 48]);
    arena.ticks(CYCLE);
    plain.ticks(CYCLE);
    plain.compare(&arena)?;
    let start = arena.written_down();
    let mut world = Arena::afloat(count, water)?;
    world.population.remove(&world.ids);
    // There is room: as many have just gone.
    let _ = world.population.spawn(&start);
    let other = move || {
        let mut plain = OneAtATime::beside(&world, [48, 32, 48]);
        plain.ticks(CYCLE)
    };
    Ok(Pair::sampled(move || arena.again(&start), other))
}

/// Both by the kernel, which the other cases compare with the reference.
fn drifting_and_falling(count: usize, water: Water) -> Result<Pair, CaseError> {
    let (mut afloat, mut aloft) = (Arena::afloat(count, water)?, Arena::aloft(count)?);
    afloat.ticks(CYCLE);
    let (floats, falls) = (afloat.written_down(), aloft.written_down());
    Ok(Pair::sampled(move || afloat.again(&floats), move || aloft.again(&falls)))
}

/// Blocks of the floor that turn to ice and back, each under some eighty sleepers.
fn changes(count: usize) -> Result<Pair, CaseError> {
    let single = ItemStack::single(ItemKind(0));
    let side = |changes: usize| -> Result<Box<dyn FnMut() -> Duration>, CaseError> {
        let mut arena = Arena::server(count, single, Settings::default(), 1)?;
        arena.settle()?;
        let states = arena.world.states().clone();
        let floors = ["stone", "ice"].map(|name| states.parse(name).unwrap_or_default());
        let mut random = Random(5);
        let mut turn = 0;
        Ok(Box::new(move || {
            let ticks = 4;
            let mut total = Duration::ZERO;
            for _ in 0..ticks {
                for _ in 0..changes {
                    turn += 1;
                    let at = BlockPos::new((random.next() * 112.0) as i32, 0, (random.next() * 112.0) as i32);
                    // Inside the world: nothing to be told.
                    let _ = arena.world.set_block(at, floors[turn / changes % 2]);
                }
                total += arena.ticks(1);
            }
            total / ticks
        }))
    };
    let (mut few, mut many) = (side(1_000)?, side(10_000)?);
    // Until as many fall asleep as are woken.
    (0..4).for_each(|_| {
        few();
        many();
    });
    Ok(Pair::sampled(few, many))
}

fn unmergeable(count: usize) -> Result<Pair, CaseError> {
    let full = ItemStack::new(ItemKind(0), 64, 64);
    let mut on = Arena::server(count, full, Settings::default(), 1)?;
    let mut off = Arena::server(count, full, Settings { merging: false, ..Settings::default() }, 1)?;
    on.thrown_ticks(CYCLE);
    off.thrown_ticks(CYCLE);
    same(&on, &off)?;
    let ticks = sample_of(count);
    Ok(Pair::sampled(move || on.thrown_ticks(ticks), move || off.thrown_ticks(ticks)))
}

/// Like items in one block; the time of the longest of the first 40 ticks.
fn merge_pile(count: usize) -> Result<Pair, CaseError> {
    let side = |merging: bool| -> Result<Box<dyn FnMut() -> Duration>, CaseError> {
        let settings = Settings { merging, ..Settings::default() };
        let mut arena = Arena::new([48, 32, 48], 0.0, &[], settings, 1)?;
        let mut random = Random(11);
        let stack = ItemStack::new(ItemKind(0), 1, 64);
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                Spawn::at(
                    [24.2 + random.next() * 0.6, 1.0 + random.next() * 0.7, 24.2 + random.next() * 0.6],
                    stack,
                )
            })
            .collect();
        let mut ids = Vec::new();
        Ok(Box::new(move || {
            arena.population.remove(&ids);
            ids.clear();
            // The world has room for them: the table of names is far from full.
            let _ = arena.population.spawn_into(&spawns, &mut ids);
            (0..CYCLE).map(|_| arena.ticks(1)).max().unwrap_or_default()
        }))
    };
    let (on, off) = (side(true)?, side(false)?);
    Ok(Pair::self_timed(on, off))
}

fn pairs_pile(count: usize) -> Result<Pair, CaseError> {
    let mut random = Random(13);
    let [x, y, z]: [Vec<f64>; 3] = std::array::from_fn(|_| (0..count).map(|_| random.next() * 0.7).collect());
    let capped = TouchSettings { capacity: count, ..TouchSettings::default() };
    let counted = TouchSettings { stop_at_capacity: false, ..capped };
    let search = |settings: TouchSettings| {
        let (x, y, z) = (x.clone(), y.clone(), z.clone());
        let (mut search, mut pairs) = (TouchSearch::default(), Vec::new());
        // Several in a row, so that a sample of the quick side is long enough to mean something.
        move |times: u32| {
            let start = Instant::now();
            let found = (0..times).fold(0, |_, _| search.touching(&x, &y, &z, &settings, &mut pairs));
            (start.elapsed() / times, found, pairs.clone())
        }
    };
    let (mut first, mut all) = (search(capped), search(counted));
    let ((_, found, ours), (_, _, other)) = (first(1), all(1));
    if ours != other || found != count + 1 {
        let first = format!("{} and {} pairs", ours.len(), other.len());
        return Err(CaseError::Unequal { count: 1, first });
    }
    Ok(Pair::sampled(move || first(50).0, move || all(1).0))
}

fn server(count: usize, is_resting: bool) -> Result<Pair, CaseError> {
    let size = [112, 64, 112];
    let mut arena = Arena::server(count, ItemStack::single(ItemKind(0)), Settings::default(), 1)?;
    if is_resting {
        arena.settle()?;
    }
    let mut plain = OneAtATime::beside(&arena, size);
    arena.ticks(CYCLE);
    plain.ticks(CYCLE);
    plain.compare(&arena)?;
    if is_resting {
        return Ok(Pair::sampled(move || arena.ticks(10_000), move || plain.ticks(4)));
    }
    // The fall from where they began, again and again: 80 ticks, as published.
    let fresh = Arena::server(count, ItemStack::single(ItemKind(0)), Settings::default(), 1)?;
    let start = fresh.written_down();
    let mut ids = arena.ids.clone();
    let mut ours = move || {
        arena.population.remove(&ids);
        ids.clear();
        // There is room: as many have just gone.
        let _ = arena.population.spawn_into(&start, &mut ids);
        arena.ticks(80)
    };
    let other = move || OneAtATime::beside(&fresh, size).ticks(80);
    ours();
    Ok(Pair::sampled(ours, other))
}

fn same(one: &Arena, other: &Arena) -> Result<(), CaseError> {
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
