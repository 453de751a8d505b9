//! The names of the stages that every simulation of a world has, in the order in which they run.

/// Finished work enters the tick: loaded chunks, commands, results of other threads.
pub const INTAKE: &str = "intake";
/// Items move through pipes.
pub const TRANSIT: &str = "transit";
/// Dropped items move, land, merge and despawn.
pub const BODIES: &str = "bodies";
/// Light follows the blocks that changed.
pub const LIGHT: &str = "light";
/// Chunks are handed to the disk.
pub const STORAGE: &str = "storage";

/// All of them, in order.
pub const ORDER: [&str; 5] = [INTAKE, TRANSIT, BODIES, LIGHT, STORAGE];
