//! Verdicts on whole regions, setting damage aside, and compaction.

#[path = "support/made.rs"]
mod made;
#[path = "support/real.rs"]
mod real;

use made::{RegionBytes, empty_chunk};
use std::path::Path;
use std::sync::Arc;
use voxtick_anvil::compression::Compression;
use voxtick_anvil::files::{Files, OsFiles};
use voxtick_anvil::region::{CompactError, Overwrite, Region, StoredChunk, compact_region};
use voxtick_anvil::{Limits, RegionReport, Verdict, stray_external_files, verify_region};
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, RegionPos};

fn verify(path: &Path) -> RegionReport {
    let region = Region::open_as(path, RegionPos::new(0, 0)).expect("the region opens");
    verify_region(&region, &Dimension::overworld(), &BlockStates::load(), &Limits::default())
}

fn damaged(folder: &Path) -> std::path::PathBuf {
    let mut bytes = RegionBytes::new();
    bytes.chunk(0, 3, &empty_chunk(0, 0));
    bytes.chunk(1, 3, b"no NBT");
    bytes.chunk(2, 2, b"no stream");
    bytes.chunk(3, 3, &empty_chunk(4, 0));
    bytes.chunk(5, 9, b"x");
    bytes.locate(6, 900, 1);
    bytes.chunk(7, 3, &empty_chunk(7, 0));
    bytes.write(folder, "r.0.0.mca")
}

#[test]
fn a_real_region_is_whole() {
    let report = verify(&real::region_1_19_4());
    assert_eq!((report.entries.len(), report.damaged_count()), (676, 0));
    let full = |verdict: &Verdict| matches!(verdict, Verdict::Whole { status, lit: true, data_version: 3337, .. } if status.ends_with("full"));
    assert_eq!(report.entries.iter().filter(|(_, verdict)| full(verdict)).count(), 225);
}

#[test]
fn a_version_that_is_not_read_is_not_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = fastnbt::to_bytes(&fastnbt::nbt!({ "DataVersion": 1343, "Level": {} })).expect("NBT");
    let mut bytes = RegionBytes::new();
    bytes.chunk(0, 3, &old);
    let report = verify(&bytes.write(folder.path(), "r.0.0.mca"));
    assert!(matches!(report.entries[0].1, Verdict::Unsupported(_)));
    assert_eq!(report.damaged_count(), 0);
}

#[test]
fn causes_are_counted_and_damage_is_set_aside_without_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = damaged(folder.path());
    let report = verify(&path);
    assert_eq!(
        report.causes(),
        [
            ("chunk at the wrong place", 1),
            ("damaged NBT", 1),
            ("damaged stream", 1),
            ("record past the end", 1),
            ("unknown compression", 1),
        ]
    );
    let region = Region::open_for_writing(&path).expect("the region opens");
    let aside = folder.path().join("r.0.0.mca.damaged");
    for (chunk, verdict) in &report.entries {
        if matches!(verdict, Verdict::Damaged(_)) {
            let copies = region.set_aside(*chunk, &aside).expect("it is set aside");
            assert_eq!(copies.len(), 1);
        }
    }
    region.flush().expect("it is flushed");
    drop(region);
    let report = verify(&path);
    assert_eq!((report.entries.len(), report.damaged_count()), (2, 0));
    let record = std::fs::read(aside.join("c.1.0.record")).expect("the copy is there");
    assert!(record.len() == 4096 && record[5..].starts_with(b"no NBT"));
}

#[test]
fn compaction_keeps_every_chunk_and_shrinks_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    std::fs::copy(real::region_1_19_4(), &path).expect("the region can be copied");
    let region = Region::open_for_writing(&path).expect("the region opens");
    let chunks: Vec<ChunkPos> = region.chunks().collect();
    for chunk in chunks.iter().step_by(2) {
        region.delete(*chunk, Overwrite::Sound).expect("it is removed");
    }
    // One chunk in a file of its own.
    let large = [&[10, 0, 0, 7, 0, 0, 0, 32, 0, 0][..], &[7; 2 << 20], &[0]].concat();
    region.write(chunks[1], Compression::Uncompressed, &large, 9, Overwrite::Sound).expect("it is written");
    drop(region);
    let contents = |path: &Path| -> Vec<(ChunkPos, Vec<u8>, u32)> {
        let region = Region::open(path).expect("the region opens");
        let mut stored = StoredChunk::default();
        let read = |chunk| {
            assert!(region.read(chunk, &mut stored, &Limits::default()).expect("it is whole"));
            (chunk, stored.payload().to_vec(), stored.timestamp())
        };
        region.chunks().map(read).collect()
    };
    let before = contents(&path);
    let files: Arc<dyn Files> = Arc::new(OsFiles);
    let compaction = compact_region(&path, &files, &Limits::default()).expect("it is compacted");
    assert_eq!(compaction.chunks, 338);
    assert!(compaction.after * 3 < compaction.before * 2, "{compaction:?}");
    assert_eq!(std::fs::metadata(&path).expect("the file is there").len(), compaction.after);
    assert_eq!(contents(&path), before);
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 2, "the region and one chunk's own file");
    assert!(stray_external_files(folder.path(), &Limits::default()).expect("it can be read").is_empty());
    std::fs::write(folder.path().join("c.9.9.mcc"), b"left over").expect("the folder can be written to");
    let strays = stray_external_files(folder.path(), &Limits::default()).expect("it can be read");
    assert_eq!(strays, [folder.path().join("c.9.9.mcc")]);
}

#[test]
fn compaction_refuses_what_it_would_lose() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = damaged(folder.path());
    let before = std::fs::read(&path).expect("the file is there");
    let files: Arc<dyn Files> = Arc::new(OsFiles);
    let error = compact_region(&path, &files, &Limits::default()).expect_err("entries are damaged");
    assert!(matches!(error, CompactError::Read(_)), "{error}");
    assert!(std::fs::read(&path).expect("the file is there") == before);
}
