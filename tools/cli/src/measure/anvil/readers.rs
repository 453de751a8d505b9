//! Readers of one region beside a writer: what the slow reads take.
//!
//! A read is one chunk, always the same, from the file to columns; the writer writes that very chunk. Every reader asks for one and rests for 4 ms, as the threads of a server
//! do that load what players come near to; the writer writes a chunk a millisecond, a thousand a second. With `pause=0`
//! all of them run without rest: where there are more threads than cores, the slow reads are then those during which
//! the system ran other threads, whatever the region does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use voxtick::anvil::compression::Compression;
use voxtick::anvil::files::Access;
use voxtick::anvil::region::{Durability, Overwrite, Region, RegionOptions, StoredChunk};
use voxtick::anvil::{ChunkDecoder, Limits};
use voxtick::worlds::{BlockStates, ChunkPos, Dimension};

use super::inputs;
use crate::measure::{Case, CaseError, Pair};

/// Reads of one call, of all readers together.
const READS: usize = 400;
const REST: Duration = Duration::from_millis(4);
const WRITER_REST: Duration = Duration::from_millis(1);

pub(super) fn cases() -> Vec<Case> {
    let case = |readers: usize, rests: bool| {
        let pause = if rests { "" } else { "/pause=0" };
        let name = format!("anvil/readers={readers}/writer=1{pause}");
        Case::new(name, ("with the writer", "without"), READS as u64, move || prepare(readers, rests))
    };
    let rested = [1, 2, 4, 8].map(|readers| case(readers, true));
    rested.into_iter().chain([1, 8].map(|readers| case(readers, false))).collect()
}

struct Shared {
    region: Region,
    chunk: (ChunkPos, StoredChunk),
    _folder: TempDir,
}

fn prepare(readers: usize, rests: bool) -> Result<Pair, CaseError> {
    let input = |error: &dyn std::fmt::Display| CaseError::Input(error.to_string());
    let folder = TempDir::new().map_err(|error| input(&error))?;
    let chunk = inputs::stored_chunks(&inputs::source()?)?.swap_remove(0);
    // What is written over is free at once, so that the file does not grow without end.
    let options =
        RegionOptions { access: Access::Write, durability: Durability::Never, ..RegionOptions::default() };
    let region = options.open(folder.path().join("r.0.0.mca")).map_err(|error| input(&error))?;
    region
        .write(chunk.0, chunk.1.compression(), chunk.1.payload(), 0, Overwrite::Sound)
        .map_err(|error| input(&error))?;
    let shared = Arc::new(Shared { region, chunk, _folder: folder });
    let decoders = || (0..readers).map(|_| Reader::new()).collect::<Vec<_>>();
    let (mut ours, mut others) = (decoders(), decoders());
    // Both sides read the same bytes, writer or not: every read is checked.
    for writes in [true, false] {
        let wrong = run(&shared, &mut ours, rests, writes, &mut Vec::new());
        if wrong > 0 {
            return Err(CaseError::Unequal { count: wrong, first: "a payload".into() });
        }
    }
    let other = shared.clone();
    Ok(Pair::each(
        move |operations| {
            run(&shared, &mut ours, rests, true, operations);
        },
        move |operations| {
            run(&other, &mut others, rests, false, operations);
        },
    ))
}

struct Reader {
    decoder: ChunkDecoder,
    stored: StoredChunk,
}

impl Reader {
    fn new() -> Reader {
        let decoder = ChunkDecoder::new(Dimension::overworld(), BlockStates::load(), Limits::default());
        Reader { decoder, stored: StoredChunk::default() }
    }

    /// How long a read took, and whether it gave the bytes that it should.
    fn read(&mut self, shared: &Shared) -> (Duration, bool) {
        let (position, expected) = &shared.chunk;
        let start = Instant::now();
        let found = shared.region.read(*position, &mut self.stored, &Limits::default());
        let decoded = found.is_ok_and(|found| found) && self.decoder.decode(*position, &self.stored).is_ok();
        (start.elapsed(), decoded && self.stored.payload() == expected.payload())
    }
}

/// Returns how many reads were wrong.
fn run(
    shared: &Shared,
    readers: &mut [Reader],
    rests: bool,
    writes: bool,
    operations: &mut Vec<Duration>,
) -> u64 {
    let done = AtomicBool::new(false);
    let reads = READS / readers.len();
    thread::scope(|scope| {
        if writes {
            scope.spawn(|| {
                let mut number = 0;
                while !done.load(Ordering::Relaxed) {
                    let (position, stored) = &shared.chunk;
                    let written = shared.region.write(
                        *position,
                        Compression::Zlib,
                        stored.payload(),
                        number as u32,
                        Overwrite::Sound,
                    );
                    written.expect("the disk has room");
                    number += 1;
                    if rests {
                        thread::sleep(WRITER_REST);
                    }
                }
                shared.region.flush().expect("the disk has room");
            });
        }
        let threads: Vec<_> = readers
            .iter_mut()
            .map(|reader| {
                scope.spawn(move || {
                    (0..reads)
                        .map(|_| {
                            if rests {
                                thread::sleep(REST);
                            }
                            reader.read(shared)
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut wrong = 0;
        for thread in threads {
            for (time, right) in thread.join().expect("a reader does not panic") {
                operations.push(time);
                wrong += u64::from(!right);
            }
        }
        done.store(true, Ordering::Relaxed);
        wrong
    })
}
