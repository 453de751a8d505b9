//! Getting out of a block: the game pushes an item that is inside something towards the nearest open side.

use crate::body::{Body, floor};
use crate::exact::Stop;
use crate::exact::travel::loaded;
use crate::material::Traits;
use crate::rules::Moment;
use crate::terrain::{Surroundings, Terrain};
use voxtick_worlds::generators::split_mix;

/// The sides in the order in which the game looks at them, as (axis, step); never down.
const SIDES: [(usize, i32); 5] = [(2, -1), (2, 1), (0, -1), (0, 1), (1, 1)];

/// Gives `body` a speed of 0.1 to 0.3 towards the nearest side that is no full cube; up where all are.
pub(super) fn towards_open_side<T: Terrain + ?Sized>(
    body: &mut Body,
    number: u32,
    ground: Surroundings<'_, T>,
    moment: Moment,
) -> Result<(), Stop> {
    let (axis, step) = open_side(body, ground)?;
    let speed = random(number, moment) * 0.2 + 0.1;
    body.velocity = body.velocity.map(|speed| speed * 0.75);
    body.velocity[axis] = f64::from(step as f32 * speed);
    Ok(())
}

/// The side to which `body` is pushed, as (axis, step). Takes all of [`SIDES`] to be loaded.
pub(super) fn open_side<T: Terrain + ?Sized>(
    body: &Body,
    ground: Surroundings<'_, T>,
) -> Result<(usize, i32), Stop> {
    let bounds = body.bounds();
    let middle = [body.position[0], (bounds.min[1] + bounds.max[1]) / 2.0, body.position[2]];
    let cell = middle.map(floor);
    let mut best = (f64::MAX, (1, 1));
    for (axis, step) in SIDES {
        let mut neighbour = cell;
        neighbour[axis] += step;
        let material = loaded(ground, neighbour)?;
        if ground.materials.traits(material).has(Traits::CUBE) {
            continue;
        }
        let inside = middle[axis] - f64::from(cell[axis]);
        let distance = if step > 0 { 1.0 - inside } else { inside };
        if distance < best.0 {
            best = (distance, (axis, step));
        }
    }
    Ok(best.1)
}

/// A number from 0 to 1 (24 bits) that depends on the seed, the tick and the body alone.
fn random(number: u32, moment: Moment) -> f32 {
    let bits = split_mix(split_mix(moment.seed ^ moment.tick) ^ u64::from(number));
    (bits >> 40) as f32 / (1 << 24) as f32
}
