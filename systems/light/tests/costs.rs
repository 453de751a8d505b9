//! What light keeps and allocates: a counting allocator under a world whose blocks change every tick.

use allocation_counter::measure;
use voxtick_light::{LightOutcome, Lighting};
use voxtick_worlds::generators::{Hills, generate, square};
use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, LightLevels, StateId, World};

fn hills(edge: u16) -> World {
    let states = BlockStates::load();
    let hills = Hills::new(3, &states).expect("the states of hills are known");
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&hills, &square(edge), world.dimension()) {
        world.insert_chunk(chunk);
    }
    world
}

#[test]
fn a_steady_tick_of_edits_does_not_allocate() {
    let mut world = hills(3);
    let mut lighting = Lighting::new();
    lighting.update(&mut world);
    let states = world.states().clone();
    let [torch, stone] = ["torch", "stone"].map(|text| states.parse(text).expect("known"));
    // Light of torches, a column under the open sky, and a cave wall taken out and put back.
    let edits = [
        (BlockPos::new(4, 120, 4), torch),
        (BlockPos::new(8, 200, 8), stone),
        (BlockPos::new(5, 20, 6), torch),
        (BlockPos::new(0, 90, 15), stone),
    ];
    let tick = |world: &mut World, lighting: &mut Lighting, number: u64| {
        for (at, state) in edits {
            world.set_block(at, if number.is_multiple_of(2) { state } else { StateId::AIR }).expect("loaded");
        }
        let mut outcome = LightOutcome::default();
        let allocations = measure(|| outcome = lighting.update(world)).count_total;
        world.begin_tick(number + 1);
        assert!(outcome.cells_changed > 0);
        allocations
    };
    for number in 0..20 {
        tick(&mut world, &mut lighting, number);
    }
    let allocations: u64 = (20..40).map(|number| tick(&mut world, &mut lighting, number)).sum();
    assert_eq!(allocations, 0, "allocations in 20 ticks");
}

/// One chunk of 24 sections, each with a floor, half a ceiling of glass and two torches, a slab in every eighth, and a
/// shaft through all of them that the sky shines into: every section is lit in both channels.
fn column_lit_throughout() -> World {
    let states = BlockStates::load();
    let [stone, torch, glass, slab] =
        ["stone", "torch", "glass", "oak_slab[type=top]"].map(|text| states.parse(text).expect("known"));
    let dimension = Dimension::overworld();
    let mut chunk = Chunk::empty(ChunkPos::new(0, 0), &dimension);
    for y in 0..384 {
        for column in 0..256 {
            let (x, z) = (column % 16, column / 16);
            let block = match (y % 16, x, z) {
                (0, ..) if x > 2 || z > 2 => stone,
                (1, 5, 5) | (9, 11, 3) => torch,
                (4, 9, 9) if y % 128 < 16 => slab,
                (8, ..) if x > 7 => glass,
                (8, ..) if z > 7 => stone,
                _ => continue,
            };
            chunk.set_block(x, y - 64, z, block, &states);
        }
    }
    let mut world = World::new(dimension, states);
    world.insert_chunk(chunk);
    world
}

#[test]
fn a_chunk_of_24_lit_sections_takes_little_beside_its_light_while_it_is_worked_on() {
    const MOST: usize = 100 * 1024;
    let mut world = column_lit_throughout();
    let mut lighting = Lighting::new();
    lighting.update(&mut world);
    let light = world.chunk(ChunkPos::new(0, 0)).and_then(|chunk| chunk.light.as_deref()).expect("lit");
    let lit = |levels: &[LightLevels]| {
        levels.iter().filter(|levels| matches!(levels, LightLevels::Nibbles(_))).count()
    };
    assert_eq!((lit(&light.block), lit(&light.sky)), (24, 24));
    // What the sections let through and all scratch of the kernels, those for areas and those for edits.
    let from_nothing = lighting.memory_bytes();
    assert!(from_nothing <= MOST, "{from_nothing} bytes after a relight from nothing");
    let states = world.states().clone();
    let [torch, stone] = ["torch", "stone"].map(|text| states.parse(text).expect("known"));
    for (number, (at, state)) in [
        (BlockPos::new(4, 90, 4), torch),
        (BlockPos::new(4, 90, 4), StateId::AIR),
        // A roof over a part of the shaft, and a hole in a floor.
        (BlockPos::new(1, 319, 1), stone),
        (BlockPos::new(1, 319, 1), StateId::AIR),
        (BlockPos::new(6, 112, 6), StateId::AIR),
    ]
    .into_iter()
    .enumerate()
    {
        world.set_block(at, state).expect("loaded");
        assert!(lighting.update(&mut world).cells_changed > 0);
        world.begin_tick(number as u64 + 1);
        let bytes = lighting.memory_bytes();
        assert!(bytes <= MOST, "{bytes} bytes after the edit at {at}, {from_nothing} before");
    }
}
