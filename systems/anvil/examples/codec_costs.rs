//! What the parts of the chunk codec cost on a real region: the figures that the docs quote.
//!
//! `cargo run --release -p voxtick-anvil --example codec_costs [REGION.mca]`; without a path it takes the region of
//! 1.19.4 that comes with the crate `fastanvil`.
#![expect(clippy::print_stdout, reason = "an example that reports to its user")]

use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use voxtick_anvil::compression::{ChunkCompressor, Compression, Inflater, Packer};
use voxtick_anvil::nbt::{NbtLimits, Tape};
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_anvil::{ChunkDecoder, ChunkEncoder, Limits, load_region, reference};
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, RegionPos};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => region_of_fastanvil()?,
    };
    let region = Region::open_as(&path, RegionPos::new(0, 0))?;
    let dimension = Dimension::overworld();
    let states = BlockStates::load();
    let limits = Limits::default();
    let mut decoder = ChunkDecoder::new(dimension.clone(), states.clone(), limits);

    // The finished chunks, as they are stored and as NBT.
    let mut chunks: Vec<(ChunkPos, StoredChunk, Vec<u8>)> = Vec::new();
    let mut inflater = Inflater::new();
    for position in region.chunks() {
        let mut stored = StoredChunk::default();
        region.read(position, &mut stored, &limits)?;
        if decoder.decode(position, &stored)?.chunk.status.is_full() {
            let mut nbt = Vec::new();
            inflater.inflate(stored.compression(), stored.payload(), limits.inflated, &mut nbt)?;
            chunks.push((position, stored, nbt));
        }
    }
    let bytes: usize = chunks.iter().map(|(_, _, nbt)| nbt.len()).sum();
    println!("{} finished chunks, {} bytes of NBT each on average", chunks.len(), bytes / chunks.len());

    let per_chunk = |what: &str, mut job: Box<dyn FnMut(usize) + '_>| {
        let best = (0..7)
            .map(|_| {
                let start = Instant::now();
                (0..chunks.len()).for_each(&mut job);
                start.elapsed().as_secs_f64() * 1e6 / chunks.len() as f64
            })
            .fold(f64::INFINITY, f64::min);
        println!("{what:44} {best:8.1} us a chunk");
    };

    let mut out = Vec::new();
    per_chunk(
        "inflate",
        Box::new(|n| {
            let (_, stored, _) = &chunks[n];
            inflater
                .inflate(stored.compression(), stored.payload(), 64 << 20, &mut out)
                .expect("it is whole");
            black_box(&out);
        }),
    );
    let mut tape = Tape::new();
    per_chunk(
        "walk the NBT",
        Box::new(|n| {
            black_box(tape.parse(&chunks[n].2, &NbtLimits::default()).expect("it is whole"));
        }),
    );
    per_chunk(
        "decode from NBT to columns",
        Box::new(|n| {
            black_box(decoder.decode_nbt(chunks[n].0, &chunks[n].2).expect("it is whole"));
        }),
    );
    let mut decoder = ChunkDecoder::new(dimension.clone(), states.clone(), limits);
    per_chunk(
        "decode from file bytes to columns",
        Box::new(|n| {
            black_box(decoder.decode(chunks[n].0, &chunks[n].1).expect("it is whole"));
        }),
    );
    per_chunk(
        "fastanvil + fastnbt to unpacked states",
        Box::new(|n| {
            black_box(unpack_with_fastanvil(&mut inflater, &chunks[n].1));
        }),
    );

    per_chunk(
        "the reference, from NBT to columns",
        Box::new(|n| {
            black_box(reference::decode_chunk(&chunks[n].2, &dimension, &states).expect("it is whole"));
        }),
    );

    let mut decoded = Vec::new();
    for (position, stored, _) in &chunks {
        decoded.push(decoder.decode(*position, stored)?.chunk);
    }
    let stone = states.parse("diamond_block")?;
    for chunk in &mut decoded {
        for section in 0..chunk.sections().len() as i32 {
            chunk.set_block(1, chunk.min_y() + section * 16 + 3, 2, stone, &states);
        }
    }
    let mut encoder = ChunkEncoder::new(dimension.clone(), states.clone(), limits, Packer::new());
    per_chunk(
        "encode to NBT, every section changed",
        Box::new(|n| {
            black_box(encoder.encode_nbt(&decoded[n]).expect("it encodes"));
        }),
    );
    per_chunk(
        "snapshot",
        Box::new(|n| {
            black_box(decoded[n].clone());
        }),
    );

    for (compression, level) in [
        (Compression::Zlib, 1),
        (Compression::Zlib, 2),
        (Compression::Zlib, 6),
        (Compression::Zlib, 9),
        (Compression::Lz4, 0),
    ] {
        let mut packer = Packer::with_level(level)?;
        let mut packed = Vec::new();
        let mut total = 0;
        per_chunk(
            &format!("pack with {compression} level {level}"),
            Box::new(|n| {
                packer.pack(compression, &chunks[n].2, &mut packed);
                total += packed.len();
            }),
        );
        println!("{:44} {:8.1} % of the NBT", "", 100.0 * total as f64 / 7.0 / bytes as f64);
    }
    let mut compressor = ChunkCompressor::new()?;
    let mut packed = Vec::new();
    let mut total = 0;
    per_chunk(
        "pack with zstd level 3",
        Box::new(|n| {
            compressor.compress(&chunks[n].2, &mut packed).expect("there is memory");
            total += packed.len();
        }),
    );
    println!("{:44} {:8.1} % of the NBT", "", 100.0 * total as f64 / 7.0 / bytes as f64);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let best = (0..5)
            .map(|_| {
                let start = Instant::now();
                black_box(pool.install(|| load_region(&region, &dimension, &states, &limits)));
                start.elapsed().as_secs_f64() * 1e3
            })
            .fold(f64::INFINITY, f64::min);
        println!("{:44} {best:8.1} ms", format!("the whole region with {threads} threads"));
    }
    Ok(())
}

/// The same end state with another reader: all states of all sections unpacked into arrays.
fn unpack_with_fastanvil(inflater: &mut Inflater, stored: &StoredChunk) -> usize {
    let mut nbt = Vec::new();
    // Their reader inflates more slowly; ours is lent to it so that the codecs alone are compared.
    inflater.inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt).expect("it is whole");
    let chunk: fastanvil::CurrentJavaChunk = fastnbt::from_bytes(&nbt).expect("it is whole");
    let mut cells = [0_u16; 4096];
    let mut count = 0;
    for section in chunk.sections.iter().flat_map(|tower| tower.sections()) {
        if let Some(indices) = section.block_states.try_iter_indices() {
            for (cell, index) in cells.iter_mut().zip(indices) {
                *cell = index as u16;
            }
            count += usize::from(black_box(&cells)[17]);
        }
    }
    count
}

fn region_of_fastanvil() -> Result<PathBuf, Box<dyn std::error::Error>> {
    let output = Command::new("cargo").args(["metadata", "--format-version", "1"]).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let package =
        packages.iter().find(|package| package["name"] == "fastanvil").ok_or("fastanvil is missing")?;
    let manifest = PathBuf::from(package["manifest_path"].as_str().ok_or("a path")?);
    Ok(manifest.with_file_name("resources").join("1.19.4.mca"))
}
