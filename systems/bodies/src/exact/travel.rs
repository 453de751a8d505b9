//! The move itself: collisions, landing, the block that carries, and what it does to the speed.

use crate::body::{Body, Bounds, Flags, floor, sum};
use crate::exact::obstacles::{self, Obstacle};
use crate::exact::{Scratch, Stop};
use crate::material::{Effect, Footing, MaterialId, Traits};
use crate::rules::{EPSILON, FRICTION_DEPTH, LANDING_DEPTH, Rules, SAME_MOVE, SUPPORT_DEPTH};
use crate::terrain::{Surroundings, Terrain};
use voxtick_worlds::Fluid;

/// Moves `body` by its velocity as far as it can go; returns the cell of the block that carries it.
pub(super) fn travel<T: Terrain + ?Sized>(
    body: &mut Body,
    is_plain: bool,
    ground: Surroundings<'_, T>,
    rules: &Rules,
    scratch: &mut Scratch,
) -> Result<Option<[i32; 3]>, Stop> {
    let wanted = take_stuck_speed(body);
    let bounds = body.bounds();
    obstacles::gather(&bounds.swept(wanted), is_plain, ground, &mut scratch.obstacles)?;
    let moved = collide(bounds, wanted, &scratch.obstacles, ground);

    let moved_squared = length_squared(moved);
    let unhindered = rules.small_moves && length_squared(wanted) - moved_squared < EPSILON;
    if moved_squared > EPSILON || unhindered {
        body.position = sum(body.position, moved);
    }

    let hit_x = (wanted[0] - moved[0]).abs() >= SAME_MOVE;
    let hit_z = (wanted[2] - moved[2]).abs() >= SAME_MOVE;
    let hit_vertically = wanted[1] != moved[1];
    let landed = hit_vertically && wanted[1] < 0.0;
    body.flags = body
        .flags
        .set(Flags::HIT_SIDEWAYS, hit_x || hit_z)
        .set(Flags::HIT_VERTICALLY, hit_vertically)
        .set(Flags::ON_GROUND, landed);
    let support = find_support(body, landed, moved, is_plain, ground, &mut scratch.support)?;

    if hit_x {
        body.velocity[0] = 0.0;
    }
    if hit_z {
        body.velocity[2] = 0.0;
    }
    if hit_vertically {
        let effect = if is_plain {
            Effect::None
        } else {
            ground.materials[block_below(body, support, LANDING_DEPTH, ground)?].effect
        };
        fall_on(effect, &mut body.velocity);
        if landed {
            step_on(effect, &mut body.velocity);
        }
    }
    if !is_plain {
        let factor = f64::from(speed_factor(body, support, ground)?);
        body.velocity[0] *= factor;
        body.velocity[2] *= factor;
    }
    Ok(support)
}

/// The way that a body wants to go: its velocity, unless it is stuck in something; then what that leaves of it, and
/// the velocity is gone.
fn take_stuck_speed(body: &mut Body) -> [f64; 3] {
    let factors = if body.flags.has(Flags::STUCK_WEB) {
        [0.25, f64::from(0.05_f32), 0.25]
    } else if body.flags.has(Flags::STUCK_SNOW) {
        [f64::from(0.9_f32), 1.5, f64::from(0.9_f32)]
    } else {
        return body.velocity;
    };
    body.flags = body.flags.without(Flags::STUCK_WEB).without(Flags::STUCK_SNOW);
    let wanted = [0, 1, 2].map(|axis| body.velocity[axis] * factors[axis]);
    body.velocity = [0.0; 3];
    wanted
}

/// Vertical first, then the larger horizontal component; `x` first where they are equal.
fn collide<T: Terrain + ?Sized>(
    mut bounds: Bounds,
    wanted: [f64; 3],
    found: &[Obstacle],
    ground: Surroundings<'_, T>,
) -> [f64; 3] {
    if found.is_empty() {
        return wanted;
    }
    let order = if wanted[0].abs() < wanted[2].abs() { [1, 2, 0] } else { [1, 0, 2] };
    let mut moved = wanted;
    for axis in order {
        if wanted[axis] != 0.0 {
            moved[axis] = obstacles::collide(axis, &bounds, wanted[axis], found, ground.materials);
            bounds.min[axis] += moved[axis];
            bounds.max[axis] += moved[axis];
        }
    }
    moved
}

/// The nearest block under the feet, or under where the feet were before the horizontal part of the move.
fn find_support<T: Terrain + ?Sized>(
    body: &mut Body,
    landed: bool,
    moved: [f64; 3],
    is_plain: bool,
    ground: Surroundings<'_, T>,
    found: &mut Vec<Obstacle>,
) -> Result<Option<[i32; 3]>, Stop> {
    if !landed {
        body.flags = body.flags.without(Flags::GROUND_NO_BLOCKS);
        return Ok(None);
    }
    let mut slab = support_slab(body);
    let mut support = nearest_in(&slab, body, is_plain, ground, found)?;
    if support.is_none() && !body.flags.has(Flags::GROUND_NO_BLOCKS) {
        for axis in [0, 2] {
            slab.min[axis] -= moved[axis];
            slab.max[axis] -= moved[axis];
        }
        support = nearest_in(&slab, body, is_plain, ground, found)?;
    }
    body.flags = body.flags.set(Flags::GROUND_NO_BLOCKS, support.is_none());
    Ok(support)
}

/// Friction and speed factor of the ground under a body that lies on a block that does nothing else.
pub(super) fn ground_under<T: Terrain + ?Sized>(
    body: &Body,
    ground: Surroundings<'_, T>,
    found: &mut Vec<Obstacle>,
) -> Result<Option<(f32, f32)>, Stop> {
    let slab = support_slab(body);
    let support = nearest_in(&slab, body, false, ground, found)?;
    let landing = block_below(body, support, LANDING_DEPTH, ground)?;
    if support.is_none() || ground.materials[landing].effect != Effect::None {
        return Ok(None);
    }
    let below = block_below(body, support, FRICTION_DEPTH, ground)?;
    Ok(Some((ground.materials[below].friction, speed_factor(body, support, ground)?)))
}

/// The thin box under the feet in which a block carries the body.
fn support_slab(body: &Body) -> Bounds {
    let mut slab = body.bounds();
    slab.max[1] = slab.min[1];
    slab.min[1] -= SUPPORT_DEPTH;
    slab
}

/// The block in `slab` whose middle is nearest to the body; of equally near ones the greatest by `y`, `z`, `x`.
fn nearest_in<T: Terrain + ?Sized>(
    slab: &Bounds,
    body: &Body,
    is_plain: bool,
    ground: Surroundings<'_, T>,
    found: &mut Vec<Obstacle>,
) -> Result<Option<[i32; 3]>, Stop> {
    obstacles::gather(slab, is_plain, ground, found)?;
    let mut best: Option<(f64, [i32; 3])> = None;
    for obstacle in found.iter() {
        let away = [0, 1, 2].map(|axis| f64::from(obstacle.cell[axis]) + 0.5 - body.position[axis]);
        let distance = length_squared(away);
        let [x, y, z] = obstacle.cell;
        let nearer = best.is_none_or(|(least, [best_x, best_y, best_z])| {
            distance < least || distance == least && (best_y, best_z, best_x) < (y, z, x)
        });
        if nearer {
            best = Some((distance, obstacle.cell));
        }
    }
    Ok(best.map(|(_, cell)| cell))
}

/// The block that counts as being `depth` below the feet, in the column of the block that carries the body.
pub(super) fn block_below<T: Terrain + ?Sized>(
    body: &Body,
    support: Option<[i32; 3]>,
    depth: f64,
    ground: Surroundings<'_, T>,
) -> Result<MaterialId, Stop> {
    let y = floor(body.position[1] - depth);
    let Some(carrier) = support else {
        return loaded(ground, [floor(body.position[0]), y, floor(body.position[2])]);
    };
    let material = loaded(ground, carrier)?;
    match ground.materials[material].footing {
        Footing::Wall => Ok(material),
        Footing::Fence if depth <= 0.5 => Ok(material),
        Footing::Fence | Footing::Plain => loaded(ground, [carrier[0], y, carrier[2]]),
    }
}

/// What stands at a cell, or the end of the tick where that is not known.
pub(super) fn loaded<T: Terrain + ?Sized>(
    ground: Surroundings<'_, T>,
    [x, y, z]: [i32; 3],
) -> Result<MaterialId, Stop> {
    match ground.terrain.material(x, y, z) {
        MaterialId::UNLOADED => Err(Stop::Unloaded),
        material => Ok(material),
    }
}

fn fall_on(effect: Effect, velocity: &mut [f64; 3]) {
    match effect {
        Effect::Slime if velocity[1] < 0.0 => velocity[1] = -velocity[1] * 0.8,
        Effect::Bed if velocity[1] < 0.0 => velocity[1] = -velocity[1] * f64::from(0.66_f32) * 0.8,
        Effect::Slime | Effect::Bed => {}
        // Times zero, not zero: the sign of what was there stays.
        _ => velocity[1] *= 0.0,
    }
}

fn step_on(effect: Effect, velocity: &mut [f64; 3]) {
    let speed = velocity[1].abs();
    if effect == Effect::Slime && speed < 0.1 {
        let factor = 0.4 + speed * 0.2;
        velocity[0] *= factor;
        velocity[2] *= factor;
    }
}

/// The factor of the block that the body is in, or of the one that it stands on.
fn speed_factor<T: Terrain + ?Sized>(
    body: &Body,
    support: Option<[i32; 3]>,
    ground: Surroundings<'_, T>,
) -> Result<f32, Stop> {
    let inside = loaded(ground, body.position.map(floor))?;
    let material = &ground.materials[inside];
    let below = block_below(body, support, FRICTION_DEPTH, ground)?;
    let is_plain_water =
        matches!(material.fluid, Fluid::Water { .. }) && !ground.materials.traits(inside).has(Traits::BOXES);
    if is_plain_water || material.speed_factor != 1.0 {
        return Ok(material.speed_factor);
    }
    Ok(ground.materials[below].speed_factor)
}

fn length_squared([x, y, z]: [f64; 3]) -> f64 {
    x * x + y * y + z * z
}
