//! Many threads load, save and delete in one region while another compacts it: a model says what must be there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use voxtick_anvil::Limits;
use voxtick_anvil::compression::Compression;
use voxtick_anvil::files::{Access, Files, OsFiles};
use voxtick_anvil::region::{Durability, Overwrite, Region, RegionOptions, StoredChunk, compact_region};
use voxtick_worlds::ChunkPos;

const THREADS: i32 = 4;
const ROUNDS: u64 = 5;
const OPERATIONS: u64 = 2500;

/// Numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn payload(random: &mut Random) -> Vec<u8> {
    // Once in a while too large for the region.
    let length = if random.below(400) == 0 { 1_060_000 } else { 10 + random.below(random_span(random)) };
    let fill = random.below(256) as u8;
    let mut bytes = vec![10, 0, 0, 7, 0, 0];
    bytes.extend((length as u32).to_be_bytes());
    bytes.resize(bytes.len() + length as usize, fill);
    bytes.push(0);
    bytes
}

/// Mostly a sector or two, sometimes many.
fn random_span(random: &Random) -> u64 {
    if random.0 >> 60 == 0 { 90_000 } else { 7_000 }
}

fn read(region: &Region, chunk: ChunkPos, stored: &mut StoredChunk) -> Option<Vec<u8>> {
    let present = region.read(chunk, stored, &Limits::default()).unwrap_or_else(|error| panic!("{error}"));
    present.then(|| stored.payload().to_vec())
}

fn open(path: &Path, durability: Durability) -> Region {
    let options = RegionOptions { access: Access::Write, durability, ..RegionOptions::default() };
    options.open(path).expect("the region opens")
}

/// One thread's work: it alone writes the chunks of its row, and reads those of all.
fn work(
    region: &Region,
    row: i32,
    seed: u64,
    model: &Mutex<BTreeMap<ChunkPos, Vec<u8>>>,
) -> BTreeMap<ChunkPos, Vec<u8>> {
    let mut random = Random(seed);
    let mut stored = StoredChunk::default();
    let mut own: BTreeMap<ChunkPos, Vec<u8>> = {
        let all = model.lock().expect("no panic before");
        all.iter().filter(|(chunk, _)| chunk.z == row).map(|(chunk, bytes)| (*chunk, bytes.clone())).collect()
    };
    for _ in 0..OPERATIONS {
        let chunk = ChunkPos::new(random.below(32) as i32, row);
        match random.below(10) {
            0 => {
                region.delete(chunk, Overwrite::Sound).expect("it is removed");
                own.remove(&chunk);
            }
            1..=5 => {
                let bytes = payload(&mut random);
                region
                    .write(chunk, Compression::Uncompressed, &bytes, 1, Overwrite::Sound)
                    .expect("it is written");
                own.insert(chunk, bytes);
            }
            6 if random.below(20) == 0 => region.flush().expect("it is flushed"),
            6..=8 => assert_eq!(read(region, chunk, &mut stored).as_ref(), own.get(&chunk)),
            _ => {
                // Another thread's chunk: whatever it is, it is whole.
                let other = ChunkPos::new(chunk.x, random.below(THREADS as u64) as i32);
                if let Some(bytes) = read(region, other, &mut stored) {
                    let length = u32::from_be_bytes([bytes[6], bytes[7], bytes[8], bytes[9]]) as usize;
                    assert_eq!(bytes.len(), length + 11, "torn");
                    assert!(bytes[10..bytes.len() - 1].iter().all(|byte| *byte == bytes[10]), "torn");
                }
            }
        }
    }
    own
}

#[test]
fn fifty_thousand_operations_of_four_threads_agree_with_a_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    let files: Arc<dyn Files> = Arc::new(OsFiles);
    let model = Mutex::new(BTreeMap::new());
    for round in 0..ROUNDS {
        let durability = if round % 2 == 0 { Durability::Never } else { Durability::PerFlush };
        let region = open(&path, durability);
        let done = AtomicI32::new(0);
        let parts: Vec<BTreeMap<ChunkPos, Vec<u8>>> = std::thread::scope(|scope| {
            let (region, done) = (&region, &done);
            scope.spawn(move || {
                while done.load(Ordering::Relaxed) < THREADS {
                    region.compact().expect("it is compacted");
                }
            });
            let threads: Vec<_> = (0..THREADS)
                .map(|row| {
                    let model = &model;
                    scope.spawn(move || {
                        let _done = AtEnd(done);
                        work(region, row, round << 8 | row as u64, model)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        region.flush().expect("it is flushed");
        drop(region);
        let all: BTreeMap<ChunkPos, Vec<u8>> = parts.into_iter().flatten().collect();
        for compacted in [false, true] {
            if compacted {
                let compaction = compact_region(&path, &files, &Limits::default()).expect("it is compacted");
                let sectors: usize = all.values().map(|bytes| external_or(bytes.len())).sum();
                assert_eq!(compaction.after, (2 + sectors as u64) * 4096, "no gap is left");
            }
            let region = Region::open(&path).expect("the region opens");
            let mut stored = StoredChunk::default();
            let found: BTreeMap<ChunkPos, Vec<u8>> = region
                .chunks()
                .map(|chunk| (chunk, read(&region, chunk, &mut stored).expect("it is listed")))
                .collect();
            assert!(found == all, "round {round}, compacted: {compacted}");
        }
        *model.lock().expect("no panic before") = all;
    }
}

/// Counts an end, by a panic too.
struct AtEnd<'a>(&'a AtomicI32);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Sectors that a record takes in the region.
fn external_or(length: usize) -> usize {
    let sectors = (length + 5).div_ceil(4096);
    if sectors > 255 { 1 } else { sectors }
}
