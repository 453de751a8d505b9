//! The dirty set under every interleaving and every memory order that `loom` knows.
//!
//! The source of the set is compiled a second time here, with the atomics of `loom` and pages of two
//! words.

#[path = "../src/dirty_set.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "the model needs marks and drains alone, and no crate around them"
)]
mod dirty_set;

mod atomics {
    //! What the set takes from `crate::atomics`.

    use loom::sync::Mutex;
    use loom::sync::atomic::Ordering;

    pub(crate) const PAGE_WORDS: usize = 2;
    pub(crate) const SHELVES: usize = 2;

    /// `loom` remembers only the last access to an atomic, and so does not try what would happen if
    /// a thread that loads and then changes it came before another's load. A change of `turn` before
    /// every access, which orders nothing for the memory model, makes it try.
    pub(crate) struct AtomicU64 {
        value: loom::sync::atomic::AtomicU64,
        turn: loom::sync::atomic::AtomicU64,
    }

    impl AtomicU64 {
        pub(crate) fn new(value: u64) -> AtomicU64 {
            AtomicU64 {
                value: loom::sync::atomic::AtomicU64::new(value),
                turn: loom::sync::atomic::AtomicU64::new(0),
            }
        }

        fn value(&self) -> &loom::sync::atomic::AtomicU64 {
            self.turn.fetch_add(1, Ordering::Relaxed);
            &self.value
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            self.value().load(order)
        }

        pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
            self.value().swap(value, order)
        }

        pub(crate) fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
            self.value().fetch_or(bits, order)
        }
    }

    /// `loom` has no cell of this kind: the standard one, in what `loom` knows.
    pub(crate) struct OnceLock<T> {
        cell: std::sync::OnceLock<T>,
        is_made: AtomicU64,
        lock: Mutex<()>,
    }

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> OnceLock<T> {
            let cell = std::sync::OnceLock::new();
            OnceLock { cell, is_made: AtomicU64::new(0), lock: Mutex::new(()) }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            (self.is_made.load(Ordering::Acquire) != 0).then(|| self.cell.get().unwrap())
        }

        pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            if self.is_made.load(Ordering::Acquire) == 0 {
                let _guard = self.lock.lock().unwrap();
                self.cell.get_or_init(make);
                self.is_made.fetch_or(1, Ordering::Release);
            }
            self.cell.get().unwrap()
        }
    }
}

use std::collections::BTreeMap;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;

use dirty_set::DirtySet;

fn set() -> Arc<DirtySet> {
    Arc::new(DirtySet::with_limit(383))
}

/// A set whose first page has been made already, for stories that need not try how.
fn made_set() -> Arc<DirtySet> {
    let set = set();
    mark(&set, 0);
    assert!(set.drain().eq([0]));
    set
}

/// Runs through every interleaving in which threads are interrupted at most so many times; the
/// faults that were tried (a weaker order, a mark that only looks, summaries first) need one or two.
fn model(interruptions: usize, story: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.check(story);
}

fn mark(set: &DirtySet, index: u32) -> bool {
    set.mark(index).expect("an index below the limit")
}

#[test]
fn two_marks_and_a_drain_lose_nothing_and_double_nothing() {
    let made = made_set as fn() -> Arc<DirtySet>;
    for (interruptions, indices, make) in
        [(1, [0, 1], set as _), (2, [0, 1], made), (2, [0, 64], made), (2, [0, 200], made)]
    {
        model(interruptions, move || {
            let set = make();
            let markers = indices.map(|index| {
                let set = set.clone();
                thread::spawn(move || assert!(mark(&set, index)))
            });
            let mut drained: Vec<u32> = set.drain().collect();
            markers.into_iter().for_each(|marker| marker.join().unwrap());
            drained.extend(set.drain());
            drained.sort_unstable();
            assert_eq!(drained, indices);
        });
    }
}

/// Two threads write and then mark the same index. Whoever drains it last must see what both wrote.
#[test]
fn what_was_written_before_a_mark_is_seen_by_a_drain_after_it() {
    model(2, || {
        let set = made_set();
        let written = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let markers = [0, 1].map(|writer| {
            let (set, written) = (set.clone(), written.clone());
            thread::spawn(move || {
                written[writer].store(1, Relaxed);
                mark(&set, 7);
            })
        });
        let mut seen = [0; 2];
        for index in set.drain() {
            assert_eq!(index, 7);
            seen = [written[0].load(Relaxed), written[1].load(Relaxed)];
        }
        markers.into_iter().for_each(|marker| marker.join().unwrap());
        let is_pending = set.drain().count() == 1;
        assert!(is_pending || seen == [1, 1], "seen {seen:?} and nothing pending");
    });
}

/// A mark that has returned is in the next drain, even if another mark in the same word or page was
/// first and has not got as far as the summaries.
#[test]
fn a_mark_that_returned_is_in_the_next_drain() {
    for other in [0, 1, 64] {
        model(2, move || {
            let set = made_set();
            let marker = {
                let set = set.clone();
                thread::spawn(move || {
                    mark(&set, other);
                })
            };
            mark(&set, 1);
            assert!(set.drain().any(|index| index == 1));
            marker.join().unwrap();
        });
    }
}

/// A mark of an index that a drain has just given is pending again, or is given by that drain.
#[test]
fn a_mark_that_races_with_the_drain_of_its_index_is_seen() {
    model(2, || {
        let set = made_set();
        mark(&set, 3);
        let marker = {
            let set = set.clone();
            thread::spawn(move || mark(&set, 3))
        };
        let first = set.drain().count();
        let was_new = marker.join().unwrap();
        let second = set.drain().count();
        assert_eq!((first, second), (1, usize::from(was_new)));
    });
}

/// Two drains at once, one of them given up after its first index, and a mark in between: every
/// index is given as often as it was newly marked.
#[test]
fn a_drain_given_up_half_way_loses_nothing() {
    model(2, || {
        let set = made_set();
        let mut balance: BTreeMap<u32, i32> =
            [0, 1, 64].map(|index| (index, i32::from(mark(&set, index)))).into();
        let (marker, drainer) = {
            let (marked, drained) = (set.clone(), set.clone());
            let drainer = thread::spawn(move || drained.drain().take(1).collect::<Vec<u32>>());
            (thread::spawn(move || mark(&marked, 64)), drainer)
        };
        let mut given = drainer.join().unwrap();
        *balance.entry(64).or_default() += i32::from(marker.join().unwrap());
        given.extend(set.drain());
        given.iter().for_each(|index| *balance.entry(*index).or_default() -= 1);
        assert!(balance.values().all(|&count| count == 0), "{balance:?}");
    });
}
