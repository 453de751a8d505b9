//! A tick in which nothing is loaded or saved allocates nothing, however many chunks have their turn.
//!
//! A counting allocator serves this whole file; it counts for each thread alone.

#![expect(unsafe_code, reason = "an allocator can be replaced only by unsafe code")]

use bevy_ecs::prelude::Mut;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use voxtick_anvil::region::{RegionFolder, RegionOptions};
use voxtick_anvil::{ChunkStorage, StoragePlugin, files::Access};
use voxtick_engine::Simulation;
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, World, WorldsPlugin};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn count() {
    // A thread that is being torn down has no counter any more.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_tick_without_loads_and_saves_allocates_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
    let mut world = World::new(Dimension::overworld(), BlockStates::load());
    for n in 0..300 {
        world.insert_chunk(Chunk::empty(ChunkPos::new(n % 20, n / 20), world.dimension()));
    }
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(WorldsPlugin::new(world))
        .plugin(
            StoragePlugin::new(RegionFolder::new(folder.path(), options)).autosave(Some(1)).flush_after(1),
        )
        .build()
        .expect("the simulation builds");
    // New chunks are saved in the first ticks; all have their turn in every one.
    while simulation.world().resource::<ChunkStorage>().saved() < 300 {
        simulation.tick().expect("the tick runs");
    }
    // What the threads have still under way would arrive at any time.
    let ecs = simulation.world_mut();
    let failures = ecs.resource_scope(|ecs, mut storage: Mut<'_, ChunkStorage>| storage.save_all(ecs));
    assert!(failures.is_empty(), "{failures:?}");
    simulation.run(5).expect("the ticks run");
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        simulation.tick().expect("the tick runs");
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
