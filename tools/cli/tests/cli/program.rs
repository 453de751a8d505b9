//! Runs the built `voxtick` as a user would.

use std::path::Path;
use std::process::{Command, Stdio};

/// What a run of the program left.
pub(crate) struct Run {
    /// The exit code; -1 where a signal ended it.
    pub(crate) code: i32,
    /// What it wrote to the standard output.
    pub(crate) output: String,
    /// What it wrote to the error stream.
    pub(crate) errors: String,
}

/// Runs `voxtick` with these arguments.
pub(crate) fn voxtick(arguments: &[&str]) -> Run {
    run_in(Path::new("."), arguments)
}

/// Runs `voxtick` with these arguments in a folder.
pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Run {
    let output = command(arguments).current_dir(folder).output().expect("voxtick starts");
    Run {
        code: output.status.code().unwrap_or(-1),
        output: String::from_utf8(output.stdout).expect("UTF-8"),
        errors: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// `voxtick` with these arguments, not yet started.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxtick"));
    command.args(arguments).stdin(Stdio::null());
    command
}
