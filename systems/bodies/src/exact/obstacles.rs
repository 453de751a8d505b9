//! What is in the way of a box: gathered once a move, in the game's order, then asked axis by axis.

use crate::body::{Body, Bounds};
use crate::exact::Stop;
use crate::material::{MaterialId, Materials, Traits};
use crate::rules::{CELL_LIMIT, EPSILON, GRAVITY, SPAN_LIMIT};
use crate::terrain::{Surroundings, Terrain};

/// One block with something to collide with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Obstacle {
    pub(crate) cell: [i32; 3],
    material: MaterialId,
    is_cube: bool,
}

/// True where a body that only falls on from here can meet nothing but air and full cubes like stone: then nothing but
/// gravity, collision and drag can act on it.
///
/// Covers all cells that the move can touch and one row below them, where the block lies whose friction counts.
pub(crate) fn is_plain<T: Terrain + ?Sized>(body: &Body, ground: Surroundings<'_, T>) -> bool {
    let [vx, vy, vz] = body.velocity;
    let (low, high) = body.bounds().swept([vx, vy - GRAVITY, vz]).cells();
    if check_extent(low, high).is_err() {
        return false;
    }
    for z in low[2]..high[2] {
        for y in low[1] - 1..high[1] {
            for x in low[0]..high[0] {
                let material = ground.terrain.material(x, y, z);
                if material == MaterialId::UNLOADED || !ground.materials.traits(material).has(Traits::PLAIN) {
                    return false;
                }
            }
        }
    }
    true
}

/// Fills `found` with the blocks whose shapes overlap `space`, `z` outermost, then `y`, then `x`.
///
/// Where the terrain is not plain, the row below is looked at too, for shapes that are taller than their cell.
pub(crate) fn gather<T: Terrain + ?Sized>(
    space: &Bounds,
    is_plain: bool,
    ground: Surroundings<'_, T>,
    found: &mut Vec<Obstacle>,
) -> Result<(), Stop> {
    found.clear();
    visit(space, is_plain, ground, |obstacle| found.push(obstacle))
}

/// True where the shape of any block overlaps `space`.
pub(crate) fn any_overlapping<T: Terrain + ?Sized>(
    space: &Bounds,
    is_plain: bool,
    ground: Surroundings<'_, T>,
) -> Result<bool, Stop> {
    let mut any = false;
    visit(space, is_plain, ground, |_| any = true)?;
    Ok(any)
}

/// Shows every block whose shape overlaps `space`; see [`gather`] for the order.
#[inline]
fn visit<T: Terrain + ?Sized>(
    space: &Bounds,
    is_plain: bool,
    ground: Surroundings<'_, T>,
    mut show: impl FnMut(Obstacle),
) -> Result<(), Stop> {
    let (low, high) = space.cells();
    check_extent(low, high)?;
    for z in low[2]..high[2] {
        for y in low[1] - i32::from(!is_plain)..high[1] {
            for x in low[0]..high[0] {
                let material = ground.terrain.material(x, y, z);
                if material == MaterialId::UNLOADED {
                    if y < low[1] {
                        continue;
                    }
                    return Err(Stop::Unloaded);
                }
                if let Some(obstacle) = obstacle_at([x, y, z], material, low[1], space, ground.materials) {
                    show(obstacle);
                }
            }
        }
    }
    Ok(())
}

/// True where a fluid or a block that does something to bodies is in `space`, or what is there is not known.
pub(crate) fn any_influence<T: Terrain + ?Sized>(space: &Bounds, ground: Surroundings<'_, T>) -> bool {
    let (low, high) = space.cells();
    if check_extent(low, high).is_err() {
        return true;
    }
    let acts = |[x, y, z]: [i32; 3]| {
        let material = ground.terrain.material(x, y, z);
        material == MaterialId::UNLOADED || {
            let traits = ground.materials.traits(material);
            traits.has(Traits::FLUID) || traits.has(Traits::EFFECT)
        }
    };
    (low[2]..high[2]).any(|z| (low[1]..high[1]).any(|y| (low[0]..high[0]).any(|x| acts([x, y, z]))))
}

fn obstacle_at(
    cell: [i32; 3],
    material: MaterialId,
    lowest: i32,
    space: &Bounds,
    materials: &Materials,
) -> Option<Obstacle> {
    let traits = materials.traits(material);
    let wanted = if cell[1] < lowest { Traits::TALL } else { Traits::BOXES };
    if !traits.has(wanted) {
        return None;
    }
    let is_cube = traits.has(Traits::CUBE);
    let obstacle = Obstacle { cell, material, is_cube };
    (is_cube || obstacle.boxes(materials).any(|shape| overlaps_clearly(&shape, space))).then_some(obstacle)
}

/// Shapes are compared with a tolerance where they are not full cubes.
fn overlaps_clearly(shape: &Bounds, space: &Bounds) -> bool {
    (0..3).all(|axis| {
        shape.max[axis] > space.min[axis] + EPSILON && shape.min[axis] < space.max[axis] - EPSILON
    })
}

/// Axis by axis before the product: three long spans can multiply to nothing.
fn check_extent(low: [i32; 3], high: [i32; 3]) -> Result<(), Stop> {
    let mut cells = 1;
    for axis in 0..3 {
        let span = i64::from(high[axis]) - i64::from(low[axis]);
        if span > SPAN_LIMIT {
            return Err(Stop::TooFar);
        }
        cells *= span;
    }
    if cells > CELL_LIMIT { Err(Stop::TooFar) } else { Ok(()) }
}

impl Obstacle {
    fn boxes<'a>(&self, materials: &'a Materials) -> impl Iterator<Item = Bounds> + 'a {
        let corner = self.cell.map(f64::from);
        materials[self.material].boxes.iter().map(move |shape| Bounds {
            min: [0, 1, 2].map(|axis| corner[axis] + shape.min[axis]),
            max: [0, 1, 2].map(|axis| corner[axis] + shape.max[axis]),
        })
    }

    /// How much of the way `by` along `axis` this leaves to `body`.
    fn shorten(&self, axis: usize, body: &Bounds, by: f64, materials: &Materials) -> f64 {
        if self.is_cube {
            let min = self.cell.map(f64::from);
            return shorten(axis, body, by, &Bounds { min, max: min.map(|corner| corner + 1.0) });
        }
        self.boxes(materials).fold(by, |by, shape| shorten(axis, body, by, &shape))
    }
}

fn shorten(axis: usize, body: &Bounds, by: f64, shape: &Bounds) -> f64 {
    for other in [(axis + 1) % 3, (axis + 2) % 3] {
        if body.min[other] + EPSILON >= shape.max[other] || body.max[other] - EPSILON < shape.min[other] {
            return by;
        }
    }
    if by > 0.0 && body.max[axis] - EPSILON < shape.min[axis] {
        by.min(shape.min[axis] - body.max[axis])
    } else if by < 0.0 && body.min[axis] + EPSILON >= shape.max[axis] {
        by.max(shape.max[axis] - body.min[axis])
    } else {
        by
    }
}

/// How much of the way `by` along `axis` all obstacles leave to `body`.
///
/// A way that has become shorter than 1e-7 is none for the next obstacle, but stays as it is after the last one: that
/// is the game's loop, to the bit.
pub(crate) fn collide(
    axis: usize,
    body: &Bounds,
    by: f64,
    obstacles: &[Obstacle],
    materials: &Materials,
) -> f64 {
    let mut left = by;
    for obstacle in obstacles {
        if left.abs() < EPSILON {
            return 0.0;
        }
        left = obstacle.shorten(axis, body, left, materials);
    }
    left
}
