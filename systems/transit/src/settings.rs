//! Fixed-point distances, and how fast and how close items move on a lane.

use super::network::LaneName;

/// Units in one block: all positions, speeds and spacings are whole numbers of 1/65,536 block.
pub const UNIT: u32 = 65_536;

/// How items move on a lane.
///
/// An item advances by `speed` a tick and never comes closer than `spacing` to the one ahead.
///
/// ```
/// use voxtick_transit::{LaneSettings, UNIT};
/// let slow = LaneSettings::new(UNIT / 20, UNIT / 4)?; // one block a second, four items a block
/// assert_eq!(slow.capacity(100), 401);
/// assert!(LaneSettings::new(0, UNIT / 4).is_err());
/// # Ok::<(), voxtick_transit::SettingsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaneSettings {
    speed: u32,
    spacing: u32,
    own_speed: bool,
}

/// Why items cannot move so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Nothing would ever arrive.
    #[error(
        "a lane cannot have speed 0: use at least 1/65536 block a tick, or unload the chunk to hold its items"
    )]
    NoSpeed,
    /// Items would pass through each other.
    #[error(
        "speed {speed}/65536 block a tick is above the spacing of {spacing}/65536: lower the speed or widen it"
    )]
    SpeedAboveSpacing {
        /// The speed asked for.
        speed: u32,
        /// The spacing asked for.
        spacing: u32,
    },
    /// Items would lie on top of each other.
    #[error("a lane cannot have spacing 0: use at least its speed, at most one block")]
    NoSpacing,
    /// A lane of one block would never take a second item.
    #[error("spacing {spacing}/65536 is more than one block: use at most 65536")]
    SpacingAboveBlock {
        /// The spacing asked for.
        spacing: u32,
    },
    /// There is no such lane.
    #[error("there is no {lane}: name a junction and a direction in which a whole segment leaves it")]
    NoLane {
        /// The lane asked for.
        lane: LaneName,
    },
    /// More different settings than can be numbered.
    #[error("there are 65536 different lane settings already: use fewer speeds")]
    TooMany,
}

impl LaneSettings {
    /// Items move `speed` units a tick, at least `spacing` units apart.
    ///
    /// # Errors
    /// Speed 0, spacing 0, a speed above the spacing, a spacing above one block.
    pub const fn new(speed: u32, spacing: u32) -> Result<LaneSettings, SettingsError> {
        if speed == 0 {
            return Err(SettingsError::NoSpeed);
        }
        if spacing == 0 {
            return Err(SettingsError::NoSpacing);
        }
        if spacing > UNIT {
            return Err(SettingsError::SpacingAboveBlock { spacing });
        }
        if speed > spacing {
            return Err(SettingsError::SpeedAboveSpacing { speed, spacing });
        }
        Ok(LaneSettings { speed, spacing, own_speed: false })
    }

    /// Every item moves at its own speed, at most at the lane's. Such a lane costs per item where it flows.
    #[must_use]
    pub const fn with_own_speeds(mut self) -> LaneSettings {
        self.own_speed = true;
        self
    }

    /// Units a tick.
    #[must_use]
    pub const fn speed(self) -> u32 {
        self.speed
    }

    /// The least distance of two items in units.
    #[must_use]
    pub const fn spacing(self) -> u32 {
        self.spacing
    }

    /// True where items move at their own speeds.
    #[must_use]
    pub const fn own_speeds(self) -> bool {
        self.own_speed
    }

    /// How many items fit on a lane of `blocks` steps, both ends included.
    #[must_use]
    pub const fn capacity(self, blocks: u32) -> u64 {
        (blocks as u64 * UNIT as u64) / self.spacing as u64 + 1
    }

    /// The settings of a lane that takes the place of lanes with these: the slower speed, the wider spacing.
    #[must_use]
    pub(crate) const fn slower(self, other: LaneSettings) -> LaneSettings {
        LaneSettings {
            speed: if self.speed < other.speed { self.speed } else { other.speed },
            spacing: if self.spacing > other.spacing { self.spacing } else { other.spacing },
            own_speed: self.own_speed || other.own_speed,
        }
    }
}

impl Default for LaneSettings {
    /// One block a second at 20 ticks a second, 1/8 block apart.
    fn default() -> LaneSettings {
        LaneSettings { speed: UNIT / 20, spacing: UNIT / 8, own_speed: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_under_which_items_could_overlap_or_never_arrive_are_refused() {
        assert_eq!(LaneSettings::new(0, 1), Err(SettingsError::NoSpeed));
        assert_eq!(LaneSettings::new(1, 0), Err(SettingsError::NoSpacing));
        assert_eq!(LaneSettings::new(5, 4), Err(SettingsError::SpeedAboveSpacing { speed: 5, spacing: 4 }));
        assert_eq!(
            LaneSettings::new(5, UNIT + 1),
            Err(SettingsError::SpacingAboveBlock { spacing: UNIT + 1 })
        );
        assert!(LaneSettings::new(UNIT, UNIT).is_ok());
    }
}
