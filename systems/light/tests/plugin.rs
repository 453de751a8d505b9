//! The light stage in a simulation: the same light whatever the threads, the load order and the path of changes.

mod edits;
mod lit;
mod worlds;

use edits::random_edits;
use lit::assert_lit_as_from_nothing;
use std::time::Duration;

use voxtick_engine::{Allowance, Simulation};
use voxtick_light::{LightCentre, LightPlugin, Lighting};
use voxtick_worlds::{Chunk, ChunkPos, World, WorldsPlugin};
use worlds::{below, random_world};

#[test]
fn threads_and_load_order_change_no_hash() {
    let hashes = |threads: usize, shuffle: u64| -> Vec<u64> {
        let template = random_world(11, 4, 3);
        let mut world = World::new(template.dimension().clone(), template.states().clone());
        let mut chunks: Vec<_> = template.chunks().cloned().collect();
        let random = &mut { shuffle };
        for last in (1..chunks.len()).rev() {
            chunks.swap(last, below(random, last + 1));
        }
        for chunk in chunks {
            world.insert_chunk(chunk);
        }
        let edits = random_edits(5, &world, 60);
        let mut simulation = Simulation::builder()
            .threads(threads)
            .hash(true)
            .plugin(WorldsPlugin::new(world))
            .plugin(LightPlugin::new())
            .build()
            .expect("builds");
        edits
            .chunks(10)
            .map(|edits| {
                let mut world = simulation.world_mut().resource_mut::<World>();
                for edit in edits {
                    world.set_block(edit.at, edit.state).expect("loaded");
                }
                simulation.tick().expect("ticks").hash.expect("hashing is on")
            })
            .collect()
    };
    let one = hashes(1, 1);
    assert_eq!(one, hashes(2, 2));
    assert_eq!(one, hashes(3, 3));
    assert_eq!(one, hashes(8, 4));
}

#[test]
fn chunks_that_come_late_or_go_leave_no_seam_and_no_stale_light() {
    let full = random_world(3, 4, 4);
    let chunks: Vec<_> = full.chunks().cloned().collect();
    let mut world = World::new(full.dimension().clone(), full.states().clone());
    let mut lighting = Lighting::default();
    let random = &mut 99;
    for step in 0..60 {
        let chunk = &chunks[below(random, chunks.len())];
        if world.remove_chunk(chunk.position()).is_none() {
            world.insert_chunk(chunk.clone());
        }
        for edit in random_edits(step, &full, 3) {
            // Some of these lie in chunks that are not loaded now.
            world.set_blocks(&[(edit.at, edit.state)]);
        }
        lighting.update(&mut world);
        world.begin_tick(step + 1);
        assert_lit_as_from_nothing(&world, &format!("after step {step}"));
    }
}

#[test]
fn a_reader_that_missed_changes_relights_everything() {
    let mut world = random_world(21, 2, 2);
    let mut lighting = Lighting::default();
    lighting.update(&mut world);
    for tick in 0..4 {
        for edit in random_edits(tick, &world, 20) {
            world.set_block(edit.at, edit.state).expect("loaded");
        }
        world.begin_tick(tick + 1);
    }
    lighting.update(&mut world);
    assert_lit_as_from_nothing(&world, "after ticks that nobody watched");
}

#[test]
fn a_tick_without_changes_touches_nothing() {
    let mut world = random_world(8, 2, 2);
    let mut lighting = Lighting::default();
    assert!(lighting.update(&mut world).sections_touched > 0);
    assert_eq!(lighting.update(&mut world), voxtick_light::LightOutcome::default());
}

#[test]
fn chunks_are_taken_in_when_told_and_nothing_half_done_is_seen() {
    let full = random_world(17, 4, 4);
    let mut world = World::new(full.dimension().clone(), full.states().clone());
    for chunk in full.chunks() {
        world.insert_chunk(chunk.clone());
    }
    let mut lighting = Lighting::new();
    let mut waiting: Vec<ChunkPos> = full.chunk_positions().collect();
    let random = &mut 4;
    for update in 0.. {
        for edit in random_edits(update, &world, 2) {
            world.set_block(edit.at, edit.state).expect("loaded");
        }
        lighting.notice(&world);
        if update == 2 {
            // It took the place of one that has been taken in, perhaps, and has to wait.
            let again = full.chunks().nth(5).expect("one of sixteen").clone();
            waiting.retain(|&at| at != again.position());
            waiting.push(again.position());
            world.insert_chunk(again);
            lighting.notice(&world);
        }
        let mut now = Vec::new();
        for _ in 0..3.min(waiting.len()) {
            now.push(waiting.swap_remove(below(random, waiting.len())));
        }
        lighting.take_in(&mut world, &now);
        world.begin_tick(update + 1);
        // What has been taken in has the light of a world of these chunks alone.
        let mut seen = World::new(world.dimension().clone(), world.states().clone());
        for chunk in world.chunks().filter(|chunk| !waiting.contains(&chunk.position())) {
            seen.insert_chunk(chunk.clone());
        }
        assert_lit_as_from_nothing(&seen, &format!("after update {update}"));
        if waiting.is_empty() {
            break;
        }
    }
}

/// Far areas wait in the engine's queue: nearest first around a centre that moves, the same in every run.
#[test]
fn a_budget_in_units_takes_chunks_in_from_the_centre_outwards() {
    let run = |threads: usize| {
        let full = random_world(29, 8, 8);
        let positions: Vec<ChunkPos> = full.chunk_positions().collect();
        let mut simulation = Simulation::builder()
            .threads(threads)
            .hash(true)
            .plugin(WorldsPlugin::new(full))
            .plugin(LightPlugin::new().budget(Allowance::Units(1)))
            .build()
            .expect("builds");
        let distance = |at: ChunkPos, centre: ChunkPos| (at.x - centre.x).pow(2) + (at.z - centre.z).pow(2);
        let mut hashes = Vec::new();
        for (tick, centre) in
            [(0, 0), (0, 0), (6, 6), (6, 6)].map(|(x, z)| ChunkPos::new(x, z)).iter().enumerate()
        {
            simulation.world_mut().resource_mut::<LightCentre>().0 = *centre;
            let is_lit = |world: &World, at| world.chunk(at).is_some_and(|chunk| chunk.light.is_some());
            let world = simulation.world().resource::<World>();
            let waiting: Vec<ChunkPos> = positions.iter().copied().filter(|&at| !is_lit(world, at)).collect();
            assert_eq!(waiting.len(), 64 - 16 * tick);
            let report = simulation.tick().expect("ticks");
            hashes.push(report.hash.expect("hashing is on"));
            let light = report.stages.iter().find(|stage| stage.name == "light").expect("a stage");
            let counts = ["chunks taken in", "chunks waiting", "oldest wait", "busiest tick"];
            let left = 48 - 16 * tick as u64;
            let oldest = if left > 0 { tick as u64 } else { 0 };
            assert_eq!(counts.map(|count| light.count(count)), [16, left, oldest, 16]);
            let world = simulation.world().resource::<World>();
            let (taken, late): (Vec<ChunkPos>, Vec<ChunkPos>) =
                waiting.into_iter().partition(|&at| is_lit(world, at));
            let furthest = taken.iter().map(|&at| distance(at, *centre)).max();
            let nearest_late = late.iter().map(|&at| distance(at, *centre)).min();
            assert!(furthest <= nearest_late.or(furthest), "tick {tick}: {furthest:?}, {nearest_late:?}");
        }
        assert_lit_as_from_nothing(simulation.world().resource::<World>(), "after all have been taken in");
        hashes
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn a_chunk_that_went_while_it_waited_waits_no_more() {
    let mut simulation = Simulation::builder()
        .plugin(WorldsPlugin::new(random_world(5, 6, 6)))
        .plugin(LightPlugin::new().budget(Allowance::Units(1)))
        .build()
        .expect("builds");
    simulation.tick().expect("ticks");
    let gone: Vec<ChunkPos> = simulation
        .world()
        .resource::<World>()
        .chunks()
        .filter(|chunk| chunk.light.is_none())
        .map(Chunk::position)
        .collect();
    assert_eq!(gone.len(), 20);
    for &at in &gone {
        simulation.world_mut().resource_mut::<World>().remove_chunk(at);
    }
    let report = simulation.tick().expect("ticks");
    let light = report.stages.iter().find(|stage| stage.name == "light").expect("a stage");
    assert_eq!((light.count("chunks waiting"), light.count("chunks taken in")), (0, 0));
    assert_lit_as_from_nothing(simulation.world().resource::<World>(), "without those that went");
}

/// How far an allowance of time gets is the machine's affair; that all chunks get their turn is not.
#[test]
fn a_budget_in_time_gets_there_in_the_end() {
    let mut simulation = Simulation::builder()
        .plugin(WorldsPlugin::new(random_world(31, 6, 6)))
        .plugin(LightPlugin::new().budget(Allowance::Time(Duration::from_nanos(1))))
        .build()
        .expect("builds");
    for left in [20, 4, 0] {
        let report = simulation.tick().expect("ticks");
        let light = report.stages.iter().find(|stage| stage.name == "light").expect("a stage");
        assert_eq!(light.count("chunks waiting"), left, "one unit a tick, since each takes longer");
    }
    assert_lit_as_from_nothing(simulation.world().resource::<World>(), "after three ticks");
}
