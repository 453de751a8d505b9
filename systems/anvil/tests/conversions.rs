//! Conversions change the packing and nothing else.

#[path = "support/real.rs"]
mod real;

use voxtick_anvil::Limits;
use voxtick_anvil::compression::{Compression, Inflater, Packer};
use voxtick_anvil::convert::{ConvertError, recompress};
use voxtick_anvil::files::Access;
use voxtick_anvil::region::{Region, RegionStore, StoredChunk, open_region};
use voxtick_worlds::{ChunkPos, RegionPos};

/// The NBT and time stamp of every chunk.
fn contents(region: &dyn RegionStore) -> Vec<(ChunkPos, Vec<u8>, u32)> {
    let (mut stored, mut inflater) = (StoredChunk::default(), Inflater::new());
    let read = |chunk| {
        assert!(region.read(chunk, &mut stored, &Limits::default()).expect("it is whole"));
        let mut nbt = Vec::new();
        inflater.inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt).expect("it inflates");
        (chunk, nbt, stored.timestamp())
    };
    region.chunks().into_iter().map(read).collect()
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
    let [linear, back] = ["r.0.0.linear", "r.0.0.mca"].map(|name| folder.path().join(name));
    let position = RegionPos::new(0, 0);
    let region = open_region(&linear, position, Access::Write).expect("the region opens");
    recompress(&source, &*region, Compression::Lz4, &mut packer, &limits).expect("it is converted");
    region.flush().expect("it is flushed");
    assert!(contents(&*region) == expected, "to Linear");
    drop(region);
    let region = open_region(&linear, position, Access::Read).expect("the region opens");
    assert!(contents(&*region) == expected, "written to Linear");
    let anvil = open_region(&back, position, Access::Write).expect("the region opens");
    recompress(&*region, &*anvil, Compression::Zlib, &mut packer, &limits).expect("it is converted");
    assert!(contents(&*anvil) == expected, "and back");
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
    let target = Region::open_for_writing(folder.path().join("r.0.1.mca")).expect("the region opens");
    let error = recompress(&source, &target, Compression::Zlib, &mut Packer::new(), &Limits::default())
        .expect_err("the stream is damaged");
    assert!(matches!(error, ConvertError::Inflate { .. }), "{error}");
}
