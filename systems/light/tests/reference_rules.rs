//! The flood fill against the rules themselves: on small random worlds, its light solves the equations of the rules
//! cell by cell, after a full relight and after every single change.

mod edits;
mod worlds;

use edits::{Edit, random_edits};
use proptest::prelude::*;
use voxtick_light::LightFacts;
use voxtick_light::reference::FlatLight;
use voxtick_worlds::{BlockPos, Direction, LightChannel, World};
use worlds::random_world;

/// What the rules say of one cell, given the levels of all others.
fn by_the_rules(world: &World, light: &FlatLight<'_>, channel: LightChannel, at: BlockPos) -> u8 {
    if channel == LightChannel::Sky && !world.dimension().has_sky() {
        return 0;
    }
    let states = world.states();
    let facts = |at: BlockPos| world.block(at).map(|state| LightFacts::of(states, state));
    let own = facts(at).expect("a loaded cell");
    let open = |beside: &LightFacts, side: Direction| {
        !states.faces_cover(own.faces[side.index()], beside.faces[side.opposite().index()])
    };
    let mut level = if channel == LightChannel::Block { own.emission } else { 0 };
    if channel == LightChannel::Sky && own.passes_sky() {
        let above = at.offset(Direction::Up);
        let source = match facts(above) {
            None => true,
            Some(above_facts) => {
                light.level(LightChannel::Sky, above) == Some(15) && open(&above_facts, Direction::Up)
            }
        };
        level = if source { 15 } else { 0 };
    }
    for side in Direction::ALL {
        let beside = at.offset(side);
        let Some(beside_facts) = facts(beside) else { continue };
        if open(&beside_facts, side) {
            let entering = light.level(channel, beside).expect("a loaded cell").saturating_sub(own.step());
            level = level.max(entering);
        }
    }
    level
}

fn assert_solves_the_rules(world: &World, light: &FlatLight<'_>, story: &str) {
    let dimension = world.dimension();
    for chunk in world.chunk_positions() {
        for y in dimension.min_y()..dimension.max_y() {
            for column in 0..256 {
                let at = BlockPos::new(chunk.x * 16 + column % 16, y, chunk.z * 16 + column / 16);
                for channel in [LightChannel::Block, LightChannel::Sky] {
                    assert_eq!(
                        light.level(channel, at),
                        Some(by_the_rules(world, light, channel, at)),
                        "{channel:?} light at {at} {story}"
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_full_relight_solves_the_rules(seed in any::<u64>()) {
        let world = random_world(seed, 2, 2);
        let positions: Vec<_> = world.chunk_positions().collect();
        let mut light = FlatLight::new(&world, &positions);
        light.light_all();
        assert_solves_the_rules(&world, &light, "after a full relight");
    }

    #[test]
    fn every_single_change_ends_where_a_full_relight_does(seed in any::<u64>()) {
        let mut world = random_world(seed, 2, 2);
        let edits = random_edits(seed, &world, 60);
        let base = random_world(seed, 2, 2);
        let positions: Vec<_> = world.chunk_positions().collect();
        let mut light = FlatLight::new(&base, &positions);
        light.light_all();
        for (number, &Edit { at, state }) in edits.iter().enumerate() {
            light.set_block(at, state);
            world.set_block(at, state).expect("a loaded cell");
            let mut fresh = FlatLight::new(&world, &positions);
            fresh.light_all();
            for &position in &positions {
                prop_assert!(
                    fresh.chunk_light(position) == light.chunk_light(position),
                    "seed {seed}: change {number} at {at} to {}", world.states().print(state)
                );
            }
        }
    }
}
