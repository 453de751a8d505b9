//! The boxes that bodies collide with.

/// One box of a state's collision shape, in blocks, relative to the lowest corner of the state's cell.
///
/// Most lie within 0 to 1. Fences, walls and closed gates reach y = 1.5; the head of a moving piston arm reaches
/// a quarter of a block into a neighbour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollisionBox {
    /// Lowest corner: x, y, z.
    pub min: [f64; 3],
    /// Highest corner: x, y, z.
    pub max: [f64; 3],
}

impl CollisionBox {
    /// The cube that fills its cell.
    pub const UNIT_CUBE: CollisionBox = CollisionBox { min: [0.0; 3], max: [1.0; 3] };

    /// Whether this is exactly the cube that fills its cell.
    #[must_use]
    pub fn is_unit_cube(&self) -> bool {
        *self == CollisionBox::UNIT_CUBE
    }
}
