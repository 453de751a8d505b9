//! What one chunk may take at most, whatever a file claims.

use crate::nbt::NbtLimits;

/// Caps on what reading one chunk may allocate. Anything beyond is damage, reported as such.
///
/// ```
/// use voxtick_anvil::Limits;
/// let strict = Limits { inflated: 4 << 20, ..Limits::default() };
/// assert_eq!(strict.nbt.depth, 512);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a chunk's NBT. Defaults to 64 MiB.
    pub inflated: usize,
    /// Bytes of a chunk's compressed payload in a file of its own. Defaults to 64 MiB.
    pub external: usize,
    /// Depth and number of NBT values.
    pub nbt: NbtLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { inflated: 64 << 20, external: 64 << 20, nbt: NbtLimits::default() }
    }
}
