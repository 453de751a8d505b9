//! The motion of one body as a value, and the flags that go with it.

use crate::rules::{HALF_WIDTH, HEIGHT};

/// Position, velocity and flags of one dropped item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Middle of the lower face of its box, in blocks.
    pub position: [f64; 3],
    /// Blocks a tick.
    pub velocity: [f64; 3],
    /// See [`Flags`].
    pub flags: Flags,
}

/// What is known of a body beside its motion, one bit each; bits 24 and 25 hold the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u32);

impl Flags {
    /// Its last move was stopped by something below.
    pub const ON_GROUND: Flags = Flags(1);
    /// Its last move was stopped sideways.
    pub const HIT_SIDEWAYS: Flags = Flags(2);
    /// Its last move was stopped vertically.
    pub const HIT_VERTICALLY: Flags = Flags(4);
    /// It was stepped by the exact path in the last tick. Says nothing about results.
    pub const EXACT: Flags = Flags(8);
    /// Its position changed in the last tick.
    pub const MOVED: Flags = Flags(16);
    /// It rested on the ground and was not moved in the last tick: such bodies move every fourth tick.
    pub const THROTTLED: Flags = Flags(32);
    /// It stands on something that is no block under its box, such as the edge that its move has just left.
    pub const GROUND_NO_BLOCKS: Flags = Flags(64);
    /// It is held where it is because terrain that it needs is not loaded.
    pub const UNLOADED: Flags = Flags(128);
    /// Its values were refused: it is never moved.
    pub const QUARANTINED: Flags = Flags(1 << 8);
    /// It is stuck in a web until its next move.
    pub const STUCK_WEB: Flags = Flags(1 << 9);
    /// It is stuck in powder snow until its next move.
    pub const STUCK_SNOW: Flags = Flags(1 << 10);
    /// Nothing overlaps its box, and the terrain has not changed since that was found. Says nothing about results.
    pub const CLEAR: Flags = Flags(1 << 11);
    /// It never vanishes with age.
    pub const NEVER_DESPAWN: Flags = Flags(1 << 12);
    /// Its block position changed in the last tick.
    pub const MOVED_BLOCK: Flags = Flags(1 << 13);

    /// It sleeps: it repeats itself, and its vertical speed is not stored.
    pub(crate) const SLEEPS: Flags = Flags(1 << 14);
    /// How a sleeper's speed decays: three bits, see the module `sleep`.
    pub(crate) const SLIDE: Flags = Flags(7 << 15);
    /// It was in water, and nothing but water, air and full cubes was near it. Says nothing about results.
    pub(crate) const WET: Flags = Flags(1 << 18);
    /// It has left its pool, or is lost.
    pub(crate) const LEFT: Flags = Flags(1 << 26);
    /// It has landed.
    pub(crate) const LANDED: Flags = Flags(1 << 27);
    /// It has come to rest.
    pub(crate) const RESTS: Flags = Flags(1 << 28);
    /// It has been quarantined.
    pub(crate) const REFUSED: Flags = Flags(1 << 29);
    /// It has been merged away and is about to be removed.
    pub(crate) const GONE: Flags = Flags(1 << 30);
    /// What a pool has to deal with after its rows were stepped.
    pub(crate) const PENDING: Flags =
        Flags(Flags::LEFT.0 | Flags::LANDED.0 | Flags::RESTS.0 | Flags::REFUSED.0);

    /// The bits that are results: equal however a body was stepped.
    pub const RESULTS: Flags = Flags(
        !(Flags::EXACT.0
            | Flags::CLEAR.0
            | Flags::SLEEPS.0
            | Flags::SLIDE.0
            | Flags::WET.0
            | Flags::PENDING.0),
    );
    /// The bits that each step sets anew.
    pub(crate) const OUTPUTS: Flags = Flags(
        Flags::MOVED.0
            | Flags::MOVED_BLOCK.0
            | Flags::THROTTLED.0
            | Flags::UNLOADED.0
            | Flags::EXACT.0
            | Flags::WET.0,
    );

    const PHASE_SHIFT: u32 = 24;

    /// These without the bits that are no results.
    #[must_use]
    pub const fn results(self) -> Flags {
        Flags(self.0 & Flags::RESULTS.0)
    }

    /// True where all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and those of `other`.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// These without those of `other`.
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// These with those of `other` set or not.
    #[must_use]
    pub const fn set(self, other: Flags, value: bool) -> Flags {
        if value { self.with(other) } else { self.without(other) }
    }

    /// Flags of a body that has phase 0, and so moves at rest, in ticks `t` with `(t + offset) % 4 == 0`.
    #[must_use]
    pub const fn with_phase_offset(self, offset: u32) -> Flags {
        Flags(self.0 & !(3 << Flags::PHASE_SHIFT) | ((offset & 3) << Flags::PHASE_SHIFT))
    }

    /// The body's place in the cycle of four ticks.
    #[must_use]
    pub const fn phase_offset(self) -> u32 {
        self.0 >> Flags::PHASE_SHIFT & 3
    }

    /// The phase in `tick`: a resting body moves in phase 0 only.
    #[must_use]
    pub const fn phase(self, tick: u64) -> u32 {
        (self.phase_offset() + (tick & 3) as u32) & 3
    }
}

impl Body {
    /// A body in the air.
    #[must_use]
    pub const fn new(position: [f64; 3], velocity: [f64; 3]) -> Body {
        Body { position, velocity, flags: Flags(0) }
    }

    /// The box that the body fills.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let [x, y, z] = self.position;
        Bounds { min: [x - HALF_WIDTH, y, z - HALF_WIDTH], max: [x + HALF_WIDTH, y + HEIGHT, z + HALF_WIDTH] }
    }
}

/// A box along the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lowest corner.
    pub min: [f64; 3],
    /// Highest corner.
    pub max: [f64; 3],
}

impl Bounds {
    /// The box and all that it passes on a straight move by `by`.
    #[must_use]
    pub fn swept(mut self, by: [f64; 3]) -> Bounds {
        for (axis, by) in by.into_iter().enumerate() {
            if by < 0.0 {
                self.min[axis] += by;
            } else if by > 0.0 {
                self.max[axis] += by;
            }
        }
        self
    }

    /// The box smaller by `by` on every side.
    #[must_use]
    pub fn deflated(mut self, by: f64) -> Bounds {
        for axis in 0..3 {
            self.min[axis] += by;
            self.max[axis] -= by;
        }
        self
    }

    /// True where the boxes share more than a face.
    #[must_use]
    pub fn overlaps(&self, other: &Bounds) -> bool {
        (0..3).all(|axis| self.min[axis] < other.max[axis] && self.max[axis] > other.min[axis])
    }

    /// The cell of the lowest corner, and the first beyond the highest on each axis.
    pub(crate) fn cells(&self) -> ([i32; 3], [i32; 3]) {
        (self.min.map(floor), self.max.map(ceil))
    }
}

/// The whole number at or below `value`, brought into ±2^30; not a number gives the lower end.
pub(crate) fn floor(value: f64) -> i32 {
    let clamped = clamp(value);
    let truncated = clamped as i32;
    truncated - i32::from(f64::from(truncated) > clamped)
}

/// The whole number at or above `value`, brought into ±2^30; not a number gives the lower end.
pub(crate) fn ceil(value: f64) -> i32 {
    let clamped = clamp(value);
    let truncated = clamped as i32;
    truncated + i32::from(f64::from(truncated) < clamped)
}

fn clamp(value: f64) -> f64 {
    if value.is_nan() { -1_073_741_824.0 } else { value.clamp(-1_073_741_824.0, 1_073_741_823.0) }
}

/// Both, axis by axis.
pub(crate) fn sum(one: [f64; 3], other: [f64; 3]) -> [f64; 3] {
    [one[0] + other[0], one[1] + other[1], one[2] + other[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_hostile_values_stay_in_range() {
        assert_eq!((floor(-0.5), floor(-1.0), floor(2.9)), (-1, -1, 2));
        assert_eq!((ceil(-0.5), ceil(-1.0), ceil(2.1)), (0, -1, 3));
        assert_eq!(floor(f64::NAN), -(1 << 30));
        assert_eq!((floor(1.0e300), ceil(f64::INFINITY)), ((1 << 30) - 1, (1 << 30) - 1));
        assert_eq!((floor(-1.0e300), ceil(f64::NEG_INFINITY)), (-(1 << 30), -(1 << 30)));
    }

    #[test]
    fn phases_follow_the_tick() {
        let flags = Flags::ON_GROUND.with_phase_offset(3);
        assert_eq!([0, 1, 2, 5].map(|tick| flags.phase(tick)), [3, 0, 1, 0]);
        assert!(flags.has(Flags::ON_GROUND));
    }
}
