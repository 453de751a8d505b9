//! What a sleeper would be now: the ticks that it slept through, made up for exactly.
//!
//! A body at rest repeats a cycle of four ticks: gravity three times, then a move that the ground stops, which takes
//! the vertical speed back to nothing and a share of what is left of the horizontal one. Nothing else of it changes, so a
//! sleeper is left alone, and the cycle is worked out when somebody looks.

use crate::body::{Body, Flags};
use crate::rules::{DRAG_GROUND, GRAVITY};

/// Frictions of blocks that a sleeper may lie on: most, slime, ice, blue ice.
const FRICTIONS: [f32; 4] = [0.6, 0.8, 0.98, 0.989];
/// Speed factors of blocks that a sleeper may lie on or in: most, soul sand and honey.
const SPEED_FACTORS: [f32; 2] = [1.0, 0.4];
const SLIDE_SHIFT: u32 = Flags::SLIDE.0.trailing_zeros();

/// The bits of [`Flags::SLIDE`] for a sleeper on a block of this friction and speed factor; `None` for others, on which
/// nothing sleeps.
pub(crate) fn slide_bits(friction: f32, speed_factor: f32) -> Option<Flags> {
    let friction = FRICTIONS.iter().position(|&known| known == friction)?;
    let speed_factor = SPEED_FACTORS.iter().position(|&known| known == speed_factor)?;
    Some(Flags(((friction * SPEED_FACTORS.len() + speed_factor) as u32) << SLIDE_SHIFT))
}

/// The body of a row after `ticks` ticks. One that does not sleep is as it is.
///
/// A sleeper keeps in place of its vertical speed the number of ticks run when it fell asleep.
pub(crate) fn woken(body: &Body, ticks: u64) -> Body {
    if !body.flags.has(Flags::SLEEPS) {
        return *body;
    }
    let slide = ((body.flags.0 & Flags::SLIDE.0) >> SLIDE_SHIFT) as usize;
    let friction = f64::from(FRICTIONS[slide / SPEED_FACTORS.len()] * DRAG_GROUND);
    let speed_factor = f64::from(SPEED_FACTORS[slide % SPEED_FACTORS.len()]);
    let slept = ticks.saturating_sub(body.velocity[1].to_bits());
    let mut woken = *body;
    woken.flags = body.flags.without(Flags::SLEEPS).without(Flags::SLIDE).without(Flags::OUTPUTS);
    for axis in [0, 2] {
        woken.velocity[axis] = decayed(body.velocity[axis], [speed_factor, friction], slept / 4);
    }
    // It fell asleep in its moving phase: what is left of the four is gravity alone.
    woken.velocity[1] = -0.0;
    for _ in 0..slept % 4 {
        woken.velocity[1] -= GRAVITY;
    }
    woken.flags = woken.flags.set(Flags::THROTTLED, !slept.is_multiple_of(4));
    woken
}

/// A sleeper as it stands before its next move, when `ticks` ticks have been run, and the tick of that move.
pub(crate) fn before_next_move(body: &Body, ticks: u64) -> (Body, u64) {
    let asleep_at = body.velocity[1].to_bits();
    let next = asleep_at + ticks.saturating_sub(asleep_at) / 4 * 4 + 3;
    (woken(body, next), next)
}

/// A sleeper whose speed decays by `slide` from its next move on, when `ticks` ticks have been run: as if it had fallen
/// asleep after its last.
pub(crate) fn on_another_ground(body: &Body, slide: Flags, ticks: u64) -> Body {
    let (before, next) = before_next_move(body, ticks);
    let mut body = *body;
    body.velocity = [before.velocity[0], f64::from_bits(next - 3), before.velocity[2]];
    body.flags = body.flags.without(Flags::SLIDE).with(slide);
    body
}

/// `speed` times both factors, `times` times over, each product rounded. Ends early where that changes nothing any more,
/// which it does after some 1,400.
fn decayed(mut speed: f64, factors: [f64; 2], times: u64) -> f64 {
    for _ in 0..times {
        let next = speed * factors[0] * factors[1];
        if next.to_bits() == speed.to_bits() {
            break;
        }
        speed = next;
    }
    speed
}
