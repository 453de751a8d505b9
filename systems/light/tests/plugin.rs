//! The light stage in a simulation: the same light whatever the threads, the load order and the path of changes.

mod edits;
mod lit;
mod worlds;

use edits::random_edits;
use lit::assert_lit_as_from_nothing;
use voxtick_engine::Simulation;
use voxtick_light::{LightBudget, LightPlugin, Lighting};
use voxtick_worlds::{ChunkPos, World, WorldsPlugin};
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
fn a_budget_takes_chunks_in_from_the_focus_outwards_and_shows_nothing_half_done() {
    let full = random_world(17, 4, 4);
    let mut world = World::new(full.dimension().clone(), full.states().clone());
    for chunk in full.chunks() {
        world.insert_chunk(chunk.clone());
    }
    let mut lighting = Lighting::new();
    lighting.set_budget(Some(LightBudget { chunks: 3, focus: ChunkPos::new(2, 2) }));
    let mut update = 0;
    loop {
        for edit in random_edits(update, &world, 2) {
            world.set_block(edit.at, edit.state).expect("loaded");
        }
        lighting.update(&mut world);
        update += 1;
        world.begin_tick(update);
        // What has been taken in has the light of a world of these chunks alone; what waits has none.
        let mut seen = World::new(world.dimension().clone(), world.states().clone());
        for chunk in world.chunks().filter(|chunk| chunk.light.is_some()) {
            seen.insert_chunk(chunk.clone());
        }
        assert_eq!(seen.chunk_count() + lighting.waiting_chunks(), 16);
        assert!(seen.chunk(ChunkPos::new(2, 2)).is_some(), "the focus comes first");
        assert_lit_as_from_nothing(&seen, &format!("after update {update}"));
        if lighting.waiting_chunks() == 0 {
            break;
        }
    }
    assert_eq!(update, 6, "16 chunks, three an update");
}
