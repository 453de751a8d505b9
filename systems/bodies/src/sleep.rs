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

/// Ticks that a sleeper has slept when `ticks` ticks have been run.
fn slept(body: &Body, ticks: u64) -> u64 {
    ticks.saturating_sub(body.velocity[1].to_bits())
}

/// The body of a row after `ticks` ticks. One that does not sleep is as it is.
///
/// A sleeper keeps in place of its vertical speed the number of ticks run when it fell asleep.
pub(crate) fn woken(body: &Body, ticks: u64) -> Body {
    if !body.flags.has(Flags::SLEEPS) {
        return *body;
    }
    let slept = slept(body, ticks);
    let mut woken = *body;
    woken.flags = body.flags.without(Flags::SLEEPS).without(Flags::SLIDE).without(Flags::OUTPUTS);
    let mut decay = Decay::default();
    decay.add(body, slept / 4);
    let [vx, vz, ..] = decay.finished();
    // It fell asleep in its moving phase: what is left of the four is gravity alone.
    woken.velocity = [vx, -0.0, vz];
    for _ in 0..slept % 4 {
        woken.velocity[1] -= GRAVITY;
    }
    woken.flags = woken.flags.set(Flags::THROTTLED, !slept.is_multiple_of(4));
    woken
}

/// A sleeper as it stands before its next move, when `ticks` ticks have been run, and the tick of that move.
pub(crate) fn before_next_move(body: &Body, ticks: u64) -> (Body, u64) {
    let next = body.velocity[1].to_bits() + slept(body, ticks) / 4 * 4 + 3;
    (woken(body, next), next)
}

/// Lets the speeds of sleepers decay by these slides from their next moves on, when `ticks` ticks have been run: as if they
/// had fallen asleep after their last.
pub(crate) fn lie_on_other_ground(sleepers: &mut [(Body, Flags)], ticks: u64) {
    for few in sleepers.chunks_mut(Decay::SLEEPERS) {
        let moves = |body: &Body| slept(body, ticks) / 4;
        let mut decay = Decay::default();
        few.iter().for_each(|(body, _)| decay.add(body, moves(body)));
        let speeds = decay.finished();
        for ((body, slide), speeds) in few.iter_mut().zip(speeds.chunks(2)) {
            let asleep_at = body.velocity[1].to_bits() + moves(body) * 4;
            body.velocity = [speeds[0], f64::from_bits(asleep_at), speeds[1]];
            body.flags = body.flags.without(Flags::SLIDE).with(*slide);
        }
    }
}

/// The speeds of a few sleepers along `x` and `z`, worked out side by side: one after the other, each product would wait
/// for the one before it.
#[derive(Debug, Default)]
struct Decay {
    speeds: [f64; Decay::LANES],
    speed_factors: [f64; Decay::LANES],
    frictions: [f64; Decay::LANES],
    moves: [f64; Decay::LANES],
    count: usize,
}

impl Decay {
    const SLEEPERS: usize = 4;
    const LANES: usize = Decay::SLEEPERS * 2;

    /// Adds a sleeper that has made so many moves.
    fn add(&mut self, body: &Body, moves: u64) {
        let slide = ((body.flags.0 & Flags::SLIDE.0) >> SLIDE_SHIFT) as usize;
        for axis in [0, 2] {
            self.speeds[self.count] = body.velocity[axis];
            self.speed_factors[self.count] = f64::from(SPEED_FACTORS[slide % SPEED_FACTORS.len()]);
            self.frictions[self.count] = f64::from(FRICTIONS[slide / SPEED_FACTORS.len()] * DRAG_GROUND);
            self.moves[self.count] = moves as f64;
            self.count += 1;
        }
    }

    /// Each speed times both its factors, once a move, each product rounded. Ends early where that changes nothing any
    /// more, which it does after some 1,400 on most blocks.
    fn finished(&self) -> [f64; Decay::LANES] {
        /// Moves between two looks at whether anything still changes.
        const STRIDE: u32 = 8;
        let Decay { mut speeds, speed_factors, frictions, moves, .. } = *self;
        let most = moves.into_iter().fold(0.0, f64::max);
        let mut made = 0.0;
        while made < most {
            let before = speeds.map(f64::to_bits);
            for _ in 0..STRIDE {
                for lane in 0..Decay::LANES {
                    let next = speeds[lane] * speed_factors[lane] * frictions[lane];
                    speeds[lane] = if made < moves[lane] { next } else { speeds[lane] };
                }
                made += 1.0;
            }
            if speeds.map(f64::to_bits) == before {
                break;
            }
        }
        speeds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxtick_worlds::generators::split_mix;

    #[test]
    fn speeds_worked_out_side_by_side_are_those_of_one_product_after_the_other() {
        // Long enough asleep for some to have come down to the last bits of a number.
        let sleeper = |number: u64| {
            let bits = split_mix(number);
            let speed = |bits: u64| (bits % 2_001) as f64 / 2_500.0 - 0.4;
            let slide = Flags((bits % 8) as u32 * (1 << SLIDE_SHIFT)).with(Flags::SLEEPS);
            let asleep_at = f64::from_bits(100_000 - [0, 3, 4, 37, 900, 6_000, 100_000][bits as usize % 7]);
            let velocity = [speed(bits >> 8), asleep_at, speed(bits >> 24)];
            Body { velocity, flags: slide, ..Body::new([0.5; 3], [0.0; 3]) }
        };
        let slide = slide_bits(0.98, 1.0).expect("that of ice");
        let mut sleepers: Vec<(Body, Flags)> = (0..203).map(|number| (sleeper(number), slide)).collect();
        lie_on_other_ground(&mut sleepers, 100_001);
        for (number, (after, _)) in (0..).zip(&sleepers) {
            let before = sleeper(number);
            let kind = ((before.flags.0 & Flags::SLIDE.0) >> SLIDE_SHIFT) as usize;
            let asleep_at = before.velocity[1].to_bits();
            let moves = (100_001 - asleep_at) / 4;
            for axis in [0, 2] {
                let mut speed = before.velocity[axis];
                for _ in 0..moves {
                    speed *= f64::from(SPEED_FACTORS[kind % 2]);
                    speed *= f64::from(FRICTIONS[kind / 2] * DRAG_GROUND);
                }
                assert_eq!(after.velocity[axis].to_bits(), speed.to_bits(), "{before:?}");
                let woken = woken(&before, 100_001);
                assert_eq!(woken.velocity[axis].to_bits(), speed.to_bits(), "{before:?}");
            }
            assert_eq!(after.velocity[1].to_bits(), asleep_at + moves * 4);
            assert_eq!(after.flags, slide.with(Flags::SLEEPS));
        }
    }
}
