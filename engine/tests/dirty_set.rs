//! The dirty set against a plain set, and under threads.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use proptest::prelude::*;
use voxtick_engine::{DirtySet, MarkError};

/// Indices at the edges of words, pages and shelves, and some between.
fn index() -> impl Strategy<Value = u32> {
    let edges = [0, 63, 64, 4095, 4096, 12_287, 12_288, 262_143, 262_144, 528_383, 528_384, 999_999];
    prop_oneof![prop::sample::select(edges.to_vec()), 0..300_u32, 0..1_000_000_u32]
}

#[derive(Debug, Clone)]
enum Step {
    Mark(u32),
    Take(usize),
}

proptest! {
    #[test]
    fn it_does_what_a_sorted_set_does(
        steps in prop::collection::vec(
            prop_oneof![8 => index().prop_map(Step::Mark), 1 => (0..20_usize).prop_map(Step::Take)],
            0..300,
        )
    ) {
        let (dirty, mut model) = (DirtySet::with_limit(999_999), BTreeSet::new());
        for step in steps {
            match step {
                Step::Mark(index) => prop_assert_eq!(dirty.mark(index), Ok(model.insert(index))),
                Step::Take(count) => {
                    // What a drain has not given stays pending.
                    let taken: Vec<u32> = dirty.drain().take(count).collect();
                    let expected: Vec<u32> = model.iter().copied().take(count).collect();
                    prop_assert_eq!(&taken, &expected);
                    taken.iter().for_each(|index| { model.remove(index); });
                }
            }
            prop_assert_eq!(dirty.is_empty(), model.is_empty());
            prop_assert_eq!(dirty.pending_count(), model.len() as u64);
        }
        prop_assert!(dirty.drain().eq(model));
    }
}

#[test]
fn every_index_of_u32_has_a_place() {
    let dirty = DirtySet::with_limit(u32::MAX);
    let indices = [0, 1 << 20, u32::MAX / 2, u32::MAX - 1, u32::MAX];
    indices.iter().rev().for_each(|&index| assert_eq!(dirty.mark(index), Ok(true)));
    assert!(dirty.drain().eq(indices));
}

#[test]
fn an_index_above_the_limit_is_refused_and_costs_no_memory() {
    let dirty = DirtySet::with_limit(100);
    assert_eq!(dirty.mark(100), Ok(true));
    assert_eq!(dirty.mark(101), Err(MarkError { index: 101, limit: 100 }));
    assert!(dirty.drain().eq([100]));
}

#[test]
fn a_panic_while_draining_leaves_the_rest_pending() {
    let dirty = DirtySet::with_limit(1_000_000);
    let marked = [1, 2, 60, 64, 5_000, 5_001, 900_000];
    marked.iter().for_each(|&index| assert!(dirty.mark(index).is_ok()));
    let drained = AtomicU32::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        dirty.drain().for_each(|index| {
            drained.fetch_add(1, Ordering::Relaxed);
            assert!(index != 60, "cannot redo 60");
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(drained.into_inner(), 3);
    assert!(dirty.drain().eq([64, 5_000, 5_001, 900_000]));
}

/// Each of eight producers raises the version of an index and marks it; the drainer notes which
/// version it saw. At the end it must have seen the last version of every index: no mark is lost
/// while the set grows, while others mark the same word, or while it drains.
#[test]
fn eight_producers_lose_nothing_while_it_drains_and_grows() {
    const INDICES: u32 = 100_000;
    let dirty = DirtySet::with_limit(INDICES);
    let versions: Vec<AtomicU32> = (0..INDICES).map(|_| AtomicU32::new(0)).collect();
    let mut seen = vec![0; INDICES as usize];
    let is_over = AtomicBool::new(false);
    let mut drains = 0_u64;
    let mut drain = |seen: &mut Vec<u32>| {
        let mut last = None;
        for index in dirty.drain() {
            assert!(last < Some(index), "{index} after {last:?}");
            last = Some(index);
            seen[index as usize] = versions[index as usize].load(Ordering::Relaxed);
        }
        drains += 1;
    };
    std::thread::scope(|scope| {
        let producers: Vec<_> = (0..8_u64)
            .map(|producer| {
                let (dirty, versions) = (&dirty, &versions);
                scope.spawn(move || {
                    let mut random = producer.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
                    for step in 0..125_000_u64 {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        // Grows as it goes on.
                        let room = (64 + step).min(u64::from(INDICES));
                        let index = (random % room) as u32;
                        versions[index as usize].fetch_add(1, Ordering::Relaxed);
                        assert!(dirty.mark(index).is_ok());
                    }
                })
            })
            .collect();
        let watcher = scope.spawn(|| {
            producers.into_iter().for_each(|producer| producer.join().expect("a producer"));
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) {
            drain(&mut seen);
        }
        watcher.join().expect("the watcher");
    });
    drain(&mut seen);
    let expected: Vec<u32> = versions.into_iter().map(AtomicU32::into_inner).collect();
    assert_eq!(expected.iter().map(|&version| u64::from(version)).sum::<u64>(), 1_000_000);
    assert!(seen == expected, "a mark was lost");
    assert!(dirty.is_empty() && drains > 1);
}
