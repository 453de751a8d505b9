//! The hand-off from worker threads: order, bounds, refusals, and threads that die.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use voxtick_engine::{
    FlushError, HandOff, HandOffSettings, Producer, ProducerId, PushError, TooManyProducers, TryPushError,
};

fn small(producers: usize) -> HandOff<u64> {
    HandOff::new(HandOffSettings { producers, batches: 2, batch_values: 3 })
}

fn drained(hand_off: &mut HandOff<u64>) -> Vec<(u32, u64)> {
    let mut all = Vec::new();
    hand_off.drain(|producer, values| all.extend(values.map(|value| (producer.0, value))));
    all
}

/// Pushes without waiting until it is refused; gives how many went in.
fn push_until_full(producer: &mut Producer<u64>) -> u64 {
    (0..).find(|&value| producer.try_push(value) == Err(TryPushError::Full(value))).unwrap()
}

#[test]
fn a_drain_goes_by_producer_and_then_by_the_order_of_the_pushes() {
    let mut hand_off = small(3);
    let mut producers = [0; 3].map(|_| hand_off.producer().unwrap());
    // The last producer is the first to send, in batches of different sizes.
    for (number, producer) in producers.iter_mut().enumerate().rev() {
        (0..4 + number as u64 % 2).for_each(|value| producer.try_push(value).unwrap());
        producer.flush().unwrap();
    }
    let expected: Vec<(u32, u64)> = [(0, 4), (1, 5), (2, 4)]
        .iter()
        .flat_map(|&(id, count)| (0..count).map(move |value| (id, value)))
        .collect();
    assert_eq!(drained(&mut hand_off), expected);
    assert_eq!(drained(&mut hand_off), []);
}

proptest! {
    /// Whatever is pushed, flushed and drained: nothing is lost, doubled or moved.
    #[test]
    fn every_producer_is_heard_in_full_and_in_order(steps in prop::collection::vec((0..3_usize, 0..12_u32), 0..300)) {
        let mut hand_off = small(3);
        let mut producers = [0; 3].map(|_| hand_off.producer().unwrap());
        let (mut pushed, mut taken) = ([0; 3], [const { Vec::new() }; 3]);
        let mut take = |hand_off: &mut HandOff<u64>| {
            drained(hand_off).into_iter().for_each(|(producer, value)| taken[producer as usize].push(value));
        };
        for (number, step) in steps {
            match step {
                0 => take(&mut hand_off),
                1 => producers[number].flush().unwrap(),
                _ if producers[number].try_push(pushed[number]).is_ok() => pushed[number] += 1,
                _ => {}
            }
        }
        drop(producers);
        take(&mut hand_off);
        for (values, count) in taken.iter().zip(pushed) {
            prop_assert!(values.iter().copied().eq(0..count));
        }
    }
}

#[test]
fn a_producer_that_is_full_is_refused_and_leaves_the_others_their_room() {
    let mut hand_off = small(2);
    let (mut fast, mut slow) = (hand_off.producer().unwrap(), hand_off.producer().unwrap());
    assert_eq!(push_until_full(&mut fast), 6);
    assert_eq!(push_until_full(&mut slow), 6);
    assert_eq!(hand_off.refused(), 2);
    assert_eq!(drained(&mut hand_off).len(), 12);
    // Buffers have come back.
    assert_eq!((push_until_full(&mut slow), push_until_full(&mut fast)), (6, 6));
}

#[test]
fn a_producer_may_wait_until_there_is_room() {
    let mut hand_off = small(1);
    let mut producer = hand_off.producer().unwrap();
    let worker = thread::spawn(move || (0..10_000).for_each(|value| producer.push(value).unwrap()));
    let mut next = 0;
    while next < 10_000 {
        if hand_off.wait(Duration::from_secs(60)) {
            for (_, value) in drained(&mut hand_off) {
                assert_eq!(value, next);
                next += 1;
            }
        }
    }
    worker.join().unwrap();
    assert_eq!(hand_off.refused(), 0);
}

#[test]
fn a_drain_ends_although_producers_go_on() {
    let mut hand_off = HandOff::new(HandOffSettings { producers: 1, batches: 2, batch_values: 1 });
    let mut producer = hand_off.producer().unwrap();
    producer.try_push(0_u64).unwrap();
    let mut taken = 0;
    // Each value that is taken makes room for the next, which is pushed before the drain goes on.
    let batches = hand_off.drain(|_, values| {
        taken += values.count();
        producer.try_push(1).unwrap();
    });
    assert_eq!((batches, taken), (1, 1));
}

#[test]
fn a_producer_that_panics_has_sent_what_it_pushed_and_makes_room_for_another() {
    let mut hand_off = small(1);
    let mut producer = hand_off.producer().unwrap();
    let worker = thread::spawn(move || {
        (0..4).for_each(|value| producer.push(value).unwrap());
        panic!("cannot go on");
    });
    assert!(worker.join().is_err());
    assert_eq!(hand_off.producer().unwrap_err(), TooManyProducers { most: 1 });
    assert_eq!(drained(&mut hand_off), [(0, 0), (0, 1), (0, 2), (0, 3)]);
    let mut next = hand_off.producer().unwrap();
    assert_eq!(next.id(), ProducerId(1));
    assert_eq!(push_until_full(&mut next), 6);
}

#[test]
fn a_producer_that_is_never_dropped_blocks_nobody() {
    let mut hand_off = small(2);
    let mut lost = hand_off.producer().unwrap();
    lost.push(7).unwrap();
    std::mem::forget(lost);
    let mut other = hand_off.producer().unwrap();
    for _ in 0..100 {
        assert_eq!(push_until_full(&mut other), 6);
        assert_eq!(drained(&mut hand_off).len(), 6);
    }
}

#[test]
fn producers_come_and_go_for_ever() {
    let mut hand_off = small(2);
    for round in 0..1_000 {
        let mut producer = hand_off.producer().unwrap();
        (0..5).for_each(|value| producer.push(value).unwrap());
        drop(producer);
        assert_eq!(drained(&mut hand_off).len(), 5, "round {round}");
        assert_eq!(hand_off.producer_count(), 0);
    }
}

#[test]
fn a_producer_whose_other_end_has_gone_is_told_so_even_while_it_waits() {
    let mut hand_off = small(1);
    let mut producer = hand_off.producer().unwrap();
    let waiting = thread::spawn(move || {
        let gone = (0..).find(|&value| producer.push(value) == Err(PushError(value))).unwrap();
        (gone, producer.try_push(0), producer.flush())
    });
    thread::sleep(Duration::from_millis(5));
    drop(hand_off);
    let (gone, pushed, flushed) = waiting.join().unwrap();
    assert!(gone <= 6);
    assert_eq!((pushed, flushed), (Err(TryPushError::Gone(0)), Ok(())));

    let mut hand_off = small(1);
    let mut producer = hand_off.producer().unwrap();
    producer.push(1).unwrap();
    drop(hand_off);
    assert_eq!(producer.flush(), Err(FlushError));
}

#[test]
fn a_panic_while_draining_leaves_later_batches_and_all_buffers() {
    let mut hand_off = small(2);
    let mut producers = [hand_off.producer().unwrap(), hand_off.producer().unwrap()];
    producers.iter_mut().for_each(|producer| assert_eq!(push_until_full(producer), 6));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        hand_off.drain(|_, mut values| assert!(values.next() != Some(3), "cannot take 3"));
    }));
    assert!(panicked.is_err());
    // The first batch was taken, the second was what the panic was about.
    let rest: Vec<(u32, u64)> = (0..6).map(|value| (1, value)).collect();
    assert_eq!(drained(&mut hand_off), rest);
    producers.iter_mut().for_each(|producer| assert_eq!(push_until_full(producer), 6));
}
