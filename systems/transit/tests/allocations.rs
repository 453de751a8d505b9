//! A steady tick does not allocate: counted by the global allocator of this test's own process.

#![expect(unsafe_code, reason = "a counting global allocator forwards to the system's")]

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::sync::atomic::{AtomicU64, Ordering};

use voxtick_transit::{LaneSettings, Layout, Lines, TransitSolver, UNIT};
use voxtick_worlds::Inventories;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is forwarded unchanged to the system allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(memory) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, memory: Memory) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, memory) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, memory: Memory, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, memory, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_steady_tick_does_not_allocate() {
    let settings = LaneSettings::new(UNIT / 10, UNIT / 5).expect("sound");
    let mut inventories = Inventories::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    for (name, lines) in [
        ("flowing", Lines::flowing(40, 30_000, settings, 3)),
        ("with junctions", Lines { junction_every: Some(5), ..Lines::flowing(40, 30_000, settings, 3) }),
        ("backed up", Lines::backed_up(40, 30_000, settings)),
    ] {
        let mut layout = Layout::default();
        layout.lines(&lines);
        let mut transit = TransitSolver::from_layout(&layout, settings).expect("sound");
        let mut shared = transit.clone().with_least_shared(1);
        for _ in 0..1500 {
            transit.step(&mut inventories);
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..300 {
            transit.step(&mut inventories);
        }
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "{name}");
        // Calling into the pool from outside may allocate; what runs inside may not.
        let allocated = pool.install(|| {
            for _ in 0..1500 {
                shared.step_parallel(&mut inventories);
            }
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            for _ in 0..300 {
                shared.step_parallel(&mut inventories);
            }
            ALLOCATIONS.load(Ordering::Relaxed) - before
        });
        assert_eq!(allocated, 0, "{name}, shared by two threads");
    }
}
