//! The command line: every command, flag, default and example in one place.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use voxtick::anvil::compression::Compression;
use voxtick::anvil::save::SaveDimension;
use voxtick::worlds::ChunkPos;

/// Simulate voxel worlds headless, and look after real Minecraft Java worlds.
#[derive(Debug, Parser)]
#[command(
    name = "voxtick",
    version,
    max_term_width = 110,
    after_help = "Exit codes:
  0    done
  1    done, and found what the command looks for: damage, or results that differ
  2    the arguments, the scenario or the input cannot be used
  3    the work was done but some output is missing or incomplete
  4    the simulation failed
  130  stopped by Ctrl-C, after the running tick was finished and everything was written"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario and time every stage of every tick
    #[command(after_help = "Examples:
  voxtick run                                  the built-in scenario `factory`
  voxtick run item-rain --ticks 500            another built-in one
  voxtick run my.toml --threads 1 --hash       a scenario of your own, with a state hash every tick
  voxtick run --world ~/saves/town             the same things dropped into a real save
  voxtick run --world ~/saves/town --save      and what they change written back to it
  voxtick run real-world --world r.0.0.mca --json > summary.json")]
    Run(RunArguments),
    /// Look after real worlds: inspect, draw, verify, relight, repair, convert
    #[command(subcommand)]
    World(WorldCommand),
    /// Compare kernels with their references, both sides equal first and timed in turn
    #[command(after_help = "Examples:
  voxtick measure --list                       the names of all cases
  voxtick measure engine                       all cases whose name begins so
  voxtick measure light/section --rounds 30 --json")]
    Measure(MeasureArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A scenario file, or the name of a built-in one: factory, item-rain, long-belts, light-show, real-world
    #[arg(default_value = "factory")]
    pub(crate) scenario: String,
    /// Load this save folder, region folder or single region file instead of generating a world. Dropped items come in from
    /// the folder `entities` of Minecraft Java 1.17 onward, or from within the chunks of older saves
    #[arg(long, value_name = "PATH")]
    pub(crate) world: Option<PathBuf>,
    /// Write what the run changes back to the world it was loaded from: in turns while it runs, the rest at its end
    #[arg(long)]
    pub(crate) save: bool,
    /// How many ticks to run [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) ticks: Option<u64>,
    /// Threads of the pool that stages share; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// `sprint`, or ticks a second [default: the scenario's]
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// Where to put report.html, ticks.jsonl, ticks.csv, summary.json, summary.txt and trace.json
    #[arg(long, value_name = "DIR", default_value = "voxtick-out")]
    pub(crate) out: PathBuf,
    /// Seed of the world and of all that is thrown into it [default: the scenario's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Compute a state hash every tick
    #[arg(long)]
    pub(crate) hash: bool,
    /// Also write trace.json: the last 600 ticks for ui.perfetto.dev
    #[arg(long)]
    pub(crate) trace: bool,
    /// No progress and no table
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print the summary as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// What a world holds: versions, chunks, sections, blocks, light, damage
    #[command(after_help = "Examples:
  voxtick world info ~/saves/town
  voxtick world info region/r.0.0.mca --json")]
    Info(InfoArguments),
    /// Draw a world from above, one layer of it, or its light
    #[command(after_help = "Examples:
  voxtick world map ~/saves/town town.png
  voxtick world map r.0.0.mca caves.png --y 11
  voxtick world map r.0.0.mca light.png --light block --y 40
  voxtick world map ~/saves/town nether.png --dimension nether --y 40")]
    Map(MapArguments),
    /// Compute the light of a world anew and write it back, or check the stored light
    #[command(after_help = "Examples:
  voxtick world relight ~/saves/town --check   a table a region of what is stored and what the rules say
  voxtick world relight r.0.0.mca --check --json
  voxtick world relight ~/saves/town --dry-run how many chunks would be written
  voxtick world relight ~/saves/town --in-place

Everything else in a chunk stays byte for byte; a chunk whose light is right is not written.")]
    Relight(RelightArguments),
    /// Look at every entry and every chunk, and tell damage by cause
    #[command(after_help = "Examples:
  voxtick world verify ~/saves/town
  voxtick world verify r.0.0.mca --json

Exit code 1 where damage is found.")]
    Verify(VerifyArguments),
    /// Set damaged entries aside, so that the game can make those chunks anew
    #[command(after_help = "Examples:
  voxtick world repair ~/saves/town --dry-run
  voxtick world repair ~/saves/town --in-place

The bytes of each damaged entry go to <region>.damaged/ before the entry is cleared.")]
    Repair(RewriteArguments),
    /// Write region files anew without gaps
    #[command(after_help = "Examples:
  voxtick world compact ~/saves/town --dry-run
  voxtick world compact r.0.0.mca --in-place

The new file replaces the old one at once: a crash leaves one or the other.")]
    Compact(RewriteArguments),
    /// Write a world into a new folder in another compression or format
    #[command(after_help = "Examples:
  voxtick world convert ~/saves/town lz4/ --compression lz4
  voxtick world convert ~/saves/town small/ --level 9
  voxtick world convert ~/saves/town linear/ --to linear
  voxtick world convert linear/ back/ --to anvil

Chunks are not decoded, only packed anew, so nothing in them can change.")]
    Convert(ConvertArguments),
    /// Copy a box of chunks into a new folder
    #[command(after_help = "Example:
  voxtick world copy ~/saves/town spawn/ --from -4,-4 --to 4,4")]
    Copy(CopyArguments),
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// A save folder, a region folder or a single region file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Which dimension of a save
    #[arg(long, value_name = "NAME", default_value = "overworld")]
    pub(crate) dimension: DimensionName,
    /// Print one JSON object a region instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RewriteArguments {
    /// A save folder, a region folder or a single r.X.Z.mca file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) mode: RewriteMode,
    /// Which dimension of a save
    #[arg(long, value_name = "NAME", default_value = "overworld")]
    pub(crate) dimension: DimensionName,
}

/// Whether to write: one of the two.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RewriteMode {
    /// Tell what would be done and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Change the files
    #[arg(long)]
    pub(crate) in_place: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// A save folder, a region folder, a folder of .linear files, or a single file of either kind
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The folder to write to: a new or an empty one
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "anvil")]
    pub(crate) to: Format,
    /// How Anvil chunks are compressed
    #[arg(long, value_name = "SCHEME", default_value = "zlib")]
    pub(crate) compression: CompressionName,
    /// Level of zlib and gzip, 0 to 12, or of Linear's zstd, 1 to 22 [default: 2, or 6 for Linear]
    #[arg(long, value_name = "N")]
    pub(crate) level: Option<i32>,
    /// Which dimension of a save
    #[arg(long, value_name = "NAME", default_value = "overworld")]
    pub(crate) dimension: DimensionName,
}

/// Formats of whole regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Anvil,
    Linear,
}

/// Compression schemes of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompressionName {
    Gzip,
    Zlib,
    None,
    Lz4,
}

impl From<CompressionName> for Compression {
    fn from(name: CompressionName) -> Compression {
        match name {
            CompressionName::Gzip => Compression::Gzip,
            CompressionName::Zlib => Compression::Zlib,
            CompressionName::None => Compression::Uncompressed,
            CompressionName::Lz4 => Compression::Lz4,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CopyArguments {
    /// A save folder, a region folder or a single region file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The folder to write to: a new or an empty one
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// One corner of the box, in chunks
    #[arg(long, value_name = "X,Z", value_parser = chunk_position, allow_hyphen_values = true)]
    pub(crate) from: ChunkPos,
    /// The opposite corner, which is copied too
    #[arg(long, value_name = "X,Z", value_parser = chunk_position, allow_hyphen_values = true)]
    pub(crate) to: ChunkPos,
    /// Which dimension of a save
    #[arg(long, value_name = "NAME", default_value = "overworld")]
    pub(crate) dimension: DimensionName,
}

fn chunk_position(text: &str) -> Result<ChunkPos, String> {
    let parts = text.split_once(',').ok_or("two numbers with a comma between them, such as -4,12")?;
    let number = |part: &str| part.trim().parse().map_err(|error| format!("`{part}`: {error}"));
    Ok(ChunkPos::new(number(parts.0)?, number(parts.1)?))
}

#[derive(Debug, Args)]
pub(crate) struct RelightArguments {
    /// A save folder, a region folder or a single region file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) mode: RelightMode,
    /// Which dimension of a save
    #[arg(long, value_name = "NAME", default_value = "overworld")]
    pub(crate) dimension: DimensionName,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the computed light: one of the three.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RelightMode {
    /// Compare with the stored light and write nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// Count the chunks that would be written and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the chunks whose light differs back to their files
    #[arg(long)]
    pub(crate) in_place: bool,
}

/// The dimensions that every save has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DimensionName {
    Overworld,
    Nether,
    End,
}

impl From<DimensionName> for SaveDimension {
    fn from(name: DimensionName) -> SaveDimension {
        match name {
            DimensionName::Overworld => SaveDimension::Overworld,
            DimensionName::Nether => SaveDimension::Nether,
            DimensionName::End => SaveDimension::End,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct MapArguments {
    /// A save folder, a region folder or a single region file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The picture to write, a PNG; one pixel a block, north up
    #[arg(value_name = "OUT.png")]
    pub(crate) out: PathBuf,
    /// Draw the stored light instead of blocks: above the ground, or in the layer of --y
    #[arg(long, value_name = "CHANNEL")]
    pub(crate) light: Option<MapLight>,
    /// Draw the layer at this height instead of the view from above
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) y: Option<i32>,
    /// Which dimension of a save
    #[arg(long, value_name = "NAME", default_value = "overworld")]
    pub(crate) dimension: DimensionName,
}

/// The two kinds of light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MapLight {
    Sky,
    Block,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// A save folder, a region folder or a single region file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// How many kinds of blocks to list, most frequent first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MeasureArguments {
    /// Cases to measure: all whose name begins with one of these [default: all]
    #[arg(value_name = "SUBJECT")]
    pub(crate) subjects: Vec<String>,
    /// How often the two sides of a case take turns
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) rounds: u32,
    /// Print one JSON object a case instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the names of the cases and measure nothing
    #[arg(long)]
    pub(crate) list: bool,
}

impl MeasureArguments {
    /// True where a case of this name is to be measured.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|subject| name.starts_with(subject.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
