//! Which chunks the light marks as changed, so that a save has them: those whose light is another and complete.

use voxtick_light::Lighting;
use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, World};

fn positions() -> impl Iterator<Item = ChunkPos> {
    (-2..=2).flat_map(|x| (-2..=2).map(move |z| ChunkPos::new(x, z)))
}

fn modified(world: &World) -> Vec<ChunkPos> {
    world.chunks().filter(|chunk| chunk.modified).map(Chunk::position).collect()
}

#[test]
fn a_chunk_whose_light_alone_changed_is_saved_and_one_at_the_edge_of_the_known_is_not() {
    let mut world = World::new(Dimension::overworld(), BlockStates::load());
    positions().for_each(|position| {
        world.insert_chunk(Chunk::empty(position, &Dimension::overworld()));
    });
    let mut lighting = Lighting::new();
    lighting.update(&mut world);
    let inner: Vec<ChunkPos> = positions().filter(|chunk| chunk.x.abs() < 2 && chunk.z.abs() < 2).collect();
    assert_eq!(modified(&world), inner, "lit for the first time, and complete");

    positions().for_each(|position| world.chunk_mut(position).expect("loaded").modified = false);
    let torch = world.states().parse("torch").expect("known");
    world.set_block(BlockPos::new(15, 70, 8), torch).expect("loaded");
    lighting.update(&mut world);
    let (placed, beside) = (ChunkPos::new(0, 0), ChunkPos::new(1, 0));
    assert_eq!(
        modified(&world),
        [
            ChunkPos::new(0, -1),
            placed,
            ChunkPos::new(0, 1),
            ChunkPos::new(1, -1),
            beside,
            ChunkPos::new(1, 1)
        ]
    );
}
