//! Linear files read and written chunk by chunk: nothing is lost when the power is, and damage is never absence.

#[path = "support/disk.rs"]
mod disk;

use disk::{Disk, Image, Random};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use voxtick_anvil::Limits;
use voxtick_anvil::compression::{Compression, Inflater, Packer};
use voxtick_anvil::files::Access;
use voxtick_anvil::linear::{LinearError, LinearFile, LinearRegion};
use voxtick_anvil::region::{
    Durability, OpenRegionError, Overwrite, RegionOptions, RegionStore, StoredChunk, WriteChunkError,
};
use voxtick_worlds::{ChunkPos, RegionPos};

const PATH: &str = "/world/region/r.0.0.linear";
const CHUNKS: i32 = 6;

type Content = Option<Arc<Vec<u8>>>;
/// What a chunk may be after a cut.
type Allowed = BTreeMap<ChunkPos, Vec<Content>>;

fn options(disk: &Disk, durability: Durability) -> RegionOptions {
    RegionOptions {
        files: Arc::new(disk.clone()),
        access: Access::Write,
        durability,
        linear_level: 1,
        ..RegionOptions::default()
    }
}

fn chunks() -> impl Iterator<Item = ChunkPos> {
    (0..CHUNKS).map(|n| ChunkPos::new(n * 5, n))
}

fn nbt(seed: u64, length: u64) -> Vec<u8> {
    let mut bytes = vec![10, 0, 0, 7, 0, 0];
    bytes.extend((length as u32).to_be_bytes());
    bytes.extend((0..length).map(|n| (n.wrapping_mul(seed | 1) >> 5) as u8));
    bytes.push(0);
    bytes
}

fn read(region: &dyn RegionStore, chunk: ChunkPos) -> Content {
    let mut stored = StoredChunk::default();
    let present = region.read(chunk, &mut stored, &Limits::default()).expect("it is whole");
    present.then(|| {
        let mut nbt = Vec::new();
        Inflater::new()
            .inflate(stored.compression(), stored.payload(), 1 << 20, &mut nbt)
            .expect("it is whole");
        Arc::new(nbt)
    })
}

fn check(image: Image, allowed: &Allowed) {
    let disk = Disk::holding(image, 1);
    let options = RegionOptions { files: Arc::new(disk), ..RegionOptions::default() };
    match LinearFile::open(Path::new(PATH), options) {
        Ok(region) => {
            for chunk in chunks() {
                assert!(allowed[&chunk].contains(&read(&region, chunk)), "{chunk} is neither old nor new");
            }
        }
        // The file itself was not durable yet.
        Err(OpenRegionError::Io { .. }) => {
            assert!(allowed.values().all(|contents| contents.contains(&None)), "the file is gone");
        }
        Err(error) => panic!("a cut has damaged the file: {error}"),
    }
}

/// Writes, removes and flushes at random and checks what a cut at each call to the disk would leave.
fn cut_everywhere(seed: u64, durability: Durability) -> usize {
    let disk = Disk::new(seed);
    let region = LinearFile::open(Path::new(PATH), options(&disk, durability)).expect("it opens");
    let mut allowed: Allowed = chunks().map(|chunk| (chunk, vec![None])).collect();
    let mut random = Random(seed ^ 0xF11E);
    let mut cuts = 0;
    disk.keep_images();
    for _ in 0..120 {
        let chunk = chunks().nth(random.below(CHUNKS as u64) as usize).expect("a chunk");
        match random.below(10) {
            0 => {
                allowed.get_mut(&chunk).expect("known").push(None);
                region.delete(chunk, Overwrite::Sound).expect("it is removed");
            }
            1..=3 => region.flush().expect("it is flushed"),
            _ => {
                let (fill, length) = (random.below(1 << 30), 10 + random.below(3000));
                let bytes = nbt(fill, length);
                allowed.get_mut(&chunk).expect("known").push(Some(Arc::new(bytes.clone())));
                region
                    .write(chunk, Compression::Uncompressed, &bytes, 1, Overwrite::Sound)
                    .expect("it is written");
            }
        }
        let images = disk.take_images();
        let flushed = !images.is_empty();
        for image in images {
            check(image, &allowed);
            cuts += 1;
        }
        if flushed {
            allowed.values_mut().for_each(|contents| drop(contents.drain(..contents.len() - 1)));
        }
    }
    cuts
}

#[test]
fn a_cut_at_any_call_leaves_each_chunk_old_or_new() {
    let mut cuts = 0;
    for seed in 0..6 {
        cuts += cut_everywhere(seed, Durability::PerFlush) + cut_everywhere(seed, Durability::Each);
    }
    assert!(cuts > 3000, "{cuts} cuts");
}

#[test]
fn a_disk_that_fails_now_and_then_loses_nothing_that_was_flushed() {
    for seed in 0..20 {
        let disk = Disk::new(seed);
        let region =
            LinearFile::open(Path::new(PATH), options(&disk, Durability::PerFlush)).expect("it opens");
        let mut random = Random(seed ^ 0xBEEF);
        disk.fail(150);
        let (mut failed, mut now) = (0, BTreeMap::new());
        for _ in 0..60 {
            let chunk = chunks().nth(random.below(CHUNKS as u64) as usize).expect("a chunk");
            let bytes = nbt(random.below(1 << 30), 500);
            region.write(chunk, Compression::Uncompressed, &bytes, 1, Overwrite::Sound).expect("in memory");
            now.insert(chunk, Some(Arc::new(bytes)));
            failed += u32::from(region.flush().is_err());
        }
        assert!(failed > 5, "{failed} failures");
        disk.fail(0);
        region.flush().expect("the disk works again");
        drop(region);
        let disk = Disk::holding(disk.image(), 1);
        let region =
            LinearFile::open(Path::new(PATH), options(&disk, Durability::PerFlush)).expect("it opens");
        for (chunk, expected) in now {
            assert_eq!(read(&region, chunk), expected);
        }
    }
}

#[test]
fn what_is_written_is_read_in_any_packing_and_outlasts_the_handle() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.linear");
    let open = || {
        let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
        LinearFile::open(&path, options).expect("it opens")
    };
    let region = open();
    assert!(region.chunks().is_empty(), "a file of 0 bytes has no chunks");
    let mut packer = Packer::new();
    let mut packed = Vec::new();
    for (n, compression) in Compression::ALL.into_iter().enumerate() {
        let chunk = ChunkPos::new(n as i32, 3);
        packer.pack(compression, &nbt(n as u64, 900), &mut packed);
        region.write(chunk, compression, &packed, 77, Overwrite::Sound).expect("it is written");
    }
    let elsewhere = ChunkPos::new(32, 0);
    assert!(region.write(elsewhere, Compression::Uncompressed, &nbt(1, 1), 1, Overwrite::Sound).is_err());
    let bad = region.write(ChunkPos::new(9, 9), Compression::Zlib, b"no stream", 1, Overwrite::Sound);
    assert!(matches!(bad, Err(WriteChunkError::Content { .. })), "it would keep all from being written");
    // Dropped without a flush.
    drop(region);
    let region = open();
    assert_eq!(region.chunks().len(), Compression::ALL.len());
    let mut stored = StoredChunk::default();
    for n in 0..Compression::ALL.len() {
        let chunk = ChunkPos::new(n as i32, 3);
        assert_eq!(read(&region, chunk).as_deref(), Some(&nbt(n as u64, 900)));
        assert!(
            region.read(chunk, &mut stored, &Limits::default()).expect("whole") && stored.timestamp() == 77
        );
    }
    let copies = region.set_aside(ChunkPos::new(0, 3), &folder.path().join("aside")).expect("set aside");
    assert_eq!(std::fs::read(&copies[0]).expect("a copy"), nbt(0, 900));
    assert_eq!(region.chunks().len(), Compression::ALL.len() - 1);
}

#[test]
fn a_damaged_file_is_refused_whole_and_never_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.linear");
    let bytes = LinearRegion::new(RegionPos::new(0, 0)).write(8, 1).expect("a grid");
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("it is written");
        let options = RegionOptions { access: Access::Write, ..RegionOptions::default() };
        let opened = LinearFile::open(&path, options).map(drop);
        assert_eq!(std::fs::read(&path).expect("the file"), bytes, "it is as it was");
        opened
    };
    open(&bytes).expect("it is whole");
    for cut in [1, 100, bytes.len() - 1] {
        assert!(matches!(open(&bytes[..cut]), Err(OpenRegionError::Linear { .. })), "{cut} bytes");
    }
    let other = LinearRegion::new(RegionPos::new(7, 0)).write(8, 1).expect("a grid");
    assert!(matches!(
        open(&other),
        Err(OpenRegionError::Linear { source: LinearError::Elsewhere { .. }, .. })
    ));
}

/// A damaged bucket once made all 1,024 chunks of a file unreadable.
#[test]
fn a_damaged_bucket_is_confined_kept_and_set_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.linear");
    let options = || RegionOptions { access: Access::Write, ..RegionOptions::default() };
    let open = || LinearFile::open(&path, options()).expect("it opens");
    let (near, beside, free, far) =
        (ChunkPos::new(0, 0), ChunkPos::new(1, 1), ChunkPos::new(2, 2), ChunkPos::new(20, 9));
    let region = open();
    for (seed, chunk) in [near, beside, far].into_iter().enumerate() {
        let bytes = nbt(seed as u64, 700);
        region.write(chunk, Compression::Uncompressed, &bytes, 1, Overwrite::Sound).expect("written");
    }
    drop(region);
    let mut bytes = std::fs::read(&path).expect("the file");
    // The first byte of the first bucket's stream.
    let stream = 26 + 128 + 1 + 64 * 13;
    bytes[stream + 8] ^= 0x40;
    std::fs::write(&path, &bytes).expect("damaged");

    let region = open();
    assert_eq!(region.chunks(), [near, beside, far]);
    let mut stored = StoredChunk::default();
    for chunk in [near, beside] {
        let error = region.read(chunk, &mut stored, &Limits::default()).expect_err("damaged");
        assert!(error.to_string().contains("bucket 0 is damaged"), "{error}");
    }
    assert_eq!(read(&region, far).as_deref(), Some(&nbt(2, 700)));
    // Not even where the head says that there is nothing: all of the bucket would be lost.
    for chunk in [near, free] {
        for overwrite in [Overwrite::Sound, Overwrite::Damaged] {
            let written = region.write(chunk, Compression::Uncompressed, &nbt(9, 9), 1, overwrite);
            assert!(matches!(written, Err(WriteChunkError::Damaged(_))), "{written:?}");
        }
    }
    region.write(far, Compression::Uncompressed, &nbt(5, 30), 1, Overwrite::Sound).expect("written");
    region.flush().expect("flushed");
    drop(region);
    let region = open();
    assert_eq!(region.chunks(), [near, beside, far], "the damaged bucket is still there");
    assert_eq!(read(&region, far).as_deref(), Some(&nbt(5, 30)));
    let copies = region.set_aside(beside, &folder.path().join("aside")).expect("set aside");
    assert_eq!(copies.len(), 1);
    let copy = std::fs::read(&copies[0]).expect("a copy");
    assert_eq!(copy, bytes[stream..][..copy.len()]);
    assert_eq!(region.chunks(), [far]);
    region.write(near, Compression::Uncompressed, &nbt(6, 60), 1, Overwrite::Sound).expect("written");
    drop(region);
    let region = open();
    assert_eq!(region.chunks(), [near, far]);
    assert_eq!(read(&region, near).as_deref(), Some(&nbt(6, 60)));
}

/// Each flush once packed all of a region anew.
#[test]
fn buckets_in_which_nothing_has_changed_are_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.linear");
    let open = |level| {
        let options =
            RegionOptions { access: Access::Write, linear_level: level, ..RegionOptions::default() };
        LinearFile::open(&path, options).expect("it opens")
    };
    let region = open(1);
    for seed in 0..64 {
        let chunk = ChunkPos::new(seed % 8 * 4, seed / 8 * 4);
        region
            .write(chunk, Compression::Uncompressed, &nbt(seed as u64, 900), 1, Overwrite::Sound)
            .expect("written");
    }
    drop(region);
    let region = open(9);
    region
        .write(ChunkPos::new(5, 9), Compression::Uncompressed, &nbt(3, 80), 2, Overwrite::Sound)
        .expect("it is");
    region.flush().expect("flushed");
    let bytes = std::fs::read(&path).expect("the file");
    // The level that each bucket was packed at, and the number of the one that holds the chunk.
    let levels: Vec<u8> = (0..64).map(|bucket| bytes[26 + 128 + 1 + bucket * 13 + 4]).collect();
    let packed_anew: Vec<usize> = (0..64).filter(|bucket| levels[*bucket] == 9).collect();
    assert_eq!(packed_anew, [8 + 2]);
    assert!(levels.iter().all(|level| [1, 9].contains(level)));
    drop(region);
    let region = open(1);
    assert_eq!(region.chunks().len(), 65);
    for seed in 0..64 {
        let chunk = ChunkPos::new(seed % 8 * 4, seed / 8 * 4);
        assert_eq!(read(&region, chunk).as_deref(), Some(&nbt(seed as u64, 900)));
    }
}

/// The limits that a file was opened with did not reach its writes.
#[test]
fn a_bomb_is_refused_by_the_limits_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits { inflated: 500, ..Limits::default() };
    let options = RegionOptions { access: Access::Write, limits, ..RegionOptions::default() };
    let region = LinearFile::open(folder.path().join("r.0.0.linear"), options).expect("it opens");
    let write = |length| {
        let mut packed = Vec::new();
        Packer::new().pack(Compression::Zlib, &nbt(0, length), &mut packed);
        region.write(ChunkPos::new(1, 1), Compression::Zlib, &packed, 1, Overwrite::Sound)
    };
    assert!(matches!(write(600), Err(WriteChunkError::Content { .. })));
    write(400).expect("it is within the limit");
}
