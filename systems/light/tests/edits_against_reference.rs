//! Any batch of changes ends in the light that a relight from nothing gives.
//!
//! `VOXTICK_LIGHT_BATCHES` sets how many batches are tried; a share of what was run while working is the default.

mod edits;
mod lit;
mod worlds;

use edits::random_edits;
use lit::assert_lit_as_from_nothing;
use rayon::prelude::*;
use voxtick_light::{Lighting, Width};
use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, StateId, World};
use worlds::{below, random_world};

/// Applies `batches` random batches to the world of `seed` and compares after each.
fn batches_end_as_a_relight_does(seed: u64, batches: u64, width: Width) {
    let mut world = random_world(seed, 3, 3);
    let mut lighting = Lighting::with_width(width);
    lighting.update(&mut world);
    assert_lit_as_from_nothing(&world, &format!("seed {seed}, from nothing, {width:?}"));
    let random = &mut { seed ^ 0xABCD };
    for batch in 0..batches {
        let size = [1, 1, 2, 5, 30, 200][below(random, 6)];
        apply(&mut world, seed.wrapping_mul(1000).wrapping_add(batch), size);
        lighting.update(&mut world);
        world.begin_tick(batch + 1);
        assert_lit_as_from_nothing(&world, &format!("seed {seed}, batch {batch} of {size}, {width:?}"));
    }
}

fn apply(world: &mut World, seed: u64, size: usize) {
    for edit in random_edits(seed, world, size) {
        world.set_block(edit.at, edit.state).expect("a loaded cell");
    }
}

#[test]
fn random_batches() {
    let wanted: u64 =
        std::env::var("VOXTICK_LIGHT_BATCHES").ok().and_then(|text| text.parse().ok()).unwrap_or(160);
    let widths: Vec<Width> = Width::ALL.into_iter().filter(|width| width.is_supported()).collect();
    (0..wanted.div_ceil(8)).into_par_iter().for_each(|seed| {
        batches_end_as_a_relight_does(seed, 8, widths[seed as usize % widths.len()]);
    });
}

/// Lamps of all levels that are lit, made brighter, dimmed and put out where light passes as before: alone, and many at
/// once; every other batch does nothing but brighten, which has a way of its own through the kernel.
#[test]
fn lamps_that_are_lit_and_dimmed() {
    let widths: Vec<Width> = Width::ALL.into_iter().filter(|width| width.is_supported()).collect();
    (0..30_u64).into_par_iter().for_each(|seed| {
        let mut world = random_world(seed, 3, 3);
        let states = world.states().clone();
        let lamp = |level: u8| match level {
            0 => StateId::AIR,
            level => states.parse(&format!("light[level={level},waterlogged=false]")).expect("known"),
        };
        let lamps: Vec<StateId> = (0..16).map(lamp).collect();
        let mut lighting = Lighting::with_width(widths[seed as usize % widths.len()]);
        lighting.update(&mut world);
        let random = &mut { seed ^ 0x1A3B };
        for batch in 0..16 {
            let mut changes = Vec::new();
            for _ in 0..[1, 1, 4, 40][below(random, 4)] {
                let coordinate = |random: &mut u64, bound: usize| below(random, bound) as i32;
                let at = BlockPos::new(
                    coordinate(random, 48),
                    coordinate(random, 32) - 16,
                    coordinate(random, 48),
                );
                let Some(level) =
                    world.block(at).and_then(|state| lamps.iter().position(|lamp| *lamp == state))
                else {
                    continue;
                };
                let brighter = level + below(random, 16 - level);
                let new = if batch % 2 == 0 { brighter } else { below(random, 16) };
                changes.push((at, lamps[new]));
            }
            world.set_blocks(&changes);
            lighting.update(&mut world);
            world.begin_tick(batch + 1);
            assert_lit_as_from_nothing(&world, &format!("seed {seed}, batch {batch} of {}", changes.len()));
        }
    });
}

/// Open sky over a floor, where a block changes a whole column: placed and taken away again, one a tick and in threes,
/// over floors of stone, water and slabs.
#[test]
fn roofs_over_an_open_floor() {
    let states = BlockStates::load();
    let dimension = Dimension::new("test", 0, 112, true).expect("a valid range");
    let kinds = [
        "stone",
        "glass",
        "oak_leaves",
        "oak_slab[type=top]",
        "oak_slab[type=bottom]",
        "water",
        "oak_trapdoor",
    ]
    .map(|text| states.parse(text).expect("known"));
    let mut world = World::new(dimension.clone(), states);
    for x in 0..2 {
        for z in 0..2 {
            world.insert_chunk(Chunk::empty(ChunkPos::new(x, z), &dimension));
        }
    }
    let random = &mut 5;
    for column in 0..1024 {
        let floor = kinds[below(random, kinds.len())];
        for y in 0..=below(random, 3) as i32 {
            world.set_block(BlockPos::new(column % 32, y, column / 32), floor).expect("loaded");
        }
    }
    let mut lighting = Lighting::new();
    lighting.update(&mut world);
    let mut placed = Vec::new();
    for tick in 0..120 {
        for _ in 0..[1, 1, 1, 3][below(random, 4)] {
            let coordinate = |random: &mut u64| [8, 9, 15, 16, 1, 14, 30][below(random, 7)];
            let at = BlockPos::new(coordinate(random), 3 + below(random, 109) as i32, coordinate(random));
            let taken = (below(random, 3) == 0).then(|| placed.pop()).flatten();
            let (at, state) = match taken {
                Some(at) => (at, StateId::AIR),
                None => (at, kinds[below(random, kinds.len())]),
            };
            world.set_block(at, state).expect("loaded");
            if taken.is_none() {
                placed.push(at);
            }
        }
        lighting.update(&mut world);
        world.begin_tick(tick + 1);
        assert_lit_as_from_nothing(&world, &format!("tick {tick}"));
    }
}
