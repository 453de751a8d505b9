//! The kernels give the same bytes as the flood fill: on random worlds over the whole corpus, on hills, on every
//! instruction set that this machine has.

mod worlds;

use proptest::prelude::*;
use voxtick_light::reference::FlatLight;
use voxtick_light::{ChunkLighter, Width, relight};
use voxtick_worlds::generators::{Hills, generate, square};
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, World};
use worlds::random_world;

fn assert_equal_light(world: &World, positions: &[ChunkPos], story: &str) {
    let mut reference = FlatLight::new(world, positions);
    reference.light_all();
    for width in Width::ALL.into_iter().filter(|width| width.is_supported()) {
        let lit = ChunkLighter::with_width(width).light(world, positions);
        assert_eq!(lit.len(), reference.positions().len());
        for (position, light) in lit {
            assert!(reference.chunk_light(position) == Some(light), "{position} {story}, {width:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_worlds_have_one_light(seed in any::<u64>()) {
        let world = random_world(seed, 3, 2);
        let positions: Vec<ChunkPos> = world.chunk_positions().collect();
        assert_equal_light(&world, &positions, &format!("of seed {seed}"));
        // Not every chunk: holes in the set are walls.
        let some: Vec<ChunkPos> = positions.into_iter().enumerate().filter(|(at, _)| seed >> at & 1 != 0).map(|(_, at)| at).collect();
        assert_equal_light(&world, &some, &format!("of some chunks of seed {seed}"));
    }
}

#[test]
fn hills_have_one_light() {
    let states = BlockStates::load();
    let hills = Hills::new(7, &states).expect("the states exist");
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&hills, &square(4), world.dimension()) {
        world.insert_chunk(chunk);
    }
    assert_equal_light(&world, &square(4), "of hills");
}

/// Threads decide how many tiles an area is cut into, and where the cuts are: none may be seen in the light.
#[test]
fn any_number_of_threads_gives_one_light() {
    for seed in [3, 9] {
        // A wide area with bays and holes.
        let world = random_world(seed, 15, 11);
        let is_in = |at: &ChunkPos| (at.x > 3 || at.z < 8) && (at.x, at.z) != (7, 5) && at.x + at.z != 17;
        let positions: std::collections::BTreeSet<ChunkPos> = world.chunk_positions().filter(is_in).collect();
        assert!(positions.len() > 130, "enough for four tiles");
        let expected =
            ChunkLighter::default().light(&world, &positions.iter().copied().collect::<Vec<ChunkPos>>());
        for threads in [1, 2, 3, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            let lit = pool.install(|| relight(&world, &positions));
            assert!(lit == expected, "seed {seed}, {threads} threads");
        }
    }
}
