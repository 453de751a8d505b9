//! What a tick promises to systems: order, numbers, messages, hashes that depend on the state
//! alone; and to its caller: when a run ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bevy_ecs::prelude::*;
use rayon::prelude::*;
use voxtick_engine::{Meter, MissedTicks, Pool, Rate, Seed, Simulation, SimulationBuilder, Stage, Tick};

use crate::common::plugin;

#[derive(Resource, Default)]
struct Log(Vec<&'static str>);

fn logging(name: &'static str) -> impl FnMut(ResMut<Log>) {
    move |mut log| log.0.push(name)
}

#[test]
fn stages_run_in_their_order_and_systems_as_they_were_added() {
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(plugin("late", |setup| {
            setup
                .stage(Stage::new("late").after("early"))
                .system("late", logging("late 1"))
                .system("early", logging("early 1"));
        }))
        .plugin(plugin("early", |setup| {
            setup
                .resource(Log::default())
                .stage(Stage::new("early"))
                .stage(Stage::new("without systems").before("early"))
                .system("early", logging("early 2"))
                .system("late", logging("late 2"));
        }))
        .build()
        .unwrap();
    assert_eq!(simulation.stage_names().collect::<Vec<_>>(), ["early", "late"]);
    let report = simulation.tick().unwrap();
    assert_eq!(report.stages.len(), 2);
    assert_eq!(simulation.world().resource::<Log>().0, ["early 1", "early 2", "late 1", "late 2"]);
}

#[test]
fn a_system_sees_the_commands_of_those_before_it() {
    #[derive(Component)]
    struct Batch;
    fn spawn(mut commands: Commands) {
        commands.spawn(Batch);
    }
    fn count(batches: Query<&Batch>, meter: Res<Meter>) {
        meter.items(batches.iter().count() as u64);
    }
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(plugin("batches", |setup| {
            setup.stage(Stage::new("batches")).system("batches", spawn).system("batches", count);
        }))
        .build()
        .unwrap();
    let items: Vec<_> = simulation.ticks().take(3).map(|report| report.unwrap().stages[0].items).collect();
    assert_eq!(items, [1, 2, 3]);
}

#[test]
fn a_message_can_be_read_until_the_end_of_the_next_tick() {
    #[derive(Message)]
    struct Sent(u64);
    #[derive(Resource, Default)]
    struct Read(Vec<(u64, u64)>);
    fn read(mut sent: MessageReader<Sent>, tick: Res<Tick>, mut read: ResMut<Read>) {
        read.0.extend(sent.read().map(|message| (tick.0, message.0)));
    }
    fn send(mut messages: MessageWriter<Sent>, tick: Res<Tick>) {
        messages.write(Sent(tick.0));
    }
    fn available(messages: Res<Messages<Sent>>, meter: Res<Meter>) {
        meter.items(messages.len() as u64);
    }
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(plugin("messages", |setup| {
            setup
                .message::<Sent>()
                .message::<Sent>()
                .resource(Read::default())
                .stage(Stage::new("before"))
                .stage(Stage::new("after"))
                .system("before", read)
                .system("before", send)
                .system("after", available);
        }))
        .build()
        .unwrap();
    let available: Vec<_> =
        simulation.ticks().take(4).map(|report| report.unwrap().stages[1].items).collect();
    assert_eq!(available, [1, 2, 2, 2]);
    // Read in the tick after, by a system that stands before the sender.
    assert_eq!(simulation.world().resource::<Read>().0, [(1, 0), (2, 1), (3, 2)]);
}

#[derive(Resource)]
struct Columns(Vec<Vec<f64>>);

fn stir(pool: Res<Pool>, tick: Res<Tick>, mut columns: ResMut<Columns>) {
    pool.install(|| {
        columns.0.par_iter_mut().enumerate().for_each(|(index, column)| {
            for (row, value) in column.iter_mut().enumerate() {
                *value = (*value * 0.98) + ((row * index) as f64 - tick.0 as f64) * 0.01;
            }
        });
    });
}

fn columns() -> impl voxtick_engine::Plugin + 'static {
    plugin("columns", |setup| {
        let start = setup.seed() as f64;
        setup
            .resource(Columns(vec![vec![start; 50]; 20]))
            .stage(Stage::new("stir"))
            .system("stir", stir)
            .hash(|world, hasher| {
                world.resource::<Columns>().0.iter().for_each(|column| hasher.write_f64s(column));
            });
    })
}

fn ticks_hashed() -> impl voxtick_engine::Plugin + 'static {
    plugin("a second one", |setup| {
        setup.hash(|world, hasher| hasher.write_u64(world.resource::<Tick>().0));
    })
}

fn hashes(builder: SimulationBuilder) -> Vec<u64> {
    let mut simulation = builder.hash(true).build().unwrap();
    simulation.ticks().take(30).map(|report| report.unwrap().hash.unwrap()).collect()
}

#[test]
fn the_hash_depends_on_the_state_alone() {
    let build =
        |threads| Simulation::builder().threads(threads).seed(3).plugin(columns()).plugin(ticks_hashed());
    let expected = hashes(build(1));
    assert_eq!(hashes(build(2)), expected);
    assert_eq!(hashes(build(3)), expected);
    let other_order = Simulation::builder().threads(1).seed(3).plugin(ticks_hashed()).plugin(columns());
    assert_eq!(hashes(other_order), expected);
    let other_seed = Simulation::builder().threads(1).seed(4).plugin(columns()).plugin(ticks_hashed());
    assert_ne!(hashes(other_seed), expected);
    let mut distinct = expected.clone();
    distinct.dedup();
    assert_eq!(distinct.len(), 30);
}

#[test]
fn the_report_tells_which_plugin_contributed_what() {
    let builder = Simulation::builder().threads(1).plugin(columns()).plugin(ticks_hashed());
    let mut simulation = builder.hash(true).build().unwrap();
    let first = simulation.tick().unwrap().clone();
    assert_eq!(
        first.hashes.iter().map(|(plugin, _)| *plugin).collect::<Vec<_>>(),
        ["a second one", "columns"]
    );
    assert_eq!(simulation.state_hash().unwrap(), first.hash.unwrap());
    simulation.world_mut().resource_mut::<Columns>().0[0][0] = 5.0;
    assert_ne!(simulation.state_hash().unwrap(), first.hash.unwrap());
}

#[test]
fn without_hashing_a_report_holds_none_but_the_state_can_still_be_hashed() {
    let mut simulation = Simulation::builder().threads(1).plugin(columns()).build().unwrap();
    let report = simulation.tick().unwrap();
    assert_eq!((report.hash, report.hashes.len()), (None, 0));
    let mut hashed = Simulation::builder().threads(1).plugin(columns()).hash(true).build().unwrap();
    assert_eq!(Some(simulation.state_hash().unwrap()), hashed.tick().unwrap().hash);
}

#[test]
fn several_simulations_live_side_by_side() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let simulations =
        [1, 2].map(|seed| Simulation::builder().threads(2).seed(seed).plugin(columns()).build().unwrap());
    let hashes = simulations.map(|simulation| {
        let mut simulation = is_send(simulation);
        std::thread::spawn(move || {
            simulation.run(20).unwrap();
            (simulation.world().resource::<Seed>().0, simulation.state_hash().unwrap())
        })
    });
    let [one, two] = hashes.map(|thread| thread.join().unwrap());
    assert_eq!((one.0, two.0), (1, 2));
    assert_ne!(one.1, two.1);
}

#[test]
fn the_stop_flag_ends_a_run_after_the_tick_being_run() {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let mut simulation = Simulation::builder()
        .threads(1)
        .stop_flag(stop.clone())
        .plugin(plugin("stopping", move |setup| {
            let flag = flag.clone();
            setup.stage(Stage::new("stop")).named_system("stop", "stop at 6", move |tick: Res<Tick>| {
                if tick.0 == 6 {
                    flag.store(true, Relaxed);
                }
            });
        }))
        .build()
        .unwrap();
    assert_eq!(simulation.run(100).unwrap(), 7);
    assert_eq!(simulation.run(100).unwrap(), 0);
    assert_eq!(simulation.ticks().count(), 0);
    // A single tick is still the caller's to run.
    assert_eq!(simulation.tick().unwrap().tick, 7);
    stop.store(false, Relaxed);
    assert_eq!(simulation.run(3).unwrap(), 3);
}

#[test]
fn the_stop_flag_ends_a_long_wait() {
    let stop = Arc::new(AtomicBool::new(false));
    let one_an_hour = Rate::Fixed { ticks_per_second: 1.0 / 3600.0, missed: MissedTicks::Skip };
    let mut simulation =
        Simulation::builder().threads(1).rate(one_an_hour).stop_flag(stop.clone()).build().unwrap();
    let setter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        stop.store(true, Relaxed);
    });
    // The first tick runs at once; waiting for the second one would outlast every test runner.
    assert_eq!(simulation.run(2).unwrap(), 1);
    setter.join().unwrap();
}

#[test]
fn a_fixed_rate_starts_no_tick_early_and_leaves_no_number_out() {
    let rate = Rate::Fixed { ticks_per_second: 500.0, missed: MissedTicks::Skip };
    let mut simulation = Simulation::builder()
        .threads(1)
        .rate(rate)
        .plugin(plugin("sometimes slow", |setup| {
            setup.stage(Stage::new("work")).named_system("work", "work", |tick: Res<Tick>| {
                if tick.0 == 3 {
                    std::thread::sleep(Duration::from_millis(11));
                }
            });
        }))
        .build()
        .unwrap();
    let before = Instant::now();
    let reports: Vec<_> = simulation.ticks().take(10).map(Result::unwrap).collect();
    let passed = before.elapsed();
    assert_eq!(reports.iter().map(|report| report.tick).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    // However late ticks were, none was early: nine regular times and those given up have passed.
    let given_up: u64 = reports.iter().map(|report| report.missed).sum();
    assert!(passed >= Duration::from_millis(2) * (9 + u32::try_from(given_up).unwrap()));
    assert!(reports[4].missed >= 4, "{:?}", reports[4]);
    assert!(reports[4].overrun >= Duration::from_millis(9));
    assert_eq!(simulation.summary().missed, given_up);
}

#[test]
fn a_fixed_rate_catches_up_without_giving_up_a_short_delay() {
    let rate = Rate::Fixed { ticks_per_second: 200.0, missed: MissedTicks::CatchUp { limit: 1_000 } };
    let mut simulation = Simulation::builder()
        .threads(1)
        .rate(rate)
        .plugin(plugin("slow once", |setup| {
            setup.stage(Stage::new("work")).named_system("work", "work", |tick: Res<Tick>| {
                if tick.0 == 0 {
                    std::thread::sleep(Duration::from_millis(26));
                }
            });
        }))
        .build()
        .unwrap();
    let before = Instant::now();
    let reports: Vec<_> = simulation.ticks().take(8).map(Result::unwrap).collect();
    assert!(reports.iter().all(|report| report.missed == 0));
    // Tick 7 is due 35 ms after the start.
    assert!(before.elapsed() >= Duration::from_millis(35));
}

#[test]
fn removed_components_are_told_for_one_tick() {
    #[derive(Component)]
    struct Batch;
    fn removed(mut removed: RemovedComponents<Batch>, meter: Res<Meter>) {
        meter.items(removed.read().count() as u64);
    }
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(plugin("batches", |setup| {
            setup.stage(Stage::new("batches")).system("batches", removed);
        }))
        .build()
        .unwrap();
    let batch = simulation.world_mut().spawn(Batch).id();
    simulation.world_mut().despawn(batch);
    let items: Vec<_> = simulation.ticks().take(3).map(|report| report.unwrap().stages[0].items).collect();
    assert_eq!(items, [1, 0, 0]);
}
