//! What a loaded region takes, counted by the allocator that serves this whole file.

#![expect(unsafe_code, reason = "an allocator can be replaced only by unsafe code")]
#![expect(clippy::print_stderr, reason = "says which files were used and what was counted")]

#[path = "support/real.rs"]
mod real;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use voxtick_anvil::compression::Inflater;
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_anvil::{Limits, load_region};
use voxtick_worlds::{BlockStates, Chunk, Dimension, RegionPos};

/// Bytes that are allocated now, and the most that were since the counter was set back.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn grown(by: usize) {
    let now = NOW.fetch_add(by, Ordering::Relaxed) + by;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grown(size);
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A region takes at most 1.2 times the bytes of its inflated NBT, everything that is kept beside the columns
/// included; while it is loaded, each thread needs the memory of one inflated chunk beside.
#[test]
fn a_loaded_region_takes_little_more_than_its_nbt() {
    let states = BlockStates::load();
    let mut files = vec![real::region_1_19_4()];
    if let Some(data) = std::env::var_os("VOXTICK_DATA") {
        files.push(Path::new(&data).join("worlds/java-1.21/r.0.0.mca"));
    }
    for file in files {
        check(&file, &states);
    }
}

fn check(file: &PathBuf, states: &std::sync::Arc<BlockStates>) {
    const THREADS: usize = 2;
    let region = Region::open_as(file, RegionPos::new(0, 0)).expect("the region opens");
    let (inflated, largest) = inflated_bytes(&region);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().expect("threads");

    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let load = pool.install(|| load_region(&region, &Dimension::overworld(), states, &Limits::default()));
    let (taken, most) = (NOW.load(Ordering::Relaxed) - before, MOST.load(Ordering::Relaxed) - before);
    let told: usize = load.chunks.iter().map(Chunk::memory_bytes).sum();
    eprintln!(
        "{}: {} chunks, {inflated} bytes of NBT, {taken} taken ({:.2}), {told} by their own account, {most} at most while loading",
        file.display(),
        load.chunks.len(),
        taken as f64 / inflated as f64
    );
    assert!(load.failures.is_empty());
    assert!(taken * 5 <= inflated * 6, "{taken} bytes for {inflated} of NBT");
    // Tables that decoders keep, twice the largest chunk's NBT for its buffer, its tape and its columns.
    let beside = THREADS * (4 * largest + (1 << 20));
    assert!(most <= taken + beside, "{most} bytes at most, {taken} in the end");
    // What chunks say of themselves is what they take, but for the allocations that share names.
    assert!(told <= taken + taken / 20 && taken <= told + told / 5, "{told} told, {taken} taken");
}

/// Bytes of NBT of all chunks, and of the largest.
fn inflated_bytes(region: &Region) -> (usize, usize) {
    let (mut stored, mut nbt, mut inflater) = (StoredChunk::default(), Vec::new(), Inflater::new());
    let (mut sum, mut largest) = (0, 0);
    for chunk in region.chunks() {
        region.read(chunk, &mut stored, &Limits::default()).expect("it is whole");
        inflater.inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt).expect("it inflates");
        sum += nbt.len();
        largest = largest.max(nbt.len());
    }
    (sum, largest)
}
