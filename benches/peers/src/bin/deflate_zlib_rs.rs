//! zlib-rs alone: see `deflate`, which runs this.

#[path = "../deflate.rs"]
#[expect(dead_code, reason = "the driver alone writes the input")]
mod deflate;

use zlib_rs::{DeflateConfig, InflateConfig, ReturnCode};

fn main() {
    deflate::run("zlib-rs", &mut ZlibRs);
}

/// Its functions for whole buffers make their state a call.
struct ZlibRs;

impl deflate::Library for ZlibRs {
    fn bound(&mut self, length: usize) -> usize {
        zlib_rs::compress_bound(length)
    }

    fn deflate(&mut self, level: i32, nbt: &[u8], out: &mut [u8]) -> usize {
        let (packed, code) = zlib_rs::compress_slice(out, nbt, DeflateConfig::new(level));
        assert_eq!(code, ReturnCode::Ok);
        packed.len()
    }

    fn inflate(&mut self, packed: &[u8], out: &mut [u8]) -> usize {
        let (plain, code) = zlib_rs::decompress_slice(out, packed, InflateConfig::default());
        assert_eq!(code, ReturnCode::Ok);
        plain.len()
    }
}
