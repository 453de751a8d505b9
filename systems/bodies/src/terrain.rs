//! What bodies move through, seen one cell at a time.

use crate::material::{MaterialId, Materials};

/// Terrain that answers what stands in a cell.
///
/// Implement it over whatever stores your blocks; see the crate's page for an example. It must give the same answer for
/// the same cell throughout a tick.
pub trait Terrain {
    /// The material at a cell; [`MaterialId::UNLOADED`] where nothing is known. A body that needs such a cell is held.
    fn material(&self, x: i32, y: i32, z: i32) -> MaterialId;
}

/// A terrain and the table that its answers point into.
#[derive(Debug)]
pub struct Surroundings<'a, T: ?Sized> {
    /// The cells.
    pub terrain: &'a T,
    /// What they are.
    pub materials: &'a Materials,
}

impl<T: ?Sized> Clone for Surroundings<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Surroundings<'_, T> {}

/// A box of cells in one flat array, `x` innermost, then `z`, then `y`; all outside counts as not loaded.
#[derive(Debug, Clone)]
pub struct GridTerrain {
    origin: [i32; 3],
    size: [i32; 3],
    open_above_and_below: bool,
    cells: Vec<MaterialId>,
}

impl GridTerrain {
    /// A box of air. Sizes are brought into 0 to 4,096.
    #[must_use]
    pub fn new(origin: [i32; 3], size: [i32; 3]) -> GridTerrain {
        let size = size.map(|edge| edge.clamp(0, 4_096));
        let count = size.iter().map(|&edge| edge as usize).product();
        GridTerrain { origin, size, open_above_and_below: false, cells: vec![MaterialId::AIR; count] }
    }

    /// The same box, with air above and below it instead of terrain that is not loaded.
    #[must_use]
    pub const fn open_above_and_below(mut self) -> GridTerrain {
        self.open_above_and_below = true;
        self
    }

    /// Writes one cell. Outside the box nothing happens.
    pub fn set(&mut self, x: i32, y: i32, z: i32, material: MaterialId) {
        if let Some(place) = self.place(x, y, z) {
            self.cells[place] = material;
        }
    }

    fn place(&self, x: i32, y: i32, z: i32) -> Option<usize> {
        let (x, y, z) =
            (x.wrapping_sub(self.origin[0]), y.wrapping_sub(self.origin[1]), z.wrapping_sub(self.origin[2]));
        let inside = (x as u32) < self.size[0] as u32
            && (y as u32) < self.size[1] as u32
            && (z as u32) < self.size[2] as u32;
        inside.then(|| ((y * self.size[2] + z) * self.size[0] + x) as usize)
    }
}

impl Terrain for GridTerrain {
    #[inline]
    fn material(&self, x: i32, y: i32, z: i32) -> MaterialId {
        match self.place(x, y, z) {
            Some(place) => self.cells[place],
            None if self.open_above_and_below && self.place(x, self.origin[1], z).is_some() => {
                MaterialId::AIR
            }
            None => MaterialId::UNLOADED,
        }
    }
}
