//! Regions of a folder are shared, bounded, and closed without loss.

use std::sync::Arc;
use voxtick_anvil::Limits;
use voxtick_anvil::compression::Compression;
use voxtick_anvil::files::Access;
use voxtick_anvil::region::{Overwrite, RegionFolder, RegionOptions, StoredChunk};
use voxtick_worlds::{ChunkPos, RegionPos};

fn writing() -> RegionOptions {
    RegionOptions { access: Access::Write, ..RegionOptions::default() }
}

#[test]
fn one_region_is_one_handle_whoever_asks() {
    let folder = tempfile::tempdir().expect("a folder");
    let regions = RegionFolder::new(folder.path(), writing());
    let first = regions.region(RegionPos::new(1, 2)).expect("opens").expect("is created");
    let second = regions.region(RegionPos::new(1, 2)).expect("opens").expect("is there");
    assert!(Arc::ptr_eq(&first, &second));
    let reading = RegionFolder::new(folder.path(), RegionOptions::default());
    assert!(reading.region(RegionPos::new(5, 5)).expect("no error").is_none(), "reading creates nothing");
    assert!(reading.region(RegionPos::new(1, 2)).expect("opens").is_some());
}

#[test]
fn the_longest_unasked_region_closes_first_and_never_one_in_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let regions = RegionFolder::new(folder.path(), writing()).with_capacity(3);
    let region = |x| regions.region(RegionPos::new(x, 0)).expect("opens").expect("is created");
    let held = region(0);
    let dropped = Arc::downgrade(&region(1));
    let kept = Arc::downgrade(&region(2));
    region(1);
    region(2);
    region(3);
    assert_eq!(regions.open_count(), 3);
    assert!(dropped.upgrade().is_none() && kept.upgrade().is_some());
    assert!(Arc::ptr_eq(&held, &region(0)), "it was in use");
    let all: Vec<_> = (0..6).map(region).collect();
    assert_eq!(regions.open_count(), 6, "all are in use");
    drop((all, held));
    region(9);
    assert_eq!(regions.open_count(), 3);
}

#[test]
fn sixty_four_regions_are_open_where_nothing_else_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let regions = RegionFolder::new(folder.path(), writing());
    for x in 0..70 {
        regions.region(RegionPos::new(x, 0)).expect("opens").expect("is created");
        assert_eq!(regions.open_count(), (x as usize + 1).min(64));
    }
}

#[test]
fn what_was_written_outlasts_the_closing_of_a_handle() {
    let folder = tempfile::tempdir().expect("a folder");
    let regions = RegionFolder::new(folder.path(), writing()).with_capacity(2);
    for x in 0..10 {
        let region = regions.region(RegionPos::new(x, 0)).expect("opens").expect("is created");
        let payload = [10, 0, 0, x as u8, 0];
        region
            .write(ChunkPos::new(x * 32, 5), Compression::Uncompressed, &payload, 0, Overwrite::Damaged)
            .expect("it is written");
    }
    regions.flush().expect("it is flushed");
    let reading = RegionFolder::new(folder.path(), RegionOptions::default());
    let mut stored = StoredChunk::default();
    for x in 0..10 {
        let region = reading.region(RegionPos::new(x, 0)).expect("opens").expect("is there");
        assert!(region.read(ChunkPos::new(x * 32, 5), &mut stored, &Limits::default()).expect("it is whole"));
        assert_eq!(stored.payload()[3], x as u8);
    }
}
