//! The update worker: how fast it wakes, what it costs while it waits, and what a flood does to the tick.

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bevy_ecs::prelude::{Res, Resource};
use voxtick::engine::{Meter, Setup, Simulation, Stage, Update, UpdateWorker, UpdateWorkerSettings};

use crate::measure::{Case, CaseError, Pair};

/// Values published in one call of `queues/update/wake`.
const WAKES: u64 = if cfg!(test) { 1 } else { 4 };

/// Ticks of one call of `queues/update/flood`.
const TICKS: u64 = if cfg!(test) { 2 } else { 200 };

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![wake()];
    #[cfg(unix)]
    cases.extend([1, 64].map(debounce));
    cases.push(flood());
    cases
}

/// One value is published 5 ms into the worker's idle time: from there until the executor has it.
fn wake() -> Case {
    Case::new("queues/update/wake", ("sleeps until marked", "sleeps 50 ms"), WAKES, || {
        let (sender, arrivals) = mpsc::channel();
        let worker = start(Duration::ZERO, move |_| note_arrival(&sender))?;
        let ours = move || {
            wake_times(&arrivals, || {
                let published = Instant::now();
                assert!(worker.mark([0; 3], ()).is_ok());
                published
            })
        };
        let (sender, arrivals) = mpsc::channel();
        let polling = Polling::start(Duration::ZERO, move || note_arrival(&sender));
        let other = move || wake_times(&arrivals, || polling.mark(0));
        // Warm-up.
        ours();
        other();
        Ok(Pair::each(move |times| times.extend(ours()), move |times| times.extend(other())))
    })
}

fn note_arrival(arrivals: &mpsc::Sender<Instant>) {
    // It fails only at the end of the measurement.
    let _ = arrivals.send(Instant::now());
}

fn wake_times(
    arrivals: &mpsc::Receiver<Instant>,
    mut publish: impl FnMut() -> Instant,
) -> [Duration; WAKES as usize] {
    std::array::from_fn(|_| {
        thread::sleep(Duration::from_millis(5));
        let published = publish();
        arrivals.recv().map_or(Duration::MAX, |arrived| arrived - published)
    })
}

/// CPU time of the whole process while entries wait for 250 ms and are handed over.
#[cfg(unix)]
fn debounce(entries: i32) -> Case {
    let sides = ("sleeps until the deadline", "pops and puts back");
    Case::new(format!("queues/update/debounce/entries={entries}"), sides, 1, move || {
        let delay = Duration::from_millis(if cfg!(test) { 10 } else { 250 });
        let (sender, arrivals) = mpsc::channel();
        let worker = start(delay, move |_| note_arrival(&sender))?;
        let ours = move || {
            cpu_of_a_window(&arrivals, entries, delay, |number| {
                let marked = Instant::now();
                assert!(worker.mark([number, 0, 0], ()).is_ok());
                marked
            })
        };
        let (sender, arrivals) = mpsc::channel();
        let polling = Polling::start(delay, move || note_arrival(&sender));
        let other = move || cpu_of_a_window(&arrivals, entries, delay, |number| polling.mark(number));
        for (early, side) in [(ours().1, "ours"), (other().1, "the other")] {
            if early > 0 {
                return Err(CaseError::Unequal { count: early, first: format!("{side} is early") });
            }
        }
        Ok(Pair::sampled(move || ours().0, move || other().0))
    })
}

/// CPU time of a window, and how many of its entries were early.
#[cfg(unix)]
fn cpu_of_a_window(
    arrivals: &mpsc::Receiver<Instant>,
    entries: i32,
    delay: Duration,
    mut mark: impl FnMut(i32) -> Instant,
) -> (Duration, u64) {
    let before = process_cpu_time();
    let marked: Vec<Instant> = (0..entries).map(&mut mark).collect();
    // None can be due sooner than the one that was marked first.
    let early = (0..entries).filter(|_| {
        let arrived = arrivals.recv().ok();
        arrived.zip(marked.first()).is_none_or(|(arrived, &first)| arrived - first < delay)
    });
    let early = early.count() as u64;
    (process_cpu_time() - before, early)
}

#[cfg(unix)]
fn process_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Ticks that compute for a millisecond, with and without another thread that marks twice as many positions as a
/// worker's queue holds, again and again.
fn flood() -> Case {
    Case::new("queues/update/flood", ("ticks, flooded", "ticks, quiet"), TICKS, || {
        let worker = Arc::new(start(Duration::from_millis(250), |_| ())?);
        let (mut flooded, mut quiet) = (ticking()?, ticking()?);
        let is_on = Arc::new(AtomicBool::new(false));
        let flooding = Flooding::start(worker, is_on.clone());
        Ok(Pair::each(
            move |times| {
                flooding.set(true);
                times.extend(ticks(&mut flooded));
                flooding.set(false);
            },
            move |times| times.extend(ticks(&mut quiet)),
        ))
    })
}

#[derive(Resource)]
struct Numbers(Vec<u64>);

fn ticking() -> Result<Simulation, CaseError> {
    let compute = |numbers: Res<Numbers>, meter: Res<Meter>| {
        let sum = numbers.0.iter().fold(0_u64, |sum, number| sum.rotate_left(5) ^ number);
        meter.items(std::hint::black_box(sum) & 1);
    };
    let plugin = ("compute", move |setup: &mut Setup<'_>| {
        setup
            .resource(Numbers((0..1_000_000).collect()))
            .stage(Stage::new("compute"))
            .system("compute", compute);
        Ok(())
    });
    Simulation::builder()
        .threads(1)
        .plugin(plugin)
        .build()
        .map_err(|error| CaseError::Input(error.to_string()))
}

fn ticks(simulation: &mut Simulation) -> impl Iterator<Item = Duration> {
    (0..TICKS).map(|_| simulation.tick().map_or(Duration::MAX, |report| report.wall))
}

/// A thread that floods a worker while it is told to.
struct Flooding {
    is_on: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Flooding {
    fn start(worker: Arc<UpdateWorker<()>>, is_on: Arc<AtomicBool>) -> Flooding {
        let is_over = Arc::new(AtomicBool::new(false));
        let (on, over) = (is_on.clone(), is_over.clone());
        let flood = move || {
            while !over.load(Ordering::Relaxed) {
                if on.load(Ordering::Relaxed) {
                    for number in 0..2_000 {
                        assert!(worker.mark([number * 7_919 % 2_000, 0, 0], ()).is_ok());
                    }
                }
                thread::sleep(Duration::from_millis(1));
            }
        };
        Flooding { is_on, is_over, thread: Some(thread::spawn(flood)) }
    }

    fn set(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }
}

impl Drop for Flooding {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn start(delay: Duration, mut take: impl FnMut(i32) + Send + 'static) -> Result<UpdateWorker<()>, CaseError> {
    let settings = UpdateWorkerSettings { delay, ..Default::default() };
    let executor = move |update: Update<()>| {
        take(update.position[0]);
        Ok(())
    };
    UpdateWorker::start(settings, executor).map_err(|error| CaseError::Input(error.to_string()))
}

/// The usual way: a thread takes the nearest entry, puts it back if it is too young, goes round at once, and sleeps for
/// 50 ms only when there is none.
struct Polling {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    /// Distance, negated to have the nearest on top, and the time of the mark.
    entries: Mutex<BinaryHeap<(i32, Instant)>>,
    is_over: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, BinaryHeap<(i32, Instant)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Polling {
    fn start(delay: Duration, mut take: impl FnMut() + Send + 'static) -> Polling {
        let shared = Arc::<Shared>::default();
        let seen = shared.clone();
        let serve = move || {
            while !seen.is_over.load(Ordering::Relaxed) {
                let nearest = seen.lock().pop();
                match nearest {
                    None => thread::sleep(Duration::from_millis(50)),
                    Some((_, marked)) if marked.elapsed() >= delay => take(),
                    Some(young) => seen.lock().push(young),
                }
            }
        };
        Polling { shared, thread: Some(thread::spawn(serve)) }
    }

    fn mark(&self, distance: i32) -> Instant {
        let marked = Instant::now();
        self.shared.lock().push((-distance, marked));
        marked
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}
