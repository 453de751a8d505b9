//! `voxtick world relight`: checks the stored light of a world, or computes it anew and writes it back.

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use voxtick::anvil::compression::{Compression, Packer};
use voxtick::anvil::files::Access;
use voxtick::anvil::region::{Overwrite, RegionStore, open_region};
use voxtick::anvil::{ChunkEncoder, Limits, Save};
use voxtick::light::{ChannelCheck, Differences, check_chunks, relight};
use voxtick::worlds::{BlockStates, Chunk, RegionPos};

use super::neighbourhood::{Neighbourhood, Regions};
use crate::arguments::RelightArguments;
use crate::outcome::{Failure, Outcome, complain};
use crate::progress;
use crate::tables::{align_right, json_lines, table};

/// What became of one region. Serialised as the command's JSON, one object a region.
#[derive(Debug, Serialize)]
struct Row {
    region: String,
    chunks: u64,
    /// Finished chunks without stored light.
    unlit_chunks: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<ChannelRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sky: Option<ChannelRow>,
    /// Chunks whose light differed: written, or to be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_chunks: Option<u64>,
    /// Chunks that could not be read or written, with the cause.
    damage: Vec<String>,
}

/// How one channel of the stored light compares with the rules.
#[derive(Debug, Serialize)]
struct ChannelRow {
    /// Cells of chunks whose eight neighbours are known.
    cells: u64,
    inside: DifferenceRow,
    at_chunk_edge: DifferenceRow,
    /// In chunks that lack a known neighbour: what stood there when the game lit them is not known.
    at_known_edge: DifferenceRow,
}

#[derive(Debug, Serialize)]
struct DifferenceRow {
    cells: u64,
    stored_darker: u64,
    /// Cells that do not even follow from their stored neighbours: where the store went wrong.
    origins: u64,
    /// `x, y, z: stored against computed` of the first.
    first: Option<String>,
}

/// Runs `voxtick world relight`.
pub(crate) fn run(arguments: &RelightArguments) -> Result<Outcome, Failure> {
    let states = BlockStates::load();
    let save = Save::open(&arguments.path, arguments.dimension.into(), &states).map_err(Failure::usage)?;
    let _lock = arguments.mode.in_place.then(|| save.lock_session()).transpose().map_err(Failure::usage)?;
    let regions = Regions::of(&save, states).map_err(Failure::usage)?;
    let bar = progress::steps(save.regions().len() as u64, "regions");
    let mut rows = Vec::new();
    for (region, file) in save.regions() {
        bar.set_message(file.display().to_string());
        let area = regions.load(*region).map_err(Failure::usage)?;
        rows.push(if arguments.mode.check {
            checked(area)
        } else {
            let target = if arguments.mode.in_place {
                Some(open_region(file, *region, Access::Write).map_err(Failure::usage)?)
            } else {
                None
            };
            rewritten(area, &regions, target.as_deref())
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    print(&rows, arguments).map_err(Failure::output)?;
    rows.iter().flat_map(|row| &row.damage).for_each(|damage| complain(damage));
    let differs = |channel: &Option<ChannelRow>| {
        channel.as_ref().is_some_and(|channel| channel.inside.cells + channel.at_chunk_edge.cells > 0)
    };
    let found = rows.iter().any(|row| !row.damage.is_empty() || differs(&row.block) || differs(&row.sky));
    Ok(if found { Outcome::Found } else { Outcome::Success })
}

fn checked(area: Neighbourhood) -> Row {
    let Neighbourhood { region, world, damage } = area;
    let found = check_chunks(&world, |chunk| chunk.region() == region);
    Row {
        region: name(region),
        chunks: found.chunks,
        unlit_chunks: found.unlit_chunks,
        block: Some(found.block.into()),
        sky: world.dimension().has_sky().then(|| found.sky.into()),
        changed_chunks: None,
        damage,
    }
}

/// Lights the region anew and writes the chunks that differ to `target`; counts them where there is none.
fn rewritten(area: Neighbourhood, regions: &Regions<'_>, target: Option<&dyn RegionStore>) -> Row {
    let Neighbourhood { region, mut world, damage } = area;
    let mut row = Row {
        region: name(region),
        chunks: 0,
        unlit_chunks: 0,
        block: None,
        sky: None,
        changed_chunks: Some(0),
        damage,
    };
    let lit = relight(&world, &world.chunk_positions().collect());
    let (dimension, states) = (world.dimension().clone(), regions.states().clone());
    let mut encoder = ChunkEncoder::new(dimension, states, Limits::default(), Packer::new());
    let mut written = 0;
    for (position, light) in lit.into_iter().filter(|lit| lit.0.region() == region) {
        let Some(chunk) = world.chunk_mut(position) else { continue };
        row.chunks += 1;
        row.unlit_chunks += u64::from(chunk.light.is_none());
        chunk.light = Some(Box::new(light));
        match write(chunk, &mut encoder, target) {
            Ok(true) => written += 1,
            Ok(false) => {}
            Err(cause) => row.damage.push(cause),
        }
    }
    if let Some(target) = target
        && let Err(error) = target.flush()
    {
        row.damage.push(error.to_string());
    }
    row.changed_chunks = Some(written);
    row
}

/// Writes a chunk in the compression it came with; false where nothing in it differs from what is stored.
fn write(
    chunk: &Chunk,
    encoder: &mut ChunkEncoder,
    target: Option<&dyn RegionStore>,
) -> Result<bool, String> {
    let came_with = chunk.unmodelled.as_ref().and_then(|kept| kept.bytes.first().copied());
    let compression = came_with.and_then(Compression::from_number).unwrap_or(Compression::Zlib);
    let position = chunk.position();
    let Some(payload) =
        encoder.encode(chunk, compression).map_err(|error| format!("{position} left as it is: {error}"))?
    else {
        return Ok(false);
    };
    if let Some(target) = target {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as u32);
        target
            .write(position, compression, payload, now, Overwrite::Sound)
            .map_err(|error| format!("{position} left as it is: {error}"))?;
    }
    Ok(true)
}

fn print(rows: &[Row], arguments: &RelightArguments) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if arguments.json {
        return json_lines(&mut out, rows);
    }
    if !arguments.mode.check {
        let verb = if arguments.mode.in_place { "written" } else { "to be written" };
        let mut table = table(&["region", "chunks", "unlit before", verb]);
        for row in rows {
            let changed = row.changed_chunks.unwrap_or(0);
            table.add_row([
                row.region.clone(),
                row.chunks.to_string(),
                row.unlit_chunks.to_string(),
                changed.to_string(),
            ]);
        }
        align_right(&mut table, &[1, 2, 3]);
        return writeln!(out, "{table}");
    }
    let header = [
        "region",
        "chunks",
        "channel",
        "cells",
        "inside",
        "chunk edge",
        "known edge",
        "origins",
        "first difference",
    ];
    let mut table = table(&header);
    for row in rows {
        for (channel, found) in [("block", &row.block), ("sky", &row.sky)] {
            let Some(found) = found else { continue };
            let first = [&found.inside, &found.at_chunk_edge, &found.at_known_edge]
                .into_iter()
                .find_map(|cause| cause.first.clone());
            table.add_row([
                row.region.clone(),
                row.chunks.to_string(),
                channel.to_owned(),
                found.cells.to_string(),
                found.inside.cells.to_string(),
                found.at_chunk_edge.cells.to_string(),
                found.at_known_edge.cells.to_string(),
                (found.inside.origins + found.at_chunk_edge.origins).to_string(),
                first.unwrap_or_default(),
            ]);
        }
    }
    align_right(&mut table, &[1, 3, 4, 5, 6, 7]);
    writeln!(out, "{table}")?;
    writeln!(
        out,
        "cells that differ: inside a chunk, at its edge, and in chunks without all eight neighbours (where what stood there \
         is not known);\norigins: those of the first two that do not even follow from their stored neighbours, where the \
         store went wrong; the others follow from these"
    )
}

fn name(region: RegionPos) -> String {
    format!("{}, {}", region.x, region.z)
}

impl From<ChannelCheck> for ChannelRow {
    fn from(found: ChannelCheck) -> ChannelRow {
        ChannelRow {
            cells: found.cells,
            inside: found.inside.into(),
            at_chunk_edge: found.at_chunk_edge.into(),
            at_known_edge: found.at_known_edge.into(),
        }
    }
}

impl From<Differences> for DifferenceRow {
    fn from(found: Differences) -> DifferenceRow {
        DifferenceRow {
            cells: found.cells,
            stored_darker: found.stored_darker,
            origins: found.origins,
            first: found
                .first
                .map(|cell| format!("{}: {} stored, {} computed", cell.position, cell.stored, cell.computed)),
        }
    }
}
