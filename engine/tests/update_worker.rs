//! The update worker: never early, asleep in between, awake when it must be, whole after failures.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use voxtick_engine::{Marked, Update, UpdateExecutor, UpdateWorker, UpdateWorkerSettings, WorkerGone};

/// A worker that sends on what it is given, and when.
fn sending(settings: UpdateWorkerSettings) -> (UpdateWorker<u64>, mpsc::Receiver<(Update<u64>, Instant)>) {
    let (sender, receiver) = mpsc::channel();
    let worker = UpdateWorker::start(settings, move |update: Update<u64>| {
        sender.send((update, Instant::now())).map_err(|_| update)
    });
    (worker.unwrap(), receiver)
}

fn delayed(milliseconds: u64) -> UpdateWorkerSettings {
    UpdateWorkerSettings { delay: Duration::from_millis(milliseconds), ..Default::default() }
}

#[test]
fn no_update_is_early_and_the_thread_sleeps_in_between() {
    let (worker, done) = sending(delayed(60));
    let start = Instant::now();
    let marked: Vec<Instant> = (0..64)
        .map(|number| {
            let before = Instant::now();
            assert_eq!(worker.mark([number, 0, 0], 0), Ok(Marked::New));
            before
        })
        .collect();
    for _ in 0..64 {
        let (update, at) = done.recv().unwrap();
        let waited = at - marked[update.position[0] as usize];
        assert!(waited >= Duration::from_millis(60), "{update:?} after {waited:?}");
    }
    // The last one is counted when its executor has returned, a moment after it has sent.
    while worker.report().executed < 64 {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", worker.report());
        thread::yield_now();
    }
    let report = worker.report();
    assert_eq!(report.executed, 64);
    // It wakes when the first mark comes and then once for each deadline at most, however long that
    // takes. (A system may wake a sleeper without reason, but not often.)
    assert!(report.sleeps <= 2 * 64 + 8, "{report:?} in {:?}", start.elapsed());
}

#[test]
fn an_idle_worker_does_not_wake() {
    let (worker, _done) = sending(delayed(1));
    thread::sleep(Duration::from_millis(80));
    assert!(worker.report().sleeps <= 3, "{:?}", worker.report());
}

#[test]
fn what_is_ready_is_taken_nearest_first_and_a_young_one_hides_nothing() {
    let (started, gate) = (mpsc::channel(), mpsc::channel());
    let (sender, receiver) = mpsc::channel();
    let (start, open) = (started.0, gate.1);
    let worker = UpdateWorker::start(delayed(30), move |update: Update<&'static str>| {
        let _ = start.send(());
        open.recv().map_err(|_| update)?;
        sender.send(update.update).map_err(|_| update)
    })
    .unwrap();
    worker.set_centre([100, 0, 0]);
    let mark = |x, name| assert_eq!(worker.mark([x, 0, 0], name), Ok(Marked::New));
    mark(0, "held");
    started.1.recv().unwrap();
    // The executor holds the first; these become ready meanwhile.
    mark(10, "far");
    mark(101, "near");
    thread::sleep(Duration::from_millis(31));
    mark(100, "nearest, but young");
    (0..4).for_each(|_| gate.0.send(()).unwrap());
    let order: Vec<&str> = (0..4).map(|_| receiver.recv().unwrap()).collect();
    assert_eq!(order[..3], ["held", "near", "far"]);
}

#[test]
fn marks_between_its_look_and_its_sleep_are_not_missed() {
    // Each mark is made right when the worker is about to sleep after the last one. A lost wake-up
    // would leave the test waiting.
    let (worker, done) = sending(delayed(0));
    for number in 0..3_000 {
        assert_eq!(worker.mark([0; 3], number), Ok(Marked::New));
        let (update, _) = done.recv_timeout(Duration::from_secs(60)).expect("a wake-up was lost");
        assert_eq!(update.update, number);
        (0..number % 50).for_each(|_| std::hint::spin_loop());
    }
}

#[test]
fn many_threads_mark_and_the_last_update_of_each_position_arrives() {
    let (worker, done) = sending(UpdateWorkerSettings { capacity: 10_000, ..delayed(1) });
    thread::scope(|scope| {
        for producer in 0..4 {
            let worker = &worker;
            scope.spawn(move || {
                for round in 0..2_000_u64 {
                    let position = [producer, (round % 100) as i32, 0];
                    assert!(matches!(worker.mark(position, round), Ok(Marked::New | Marked::Again(_))));
                }
            });
        }
    });
    let mut last = std::collections::BTreeMap::new();
    while last.len() < 400 || last.values().any(|&round| round < 1_900) {
        let (update, _) = done.recv_timeout(Duration::from_secs(60)).expect("an update was lost");
        last.insert(update.position, update.update);
    }
}

#[test]
fn an_executor_that_refuses_is_left_alone_for_longer_and_longer() {
    let calls = Arc::new(AtomicU64::new(0));
    let (sender, receiver) = mpsc::channel();
    let counted = calls.clone();
    let settings = UpdateWorkerSettings {
        first_pause: Duration::from_millis(2),
        longest_pause: Duration::from_millis(16),
        ..delayed(0)
    };
    let start = Instant::now();
    let worker = UpdateWorker::start(settings, move |update: Update<u64>| {
        if counted.fetch_add(1, Ordering::Relaxed) < 6 {
            return Err(update);
        }
        sender.send(update.update).map_err(|_| update)
    })
    .unwrap();
    assert_eq!(worker.mark([0; 3], 7), Ok(Marked::New));
    // Marks that come during a pause do not cut it short.
    while receiver.try_recv().is_err() {
        assert!(worker.mark([1; 3], 8).is_ok());
        thread::sleep(Duration::from_micros(200));
    }
    // 2 + 4 + 8 + 16 + 16 + 16 ms.
    assert!(start.elapsed() >= Duration::from_millis(62), "{:?}", start.elapsed());
    assert_eq!(worker.report().refused, 6);
}

/// Notes when it is looked after.
struct Maintained(mpsc::Sender<Instant>);

impl UpdateExecutor<u64> for Maintained {
    fn execute(&mut self, _: Update<u64>) -> Result<(), Update<u64>> {
        Ok(())
    }

    fn maintain(&mut self) {
        let _ = self.0.send(Instant::now());
    }
}

#[test]
fn maintenance_keeps_its_cadence_however_often_the_worker_wakes() {
    let (sender, receiver) = mpsc::channel();
    let cadence = Duration::from_millis(10);
    let settings = UpdateWorkerSettings { maintenance: Some(cadence), ..delayed(0) };
    let mut last = Instant::now();
    let worker = UpdateWorker::start(settings, Maintained(sender)).unwrap();
    let mut seen = 0;
    while seen < 5 {
        assert!(worker.mark([0; 3], 0).is_ok());
        for at in receiver.try_iter() {
            assert!(at - last >= cadence, "after {:?}", at - last);
            last = at;
            seen += 1;
        }
    }
}

#[test]
fn a_full_queue_gives_the_furthest_back() {
    let (worker, _done) = sending(UpdateWorkerSettings { capacity: 2, ..delayed(60_000) });
    assert_eq!(worker.mark([5, 0, 0], 5), Ok(Marked::New));
    assert_eq!(worker.mark([3, 0, 0], 3), Ok(Marked::New));
    let evicted = |marked: Result<Marked<u64>, WorkerGone<u64>>| match marked {
        Ok(Marked::Evicted(update)) => update.update,
        other => panic!("{other:?}"),
    };
    assert_eq!(evicted(worker.mark([4, 0, 0], 4)), 5);
    assert_eq!(evicted(worker.mark([9, 0, 0], 9)), 9);
    assert_eq!((worker.len(), worker.report().evicted), (2, 2));
}

#[test]
fn stopping_wakes_it_and_gives_what_was_left() {
    let (worker, _done) = sending(delayed(3_600_000));
    assert_eq!(worker.mark([2, 0, 0], 2), Ok(Marked::New));
    assert_eq!(worker.mark([1, 0, 0], 1), Ok(Marked::New));
    let stopped = worker.stop();
    let left: Vec<u64> = stopped.left.iter().map(|update| update.update).collect();
    assert_eq!((left, stopped.panic), (vec![1, 2], None));
}

#[test]
fn an_executor_that_panics_ends_the_worker_and_leaves_the_rest() {
    let worker = UpdateWorker::start(delayed(0), |update: Update<u64>| -> Result<(), Update<u64>> {
        panic!("cannot redo {}", update.update)
    })
    .unwrap();
    let mut number = 0;
    while worker.mark([number, 0, 0], number as u64).is_ok() {
        number += 1;
    }
    let marked = number as usize;
    let stopped = worker.stop();
    assert_eq!(stopped.panic.as_deref(), Some("cannot redo 0"));
    assert!(stopped.left.len() + 1 == marked.min(1_001), "{} left of {marked}", stopped.left.len());
}

#[test]
fn an_executor_may_hold_the_last_handle_of_its_worker() {
    let (hand_over, handle) = mpsc::channel::<Arc<UpdateWorker<u64>>>();
    let (sender, receiver) = mpsc::channel();
    let worker = UpdateWorker::start(delayed(0), move |update: Update<u64>| {
        drop(handle.recv());
        sender.send(()).map_err(|_| update)
    });
    let worker = Arc::new(worker.unwrap());
    assert!(worker.mark([0; 3], 0).is_ok());
    hand_over.send(worker).unwrap();
    receiver.recv_timeout(Duration::from_secs(60)).expect("the worker waits for itself");
}
