//! Makes `worlds/src/states/table.bin`, the compact block state table that `voxtick-worlds` ships.
//!
//! Run it when the table has to describe another game version:
//!
//! ```text
//! cargo run --release -p voxtick-worlds-generator -- LIGHT_FACTS.jsonl MINECRAFT_DATA/data/pc/VERSION worlds/src/states/table.bin
//! ```
//!
//! The two sources are facts about the game and are not committed; `worlds/src/states/TABLE.md` says where each
//! comes from. The same sources give the same bytes.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool that reports to its user"
)]

mod encode;
mod rules;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [light_facts, minecraft_data, output] = arguments.as_slice() else {
        eprintln!(
            "usage: voxtick-worlds-generator LIGHT_FACTS.jsonl MINECRAFT_DATA_VERSION_FOLDER OUTPUT.bin"
        );
        return ExitCode::from(2);
    };
    match generate(light_facts, minecraft_data, output) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn generate(
    light_facts: &Path,
    minecraft_data: &Path,
    output: &Path,
) -> Result<String, sources::SourceError> {
    let sources = sources::read(light_facts, minecraft_data)?;
    let raw = encode::encode(&sources);
    let packed = zstd::bulk::compress(&raw, 19)
        .map_err(|source| sources::SourceError::Write { path: output.to_path_buf(), source })?;
    std::fs::write(output, &packed)
        .map_err(|source| sources::SourceError::Write { path: output.to_path_buf(), source })?;
    Ok(format!(
        "{}: {} blocks, {} states, {} bytes ({} before compression)",
        sources.version,
        sources.blocks.len(),
        sources.blocks.iter().map(|block| block.states.len()).sum::<usize>(),
        packed.len(),
        raw.len(),
    ))
}
