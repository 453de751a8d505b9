//! Blocks that change every tick and change back in the next.

use bevy_ecs::prelude::{Res, ResMut, Resource};
use voxtick::engine::{Meter, Setup, Tick};
use voxtick::worlds::generators::split_mix;
use voxtick::worlds::{BlockPos, ChunkPos, StateId, World, stages};

use crate::run::scenario::EditSettings;

/// What to place where, and what to put back.
#[derive(Resource)]
pub(super) struct Edits {
    seed: u64,
    blocks: u32,
    states: Vec<StateId>,
    chunks: Vec<ChunkPos>,
    /// The blocks of the last tick with the states they had before, in the order of writing.
    written: Vec<(BlockPos, StateId)>,
}

impl Edits {
    /// Edits all over the chunks that are loaded now.
    pub(super) fn new(settings: &EditSettings, seed: u64, world: &World) -> Result<Edits, String> {
        let states = settings
            .states
            .iter()
            .map(|text| world.states().parse(text).map_err(|error| format!("edits.states: {error}")));
        Ok(Edits {
            seed: split_mix(seed ^ 0xED17),
            blocks: settings.blocks,
            states: states.collect::<Result<_, _>>()?,
            chunks: world.chunk_positions().collect(),
            written: Vec::with_capacity(settings.blocks as usize),
        })
    }

    pub(super) fn add_to(self, setup: &mut Setup<'_>) {
        if self.blocks > 0 && !self.chunks.is_empty() {
            setup.resource(self).system(stages::INTAKE, edit_blocks);
        }
    }
}

/// Puts back what the last tick changed, then changes others.
fn edit_blocks(mut edits: ResMut<Edits>, mut world: ResMut<World>, tick: Res<Tick>, meter: Res<Meter>) {
    let edits = &mut *edits;
    // Backwards, so that a block written twice ends as it was before the first time.
    while let Some((position, before)) = edits.written.pop() {
        meter.items(world.set_block(position, before).is_ok().into());
    }
    for number in 0..edits.blocks {
        let hash = split_mix(edits.seed ^ split_mix(tick.0 << 32 | u64::from(number)));
        let Some(position) = place(&world, &edits.chunks, hash) else { continue };
        let state = edits.states[(u64::from(number) % edits.states.len() as u64) as usize];
        if let Ok(before) = world.set_block(position, state) {
            edits.written.push((position, before));
            meter.items(1);
        }
    }
}

/// A block somewhere: on the surface for one half of the hashes, below it for the other.
fn place(world: &World, chunks: &[ChunkPos], hash: u64) -> Option<BlockPos> {
    let chunk = chunks[(hash % chunks.len() as u64) as usize];
    let corner = chunk.checked_block(world.dimension().min_y())?;
    let (x, z) = (corner.x + (hash >> 32 & 15) as i32, corner.z + (hash >> 36 & 15) as i32);
    let surface = surface(world, x, z)?;
    let depth = (surface - corner.y).max(1) as u64;
    let y = if hash >> 40 & 1 == 0 { surface } else { corner.y + (hash >> 41) as i32 % depth as i32 };
    Some(BlockPos::new(x, y, z))
}

/// The height of the first block above the topmost one that is not air, or `None` where no chunk is loaded or the
/// column is full.
pub(super) fn surface(world: &World, x: i32, z: i32) -> Option<i32> {
    let chunk = world.chunk(BlockPos::new(x, 0, z).chunk())?;
    let above = chunk.topmost_block(x, z, world.states()).map_or(world.dimension().min_y(), |top| top + 1);
    (above < world.dimension().max_y()).then_some(above)
}
