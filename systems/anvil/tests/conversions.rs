//! Conversions change the packing and nothing else.

#[path = "support/real.rs"]
mod real;

use voxtick_anvil::Limits;
use voxtick_anvil::compression::{Compression, Inflater, Packer};
use voxtick_anvil::convert::{ConvertError, from_linear, recompress, to_linear};
use voxtick_anvil::linear::LinearRegion;
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_worlds::{ChunkPos, RegionPos};

/// The NBT and time stamp of every chunk.
fn contents(region: &Region) -> Vec<(ChunkPos, Vec<u8>, u32)> {
    let (mut stored, mut inflater) = (StoredChunk::default(), Inflater::new());
    let read = |chunk| {
        assert!(region.read(chunk, &mut stored, &Limits::default()).expect("it is whole"));
        let mut nbt = Vec::new();
        inflater.inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt).expect("it inflates");
        (chunk, nbt, stored.timestamp())
    };
    region.chunks().map(read).collect()
}

#[test]
fn a_real_region_goes_through_every_compression_and_linear_and_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = Region::open_as(real::region_1_19_4(), RegionPos::new(0, 0)).expect("the region opens");
    let expected = contents(&source);
    let limits = Limits::default();
    let mut packer = Packer::with_level(1).expect("a level");
    for compression in Compression::ALL {
        let target = folder.path().join(compression.to_string());
        std::fs::create_dir(&target).expect("the folder can be made");
        let region = Region::open_for_writing(target.join("r.0.0.mca")).expect("the region opens");
        let converted =
            recompress(&source, &region, compression, &mut packer, &limits).expect("it is converted");
        region.flush().expect("it is flushed");
        assert_eq!(converted, 676);
        assert!(contents(&region) == expected, "{compression}");
    }
    let linear = to_linear(&source, &limits).expect("it is converted");
    let bytes = linear.write(8, 1).expect("a grid");
    let linear = LinearRegion::read(&bytes, &limits).expect("it was just written");
    let region = Region::open_for_writing(folder.path().join("r.0.0.mca")).expect("the region opens");
    from_linear(&linear, &region, Compression::Zlib, &mut packer).expect("it is converted");
    assert!(contents(&region) == expected, "through Linear");
}

#[test]
fn a_chunk_that_cannot_be_inflated_stops_the_conversion() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    let mut bytes = vec![0; 3 * 4096];
    bytes[..4].copy_from_slice(&[0, 0, 2, 1]);
    bytes[8192..8200].copy_from_slice(&[0, 0, 0, 4, 2, 1, 2, 3]);
    std::fs::write(&path, bytes).expect("the folder can be written to");
    let source = Region::open(&path).expect("the region opens");
    let error = to_linear(&source, &Limits::default()).expect_err("the stream is damaged");
    assert!(matches!(error, ConvertError::Inflate { .. }), "{error}");
}
