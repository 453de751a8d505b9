//! The command line as its users meet it: what it prints, what it leaves, how it ends.

mod determinism;
mod errors;
mod program;
#[cfg(unix)]
mod progress;
mod run;
mod worlds;
