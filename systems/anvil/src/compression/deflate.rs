//! zlib and gzip: whole buffers through libdeflate, cut streams through a streaming inflater.
//!
//! libdeflate inflates a whole buffer two to three times as fast as streaming inflaters do, but says nothing about how
//! far it came. Streams that it refuses are read again by the streaming one, which gives what is there.

use super::{Compression, InflateError, StreamEnd};
use libdeflater::{DecompressionError, Decompressor};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// Chunks of real worlds inflate to 5 to 9 times their size. A guess too low costs a second try, one too high costs
/// clearing memory.
const USUAL_RATIO: usize = 12;
const LEAST_GUESS: usize = 16 << 10;

/// Checksum and length behind a gzip member.
const GZIP_TRAILER: usize = 8;

pub(super) struct Deflate {
    decompressor: Decompressor,
}

impl Deflate {
    pub(super) fn new() -> Deflate {
        Deflate { decompressor: Decompressor::new() }
    }

    pub(super) fn inflate(
        &mut self,
        compression: Compression,
        payload: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<StreamEnd, InflateError> {
        let mut size = (payload.len() * USUAL_RATIO).max(LEAST_GUESS).min(limit);
        loop {
            out.resize(size, 0);
            let outcome = match compression {
                Compression::Gzip => self.decompressor.gzip_decompress(payload, out),
                _ => self.decompressor.zlib_decompress(payload, out),
            };
            match outcome {
                Ok(length) => {
                    out.truncate(length);
                    return Ok(StreamEnd::Proper);
                }
                Err(DecompressionError::InsufficientSpace) if size < limit => size = (size * 2).min(limit),
                Err(DecompressionError::InsufficientSpace) => {
                    out.clear();
                    return Err(InflateError::TooLarge { compression, limit });
                }
                Err(DecompressionError::BadData) => return inflate_cut(compression, payload, limit, out),
            }
        }
    }
}

/// Reads a stream that has no end marker or no checksum, as far as it goes.
fn inflate_cut(
    compression: Compression,
    payload: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<StreamEnd, InflateError> {
    let (body, flags) = match compression {
        Compression::Gzip => match gzip_body(payload) {
            Some(body) => (body, 0),
            None => return Err(InflateError::Damaged { compression, inflated: 0 }),
        },
        _ => (payload, TINFL_FLAG_PARSE_ZLIB_HEADER),
    };
    let mut state = DecompressorOxide::new();
    let (mut read, mut written) = (0, 0);
    loop {
        if out.len() == written {
            if written == limit {
                return Err(InflateError::TooLarge { compression, limit });
            }
            out.resize((written.max(LEAST_GUESS) * 2).min(limit), 0);
        }
        let flags = flags | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, consumed, produced) = decompress(&mut state, &body[read..], out, written, flags);
        read += consumed;
        written += produced;
        let end = match status {
            TINFLStatus::HasMoreOutput => continue,
            // The streaming inflater checks the checksum of zlib itself. That of gzip was found wrong before, unless
            // it is not there.
            TINFLStatus::Done if compression == Compression::Zlib => StreamEnd::Proper,
            TINFLStatus::Done if body.len() - read < GZIP_TRAILER => StreamEnd::Missing,
            // The deflate stream itself is whole up to here: what is missing is its end, or the checksum behind it.
            TINFLStatus::NeedsMoreInput | TINFLStatus::FailedCannotMakeProgress => StreamEnd::Missing,
            _ => return Err(InflateError::Damaged { compression, inflated: written }),
        };
        out.truncate(written);
        return Ok(end);
    }
}

/// The deflate stream within a gzip member.
fn gzip_body(payload: &[u8]) -> Option<&[u8]> {
    let [0x1F, 0x8B, 8, flags, _, _, _, _, _, _, rest @ ..] = payload else { return None };
    let mut rest = rest;
    if flags & 4 != 0 {
        let length = u16::from_le_bytes(*rest.first_chunk()?);
        rest = rest.get(2 + usize::from(length)..)?;
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}
