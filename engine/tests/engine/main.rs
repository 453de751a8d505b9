//! The engine's promises, told as tests; one program, so that it is linked once.

mod building;
mod common;
mod failures;
mod sinks;
mod ticking;
mod timings;
mod trace;
