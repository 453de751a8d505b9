//! How a command ends: exit codes, and the one line that says what went wrong, where, and what to do.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// A command that ran to its end, and what that means for the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Exit code 0.
    Success,
    /// Exit code 1: the command did its work and found what it looks for: damage, or two sides that differ.
    Found,
    /// Exit code 3: the work was done but some output is missing or incomplete.
    OutputLost,
    /// Exit code 130: stopped by Ctrl-C after finishing what was begun.
    Interrupted,
}

/// A command that could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Exit code 2: the arguments, the scenario or the input cannot be used.
    pub(crate) fn usage(message: impl fmt::Display) -> Failure {
        Failure { code: 2, message: message.to_string() }
    }

    /// Exit code 3: the output could not be written.
    pub(crate) fn output(error: io::Error) -> Failure {
        Failure {
            code: 3,
            message: format!("the output could not be written: {error}; free the disk or keep the pipe open"),
        }
    }

    /// Exit code 4: the simulation itself failed.
    pub(crate) fn simulation(message: impl fmt::Display) -> Failure {
        Failure { code: 4, message: message.to_string() }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Success => 0,
            Outcome::Found => 1,
            Outcome::OutputLost => 3,
            Outcome::Interrupted => 130,
        })
    }
}

/// Turns what a command gave into an exit code, saying on the error stream why it failed.
pub(crate) fn conclude(result: Result<Outcome, Failure>) -> ExitCode {
    match result {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            complain(&failure.message);
            ExitCode::from(failure.code)
        }
    }
}

/// One line on the error stream.
#[expect(clippy::print_stderr, reason = "the one place where the command line speaks of errors and warnings")]
pub(crate) fn complain(message: &str) {
    eprintln!("voxtick: {message}");
}
