//! Dropped items: the kernel against the reference, moving and at rest, and what merging and touching pairs cost.
//!
//! Moving bodies are those of a random world of 48 x 32 x 48 blocks, 14.7 % of them stone, over a floor; each is thrown
//! again every 40 ticks, a fortieth of them in each tick, so that one tick is like another and a few of them make a
//! sample. A tick's throws count.

mod arena;
mod moving;
mod piles;
mod resting;
mod water;

use super::Case;

/// The cases of this subject. Items are bodies.
pub(super) fn cases() -> Vec<Case> {
    [moving::cases(), resting::cases(), water::cases(), piles::cases()].into_iter().flatten().collect()
}

/// Ticks that make a sample of some milliseconds.
fn sample_of(count: usize) -> usize {
    (400_000 / count).max(1)
}
