//! What blocks do to a body that is inside them.

use crate::body::{Body, Flags, floor};
use crate::exact::Stop;
use crate::exact::travel::loaded;
use crate::material::{Effect, MaterialId, Traits};
use crate::rules::{EPSILON, HALF_WIDTH};
use crate::terrain::{Surroundings, Terrain};

/// Lets every block that the body's box reaches into act on it, `x` outermost, then `y`, then `z`.
pub(super) fn apply<T: Terrain + ?Sized>(body: &mut Body, ground: Surroundings<'_, T>) -> Result<(), Stop> {
    let bounds = body.bounds();
    let low = bounds.min.map(|corner| floor(corner + EPSILON));
    let high = bounds.max.map(|corner| floor(corner - EPSILON));
    for x in low[0]..=high[0] {
        for y in low[1]..=high[1] {
            for z in low[2]..=high[2] {
                let material = loaded(ground, [x, y, z])?;
                if !ground.materials.traits(material).has(Traits::EFFECT) {
                    continue;
                }
                match ground.materials[material].effect {
                    Effect::Web => {
                        body.flags = body.flags.without(Flags::STUCK_SNOW).with(Flags::STUCK_WEB);
                    }
                    Effect::PowderSnow => {
                        body.flags = body.flags.without(Flags::STUCK_WEB).with(Flags::STUCK_SNOW);
                    }
                    Effect::Honey => slide(body, [x, y, z]),
                    Effect::BubbleUp => bubble(body, true, loaded(ground, [x, y + 1, z])?),
                    Effect::BubbleDown => bubble(body, false, loaded(ground, [x, y + 1, z])?),
                    Effect::None | Effect::Slime | Effect::Bed => {}
                }
            }
        }
    }
    Ok(())
}

/// Honey holds what falls along its side: to 0.05 blocks a tick.
fn slide(body: &mut Body, [x, y, z]: [i32; 3]) {
    let [vx, vy, vz] = body.velocity;
    let falls = !body.flags.has(Flags::ON_GROUND) && vy < -0.08;
    if !falls || body.position[1] > f64::from(y) + 0.9375 - EPSILON {
        return;
    }
    let away_x = (f64::from(x) + 0.5 - body.position[0]).abs();
    let away_z = (f64::from(z) + 0.5 - body.position[2]).abs();
    let reach = 0.4375 + HALF_WIDTH;
    if away_x + EPSILON > reach || away_z + EPSILON > reach {
        body.velocity = if vy < -0.13 {
            let factor = -0.05 / vy;
            [vx * factor, -0.05, vz * factor]
        } else {
            [vx, -0.05, vz]
        };
    }
}

/// Columns of bubbles are faster at their surface.
fn bubble(body: &mut Body, up: bool, above: MaterialId) {
    let vy = &mut body.velocity[1];
    let at_surface = above == MaterialId::AIR;
    *vy = match (up, at_surface) {
        (true, true) => (*vy + 0.1).min(1.8),
        (true, false) => (*vy + 0.06).min(0.7),
        (false, true) => (*vy - 0.03).max(-0.9),
        (false, false) => (*vy - 0.03).max(-0.3),
    };
}
