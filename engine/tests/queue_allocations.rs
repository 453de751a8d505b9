//! The queues do not allocate once they have had their largest size, on any thread.
//!
//! A counting allocator serves this file; it counts all threads, so that there is one test only.

#![expect(unsafe_code, reason = "an allocator can be replaced only by unsafe code")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use voxtick_engine::{
    Allowance, DirtySet, HandOff, HandOffSettings, Progress, SharedBudget, Update, UpdateQueue,
    UpdateQueueSettings, UpdateWorker, UpdateWorkerSettings,
};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of the second run of `work`: the first one may grow what it needs.
fn allocations(mut work: impl FnMut()) -> u64 {
    work();
    let before = ALLOCATIONS.load(Relaxed);
    work();
    ALLOCATIONS.load(Relaxed) - before
}

#[test]
fn steady_queues_do_not_allocate() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);

    let mut hand_off = HandOff::new(HandOffSettings { producers: 1, batches: 4, batch_values: 8 });
    let mut producer = hand_off.producer().unwrap();
    let handed_over = allocations(|| {
        for value in 0..1_000 {
            while producer.try_push(value).is_err() {
                hand_off.drain(|_, values| values.for_each(drop));
            }
        }
    });
    assert_eq!(handed_over, 0);

    let dirty = DirtySet::with_limit(100_000);
    let marked = allocations(|| {
        (0..100_000).step_by(7).for_each(|index| assert!(dirty.mark(index).is_ok()));
        assert_eq!(dirty.drain().count(), 14_286);
    });
    assert_eq!(marked, 0);

    let mut budget = SharedBudget::new(Allowance::Units(10), 100);
    let spent = allocations(|| {
        (0..100).for_each(|request| assert!(budget.submit(request).is_ok()));
        (0..10).for_each(|_| assert_eq!(budget.spend(|_| Progress::Finished, |_| {}).units, 10));
    });
    assert_eq!(spent, 0);

    let mut queue = UpdateQueue::new(UpdateQueueSettings { capacity: 100, delay: 5, ..Default::default() });
    let mut now = 0;
    let flooded = allocations(|| {
        for number in 0..10_000 {
            now += 1;
            let _ = queue.mark([number * 7_919 % 1_000, 0, 0], (), now);
            if number % 3 == 0 {
                queue.take_ready(now);
            }
        }
    });
    assert_eq!(flooded, 0);

    let settings = UpdateWorkerSettings { delay: Duration::from_millis(30), ..Default::default() };
    let worker = UpdateWorker::start(settings, |_: Update<()>| Ok(())).unwrap();
    let mut rounds = 0;
    let debounced = allocations(|| {
        rounds += 1;
        (0..64).for_each(|number| assert!(worker.mark([number, 0, 0], ()).is_ok()));
        while worker.report().executed < rounds * 64 {
            thread::sleep(Duration::from_millis(1));
        }
    });
    assert_eq!(debounced, 0);
}
