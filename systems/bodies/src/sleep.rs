//! What a sleeper would be now: the ticks that it slept through, made up for exactly.
//!
//! A body at rest repeats a cycle of four ticks: gravity three times, then a move that the ground stops, which takes
//! the vertical speed back to nothing and a share of what is left of the horizontal one. Nothing else of it changes, so a
//! sleeper is left alone, and the cycle is worked out when somebody looks.

use crate::body::{Body, Flags};
use crate::rules::{DRAG_GROUND, GRAVITY};

/// The body of a row after `ticks` ticks. One that does not sleep is as it is.
///
/// A sleeper keeps in place of its vertical speed the number of ticks run when it fell asleep.
pub(crate) fn woken(body: &Body, ticks: u64) -> Body {
    if !body.flags.has(Flags::SLEEPS) {
        return *body;
    }
    let factor = f64::from(0.6_f32 * DRAG_GROUND);
    let slept = ticks.saturating_sub(body.velocity[1].to_bits());
    let mut woken = *body;
    woken.flags = body.flags.without(Flags::SLEEPS).without(Flags::OUTPUTS);
    for axis in [0, 2] {
        woken.velocity[axis] = decayed(body.velocity[axis], factor, slept / 4);
    }
    // It fell asleep in its moving phase: what is left of the four is gravity alone.
    woken.velocity[1] = -0.0;
    for _ in 0..slept % 4 {
        woken.velocity[1] -= GRAVITY;
    }
    woken.flags = woken.flags.set(Flags::THROTTLED, !slept.is_multiple_of(4));
    woken
}

/// `speed` times `factor`, `times` times over, each product rounded. Ends early where that changes nothing any more,
/// which it does after some 1,400.
fn decayed(mut speed: f64, factor: f64, times: u64) -> f64 {
    for _ in 0..times {
        let next = speed * factor;
        if next.to_bits() == speed.to_bits() {
            break;
        }
        speed = next;
    }
    speed
}
