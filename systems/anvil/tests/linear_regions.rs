//! The Linear region format: real files of both versions, round trips, and damage.

use proptest::prelude::*;
use std::path::Path;
use voxtick_anvil::Limits;
use voxtick_anvil::linear::{LinearChunk, LinearError, LinearRegion};
use voxtick_anvil::nbt::{NbtLimits, Tape};
use voxtick_worlds::{ChunkPos, RegionPos};

/// Where a chunk says it lies.
fn position(chunk: &LinearChunk) -> (i64, i64) {
    let mut tape = Tape::new();
    let root = tape.parse(&chunk.nbt, &NbtLimits::default()).expect("NBT");
    let level = root.field("Level").expect("an old chunk");
    let coordinate = |field| level.field(field).and_then(|value| value.integer()).expect("a coordinate");
    (coordinate("xPos"), coordinate("zPos"))
}

#[test]
fn both_versions_hold_the_same_real_region_in_the_right_places() {
    let Some(folder) = std::env::var_os("VOXTICK_DATA") else {
        assert!(
            std::env::var_os("VOXTICK_DATA").is_none(),
            "real files are tested where VOXTICK_DATA is set"
        );
        return;
    };
    let read = |file: &str| {
        let bytes =
            std::fs::read(Path::new(&folder).join("worlds/linear").join(file)).expect("the file is there");
        LinearRegion::read(&bytes, &Limits::default()).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let (first, second) = (read("r.0.0.linear"), read("r.0.0.linearv2"));
    assert_eq!(first.chunks().count(), 825);
    assert_eq!(second.position, Some(RegionPos::new(0, 0)));
    for region in [&first, &second] {
        for (entry, chunk) in region.chunks() {
            assert_eq!(position(chunk), (entry as i64 % 32, entry as i64 / 32));
        }
    }
    assert!(first.chunks().eq(second.chunks()), "both were made from one region");
    for grid in [1, 32] {
        let again = second.write(grid, 1).expect("a grid");
        assert!(LinearRegion::read(&again, &Limits::default()).expect("it was just written") == second);
    }
}

fn sample() -> LinearRegion {
    let mut region = LinearRegion::new(RegionPos::new(-3, 2));
    for n in 0..40_u32 {
        let chunk = LinearChunk { nbt: vec![n as u8; 10 + n as usize * 7], timestamp: u64::from(n) << 33 };
        region.set_chunk(ChunkPos::new(-96 + n as i32 % 32, 64 + n as i32 * 5 % 32), Some(chunk));
    }
    region
}

#[test]
fn every_grid_gives_back_what_was_written() {
    let region = sample();
    for grid in [1, 2, 4, 8, 16, 32] {
        let bytes = region.write(grid, 3).expect("a grid");
        assert_eq!(LinearRegion::read(&bytes, &Limits::default()).as_ref(), Ok(&region), "grid {grid}");
    }
    assert_eq!(region.write(3, 3), Err(LinearError::Grid { grid: 3 }));
    let empty = LinearRegion::new(RegionPos::new(0, 0));
    let bytes = empty.write(8, 3).expect("a grid");
    assert_eq!(LinearRegion::read(&bytes, &Limits::default()), Ok(empty));
}

#[test]
fn damage_has_its_cause() {
    let bytes = sample().write(4, 3).expect("a grid");
    let read = |bytes: &[u8]| LinearRegion::read(bytes, &Limits::default()).expect_err("it is damaged");
    assert_eq!(read(b"short"), LinearError::Magic);
    assert_eq!(read(&bytes[..bytes.len() - 1]), LinearError::Magic);
    let changed = |place: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[place] = value;
        read(&bytes)
    };
    assert_eq!(changed(8, 9), LinearError::Version { version: 9 });
    assert_eq!(changed(17, 5), LinearError::Grid { grid: 5 });
    // The size of the first bucket: where it ends beyond the file, nobody can tell where the others begin.
    assert_eq!(changed(26 + 128 + 1, 0x7F), LinearError::Bucket { bucket: 0 });
}

#[test]
fn a_damaged_bucket_concerns_its_chunks_and_is_written_back_as_it_is() {
    let region = sample();
    let bytes = region.write(4, 3).expect("a grid");
    let in_first_bucket = |entry: usize| entry % 32 < 8 && entry / 32 < 8;
    let at = |entry: usize| ChunkPos::new(entry as i32 % 32, entry as i32 / 32);
    let mut damages = Vec::new();
    // Its hash, its stream, and a bit of the map of chunks.
    let stream = 26 + 128 + 1 + 16 * 13;
    for (place, value) in [(26 + 128 + 1 + 5, 0x55), (stream + 9, 0x55), (26, 0xFF)] {
        let mut damaged = bytes.clone();
        damaged[place] ^= value;
        let read = LinearRegion::read(&damaged, &Limits::default()).expect("the rest is sound");
        let in_map = |entry: usize| damaged[26 + entry / 8] & (0x80 >> (entry % 8)) != 0;
        for entry in 0..1024 {
            let exists = in_map(entry) || region.chunk(at(entry)).is_some();
            let is_damaged = in_first_bucket(entry) && exists;
            assert_eq!(read.damage(at(entry)).is_some(), is_damaged, "{entry}");
            if !in_first_bucket(entry) {
                assert_eq!(read.chunk(at(entry)), region.chunk(at(entry)), "{entry}");
            }
        }
        damages.push((0..1024).find_map(|entry| read.damage(at(entry)).cloned()).expect("one at least"));
        assert_eq!(read.write(8, 3), Err(LinearError::KeepsGrid { bucket: 0, grid: 4 }));
        let again = read.write(4, 3).expect("its own grid");
        let again = LinearRegion::read(&again, &Limits::default()).expect("the rest is sound");
        assert!(again.chunks().eq(read.chunks()));
        assert!((0..1024).all(|entry| again.damage(at(entry)).is_some() == read.damage(at(entry)).is_some()));
    }
    assert_eq!(damages[..2], [LinearError::Bucket { bucket: 0 }, LinearError::Bucket { bucket: 0 }]);
    assert!(matches!(damages[2], LinearError::Existence { .. }));
    let strict = Limits { inflated: 100, ..Limits::default() };
    let read = LinearRegion::read(&bytes, &strict).expect("damaged in parts");
    assert!((0..1024).any(|entry| matches!(read.damage(at(entry)), Some(LinearError::Sizes { .. }))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn flipped_bytes_are_an_error_or_harmless(
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let region = sample();
        let mut bytes = region.write(2, 3).expect("a grid");
        for (place, value) in flips {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(read) = LinearRegion::read(&bytes, &Limits::default()) {
            let places = || (0..1024).map(|entry| ChunkPos::new(entry % 32, entry / 32));
            let is_sound = places().all(|at| read.damage(at).is_none());
            for at in places() {
                let as_it_was = read.chunk(at) == region.chunk(at);
                prop_assert!(as_it_was || !is_sound && read.chunk(at).is_none(), "the streams have hashes");
            }
        }
    }
}
