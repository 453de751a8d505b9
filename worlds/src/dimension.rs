//! What holds for a whole dimension: its build range and whether it has a sky.

use crate::positions::SECTION_EDGE;

/// The most sections a build range may have: the game's own limit is 4,064 blocks, 254 sections.
pub const MAX_SECTIONS: usize = 256;

/// The build range and the sky of a dimension.
///
/// ```
/// use voxtick_worlds::Dimension;
/// let overworld = Dimension::overworld();
/// assert_eq!((overworld.min_section(), overworld.section_count()), (-4, 24));
/// assert!(overworld.contains_height(319) && !overworld.contains_height(320));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    name: String,
    min_section: i32,
    section_count: usize,
    has_sky: bool,
}

/// Why there can be no such dimension.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DimensionError {
    /// The bottom or the height is no whole number of sections.
    #[error(
        "build range of `{name}` from y = {min_y}, {height} high, is not made of whole sections: use multiples of 16"
    )]
    NotWholeSections {
        /// The dimension.
        name: String,
        /// Its lowest block.
        min_y: i32,
        /// Its height in blocks.
        height: i32,
    },
    /// The range is empty or larger than [`MAX_SECTIONS`], or ends outside what the game can address.
    #[error(
        "build range of `{name}` from y = {min_y}, {height} high, is out of bounds: 16 to 4096 high, within -2048..2048"
    )]
    OutOfBounds {
        /// The dimension.
        name: String,
        /// Its lowest block.
        min_y: i32,
        /// Its height in blocks.
        height: i32,
    },
}

impl Dimension {
    /// A dimension whose blocks lie at `min_y <= y < min_y + height`.
    ///
    /// # Errors
    /// [`DimensionError`] where the range is not made of whole sections or leaves -2048..2048, the heights that the
    /// game can address.
    pub fn new(name: &str, min_y: i32, height: i32, has_sky: bool) -> Result<Dimension, DimensionError> {
        let edge = SECTION_EDGE as i32;
        if min_y % edge != 0 || height % edge != 0 {
            return Err(DimensionError::NotWholeSections { name: name.to_owned(), min_y, height });
        }
        let top = min_y.checked_add(height);
        if height < edge || min_y < -2048 || top.is_none_or(|top| top > 2048) {
            return Err(DimensionError::OutOfBounds { name: name.to_owned(), min_y, height });
        }
        Ok(Dimension {
            name: name.to_owned(),
            min_section: min_y / edge,
            section_count: (height / edge) as usize,
            has_sky,
        })
    }

    /// The overworld since 1.18: y = -64 to 319.
    #[must_use]
    pub fn overworld() -> Dimension {
        Dimension {
            name: "minecraft:overworld".to_owned(),
            min_section: -4,
            section_count: 24,
            has_sky: true,
        }
    }

    /// The overworld until 1.17: y = 0 to 255.
    #[must_use]
    pub fn overworld_before_1_18() -> Dimension {
        Dimension { min_section: 0, section_count: 16, ..Dimension::overworld() }
    }

    /// The nether: y = 0 to 255, no sky.
    #[must_use]
    pub fn nether() -> Dimension {
        Dimension {
            name: "minecraft:the_nether".to_owned(),
            min_section: 0,
            section_count: 16,
            has_sky: false,
        }
    }

    /// The end: y = 0 to 255, no sky light.
    #[must_use]
    pub fn end() -> Dimension {
        Dimension { name: "minecraft:the_end".to_owned(), ..Dimension::nether() }
    }

    /// The namespaced name, such as `minecraft:overworld`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lowest section.
    #[must_use]
    pub const fn min_section(&self) -> i32 {
        self.min_section
    }

    /// How many sections a chunk has.
    #[must_use]
    pub const fn section_count(&self) -> usize {
        self.section_count
    }

    /// The height of the lowest block.
    #[must_use]
    pub const fn min_y(&self) -> i32 {
        self.min_section * SECTION_EDGE as i32
    }

    /// One above the height of the topmost block.
    #[must_use]
    pub const fn max_y(&self) -> i32 {
        self.min_y() + (self.section_count * SECTION_EDGE) as i32
    }

    /// True where sky light falls.
    #[must_use]
    pub const fn has_sky(&self) -> bool {
        self.has_sky
    }

    /// True where a block can stand at height `y`.
    #[must_use]
    pub const fn contains_height(&self, y: i32) -> bool {
        self.min_y() <= y && y < self.max_y()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_cannot_be_are_refused() {
        assert!(matches!(Dimension::new("a", -60, 384, true), Err(DimensionError::NotWholeSections { .. })));
        for (min_y, height) in [(0, 0), (0, -16), (-4096, 16), (2032, 32), (i32::MAX - 15, 16), (-2048, 4112)]
        {
            assert!(
                matches!(Dimension::new("a", min_y, height, true), Err(DimensionError::OutOfBounds { .. })),
                "{min_y} {height}"
            );
        }
        let widest = Dimension::new("a", -2048, 4096, false).expect("the widest range");
        assert_eq!(widest.section_count(), MAX_SECTIONS);
    }
}
