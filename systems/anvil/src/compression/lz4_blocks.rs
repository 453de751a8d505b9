//! LZ4 in the block framing of lz4-java, which is not the standard LZ4 frame.
//!
//! A stream is a run of blocks, each: `LZ4Block`, a token (method in the high half, size class in the low half),
//! compressed length, plain length, checksum of the plain bytes (all little-endian), data. A block of length 0 ends it.

use super::{Compression, InflateError, StreamEnd};
use twox_hash::XxHash32;

const MAGIC: &[u8; 8] = b"LZ4Block";
const HEADER: usize = 21;
const METHOD_RAW: u8 = 0x10;
const METHOD_LZ4: u8 = 0x20;
const CHECKSUM_SEED: u32 = 0x9747_B28C;
/// lz4-java keeps 28 bits of the checksum.
const CHECKSUM_MASK: u32 = 0x0FFF_FFFF;

pub(super) fn inflate(payload: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<StreamEnd, InflateError> {
    out.clear();
    let mut rest = payload;
    while !rest.is_empty() {
        let damaged = InflateError::Damaged { compression: Compression::Lz4, inflated: out.len() };
        let block = Block::read(rest).ok_or_else(|| damaged.clone())?;
        if block.plain_length == 0 {
            return Ok(StreamEnd::Proper);
        }
        if block.plain_length > limit - out.len() {
            return Err(InflateError::TooLarge { compression: Compression::Lz4, limit });
        }
        let start = out.len();
        match block.method {
            METHOD_RAW if block.data.len() == block.plain_length => out.extend_from_slice(block.data),
            // LZ4 cannot do better than 255 plain bytes a byte, so a larger claim is false and allocates nothing.
            METHOD_LZ4 if block.plain_length / 256 <= block.data.len() => {
                out.resize(start + block.plain_length, 0);
                let written = lz4_flex::block::decompress_into(block.data, &mut out[start..]);
                if written.ok() != Some(block.plain_length) {
                    out.truncate(start);
                    return Err(damaged);
                }
            }
            _ => return Err(damaged),
        }
        if checksum(&out[start..]) != block.checksum {
            out.truncate(start);
            return Err(damaged);
        }
        rest = block.rest;
    }
    Ok(StreamEnd::Missing)
}

struct Block<'a> {
    method: u8,
    plain_length: usize,
    checksum: u32,
    data: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Block<'a> {
    fn read(bytes: &'a [u8]) -> Option<Block<'a>> {
        let (header, body) = bytes.split_first_chunk::<HEADER>()?;
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if header[..8] != *MAGIC {
            return None;
        }
        let (data, rest) = body.split_at_checked(number(9) as usize)?;
        Some(Block {
            method: header[8] & 0xF0,
            plain_length: number(13) as usize,
            checksum: number(17),
            data,
            rest,
        })
    }
}

fn checksum(plain: &[u8]) -> u32 {
    XxHash32::oneshot(CHECKSUM_SEED, plain) & CHECKSUM_MASK
}

/// Plain bytes of a block; the size that lz4-java uses unless told otherwise.
const BLOCK: usize = 1 << 16;
/// Size class of such blocks in the token: the power of two beyond 1 KiB.
const BLOCK_CLASS: u8 = 6;

/// Packs `plain` after what `out` holds.
pub(super) fn pack(plain: &[u8], out: &mut Vec<u8>) {
    let mut packed = vec![0; lz4_flex::block::get_maximum_output_size(BLOCK.min(plain.len()))];
    for block in plain.chunks(BLOCK) {
        match lz4_flex::block::compress_into(block, &mut packed) {
            Ok(length) if length < block.len() => push_block(METHOD_LZ4, &packed[..length], block, out),
            _ => push_block(METHOD_RAW, block, block, out),
        }
    }
    push_block(METHOD_RAW, &[], &[], out);
}

fn push_block(method: u8, data: &[u8], plain: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    out.push(method | BLOCK_CLASS);
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    out.extend_from_slice(&(plain.len() as u32).to_le_bytes());
    // The block that ends a stream has no checksum.
    let sum = if plain.is_empty() { 0 } else { checksum(plain) };
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(data);
}
