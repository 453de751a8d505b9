//! The compression schemes of chunk records, each with a cap on what it may inflate to.
//!
//! zlib and gzip are libdeflate's. Against zlib-rs on 48 finished chunks of Minecraft 1.21, each library in a binary of its
//! own (`deflate` in `benches/peers`):
//!
//! | job | zlib-rs by libdeflate, time | bytes a chunk, libdeflate and zlib-rs |
//! |---|---|---|
//! | inflate what the game wrote | 1.4x (1.2 to 1.6) | |
//! | inflate what was packed at level 2, at 6 | 1.6x (1.3 to 1.8), 1.6x (1.3 to 1.8) | |
//! | pack at level 1 | 0.6x (0.5 to 0.7) | 9,264, 11,882 |
//! | pack at level 2 | 0.9x (0.7 to 1.0) | 8,994, 9,770 |
//! | pack at level 6 | 1.2x (1.0 to 1.4) | 8,402, 8,630 |
//! | pack at level 9 | 2.0x (1.8 to 2.3) | 8,311, 8,353 |
//!
//! Chunks are read far more often than they are written, and every level makes them smaller.

mod chunk_compressor;
mod deflate;
mod lz4_blocks;
mod pack;

pub use chunk_compressor::{ChunkCompressor, CompressError};
pub use pack::{LevelError, Packer};

use std::fmt;

/// How the payload of a chunk record is compressed, by the number that stands in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Compression {
    /// 1: gzip. The game reads it and does not write it.
    Gzip = 1,
    /// 2: zlib, what the game writes unless told otherwise.
    Zlib = 2,
    /// 3: none.
    Uncompressed = 3,
    /// 4: LZ4 in the block framing of the library lz4-java (Minecraft Java 24w04a onward).
    Lz4 = 4,
}

impl Compression {
    /// All schemes, by number.
    pub const ALL: [Compression; 4] =
        [Compression::Gzip, Compression::Zlib, Compression::Uncompressed, Compression::Lz4];

    /// The scheme with this number; the bit 128 (payload in a file of its own) must be taken off before.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Compression> {
        match number {
            1 => Some(Compression::Gzip),
            2 => Some(Compression::Zlib),
            3 => Some(Compression::Uncompressed),
            4 => Some(Compression::Lz4),
            _ => None,
        }
    }

    /// The number that stands in a chunk record.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The scheme that a payload was plainly written with, told by its first bytes.
    #[must_use]
    pub fn recognise(payload: &[u8]) -> Option<Compression> {
        match payload {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            [b'L', b'Z', b'4', b'B', b'l', b'o', b'c', b'k', ..] => Some(Compression::Lz4),
            // A compound, its name nearly always empty.
            [10, 0, 0, ..] => Some(Compression::Uncompressed),
            // Deflate with a checksum over the two header bytes.
            [method, flags, ..]
                if method & 0xF == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31) =>
            {
                Some(Compression::Zlib)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::Gzip => "gzip",
            Compression::Zlib => "zlib",
            Compression::Uncompressed => "none",
            Compression::Lz4 => "lz4",
        })
    }
}

/// Why a payload could not be inflated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InflateError {
    /// The stream is damaged.
    #[error("the {compression} stream is damaged after {inflated} readable bytes")]
    Damaged {
        /// The scheme.
        compression: Compression,
        /// Bytes that could be read before the damage.
        inflated: usize,
    },
    /// The stream inflates to more than is allowed.
    #[error(
        "the {compression} stream inflates to more than {limit} bytes; raise the limit if the source is trusted"
    )]
    TooLarge {
        /// The scheme.
        compression: Compression,
        /// Bytes that are allowed.
        limit: usize,
    },
}

/// Inflates payloads. Keep one a thread: its tables and its estimate of sizes are reused.
pub struct Inflater {
    deflate: deflate::Deflate,
}

/// How an inflated stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// As the scheme says.
    Proper,
    /// Without end marker or checksum; everything that was there has been read. Some tools write such streams with
    /// all of the data in them.
    Missing,
}

impl Inflater {
    /// An inflater with its tables made.
    #[must_use]
    pub fn new() -> Inflater {
        Inflater { deflate: deflate::Deflate::new() }
    }

    /// Inflates `payload` into `out`, whose former content is dropped.
    ///
    /// ```
    /// use voxtick_anvil::compression::{Compression, Inflater};
    /// let mut out = Vec::new();
    /// Inflater::new().inflate(Compression::Uncompressed, b"as it is", 64, &mut out)?;
    /// assert_eq!(out, b"as it is");
    /// assert!(Inflater::new().inflate(Compression::Uncompressed, b"as it is", 4, &mut out).is_err());
    /// # Ok::<(), voxtick_anvil::compression::InflateError>(())
    /// ```
    ///
    /// # Errors
    /// [`InflateError`] where the stream is damaged or holds more than `limit` bytes. No more than about twice `limit`
    /// is ever allocated.
    pub fn inflate(
        &mut self,
        compression: Compression,
        payload: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<StreamEnd, InflateError> {
        match compression {
            Compression::Gzip | Compression::Zlib => self.deflate.inflate(compression, payload, limit, out),
            Compression::Lz4 => lz4_blocks::inflate(payload, limit, out),
            Compression::Uncompressed => {
                if payload.len() > limit {
                    return Err(InflateError::TooLarge { compression, limit });
                }
                out.clear();
                out.extend_from_slice(payload);
                Ok(StreamEnd::Proper)
            }
        }
    }
}

impl Default for Inflater {
    fn default() -> Self {
        Inflater::new()
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflater").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
