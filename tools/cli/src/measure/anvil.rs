//! Region files and the chunk codec: against `fastanvil` and `fastnbt`, against the plain codec of
//! `voxtick_anvil::reference`, and against themselves with fewer threads.

mod decoding;
mod encoding;
mod inputs;
mod readers;

use std::hint::black_box;
use std::sync::Arc;

use voxtick::anvil::{Limits, RegionLoad, load_region};
use voxtick::worlds::{BlockStates, Dimension};

use self::inputs::REGION_CHUNKS;
use super::{Case, CaseError, Pair};

/// The cases of this subject.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![ceiling()];
    cases.extend(decoding::cases());
    for threads in [2, 4] {
        cases.push(Case::new(
            format!("anvil/region/threads={threads}"),
            ("that many threads", "1 thread"),
            REGION_CHUNKS,
            move || region(threads),
        ));
    }
    cases.extend(readers::cases());
    cases.extend(encoding::cases());
    cases
}

/// What a second thread gains on this machine at all: arithmetic that touches no memory.
fn ceiling() -> Case {
    Case::new("anvil/machine/threads=2", ("2 threads", "1 thread"), 64, || {
        let (one, two) = (pool(1)?, pool(2)?);
        let work = |pool: &rayon::ThreadPool| {
            use rayon::prelude::*;
            pool.install(|| {
                let mix = |seed: u64| {
                    (0..100_000).fold(seed, |sum, step| (sum ^ step).wrapping_mul(0x9E37_79B9_7F4A_7C15))
                };
                (0..64_u64).into_par_iter().map(mix).reduce(|| 0, u64::wrapping_add)
            })
        };
        if work(&one) != work(&two) {
            return Err(CaseError::Unequal { count: 1, first: "the sum".into() });
        }
        Ok(Pair::new(
            move || {
                black_box(work(&two));
            },
            move || {
                black_box(work(&one));
            },
        ))
    })
}

/// All chunks of a region from its file, dropping them included, on `threads` threads against one.
fn region(threads: usize) -> Result<Pair, CaseError> {
    let source = Arc::new(inputs::source()?);
    let (many, one) = (pool(threads)?, pool(1)?);
    let load = |source: &inputs::Source, states: &Arc<BlockStates>, pool: &rayon::ThreadPool| {
        pool.install(|| load_region(&source.region, &Dimension::overworld(), states, &Limits::default()))
    };
    let states = BlockStates::load();
    let hashes = |load: &RegionLoad| -> Vec<u64> {
        let sections = load.chunks.iter().flat_map(|chunk| chunk.sections());
        sections.map(|section| section.content_hash(&states)).collect()
    };
    let (by_many, by_one) = (load(&source, &states, &many), load(&source, &states, &one));
    if by_many.chunks.len() as u64 != REGION_CHUNKS {
        return Err(CaseError::Input(format!(
            "the region has {} chunks, not {REGION_CHUNKS}",
            by_many.chunks.len()
        )));
    }
    if hashes(&by_many) != hashes(&by_one) {
        return Err(CaseError::Unequal { count: 1, first: "the hash of a section".into() });
    }
    let (other_source, other_states) = (source.clone(), states.clone());
    Ok(Pair::new(
        move || {
            black_box(load(&source, &states, &many));
        },
        move || {
            black_box(load(&other_source, &other_states, &one));
        },
    ))
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, CaseError> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    builder.build().map_err(|error| CaseError::Input(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_case_builds_and_both_sides_agree() {
        let own = [decoding::cases(), encoding::cases()].into_iter().flatten();
        for case in own {
            let name = case.name.clone();
            if let Err(error) = case.prepare() {
                panic!("{name}: {error}");
            }
        }
    }
}
