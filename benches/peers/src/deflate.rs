//! What the binaries of one zlib library each share: the input that the driver has written, and the line that it reads.
//!
//! Not a part of this package's library: that depends on libdeflate, and each of these binaries has one library in it.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// The levels that are compared.
pub const LEVELS: [i32; 4] = [1, 2, 6, 9];
/// Each job is repeated for so long.
const TIME: Duration = Duration::from_millis(100);

/// A chunk's NBT, as it is and packed: by the game, and at each of [`LEVELS`].
pub struct Document {
    pub nbt: Vec<u8>,
    pub packed: [Vec<u8>; 1 + LEVELS.len()],
}

/// A zlib library, with whatever it keeps from call to call.
pub trait Library {
    /// Bytes that packing `length` bytes takes at most.
    fn bound(&mut self, length: usize) -> usize;
    /// Packs into `out` and returns the length.
    fn deflate(&mut self, level: i32, nbt: &[u8], out: &mut [u8]) -> usize;
    /// Inflates into `out` and returns the length.
    fn inflate(&mut self, packed: &[u8], out: &mut [u8]) -> usize;
}

/// Does every job and prints one line: the name, then for each job its name, microseconds and bytes a chunk.
pub fn run(name: &str, library: &mut impl Library) {
    let path = std::env::args_os().nth(1).expect("the file that `deflate` has written");
    let documents = read(Path::new(&path));
    let longest = documents.iter().map(|document| document.nbt.len()).max().unwrap_or(0);
    let count = documents.len() as f64;
    let mut packed = vec![0; library.bound(longest)];
    let mut plain = vec![0; longest];
    print!("{name}");
    for level in LEVELS {
        let mut bytes = 0;
        for document in &documents {
            let length = library.deflate(level, &document.nbt, &mut packed);
            let plain_length = library.inflate(&packed[..length], &mut plain);
            assert!(plain[..plain_length] == document.nbt, "what was packed inflates to what it was");
            bytes += length;
        }
        let time = time(|| {
            for document in &documents {
                black_box(library.deflate(level, &document.nbt, &mut packed));
            }
        });
        print!(" deflate/level={level} {} {}", time / count, bytes as f64 / count);
    }
    let by_level = LEVELS.map(|level| format!("level={level}"));
    for (place, by) in std::iter::once("game".to_owned()).chain(by_level).enumerate() {
        for document in &documents {
            let length = library.inflate(&document.packed[place], &mut plain);
            assert!(plain[..length] == document.nbt, "it inflates to what it was");
        }
        let time = time(|| {
            for document in &documents {
                black_box(library.inflate(&document.packed[place], &mut plain));
            }
        });
        let bytes: usize = documents.iter().map(|document| document.packed[place].len()).sum();
        print!(" inflate/{by} {} {}", time / count, bytes as f64 / count);
    }
    println!();
}

/// Microseconds a call.
fn time(mut job: impl FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        job();
        calls += 1;
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

/// Writes documents for the binaries to read.
pub fn write(path: &Path, documents: &[Document]) {
    let mut bytes = Vec::new();
    for Document { nbt, packed } in documents {
        for part in std::iter::once(nbt).chain(packed) {
            bytes.extend((part.len() as u32).to_le_bytes());
            bytes.extend(part);
        }
    }
    std::fs::write(path, bytes).expect("the input can be written");
}

fn read(path: &Path) -> Vec<Document> {
    let bytes = std::fs::read(path).expect("the input can be read");
    let mut rest = bytes.as_slice();
    let mut part = || {
        let (length, after) = rest.split_first_chunk()?;
        let (part, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        rest = after;
        Some(part.to_vec())
    };
    std::iter::from_fn(|| {
        let nbt = part()?;
        Some(Document { nbt, packed: std::array::from_fn(|_| part().expect("as many as were written")) })
    })
    .collect()
}
