//! The writer is cut off at every call to the disk: each chunk is what it was or what it became, never anything else.

#[path = "support/disk.rs"]
mod disk;

use disk::{Disk, Image, Random};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use voxtick_anvil::Limits;
use voxtick_anvil::compression::Compression;
use voxtick_anvil::files::Access;
use voxtick_anvil::region::{Durability, Overwrite, Region, RegionOptions, StoredChunk};
use voxtick_worlds::ChunkPos;

const PATH: &str = "/world/region/r.0.0.mca";
const CHUNKS: u64 = 9;

type Content = Option<Arc<Vec<u8>>>;
/// What a chunk may be after a cut: what was last made durable, and all that was written since.
type Allowed = BTreeMap<ChunkPos, Vec<Content>>;

fn open(disk: &Disk, durability: Durability) -> Region {
    let options = RegionOptions {
        files: Arc::new(disk.clone()),
        access: Access::Write,
        durability,
        ..RegionOptions::default()
    };
    options.open(Path::new(PATH)).expect("the region opens")
}

fn read(region: &Region, chunk: ChunkPos) -> Content {
    let mut stored = StoredChunk::default();
    match region.read(chunk, &mut stored, &Limits::default()) {
        Ok(present) => present.then(|| Arc::new(stored.payload().to_vec())),
        Err(error) => panic!("a cut has damaged a chunk: {error}"),
    }
}

fn chunks() -> impl Iterator<Item = ChunkPos> {
    (0..CHUNKS as i32).map(|n| ChunkPos::new(n % 3, n / 3))
}

/// Opens what a cut left and compares every chunk with what it may be.
fn check(image: Image, allowed: &Allowed) {
    let disk = Disk::holding(image, 1);
    let options = RegionOptions { files: Arc::new(disk), ..RegionOptions::default() };
    let region = match options.open(Path::new(PATH)) {
        Ok(region) => region,
        // The file itself was not durable yet.
        Err(_) => {
            assert!(allowed.values().all(|contents| contents.contains(&None)), "the region file is gone");
            return;
        }
    };
    for chunk in chunks() {
        let found = read(&region, chunk);
        assert!(
            allowed[&chunk].contains(&found),
            "chunk {chunk} is neither old nor new: {:?} bytes",
            found.map(|bytes| bytes.len())
        );
    }
}

/// One random operation on a region.
enum Operation {
    Write(ChunkPos, Arc<Vec<u8>>),
    Delete(ChunkPos),
    Flush,
}

fn operation(random: &mut Random) -> Operation {
    let chunk = ChunkPos::new(random.below(3) as i32, random.below(CHUNKS / 3) as i32);
    match random.below(20) {
        0..=1 => Operation::Delete(chunk),
        2..=4 => Operation::Flush,
        kind => {
            // Rarely too large for the region.
            let length =
                if kind == 5 && random.below(6) == 0 { 1_100_000 } else { 20 + random.below(14_000) };
            let seed = random.below(1 << 30);
            let mut bytes = vec![10, 0, 0, 7, 0, 0];
            bytes.extend((length as u32).to_be_bytes());
            bytes.extend((0..length).map(|n| (n.wrapping_mul(seed | 1) >> 5) as u8));
            bytes.push(0);
            Operation::Write(chunk, Arc::new(bytes))
        }
    }
}

/// Runs random operations and checks what a cut at each call to the disk would leave. Returns how many were checked.
fn cut_everywhere(seed: u64, durability: Durability, operations: usize) -> usize {
    let disk = Disk::new(seed);
    let region = open(&disk, durability);
    let mut allowed: Allowed = chunks().map(|chunk| (chunk, vec![None])).collect();
    let mut random = Random(seed ^ 0x5DEE_CE66);
    let mut cuts = 0;
    disk.keep_images();
    for _ in 0..operations {
        let operation = operation(&mut random);
        match &operation {
            Operation::Write(chunk, bytes) => {
                allowed.get_mut(chunk).expect("a known chunk").push(Some(bytes.clone()));
                region
                    .write(*chunk, Compression::Uncompressed, bytes, 1, Overwrite::Sound)
                    .expect("it is written");
            }
            Operation::Delete(chunk) => {
                allowed.get_mut(chunk).expect("a known chunk").push(None);
                region.delete(*chunk, Overwrite::Sound).expect("it is removed");
            }
            Operation::Flush => region.flush().expect("it is flushed"),
        }
        for image in disk.take_images() {
            check(image, &allowed);
            cuts += 1;
        }
        // What is durable now cannot be lost any more.
        match operation {
            Operation::Flush => allowed.values_mut().for_each(keep_last),
            Operation::Write(chunk, _) | Operation::Delete(chunk) if durability == Durability::Each => {
                keep_last(allowed.get_mut(&chunk).expect("a known chunk"));
            }
            _ => {}
        }
    }
    cuts
}

fn keep_last(contents: &mut Vec<Content>) {
    contents.drain(..contents.len() - 1);
}

#[test]
fn a_cut_at_any_call_leaves_each_chunk_old_or_new() {
    let mut cuts = 0;
    for seed in 0..7 {
        cuts += cut_everywhere(seed, Durability::PerFlush, 200);
        cuts += cut_everywhere(seed, Durability::Each, 200);
    }
    assert!(cuts >= 10_000, "{cuts} cuts");
}

#[test]
fn a_disk_that_fails_now_and_then_loses_nothing_that_was_acknowledged() {
    for (seed, durability) in
        (0..40).zip([Durability::PerFlush, Durability::Each, Durability::Never].into_iter().cycle())
    {
        let disk = Disk::new(seed);
        let region = open(&disk, durability);
        let mut random = Random(seed ^ 0xBEEF);
        let mut expected: BTreeMap<ChunkPos, Content> = chunks().map(|chunk| (chunk, None)).collect();
        let mut failed = 0;
        disk.fail(80);
        for _ in 0..150 {
            let (chunk, content, outcome) = match operation(&mut random) {
                Operation::Write(chunk, bytes) => {
                    let outcome = region.write(chunk, Compression::Uncompressed, &bytes, 1, Overwrite::Sound);
                    (chunk, Some(bytes), outcome)
                }
                Operation::Delete(chunk) => (chunk, None, region.delete(chunk, Overwrite::Sound)),
                Operation::Flush => {
                    failed += u32::from(region.flush().is_err());
                    continue;
                }
            };
            failed += u32::from(outcome.is_err());
            let found = read(&region, chunk);
            if outcome.is_ok() {
                assert_eq!(found, content);
            } else {
                assert!(found == expected[&chunk] || found == content, "neither old nor new after a failure");
            }
            expected.insert(chunk, found);
        }
        assert!(failed > 5, "{failed} failures");
        disk.fail(0);
        region.flush().expect("the disk works again");
        drop(region);
        let region = open(&Disk::holding(disk.image(), 1), Durability::PerFlush);
        for chunk in chunks() {
            assert_eq!(read(&region, chunk), expected[&chunk], "{durability:?}, seed {seed}, chunk {chunk}");
        }
    }
}
