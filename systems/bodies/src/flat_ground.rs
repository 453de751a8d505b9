//! The ground of most sleepers: tops of full cubes with nothing above them.
//!
//! Whether a sleeper rests on such ground, and how its speed decays there, follows from a word for each column that it
//! touches, and sleepers share columns. Whatever is not as plain is left to the exact path.

use crate::body::{Body, Flags, floor};
use crate::changed_cells::SLEEPER_REACH;
use crate::material::{Footing, MaterialId, Traits};
use crate::rules::EPSILON;
use crate::sleep;
use crate::terrain::{Surroundings, Terrain};

/// Columns along one edge: those of a chunk and one more on every side.
const EDGE: usize = 18;
/// Closer than this to the border of two columns, rounding could have a say in which of them carries a body.
const BORDER: f64 = 1.0e-6;

/// What a body at one height finds in a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Found {
    /// Nothing, neither at that height nor below.
    Open,
    /// The top of a full cube, on which speeds decay like this.
    Top(Flags),
    /// Anything else.
    Other,
}

/// What has been found so far around one chunk, while the terrain stays.
#[derive(Debug)]
pub(crate) struct FlatGround {
    west: i32,
    north: i32,
    /// With the height that was asked for last.
    columns: [Option<(i32, Found)>; EDGE * EDGE],
}

impl FlatGround {
    /// Nothing known yet of the columns from one before those of the chunk whose lowest cell is at `west` and `north`.
    pub(crate) fn around(west: i32, north: i32) -> FlatGround {
        FlatGround { west: west - 1, north: north - 1, columns: [None; EDGE * EDGE] }
    }

    /// How the speed of a sleeper decays here from its next move on, where that will be like its last; `None` where this
    /// ground does not tell.
    pub(crate) fn slide_of<T: Terrain>(
        &mut self,
        sleeper: &Body,
        ground: Surroundings<'_, T>,
    ) -> Option<Flags> {
        let [x, y, z] = sleeper.position;
        let [vx, _, vz] = sleeper.velocity;
        let [column_x, height, column_z] = sleeper.position.map(floor);
        let is_amid = |along: f64| along > BORDER && along < 1.0 - BORDER;
        let (east, south) = (x - f64::from(column_x), z - f64::from(column_z));
        // As slow as that it does not move, and grows only slower.
        let is_slow = vx * vx + vz * vz < 0.9 * EPSILON;
        if f64::from(height) != y || !is_slow || !is_amid(east) || !is_amid(south) {
            return None;
        }
        let beside = |along: f64| -i32::from(along < SLEEPER_REACH)..=i32::from(along > 1.0 - SLEEPER_REACH);
        for dz in beside(south) {
            for dx in beside(east) {
                if self.found([column_x + dx, height, column_z + dz], ground) == Found::Other {
                    return None;
                }
            }
        }
        // The column that its middle is in is the nearest, so it is the one that carries it.
        match self.found([column_x, height, column_z], ground) {
            Found::Top(slide) => Some(slide),
            Found::Open | Found::Other => None,
        }
    }

    fn found<T: Terrain>(&mut self, [x, y, z]: [i32; 3], ground: Surroundings<'_, T>) -> Found {
        let (column_x, column_z) = (x.wrapping_sub(self.west), z.wrapping_sub(self.north));
        let edge = 0..EDGE as i32;
        if !edge.contains(&column_x) || !edge.contains(&column_z) {
            return Found::Other;
        }
        let column = &mut self.columns[column_z as usize * EDGE + column_x as usize];
        match *column {
            Some((height, found)) if height == y => found,
            _ => {
                let found = look([x, y, z], ground);
                *column = Some((y, found));
                found
            }
        }
    }
}

fn look<T: Terrain>([x, y, z]: [i32; 3], ground: Surroundings<'_, T>) -> Found {
    let materials = ground.materials;
    let is_open = |id: MaterialId| {
        let traits = materials.traits(id);
        id != MaterialId::UNLOADED
            && !traits.has(Traits::BOXES)
            && !traits.has(Traits::FLUID)
            && !traits.has(Traits::EFFECT)
            && materials[id].speed_factor == 1.0
    };
    let below = ground.terrain.material(x, y.wrapping_sub(1), z);
    if !is_open(ground.terrain.material(x, y, z)) {
        return Found::Other;
    }
    if is_open(below) {
        return Found::Open;
    }
    let (traits, material) = (materials.traits(below), &materials[below]);
    let is_top = below != MaterialId::UNLOADED
        && traits.has(Traits::CUBE)
        && !traits.has(Traits::FLUID)
        && !traits.has(Traits::EFFECT)
        && material.footing == Footing::Plain;
    let slide = if is_top { sleep::slide_bits(material.friction, material.speed_factor) } else { None };
    slide.map_or(Found::Other, Found::Top)
}
