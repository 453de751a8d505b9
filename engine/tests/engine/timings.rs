//! The timings are true: they add up, and they charge the one who took the time.

use std::time::{Duration, Instant};

use bevy_ecs::prelude::*;
use voxtick_engine::{Meter, Simulation, Stage, TickReport};

use crate::common::{busy, plugin, spin};

const MILLISECOND: Duration = Duration::from_millis(1);

#[test]
fn stage_times_and_the_engines_share_add_up_to_the_tick() {
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(busy("first", MILLISECOND))
        .plugin(busy("second", MILLISECOND / 2))
        .plugin(plugin("empty", |setup| {
            setup.stage(Stage::new("empty")).system("empty", || {});
        }))
        .build()
        .unwrap();
    for report in simulation.ticks().take(20) {
        let report = report.unwrap();
        let parts: Duration = report.stages.iter().map(|stage| stage.wall).sum::<Duration>() + report.engine;
        assert_eq!(parts, report.wall);
    }
}

/// The sum alone could be right by construction; a clock outside the engine tells whether the tick
/// itself is.
#[test]
fn the_reported_times_are_those_that_passed() {
    let closest = (0..5)
        .map(|_| {
            let mut simulation =
                Simulation::builder().threads(1).plugin(busy("busy", MILLISECOND)).build().unwrap();
            simulation.run(1).unwrap();
            let start = Instant::now();
            let reports: Vec<TickReport> = simulation.ticks().take(50).map(Result::unwrap).collect();
            let passed = start.elapsed().as_secs_f64();
            let reported: Duration = reports.iter().map(|report| report.stages[0].wall + report.engine).sum();
            (reported.as_secs_f64() / passed - 1.0).abs()
        })
        // The thread may be stopped between two ticks, when no stage can be charged: the best of
        // five counts.
        .fold(f64::INFINITY, f64::min);
    assert!(closest < 0.01, "{closest}");
}

#[test]
fn systems_lie_inside_their_stage_and_stages_inside_their_tick() {
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(plugin("two", |setup| {
            setup
                .stage(Stage::new("two"))
                .named_system("two", "short", || spin(MILLISECOND / 10))
                .named_system("two", "long", || spin(MILLISECOND));
        }))
        .build()
        .unwrap();
    for report in simulation.ticks().take(5) {
        let report = report.unwrap();
        let stage = report.stage("two").unwrap();
        assert!(report.start <= stage.start);
        assert!(stage.start + stage.wall <= report.start + report.wall);
        let [short, long] = [stage.systems[0], stage.systems[1]];
        assert_eq!((short.name, long.name), ("short", "long"));
        assert!(stage.start <= short.start && short.start + short.wall <= long.start);
        assert!(long.start + long.wall <= stage.start + stage.wall);
        assert!(long.wall >= MILLISECOND && short.wall >= MILLISECOND / 10);
    }
}

#[cfg(unix)]
#[test]
fn a_stage_that_waits_uses_no_cpu_time() {
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(plugin("waiting", |setup| {
            setup
                .stage(Stage::new("waiting"))
                .named_system("waiting", "sleep", || std::thread::sleep(20 * MILLISECOND));
        }))
        .plugin(busy("busy", 20 * MILLISECOND))
        .build()
        .unwrap();
    let report = simulation.tick().unwrap();
    let [waiting, busy] = ["waiting", "busy"].map(|name| report.stage(name).unwrap().cpu.unwrap());
    assert!(waiting < 10 * MILLISECOND, "{waiting:?}");
    assert!(busy > waiting && busy <= report.stage("busy").unwrap().wall);
}

#[test]
fn items_are_told_for_each_system_and_summed_up_for_the_stage() {
    fn three(meter: Res<Meter>) {
        meter.items(3);
        meter.count("merged", 1);
    }
    fn four(meter: Res<Meter>) {
        meter.items(4);
        meter.bytes(100);
        meter.count("merged", 1);
    }
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(plugin("items", |setup| {
            setup
                .stage(Stage::new("items"))
                .stage(Stage::new("none"))
                .system("items", three)
                .system("items", four)
                .system("none", || {});
        }))
        .build()
        .unwrap();
    simulation.run(3).unwrap();
    let report = simulation.tick().unwrap();
    let stage = &report.stages[0];
    assert_eq!((stage.items, stage.bytes, stage.calls), (7, 100, 2));
    assert_eq!(stage.systems.iter().map(|system| system.items).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(stage.systems.iter().map(|system| system.name).collect::<Vec<_>>(), ["three", "four"]);
    assert_eq!(stage.counts, [("merged", 2)]);
    assert_eq!((report.stages[1].items, report.stages[1].counts.len()), (0, 0));

    let summary = simulation.summary();
    let stage = summary.stage("items").unwrap();
    assert_eq!(
        (stage.items, stage.bytes, stage.calls, &stage.counts[..]),
        (28, 400, 8, &[("merged", 8)][..])
    );
    assert!(stage.nanoseconds_per_item.unwrap() > 0.0);
    assert_eq!(summary.stage("none").unwrap().nanoseconds_per_item, None);
    let shares: f64 =
        summary.stages.iter().map(|stage| stage.tick_share).sum::<f64>() + summary.engine.tick_share;
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
}

#[test]
fn the_cost_of_recording_is_charged_to_the_next_tick() {
    let mut simulation = Simulation::builder().threads(1).build().unwrap();
    assert_eq!(simulation.tick().unwrap().recording, Duration::ZERO);
    let report = simulation.tick().unwrap();
    assert!(report.recording > Duration::ZERO && report.recording <= report.engine);
}

#[test]
fn a_system_that_the_ecs_skips_is_not_counted_as_a_call() {
    #[derive(Component)]
    struct Nobody;
    fn needs_one(_: Single<&Nobody>) {}
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(plugin("skipped", |setup| {
            setup.stage(Stage::new("skipped")).system("skipped", needs_one).system("skipped", || {});
        }))
        .build()
        .unwrap();
    let stage = &simulation.tick().unwrap().stages[0];
    assert_eq!((stage.calls, stage.systems[0].calls, stage.systems[1].calls), (1, 0, 1));
    simulation.world_mut().spawn(Nobody);
    assert_eq!(simulation.tick().unwrap().stages[0].calls, 2);
}
