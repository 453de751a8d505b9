//! What a chunk costs is counted, not estimated: bytes and allocations, by an allocator that counts.

use allocation_counter::{AllocationInfo, measure};
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, StateId};

/// What `work` allocates on this thread, as (allocations, bytes).
fn counted<T>(work: impl FnOnce() -> T) -> (T, u64, u64) {
    let mut result = None;
    let AllocationInfo { count_total, bytes_total, .. } = measure(|| result = Some(work()));
    (result.expect("the work was done"), count_total, bytes_total)
}

#[test]
fn a_fresh_chunk_of_24_sections_costs_at_most_840_bytes_and_25_allocations() {
    let overworld = Dimension::overworld();
    let (chunk, allocations, bytes) = counted(|| Box::new(Chunk::empty(ChunkPos::new(0, 0), &overworld)));
    assert!(bytes <= 840, "{bytes} bytes in {allocations} allocations");
    assert!(allocations <= 25, "{bytes} bytes in {allocations} allocations");
    assert_eq!(chunk.memory_bytes() as u64, bytes, "the chunk knows what it costs");
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
