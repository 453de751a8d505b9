//! `voxtick world convert` and `voxtick world copy`: worlds into new folders, the old ones untouched.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use voxtick::anvil::compression::{Compression, Packer};
use voxtick::anvil::convert::{from_linear, recompress, to_linear};
use voxtick::anvil::linear::LinearRegion;
use voxtick::anvil::region::{Overwrite, Region, StoredChunk, region_file_name, region_of_path};
use voxtick::anvil::{Limits, Save};
use voxtick::worlds::{ChunkPos, RegionPos};

use crate::arguments::{ConvertArguments, CopyArguments, Format};
use crate::outcome::{Failure, Outcome};
use crate::progress;

/// Buckets along the edge of a Linear file that is written: the number that its own tools use.
const LINEAR_GRID: u8 = 8;
/// A Linear file that is larger than this is none.
const LARGEST_LINEAR: u64 = 1 << 30;

/// Runs `voxtick world convert`.
pub(crate) fn convert(arguments: &ConvertArguments) -> Result<Outcome, Failure> {
    let sources = sources(&arguments.path, arguments)?;
    make_folder(&arguments.out)?;
    let mut packer = match arguments.level {
        Some(level) => {
            Packer::with_level(level).map_err(|error| Failure::usage(format!("--level: {error}")))?
        }
        None => Packer::new(),
    };
    let bar = progress::steps(sources.len() as u64, "regions");
    let mut chunks = 0;
    for (position, file) in &sources {
        bar.set_message(file.display().to_string());
        chunks += convert_region(*position, file, arguments, &mut packer)
            .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let out = arguments.out.display();
    writeln!(io::stdout().lock(), "{chunks} chunks of {} regions written to {out}", sources.len())
        .map_err(Failure::output)?;
    Ok(Outcome::Success)
}

/// Region files of a save, or Linear files of a folder, with their positions.
fn sources(path: &Path, arguments: &ConvertArguments) -> Result<Vec<(RegionPos, PathBuf)>, Failure> {
    let mut linear: Vec<PathBuf> = if is_linear(path) {
        vec![path.to_owned()]
    } else {
        fs::read_dir(path)
            .map(|entries| {
                entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|file| is_linear(file)).collect()
            })
            .unwrap_or_default()
    };
    if linear.is_empty() {
        let save = Save::open(path, arguments.dimension.into()).map_err(Failure::usage)?;
        return Ok(save.regions().to_vec());
    }
    linear.sort();
    linear
        .into_iter()
        .map(|file| {
            let position = region_of_path(&file.with_extension("mca"))
                .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
            Ok((position, file))
        })
        .collect()
}

fn is_linear(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "linear" || kind == "linearv2")
}

fn convert_region(
    position: RegionPos,
    file: &Path,
    arguments: &ConvertArguments,
    packer: &mut Packer,
) -> Result<usize, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let limits = Limits::default();
    let name = region_file_name(position);
    let anvil = || Region::open_for_writing(arguments.out.join(&name)).map_err(|error| text(&error));
    let compression: Compression = arguments.compression.into();
    match (is_linear(file), arguments.to) {
        (false, Format::Anvil) => {
            let target = anvil()?;
            let source = Region::open_as(file, position).map_err(|error| text(&error))?;
            let chunks =
                recompress(&source, &target, compression, packer, &limits).map_err(|error| text(&error))?;
            target.flush().map_err(|error| text(&error))?;
            Ok(chunks)
        }
        (true, Format::Anvil) => {
            let target = anvil()?;
            let chunks = from_linear(&read_linear(file, &limits)?, &target, compression, packer)
                .map_err(|error| text(&error))?;
            target.flush().map_err(|error| text(&error))?;
            Ok(chunks)
        }
        (linear, Format::Linear) => {
            let region = if linear {
                read_linear(file, &limits)?
            } else {
                let source = Region::open_as(file, position).map_err(|error| text(&error))?;
                to_linear(&source, &limits).map_err(|error| text(&error))?
            };
            let level = arguments.level.unwrap_or(LINEAR_LEVEL);
            let bytes = region.write(LINEAR_GRID, level).map_err(|error| text(&error))?;
            let target = arguments.out.join(Path::new(&name).with_extension("linear"));
            fs::write(&target, bytes).map_err(|error| format!("{}: {error}", target.display()))?;
            Ok(region.chunks().count())
        }
    }
}

/// The level of zstd that Linear files are written with unless told otherwise.
const LINEAR_LEVEL: i32 = 6;

fn read_linear(file: &Path, limits: &Limits) -> Result<LinearRegion, String> {
    let size = fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > LARGEST_LINEAR {
        return Err(format!("{size} bytes, a Linear file has at most {LARGEST_LINEAR}"));
    }
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    LinearRegion::read(&bytes, limits).map_err(|error| error.to_string())
}

/// Runs `voxtick world copy`.
pub(crate) fn copy(arguments: &CopyArguments) -> Result<Outcome, Failure> {
    let save = Save::open(&arguments.path, arguments.dimension.into()).map_err(Failure::usage)?;
    let (from, to) = (arguments.from, arguments.to);
    let inside = |chunk: ChunkPos| {
        (from.x.min(to.x)..=from.x.max(to.x)).contains(&chunk.x)
            && (from.z.min(to.z)..=from.z.max(to.z)).contains(&chunk.z)
    };
    make_folder(&arguments.out)?;
    let bar = progress::steps(save.regions().len() as u64, "regions");
    let mut stored = StoredChunk::default();
    let (mut copied, mut damaged) = (0, 0);
    for (position, file) in save.regions() {
        bar.inc(1);
        let source = Region::open_as(file, *position).map_err(Failure::usage)?;
        let chunks: Vec<ChunkPos> = source.chunks().filter(|&chunk| inside(chunk)).collect();
        if chunks.is_empty() {
            continue;
        }
        let target = Region::open_for_writing(arguments.out.join(region_file_name(*position)))
            .map_err(Failure::usage)?;
        for chunk in chunks {
            match source.read(chunk, &mut stored, &Limits::default()) {
                Ok(true) => {
                    target
                        .write(
                            chunk,
                            stored.compression(),
                            stored.payload(),
                            stored.timestamp(),
                            Overwrite::Sound,
                        )
                        .map_err(Failure::usage)?;
                    copied += 1;
                }
                Ok(false) => {}
                Err(error) => {
                    damaged += 1;
                    bar.suspend(|| crate::outcome::complain(&format!("not copied: {error}")));
                }
            }
        }
        target.flush().map_err(Failure::usage)?;
    }
    bar.finish_and_clear();
    writeln!(io::stdout().lock(), "{copied} chunks copied to {}", arguments.out.display())
        .map_err(Failure::output)?;
    Ok(if damaged > 0 { Outcome::Found } else { Outcome::Success })
}

/// Makes the folder to write to. One that holds anything already is refused: nothing there may be written over.
fn make_folder(folder: &Path) -> Result<(), Failure> {
    let refused = |error| Failure::usage(format!("{}: the folder cannot be made: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(refused)?;
    if fs::read_dir(folder).map_err(refused)?.next().is_some() {
        return Err(Failure::usage(format!("{} is not empty; name a new folder", folder.display())));
    }
    Ok(())
}
