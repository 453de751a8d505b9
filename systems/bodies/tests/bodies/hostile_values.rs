//! Values that no body can have: whoever has them is set aside and told of once, and all others never notice.

use crate::common::{Arena, Throw};
use voxtick_bodies::{Flags, Settings, Spawn};
use voxtick_worlds::{ItemKind, ItemStack};

const HOSTILE: &[f64] = &[
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1.0e300,
    -1.0e300,
    3.0e9,
    -3.0e9,
    2_147_483_648.0,
    -2_147_483_649.0,
    2.0e9,
    -2.0e9,
    1.0e8 + 1.0,
];

fn arena() -> Arena {
    let settings = Settings { merging: false, ..Settings::default() };
    let mut arena = Arena::random(8, &["stone"], 0.147, 32, settings);
    arena.throw_all(Throw { seed: 3, horizontal: 0.4, down: -0.2, up: 0.4 });
    arena
}

/// Values that a place may have: nothing is loaded there, or it is high above the world.
const FAR: &[f64] = &[1.0e6, -1.0e6, 5.0e7, 1.0e7 + 1.0];

#[test]
fn each_hostile_value_in_each_field_is_quarantined_and_no_other_body_notices() {
    let mut arena = arena();
    let mut spawns = Vec::new();
    for &value in HOSTILE {
        for field in 0..6 {
            let mut spawn = Spawn::at([8.5, 20.0, 8.5], ItemStack::single(ItemKind(9)));
            if field < 3 {
                spawn.position[field] = value;
            } else {
                spawn.velocity[field - 3] = value;
            }
            spawns.push(spawn);
        }
    }
    let too_fast = |axis: usize| {
        let mut spawn = Spawn::at([8.5, 20.0, 8.5], ItemStack::single(ItemKind(9)));
        spawn.velocity[axis] = 1.0e7 + 1.0;
        spawn
    };
    spawns.extend([0, 1, 2].map(too_fast));
    let victims = arena.population.spawn(&spawns).expect("room");
    assert_eq!(arena.population.events().quarantined, victims);
    for _ in 0..30 {
        arena.step_reference(&Settings::default().rules);
        arena.step_population(1);
        assert!(arena.population.events().quarantined.is_empty(), "told of once");
        for (&victim, spawn) in victims.iter().zip(&spawns) {
            let view = arena.population.view(victim).expect("it stays");
            assert!(view.body.flags.has(Flags::QUARANTINED), "{spawn:?}");
            assert_eq!(view.body.position.map(f64::to_bits), spawn.position.map(f64::to_bits), "{spawn:?}");
        }
        arena.assert_others_equal("beside hostile bodies");
    }
}

#[test]
fn what_is_far_out_of_the_loaded_world_is_held_and_no_other_body_notices() {
    let mut arena = arena();
    let mut spawns = Vec::new();
    for &value in FAR {
        for axis in 0..3 {
            let mut spawn = Spawn::at([8.5, 20.0, 8.5], ItemStack::single(ItemKind(9)));
            spawn.position[axis] = value;
            spawns.push(spawn);
        }
    }
    let far = arena.population.spawn(&spawns).expect("room");
    for tick in 0..30 {
        arena.step_reference(&Settings::default().rules);
        arena.step_population(1);
        for (&id, spawn) in far.iter().zip(&spawns) {
            let Some(view) = arena.population.view(id) else {
                assert!(spawn.position[1] < -64.0, "only what is below the world is lost: {spawn:?}");
                continue;
            };
            let is_above = spawn.position[1] > 1.0e5;
            assert!(tick == 0 || is_above || view.body.position == spawn.position, "{spawn:?}");
        }
        arena.assert_others_equal("beside bodies far away");
    }
}

#[test]
fn a_speed_that_sweeps_too_far_is_refused_in_the_tick_that_would_move_it() {
    let mut arena = arena();
    for speed in [600.0, -600.0, 1.0e6, 1.0e7] {
        for axis in 0..3 {
            let mut spawn = Spawn::at([8.5, 20.0, 8.5], ItemStack::single(ItemKind(9)));
            spawn.velocity[axis] = speed;
            let victim = arena.population.spawn(&[spawn]).expect("room")[0];
            arena.population.tick(&arena.world, 1, 1);
            let view = arena.population.view(victim).expect("it stays");
            assert_eq!(view.body.position, spawn.position);
            assert!(view.body.flags.has(Flags::QUARANTINED), "{speed} along axis {axis}");
            assert!(arena.population.events().quarantined.contains(&victim));
        }
    }
}
