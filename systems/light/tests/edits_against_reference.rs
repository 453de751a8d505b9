//! Any batch of changes ends in the light that a relight from nothing gives.
//!
//! `VOXTICK_LIGHT_BATCHES` sets how many batches are tried; a share of what was run while working is the default.

mod edits;
mod lit;
mod worlds;

use edits::random_edits;
use lit::assert_lit_as_from_nothing;
use voxtick_light::{Lighting, Width};
use voxtick_worlds::World;
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
    for seed in 0..wanted.div_ceil(8) {
        batches_end_as_a_relight_does(seed, 8, widths[seed as usize % widths.len()]);
    }
}
