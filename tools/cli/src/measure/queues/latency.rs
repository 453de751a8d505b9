//! How long one value takes from a producer to a thread that looks for it all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use voxtick::engine::{HandOff, HandOffSettings};

use crate::measure::{Case, Pair};

/// Values of one sample.
const VALUES: u64 = if cfg!(test) { 20 } else { 2_000 };

pub(super) fn cases() -> Vec<Case> {
    let sides = ("hand-off, flushed", "crossbeam-channel");
    let case = Case::new("queues/latency", sides, VALUES, || {
        Ok(Pair::each(
            |latencies| latencies.extend(through_hand_off()),
            |latencies| latencies.extend(through_channel()),
        ))
    });
    vec![case]
}

fn through_hand_off() -> Vec<Duration> {
    let mut hand_off = HandOff::new(HandOffSettings::default());
    let mut producer = hand_off.producer().expect("the first producer");
    let send = move |sent: Instant| {
        producer.push(sent).expect("a consumer");
        producer.flush().expect("a consumer");
    };
    one_by_one(send, || {
        let mut latency = None;
        hand_off.drain(|_, values| latency = values.map(|sent: Instant| sent.elapsed()).next());
        latency
    })
}

fn through_channel() -> Vec<Duration> {
    let (sender, receiver) = crossbeam_channel::bounded(4096);
    let send = move |sent: Instant| sender.send(sent).expect("a consumer");
    one_by_one(send, || receiver.try_recv().ok().map(|sent| sent.elapsed()))
}

/// Sends the next value some time after the last one has arrived.
fn one_by_one(
    mut send: impl FnMut(Instant) + Send,
    mut receive: impl FnMut() -> Option<Duration>,
) -> Vec<Duration> {
    let arrived = Arc::new(AtomicU64::new(0));
    let seen = arrived.clone();
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..VALUES {
                while seen.load(Ordering::Acquire) < number {
                    std::hint::spin_loop();
                }
                let pause = Instant::now();
                while pause.elapsed() < Duration::from_micros(2) {
                    std::hint::spin_loop();
                }
                send(Instant::now());
            }
        });
        let mut latencies = Vec::with_capacity(VALUES as usize);
        while latencies.len() < VALUES as usize {
            if let Some(latency) = receive() {
                latencies.push(latency);
                arrived.store(latencies.len() as u64, Ordering::Release);
            }
        }
        latencies
    })
}
