//! Millions of 8-byte values from one, two or three producers to one consumer: in batches through our hand-off, and
//! one by one through the queues that others would take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_queue::ArrayQueue;
use voxtick::engine::{HandOff, HandOffSettings};

use super::agree;
use crate::measure::{Case, Pair};

/// Values that one call hands over, all producers together; divisible by 1, 2 and 3.
const VALUES: u64 = if cfg!(test) { 60_000 } else { 20_000_004 };

/// Room of the queues that hold values one by one.
const ROOM: usize = 1 << 16;

/// What a side gives: the sum of the values that arrived.
type Transfer = fn(producers: u64) -> u64;

pub(super) fn cases() -> Vec<Case> {
    let peers: [(&'static str, Transfer); 4] = [
        ("crossbeam-channel", through_crossbeam_channel),
        ("crossbeam-queue", through_crossbeam_queue),
        ("kanal", through_kanal),
        ("rtrb", through_rtrb),
    ];
    let mut cases = Vec::new();
    for producers in 1..=3 {
        for (peer, transfer) in peers {
            if peer == "rtrb" && producers > 1 {
                continue;
            }
            let name = format!("queues/handoff/producers={producers}/beside={peer}");
            cases.push(Case::new(name, ("batches", peer), VALUES, move || {
                let expected = (0..producers).flat_map(|producer| values(producer, producers)).sum();
                agree(&through_hand_off(producers), &expected)?;
                agree(&transfer(producers), &expected)?;
                Ok(Pair::sampled(
                    move || timed(|| through_hand_off(producers)),
                    move || timed(|| transfer(producers)),
                ))
            }));
        }
    }
    cases
}

/// One transfer.
fn timed(transfer: impl Fn() -> u64) -> Duration {
    let start = Instant::now();
    std::hint::black_box(transfer());
    start.elapsed()
}

/// What one producer sends.
fn values(producer: u64, producers: u64) -> impl Iterator<Item = u64> {
    (0..VALUES / producers).map(move |value| value ^ producer << 32)
}

fn through_hand_off(producers: u64) -> u64 {
    let mut hand_off = HandOff::new(HandOffSettings::default());
    let (mut sum, mut count) = (0_u64, 0);
    thread::scope(|scope| {
        for number in 0..producers {
            let mut producer = hand_off.producer().expect("fewer producers than the default");
            scope.spawn(move || {
                for value in values(number, producers) {
                    producer.push(value).expect("a consumer");
                }
            });
        }
        while count < VALUES {
            let batches = hand_off.drain(|_, values| {
                count += values.len() as u64;
                sum += values.sum::<u64>();
            });
            if batches == 0 {
                thread::yield_now();
            }
        }
    });
    sum
}

fn through_crossbeam_channel(producers: u64) -> u64 {
    let (sender, receiver) = crossbeam_channel::bounded(ROOM);
    thread::scope(|scope| {
        for number in 0..producers {
            let sender = sender.clone();
            scope.spawn(move || {
                values(number, producers).for_each(|value| sender.send(value).expect("a consumer"))
            });
        }
        drop(sender);
        receiver.iter().sum()
    })
}

fn through_kanal(producers: u64) -> u64 {
    let (sender, receiver) = kanal::bounded(ROOM);
    thread::scope(|scope| {
        for number in 0..producers {
            let sender = sender.clone();
            scope.spawn(move || {
                values(number, producers).for_each(|value| sender.send(value).expect("a consumer"))
            });
        }
        drop(sender);
        std::iter::from_fn(|| receiver.recv().ok()).sum()
    })
}

fn through_crossbeam_queue(producers: u64) -> u64 {
    let queue = Arc::new(ArrayQueue::new(ROOM));
    let mut sum = 0_u64;
    thread::scope(|scope| {
        for number in 0..producers {
            let queue = queue.clone();
            scope.spawn(move || {
                for value in values(number, producers) {
                    while queue.push(value).is_err() {
                        thread::yield_now();
                    }
                }
            });
        }
        let mut left = VALUES;
        while left > 0 {
            match queue.pop() {
                Some(value) => {
                    sum += value;
                    left -= 1;
                }
                None => thread::yield_now(),
            }
        }
    });
    sum
}

fn through_rtrb(producers: u64) -> u64 {
    assert_eq!(producers, 1, "a queue for one producer");
    let (mut sender, mut receiver) = rtrb::RingBuffer::new(ROOM);
    let mut sum = 0_u64;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let is_over = &is_over;
        scope.spawn(move || {
            for value in values(0, 1) {
                while sender.push(value).is_err() {
                    thread::yield_now();
                }
            }
            is_over.store(true, Ordering::Release);
        });
        loop {
            // Asked first: what was pushed before the end is found afterwards.
            let was_over = is_over.load(Ordering::Acquire);
            match receiver.pop() {
                Ok(value) => sum += value,
                Err(_) if was_over => break,
                Err(_) => thread::yield_now(),
            }
        }
    });
    sum
}
