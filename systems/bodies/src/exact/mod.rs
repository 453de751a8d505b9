//! One body's whole tick, by the game's own order of operations on any terrain.
//!
//! The slow path of the kernel, and what [`reference`](crate::reference) runs for every body: plain scalar code over a
//! [`Terrain`] that is asked cell by cell. The parts follow the order of the game's item tick (Minecraft Java 1.16
//! onward, names of 1.21): fluids, gravity, push-out, the move with its collisions, what the touched blocks do, drag,
//! bounce, fluids again.

mod effects;
pub(crate) mod fluids;
mod obstacles;
mod push;
mod travel;

use crate::body::{Body, Bounds, Flags, sum};
use crate::material::MaterialId;
use crate::rules::{
    DRAG_GROUND, DRAG_HORIZONTAL, DRAG_VERTICAL, EPSILON, FRICTION_DEPTH, GRAVITY, Moment, POSITION_LIMIT,
    Rules, SPEED_LIMIT, THROTTLE_SPEED_SQUARED,
};
use crate::terrain::{Surroundings, Terrain};

pub(crate) use obstacles::Obstacle;

/// How a body's tick went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stepped {
    /// It was stepped.
    Done,
    /// Terrain that it needs is not loaded: nothing of it has changed but its flags, and its clock stands still.
    Held,
    /// Its values are refused: it stays as it is for good.
    Quarantined,
}

/// Why a body's tick cannot be finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A cell that it needs is not loaded.
    Unloaded,
    /// It would sweep over too many cells.
    TooFar,
}

/// Room for the obstacles of one move, kept between bodies so that no step allocates.
#[derive(Debug, Default)]
pub struct Scratch {
    obstacles: Vec<Obstacle>,
    support: Vec<Obstacle>,
}

/// Steps one body by one tick.
///
/// `number` is a number of its own that stays with it: what is random about it is drawn from it and the moment.
pub fn step<T: Terrain + ?Sized>(
    body: &mut Body,
    number: u32,
    ground: Surroundings<'_, T>,
    rules: &Rules,
    moment: Moment,
    scratch: &mut Scratch,
) -> Stepped {
    if body.flags.has(Flags::QUARANTINED) {
        body.flags = body.flags.without(Flags::OUTPUTS);
        return Stepped::Quarantined;
    }
    let mut next = *body;
    next.flags = next.flags.without(Flags::OUTPUTS);
    let outcome = if is_sane(body) {
        advance(&mut next, number, ground, rules, moment, scratch)
    } else {
        Err(Stop::TooFar)
    };
    match outcome {
        Ok(()) => {
            let moved_block = next.position.map(crate::body::floor) != body.position.map(crate::body::floor);
            let moved = next.position.map(f64::to_bits) != body.position.map(f64::to_bits);
            next.flags = next.flags.set(Flags::MOVED, moved).set(Flags::MOVED_BLOCK, moved_block);
            *body = next;
            Stepped::Done
        }
        Err(Stop::Unloaded) => {
            // Its place in the cycle of four ticks stands still too, so that it resumes exactly where it was.
            let offset = body.flags.phase_offset().wrapping_sub(1);
            body.flags = body.flags.without(Flags::OUTPUTS).with(Flags::UNLOADED).with_phase_offset(offset);
            Stepped::Held
        }
        Err(Stop::TooFar) => {
            body.flags = body.flags.without(Flags::OUTPUTS).with(Flags::QUARANTINED);
            Stepped::Quarantined
        }
    }
}

/// True where a body's values are ones that a step may start from; written so that what is not a number fails.
#[must_use]
pub fn is_sane(body: &Body) -> bool {
    let [vx, vy, vz] = body.velocity;
    body.position.iter().all(|at| at.abs() <= POSITION_LIMIT)
        && [vx, vy - GRAVITY, vz].iter().all(|speed| speed.abs() <= SPEED_LIMIT)
}

/// True where nothing acts on a body where it is: no fluid, no block that does something, nothing that overlaps it.
/// For as long as the terrain stays, its throttled ticks are gravity alone.
pub(crate) fn is_clear<T: Terrain + ?Sized>(body: &Body, ground: Surroundings<'_, T>) -> bool {
    let free = |space: &Bounds| obstacles::any_overlapping(space, false, ground) == Ok(false);
    free(&body.bounds().deflated(EPSILON)) && !obstacles::any_influence(&body.bounds(), ground)
}

/// True where chance decides how far a body goes next: one inside a block is pushed out of it at a random speed. Not where
/// the push itself takes a cell that is not loaded, so that it is held whatever it would draw.
pub(crate) fn is_pushed_at_random<T: Terrain + ?Sized>(body: &Body, ground: Surroundings<'_, T>) -> bool {
    obstacles::any_overlapping(&body.bounds().deflated(EPSILON), false, ground) == Ok(true)
        && push::open_side(body, ground).is_ok()
}

/// Friction and speed factor of the ground that a body lies on, if its next move in phase 0 will be like the one it has
/// just made, and all after that: it lies on a block, is clear of all else, and nothing is in the way of what is left
/// of its horizontal speed.
pub(crate) fn resting_ground<T: Terrain + ?Sized>(
    body: &Body,
    ground: Surroundings<'_, T>,
    scratch: &mut Scratch,
) -> Option<(f32, f32)> {
    let [vx, _, vz] = body.velocity;
    let way = body.bounds().deflated(EPSILON).swept([vx, 0.0, vz]);
    let is_free = obstacles::any_overlapping(&way, false, ground) == Ok(false);
    let is_calm = !obstacles::any_influence(&way, ground);
    if !is_free || !is_calm {
        return None;
    }
    travel::ground_under(body, ground, &mut scratch.support).ok().flatten()
}

fn advance<T: Terrain + ?Sized>(
    body: &mut Body,
    number: u32,
    ground: Surroundings<'_, T>,
    rules: &Rules,
    moment: Moment,
    scratch: &mut Scratch,
) -> Result<(), Stop> {
    let is_plain = obstacles::is_plain(body, ground);
    if is_plain {
        body.velocity[1] -= GRAVITY;
    } else {
        fluids::push(body, ground, rules)?.buoy_or_fall(&mut body.velocity);
    }
    let embedded = obstacles::any_overlapping(&body.bounds().deflated(EPSILON), is_plain, ground)?;
    if embedded {
        push::towards_open_side(body, number, ground, moment)?;
    }
    // A push changes the way, so what was seen of the old one says nothing.
    let is_plain = is_plain && !embedded;
    if is_throttled(body, moment.tick) {
        body.flags = body.flags.with(Flags::THROTTLED);
    } else if embedded {
        // The game moves what is inside a block without looking.
        body.position = sum(body.position, body.velocity);
        drag(body, None, is_plain, ground)?;
    } else {
        let support = travel::travel(body, is_plain, ground, rules, scratch)?;
        drag(body, support, is_plain, ground)?;
    }
    if !is_plain {
        if body.flags.has(Flags::THROTTLED) {
            effects::apply(body, ground)?;
        }
        fluids::push(body, ground, rules)?;
    }
    Ok(())
}

/// What the blocks that the body is in do to it, then drag and friction, then the bounce of what still falls.
fn drag<T: Terrain + ?Sized>(
    body: &mut Body,
    support: Option<[i32; 3]>,
    is_plain: bool,
    ground: Surroundings<'_, T>,
) -> Result<(), Stop> {
    if !is_plain {
        effects::apply(body, ground)?;
    }
    let mut factor = DRAG_HORIZONTAL;
    if body.flags.has(Flags::ON_GROUND) {
        let below = if is_plain {
            MaterialId::CUBE
        } else {
            travel::block_below(body, support, FRICTION_DEPTH, ground)?
        };
        factor = f64::from(ground.materials[below].friction * DRAG_GROUND);
    }
    body.velocity[0] *= factor;
    body.velocity[1] *= DRAG_VERTICAL;
    body.velocity[2] *= factor;
    if body.flags.has(Flags::ON_GROUND) && body.velocity[1] < 0.0 {
        body.velocity[1] *= -0.5;
    }
    Ok(())
}

/// Items that rest on the ground move every fourth tick only.
fn is_throttled(body: &Body, tick: u64) -> bool {
    let [vx, _, vz] = body.velocity;
    let slides = vx * vx + vz * vz > THROTTLE_SPEED_SQUARED;
    body.flags.has(Flags::ON_GROUND) && !slides && body.flags.phase(tick) != 0
}
