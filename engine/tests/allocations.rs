//! A steady tick does not allocate, with history, state hash, messages and sinks.
//!
//! Counted for each thread alone, so that other tests and the sinks' threads do not show.

use std::hint::black_box;

use bevy_ecs::prelude::*;
use voxtick_engine::{
    ChromeTraceSink, JsonLinesSink, Meter, Setup, Simulation, SimulationBuilder, Stage, Tick, TraceWindow,
};

/// Allocations of this thread while `work` runs.
fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

#[derive(Resource, Default)]
struct Cells(Vec<u64>);

#[derive(Message)]
struct Changed(u64);

fn change(mut cells: ResMut<Cells>, tick: Res<Tick>, meter: Res<Meter>, mut changed: MessageWriter<Changed>) {
    for (index, cell) in cells.0.iter_mut().enumerate() {
        *cell = cell.wrapping_add(tick.0 ^ index as u64);
    }
    changed.write(Changed(tick.0));
    meter.items(cells.0.len() as u64);
    meter.bytes(8 * cells.0.len() as u64);
    meter.count("cells changed", 3);
}

fn look(mut changed: MessageReader<Changed>, meter: Res<Meter>) {
    meter.items(changed.read().map(|change| black_box(change.0 & 1)).sum());
}

fn mark(mut commands: Commands) {
    commands.queue(|world: &mut World| {
        black_box(world.resource::<Tick>().0);
    });
}

fn builder() -> SimulationBuilder {
    let cells = ("cells", |setup: &mut Setup<'_>| {
        setup
            .message::<Changed>()
            .resource(Cells(vec![1; 100]))
            .stage(Stage::new("change"))
            .stage(Stage::new("look"))
            .system("change", change)
            .system("change", mark)
            .system("look", look)
            .hash(|world, hasher| hasher.write_u64s(&world.resource::<Cells>().0));
        Ok(())
    });
    Simulation::builder().threads(1).history(64).hash(true).plugin(cells)
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1);
}

#[test]
fn a_steady_tick_does_not_allocate() {
    let mut simulation = builder().build().unwrap();
    simulation.run(100).unwrap();
    let allocations = allocations(|| {
        assert_eq!(simulation.run(1_000).unwrap(), 1_000);
    });
    assert_eq!(allocations, 0);
    assert_eq!(simulation.history().stage("look").unwrap().items().last(), Some(1));
}

#[test]
fn a_steady_tick_with_sinks_does_not_allocate_either() {
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = builder()
        .sink(JsonLinesSink::create(folder.path().join("ticks.jsonl")).unwrap())
        .sink(ChromeTraceSink::create(folder.path().join("trace.json"), TraceWindow::Last(10)).unwrap())
        .build()
        .unwrap();
    simulation.run(100).unwrap();
    let allocations = allocations(|| {
        assert_eq!(simulation.run(1_000).unwrap(), 1_000);
    });
    assert_eq!(allocations, 0);
    let finished = simulation.finish();
    assert!(finished.sinks.iter().all(|sink| sink.written + sink.dropped == 1_100 && sink.error.is_none()));
}
