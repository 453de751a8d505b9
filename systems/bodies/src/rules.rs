//! The numbers of the game's item motion, each once and with its type.
//!
//! Some are written in the game as single precision and widened; they are written so here too, because the last bit
//! of the widened value differs from the double-precision literal.

/// Half of the width of a dropped item.
pub const HALF_WIDTH: f64 = 0.125;
/// Height of a dropped item; its position is the middle of its lower face.
pub const HEIGHT: f64 = 0.25;
/// Taken from the vertical speed each tick, outside fluids.
pub const GRAVITY: f64 = 0.04;
/// Factor on the horizontal speed each tick in the air (single precision, widened).
pub const DRAG_HORIZONTAL: f64 = 0.98_f32 as f64;
/// Factor on the horizontal speed, before friction, of a body on the ground; multiplied in single precision.
pub const DRAG_GROUND: f32 = 0.98;
/// Factor on the vertical speed each tick.
pub const DRAG_VERTICAL: f64 = 0.98;
/// How far below the feet the block lies whose friction and speed factor count.
pub const FRICTION_DEPTH: f64 = 0.999_999_f32 as f64;
/// How far below the feet the block lies that a body falls on.
pub const LANDING_DEPTH: f64 = 0.2_f32 as f64;
/// A body on the ground whose squared horizontal speed is not above this moves every fourth tick only.
pub const THROTTLE_SPEED_SQUARED: f64 = 1.0e-5_f32 as f64;
/// Two components of a move that differ by less count as equal.
pub const SAME_MOVE: f64 = 1.0e-5_f32 as f64;
/// Distances below this are no distance.
pub const EPSILON: f64 = 1.0e-7;
/// Thickness of the slab under the feet in which a supporting block is looked for.
pub const SUPPORT_DEPTH: f64 = 1.0e-6;
/// Age in ticks at which an item vanishes: five minutes.
pub const DESPAWN_AGE: u32 = 6_000;
/// How far below the build range a body is lost.
pub const VOID_DEPTH: i32 = 64;
/// Positions beyond this are refused.
pub const POSITION_LIMIT: f64 = 1.0e8;
/// Speeds beyond this are refused.
pub const SPEED_LIMIT: f64 = 1.0e7;
/// A sweep over more cells than this along one axis is refused. Tested before the product, which could wrap.
pub const SPAN_LIMIT: i64 = 512;
/// A sweep over more cells than this in all is refused.
pub const CELL_LIMIT: i64 = 16_384;

/// What differs between versions and dimensions of the game.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Apply moves shorter than 0.0003 blocks where nothing cut them short (Minecraft Java 1.21.2 onward).
    /// Defaults to true.
    pub small_moves: bool,
    /// Speed that flowing lava adds in a tick. Defaults to 0.0023333333333333335; 0.007 in the Nether.
    pub lava_push: f64,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { small_moves: true, lava_push: 0.002_333_333_333_333_333_5 }
    }
}

/// The moment that a body is stepped at. Everything random is derived from it and the body's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// The tick being run.
    pub tick: u64,
    /// The seed of the simulation.
    pub seed: u64,
}
