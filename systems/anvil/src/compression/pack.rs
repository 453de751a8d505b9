//! The other way: packing payloads.

use super::{Compression, lz4_blocks};
use libdeflater::{CompressionLvl, Compressor};
use std::fmt;

/// Packs payloads. Keep one a thread: its tables are reused.
///
/// Zlib and gzip use [level 2](Packer::DEFAULT_LEVEL) unless told otherwise.
pub struct Packer {
    compressor: Compressor,
    level: i32,
}

/// Why there is no such level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no compression level {level}; give one from 0 (fastest) to 12 (smallest)")]
pub struct LevelError {
    /// The level asked for.
    pub level: i32,
}

impl Packer {
    /// The level used unless told otherwise: a save waits for it, and a disk has room.
    ///
    /// Level 6, the usual default, takes 1.5 times as long (1.50 to 1.57, on the finished chunks of a region of Minecraft
    /// 1.21) and level 9 takes 5.3 times as long (4.8 to 5.8); for the whole region they save 6.5 % and 7.6 % of the
    /// bytes. Level 1 packs them into 2.9 % more. `benches/peers`: `cargo run --release --features compression
    /// --bin compression`; sizes by `voxtick world convert --level`.
    pub const DEFAULT_LEVEL: i32 = 2;

    /// A packer of the default level.
    #[must_use]
    pub fn new() -> Packer {
        Packer::with_level(Packer::DEFAULT_LEVEL).expect("the default level exists")
    }

    /// A packer whose zlib and gzip use a level from 0 to 12.
    ///
    /// # Errors
    /// If there is no such level.
    pub fn with_level(level: i32) -> Result<Packer, LevelError> {
        let known = CompressionLvl::new(level).map_err(|_| LevelError { level })?;
        Ok(Packer { compressor: Compressor::new(known), level })
    }

    /// Packs `plain` into `out`, whose former content is dropped.
    ///
    /// ```
    /// use voxtick_anvil::compression::{Compression, Inflater, Packer};
    /// let (mut packed, mut plain) = (Vec::new(), Vec::new());
    /// for compression in Compression::ALL {
    ///     Packer::new().pack(compression, b"stone stone stone", &mut packed);
    ///     Inflater::new().inflate(compression, &packed, 64, &mut plain)?;
    ///     assert_eq!(plain, b"stone stone stone");
    /// }
    /// # Ok::<(), voxtick_anvil::compression::InflateError>(())
    /// ```
    pub fn pack(&mut self, compression: Compression, plain: &[u8], out: &mut Vec<u8>) {
        out.clear();
        match compression {
            Compression::Uncompressed => out.extend_from_slice(plain),
            Compression::Lz4 => lz4_blocks::pack(plain, out),
            Compression::Zlib => {
                out.resize(self.compressor.zlib_compress_bound(plain.len()), 0);
                let packed = self.compressor.zlib_compress(plain, out);
                out.truncate(packed.expect("the bound holds for any input"));
            }
            Compression::Gzip => {
                out.resize(self.compressor.gzip_compress_bound(plain.len()), 0);
                let packed = self.compressor.gzip_compress(plain, out);
                out.truncate(packed.expect("the bound holds for any input"));
            }
        }
    }
}

impl Default for Packer {
    fn default() -> Self {
        Packer::new()
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").field("level", &self.level).finish_non_exhaustive()
    }
}
