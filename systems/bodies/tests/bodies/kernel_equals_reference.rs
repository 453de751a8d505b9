//! The kernel against the reference: every column of every body, bit for bit, after every tick.

use crate::common::{Arena, Throw};
use proptest::prelude::*;
use voxtick_bodies::{Path, Rules, Settings};

/// Steps both sides for `ticks` ticks, throwing everything again every 40, and compares after each.
fn compare(mut arena: Arena, settings: Settings, threads: usize, ticks: u64) {
    let pool = voxtick_engine::Pool::with_threads(threads).expect("threads");
    for tick in 0..ticks {
        if tick % 40 == 0 {
            arena.throw_all(Throw { seed: tick, horizontal: 0.4, down: -0.2, up: 0.4 });
        }
        arena.change_blocks(tick, arena.changes_a_tick);
        arena.step_reference(&settings.rules);
        pool.install(|| arena.step_population(threads));
        arena.assert_equal(&format!("path {}, {threads} threads", settings.path.name()));
    }
}

fn settings(path: Path, sleeping: bool) -> Settings {
    Settings { path, sleeping, merging: false, ..Settings::default() }
}

#[test]
fn stone_and_air_on_every_instruction_set() {
    for path in Path::available() {
        compare(
            Arena::random(1, &["stone"], 0.147, 600, settings(path, false)),
            settings(path, false),
            1,
            160,
        );
    }
}

#[test]
fn every_kind_of_block_on_every_instruction_set() {
    for path in Path::available() {
        compare(
            Arena::random(2, crate::common::ALL_KINDS, 0.3, 600, settings(path, false)),
            settings(path, false),
            2,
            160,
        );
    }
}

#[test]
fn sleepers_are_what_they_would_have_become() {
    let settings = settings(Path::fastest(), true);
    let mut arena = Arena::random(
        3,
        &["stone", "stone", "ice", "oak_slab", "soul_sand", "slime_block", "chest"],
        0.2,
        800,
        settings,
    );
    arena.throw_all(Throw { seed: 5, horizontal: 0.4, down: -0.2, up: 0.4 });
    let mut most_asleep = 0;
    for tick in 0..600 {
        if tick % 50 == 49 {
            arena.change_blocks(tick, 40);
        }
        arena.step_reference(&settings.rules);
        arena.step_population(1);
        arena.assert_equal("sleeping");
        most_asleep = most_asleep.max(arena.asleep());
    }
    assert!(most_asleep > 500, "only {most_asleep} of 800 ever slept");
}

/// A sleeper once woke whenever a block changed in one of its columns. It sleeps on now where it can, which is to be seen
/// nowhere: not when the ground changes under it again and again, and not when a wall comes or goes beside it.
#[test]
fn sleepers_whose_ground_changes_are_what_they_would_have_become() {
    let cubes = ["stone", "dirt", "ice", "blue_ice", "slime_block", "packed_ice", "oak_leaves"];
    for (seed, kinds) in
        [(41, &cubes as &[&str]), (42, crate::common::ALL_KINDS), (43, crate::common::WATERS)]
    {
        let settings = settings(Path::fastest(), true);
        let mut arena = Arena::random(seed, kinds, 0.3, 150, settings);
        arena.throw_all(Throw { seed, horizontal: 0.4, down: -0.2, up: 0.4 });
        let mut asleep = 0;
        for tick in 0..500 {
            if tick % 3 == 0 {
                arena.change_blocks_at_bodies(tick, 2);
            }
            arena.step_reference(&settings.rules);
            arena.step_population(2);
            arena.assert_equal("on changing ground");
            asleep += arena.asleep();
        }
        assert!(asleep > 500 * 20, "{asleep} ticks slept by 150 bodies in 500");
    }
}

#[test]
fn stacks_merge_as_if_each_had_asked_all_others() {
    for sleeping in [false, true] {
        let settings = Settings { sleeping, ..Settings::default() };
        let mut arena = Arena::of_stacks(6, 0.1, 400, settings);
        for tick in 0..260 {
            if tick == 130 {
                arena.throw_all(Throw { seed: 5, horizontal: 0.4, down: -0.2, up: 0.4 });
            }
            arena.step_reference(&settings.rules);
            arena.step_population(1);
            arena.assert_equal(if sleeping { "merging, asleep" } else { "merging" });
        }
        assert!(arena.population.count() < 250, "{} of 400 are left", arena.population.count());
    }
}

#[test]
fn the_rules_of_older_versions_hold_too() {
    let mut settings = settings(Path::fastest(), true);
    settings.rules = Rules { small_moves: false, ..Rules::default() };
    compare(Arena::random(4, &["stone"], 0.15, 500, settings), settings, 3, 200);
}

/// Pools, currents and shores: everything that a body can meet in water.
#[test]
fn water_and_its_shores_on_every_instruction_set() {
    let kinds = [
        "water",
        "water",
        "water",
        "water[level=3]",
        "water[level=6]",
        "water[level=8]",
        "stone",
        "oak_slab",
    ];
    for (seed, path) in Path::available().into_iter().enumerate() {
        for solid in [0.35, 0.95] {
            let mut arena = Arena::random(20 + seed as u64, &kinds, solid, 250, settings(path, true));
            arena.changes_a_tick = 3;
            compare(arena, settings(path, true), 2, 120);
        }
    }
}

/// What falls into water joins those that drift there already after them, and the two once changed places.
#[test]
fn a_body_that_joins_another_in_water_stays_itself() {
    for seed in 0..30 {
        let settings = settings(Path::PLAIN, false);
        compare(Arena::random(seed, crate::common::WATERS, 0.4, 2, settings), settings, 1, 80);
    }
}

/// A random world is compared at every tick for this long.
const TICKS: u64 = 1_000;

/// As many cases as `PROPTEST_CASES` asks for, and otherwise few, so that the suite stays quick.
fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(few), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(12))]

    /// Most worlds run for a little while, so that there can be many; those of few bodies run for [`TICKS`].
    #[test]
    fn any_world_any_size_any_number_of_threads(
        seed in 0_u64..1_000_000,
        solid in 0.02_f64..0.5,
        count in 1_usize..700,
        threads in prop::sample::select(vec![1_usize, 2, 3, 8]),
        path in prop::sample::select(Path::available()),
        sleeping in any::<bool>(),
        kinds in prop::sample::select(vec![&["stone"] as &[&str], crate::common::ALL_KINDS, crate::common::WATERS]),
        changes in 0_usize..12,
    ) {
        let settings = settings(path, sleeping);
        let mut arena = Arena::random(seed, kinds, solid, count, settings);
        arena.changes_a_tick = changes;
        let ticks = if count < 50 { TICKS } else { 60 };
        compare(arena, settings, threads, ticks);
    }
}

#[test]
fn a_thousand_ticks_with_threads_sleep_and_changes() {
    let settings = settings(Path::fastest(), true);
    let mut arena = Arena::random(31, crate::common::ALL_KINDS, 0.25, 60, settings);
    arena.changes_a_tick = 1;
    compare(arena, settings, 8, TICKS);
}

/// A body inside a block at the edge of what is loaded was put aside as one that is held for good, though it draws another
/// speed each tick and a slower one needs nothing that is not loaded.
#[test]
fn a_body_that_is_held_while_it_is_pushed_out_of_a_block_tries_again() {
    let settings = settings(Path::PLAIN, true);
    let arena = Arena::random(582_918, crate::common::ALL_KINDS, 0.425_245_497_439_394_16, 410, settings);
    compare(arena, settings, 1, 60);
}

proptest! {
    #![proptest_config(cases(6))]

    /// Bodies at the edge of what is loaded, inside blocks and outside, while blocks change there and chunks come and go.
    #[test]
    fn what_is_held_is_what_it_would_have_become(
        seed in 0_u64..1_000_000,
        solid in 0.1_f64..0.6,
        count in 1_usize..40,
        kinds in prop::sample::select(vec![&["stone"] as &[&str], crate::common::ALL_KINDS, crate::common::WATERS]),
    ) {
        let settings = settings(Path::fastest(), true);
        let mut arena = Arena::random(seed, kinds, solid, count, settings);
        for tick in 0..TICKS {
            if tick % 40 == 0 {
                arena.throw_all(Throw { seed: tick, horizontal: 0.4, down: -0.2, up: 0.4 });
            }
            if tick % 23 == 0 {
                arena.toggle_chunk(seed + tick);
            }
            if tick % 5 == 0 {
                arena.change_blocks_at_bodies(tick, 1);
            }
            arena.step_reference(&settings.rules);
            arena.step_population(1);
            arena.assert_equal("held");
        }
    }
}

/// Bodies inside blocks at the edge of what is loaded were stepped in every tick for as long as they were held there.
#[test]
fn what_is_held_inside_a_block_at_the_edge_costs_one_step() {
    let settings = settings(Path::fastest(), true);
    let mut arena = Arena::random(8, &["stone"], 1.0, 400, settings);
    let inside = |arena: &Arena| {
        let x = arena.population.iter().map(|(_, view)| view.body.position[0]);
        x.filter(|&x| !(-15.0..31.0).contains(&x)).count() as u64
    };
    let at_edge = inside(&arena);
    assert!(at_edge > 10, "{at_edge} bodies at the edge");
    for tick in 0..50 {
        arena.step_reference(&settings.rules);
        let tally = arena.population.tick(&arena.world, crate::common::SEED, 1);
        arena.world.begin_tick(tick + 1);
        arena.assert_equal("held inside blocks");
        match tick {
            0 => assert!(tally.held >= at_edge, "{tally:?}"),
            _ => assert_eq!(tally.held, 0, "after {tick} ticks"),
        }
    }
}
