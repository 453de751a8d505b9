//! Light by queue flood fill over flat arrays: the plainest correct way, written for reading.
//!
//! It is the oracle of the tests and the other side of the measurements; it never runs in a simulation. It is no straw
//! man: one byte a cell, no hash look-ups, no allocation a cell, and only those cells of a sky column queued that have
//! something to light.
//!
//! The rules are those of Minecraft Java 1.16 onward. With `e` the emission of a cell, `step` its dampening but at
//! least 1, and an edge open where the two faces that meet do not together cover the whole face:
//! - block light `B(p) = max(e(p), B(n) - step(p))` over the neighbours `n` with an open edge;
//! - sky light `S(p) = max(15 if p is a source, S(n) - step(p))` over the same neighbours, where `p` is a source if
//!   the cell above is one (or `p` is at the top of the build range), `p` has no dampening and the edge is open.

mod area;
mod edit;
mod section;

pub use area::FlatLight;
pub use section::light_section;
