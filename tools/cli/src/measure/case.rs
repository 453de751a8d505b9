//! One comparison: its name, its two sides, and the check that both do the same job.

use std::time::{Duration, Instant};

/// A comparison that can be measured.
///
/// The name is `subject/case/key=value/...`. `items` is how many items one call of either side works on; the table
/// states times per item.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) ours: &'static str,
    pub(crate) other: &'static str,
    pub(crate) items: u64,
    prepare: Box<dyn FnOnce() -> Result<Pair, CaseError>>,
}

impl Case {
    /// A case whose `prepare` builds the input, runs both sides once, compares what they give, and returns them.
    pub(crate) fn new(
        name: impl Into<String>,
        (ours, other): (&'static str, &'static str),
        items: u64,
        prepare: impl FnOnce() -> Result<Pair, CaseError> + 'static,
    ) -> Case {
        Case { name: name.into(), ours, other, items, prepare: Box::new(prepare) }
    }

    /// Builds the input and checks that both sides agree on it.
    pub(crate) fn prepare(self) -> Result<Pair, CaseError> {
        (self.prepare)()
    }
}

/// Why a case was not timed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CaseError {
    /// The two sides gave different results: a difference is a fault, and no figure is given.
    #[error("the two sides differ in {count} places, first at {first}: mend that before timing")]
    Unequal {
        /// In how many places.
        count: u64,
        /// Where first, and with which values.
        first: String,
    },
    /// The input could not be built.
    #[error("no input: {0}")]
    Input(String),
}

/// The two sides of a case.
pub(crate) struct Pair {
    pub(crate) ours: Side,
    pub(crate) other: Side,
}

/// Work that appends how long each of its operations took.
type TimedOperations = Box<dyn FnMut(&mut Vec<Duration>)>;

/// One side: work that takes the same time every time it is called.
pub(crate) enum Side {
    /// The whole call is timed; short calls are repeated until the clock can resolve them.
    Whole(Box<dyn FnMut()>),
    /// The call says how long the part of it took that counts; it is called once a round.
    Own(Box<dyn FnMut() -> Duration>),
    /// As `Own`, but one call is a sample, however little time it tells: for work that takes far longer than the part
    /// of it that counts.
    Sample(Box<dyn FnMut() -> Duration>),
    /// A call does many operations and appends how long each of them took; the table states their tail beside the mean
    /// of the whole.
    Each(TimedOperations),
}

impl Pair {
    /// Two sides that are timed as a whole.
    pub(crate) fn new(ours: impl FnMut() + 'static, other: impl FnMut() + 'static) -> Pair {
        Pair { ours: Side::Whole(Box::new(ours)), other: Side::Whole(Box::new(other)) }
    }

    /// Two sides that time the part that counts themselves, for work that needs a fresh input every time.
    pub(crate) fn self_timed(
        ours: impl FnMut() -> Duration + 'static,
        other: impl FnMut() -> Duration + 'static,
    ) -> Pair {
        Pair { ours: Side::Own(Box::new(ours)), other: Side::Own(Box::new(other)) }
    }

    /// Two sides of which every call is a sample.
    pub(crate) fn sampled(
        ours: impl FnMut() -> Duration + 'static,
        other: impl FnMut() -> Duration + 'static,
    ) -> Pair {
        Pair { ours: Side::Sample(Box::new(ours)), other: Side::Sample(Box::new(other)) }
    }

    /// Two sides that time each of their operations: for work of which the slow ones matter. A call should do as many
    /// operations as the case has items.
    pub(crate) fn each(
        ours: impl FnMut(&mut Vec<Duration>) + 'static,
        other: impl FnMut(&mut Vec<Duration>) + 'static,
    ) -> Pair {
        Pair { ours: Side::Each(Box::new(ours)), other: Side::Each(Box::new(other)) }
    }
}

impl Side {
    /// Nanoseconds that one call takes, as the mean of `calls` calls in a row. Sides that time each operation append
    /// those times to `operations`.
    pub(crate) fn time(&mut self, calls: u32, operations: &mut Vec<Duration>) -> f64 {
        let total = match self {
            Side::Whole(work) => {
                let start = Instant::now();
                (0..calls).for_each(|_| work());
                start.elapsed()
            }
            Side::Own(work) | Side::Sample(work) => (0..calls).map(|_| work()).sum(),
            Side::Each(work) => {
                let before = operations.len();
                (0..calls).for_each(|_| work(operations));
                operations[before..].iter().sum()
            }
        };
        total.as_nanos() as f64 / f64::from(calls)
    }

    /// How many calls make a sample of at least `least`, or take twenty times as long where only a part of a call
    /// counts; finding out warms the side up.
    pub(crate) fn calls_for(&mut self, least: Duration) -> u32 {
        let (mut calls, mut operations) = (1, Vec::new());
        if let Side::Sample(_) = self {
            return calls;
        }
        loop {
            let start = Instant::now();
            let nanoseconds = self.time(calls, &mut operations) * f64::from(calls);
            let is_long = nanoseconds >= least.as_nanos() as f64 || start.elapsed() >= 20 * least;
            if is_long || calls >= 1 << 20 {
                return calls;
            }
            // At least twice as many, at most sixteen times.
            let wanted = least.as_nanos() as f64 / nanoseconds.max(1.0);
            calls = (f64::from(calls) * wanted.clamp(2.0, 16.0)) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_times_itself_is_believed() {
        let mut pair = Pair::self_timed(|| Duration::from_nanos(500), || Duration::from_millis(3));
        assert_eq!(pair.ours.time(4, &mut Vec::new()), 500.0);
        assert_eq!(pair.other.calls_for(Duration::from_millis(2)), 1);
        assert_eq!(pair.ours.calls_for(Duration::from_micros(2)), 4);
    }

    #[test]
    fn a_sample_of_which_little_counts_does_not_take_for_ever() {
        let waits = || {
            std::thread::sleep(Duration::from_millis(2));
            Duration::from_nanos(1)
        };
        let mut pair = Pair::self_timed(waits, waits);
        // The clock alone would want a million of them.
        assert!(pair.ours.calls_for(Duration::from_millis(1)) <= 16);
    }

    #[test]
    fn a_call_of_many_operations_takes_what_they_take_together() {
        let two = |operations: &mut Vec<Duration>| {
            operations.extend([Duration::from_nanos(100), Duration::from_nanos(300)]);
        };
        let (mut pair, mut operations) = (Pair::each(two, two), Vec::new());
        assert_eq!(pair.ours.time(3, &mut operations), 400.0);
        assert_eq!(pair.other.time(1, &mut operations), 400.0);
        assert_eq!(operations.len(), 8);
    }
}
