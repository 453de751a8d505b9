//! `voxtick world repair`: takes damaged entries out of the way of the game, and keeps their bytes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use voxtick::anvil::files::{Access, Files, OsFiles};
use voxtick::anvil::region::{Region, RegionFormat, compact_region, open_region};
use voxtick::anvil::{Limits, Save, Verdict, verify_region};
use voxtick::worlds::BlockStates;

use crate::arguments::RewriteArguments;
use crate::outcome::{Failure, Outcome, complain};
use crate::progress;
use crate::tables::{align_right, table};

/// Runs `voxtick world repair`: sets every damaged entry aside into `<region>.damaged/` and clears it.
pub(crate) fn repair(arguments: &RewriteArguments) -> Result<Outcome, Failure> {
    let states = BlockStates::load();
    let save = Save::open(&arguments.path, arguments.dimension.into(), &states).map_err(Failure::usage)?;
    let _lock = arguments.mode.in_place.then(|| save.lock_session()).transpose().map_err(Failure::usage)?;
    let dimension = save.build_range(&states).map_err(Failure::usage)?;
    let bar = progress::steps(save.regions().len() as u64, "regions");
    let (mut lines, mut failed) = (Vec::new(), false);
    for (position, file) in save.regions() {
        bar.set_message(file.display().to_string());
        let access = if arguments.mode.in_place { Access::Write } else { Access::Read };
        let region = open_region(file, *position, access).map_err(Failure::usage)?;
        let aside = set_aside_folder(file);
        let report = verify_region(&*region, &dimension, &states, &Limits::default());
        for (chunk, verdict) in report.entries {
            let Verdict::Damaged(error) = verdict else { continue };
            if !arguments.mode.in_place {
                lines.push(format!("would be set aside: {error}"));
                continue;
            }
            match region.set_aside(chunk, &aside) {
                Ok(copies) => {
                    let copies: Vec<String> = copies.iter().map(|copy| copy.display().to_string()).collect();
                    lines.push(format!("set aside as {}: {error}", copies.join(" and ")));
                }
                Err(refused) => {
                    failed = true;
                    bar.suspend(|| complain(&format!("left as it is: {refused}")));
                }
            }
        }
        if let Err(error) = region.flush() {
            failed = true;
            bar.suspend(|| complain(&error.to_string()));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut out = io::stdout().lock();
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
        .and_then(|()| writeln!(out, "{} damaged chunks", lines.len()))
        .map_err(Failure::output)?;
    let found = failed || (!arguments.mode.in_place && !lines.is_empty());
    Ok(if found { Outcome::Found } else { Outcome::Success })
}

/// Runs `voxtick world compact`: writes each region file anew without gaps and puts it in the place of the old one.
pub(crate) fn compact(arguments: &RewriteArguments) -> Result<Outcome, Failure> {
    let states = BlockStates::load();
    let save = Save::open(&arguments.path, arguments.dimension.into(), &states).map_err(Failure::usage)?;
    let _lock = arguments.mode.in_place.then(|| save.lock_session()).transpose().map_err(Failure::usage)?;
    let bar = progress::steps(save.regions().len() as u64, "regions");
    let header = [
        "region file",
        "chunks",
        "bytes before",
        if arguments.mode.in_place { "bytes now" } else { "would be" },
    ];
    let (mut overview, mut failed) = (table(&header), false);
    let files: std::sync::Arc<dyn Files> = std::sync::Arc::new(OsFiles);
    for (position, file) in save.regions() {
        bar.set_message(file.display().to_string());
        let outcome = if RegionFormat::of_path(file) == RegionFormat::Linear {
            // It is written anew every time and has no gaps.
            open_region(file, *position, Access::Read)
                .map(|region| (region.chunks().len(), region.length(), region.length()))
                .map_err(|error| error.to_string())
        } else if arguments.mode.in_place {
            compact_region(file, &files, &Limits::default())
                .map(|done| (done.chunks, done.before, done.after))
                .map_err(|error| error.to_string())
        } else {
            Region::open_as(file, *position)
                .map_err(|error| error.to_string())
                .and_then(|region| compacted_size(&region))
        };
        match outcome {
            Ok((chunks, before, after)) => {
                overview.add_row([
                    file.display().to_string(),
                    chunks.to_string(),
                    before.to_string(),
                    after.to_string(),
                ]);
            }
            Err(error) => {
                failed = true;
                bar.suspend(|| complain(&error));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    align_right(&mut overview, &[1, 2, 3]);
    writeln!(io::stdout().lock(), "{overview}").map_err(Failure::output)?;
    Ok(if failed { Outcome::Found } else { Outcome::Success })
}

/// Chunks of a region, its size, and its size without gaps.
fn compacted_size(region: &Region) -> Result<(usize, u64, u64), String> {
    const SECTOR: u64 = 4096;
    const RECORD_HEAD: u64 = 5;
    let mut stored = voxtick::anvil::region::StoredChunk::default();
    let (mut chunks, mut sectors) = (0, 2);
    for chunk in region.chunks() {
        if region.read(chunk, &mut stored, &Limits::default()).map_err(|error| error.to_string())? {
            let inside = if stored.is_external() { 0 } else { stored.payload().len() as u64 };
            sectors += (RECORD_HEAD + inside).div_ceil(SECTOR);
            chunks += 1;
        }
    }
    Ok((chunks, region.length(), sectors * SECTOR))
}

/// `r.0.0.mca` has its damaged entries in `r.0.0.mca.damaged/`.
fn set_aside_folder(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".damaged");
    PathBuf::from(name)
}
