//! `voxtick world verify`: looks at every entry and every chunk of a world.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use voxtick::anvil::files::Access;
use voxtick::anvil::region::open_region;
use voxtick::anvil::{Limits, Save, Verdict, stray_external_files, verify_region};
use voxtick::worlds::{BlockStates, ChunkPos};

use crate::arguments::VerifyArguments;
use crate::outcome::{Failure, Outcome};
use crate::progress;
use crate::tables::{align_right, json_lines, table};

/// What was found in one region. Serialised as the command's JSON, one object a region.
#[derive(Debug, Default, Serialize)]
struct Row {
    file: String,
    whole: usize,
    /// Chunks of versions that this program does not read; nothing is known to be wrong with them.
    unsupported: usize,
    damaged: usize,
    /// Damaged entries by cause.
    causes: BTreeMap<&'static str, usize>,
    /// Each damaged entry with what is wrong.
    damage: Vec<Damage>,
    /// What is odd and does no harm.
    notices: BTreeMap<String, usize>,
    /// Why nothing of the file could be read, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
}

#[derive(Debug, Serialize)]
struct Damage {
    x: i32,
    z: i32,
    error: String,
}

/// Runs `voxtick world verify`.
pub(crate) fn run(arguments: &VerifyArguments) -> Result<Outcome, Failure> {
    let states = BlockStates::load();
    let save = Save::open(&arguments.path, arguments.dimension.into(), &states).map_err(Failure::usage)?;
    let dimension = save.build_range(&states).map_err(Failure::usage)?;
    let bar = progress::steps_unless(arguments.json, save.regions().len() as u64, "regions");
    let mut rows = Vec::new();
    for (position, file) in save.regions() {
        bar.set_message(file.display().to_string());
        rows.push(match open_region(file, *position, Access::Read) {
            Ok(region) => {
                let report = verify_region(&*region, &dimension, &states, &Limits::default());
                let mut row = Row { causes: report.causes().into_iter().collect(), ..Row::of(file) };
                report.entries.into_iter().for_each(|(chunk, verdict)| row.add(chunk, verdict));
                row
            }
            Err(error) => Row { unreadable: Some(error.to_string()), ..Row::of(file) },
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let strays = stray_external_files(save.folder(), &Limits::default()).unwrap_or_default();
    print(&rows, arguments)
        .and_then(|()| {
            let mut out = io::stdout().lock();
            let told: &[std::path::PathBuf] = if arguments.json { &[] } else { &strays };
            told.iter().try_for_each(|stray| writeln!(out, "needed by no region: {}", stray.display()))
        })
        .map_err(Failure::output)?;
    let found = rows.iter().any(|row| row.damaged > 0 || row.unreadable.is_some());
    Ok(if found { Outcome::Found } else { Outcome::Success })
}

impl Row {
    fn of(file: &Path) -> Row {
        Row { file: file.display().to_string(), ..Row::default() }
    }

    fn add(&mut self, chunk: ChunkPos, verdict: Verdict) {
        match verdict {
            Verdict::Absent => {}
            Verdict::Whole { notices, .. } => {
                self.whole += 1;
                for notice in notices {
                    *self.notices.entry(notice.to_string()).or_default() += 1;
                }
            }
            Verdict::Unsupported(_) => self.unsupported += 1,
            Verdict::Damaged(error) => {
                self.damaged += 1;
                self.damage.push(Damage { x: chunk.x, z: chunk.z, error: error.to_string() });
            }
        }
    }
}

fn print(rows: &[Row], arguments: &VerifyArguments) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if arguments.json {
        return json_lines(&mut out, rows);
    }
    let mut overview = table(&["region file", "whole", "unsupported", "damaged", "causes and notices"]);
    for row in rows {
        let causes = row.causes.iter().map(|(cause, count)| format!("{cause} ({count})"));
        let notices = row.notices.iter().map(|(notice, count)| format!("note: {notice} ({count})"));
        let said: Vec<String> = row.unreadable.iter().cloned().chain(causes).chain(notices).collect();
        overview.add_row([
            row.file.clone(),
            row.whole.to_string(),
            row.unsupported.to_string(),
            row.damaged.to_string(),
            said.join("\n"),
        ]);
    }
    align_right(&mut overview, &[1, 2, 3]);
    writeln!(out, "{overview}")?;
    rows.iter().flat_map(|row| &row.damage).try_for_each(|damage| writeln!(out, "damage: {}", damage.error))
}
