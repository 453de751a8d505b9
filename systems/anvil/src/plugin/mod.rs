//! Region storage as a part of a simulation: chunks are loaded and saved beside the tick, through the engine's own
//! structures.
//!
//! Requests wait in an [`UpdateQueue`](voxtick_engine::UpdateQueue), nearest first; threads work on them and hand results
//! over through a [`HandOff`](voxtick_engine::HandOff); results enter within a [`Budget`](voxtick_engine::Budget).

mod autosave;
mod failure;
mod io;
mod loads;
mod range;
mod stages;
mod storage;

pub use failure::{SaveCause, SaveChunkError, StorageFailure};
pub use io::{StorageSettings, StorageTimes};
pub use stages::StoragePlugin;
pub use storage::ChunkStorage;
