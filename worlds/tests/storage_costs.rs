//! What a chunk costs is counted, not estimated: bytes and allocations, by an allocator that counts.
#![expect(unsafe_code, reason = "a counting allocator implements the unsafe trait `GlobalAlloc`")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, StateId};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes on to the system's allocator unchanged; the counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        BYTES.with(|bytes| bytes.set(bytes.get() + layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` allocates on this thread, as (allocations, bytes).
fn counted<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    let (allocations, bytes) = (ALLOCATIONS.get(), BYTES.get());
    let result = work();
    (result, ALLOCATIONS.get() - allocations, BYTES.get() - bytes)
}

#[test]
fn a_fresh_chunk_of_24_sections_costs_at_most_840_bytes_and_25_allocations() {
    let overworld = Dimension::overworld();
    let (chunk, allocations, bytes) = counted(|| Box::new(Chunk::empty(ChunkPos::new(0, 0), &overworld)));
    assert!(bytes <= 840, "{bytes} bytes in {allocations} allocations");
    assert!(allocations <= 25, "{bytes} bytes in {allocations} allocations");
    assert_eq!(chunk.memory_bytes(), bytes, "the chunk knows what it costs");
}

#[test]
fn a_snapshot_of_a_full_chunk_allocates_its_list_of_sections_alone() {
    let states = BlockStates::load();
    let mut chunk = Chunk::empty(ChunkPos::new(0, 0), &Dimension::overworld());
    for y in (-64..320).step_by(3) {
        chunk.set_block(y, y, 5, StateId(1), &states);
    }
    let (snapshot, allocations, _) = counted(|| chunk.clone());
    assert_eq!(allocations, 1, "sections are shared, not copied");
    assert!(snapshot.sections().iter().zip(chunk.sections()).all(|(a, b)| a.same_storage(b)));
}

#[test]
fn writing_a_known_state_to_an_unshared_section_allocates_nothing() {
    let states = BlockStates::load();
    let mut chunk = Chunk::empty(ChunkPos::new(0, 0), &Dimension::overworld());
    chunk.set_block(0, 0, 0, StateId(1), &states);
    let ((), allocations, _) = counted(|| {
        for _ in 0..100 {
            chunk.set_block(0, 0, 0, StateId::AIR, &states);
            chunk.set_block(0, 0, 0, StateId(1), &states);
        }
    });
    assert_eq!(allocations, 0);
}
