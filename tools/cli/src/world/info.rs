//! `voxtick world info`: what a world holds.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;
use voxtick::anvil::files::Access;
use voxtick::anvil::region::open_region;
use voxtick::anvil::save::SaveDimension;
use voxtick::anvil::{Limits, RegionLoad, Save, SaveError, load_region};
use voxtick::worlds::{BlockStates, LightChannel, LightLevels, StateId};

use crate::arguments::InfoArguments;
use crate::outcome::{Failure, Outcome};
use crate::progress;
use crate::tables::{align_right, table};

/// Damaged chunks that are listed one by one.
const LISTED_DAMAGE: usize = 50;

/// What one dimension of a world holds. Serialised as the command's JSON.
#[derive(Debug, Default, Serialize)]
struct Info {
    dimension: String,
    regions: usize,
    /// Region files of which nothing could be read.
    unreadable_regions: Vec<String>,
    chunks: usize,
    /// Chunks by the game's number for the version that wrote them.
    data_versions: BTreeMap<i32, usize>,
    /// Chunks by how far the game has generated them.
    statuses: BTreeMap<String, usize>,
    sections: usize,
    /// Sections in which every block is the same.
    uniform_sections: usize,
    /// Chunks with block light and with sky light stored in at least one section.
    chunks_with_block_light: usize,
    chunks_with_sky_light: usize,
    /// Blocks that are not air, most frequent first.
    blocks: Vec<BlockCount>,
    /// Kinds of blocks that the table does not know.
    unknown_blocks: usize,
    damaged_chunks: usize,
    /// The first of them, with the cause.
    damage: Vec<String>,
    /// What was odd and did no harm, by what it was.
    notices: BTreeMap<String, usize>,
    compressed_bytes: u64,
    #[serde(skip)]
    counts: BTreeMap<StateId, u64>,
}

#[derive(Debug, Serialize)]
struct BlockCount {
    block: String,
    count: u64,
}

/// Runs `voxtick world info`.
pub(crate) fn run(arguments: &InfoArguments) -> Result<Outcome, Failure> {
    let states = BlockStates::load();
    let saves = saves(arguments, &states)?;
    let regions = saves.iter().map(|save| save.regions().len()).sum::<usize>();
    let bar = progress::steps_unless(arguments.json, regions as u64, "regions");
    let mut infos = Vec::new();
    for save in &saves {
        let dimension = save.build_range(&states).map_err(Failure::usage)?;
        let mut info = Info { dimension: dimension.name().to_owned(), ..Info::default() };
        for (position, file) in save.regions() {
            bar.set_message(file.display().to_string());
            match open_region(file, *position, Access::Read) {
                Ok(region) => {
                    info.add(&load_region(&*region, &dimension, &states, &Limits::default()), &states);
                }
                Err(error) => info.unreadable_regions.push(error.to_string()),
            }
            info.regions += 1;
            bar.inc(1);
        }
        info.rank(&states, arguments.top);
        infos.push(info);
    }
    bar.finish_and_clear();
    let out = &mut io::stdout().lock();
    let printed = if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &infos).map_err(io::Error::from).and_then(|()| writeln!(out))
    } else {
        infos.iter().try_for_each(|info| info.print(out))
    };
    printed.map_err(Failure::output)?;
    let damaged = infos.iter().any(|info| info.damaged_chunks > 0 || !info.unreadable_regions.is_empty());
    Ok(if damaged { Outcome::Found } else { Outcome::Success })
}

/// All dimensions that the path has; a region file or folder of regions counts as the overworld.
fn saves(arguments: &InfoArguments, states: &Arc<BlockStates>) -> Result<Vec<Save>, Failure> {
    let overworld = Save::open(&arguments.path, SaveDimension::Overworld, states);
    let mut saves = Vec::new();
    for dimension in [SaveDimension::Nether, SaveDimension::End] {
        if let Ok(save) = Save::open(&arguments.path, dimension, states)
            && overworld.as_ref().map_or(true, |overworld| overworld.folder() != save.folder())
        {
            saves.push(save);
        }
    }
    match overworld {
        Ok(overworld) => saves.insert(0, overworld),
        // A save whose overworld nobody entered still has its other dimensions.
        Err(SaveError::NoSave { .. } | SaveError::Empty { .. }) if !saves.is_empty() => {}
        Err(error) => return Err(Failure::usage(error)),
    }
    Ok(saves)
}

impl Info {
    fn add(&mut self, loaded: &RegionLoad, states: &Arc<BlockStates>) {
        for chunk in &loaded.chunks {
            self.chunks += 1;
            if let Some(kept) = &chunk.unmodelled {
                *self.data_versions.entry(kept.data_version).or_default() += 1;
            }
            *self.statuses.entry(chunk.status.name().to_owned()).or_default() += 1;
            self.sections += chunk.sections().len();
            for section in chunk.sections() {
                self.uniform_sections += usize::from(section.uniform_state().is_some());
                for (state, count) in section.counts() {
                    if !states.is_air(state) {
                        *self.counts.entry(state).or_default() += count as u64;
                    }
                }
            }
            let lit = |channel| {
                chunk.light.as_ref().is_some_and(|light| {
                    light.channel(channel).iter().any(|levels| *levels != LightLevels::Absent)
                })
            };
            self.chunks_with_block_light += usize::from(lit(LightChannel::Block));
            self.chunks_with_sky_light += usize::from(lit(LightChannel::Sky));
        }
        self.damaged_chunks += loaded.failures.len();
        let room = LISTED_DAMAGE - self.damage.len().min(LISTED_DAMAGE);
        self.damage.extend(loaded.failures.iter().take(room).map(ToString::to_string));
        for (_, notice) in &loaded.notices {
            *self.notices.entry(notice.to_string()).or_default() += 1;
        }
        self.compressed_bytes += loaded.bytes;
    }

    /// Turns counts by state into counts by block, most frequent first.
    fn rank(&mut self, states: &BlockStates, top: usize) {
        let mut blocks: BTreeMap<&str, u64> = BTreeMap::new();
        let mut unknown = std::collections::BTreeSet::new();
        for (&state, &count) in &self.counts {
            let name = states.name(state);
            *blocks.entry(name).or_default() += count;
            if state.0 as usize >= states.known_count() {
                unknown.insert(name);
            }
        }
        self.unknown_blocks = unknown.len();
        let mut blocks: Vec<BlockCount> =
            blocks.into_iter().map(|(block, count)| BlockCount { block: block.to_owned(), count }).collect();
        blocks.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.block.cmp(&b.block)));
        blocks.truncate(top);
        self.blocks = blocks;
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let joined =
            |counts: Vec<String>| if counts.is_empty() { "none".to_owned() } else { counts.join("\n") };
        let mut overview = table(&[&self.dimension, ""]);
        let mut row = |name: &str, value: String| {
            overview.add_row([name.to_owned(), value]);
        };
        row("region files", self.regions.to_string());
        row("chunks", self.chunks.to_string());
        let versions =
            self.data_versions.iter().map(|(version, chunks)| format!("{version} ({chunks} chunks)"));
        row("DataVersion", joined(versions.collect()));
        let statuses = self.statuses.iter().map(|(status, chunks)| format!("{status} ({chunks})"));
        row("status", joined(statuses.collect()));
        row("sections", format!("{} ({} uniform)", self.sections, self.uniform_sections));
        row("block light", format!("in {} chunks", self.chunks_with_block_light));
        row("sky light", format!("in {} chunks", self.chunks_with_sky_light));
        row("unknown blocks", self.unknown_blocks.to_string());
        row("compressed", format!("{:.1} MiB", self.compressed_bytes as f64 / f64::from(1 << 20)));
        let notices = self.notices.iter().map(|(notice, count)| format!("{notice} ({count})"));
        row("notices", joined(notices.collect()));
        row("damaged chunks", self.damaged_chunks.to_string());
        writeln!(out, "{overview}\n")?;
        let mut counts = table(&["block", "count"]);
        for block in &self.blocks {
            counts.add_row([block.block.clone(), block.count.to_string()]);
        }
        align_right(&mut counts, &[1]);
        writeln!(out, "{counts}")?;
        for damage in self.damage.iter().chain(&self.unreadable_regions) {
            writeln!(out, "damage: {damage}")?;
        }
        if self.damaged_chunks > self.damage.len() {
            writeln!(out, "damage: {} more chunks", self.damaged_chunks - self.damage.len())?;
        }
        Ok(())
    }
}
