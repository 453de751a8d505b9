//! The light of a world compared with that of the flood fill from nothing.

use voxtick_light::reference::FlatLight;
use voxtick_worlds::{ChunkLight, ChunkPos, LightLevels, World};

/// Asserts that every chunk of `world` has the light that the flood fill gives it.
pub(crate) fn assert_lit_as_from_nothing(world: &World, story: &str) {
    let positions: Vec<ChunkPos> = world.chunk_positions().collect();
    let mut fresh = FlatLight::new(world, &positions);
    fresh.light_all();
    for position in positions {
        let light = world.chunk(position).and_then(|chunk| chunk.light.as_deref()).map(tight);
        let expected = fresh.chunk_light(position);
        assert!(light == expected, "{position} {story}: {}", first_difference(light, expected));
    }
}

/// Levels that are all alike in the one form that the flood fill gives them.
fn tight(light: &ChunkLight) -> ChunkLight {
    let mut light = light.clone();
    for levels in light.block.iter_mut().chain(&mut light.sky) {
        if let LightLevels::Nibbles(nibbles) = levels {
            *levels = LightLevels::from_nibbles(nibbles);
        }
    }
    light
}

fn first_difference(light: Option<ChunkLight>, expected: Option<ChunkLight>) -> String {
    let (Some(light), Some(expected)) = (light, expected) else { return "not lit".to_owned() };
    for (name, found, expected) in
        [("block", &light.block, &expected.block), ("sky", &light.sky, &expected.sky)]
    {
        for (entry, (found, expected)) in found.iter().zip(expected).enumerate() {
            for cell in 0..4096 {
                if found.level(cell) != expected.level(cell) {
                    return format!(
                        "{name} light, entry {entry}, cell {cell} is {:?}, not {:?}",
                        found.level(cell),
                        expected.level(cell)
                    );
                }
            }
        }
    }
    format!("incomplete is {}, not {}", light.incomplete, expected.incomplete)
}
