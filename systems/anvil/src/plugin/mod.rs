//! Region storage as a part of a simulation.
//!
//! [`AnvilPlugin`] loads set chunks within the tick, the same ones in the same tick on every machine.
//! [`StoragePlugin`] loads and saves beside the tick, through [`io`].

pub mod io;
mod loading;
mod storage;

pub use loading::{AnvilPlugin, ChunkLoading};
pub use storage::{ChunkStorage, IntakeBudget, StorageFailure, StoragePlugin};
