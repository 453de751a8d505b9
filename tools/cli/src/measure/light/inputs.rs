//! What the light cases work on.

use std::path::PathBuf;

use voxtick::anvil::{Limits, load_region_file};
use voxtick::light::Lighting;
use voxtick::worlds::generators::{Hills, generate, split_mix, square};
use voxtick::worlds::{
    BlockPos, BlockStates, Chunk, ChunkPos, Dimension, Direction, LightChannel, NIBBLE_BYTES, SECTION_CELLS,
    StateId, World,
};

use crate::measure::CaseError;

/// Sections of one case.
const SECTIONS: usize = 64;
/// Chunks that the region cases count as their items: the lit ones of the real region.
pub(super) const REGION_CHUNKS: u64 = 134;

/// One closed section.
#[derive(Clone)]
pub(super) struct SectionInput {
    pub(super) opaque: [u64; 64],
    pub(super) sources: Vec<(u16, u8)>,
    /// The light that published engines give it, where it is one of theirs.
    pub(super) expected: Option<Box<[u8; NIBBLE_BYTES]>>,
}

/// A random number below `bound`.
pub(super) fn below(random: &mut u64, bound: usize) -> usize {
    *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    (split_mix(*random) % bound as u64) as usize
}

/// 64 sections with that many sources and that share of opaque cells in percent; levels all 15, or mixed.
pub(super) fn sections(sources: usize, solid: usize, mixed: bool) -> Result<Vec<SectionInput>, CaseError> {
    if let Some(known) = known_sections(sources, solid, mixed)? {
        return Ok(known);
    }
    let random = &mut 41;
    let section = |number: usize| {
        let mut opaque = [0_u64; 64];
        for cell in 0..SECTION_CELLS {
            opaque[cell / 64] |= u64::from(below(random, 100) < solid) << (cell % 64);
        }
        let mut chosen: Vec<(u16, u8)> = Vec::new();
        while chosen.len() < sources {
            let cell = below(random, SECTION_CELLS);
            let taken = chosen.iter().any(|&(other, _)| usize::from(other) == cell);
            if !taken && opaque[cell / 64] >> (cell % 64) & 1 == 0 {
                let level = if mixed { [15, 15, 14, 7, 3][(number + chosen.len()) % 5] } else { 15 };
                chosen.push((cell as u16, level));
            }
        }
        SectionInput { opaque, sources: chosen, expected: None }
    };
    Ok((0..SECTIONS).map(section).collect())
}

/// The sections of `cases/light_sections.bin` that are of the wanted kind; `None` where `VOXTICK_DATA` is not set.
fn known_sections(sources: usize, solid: usize, mixed: bool) -> Result<Option<Vec<SectionInput>>, CaseError> {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else { return Ok(None) };
    let read = |name: &str| {
        let path = PathBuf::from(&data).join("cases").join(name);
        std::fs::read(&path).map_err(|error| CaseError::Input(format!("{}: {error}", path.display())))
    };
    let (sections, levels) = (read("light_sections.bin")?, read("light_expected.bin")?);
    let cases = [
        (0, 0, false),
        (0, 30, false),
        (1, 0, false),
        (1, 30, false),
        (8, 0, false),
        (8, 30, false),
        (64, 0, false),
        (64, 30, false),
        (1, 0, true),
        (1, 30, true),
        (8, 0, true),
        (8, 30, true),
        (64, 0, true),
        (64, 30, true),
    ];
    let Some(case) = cases.iter().position(|&case| case == (sources, solid, mixed)) else { return Ok(None) };
    // Each section of a case takes 512 bytes of cells, a count, and three bytes a source.
    let bytes_of = |&(sources, ..): &(usize, usize, bool)| SECTIONS * (514 + 3 * sources);
    let start = cases[..case].iter().map(bytes_of).sum::<usize>();
    let short = || CaseError::Input("light_sections.bin or light_expected.bin is too short".to_owned());
    let records = sections.get(start..start + bytes_of(&cases[case])).ok_or_else(short)?;
    let levels = levels.get(case * SECTIONS * NIBBLE_BYTES..).ok_or_else(short)?;
    let inputs: Vec<SectionInput> = records
        .chunks_exact(514 + 3 * sources)
        .zip(levels.chunks_exact(NIBBLE_BYTES))
        .map(|(record, levels)| {
            let mut opaque = [0; 64];
            for (word, bytes) in opaque.iter_mut().zip(record.as_chunks::<8>().0) {
                *word = u64::from_le_bytes(*bytes);
            }
            let sources = record[514..]
                .chunks_exact(3)
                .map(|source| (u16::from_le_bytes([source[0], source[1]]), source[2]))
                .collect();
            let mut expected = Box::new([0; NIBBLE_BYTES]);
            expected.copy_from_slice(levels);
            SectionInput { opaque, sources, expected: Some(expected) }
        })
        .collect();
    Ok(Some(inputs))
}

/// `edge` x `edge` chunks of hills with caves, water, trees and torches.
pub(super) fn hills(edge: u16) -> World {
    let states = BlockStates::load();
    let hills = Hills::new(42, &states).expect("the states of hills are in the table");
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&hills, &square(edge), world.dimension()) {
        world.insert_chunk(chunk);
    }
    world
}

/// The finished chunks of the real 1.21 region where `VOXTICK_DATA` is set, else as many chunks of hills.
pub(super) fn region() -> Result<World, CaseError> {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else { return Ok(hills(12)) };
    let path = PathBuf::from(data).join("worlds/java-1.21/r.0.0.mca");
    let mut world = World::new(Dimension::overworld(), BlockStates::load());
    let load = load_region_file(&path, world.dimension(), world.states(), &Limits::default())
        .map_err(|error| CaseError::Input(error.to_string()))?;
    for chunk in load.chunks.into_iter().filter(|chunk| chunk.status.is_full() && chunk.light.is_some()) {
        world.insert_chunk(chunk);
    }
    Ok(world)
}

/// One chunk of `sections` sections, each with the same caves, torches and glass: what grows is the number alone.
pub(super) fn column(sections: usize) -> Result<World, CaseError> {
    let states = BlockStates::load();
    let input = |error: &dyn std::fmt::Display| CaseError::Input(error.to_string());
    let state = |text: &str| states.parse(text).map_err(|error| input(&error));
    let (stone, torch, glass) = (state("stone")?, state("torch")?, state("glass")?);
    let dimension =
        Dimension::new("column", -2048, sections as i32 * 16, true).map_err(|error| input(&error))?;
    let mut chunk = Chunk::empty(ChunkPos::new(0, 0), &dimension);
    for y in 0..sections as i32 * 16 {
        for column in 0..256 {
            let (x, z) = (column % 16, column / 16);
            let block = match (y % 16, x, z) {
                (0, ..) if x > 2 || z > 2 => stone,
                (1, 5, 5) | (9, 11, 3) => torch,
                (8, ..) if x > 7 => glass,
                (8, ..) if z > 7 => stone,
                _ => StateId::AIR,
            };
            if block != StateId::AIR {
                chunk.set_block(x, y - 2048, z, block, &states);
            }
        }
    }
    let mut world = World::new(dimension, states);
    world.insert_chunk(chunk);
    Ok(world)
}

/// Five by five chunks of stone with a hall of 40 x 12 x 40 blocks, pillars, and nine torches under its ceiling, and the
/// places on its floor where a torch may be put.
pub(super) fn hall() -> Result<(World, Vec<BlockPos>), CaseError> {
    let (mut world, stone) = ground(5, 80)?;
    let air: Vec<(BlockPos, StateId)> = (-20..20)
        .flat_map(|x| (-20..20).map(move |z| (x, z)))
        .filter(|&(x, z): &(i32, i32)| x.rem_euclid(8) != 0 || z.rem_euclid(8) != 0)
        .flat_map(|(x, z)| (20..32).map(move |y| (BlockPos::new(x, y, z), StateId::AIR)))
        .collect();
    world.set_blocks(&air);
    let torch = parse(&world, "torch")?;
    for x in [-13, -1, 13] {
        for z in [-13, -1, 13] {
            world.set_blocks(&[(BlockPos::new(x, 31, z), torch)]);
        }
    }
    let floor = (-15..15).flat_map(|x| (-15..15).map(move |z| BlockPos::new(x, 20, z)));
    let spots = floor.filter(|&at| world.block(at).is_some_and(|state| state != stone)).collect();
    Ok((world, spots))
}

/// Five by five chunks of stone with a winding passage, one block wide and two high, that climbs and falls and meets
/// itself here and there, with a torch every 20 blocks, and the places on its floor where another may be put.
pub(super) fn cave() -> Result<(World, Vec<BlockPos>), CaseError> {
    let (mut world, _) = ground(5, 80)?;
    let torch = parse(&world, "torch")?;
    let random = &mut 23;
    let (mut at, mut heading) = (BlockPos::new(0, 40, 0), 0);
    let (mut floor, mut torches) = (Vec::new(), Vec::new());
    for length in 0..400 {
        if length % 20 == 0 {
            torches.push(at);
        } else {
            floor.push(at);
        }
        world.set_blocks(&[(at, StateId::AIR), (at.offset(Direction::Up), StateId::AIR)]);
        if below(random, 5) == 0 {
            heading = (heading + [1, 3][below(random, 2)]) % 4;
        }
        let step = |heading: usize| {
            let side = [Direction::North, Direction::East, Direction::South, Direction::West][heading];
            at.offset(side)
        };
        if step(heading).x.abs() > 30 || step(heading).z.abs() > 30 {
            heading = (heading + 2) % 4;
        }
        at = step(heading);
        at.y += [0, 0, 0, 1, -1][below(random, 5)];
        at.y = at.y.clamp(20, 60);
    }
    floor.retain(|at| !torches.contains(at));
    floor.sort_unstable();
    floor.dedup();
    let torches: Vec<(BlockPos, StateId)> = torches.into_iter().map(|at| (at, torch)).collect();
    world.set_blocks(&torches);
    Ok((world, floor))
}

/// The caves of five by five chunks of [`region`], with a torch on their floor wherever it was dark, and the other places
/// on that floor.
pub(super) fn real_caves() -> Result<(World, Vec<BlockPos>), CaseError> {
    let whole = region()?;
    let mut world = World::new(whole.dimension().clone(), whole.states().clone());
    let near = |at: ChunkPos| (0..5).contains(&at.x) && (0..5).contains(&at.z);
    for chunk in whole.chunks().filter(|chunk| near(chunk.position())) {
        world.insert_chunk(chunk.clone());
    }
    let torch = parse(&world, "torch")?;
    let mut lighting = Lighting::new();
    lighting.update(&mut world);
    let level = |world: &World, channel: LightChannel, at: BlockPos| {
        let light = world.chunk(at.chunk()).and_then(|chunk| chunk.light.as_deref());
        light.map_or(0, |light| light.level(channel, at.section().y, at.cell()))
    };
    let mut floor = Vec::new();
    for (x, z) in (0..80).flat_map(|x| (0..80).map(move |z| (x, z))) {
        for y in world.dimension().min_y() + 1..50 {
            let at = BlockPos::new(x, y, z);
            let is_air = world.block(at).is_some_and(|state| world.states().is_air(state));
            let below = world.block(at.offset(Direction::Down));
            let is_floor = is_air && below.is_some_and(|state| world.states().dampening(state) == 15);
            if !is_floor || level(&world, LightChannel::Sky, at) > 0 {
                continue;
            }
            if level(&world, LightChannel::Block, at) > 0 {
                floor.push(at);
                continue;
            }
            world.set_blocks(&[(at, torch)]);
            lighting.update(&mut world);
        }
    }
    world.begin_tick(1);
    Ok((world, floor))
}

/// `edge` x `edge` chunks of stone up to below `height`, and the stone.
pub(super) fn ground(edge: u16, height: i32) -> Result<(World, StateId), CaseError> {
    let mut world = World::new(Dimension::overworld(), BlockStates::load());
    let stone = parse(&world, "stone")?;
    for position in square(edge) {
        let mut chunk = Chunk::empty(position, world.dimension());
        for y in world.dimension().min_y()..height {
            for column in 0..256 {
                chunk.set_block(column % 16, y, column / 16, stone, world.states());
            }
        }
        world.insert_chunk(chunk);
    }
    Ok((world, stone))
}

pub(super) fn parse(world: &World, text: &str) -> Result<StateId, CaseError> {
    world.states().parse(text).map_err(|error| CaseError::Input(error.to_string()))
}
