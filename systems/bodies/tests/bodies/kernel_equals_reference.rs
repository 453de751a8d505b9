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

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_world_any_size_any_number_of_threads(
        seed in 0_u64..1_000_000,
        solid in 0.02_f64..0.5,
        count in 1_usize..700,
        threads in prop::sample::select(vec![1_usize, 2, 3, 8]),
        sleeping in any::<bool>(),
        all_kinds in any::<bool>(),
        changes in 0_usize..12,
    ) {
        let kinds: &[&str] = if all_kinds { crate::common::ALL_KINDS } else { &["stone"] };
        let settings = settings(Path::fastest(), sleeping);
        let mut arena = Arena::random(seed, kinds, solid, count, settings);
        arena.changes_a_tick = changes;
        compare(arena, settings, threads, 60);
    }
}
