//! What the dirty set shares between threads, in one place so that its model test can put `loom`'s
//! in their stead.

pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::atomic::AtomicU64;

/// Words of 64 indices in one page of a dirty set.
pub(crate) const PAGE_WORDS: usize = 64;
/// Enough shelves, of `2^n` pages each, for every `u32`.
pub(crate) const SHELVES: usize = 21;
