//! What is written is read back, what is damaged is not written over, files do not grow without need.

#[path = "support/made.rs"]
mod made;

use made::{RegionBytes, empty_chunk};
use std::path::Path;
use std::sync::Arc;
use voxtick_anvil::Limits;
use voxtick_anvil::compression::Compression;
use voxtick_anvil::files::Access;
use voxtick_anvil::region::{
    Durability, OpenRegionError, Overwrite, Region, RegionOptions, StoredChunk, WriteChunkError,
};
use voxtick_worlds::ChunkPos;

const PLAIN: Compression = Compression::Uncompressed;

/// A payload of NBT that no other chunk has.
fn payload(seed: u32, length: usize) -> Vec<u8> {
    let mut bytes = vec![10, 0, 0, 7, 0, 1, b'a'];
    bytes.extend((length as u32).to_be_bytes());
    bytes.extend((0..length as u32).map(|n| (n.wrapping_mul(seed | 1) >> 7) as u8));
    bytes.push(0);
    bytes
}

fn stored(region: &Region, chunk: ChunkPos) -> Option<(Compression, Vec<u8>, u32)> {
    let mut stored = StoredChunk::default();
    let present = region.read(chunk, &mut stored, &Limits::default()).expect("the chunk can be read");
    present.then(|| (stored.compression(), stored.payload().to_vec(), stored.timestamp()))
}

fn open(path: &Path, durability: Durability) -> Region {
    let options = RegionOptions { access: Access::Write, durability, ..RegionOptions::default() };
    options.open(path).expect("the region opens")
}

#[test]
fn what_is_written_is_read_back_at_once_and_after_opening_again() {
    for durability in [Durability::Each, Durability::PerFlush, Durability::Never] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("r.-1.0.mca");
        let region = open(&path, durability);
        let positions: Vec<ChunkPos> = (0..50).map(|n| ChunkPos::new(-1 - n % 32, n / 2)).collect();
        for (n, chunk) in positions.iter().enumerate() {
            let bytes = payload(n as u32, n * 400);
            region.write(*chunk, PLAIN, &bytes, n as u32, Overwrite::Sound).expect("it is written");
            assert_eq!(stored(&region, *chunk), Some((PLAIN, bytes, n as u32)));
        }
        region.delete(positions[7], Overwrite::Sound).expect("it is removed");
        region.flush().expect("it is flushed");
        drop(region);
        let region = Region::open(&path).expect("the region opens");
        for (n, chunk) in positions.iter().enumerate() {
            let expected = (n != 7).then(|| (PLAIN, payload(n as u32, n * 400), n as u32));
            assert_eq!(stored(&region, *chunk), expected, "{durability:?}");
        }
        assert_eq!(std::fs::metadata(&path).expect("the file is there").len() % 4096, 0);
    }
}

#[test]
fn until_a_flush_the_file_holds_the_former_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    let chunk = ChunkPos::new(3, 3);
    let region = open(&path, Durability::PerFlush);
    region.write(chunk, PLAIN, &payload(1, 9000), 1, Overwrite::Sound).expect("it is written");
    region.flush().expect("it is flushed");
    for round in 2..10 {
        region.write(chunk, PLAIN, &payload(round, 9000), round, Overwrite::Sound).expect("it is written");
    }
    let other = Region::open(&path).expect("the region opens");
    assert_eq!(stored(&other, chunk), Some((PLAIN, payload(1, 9000), 1)));
    region.flush().expect("it is flushed");
    let other = Region::open(&path).expect("the region opens");
    assert_eq!(stored(&other, chunk), Some((PLAIN, payload(9, 9000), 9)));
}

#[test]
fn a_chunk_too_large_for_the_region_moves_out_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    let external = folder.path().join("c.5.6.mcc");
    let chunk = ChunkPos::new(5, 6);
    let region = open(&path, Durability::PerFlush);
    let large = payload(3, 2 << 20);
    // The largest record that fits: 255 sectors with its head.
    for (length, outside) in [(255 * 4096 - 5, false), (255 * 4096 - 4, true)] {
        let bytes = payload(2, length - payload(2, 0).len());
        assert_eq!(bytes.len(), length);
        region.write(chunk, PLAIN, &bytes, 1, Overwrite::Sound).expect("it is written");
        assert_eq!(external.exists(), outside, "{length} bytes");
        assert_eq!(stored(&region, chunk), Some((PLAIN, bytes, 1)));
    }
    region.write(chunk, PLAIN, &large, 2, Overwrite::Sound).expect("it is written");
    region.flush().expect("it is flushed");
    assert_eq!(stored(&Region::open(&path).expect("opens"), chunk), Some((PLAIN, large, 2)));
    region.write(chunk, PLAIN, &payload(4, 10), 3, Overwrite::Sound).expect("it is written");
    assert!(external.exists(), "the file on disk still needs it");
    region.flush().expect("it is flushed");
    assert!(!external.exists());
    assert_eq!(stored(&Region::open(&path).expect("opens"), chunk), Some((PLAIN, payload(4, 10), 3)));
    region.write(chunk, PLAIN, &payload(5, 2 << 20), 4, Overwrite::Sound).expect("it is written");
    region.delete(chunk, Overwrite::Sound).expect("it is removed");
    region.flush().expect("it is flushed");
    assert!(!external.exists());
    assert_eq!(stored(&region, chunk), None);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "nothing but the region is left: {left:?}");
}

#[test]
fn gaps_are_used_again_and_the_end_is_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    let region = open(&path, Durability::PerFlush);
    let length = || std::fs::metadata(&path).expect("the file is there").len();
    for round in 0..20 {
        for n in 0..10 {
            let bytes = payload(round, 3000 + (n as usize * 977 + round as usize * 1313) % 9000);
            region.write(ChunkPos::new(n, 0), PLAIN, &bytes, round, Overwrite::Sound).expect("it is written");
        }
        region.flush().expect("it is flushed");
    }
    // Ten chunks of at most three sectors, twice while a flush is due, and the header.
    assert!(length() <= (2 + 2 * 10 * 3) * 4096, "{} bytes", length());
    for n in 0..10 {
        region.delete(ChunkPos::new(n, 0), Overwrite::Sound).expect("it is removed");
    }
    region.flush().expect("it is flushed");
    assert_eq!(length(), 8192);
}

#[test]
fn damage_is_not_written_over_unless_the_caller_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = RegionBytes::new();
    let whole = empty_chunk(0, 0);
    bytes.chunk(0, 3, &whole);
    bytes.chunk(1, 3, b"no NBT");
    bytes.chunk(2, 9, b"an unknown scheme");
    bytes.locate(3, 1, 1);
    bytes.locate(4, 2, 1);
    let path = bytes.write(folder.path(), "r.0.0.mca");
    let region = open(&path, Durability::PerFlush);
    let write = |x, overwrite| region.write(ChunkPos::new(x, 0), PLAIN, &payload(9, 9), 1, overwrite);
    // Entries 0 and 4 overlap, 3 lies in the header, 2 and 1 are damaged within.
    assert!(matches!(write(0, Overwrite::Sound), Err(WriteChunkError::Damaged(_))));
    assert!(matches!(write(1, Overwrite::Sound), Err(WriteChunkError::Content { .. })));
    for x in [2, 3, 4] {
        let error = write(x, Overwrite::Sound).expect_err("it is damaged");
        assert!(matches!(error, WriteChunkError::Damaged(_)), "{error}");
    }
    region.flush().expect("it is flushed");
    assert!(std::fs::read(&path).expect("the file is there") == bytes.bytes, "not a byte has changed");
    for x in 1..5 {
        write(x, Overwrite::Damaged).expect("it may be lost");
        assert_eq!(stored(&region, ChunkPos::new(x, 0)), Some((PLAIN, payload(9, 9), 1)));
    }
    region.flush().expect("it is flushed");
    // What entry 0 shared with another is still its own.
    let region = Region::open(&path).expect("the region opens");
    assert_eq!(stored(&region, ChunkPos::new(0, 0)), Some((PLAIN, whole, 0)));
}

#[test]
fn regions_that_may_not_be_written_say_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    std::fs::write(&path, [0; 10]).expect("the folder can be written to");
    assert!(matches!(Region::open_for_writing(&path), Err(OpenRegionError::HeaderCut { length: 10, .. })));
    let region = Region::open(&path).expect("it can be read");
    let outcome = region.write(ChunkPos::new(0, 0), PLAIN, &payload(1, 1), 0, Overwrite::Sound);
    assert!(matches!(outcome, Err(WriteChunkError::ReadOnly { .. })));
}

#[test]
fn readers_see_whole_payloads_while_a_writer_replaces_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let region = Arc::new(open(&folder.path().join("r.0.0.mca"), Durability::Never));
    let chunks: Vec<ChunkPos> = (0..4).map(|x| ChunkPos::new(x, 0)).collect();
    let write = |region: &Region, chunk, round: u32| {
        let bytes = payload(round, 2000 + (round as usize * 7919) % 30_000);
        region.write(chunk, PLAIN, &bytes, round, Overwrite::Sound).expect("it is written");
    };
    chunks.iter().for_each(|chunk| write(&region, *chunk, 1));
    let done = std::sync::atomic::AtomicBool::new(false);
    let reads: usize = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut reads = 0;
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        for chunk in &chunks {
                            let (_, bytes, _) = stored(&region, *chunk).expect("it is never absent");
                            // The payload tells which round wrote it only as a whole.
                            let length =
                                u32::from_be_bytes([bytes[7], bytes[8], bytes[9], bytes[10]]) as usize;
                            assert_eq!(bytes.len(), length + 12, "torn");
                            let round = (1..3000).find(|round| {
                                2000 + (*round as usize * 7919) % 30_000 == length
                                    && bytes[11..40] == payload(*round, length)[11..40]
                            });
                            assert_eq!(bytes, payload(round.expect("some round wrote it"), length));
                            reads += 1;
                        }
                    }
                    reads
                })
            })
            .collect();
        for round in 2..1500 {
            write(&region, chunks[round as usize % 4], round);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        readers.into_iter().map(|reader| reader.join().expect("no torn read")).sum()
    });
    assert!(reads > 0);
}
