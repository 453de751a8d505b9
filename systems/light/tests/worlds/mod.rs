//! Small random worlds over everything that is hard for light, shared by the tests of this crate.

use voxtick_worlds::generators::split_mix;
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, Section, StateId, World};

/// States that light treats in different ways: slabs, stairs in every orientation, farmland, paths, snow, glass,
/// leaves, water, ice, cobweb, furnaces, candles, light blocks, trapdoors, pistons, hoppers, lecterns and more.
pub(crate) fn corpus(states: &BlockStates) -> Vec<StateId> {
    let mut corpus: Vec<StateId> = [
        "air",
        "stone",
        "oak_slab[type=top]",
        "oak_slab[type=bottom]",
        "oak_slab[type=double]",
        "farmland",
        "dirt_path",
        "snow[layers=1]",
        "snow[layers=4]",
        "snow[layers=8]",
        "glass",
        "tinted_glass",
        "oak_leaves",
        "water",
        "ice",
        "cobweb",
        "furnace[lit=false]",
        "furnace[lit=true]",
        "candle[candles=3,lit=true]",
        "sea_pickle[pickles=4,waterlogged=true]",
        "light[level=9]",
        "light[level=1,waterlogged=true]",
        "piston[extended=true,facing=up]",
        "piston[extended=true,facing=west]",
        "piston_head[facing=north]",
        "hopper",
        "lectern",
        "torch",
        "glowstone",
        "sea_lantern",
        "redstone_torch",
        "magma_block",
        "lava",
        "enchanting_table",
        "end_portal_frame",
        "daylight_detector",
        "stonecutter",
    ]
    .iter()
    .map(|text| states.parse(text).expect("a state of the table"))
    .collect();
    for block in ["oak_stairs", "stone_brick_stairs", "oak_trapdoor"] {
        corpus.extend(states.states_of(block).expect("a block of the table").map(StateId));
    }
    corpus
}

/// A random number below `bound`, and the next state of the generator.
pub(crate) fn below(random: &mut u64, bound: usize) -> usize {
    *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    (split_mix(*random) % bound as u64) as usize
}

/// A world of `x` by `z` chunks, two sections high, of which one in a few cells is taken from the corpus; how many
/// and whether there is a sky differs from seed to seed.
pub(crate) fn random_world(seed: u64, x: i32, z: i32) -> World {
    let random = &mut { seed };
    let has_sky = below(random, 4) > 0;
    let dimension = Dimension::new("test", -16, 32, has_sky).expect("a valid range");
    let states = BlockStates::load();
    let corpus = corpus(&states);
    let sparseness = [1, 2, 4, 12, 60][below(random, 5)];
    let mut world = World::new(dimension, states.clone());
    for chunk_x in 0..x {
        for chunk_z in 0..z {
            let sections = (0..2).map(|_| random_section(random, &corpus, sparseness)).collect();
            let chunk = Chunk::from_sections(ChunkPos::new(chunk_x - 1, chunk_z - 1), -1, sections);
            world.insert_chunk(chunk);
        }
    }
    world
}

fn random_section(random: &mut u64, corpus: &[StateId], sparseness: usize) -> Section {
    if below(random, 8) == 0 {
        return Section::uniform(corpus[below(random, 2)]);
    }
    let mut indices = [0; 4096];
    // Half of the filled cells are plain stone, so that there is something for light to go around.
    for index in &mut indices {
        if below(random, sparseness) == 0 {
            *index = if below(random, 2) == 0 { 1 } else { below(random, corpus.len()) as u16 };
        }
    }
    Section::from_palette(corpus, &indices).expect("indices within the corpus")
}
