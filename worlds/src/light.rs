//! Where light levels are stored: per section one level for all cells, or 2,048 shared bytes.
//!
//! This module stores; how light spreads is the business of the light system.

use std::sync::Arc;

use crate::positions::SECTION_CELLS;

/// Bytes of one channel of one section: 4 bits a cell, the lower half of a byte first.
pub const NIBBLE_BYTES: usize = SECTION_CELLS / 2;

/// The two kinds of light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LightChannel {
    /// From torches, lava and the like.
    Block,
    /// From above.
    Sky,
}

/// One channel of light in one section.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LightLevels {
    /// Nothing is stored. For sky light the game reads this as 15 above the topmost stored section and as 0 below it;
    /// for block light as 0.
    #[default]
    Absent,
    /// Every cell has this level, 0 to 15.
    Uniform(u8),
    /// Two cells a byte, the lower half first, cells numbered `y * 256 + z * 16 + x`; shared until written to.
    Nibbles(Arc<[u8; NIBBLE_BYTES]>),
}

impl LightLevels {
    /// The level of `cell` (below 4,096), or `None` where nothing is stored.
    #[must_use]
    pub fn level(&self, cell: usize) -> Option<u8> {
        match self {
            LightLevels::Absent => None,
            LightLevels::Uniform(level) => Some(*level),
            LightLevels::Nibbles(nibbles) => Some(nibbles[cell / 2] >> (cell % 2 * 4) & 15),
        }
    }

    /// The same levels, as `Uniform` where all cells are alike.
    #[must_use]
    pub fn from_nibbles(nibbles: &[u8; NIBBLE_BYTES]) -> LightLevels {
        let first = nibbles[0];
        // PERF: every byte is as the one before it, which is one comparison of memory; byte by byte it costs ten times as
        // much.
        if first >> 4 == first & 15 && nibbles[1..] == nibbles[..NIBBLE_BYTES - 1] {
            LightLevels::Uniform(first & 15)
        } else {
            LightLevels::Nibbles(Arc::new(*nibbles))
        }
    }
}

/// Both channels of light of a chunk.
///
/// Entry `i` of each channel belongs to section `bottom_section + i`. As the game does, light is kept for one section
/// below and one above the build range, so `bottom_section` is one less than the chunk's lowest section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkLight {
    /// The section of the first entry.
    pub bottom_section: i32,
    /// Block light, one entry a section.
    pub block: Vec<LightLevels>,
    /// Sky light, one entry a section; all `Absent` in dimensions without a sky.
    pub sky: Vec<LightLevels>,
    /// True where the light was computed without one of the eight neighbours, so that cells near that edge may still
    /// become brighter.
    pub incomplete: bool,
}

impl ChunkLight {
    /// Light of which nothing is stored yet, for `section_count` sections from `min_section` up.
    #[must_use]
    pub fn absent(min_section: i32, section_count: usize) -> ChunkLight {
        ChunkLight {
            bottom_section: min_section - 1,
            block: vec![LightLevels::Absent; section_count + 2],
            sky: vec![LightLevels::Absent; section_count + 2],
            incomplete: false,
        }
    }

    /// One channel of section `section`, or `None` where that lies outside the stored range.
    #[must_use]
    pub fn levels(&self, channel: LightChannel, section: i32) -> Option<&LightLevels> {
        let entry = usize::try_from(section.checked_sub(self.bottom_section)?).ok()?;
        self.channel(channel).get(entry)
    }

    /// All sections of one channel, lowest first.
    #[must_use]
    pub fn channel(&self, channel: LightChannel) -> &[LightLevels] {
        match channel {
            LightChannel::Block => &self.block,
            LightChannel::Sky => &self.sky,
        }
    }

    /// All sections of one channel, lowest first, for writing.
    pub fn channel_mut(&mut self, channel: LightChannel) -> &mut Vec<LightLevels> {
        match channel {
            LightChannel::Block => &mut self.block,
            LightChannel::Sky => &mut self.sky,
        }
    }

    /// The level the game reads at `cell` of section `section`: what is stored, else for sky light 15 above the
    /// topmost stored section and 0 below it, else 0.
    #[must_use]
    pub fn level(&self, channel: LightChannel, section: i32, cell: usize) -> u8 {
        if let Some(level) = self.levels(channel, section).and_then(|levels| levels.level(cell)) {
            return level;
        }
        let above_all_stored = || {
            let top = self.sky.iter().rposition(|levels| *levels != LightLevels::Absent);
            top.is_some_and(|top| i64::from(section) > i64::from(self.bottom_section) + top as i64)
        };
        if channel == LightChannel::Sky && above_all_stored() { 15 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_sky_light_is_bright_above_what_is_stored_and_dark_below() {
        let mut light = ChunkLight::absent(0, 4);
        light.sky[2] = LightLevels::Uniform(9);
        assert_eq!(light.level(LightChannel::Sky, 2, 0), 15);
        assert_eq!(light.level(LightChannel::Sky, 1, 0), 9);
        assert_eq!(light.level(LightChannel::Sky, 0, 0), 0);
        assert_eq!(light.level(LightChannel::Sky, 900, 0), 15);
        assert_eq!(light.level(LightChannel::Block, 2, 0), 0);
    }

    #[test]
    fn sky_light_of_which_nothing_is_stored_is_dark() {
        assert_eq!(ChunkLight::absent(0, 4).level(LightChannel::Sky, 2, 0), 0);
    }

    #[test]
    fn like_nibbles_are_stored_as_one_level() {
        let mut nibbles = [0x77; NIBBLE_BYTES];
        assert_eq!(LightLevels::from_nibbles(&nibbles), LightLevels::Uniform(7));
        nibbles[1000] = 0x57;
        let levels = LightLevels::from_nibbles(&nibbles);
        assert_eq!((levels.level(2000), levels.level(2001)), (Some(7), Some(5)));
        assert_eq!(LightLevels::from_nibbles(&[0x70; NIBBLE_BYTES]).level(1), Some(7));
    }
}
