//! Water and lava: how deep a body is in them, and where they push it.

use crate::body::{Body, Bounds, sum};
use crate::exact::Stop;
use crate::exact::travel::loaded;
use crate::material::{MaterialId, Traits};
use crate::rules::{GRAVITY, Rules};
use crate::terrain::{Surroundings, Terrain};
use voxtick_worlds::Fluid;

/// Speed that flowing water adds in a tick.
pub(crate) const WATER_PUSH: f64 = 0.014;
/// A push weaker than this is raised to it where the body hardly moves.
const LEAST_PUSH: f64 = 0.004_500_000_000_000_000_5;
/// Deeper than this a body floats.
pub(crate) const FLOATING_DEPTH: f64 = 0.1_f32 as f64;
/// Factor on the horizontal speed of what floats in water.
pub(crate) const WATER_DRAG: f64 = 0.99_f32 as f64;
/// Added to the vertical speed of what floats and rises more slowly than [`BUOYANT_SPEED`].
pub(crate) const BUOYANCY: f64 = 5.0e-4_f32 as f64;
/// What rises faster is not lifted any more.
pub(crate) const BUOYANT_SPEED: f64 = 0.06_f32 as f64;
/// The box in which fluids act is smaller than the body's by this on every side.
pub(crate) const FLUID_MARGIN: f64 = 0.001;
/// Flows are weaker where a body is less deep than this.
pub(crate) const FULL_FLOW_DEPTH: f64 = 0.4;
/// Flows that add up to a vector whose square is shorter do not push.
pub(crate) const LEAST_FLOW_SQUARED: f64 = 1.0e-5;
/// The sides in the order in which flows are added up: north, east, south, west.
const SIDES: [[i32; 2]; 4] = [[0, -1], [1, 0], [0, 1], [-1, 0]];

/// How far the fluids reach above the lower face of a body's box.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Depths {
    water: f64,
    lava: f64,
}

impl Depths {
    /// Slows and lifts what floats; lets all else fall.
    pub(super) fn buoy_or_fall(self, velocity: &mut [f64; 3]) {
        let drag = if self.water > FLOATING_DEPTH {
            WATER_DRAG
        } else if self.lava > FLOATING_DEPTH {
            f64::from(0.95_f32)
        } else {
            velocity[1] -= GRAVITY;
            return;
        };
        velocity[0] *= drag;
        velocity[2] *= drag;
        velocity[1] += if velocity[1] < BUOYANT_SPEED { BUOYANCY } else { 0.0 };
    }
}

/// Adds the currents that the body is in to its velocity; returns how deep it is.
pub(super) fn push<T: Terrain + ?Sized>(
    body: &mut Body,
    ground: Surroundings<'_, T>,
    rules: &Rules,
) -> Result<Depths, Stop> {
    let bounds = body.bounds().deflated(FLUID_MARGIN);
    if !any_fluid(&bounds, ground)? {
        return Ok(Depths::default());
    }
    let water = push_by(body, &bounds, Kind::Water, WATER_PUSH, ground)?;
    let lava = push_by(body, &bounds, Kind::Lava, rules.lava_push, ground)?;
    Ok(Depths { water, lava })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Water,
    Lava,
}

fn kind(fluid: Fluid) -> Option<Kind> {
    match fluid {
        Fluid::None => None,
        Fluid::Water { .. } => Some(Kind::Water),
        Fluid::Lava { .. } => Some(Kind::Lava),
    }
}

fn any_fluid<T: Terrain + ?Sized>(bounds: &Bounds, ground: Surroundings<'_, T>) -> Result<bool, Stop> {
    let (low, high) = bounds.cells();
    let mut any = false;
    for x in low[0]..high[0] {
        for y in low[1]..high[1] {
            for z in low[2]..high[2] {
                let material = loaded(ground, [x, y, z])?;
                any |= ground.materials.traits(material).has(Traits::FLUID);
            }
        }
    }
    Ok(any)
}

fn push_by<T: Terrain + ?Sized>(
    body: &mut Body,
    bounds: &Bounds,
    of: Kind,
    strength: f64,
    ground: Surroundings<'_, T>,
) -> Result<f64, Stop> {
    let (low, high) = bounds.cells();
    let mut depth = 0.0_f64;
    let mut total = [0.0_f64; 3];
    let mut cells = 0_u32;
    for x in low[0]..high[0] {
        for y in low[1]..high[1] {
            for z in low[2]..high[2] {
                let fluid = fluid_at(ground, [x, y, z])?;
                if kind(fluid) != Some(of) {
                    continue;
                }
                let height = height_at([x, y, z], fluid, of, ground)?;
                // Single precision, as in the game: far up, surfaces are coarse.
                let surface = f64::from(y as f32 + height);
                if surface < bounds.min[1] {
                    continue;
                }
                depth = depth.max(surface - bounds.min[1]);
                let mut flow = flow_at([x, y, z], fluid, of, ground)?;
                if depth < FULL_FLOW_DEPTH {
                    flow = flow.map(|part| part * depth);
                }
                total = sum(total, flow);
                cells += 1;
            }
        }
    }
    if cells == 0 || length_squared(total) < LEAST_FLOW_SQUARED {
        return Ok(depth);
    }
    let mean = total.map(|part| part * (1.0 / f64::from(cells)));
    let mut push = normalized(mean).map(|part| part * strength);
    let slow = body.velocity[0].abs() < 0.003 && body.velocity[2].abs() < 0.003;
    if slow && length_squared(push).sqrt() < LEAST_PUSH {
        push = normalized(push).map(|part| part * LEAST_PUSH);
    }
    body.velocity = sum(body.velocity, push);
    Ok(depth)
}

/// How high the fluid stands in a cell.
fn height_at<T: Terrain + ?Sized>(
    [x, y, z]: [i32; 3],
    fluid: Fluid,
    of: Kind,
    ground: Surroundings<'_, T>,
) -> Result<f32, Stop> {
    let covered = kind(fluid_at(ground, [x, y + 1, z])?) == Some(of);
    Ok(if covered { 1.0 } else { own_height(fluid) })
}

/// Where the water of a cell flows, and how high it stands there; `None` where there is no water, or where that takes
/// terrain that is not loaded.
pub(crate) fn water_at<T: Terrain + ?Sized>(
    cell: [i32; 3],
    ground: Surroundings<'_, T>,
) -> Option<([f64; 3], f32)> {
    let fluid = fluid_at(ground, cell).ok().filter(|&fluid| kind(fluid) == Some(Kind::Water))?;
    let height = height_at(cell, fluid, Kind::Water, ground).ok()?;
    Some((flow_at(cell, fluid, Kind::Water, ground).ok()?, height))
}

/// Where a fluid flows: from high to low over the four sides, and down along what holds a falling column.
fn flow_at<T: Terrain + ?Sized>(
    [x, y, z]: [i32; 3],
    fluid: Fluid,
    of: Kind,
    ground: Surroundings<'_, T>,
) -> Result<[f64; 3], Stop> {
    let mut flow = [0.0_f64; 3];
    for [step_x, step_z] in SIDES {
        let side = [x + step_x, y, z + step_z];
        let beside = fluid_at(ground, side)?;
        if kind(beside).is_some_and(|other| other != of) {
            continue;
        }
        let height = own_height(beside);
        let mut drop = 0.0_f32;
        if height == 0.0 {
            let material = loaded(ground, side)?;
            if !ground.materials.traits(material).has(Traits::BLOCKS_MOTION) {
                let below = fluid_at(ground, [side[0], y - 1, side[2]])?;
                if kind(below).is_none_or(|other| other == of) && own_height(below) > 0.0 {
                    drop = own_height(fluid) - (own_height(below) - 0.888_888_9_f32);
                }
            }
        } else {
            drop = own_height(fluid) - height;
        }
        if drop != 0.0 {
            flow[0] += f64::from(step_x as f32 * drop);
            flow[2] += f64::from(step_z as f32 * drop);
        }
    }
    if is_falling(fluid) {
        for [step_x, step_z] in SIDES {
            let side = [x + step_x, y, z + step_z];
            let above = [side[0], y + 1, side[2]];
            if holds(ground, side, of)? || holds(ground, above, of)? {
                flow = normalized(flow);
                flow[1] -= 6.0;
                break;
            }
        }
    }
    Ok(normalized(flow))
}

/// True where a falling column clings to the block.
fn holds<T: Terrain + ?Sized>(ground: Surroundings<'_, T>, cell: [i32; 3], of: Kind) -> Result<bool, Stop> {
    let material = loaded(ground, cell)?;
    let is_ice = ground.materials[material].friction > 0.9;
    Ok(kind(ground.materials[material].fluid) != Some(of)
        && !is_ice
        && ground.materials.traits(material).has(Traits::CUBE))
}

fn fluid_at<T: Terrain + ?Sized>(ground: Surroundings<'_, T>, cell: [i32; 3]) -> Result<Fluid, Stop> {
    let material: MaterialId = loaded(ground, cell)?;
    Ok(ground.materials[material].fluid)
}

fn own_height(fluid: Fluid) -> f32 {
    f32::from(fluid.amount()) / 9.0
}

fn is_falling(fluid: Fluid) -> bool {
    matches!(fluid, Fluid::Water { falling: true, .. } | Fluid::Lava { falling: true, .. })
}

/// The vector of length 1 in the same direction; none where it is shorter than 1e-5 (1e-4 until 1.21).
fn normalized(vector: [f64; 3]) -> [f64; 3] {
    let length = length_squared(vector).sqrt();
    if length < 1.0e-5 { [0.0; 3] } else { vector.map(|part| part / length) }
}

fn length_squared([x, y, z]: [f64; 3]) -> f64 {
    x * x + y * y + z * z
}
