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
    // The first bucket's hash, and a bit of the map of chunks.
    assert_eq!(changed(26 + 128 + 1 + 5, 0), LinearError::Bucket { bucket: 0 });
    assert!(matches!(changed(26 + 100, 0xFF), LinearError::Existence { .. }));
    let strict = Limits { inflated: 100, ..Limits::default() };
    assert!(matches!(LinearRegion::read(&bytes, &strict), Err(LinearError::Sizes { .. })));
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
            prop_assert!(read.chunks().eq(region.chunks()), "the streams have hashes");
        }
    }
}
