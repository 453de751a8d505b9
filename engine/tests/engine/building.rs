//! A simulation that cannot be right is refused when it is built, with an error that names both
//! sides.

use bevy_ecs::prelude::*;
use voxtick_engine::{BuildError, MissedTicks, Plugin, Rate, Setup, Simulation, Stage};

use crate::common::plugin;

fn error_of(plugins: impl IntoIterator<Item = Box<dyn Fn(&mut Setup<'_>) + Send>>) -> BuildError {
    const NAMES: [&str; 3] = ["first", "second", "third"];
    let builder = plugins
        .into_iter()
        .zip(NAMES)
        .fold(Simulation::builder().threads(1), |builder, (build, name)| builder.plugin(plugin(name, build)));
    builder.build().unwrap_err()
}

fn adding(stage: Stage) -> Box<dyn Fn(&mut Setup<'_>) + Send> {
    Box::new(move |setup| {
        setup.stage(stage.clone());
    })
}

#[test]
fn a_system_of_an_unknown_stage_is_refused() {
    fn relight() {}
    let error = error_of([
        adding(Stage::new("light")),
        Box::new(|setup| {
            setup.system("lihgt", relight);
        }),
    ]);
    assert_eq!(
        error.to_string(),
        "system `relight` of plugin `second` is added to stage `lihgt`, which does not exist: \
         add the plugin that brings it, or use one of `light`"
    );
}

#[test]
fn an_unknown_anchor_a_duplicate_and_a_circle_are_refused() {
    let error = error_of([adding(Stage::new("light").before("storage"))]);
    assert!(
        matches!(error, BuildError::UnknownAnchor { stage: "light", anchor: "storage", plugin: "first", .. }),
        "{error}"
    );
    let error = error_of([adding(Stage::new("light")), adding(Stage::new("light"))]);
    assert!(
        matches!(
            error,
            BuildError::DuplicateStage { stage: "light", first_plugin: "first", second_plugin: "second" }
        ),
        "{error}"
    );
    let error = error_of([adding(Stage::new("a").after("b")), adding(Stage::new("b").after("a"))]);
    assert!(error.to_string().contains("`a` after `b` after `a`"), "{error}");
}

#[test]
fn a_plugin_can_be_added_once_and_may_refuse() {
    let idle = || plugin("idle", |_| {});
    let error = Simulation::builder().plugin(idle()).plugin(idle()).build().unwrap_err();
    assert!(matches!(error, BuildError::DuplicatePlugin { plugin: "idle" }), "{error}");

    struct Refusing;
    impl Plugin for Refusing {
        fn name(&self) -> &'static str {
            "refusing"
        }
        fn build(self: Box<Self>, _: &mut Setup<'_>) -> Result<(), BuildError> {
            Err(BuildError::plugin(self.name(), "the world is gone"))
        }
    }
    let error = Simulation::builder().plugin(Refusing).build().unwrap_err();
    assert_eq!(error.to_string(), "plugin `refusing` cannot be set up: the world is gone");
}

#[test]
fn a_system_that_borrows_a_resource_twice_is_refused_before_the_first_tick() {
    #[derive(Resource)]
    struct Cells;
    fn twice(_: ResMut<Cells>, _: ResMut<Cells>) {}
    let error = error_of([Box::new(|setup: &mut Setup<'_>| {
        setup.stage(Stage::new("wrong")).system("wrong", twice);
    }) as Box<dyn Fn(&mut Setup<'_>) + Send>]);
    assert!(matches!(error, BuildError::Stage { stage: "wrong", .. }), "{error}");
}

#[test]
fn options_out_of_range_are_refused() {
    let error = Simulation::builder().threads(0).build().unwrap_err();
    assert!(matches!(error, BuildError::NoThreads), "{error}");
    let rate = Rate::Fixed { ticks_per_second: 0.0, missed: MissedTicks::default() };
    let error = Simulation::builder().rate(rate).build().unwrap_err();
    assert!(error.to_string().contains("0 ticks a second"), "{error}");
}

#[test]
fn plugins_see_the_options_and_the_world_of_those_before_them() {
    #[derive(Resource)]
    struct Base(u64);
    #[derive(Resource)]
    struct Derived(u64);
    let simulation = Simulation::builder()
        .threads(2)
        .seed(40)
        .plugin(plugin("base", |setup| {
            let base = Base(setup.seed() + setup.threads() as u64);
            setup.resource(base);
        }))
        .plugin(plugin("derived", |setup| {
            let derived = Derived(setup.world().resource::<Base>().0 * 10);
            setup.resource(derived);
        }))
        .build()
        .unwrap();
    assert_eq!(simulation.world().resource::<Derived>().0, 420);
}
