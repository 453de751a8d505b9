//! `voxtick world convert` and `voxtick world copy`: worlds into new folders, the old ones untouched.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use voxtick::anvil::compression::{Compression, Packer};
use voxtick::anvil::convert::recompress;
use voxtick::anvil::files::Access;
use voxtick::anvil::region::{
    Overwrite, RegionFormat, RegionOptions, StoredChunk, open_region, region_file_name,
};
use voxtick::anvil::{Limits, Save};
use voxtick::worlds::{BlockStates, ChunkPos, RegionPos};

use crate::arguments::{ConvertArguments, CopyArguments, Format};
use crate::outcome::{Failure, Outcome};
use crate::progress;

/// Runs `voxtick world convert`.
pub(crate) fn convert(arguments: &ConvertArguments) -> Result<Outcome, Failure> {
    let states = BlockStates::load();
    let save = Save::open(&arguments.path, arguments.dimension.into(), &states).map_err(Failure::usage)?;
    make_folder(&arguments.out)?;
    let mut target = Target::new(arguments)?;
    let bar = progress::steps(save.regions().len() as u64, "regions");
    let mut chunks = 0;
    for (position, file) in save.regions() {
        bar.set_message(file.display().to_string());
        chunks += target
            .convert(*position, file)
            .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let out = arguments.out.display();
    writeln!(io::stdout().lock(), "{chunks} chunks of {} regions written to {out}", save.regions().len())
        .map_err(Failure::output)?;
    Ok(Outcome::Success)
}

/// Where and how converted regions are written.
struct Target<'a> {
    folder: &'a Path,
    format: RegionFormat,
    options: RegionOptions,
    compression: Compression,
    packer: Packer,
}

impl Target<'_> {
    fn new(arguments: &ConvertArguments) -> Result<Target<'_>, Failure> {
        let mut options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
        let mut packer = Packer::new();
        let (format, compression) = match arguments.to {
            Format::Anvil => {
                if let Some(level) = arguments.level {
                    packer = Packer::with_level(level)
                        .map_err(|error| Failure::usage(format!("--level: {error}")))?;
                }
                (RegionFormat::Anvil, arguments.compression.into())
            }
            Format::Linear => {
                options.linear_level = arguments.level.unwrap_or(options.linear_level);
                // What a Linear file keeps chunks in until it is flushed.
                (RegionFormat::Linear, Compression::Lz4)
            }
        };
        Ok(Target { folder: &arguments.out, format, options, compression, packer })
    }

    fn convert(&mut self, position: RegionPos, file: &Path) -> Result<usize, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let source = open_region(file, position, Access::Read).map_err(|error| text(&error))?;
        let path = self.folder.join(region_file_name(position, self.format));
        if path.exists() {
            return Err(format!("{} is written already, from another file of this region", path.display()));
        }
        let options = RegionOptions { position: Some(position), ..self.options.clone() };
        let target = options.open_any(path).map_err(|error| text(&error))?;
        let limits = Limits::default();
        let chunks = recompress(&*source, &*target, self.compression, &mut self.packer, &limits)
            .map_err(|error| text(&error))?;
        target.flush().map_err(|error| text(&error))?;
        Ok(chunks)
    }
}

/// Runs `voxtick world copy`.
pub(crate) fn copy(arguments: &CopyArguments) -> Result<Outcome, Failure> {
    let states = BlockStates::load();
    let save = Save::open(&arguments.path, arguments.dimension.into(), &states).map_err(Failure::usage)?;
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
        let source = open_region(file, *position, Access::Read).map_err(Failure::usage)?;
        let chunks: Vec<ChunkPos> = source.chunks().into_iter().filter(|&chunk| inside(chunk)).collect();
        if chunks.is_empty() {
            continue;
        }
        // In the format that it is in.
        let name = region_file_name(*position, RegionFormat::of_path(file));
        let target =
            open_region(arguments.out.join(name), *position, Access::Write).map_err(Failure::usage)?;
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
