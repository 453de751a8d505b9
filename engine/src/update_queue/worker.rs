//! An update queue with a thread of its own that sleeps until there is something to do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use super::{MarkAgain, Marked, Update, UpdateExecutor, UpdateQueue, UpdateQueueSettings};
use crate::clock::{Clock, nanoseconds};
use crate::error::panic_message;

/// How an [`UpdateWorker`] behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateWorkerSettings {
    /// The most entries; one more evicts the furthest. Defaults to 1,000.
    pub capacity: usize,
    /// How long an entry waits from its first mark on. Defaults to 250 ms.
    pub delay: Duration,
    /// What marking a waiting position again does. Defaults to [`MarkAgain::TakeNewest`].
    pub mark_again: MarkAgain,
    /// The least time between two calls of [`UpdateExecutor::maintain`]. Defaults to `None`: it is
    /// never called, and an idle worker does not wake at all.
    pub maintenance: Option<Duration>,
    /// The pause after the executor's first refusal; it doubles with every further one in a row.
    /// Defaults to 1 ms.
    pub first_pause: Duration,
    /// The longest pause. Defaults to 50 ms.
    pub longest_pause: Duration,
}

impl Default for UpdateWorkerSettings {
    fn default() -> UpdateWorkerSettings {
        UpdateWorkerSettings {
            capacity: 1000,
            delay: Duration::from_millis(250),
            mark_again: MarkAgain::TakeNewest,
            maintenance: None,
            first_pause: Duration::from_millis(1),
            longest_pause: Duration::from_millis(50),
        }
    }
}

/// An [`UpdateQueue`] that any thread may mark, and a thread that hands its updates to an
/// [`UpdateExecutor`] when they are ready.
///
/// - **Order.** As in the queue: of what is ready at a time, the nearest first; never an update
///   before its deadline. Times are of a clock, so that a run is not repeatable; use the queue with
///   ticks where that matters.
/// - **Sleep.** The thread sleeps until the next deadline, the end of a pause, or maintenance,
///   whichever comes first, and for ever if there is none of these. It wakes early only for a mark
///   that is ready sooner than what it waits for, and for the end.
/// - **Bounds and full.** As in the queue: the furthest is evicted and given to whoever marked.
///   Marking never waits for the executor; it takes a lock that is held for some hundred
///   nanoseconds, or for `O(n)` while the centre moves.
/// - **Dying threads.** A thread that dies while it marks leaves the queue whole. If the executor
///   panics, the worker ends and the update in hand is lost; further marks get an error, and
///   [`stop`](UpdateWorker::stop) gives the panic's message and what was left. Dropping the worker
///   ends it after the update in hand.
///
/// ```
/// use std::sync::mpsc;
/// use std::time::Duration;
/// use voxtick_engine::{Update, UpdateWorker, UpdateWorkerSettings};
///
/// let (done, dones) = mpsc::channel();
/// let settings = UpdateWorkerSettings { delay: Duration::from_millis(5), ..Default::default() };
/// let worker = UpdateWorker::start(settings, move |update: Update<&'static str>| {
///     done.send(update.update).map_err(|_| update)
/// })?;
/// worker.mark([3, 0, 4], "first")?;
/// worker.mark([3, 0, 4], "second")?;
/// assert_eq!(dones.recv()?, "second");
/// assert!(worker.stop().left.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UpdateWorker<T> {
    shared: Arc<Shared<T>>,
    thread: Option<JoinHandle<()>>,
}

/// The worker has ended, since its executor panicked. Carries the update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the update cannot be marked, since the worker has ended: stop it to learn why")]
pub struct WorkerGone<T>(pub T);

/// What a worker did so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkerReport {
    /// Updates that the executor took.
    pub executed: u64,
    /// Times that the executor refused one.
    pub refused: u64,
    /// Updates that were evicted since the queue was full.
    pub evicted: u64,
    /// Calls of [`UpdateExecutor::maintain`].
    pub maintained: u64,
    /// Times that the thread went to sleep.
    pub sleeps: u64,
}

/// A worker that has ended.
#[derive(Debug)]
pub struct StoppedWorker<T> {
    /// Updates that were not handed over, nearest first.
    pub left: Vec<Update<T>>,
    /// What it did.
    pub report: WorkerReport,
    /// The message of the executor's panic, if that was the end.
    pub panic: Option<String>,
}

struct Shared<T> {
    clock: Clock,
    state: Mutex<State<T>>,
    wake: Condvar,
}

struct State<T> {
    queue: UpdateQueue<T>,
    report: WorkerReport,
    /// Until when the thread sleeps; 0 while it is awake.
    sleeps_until: u64,
    /// Until when nothing is handed to the executor.
    pauses_until: u64,
    is_stopping: bool,
    /// The thread has ended.
    has_gone: bool,
    panic: Option<String>,
}

impl<T: Send + 'static> UpdateWorker<T> {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        settings: UpdateWorkerSettings,
        executor: impl UpdateExecutor<T> + 'static,
    ) -> io::Result<UpdateWorker<T>> {
        let UpdateWorkerSettings { capacity, delay, mark_again, .. } = settings;
        let shared = Arc::new(Shared {
            clock: Clock::start(),
            state: Mutex::new(State {
                queue: UpdateQueue::new(UpdateQueueSettings {
                    capacity,
                    delay: nanoseconds(delay),
                    mark_again,
                    ..UpdateQueueSettings::default()
                }),
                report: WorkerReport::default(),
                sleeps_until: 0,
                pauses_until: 0,
                is_stopping: false,
                has_gone: false,
                panic: None,
            }),
            wake: Condvar::new(),
        });
        let mut service = Service { shared: shared.clone(), settings, executor, pause: settings.first_pause };
        let thread = std::thread::Builder::new().name("voxtick-updates".to_owned()).spawn(move || {
            let end = catch_unwind(AssertUnwindSafe(|| service.serve()));
            let mut state = service.shared.lock();
            state.has_gone = true;
            state.panic = end.err().map(|payload| panic_message(&*payload));
        })?;
        Ok(UpdateWorker { shared, thread: Some(thread) })
    }

    /// Ends the thread after the update in hand, and gives what was left.
    pub fn stop(mut self) -> StoppedWorker<T> {
        self.join();
        let mut state = self.shared.lock();
        StoppedWorker { left: state.queue.take_all(), report: state.report(), panic: state.panic.take() }
    }
}

impl<T> UpdateWorker<T> {
    /// Marks a position, as [`UpdateQueue::mark`] does.
    ///
    /// # Errors
    /// The executor has panicked.
    pub fn mark(&self, position: [i32; 3], update: T) -> Result<Marked<T>, WorkerGone<T>> {
        let mut state = self.shared.lock();
        if state.has_gone {
            return Err(WorkerGone(update));
        }
        let marked = state.queue.mark(position, update, self.shared.clock.now());
        let is_sooner = state.next_hand_over().is_some_and(|time| time < state.sleeps_until);
        if is_sooner {
            // Once is enough: what comes next need not wake it again.
            state.sleeps_until = 0;
        }
        drop(state);
        if is_sooner {
            self.shared.wake.notify_one();
        }
        Ok(marked)
    }

    /// Moves the centre, as [`UpdateQueue::set_centre`] does.
    pub fn set_centre(&self, centre: [i32; 3]) {
        self.shared.lock().queue.set_centre(centre);
    }

    /// How many entries wait, ready or not.
    pub fn len(&self) -> usize {
        self.shared.lock().queue.len()
    }

    /// Whether no entry waits. One may be in the executor's hands.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the worker did so far.
    pub fn report(&self) -> WorkerReport {
        self.shared.lock().report()
    }

    fn join(&mut self) {
        self.shared.lock().is_stopping = true;
        self.shared.wake.notify_one();
        // An executor may hold the last handle of its own worker: it cannot wait for itself.
        let is_other = |thread: &JoinHandle<()>| thread.thread().id() != std::thread::current().id();
        if let Some(thread) = self.thread.take().filter(is_other) {
            // Its panics have been caught.
            let _ = thread.join();
        }
    }
}

impl<T> Drop for UpdateWorker<T> {
    fn drop(&mut self) {
        self.join();
    }
}

impl<T> fmt::Debug for UpdateWorker<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("UpdateWorker").field("report", &self.report()).finish_non_exhaustive()
    }
}

impl<T> Shared<T> {
    /// The state. Nothing of the user's runs under the lock but the drop of an update, so that a
    /// poisoned one is whole nevertheless.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    /// When the next update may be handed over.
    fn next_hand_over(&self) -> Option<u64> {
        self.queue.next_deadline().map(|deadline| deadline.max(self.pauses_until))
    }

    fn report(&self) -> WorkerReport {
        WorkerReport { evicted: self.queue.evicted(), ..self.report }
    }
}

/// The thread's side.
struct Service<T, E> {
    shared: Arc<Shared<T>>,
    settings: UpdateWorkerSettings,
    executor: E,
    /// How long the pause after the next refusal is.
    pause: Duration,
}

impl<T, E: UpdateExecutor<T>> Service<T, E> {
    fn serve(&mut self) {
        let shared = self.shared.clone();
        let cadence = self.settings.maintenance.map(nanoseconds);
        let mut maintenance = cadence.map(|cadence| shared.clock.now().saturating_add(cadence));
        let mut state = shared.lock();
        while !state.is_stopping {
            let now = shared.clock.now();
            if maintenance.is_some_and(|due| due <= now) {
                state.report.maintained += 1;
                drop(state);
                self.executor.maintain();
                maintenance = cadence.map(|cadence| shared.clock.now().saturating_add(cadence));
                state = shared.lock();
            } else if state.pauses_until <= now
                && let Some(update) = state.queue.take_ready(now)
            {
                drop(state);
                let outcome = self.executor.execute(update);
                state = shared.lock();
                match outcome {
                    Ok(()) => {
                        state.report.executed += 1;
                        self.pause = self.settings.first_pause;
                    }
                    Err(update) => self.back_off(&mut state, update),
                }
            } else {
                let until = [state.next_hand_over(), maintenance].into_iter().flatten().min();
                state.sleeps_until = until.unwrap_or(u64::MAX);
                state.report.sleeps += 1;
                state = match until {
                    None => shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
                    Some(until) => {
                        let time = Duration::from_nanos(until.saturating_sub(now));
                        shared.wake.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
                    }
                };
                state.sleeps_until = 0;
            }
        }
    }

    fn back_off(&mut self, state: &mut State<T>, update: Update<T>) {
        state.report.refused += 1;
        state.pauses_until = self.shared.clock.now().saturating_add(nanoseconds(self.pause));
        self.pause = self.pause.saturating_mul(2).min(self.settings.longest_pause);
        // What does not find room any more is counted as evicted.
        let _ = state.queue.put_back(update);
    }
}
