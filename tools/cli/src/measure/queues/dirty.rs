//! A million marks by eight threads over a hundred thousand indices, and one drain: our dirty set beside bits behind a
//! lock.

use std::sync::{Mutex, PoisonError};
use std::thread;

use voxtick::engine::DirtySet;

use super::agree;
use crate::measure::{Case, Pair};

const PRODUCERS: u64 = 8;
const MARKS: u64 = if cfg!(test) { 8_000 } else { 1_000_000 };
const INDICES: u32 = 100_000;

pub(super) fn cases() -> Vec<Case> {
    let case = Case::new("queues/dirty", ("dirty set", "bits behind a lock"), MARKS, || {
        let (ours, locked) = (DirtySet::with_limit(INDICES), Locked::new());
        let through_set = move || {
            by_all(&|index| assert!(ours.mark(index).is_ok()));
            ours.drain().collect::<Vec<u32>>()
        };
        let through_lock = move || {
            by_all(&|index| locked.mark(index));
            locked.drain()
        };
        let mut expected: Vec<u32> = (0..PRODUCERS).flat_map(indices).collect();
        expected.sort_unstable();
        expected.dedup();
        agree(&through_set(), &expected)?;
        agree(&through_lock(), &expected)?;
        Ok(Pair::new(
            move || {
                std::hint::black_box(through_set());
            },
            move || {
                std::hint::black_box(through_lock());
            },
        ))
    });
    vec![case]
}

/// What one producer marks.
fn indices(producer: u64) -> impl Iterator<Item = u32> {
    let mut random = (producer + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..MARKS / PRODUCERS).map(move |_| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % u64::from(INDICES)) as u32
    })
}

fn by_all(mark: &(impl Fn(u32) + Sync)) {
    thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            scope.spawn(move || indices(producer).for_each(mark));
        }
    });
}

/// The plain way: one bit an index, all behind one lock.
struct Locked {
    words: Mutex<Vec<u64>>,
}

impl Locked {
    fn new() -> Locked {
        Locked { words: Mutex::new(vec![0; INDICES as usize / 64 + 1]) }
    }

    fn mark(&self, index: u32) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)[index as usize / 64] |= 1 << (index % 64);
    }

    fn drain(&self) -> Vec<u32> {
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut indices = Vec::new();
        for (number, word) in (0..).zip(words.iter_mut()) {
            while *word != 0 {
                indices.push(number * 64 + word.trailing_zeros());
                *word &= *word - 1;
            }
        }
        indices
    }
}
