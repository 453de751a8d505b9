//! A world tells its readers what changed, refuses what cannot be, and does not depend on the order of loading.

use voxtick_worlds::generators::{Superflat, generate, square};
use voxtick_worlds::{
    BatchOutcome, BlockPos, BlockStates, ChangeCursor, Chunk, ChunkEvent, ChunkPos, Dimension, SetBlockError,
    StateId, World,
};

const STONE: StateId = StateId(1);

fn world_with(positions: &[ChunkPos]) -> World {
    let mut world = World::new(Dimension::overworld(), BlockStates::load());
    for &position in positions {
        world.insert_chunk(Chunk::empty(position, &Dimension::overworld()));
    }
    world
}

#[test]
fn a_block_outside_the_build_range_or_in_an_unloaded_chunk_is_refused_by_cause() {
    let mut world = world_with(&[ChunkPos::new(0, 0)]);
    let (high, far) = (BlockPos::new(1, 320, 1), BlockPos::new(-1, 0, 1));
    assert!(matches!(world.set_block(high, STONE), Err(SetBlockError::OutsideBuildRange { max_y: 320, .. })));
    let refused = world.set_block(far, STONE).expect_err("no such chunk");
    assert_eq!(refused.to_string(), "block (-1, 0, 1): chunk (-1, 0) is not loaded; load it first");
    let mut cursor = ChangeCursor::default();
    assert!(world.changes(&mut cursor).blocks.is_empty(), "what was refused is no change");
}

#[test]
fn a_batch_counts_what_became_of_each_block() {
    let mut world = world_with(&[ChunkPos::new(0, 0)]);
    let inside = BlockPos::new(3, 3, 3);
    let outcome = world.set_blocks(&[(inside, STONE), (inside, STONE), (BlockPos::new(99, 0, 0), STONE)]);
    assert_eq!(outcome, BatchOutcome { changed: 1, unchanged: 1, refused: 1 });
}

#[test]
fn changes_carry_their_tick_and_stay_for_one_more() {
    let mut world = world_with(&[]);
    let mut cursor = ChangeCursor::default();
    world.begin_tick(7);
    world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), &Dimension::overworld()));
    world.set_block(BlockPos::new(0, 0, 0), STONE).expect("loaded");
    world.begin_tick(8);
    let changes = world.changes(&mut cursor);
    assert_eq!((changes.blocks[0].tick, changes.blocks[0].before, changes.missed), (7, StateId::AIR, 0));
    assert_eq!(changes.chunks, [ChunkEvent::Loaded(ChunkPos::new(0, 0))]);
    world.begin_tick(9);
    world.begin_tick(10);
    let mut late = ChangeCursor::default();
    assert_eq!(world.changes(&mut late).missed, 2, "a new reader is told what it can no longer see");
}

#[test]
fn chunks_come_in_ascending_order_whatever_the_order_of_loading() {
    let mut positions = square(5);
    let sorted = positions.clone();
    positions.reverse();
    positions.rotate_left(7);
    let mut world = world_with(&positions);
    assert!(world.chunk_positions().eq(sorted.iter().copied()));
    world.remove_chunk(sorted[3]);
    world.insert_chunk(Chunk::empty(sorted[3], &Dimension::overworld()));
    assert!(world.chunks().map(Chunk::position).eq(sorted));
}

#[test]
fn a_chunk_put_where_one_is_replaces_it() {
    let mut world = world_with(&[ChunkPos::new(0, 0)]);
    world.set_block(BlockPos::new(0, 0, 0), STONE).expect("loaded");
    let before = world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), &Dimension::overworld()));
    assert_eq!(before.expect("replaced").block(0, 0, 0), Some(STONE));
    assert_eq!((world.chunk_count(), world.block(BlockPos::new(0, 0, 0))), (1, Some(StateId::AIR)));
}

#[test]
fn only_what_is_written_counts_as_modified() {
    let states = BlockStates::load();
    let flat = Superflat::classic(&states).expect("known blocks");
    let mut chunk = generate(&flat, &[ChunkPos::new(0, 0)], &Dimension::overworld()).remove(0);
    assert!(chunk.modified, "a generated chunk is on no disk yet");
    chunk.modified = false;
    let bedrock = chunk.block(0, -64, 0).expect("in range");
    chunk.set_block(0, -64, 0, bedrock, &states);
    assert!(!chunk.modified, "writing what is there changes nothing");
    chunk.set_block(0, -64, 0, StateId::AIR, &states);
    assert!(chunk.modified);
}

#[test]
fn the_topmost_block_is_found_below_any_air() {
    let states = BlockStates::load();
    let mut chunk = Chunk::empty(ChunkPos::new(-1, 0), &Dimension::overworld());
    assert_eq!(chunk.topmost_block(3, 4, &states), None, "all is air");
    chunk.set_block(3, -64, 4, STONE, &states);
    assert_eq!(chunk.topmost_block(-13, 4, &states), Some(-64), "the same column by world coordinates");
    chunk.set_block(3, 319, 4, STONE, &states);
    assert_eq!(chunk.topmost_block(3, 4, &states), Some(319));
    assert_eq!(chunk.topmost_block(4, 4, &states), None, "air in a section that holds blocks elsewhere");
}
