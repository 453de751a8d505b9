//! Where the world of a run comes from: a generator, or region files.

use std::path::Path;
use std::sync::Arc;

use voxtick::anvil::files::Access;
use voxtick::anvil::region::open_region;
use voxtick::anvil::save::SaveDimension;
use voxtick::anvil::{Limits, Save, load_region};
use voxtick::worlds::generators::{Checker, Generator, Hills, Superflat, Void, generate, square};
use voxtick::worlds::{BlockStates, Dimension, ParseStateError, StateId, World};

use super::scenario::{GeneratorKind, Scenario, WorldSettings};
use crate::outcome::{Failure, complain};
use crate::progress;

/// Damaged chunks of a region that are told one by one; the rest are counted.
const TOLD_FAILURES: usize = 5;

/// The world that a scenario runs in, and the save that it was loaded from. Uses the rayon pool that it is called in.
pub(super) fn world(
    scenario: &Scenario,
    states: Arc<BlockStates>,
    quiet: bool,
) -> Result<(World, Option<Save>), Failure> {
    match &scenario.world.path {
        Some(path) => {
            let save = Save::open(path, SaveDimension::Overworld, &states).map_err(Failure::usage)?;
            let world = load(path, &save, scenario.world.max_chunks, states, quiet)?;
            Ok((world, Some(save)))
        }
        None => generated(&scenario.world, scenario.seed, states, quiet)
            .map(|world| (world, None))
            .map_err(|error| Failure::simulation(format!("the generator cannot be set up: {error}"))),
    }
}

fn generated(
    settings: &WorldSettings,
    seed: u64,
    states: Arc<BlockStates>,
    quiet: bool,
) -> Result<World, ParseStateError> {
    let generator: Box<dyn Generator> = match settings.generator {
        GeneratorKind::Hills => Box::new(Hills::new(seed, &states)?),
        GeneratorKind::Superflat => Box::new(Superflat::classic(&states)?),
        GeneratorKind::Checker => Box::new(Checker::new(states.parse("stone")?, StateId::AIR, 64)),
        GeneratorKind::Void => Box::new(Void),
    };
    let positions = square(settings.size);
    let bar = progress::steps_unless(quiet, positions.len() as u64, "chunks generated");
    let mut world = World::new(Dimension::overworld(), states);
    // A row at a time, so that the bar moves.
    for row in positions.chunks(settings.size.into()) {
        for chunk in generate(&*generator, row, world.dimension()) {
            world.insert_chunk(chunk);
        }
        bar.inc(row.len() as u64);
    }
    bar.finish_and_clear();
    Ok(world)
}

/// Loads the finished chunks of the overworld, the regions nearest to the origin first, until there are `max_chunks`.
fn load(
    path: &Path,
    save: &Save,
    max_chunks: u32,
    states: Arc<BlockStates>,
    quiet: bool,
) -> Result<World, Failure> {
    let mut regions = save.regions().to_vec();
    regions.sort_by_key(|(region, _)| {
        (i64::from(region.x).pow(2) + i64::from(region.z).pow(2), region.x, region.z)
    });
    let bar = progress::steps_unless(quiet, regions.len() as u64, "regions loaded");
    let mut world = World::new(save.build_range(&states).map_err(Failure::usage)?, states);
    let (mut unfinished, mut left_out) = (0_usize, 0_usize);
    for (position, file) in regions {
        bar.set_message(file.display().to_string());
        bar.inc(1);
        let region = open_region(&file, position, Access::Read).map_err(Failure::usage)?;
        let loaded = load_region(&*region, world.dimension(), world.states(), &Limits::default());
        for failure in loaded.failures.iter().take(TOLD_FAILURES) {
            bar.suspend(|| complain(&format!("left out: {failure}")));
        }
        if loaded.failures.len() > TOLD_FAILURES {
            let more = loaded.failures.len() - TOLD_FAILURES;
            bar.suspend(|| complain(&format!("{}: {more} more damaged chunks left out", file.display())));
        }
        for chunk in loaded.chunks {
            if !chunk.status.is_full() {
                unfinished += 1;
            } else if world.chunk_count() >= max_chunks as usize {
                left_out += 1;
            } else {
                world.insert_chunk(chunk);
            }
        }
        if world.chunk_count() >= max_chunks as usize {
            break;
        }
    }
    bar.finish_and_clear();
    if world.chunk_count() == 0 {
        return Err(Failure::usage(format!(
            "{}: no finished chunk to run in ({unfinished} unfinished ones); give a world that has been played",
            path.display()
        )));
    }
    if !quiet {
        let rest =
            if left_out > 0 { format!(", {left_out} over world.max_chunks left out") } else { String::new() };
        complain(&format!(
            "{}: {} finished chunks loaded, {unfinished} unfinished left out{rest}",
            path.display(),
            world.chunk_count()
        ));
    }
    Ok(world)
}
