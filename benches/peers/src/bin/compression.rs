//! What packs chunks: libdeflate against zlib-rs, and zstd and LZ4 beside them.
//!
//! Both zlib libraries are called directly and not through `flate2`, which has one back end a build. Contexts of
//! libdeflate are kept, as `Packer` and `Inflater` keep them; zlib-rs makes one a call, as its functions for whole
//! buffers do. Buffers are kept for all. The input is the NBT of finished chunks, each packed by itself.
//!
//! `cargo run --release --features compression --bin compression [REGION.mca]`

use libdeflater::{CompressionLvl, Compressor, Decompressor};
use std::hint::black_box;
use voxtick_peers::{compare, finished_chunks, print_head};
use zlib_rs::{DeflateConfig, InflateConfig};

fn main() {
    let documents: Vec<Vec<u8>> = finished_chunks(48).into_iter().map(|(_, nbt)| nbt).collect();
    let plain: usize = documents.iter().map(Vec::len).sum();
    let longest = documents.iter().map(Vec::len).max().unwrap_or(0);
    let share = |packed: &[Vec<u8>]| 100.0 * packed.iter().map(Vec::len).sum::<usize>() as f64 / plain as f64;
    println!("{plain} bytes of NBT; ours is libdeflate at the same level unless the row says more\n");
    print_head();

    let deflate = |level: i32, out: &mut [u8], nbt: &[u8]| {
        let (packed, code) = zlib_rs::compress_slice(out, nbt, DeflateConfig::new(level));
        assert_eq!(code, zlib_rs::ReturnCode::Ok);
        packed.len()
    };
    let mut sizes = Vec::new();
    for level in [1, 2, 6, 9] {
        let by_libdeflate = pack_all(level, &documents);
        let mut out = vec![0; zlib_rs::compress_bound(longest)];
        let by_zlib_rs: Vec<Vec<u8>> = documents
            .iter()
            .map(|nbt| {
                let length = deflate(level, &mut out, nbt);
                out[..length].to_vec()
            })
            .collect();
        // Each reads what the other wrote.
        for (packed, nbt) in by_zlib_rs.iter().zip(&documents) {
            assert_eq!(inflate(&mut Decompressor::new(), packed, nbt.len()), *nbt);
        }
        for (packed, nbt) in by_libdeflate.iter().zip(&documents) {
            let mut plain = vec![0; nbt.len()];
            let (read, code) = zlib_rs::decompress_slice(&mut plain, packed, InflateConfig::default());
            assert_eq!(code, zlib_rs::ReturnCode::Ok);
            assert_eq!(read, nbt);
        }
        sizes.push(format!(
            "level {level}: libdeflate {:.2} %, zlib-rs {:.2} % of the NBT",
            share(&by_libdeflate),
            share(&by_zlib_rs)
        ));

        let mut compressor = Compressor::new(CompressionLvl::new(level).expect("a level"));
        let mut room = vec![0; compressor.zlib_compress_bound(longest)];
        compare(
            &format!("deflate/level={level}"),
            || {
                for nbt in &documents {
                    black_box(compressor.zlib_compress(nbt, &mut room).expect("there is room"));
                }
            },
            || {
                for nbt in &documents {
                    black_box(deflate(level, &mut out, nbt));
                }
            },
        );
        let mut decompressor = Decompressor::new();
        let (mut ours, mut other) = (vec![0; longest], vec![0; longest]);
        compare(
            &format!("inflate/level={level}"),
            || {
                for packed in &by_libdeflate {
                    black_box(decompressor.zlib_decompress(packed, &mut ours).expect("it is whole"));
                }
            },
            || {
                for packed in &by_libdeflate {
                    black_box(zlib_rs::decompress_slice(&mut other, packed, InflateConfig::default()));
                }
            },
        );
    }

    let at = |level| Compressor::new(CompressionLvl::new(level).expect("a level"));
    let mut room = vec![0; at(1).zlib_compress_bound(longest).max(zstd::zstd_safe::compress_bound(longest))];
    let mut second_room = room.clone();
    let mut level_2 = at(2);
    for level in [6, 9] {
        let mut other = at(level);
        compare(
            &format!("deflate/libdeflate 2 against {level}"),
            || {
                for nbt in &documents {
                    black_box(level_2.zlib_compress(nbt, &mut room).expect("there is room"));
                }
            },
            || {
                for nbt in &documents {
                    black_box(other.zlib_compress(nbt, &mut second_room).expect("there is room"));
                }
            },
        );
    }
    let mut zstd_3 = zstd::bulk::Compressor::new(3).expect("a level");
    compare(
        "deflate/libdeflate 2 against zstd 3",
        || {
            for nbt in &documents {
                black_box(level_2.zlib_compress(nbt, &mut room).expect("there is room"));
            }
        },
        || {
            for nbt in &documents {
                black_box(zstd_3.compress_to_buffer(nbt, &mut second_room).expect("there is room"));
            }
        },
    );
    let mut lz4_room = vec![0; lz4_flex::block::get_maximum_output_size(longest)];
    compare(
        "deflate/libdeflate 2 against lz4_flex",
        || {
            for nbt in &documents {
                black_box(level_2.zlib_compress(nbt, &mut room).expect("there is room"));
            }
        },
        || {
            for nbt in &documents {
                black_box(lz4_flex::block::compress_into(nbt, &mut lz4_room).expect("there is room"));
            }
        },
    );
    let by_zstd: Vec<Vec<u8>> =
        documents.iter().map(|nbt| zstd_3.compress(nbt).expect("there is memory")).collect();
    let by_lz4: Vec<Vec<u8>> = documents.iter().map(|nbt| lz4_flex::block::compress(nbt)).collect();
    let by_level_2 = pack_all(2, &documents);
    let (mut decompressor, mut plain_room) = (Decompressor::new(), vec![0; longest]);
    let mut inflate_level_2 = || {
        for packed in &by_level_2 {
            black_box(decompressor.zlib_decompress(packed, &mut plain_room).expect("it is whole"));
        }
    };
    let (mut zstd_reader, mut other_room) =
        (zstd::bulk::Decompressor::new().expect("memory"), vec![0; longest + 64]);
    compare("inflate/libdeflate 2 against zstd 3", &mut inflate_level_2, || {
        for packed in &by_zstd {
            black_box(zstd_reader.decompress_to_buffer(packed, &mut other_room).expect("it is whole"));
        }
    });
    compare("inflate/libdeflate 2 against lz4_flex", &mut inflate_level_2, || {
        for packed in &by_lz4 {
            black_box(lz4_flex::block::decompress_into(packed, &mut other_room).expect("it is whole"));
        }
    });
    println!();
    sizes.iter().for_each(|line| println!("{line}"));
    println!("zstd 3: {:.2} %, lz4_flex: {:.2} % of the NBT", share(&by_zstd), share(&by_lz4));
}

fn pack_all(level: i32, documents: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut compressor = Compressor::new(CompressionLvl::new(level).expect("a level"));
    documents
        .iter()
        .map(|nbt| {
            let mut out = vec![0; compressor.zlib_compress_bound(nbt.len())];
            let length = compressor.zlib_compress(nbt, &mut out).expect("there is room");
            out.truncate(length);
            out
        })
        .collect()
}

fn inflate(decompressor: &mut Decompressor, packed: &[u8], length: usize) -> Vec<u8> {
    let mut plain = vec![0; length];
    let read = decompressor.zlib_decompress(packed, &mut plain).expect("it is whole");
    plain.truncate(read);
    plain
}
