//! The queues do not allocate once they have had their largest size, on any thread.
//!
//! The allocator counts the bytes of all threads, so that there is one test only.

use std::alloc::System;
use std::thread;
use std::time::Duration;

use cap::Cap;
use voxtick_engine::{
    Allowance, DirtySet, HandOff, HandOffSettings, Progress, SharedBudget, Update, UpdateQueue,
    UpdateQueueSettings, UpdateWorker, UpdateWorkerSettings,
};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes that a run of `work` allocates after a first one, which may grow what it needs: the least of three runs, since
/// the thread of the test harness allocates now and then beside it.
fn allocated(mut work: impl FnMut()) -> usize {
    work();
    let runs = [(); 3].map(|()| {
        let before = ALLOCATOR.total_allocated();
        work();
        ALLOCATOR.total_allocated() - before
    });
    runs.into_iter().min().expect("three runs")
}

#[test]
fn steady_queues_do_not_allocate() {
    assert_eq!(allocated(|| drop(std::hint::black_box(Box::new(1_u32)))), 4);

    let mut hand_off = HandOff::new(HandOffSettings { producers: 1, batches: 4, batch_values: 8 });
    let mut producer = hand_off.producer().unwrap();
    let handed_over = allocated(|| {
        for value in 0..1_000 {
            while producer.try_push(value).is_err() {
                hand_off.drain(|_, values| values.for_each(drop));
            }
        }
    });
    assert_eq!(handed_over, 0);

    let dirty = DirtySet::with_limit(100_000);
    let marked = allocated(|| {
        (0..100_000).step_by(7).for_each(|index| assert!(dirty.mark(index).is_ok()));
        assert_eq!(dirty.drain().count(), 14_286);
    });
    assert_eq!(marked, 0);

    let mut budget = SharedBudget::new(Allowance::Units(10), 100);
    let spent = allocated(|| {
        (0..100).for_each(|request| assert!(budget.submit(request).is_ok()));
        (0..10).for_each(|_| assert_eq!(budget.spend(|_| Progress::Finished, |_| {}).units, 10));
    });
    assert_eq!(spent, 0);

    let mut queue = UpdateQueue::new(UpdateQueueSettings { capacity: 100, delay: 5, ..Default::default() });
    let mut now = 0;
    let flooded = allocated(|| {
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
    let debounced = allocated(|| {
        rounds += 1;
        (0..64).for_each(|number| assert!(worker.mark([number, 0, 0], ()).is_ok()));
        while worker.report().executed < rounds * 64 {
            thread::sleep(Duration::from_millis(1));
        }
    });
    assert_eq!(debounced, 0);
}
