//! Colours of blocks and of light levels, for people to recognise and nothing more.

use std::collections::BTreeMap;

use voxtick::worlds::{BlockStates, LightChannel, StateId};

/// Red, green, blue.
pub(super) type Rgb = [u8; 3];

/// The first entry whose word is part of a block's name decides; so what is more particular stands first.
const COLOURS: [(&str, Rgb); 61] = [
    ("grass_block", [103, 148, 70]),
    ("short_grass", [110, 156, 76]),
    ("tall_grass", [110, 156, 76]),
    ("fern", [96, 144, 72]),
    ("cherry_leaves", [229, 173, 194]),
    ("azalea", [112, 146, 45]),
    ("birch_leaves", [104, 136, 72]),
    ("spruce_leaves", [62, 98, 62]),
    ("leaves", [66, 112, 40]),
    ("vine", [66, 112, 40]),
    ("moss", [89, 109, 45]),
    ("water", [56, 92, 176]),
    ("kelp", [52, 96, 140]),
    ("seagrass", [52, 104, 140]),
    ("bubble_column", [70, 104, 190]),
    ("lava", [224, 104, 24]),
    ("magma", [160, 72, 32]),
    ("packed_ice", [140, 180, 236]),
    ("blue_ice", [116, 168, 248]),
    ("ice", [150, 188, 248]),
    ("snow", [246, 250, 252]),
    ("red_sand", [190, 103, 33]),
    ("sandstone", [216, 203, 155]),
    ("sand", [219, 207, 163]),
    ("gravel", [131, 127, 126]),
    ("coarse_dirt", [119, 85, 59]),
    ("podzol", [91, 63, 24]),
    ("mycelium", [111, 98, 101]),
    ("path", [148, 122, 65]),
    ("farmland", [92, 60, 34]),
    ("mud", [60, 57, 60]),
    ("dirt", [134, 96, 67]),
    ("clay", [160, 166, 179]),
    ("terracotta", [152, 94, 67]),
    ("deepslate", [80, 80, 82]),
    ("bedrock", [60, 60, 60]),
    ("tuff", [108, 109, 102]),
    ("granite", [149, 103, 85]),
    ("diorite", [188, 188, 188]),
    ("andesite", [136, 136, 136]),
    ("calcite", [223, 224, 220]),
    ("basalt", [80, 81, 86]),
    ("blackstone", [42, 36, 41]),
    ("netherrack", [97, 38, 38]),
    ("end_stone", [219, 222, 158]),
    ("obsidian", [20, 18, 30]),
    ("glowstone", [240, 208, 120]),
    ("torch", [255, 214, 120]),
    ("lantern", [240, 190, 110]),
    ("glass", [190, 220, 228]),
    ("wool", [220, 220, 220]),
    ("concrete", [170, 170, 170]),
    ("birch", [192, 175, 121]),
    ("spruce", [114, 84, 48]),
    ("dark_oak", [66, 43, 20]),
    ("oak", [162, 130, 78]),
    ("log", [108, 84, 52]),
    ("planks", [162, 130, 78]),
    ("brick", [150, 97, 83]),
    ("cobblestone", [127, 127, 127]),
    ("stone", [125, 125, 125]),
];

/// Colours of states, each worked out once.
pub(super) struct Palette<'a> {
    states: &'a BlockStates,
    known: BTreeMap<StateId, Rgb>,
}

impl<'a> Palette<'a> {
    pub(super) const fn new(states: &'a BlockStates) -> Palette<'a> {
        Palette { states, known: BTreeMap::new() }
    }

    pub(super) fn colour(&mut self, state: StateId) -> Rgb {
        let states = self.states;
        *self.known.entry(state).or_insert_with(|| of_name(states.name(state)))
    }
}

fn of_name(name: &str) -> Rgb {
    COLOURS.iter().find(|(word, _)| name.contains(word)).map_or_else(
        || {
            // Any other block has a muted colour of its own, the same in every picture.
            let hash = name
                .bytes()
                .fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
            [hash, hash >> 8, hash >> 16].map(|part| 80 + (part & 127) as u8)
        },
        |&(_, colour)| colour,
    )
}

/// Sky light from night blue to daylight, block light from black over ember to candle.
pub(super) fn light(channel: LightChannel, level: u8) -> Rgb {
    let (dark, bright): (Rgb, Rgb) = match channel {
        LightChannel::Sky => ([8, 10, 40], [232, 240, 255]),
        LightChannel::Block => ([6, 4, 10], [255, 226, 150]),
    };
    let level = u32::from(level.min(15));
    std::array::from_fn(|part| {
        let (dark, bright) = (u32::from(dark[part]), u32::from(bright[part]));
        (dark + (bright - dark) * level / 15) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_particular_wins() {
        assert_eq!(of_name("minecraft:red_sandstone"), of_name("minecraft:red_sand"));
        assert_ne!(of_name("minecraft:cherry_leaves"), of_name("minecraft:oak_leaves"));
        assert_ne!(of_name("mod:widget"), of_name("mod:gadget"));
    }

    #[test]
    fn brighter_levels_have_brighter_colours() {
        for channel in [LightChannel::Sky, LightChannel::Block] {
            for level in 1..16 {
                let (darker, brighter) = (light(channel, level - 1), light(channel, level));
                assert!(darker.iter().zip(brighter).all(|(&a, b)| a < b), "{channel:?} {level}");
            }
        }
    }
}
