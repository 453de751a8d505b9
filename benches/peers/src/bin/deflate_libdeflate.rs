//! libdeflate alone: see `deflate`, which runs this.

#[path = "../deflate.rs"]
#[expect(dead_code, reason = "the driver alone writes the input")]
mod deflate;

use libdeflater::{CompressionLvl, Compressor, Decompressor};

fn main() {
    let compressor = |level| Compressor::new(CompressionLvl::new(level).expect("a level"));
    let compressors = deflate::LEVELS.map(compressor);
    deflate::run("libdeflate", &mut Libdeflate { compressors, decompressor: Decompressor::new() });
}

struct Libdeflate {
    /// One a level: they have it for life.
    compressors: [Compressor; deflate::LEVELS.len()],
    decompressor: Decompressor,
}

impl deflate::Library for Libdeflate {
    fn bound(&mut self, length: usize) -> usize {
        self.compressors
            .iter_mut()
            .map(|compressor| compressor.zlib_compress_bound(length))
            .max()
            .unwrap_or(0)
    }

    fn deflate(&mut self, level: i32, nbt: &[u8], out: &mut [u8]) -> usize {
        let place = deflate::LEVELS.iter().position(|other| *other == level).expect("one of the levels");
        self.compressors[place].zlib_compress(nbt, out).expect("there is room")
    }

    fn inflate(&mut self, packed: &[u8], out: &mut [u8]) -> usize {
        self.decompressor.zlib_decompress(packed, out).expect("it is whole")
    }
}
