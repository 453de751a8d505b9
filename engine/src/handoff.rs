//! The hand-off from many worker threads to the one that drains them, in batches.
//!
//! Each producer owns a few buffers. It collects a batch, copies it into one of them, sends that through
//! one channel that all share and goes on with the next; the drain sends emptied buffers home. So values
//! cost a push into a vector each, channels and the other core's memory are touched once a batch, memory
//! is bounded by the buffers, and nothing is allocated once the producers exist.

mod producer;

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

pub use self::producer::{FlushError, Producer, PushError, TryPushError};

use self::producer::Life;

/// How much a [`HandOff`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandOffSettings {
    /// The most producers at a time. Defaults to 16; 0 counts as 1.
    pub producers: usize,
    /// Buffers of each producer. Defaults to 16; less than 2 counts as 2, one to fill while the other
    /// is on its way. More of them let both sides run longer before one has to wait for the other.
    pub batches: usize,
    /// Values in a buffer. Defaults to 1,024; 0 counts as 1. Smaller ones arrive sooner, larger ones
    /// cost less: from some hundred on, the channel hardly shows.
    pub batch_values: usize,
}

impl Default for HandOffSettings {
    fn default() -> HandOffSettings {
        // PERF: 100 million values of 8 bytes on two busy cores took 2.4 ns of CPU time each, both sides
        // together, with 4 buffers, 1.6 with 8, 1.2 with 16, 1.0 with 32: a thread sleeps less often.
        HandOffSettings { producers: 16, batches: 16, batch_values: 1024 }
    }
}

/// Names a producer: numbered from 0 in the order in which they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerId(pub u32);

/// The receiving end of a hand-off: many [`Producer`]s on their threads, one place that drains.
///
/// - **Order.** A drain gives values by producer in the order of their ids, and of one producer in
///   the order in which it pushed them. If the same values were flushed before it, a drain gives them
///   in the same order in every run, whoever was faster.
/// - **Bounds.** At most `producers x batches x batch_values` values wait. Nothing is shared between
///   producers, so one that is far ahead takes no room from the others.
/// - **Full.** A producer whose buffers are all on their way either waits ([`Producer::push`]) or is
///   refused and gets its value back ([`Producer::try_push`]); refusals are counted. The drain never
///   waits for a producer, and ends although producers go on: it takes what was there when it began.
/// - **Dying threads.** A producer that is dropped, by a panic too, sends what it holds; its place
///   is free again after the drain that takes the last of it. One that is never dropped keeps its
///   place and blocks nobody. When the hand-off is dropped, waiting producers get an error.
///
/// ```
/// use voxtick_engine::{HandOff, HandOffSettings};
///
/// let mut results = HandOff::new(HandOffSettings::default());
/// let mut producers = [results.producer()?, results.producer()?];
/// std::thread::scope(|scope| {
///     for (number, producer) in producers.iter_mut().enumerate() {
///         scope.spawn(move || {
///             (0..3).try_for_each(|value| producer.push((number, value)))?;
///             producer.flush()?;
///             Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
///         });
///     }
/// });
///
/// // In a system of the tick:
/// let mut taken = Vec::new();
/// results.drain(|_, values| taken.extend(values));
/// assert_eq!(taken, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HandOff<T> {
    settings: HandOffSettings,
    address: Sender<Batch<T>>,
    mail: Receiver<Batch<T>>,
    /// Batches that were received and not yet drained; the next one to drain is the last.
    arrived: Vec<Batch<T>>,
    /// Producers that live or whose last batches have not been drained, in the order of their ids.
    homes: Vec<Home<T>>,
    next_id: u32,
    refused: Arc<AtomicU64>,
}

/// A buffer on its way.
#[derive(Debug)]
struct Batch<T> {
    producer: ProducerId,
    sequence: u64,
    values: Vec<T>,
}

/// Where the buffers of a producer go back to.
#[derive(Debug)]
struct Home<T> {
    producer: ProducerId,
    empties: Sender<Vec<T>>,
    life: Arc<Life>,
    /// The producer has gone, and all it sent has been received.
    is_over: bool,
}

/// A hand-off has as many producers as it was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the hand-off was made for {most} producers at a time and has them all: drop one and drain, or make \
     it for more"
)]
pub struct TooManyProducers {
    /// How many it was made for.
    pub most: usize,
}

impl<T> HandOff<T> {
    /// A hand-off without producers.
    pub fn new(settings: HandOffSettings) -> HandOff<T> {
        let settings = HandOffSettings {
            producers: settings.producers.max(1),
            batches: settings.batches.max(2),
            batch_values: settings.batch_values.max(1),
        };
        // There is room for every buffer there is: sending one never waits.
        let (address, mail) = bounded(settings.producers.saturating_mul(settings.batches));
        HandOff {
            settings,
            address,
            mail,
            arrived: Vec::new(),
            homes: Vec::with_capacity(settings.producers),
            next_id: 0,
            refused: Arc::default(),
        }
    }

    /// Makes a producer, to be moved to its thread. Its buffers are allocated here.
    ///
    /// # Errors
    /// There are as many as the settings allow, counting those that were dropped and not yet drained.
    pub fn producer(&mut self) -> Result<Producer<T>, TooManyProducers> {
        if self.homes.len() >= self.settings.producers {
            return Err(TooManyProducers { most: self.settings.producers });
        }
        let (empties, buffers) = bounded(self.settings.batches);
        for _ in 0..self.settings.batches {
            // The channel has room for all of them.
            let _ = empties.send(Vec::with_capacity(self.settings.batch_values));
        }
        let (producer, life) = (ProducerId(self.next_id), Arc::<Life>::default());
        self.next_id += 1;
        self.homes.push(Home { producer, empties, life: life.clone(), is_over: false });
        let (address, refused) = (self.address.clone(), self.refused.clone());
        Ok(Producer::new(producer, self.settings.batch_values, buffers, address, life, refused))
    }

    /// Gives everything that was flushed before the call to `take`, a batch at a time: by producer,
    /// then in the order of the pushes. Returns the number of batches. It never waits.
    ///
    /// What `take` leaves in a batch is dropped. If it panics, the batches after that one stay for
    /// the next drain.
    pub fn drain(&mut self, mut take: impl FnMut(ProducerId, std::vec::Drain<'_, T>)) -> u64 {
        // Asked before the mail is read: whoever has gone by now has nothing more to send.
        for home in &mut self.homes {
            home.is_over = home.life.has_gone.load(Acquire);
        }
        let waiting = self.mail.len();
        self.arrived.extend(self.mail.try_iter().take(waiting));
        self.arrived.sort_unstable_by_key(|batch| Reverse((batch.producer, batch.sequence)));
        let mut batches = 0;
        while let Some(batch) = self.arrived.pop() {
            let home = self.homes.binary_search_by_key(&batch.producer, |home| home.producer);
            let home = home.ok().map(|at| &self.homes[at].empties);
            let mut emptied = GoingHome { buffer: batch.values, home };
            take(batch.producer, emptied.buffer.drain(..));
            batches += 1;
        }
        self.homes.retain(|home| !home.is_over);
        batches
    }

    /// Sleeps until there is something to drain, at most for so long; tells whether there is. For
    /// threads other than the tick's.
    pub fn wait(&mut self, longest: Duration) -> bool {
        if self.arrived.is_empty() {
            self.arrived.extend(self.mail.recv_timeout(longest));
        }
        !self.arrived.is_empty()
    }

    /// Values that [`Producer::try_push`] has refused so far, of all producers together.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    /// Producers that live, and those that are gone but not yet drained.
    pub fn producer_count(&self) -> usize {
        self.homes.len()
    }
}

/// A buffer that goes back to its producer, whatever happens to what was in it.
struct GoingHome<'a, T> {
    buffer: Vec<T>,
    home: Option<&'a Sender<Vec<T>>>,
}

impl<T> Drop for GoingHome<'_, T> {
    fn drop(&mut self) {
        if let Some(home) = self.home {
            self.buffer.clear();
            // It fails only if the producer has gone, which then needs no buffers.
            let _ = home.try_send(std::mem::take(&mut self.buffer));
        }
    }
}
