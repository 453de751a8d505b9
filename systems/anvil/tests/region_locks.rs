//! One writer at a time: a second one is refused by name, readers never are.

use std::sync::Arc;
use voxtick_anvil::Limits;
use voxtick_anvil::compression::Compression;
use voxtick_anvil::files::{Access, Files, OsFiles};
use voxtick_anvil::region::{
    CompactError, OpenRegionError, Overwrite, RegionFolder, RegionOptions, compact_region, open_region,
};
use voxtick_worlds::{ChunkPos, RegionPos};

const POSITION: RegionPos = RegionPos::new(0, 0);

#[test]
fn a_second_writer_is_refused_and_readers_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["r.0.0.mca", "r.0.0.linear"] {
        let path = folder.path().join(name);
        let first = open_region(&path, POSITION, Access::Write).expect("it opens");
        let payload = [10, 0, 0, 0];
        first
            .write(ChunkPos::new(1, 1), Compression::Uncompressed, &payload, 0, Overwrite::Damaged)
            .expect("it is written");
        first.flush().expect("it is flushed");
        // A Linear file has been replaced by the flush, and the lock has gone with it.
        let refused = open_region(&path, POSITION, Access::Write).expect_err("it is open");
        assert!(matches!(&refused, OpenRegionError::Locked { path: locked } if *locked == path), "{refused}");
        assert!(refused.to_string().contains("close it there"), "{refused}");
        assert!(open_region(&path, POSITION, Access::Read).is_ok());
        drop(first);
        let reader = open_region(&path, POSITION, Access::Read).expect("it opens");
        assert!(open_region(&path, POSITION, Access::Write).is_ok(), "a reader locks nothing");
        drop(reader);
    }
    let refused = RegionFolder::new(folder.path(), RegionOptions::default()).region(POSITION);
    assert!(matches!(refused, Err(OpenRegionError::TwoFiles { .. })), "it is there in two formats");
}

#[test]
fn a_region_that_is_open_for_writing_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    let files: Arc<dyn Files> = Arc::new(OsFiles);
    let missing = compact_region(&path, &files, &Limits::default());
    assert!(matches!(missing, Err(CompactError::Open(_))) && !path.exists(), "nothing is made");
    let writer = open_region(&path, POSITION, Access::Write).expect("it opens");
    let refused = compact_region(&path, &files, &Limits::default());
    assert!(matches!(refused, Err(CompactError::Open(OpenRegionError::Locked { .. }))), "{refused:?}");
    drop(writer);
    compact_region(&path, &files, &Limits::default()).expect("nobody has it");
}

#[cfg(unix)]
#[test]
fn whoever_waited_for_a_file_that_was_replaced_gets_the_new_one() {
    // Many threads open, write and close one region while others put new files in its place: nothing that was written
    // may end in a file that has no name any more.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    drop(open_region(&path, POSITION, Access::Write).expect("it opens"));
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let path = &path;
            scope.spawn(move || {
                let files: Arc<dyn Files> = Arc::new(OsFiles);
                for n in 0..32 {
                    let chunk = ChunkPos::new(n, thread);
                    let region = loop {
                        match open_region(path, POSITION, Access::Write) {
                            Ok(region) => break region,
                            Err(OpenRegionError::Locked { .. }) => std::thread::yield_now(),
                            Err(error) => panic!("{error}"),
                        }
                    };
                    region
                        .write(chunk, Compression::Uncompressed, &[10, 0, 0, 0], 0, Overwrite::Sound)
                        .expect("it is written");
                    region.flush().expect("it is flushed");
                    drop(region);
                    match compact_region(path, &files, &Limits::default()) {
                        Ok(_) | Err(CompactError::Open(OpenRegionError::Locked { .. })) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let region = open_region(&path, POSITION, Access::Read).expect("it opens");
    assert_eq!(region.chunks().len(), 96);
}
