//! Schemes round-trip, caps hold, cut and damaged streams are told apart.

use super::*;
use libdeflater::{CompressionLvl, Compressor};

fn sample() -> Vec<u8> {
    (0..200_000_u32).map(|n| (n.wrapping_mul(n) >> 11) as u8 & 0x3F).collect()
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(6).expect("a level"));
    let mut out = vec![0; compressor.zlib_compress_bound(plain.len())];
    let length = compressor.zlib_compress(plain, &mut out).expect("it fits");
    out.truncate(length);
    out
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(6).expect("a level"));
    let mut out = vec![0; compressor.gzip_compress_bound(plain.len())];
    let length = compressor.gzip_compress(plain, &mut out).expect("it fits");
    out.truncate(length);
    out
}

/// The framing of lz4-java, written by hand.
fn lz4(plain: &[u8], block: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in plain.chunks(block).chain([&[] as &[u8]]) {
        let packed = if chunk.is_empty() { Vec::new() } else { lz4_flex::block::compress(chunk) };
        let raw = packed.len() >= chunk.len();
        let data = if raw { chunk } else { &packed };
        out.extend(b"LZ4Block");
        out.push(if raw { 0x16 } else { 0x26 });
        out.extend((data.len() as u32).to_le_bytes());
        out.extend((chunk.len() as u32).to_le_bytes());
        let sum =
            if chunk.is_empty() { 0 } else { twox_hash::XxHash32::oneshot(0x9747_B28C, chunk) & 0x0FFF_FFFF };
        out.extend(sum.to_le_bytes());
        out.extend(data);
    }
    out
}

fn inflate(
    compression: Compression,
    payload: &[u8],
    limit: usize,
) -> Result<(StreamEnd, Vec<u8>), InflateError> {
    let mut out = Vec::new();
    Inflater::new().inflate(compression, payload, limit, &mut out).map(|end| (end, out))
}

#[test]
fn every_scheme_gives_back_what_was_packed() {
    let plain = sample();
    for (compression, payload) in [
        (Compression::Zlib, zlib(&plain)),
        (Compression::Gzip, gzip(&plain)),
        (Compression::Lz4, lz4(&plain, 1 << 16)),
        (Compression::Uncompressed, plain.clone()),
    ] {
        assert_eq!(
            inflate(compression, &payload, 1 << 20),
            Ok((StreamEnd::Proper, plain.clone())),
            "{compression}"
        );
    }
}

#[test]
fn what_is_packed_here_is_what_others_read() {
    let plain = sample();
    let mut packed = Vec::new();
    for level in [0, 2, 12] {
        for compression in Compression::ALL {
            Packer::with_level(level).expect("a level").pack(compression, &plain, &mut packed);
            assert_eq!(inflate(compression, &packed, 1 << 20), Ok((StreamEnd::Proper, plain.clone())));
        }
    }
    assert_eq!(Packer::with_level(13).err(), Some(LevelError { level: 13 }));
    // The framing agrees with the one written by hand above, block by block.
    Packer::new().pack(Compression::Lz4, &plain, &mut packed);
    assert_eq!(packed, lz4(&plain, 1 << 16));
}

#[test]
fn schemes_are_recognised_by_their_first_bytes() {
    let plain = [&[10, 0, 0][..], &sample()].concat();
    assert_eq!(Compression::recognise(&zlib(&plain)), Some(Compression::Zlib));
    assert_eq!(Compression::recognise(&gzip(&plain)), Some(Compression::Gzip));
    assert_eq!(Compression::recognise(&lz4(&plain, 1 << 16)), Some(Compression::Lz4));
    assert_eq!(Compression::recognise(&plain), Some(Compression::Uncompressed));
    assert_eq!(Compression::recognise(b"??"), None);
}

#[test]
fn a_bomb_is_an_error_and_not_an_allocation() {
    let zeros = vec![0; 30 << 20];
    for (compression, payload) in [
        (Compression::Zlib, zlib(&zeros)),
        (Compression::Gzip, gzip(&zeros)),
        (Compression::Lz4, lz4(&zeros, 1 << 20)),
    ] {
        let mut out = Vec::new();
        let outcome = Inflater::new().inflate(compression, &payload, 1 << 20, &mut out);
        assert_eq!(outcome, Err(InflateError::TooLarge { compression, limit: 1 << 20 }));
        assert!(out.capacity() <= 2 << 20, "{compression} allocated {}", out.capacity());
    }
}

#[test]
fn a_stream_without_its_end_gives_all_that_is_there() {
    let plain = sample();
    let whole = zlib(&plain);
    assert_eq!(
        inflate(Compression::Zlib, &whole[..whole.len() - 4], 1 << 20),
        Ok((StreamEnd::Missing, plain.clone()))
    );
    let (end, part) =
        inflate(Compression::Zlib, &whole[..whole.len() / 2], 1 << 20).expect("a part is there");
    assert!(end == StreamEnd::Missing && plain.starts_with(&part) && part.len() > plain.len() / 3);
    let whole = gzip(&plain);
    assert_eq!(
        inflate(Compression::Gzip, &whole[..whole.len() - 8], 1 << 20),
        Ok((StreamEnd::Missing, plain))
    );
}

#[test]
fn a_flipped_byte_is_damage() {
    let plain = sample();
    for (compression, payload) in [
        (Compression::Zlib, zlib(&plain)),
        (Compression::Gzip, gzip(&plain)),
        (Compression::Lz4, lz4(&plain, 1 << 16)),
    ] {
        for place in [payload.len() / 2, payload.len() - 30] {
            let mut damaged = payload.clone();
            damaged[place] ^= 0x55;
            let outcome = inflate(compression, &damaged, 1 << 20);
            assert!(
                matches!(outcome, Err(InflateError::Damaged { .. })),
                "{compression} at {place}: {:?}",
                outcome.map(|(end, plain)| (end, plain.len()))
            );
        }
    }
}

#[test]
fn an_lz4_block_that_claims_too_much_allocates_nothing() {
    let mut payload = lz4(&sample(), 1 << 16);
    payload[13..17].copy_from_slice(&(60_u32 << 20).to_le_bytes());
    let mut out = Vec::new();
    assert!(Inflater::new().inflate(Compression::Lz4, &payload, 64 << 20, &mut out).is_err());
    assert!(out.capacity() < 1 << 20);
}

#[test]
fn the_compressor_for_any_bytes_round_trips_and_is_capped() {
    let mut compressor = ChunkCompressor::new().expect("zstd has contexts");
    let (mut packed, mut plain) = (Vec::new(), Vec::new());
    for sample in [sample(), Vec::new(), vec![1]] {
        compressor.compress(&sample, &mut packed).expect("there is memory");
        compressor.decompress(&packed, 1 << 20, &mut plain).expect("it was just packed");
        assert_eq!(plain, sample);
    }
    compressor.compress(&vec![0; 50 << 20], &mut packed).expect("there is memory");
    let mut out = Vec::new();
    assert!(compressor.decompress(&packed, 1 << 20, &mut out).is_err());
    assert_eq!(out.capacity(), 0, "a bomb allocates nothing");
    compressor.compress(&sample(), &mut packed).expect("there is memory");
    let middle = packed.len() / 2;
    assert!(compressor.decompress(&packed[..middle], 1 << 20, &mut out).is_err());
    assert!(compressor.decompress(b"no zstd", 1 << 20, &mut out).is_err());
}
