//! The hand-off from the tick to a sink's thread.
//!
//! A fixed number of report buffers goes round: the tick takes an empty one, copies its report into
//! it and sends it; the sink's thread sends it back when it is done. Without an empty buffer the
//! report is dropped and counted. So the tick neither waits nor allocates, whatever the sink does.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};

use super::{Sink, SinkError, SinkOutcome, SinkState};
use crate::error::panic_message;
use crate::report::TickReport;
use crate::summary::Summary;

/// A sink on its own thread. Dropping it waits until the sink has taken what was sent.
#[derive(Debug)]
pub(crate) struct SinkThread {
    name: String,
    letters: Option<Sender<Letter>>,
    empty: Receiver<Box<TickReport>>,
    capacity: usize,
    dropped: u64,
    has_failed: Arc<AtomicBool>,
    thread: Option<JoinHandle<Work>>,
}

/// How many reports may wait for a sink: far more than a disk's usual hiccup lasts, at about 2 KB
/// each.
pub(crate) const WAITING_REPORTS: usize = 1024;

/// How long a sink's thread rests before it looks for letters again.
///
/// PERF: waking the thread at every tick cost the tick some 17 µs a sink at 20 ticks a second on two
/// cores, looking once in a while costs it nothing. So the thread is woken only when half of the
/// buffers wait, and at the end.
const NAP: Duration = Duration::from_millis(10);

enum Letter {
    Tick(Box<TickReport>),
    Finish(Arc<Summary>),
}

/// What a sink's thread did until its end.
#[derive(Debug, Default)]
struct Work {
    written: u64,
    dropped: u64,
    error: Option<SinkError>,
}

impl SinkThread {
    /// Starts the thread. Up to `capacity` reports of the shape of `template` may wait for the
    /// sink.
    pub(crate) fn start(
        sink: Box<dyn Sink>,
        template: &TickReport,
        capacity: usize,
    ) -> io::Result<SinkThread> {
        let name = sink.name().to_owned();
        // One place more than there are buffers: the letter at the end finds room too.
        let (letters, mail) = bounded(capacity + 1);
        let (back, empty) = bounded(capacity);
        for _ in 0..capacity {
            // The channel has room for all of them.
            let _ = back.send(Box::new(template.roomy_copy()));
        }
        let has_failed = Arc::new(AtomicBool::new(false));
        let failed = has_failed.clone();
        let thread = std::thread::Builder::new()
            .name("voxtick-sink".to_owned())
            .spawn(move || serve(sink, &mail, &back, &failed))?;
        Ok(SinkThread {
            name,
            letters: Some(letters),
            empty,
            capacity,
            dropped: 0,
            has_failed,
            thread: Some(thread),
        })
    }

    /// Hands a report over, or drops it if too many are waiting.
    pub(crate) fn send(&mut self, report: &TickReport) {
        let delivered = self.empty.try_recv().is_ok_and(|mut buffer| {
            (*buffer).clone_from(report);
            self.letters.as_ref().is_some_and(|letters| letters.try_send(Letter::Tick(buffer)).is_ok())
        });
        self.dropped += u64::from(!delivered);
        if self.empty.len() < self.capacity / 2 {
            self.wake();
        }
    }

    pub(crate) fn state(&self) -> SinkState<'_> {
        SinkState { name: &self.name, dropped: self.dropped, has_failed: self.has_failed.load(Relaxed) }
    }

    /// Hands the summary over and waits until the sink is done.
    pub(crate) fn finish(mut self, summary: Arc<Summary>) -> SinkOutcome {
        if let Some(letters) = self.letters.take() {
            // It fails only if the thread has gone, which joining it tells.
            let _ = letters.send(Letter::Finish(summary));
        }
        let work = self.join();
        SinkOutcome {
            name: std::mem::take(&mut self.name),
            written: work.written,
            dropped: self.dropped + work.dropped,
            error: work.error,
        }
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    fn join(&mut self) -> Work {
        self.letters = None;
        self.wake();
        let panicked = |payload: Box<dyn std::any::Any + Send>| {
            let error = Some(SinkError::Panicked { message: panic_message(&*payload) });
            Work { error, ..Work::default() }
        };
        self.thread.take().map_or_else(Work::default, |thread| thread.join().unwrap_or_else(panicked))
    }
}

impl Drop for SinkThread {
    fn drop(&mut self) {
        self.join();
    }
}

/// The sink's thread: serves the sink until the simulation is finished or dropped.
fn serve(
    mut sink: Box<dyn Sink>,
    mail: &Receiver<Letter>,
    back: &Sender<Box<TickReport>>,
    has_failed: &AtomicBool,
) -> Work {
    let mut work = Work::default();
    while let Some(letter) = next(mail) {
        match letter {
            Letter::Tick(report) => {
                if work.error.is_none() {
                    work.error = attempt(|| sink.tick(&report)).err();
                    work.written += u64::from(work.error.is_none());
                }
                work.dropped += u64::from(work.error.is_some());
                // It fails only if the tick's side has gone, which then needs no buffers.
                let _ = back.try_send(report);
            }
            Letter::Finish(summary) => {
                if work.error.is_none() {
                    work.error = attempt(|| sink.finish(&summary)).err();
                }
            }
        }
        has_failed.store(work.error.is_some(), Relaxed);
    }
    work
}

/// The next letter, however long it takes; `None` when there will be no more.
fn next(mail: &Receiver<Letter>) -> Option<Letter> {
    loop {
        match mail.try_recv() {
            Ok(letter) => return Some(letter),
            Err(TryRecvError::Empty) => std::thread::park_timeout(NAP),
            Err(TryRecvError::Disconnected) => return None,
        }
    }
}

fn attempt(work: impl FnOnce() -> Result<(), SinkError>) -> Result<(), SinkError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(SinkError::Panicked { message: panic_message(&*panic) }))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Takes a report only when it is let to, and tells which.
    struct Gated {
        gate: mpsc::Receiver<()>,
        taken: mpsc::Sender<u64>,
    }

    impl Sink for Gated {
        fn name(&self) -> &str {
            "gated"
        }

        fn tick(&mut self, report: &TickReport) -> Result<(), SinkError> {
            self.gate.recv().map_err(SinkError::other)?;
            self.taken.send(report.tick).map_err(SinkError::other)
        }

        fn finish(&mut self, summary: &Summary) -> Result<(), SinkError> {
            self.taken.send(1_000 + summary.ticks).map_err(SinkError::other)
        }
    }

    fn summary() -> Arc<Summary> {
        let simulation = crate::Simulation::builder().threads(1).build().unwrap();
        Arc::new(simulation.summary())
    }

    fn report(tick: u64) -> TickReport {
        TickReport { tick, ..TickReport::default() }
    }

    #[test]
    fn a_sink_that_stands_still_delays_nothing_and_what_it_missed_is_counted() {
        let ((open, gate), (taken, took)) = (mpsc::channel(), mpsc::channel());
        let mut thread = SinkThread::start(Box::new(Gated { gate, taken }), &report(0), 4).unwrap();
        // The sink stands still until the gate opens: sending all of these returns nevertheless.
        (0..100).for_each(|tick| thread.send(&report(tick)));
        (0..100).for_each(|_| open.send(()).unwrap());
        let outcome = thread.finish(summary());
        assert_eq!((outcome.written, outcome.dropped), (4, 96));
        assert!(outcome.error.is_none());
        assert_eq!(took.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 1_000]);
    }

    #[test]
    fn buffers_come_back() {
        let ((open, gate), (taken, took)) = (mpsc::channel(), mpsc::channel());
        let mut thread = SinkThread::start(Box::new(Gated { gate, taken }), &report(0), 1).unwrap();
        for tick in 0..10 {
            open.send(()).unwrap();
            while thread.empty.is_empty() {
                std::thread::yield_now();
            }
            thread.send(&report(tick));
            assert_eq!(took.recv().unwrap(), tick);
        }
        assert_eq!(thread.finish(summary()).written, 10);
    }

    #[test]
    fn after_an_error_reports_count_as_dropped_and_the_sink_is_left_alone() {
        let ((open, gate), (taken, took)) = (mpsc::channel(), mpsc::channel());
        let mut thread = SinkThread::start(Box::new(Gated { gate, taken }), &report(0), 8).unwrap();
        open.send(()).unwrap();
        drop(open);
        (0..5).for_each(|tick| thread.send(&report(tick)));
        let outcome = thread.finish(summary());
        assert_eq!((outcome.written, outcome.dropped), (1, 4));
        assert!(outcome.error.is_some());
        assert_eq!(took.iter().collect::<Vec<_>>(), [0]);
    }

    struct Panicking;

    impl Sink for Panicking {
        fn name(&self) -> &str {
            "panicking"
        }

        fn tick(&mut self, report: &TickReport) -> Result<(), SinkError> {
            panic!("cannot take tick {}", report.tick)
        }

        fn finish(&mut self, _: &Summary) -> Result<(), SinkError> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_in_a_sink_is_its_error() {
        let mut thread = SinkThread::start(Box::new(Panicking), &report(0), 8).unwrap();
        thread.send(&report(7));
        let outcome = thread.finish(summary());
        assert_eq!(
            outcome.to_string(),
            "panicking: 0 reports written, 1 dropped; failed: the sink panicked: cannot take tick 7"
        );
    }
}
