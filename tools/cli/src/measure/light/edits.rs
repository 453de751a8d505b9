//! Light after changed blocks. A sample is one pass over all places of a case, each change timed on its own; the changes
//! to the world itself are not part of it.

use std::time::{Duration, Instant};

use voxtick::light::Lighting;
use voxtick::light::reference::FlatLight;
use voxtick::worlds::{BlockPos, ChunkPos, LightChannel, StateId, World};

use super::inputs::{below, cave, ground, hall, parse, real_caves};
use crate::measure::{Case, CaseError, Pair};

const SIDES: (&str, &str) = ("differences of masks", "queues down and up");

/// Blocks that change in one tick in the batch case.
const BATCH: usize = 4096;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("light/edit/torch", SIDES, 200, || torches(hall()?)),
        Case::new("light/edit/torch/caves=real", SIDES, 200, || torches(real_caves()?)),
        Case::new("light/edit/cave", SIDES, 200, || torches(cave()?)),
        Case::new("light/edit/roof", SIDES, 200, || {
            let (world, stone) = ground(3, 0)?;
            placed_and_taken(world, vec![BlockPos::new(8, 254, 8); 100], stone)
        }),
        Case::new("light/edit/scattered=64/threads=2", ("2 threads", "1 thread"), 128, scattered),
        Case::new("light/edit/batch=4096", ("one update", "4,096 updates"), BATCH as u64, batch),
    ]
}

/// A torch placed and taken away at a hundred of the places.
fn torches((world, places): (World, Vec<BlockPos>)) -> Result<Pair, CaseError> {
    if places.is_empty() {
        return Err(CaseError::Input("there is no place for a torch".to_owned()));
    }
    let torch = parse(&world, "torch")?;
    let spots = (0..100).map(|number| places[number * 7919 % places.len()]).collect();
    placed_and_taken(world, spots, torch)
}

/// A block placed and taken away at each of the places, one after the other.
fn placed_and_taken(world: World, spots: Vec<BlockPos>, state: StateId) -> Result<Pair, CaseError> {
    let positions: Vec<ChunkPos> = world.chunk_positions().collect();
    // The flood fill keeps a reference to its world, which stays as it was before the edits.
    let mut copy = World::new(world.dimension().clone(), world.states().clone());
    for chunk in world.chunks() {
        copy.insert_chunk(chunk.clone());
    }
    let copy: &'static World = Box::leak(Box::new(copy));
    let mut flood = FlatLight::new(copy, &positions);
    flood.light_all();
    let mut kept = Kept::new(world);
    for &at in &spots {
        for state in [state, StateId::AIR] {
            kept.change(&[(at, state)]);
            flood.set_block(at, state);
            compare(&kept.world, &flood, at)?;
        }
    }
    let other_spots = spots.clone();
    let both = move |at: BlockPos| [(at, state), (at, StateId::AIR)];
    Ok(Pair::each(
        move |operations| {
            operations.extend(spots.iter().flat_map(|&at| both(at)).map(|change| kept.change(&[change])));
        },
        move |operations| {
            operations.extend(other_spots.iter().flat_map(|&at| both(at)).map(|(at, state)| {
                let start = Instant::now();
                flood.set_block(at, state);
                start.elapsed()
            }));
        },
    ))
}

/// 4,096 blocks changed and changed back in 5 x 5 chunks: all in one update against one update each.
fn batch() -> Result<Pair, CaseError> {
    let (world, stone) = ground(5, 40)?;
    let glowstone = parse(&world, "glowstone")?;
    let random = &mut 77;
    let mut changes: Vec<(BlockPos, StateId)> = Vec::with_capacity(BATCH);
    let mut taken = std::collections::BTreeSet::new();
    while changes.len() < BATCH {
        let at = BlockPos::new(
            below(random, 48) as i32 - 16,
            20 + below(random, 40) as i32,
            below(random, 48) as i32 - 16,
        );
        if !taken.insert(at) {
            continue;
        }
        let states = if at.y < 40 { [StateId::AIR, glowstone] } else { [stone, glowstone] };
        changes.push((at, states[usize::from(below(random, 8) == 0)]));
    }
    let back: Vec<(BlockPos, StateId)> =
        changes.iter().map(|&(at, _)| (at, if at.y < 40 { stone } else { StateId::AIR })).collect();
    let copy = |world: &World| {
        let mut copy = World::new(world.dimension().clone(), world.states().clone());
        for chunk in world.chunks() {
            copy.insert_chunk(chunk.clone());
        }
        copy
    };
    let (mut together, mut single) = (Kept::new(copy(&world)), Kept::new(world));
    together.change(&changes);
    changes.iter().for_each(|&change| {
        single.change(&[change]);
    });
    let positions: Vec<ChunkPos> = together.world.chunk_positions().collect();
    let mut flood = FlatLight::new(&together.world, &positions);
    flood.light_all();
    for &(at, _) in &changes {
        compare(&together.world, &flood, at)?;
        compare(&single.world, &flood, at)?;
    }
    drop(flood);
    let (other_changes, other_back) = (changes.clone(), back.clone());
    let mut ours_forth = false;
    let mut other_forth = false;
    Ok(Pair::self_timed(
        move || {
            ours_forth = !ours_forth;
            together.change(if ours_forth { &back } else { &changes })
        },
        move || {
            other_forth = !other_forth;
            let changes = if other_forth { &other_back } else { &other_changes };
            changes.iter().map(|&change| single.change(&[change])).sum()
        },
    ))
}

/// 64 torches placed, then taken away, in one tick each, so far apart that none sees the light of another.
fn scattered() -> Result<Pair, CaseError> {
    let (world, _) = ground(24, 80)?;
    let torch = parse(&world, "torch")?;
    let apart = |number: i32| number % 8 * 48 - 168;
    let spots: Vec<BlockPos> =
        (0..64).map(|number| BlockPos::new(apart(number), 80, apart(number / 8))).collect();
    let placed: Vec<(BlockPos, StateId)> = spots.iter().map(|&at| (at, torch)).collect();
    let taken: Vec<(BlockPos, StateId)> = spots.iter().map(|&at| (at, StateId::AIR)).collect();
    let mut copy = World::new(world.dimension().clone(), world.states().clone());
    for chunk in world.chunks() {
        copy.insert_chunk(chunk.clone());
    }
    let mut sides = Vec::new();
    for (world, threads) in [(world, 2), (copy, 1)] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| CaseError::Input(error.to_string()))?;
        let mut kept = Kept::new(world);
        pool.install(|| kept.change(&placed));
        sides.push((pool, kept));
    }
    let lights = |side: &(rayon::ThreadPool, Kept)| -> Vec<_> {
        side.1.world.chunks().map(|chunk| chunk.light.clone()).collect()
    };
    let differ = lights(&sides[0]).iter().zip(&lights(&sides[1])).filter(|(a, b)| a != b).count();
    if differ > 0 {
        return Err(CaseError::Unequal { count: differ as u64, first: "the light of some chunk".to_owned() });
    }
    let mut sides = sides.into_iter().map(|(pool, mut kept)| {
        let changes = [taken.clone(), placed.clone()];
        move || pool.install(|| changes.iter().map(|changes| kept.change(changes)).sum())
    });
    match (sides.next(), sides.next()) {
        (Some(two), Some(one)) => Ok(Pair::self_timed(two, one)),
        _ => Err(CaseError::Input("two sides were made above".to_owned())),
    }
}

/// A world and its light.
struct Kept {
    world: World,
    lighting: Lighting,
    tick: u64,
}

impl Kept {
    fn new(mut world: World) -> Kept {
        let mut lighting = Lighting::new();
        lighting.update(&mut world);
        Kept { world, lighting, tick: 0 }
    }

    /// Changes blocks and says how long the light of that took.
    fn change(&mut self, changes: &[(BlockPos, StateId)]) -> Duration {
        self.world.set_blocks(changes);
        let start = Instant::now();
        self.lighting.update(&mut self.world);
        let took = start.elapsed();
        self.tick += 1;
        self.world.begin_tick(self.tick);
        took
    }
}

/// Compares the light of the cells around `at`.
fn compare(world: &World, flood: &FlatLight<'_>, at: BlockPos) -> Result<(), CaseError> {
    for channel in [LightChannel::Block, LightChannel::Sky] {
        for (x, y, z) in (-15..=15).flat_map(|x| [(x, 0, 0), (0, x, 0), (0, 0, x), (x, -x, 1), (2, x, x)]) {
            let Some(cell) = at.checked_offset(x, y, z) else { continue };
            let stored = world
                .chunk(cell.chunk())
                .and_then(|chunk| chunk.light.as_ref())
                .map(|light| light.level(channel, cell.section().y, cell.cell()));
            let expected = flood.level(channel, cell);
            if expected.is_some() && stored != expected {
                return Err(CaseError::Unequal {
                    count: 1,
                    first: format!("{channel:?} light at {cell}: {stored:?} against {expected:?}"),
                });
            }
        }
    }
    Ok(())
}
