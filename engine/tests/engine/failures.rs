//! What goes wrong ends the run with an error that says where, and never takes the reports along.

use bevy_ecs::prelude::*;
use voxtick_engine::{JsonLinesSink, Setup, Simulation, Stage, Tick, TickError};

use crate::common::plugin;

fn panics_at_5(tick: Res<Tick>) {
    assert!(tick.0 < 5, "no further than {}", tick.0);
}

#[derive(Resource, Default)]
struct Runs(u64);

fn runs_after(mut runs: ResMut<Runs>) {
    runs.0 += 1;
}

fn failing(build: impl Fn(&mut Setup<'_>) + Send + 'static) -> Simulation {
    let plugin = plugin("failing", move |setup| {
        setup.resource(Runs(0)).stage(Stage::new("fragile"));
        build(setup);
        setup.system("fragile", runs_after);
    });
    Simulation::builder().threads(1).plugin(plugin).build().unwrap()
}

#[test]
fn a_panic_in_a_system_names_tick_stage_and_system() {
    let mut simulation = failing(|setup| {
        setup.system("fragile", panics_at_5);
    });
    let error = simulation.run(100).unwrap_err();
    assert_eq!(
        error,
        TickError::Panicked {
            tick: 5,
            stage: "fragile",
            system: "panics_at_5",
            message: "no further than 5".to_owned()
        }
    );
    assert_eq!(
        error.to_string(),
        "tick 5: system `panics_at_5` of stage `fragile` panicked: no further than 5"
    );
    // What stood behind it in the chain did not run, and neither does anything after it.
    assert_eq!(simulation.world().resource::<Runs>().0, 5);
    assert_eq!(simulation.tick().unwrap_err(), TickError::AfterFailure { tick: 5 });
    assert_eq!(simulation.ticks().count(), 1);
    assert_eq!(simulation.world().resource::<Runs>().0, 5);
}

#[test]
fn the_sinks_are_flushed_after_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ticks.jsonl");
    let mut simulation = Simulation::builder()
        .threads(1)
        .sink(JsonLinesSink::create(&path).unwrap())
        .plugin(plugin("failing", |setup| {
            setup.stage(Stage::new("fragile")).system("fragile", panics_at_5);
        }))
        .build()
        .unwrap();
    assert!(simulation.run(100).is_err());
    let finished = simulation.finish();
    assert_eq!((finished.summary.ticks, finished.sinks[0].written), (5, 5));
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 7);
    assert!(text.lines().last().unwrap().contains("\"kind\":\"summary\""));
}

#[test]
fn a_panic_in_a_command_is_charged_to_the_system_that_queued_it() {
    fn queues_a_panic(mut commands: Commands) {
        commands.queue(|_: &mut World| panic!("in a command"));
    }
    let mut simulation = failing(|setup| {
        setup.system("fragile", || {}).system("fragile", queues_a_panic);
    });
    match simulation.tick().unwrap_err() {
        TickError::Panicked { system, message, .. } => {
            assert_eq!((system, message.as_str()), ("queues_a_panic", "in a command"));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_missing_resource_is_an_error_that_names_the_system() {
    #[derive(Resource)]
    struct Missing;
    fn needs_it(_: Res<Missing>) {}
    let mut simulation = failing(|setup| {
        setup.system("fragile", needs_it);
    });
    let error = simulation.tick().unwrap_err();
    assert!(matches!(error, TickError::SystemFailed { tick: 0, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("`needs_it`") && text.contains("Missing") && text.lines().count() == 1, "{text}");
    assert_eq!(simulation.world().resource::<Runs>().0, 0);
}

#[test]
fn a_panic_inside_the_pool_is_caught_too() {
    fn parallel(pool: Res<voxtick_engine::Pool>) {
        pool.install(|| rayon::join(|| (), || panic!("on a worker")));
    }
    let mut simulation = failing(|setup| {
        setup.system("fragile", parallel);
    });
    let error = simulation.tick().unwrap_err().to_string();
    assert!(error.contains("`parallel`") && error.contains("on a worker"), "{error}");
}

#[test]
fn a_panic_in_a_state_hash_names_the_plugin() {
    let broken = plugin("broken", |setup| {
        setup.hash(|_, _| panic!("no columns"));
    });
    let mut simulation = Simulation::builder().threads(1).hash(true).plugin(broken).build().unwrap();
    let error = simulation.tick().unwrap_err();
    assert_eq!(
        error,
        TickError::HashPanicked { tick: 0, plugin: "broken", message: "no columns".to_owned() }
    );
}

#[test]
fn a_failure_leaves_other_simulations_alone() {
    let mut broken = failing(|setup| {
        setup.system("fragile", panics_at_5);
    });
    let mut sound = failing(|_| {});
    assert!(broken.run(10).is_err());
    assert_eq!(sound.run(10).unwrap(), 10);
}
