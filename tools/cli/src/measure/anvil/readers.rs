//! Readers of one region beside a writer: what the slow reads take.
//!
//! A read is one chunk, always the same, from the file to columns; the writer writes that very chunk, a thousand times a
//! second. Every reader asks for one and rests for 2 to 6 ms, as the threads of a server do that load what players come
//! near to; each draws its rests for itself, as players move. Readers that all rest equally long stay in step: they wake
//! at one moment, and the slow reads are then those that wait for the others' turns on the cores, writer or not.
//!
//! With `pause=0` all of them run without rest, for longer than the system leaves a thread its core. Where there are more
//! threads than cores, a read that loses its core lasts as long as the others' turns: that is the maximum, and far fewer
//! than one read in a hundred, whatever a read does. Both loads are timed without the writer too: what differs between
//! the two sides is the region's doing, and the rest is the machine's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use voxtick::anvil::compression::Compression;
use voxtick::anvil::files::Access;
use voxtick::anvil::region::{Durability, Overwrite, Region, RegionOptions, StoredChunk};
use voxtick::anvil::{ChunkDecoder, Limits};
use voxtick::worlds::generators::split_mix;
use voxtick::worlds::{BlockStates, ChunkPos, Dimension};

use super::inputs;
use crate::measure::{Case, CaseError, Pair};

/// Reads of one call, of all readers together.
const READS: usize = 400;
/// The same where nobody rests: each reader has to run for longer than the system leaves it a core.
const READS_WITHOUT_REST: usize = 8000;
/// The shortest rest of a reader; the longest is three times that.
const LEAST_REST: Duration = Duration::from_millis(2);
const WRITER_REST: Duration = Duration::from_millis(1);

pub(super) fn cases() -> Vec<Case> {
    let case = |readers: usize, rests: bool| {
        let pause = if rests { "" } else { "/pause=0" };
        let name = format!("anvil/readers={readers}/writer=1{pause}");
        let reads = if rests { READS } else { READS_WITHOUT_REST };
        Case::new(name, ("with the writer", "without"), reads as u64, move || prepare(readers, reads, rests))
    };
    let rested = [1, 2, 4, 8].map(|readers| case(readers, true));
    rested.into_iter().chain([1, 8].map(|readers| case(readers, false))).collect()
}

struct Shared {
    region: Region,
    chunk: (ChunkPos, StoredChunk),
    _folder: TempDir,
}

fn prepare(readers: usize, reads: usize, rests: bool) -> Result<Pair, CaseError> {
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
    let reads = reads / readers;
    let readers = || (0..readers as u64).map(Reader::new).collect::<Vec<_>>();
    let (mut ours, mut others) = (readers(), readers());
    // Both sides read the same bytes, writer or not: every read is checked.
    for writes in [true, false] {
        let wrong = run(&shared, &mut ours, reads, rests, writes, &mut Vec::new());
        if wrong > 0 {
            return Err(CaseError::Unequal { count: wrong, first: "a payload".into() });
        }
    }
    let other = shared.clone();
    Ok(Pair::each(
        move |operations| {
            run(&shared, &mut ours, reads, rests, true, operations);
        },
        move |operations| {
            run(&other, &mut others, reads, rests, false, operations);
        },
    ))
}

struct Reader {
    decoder: ChunkDecoder,
    stored: StoredChunk,
    random: u64,
}

impl Reader {
    fn new(number: u64) -> Reader {
        let decoder = ChunkDecoder::new(Dimension::overworld(), BlockStates::load(), Limits::default());
        Reader { decoder, stored: StoredChunk::default(), random: number }
    }

    fn rest(&mut self) {
        self.random = split_mix(self.random);
        thread::sleep(LEAST_REST + 2 * LEAST_REST * (self.random % 1024) as u32 / 1023);
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
    reads: usize,
    rests: bool,
    writes: bool,
    operations: &mut Vec<Duration>,
) -> u64 {
    let done = AtomicBool::new(false);
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
                                reader.rest();
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
