//! What packs chunks: libdeflate at one level against another, against zstd and against LZ4. Another zlib library is what
//! `deflate` compares it with.
//!
//! Contexts are kept, as `Packer` and `Inflater` keep them, and buffers are kept for all. The input is the NBT of
//! finished chunks, each packed by itself.
//!
//! `cargo run --release --features compression --bin compression [REGION.mca]`

use libdeflater::{CompressionLvl, Compressor, Decompressor};
use std::hint::black_box;
use voxtick_peers::{compare, finished_chunks, print_head};

fn main() {
    let documents: Vec<Vec<u8>> = finished_chunks(48).into_iter().map(|(_, nbt)| nbt).collect();
    let plain: usize = documents.iter().map(Vec::len).sum();
    let longest = documents.iter().map(Vec::len).max().unwrap_or(0);
    let share = |packed: &[Vec<u8>]| 100.0 * packed.iter().map(Vec::len).sum::<usize>() as f64 / plain as f64;
    println!("{plain} bytes of NBT; ours is libdeflate at level 2\n");
    print_head();

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
    for level in [1, 2, 6, 9] {
        println!("level {level}: {:.2} % of the NBT", share(&pack_all(level, &documents)));
    }
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
