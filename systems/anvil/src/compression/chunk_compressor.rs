//! Compression of any bytes, for what is not bound to the schemes of region files.

use std::fmt;
use std::io;

/// Packs and unpacks any bytes with zstd. Keep one a thread: its contexts are reused.
///
/// For snapshots, caches and messages, where no other program reads the bytes.
/// `cargo run --release -p voxtick-anvil --example codec_costs` compares it with the schemes of region files.
///
/// ```
/// use voxtick_anvil::compression::ChunkCompressor;
/// let mut compressor = ChunkCompressor::new()?;
/// let (mut packed, mut plain) = (Vec::new(), Vec::new());
/// compressor.compress(&[7; 5000], &mut packed)?;
/// assert!(packed.len() < 50);
/// compressor.decompress(&packed, 1 << 20, &mut plain)?;
/// assert_eq!(plain, [7; 5000]);
/// assert!(compressor.decompress(&packed, 4999, &mut plain).is_err());
/// # Ok::<(), voxtick_anvil::compression::CompressError>(())
/// ```
pub struct ChunkCompressor {
    compressor: zstd::bulk::Compressor<'static>,
    decompressor: zstd::bulk::Decompressor<'static>,
    level: i32,
}

/// Why bytes could not be packed or unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// zstd has no memory left, or no such level.
    #[error("zstd refused: {0}")]
    Zstd(#[from] io::Error),
    /// The packed bytes are damaged, or hold more than is allowed.
    #[error("the zstd stream is damaged or holds more than {limit} bytes")]
    Stream {
        /// Bytes that are allowed.
        limit: usize,
    },
    /// The packed bytes do not say how much they hold.
    #[error("the zstd stream does not say how much it holds; it was not made by this compressor")]
    UnknownSize,
}

impl ChunkCompressor {
    /// The level used unless told otherwise.
    pub const DEFAULT_LEVEL: i32 = 3;

    /// A compressor of the default level.
    ///
    /// # Errors
    /// If there is no memory for its contexts.
    pub fn new() -> Result<ChunkCompressor, CompressError> {
        ChunkCompressor::with_level(ChunkCompressor::DEFAULT_LEVEL)
    }

    /// A compressor of a level of zstd, from about -7 (fastest) to 22 (smallest).
    ///
    /// # Errors
    /// If zstd does not know the level, or there is no memory for its contexts.
    pub fn with_level(level: i32) -> Result<ChunkCompressor, CompressError> {
        Ok(ChunkCompressor {
            compressor: zstd::bulk::Compressor::new(level)?,
            decompressor: zstd::bulk::Decompressor::new()?,
            level,
        })
    }

    /// Packs `plain` into `out`, whose former content is dropped.
    ///
    /// # Errors
    /// If zstd has no memory left.
    pub fn compress(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
        out.clear();
        out.reserve(zstd::zstd_safe::compress_bound(plain.len()));
        self.compressor.compress_to_buffer(plain, out)?;
        Ok(())
    }

    /// Unpacks into `out`, whose former content is dropped. Allocates nothing where the bytes claim more than `limit`.
    ///
    /// # Errors
    /// If the bytes are damaged, do not say how much they hold, or hold more than `limit`.
    pub fn decompress(
        &mut self,
        packed: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CompressError> {
        let claimed = match zstd::zstd_safe::get_frame_content_size(packed) {
            Ok(Some(claimed)) => usize::try_from(claimed).unwrap_or(usize::MAX),
            Ok(None) => return Err(CompressError::UnknownSize),
            Err(_) => return Err(CompressError::Stream { limit }),
        };
        if claimed > limit {
            return Err(CompressError::Stream { limit });
        }
        out.clear();
        out.reserve(claimed);
        match self.decompressor.decompress_to_buffer(packed, out) {
            Ok(length) if length == claimed => Ok(()),
            _ => Err(CompressError::Stream { limit }),
        }
    }
}

impl fmt::Debug for ChunkCompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkCompressor").field("level", &self.level).finish_non_exhaustive()
    }
}
