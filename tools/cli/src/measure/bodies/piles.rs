//! Bodies that lie together: what merging and touching pairs cost.

use std::time::{Duration, Instant};

use voxtick::bodies::{Settings, Spawn, TouchSearch, TouchSettings};
use voxtick::worlds::{ItemKind, ItemStack};

use super::arena::{Arena, CYCLE, Random, same};
use super::sample_of;
use crate::measure::{Case, CaseError, Pair};

pub(super) fn cases() -> Vec<Case> {
    let sides = ("merging on", "merging off");
    let mut cases = vec![
        Case::new("bodies/merge/unmergeable=20000", sides, 20_000, || unmergeable(20_000)),
        Case::new("bodies/merge/pile=5000", sides, 5_000, || merge_pile(5_000)),
    ];
    for count in [4_096, 16_384] {
        let name = format!("bodies/pairs/pile={count}");
        let sides = ("first n pairs", "all pairs counted");
        cases.push(Case::new(name, sides, count, move || pairs_pile(count as usize)));
    }
    cases
}
fn unmergeable(count: usize) -> Result<Pair, CaseError> {
    let full = ItemStack::new(ItemKind(0), 64, 64);
    let mut on = Arena::server(count, full, Settings::default(), 1)?;
    let mut off = Arena::server(count, full, Settings { merging: false, ..Settings::default() }, 1)?;
    on.thrown_ticks(CYCLE);
    off.thrown_ticks(CYCLE);
    same(&on, &off)?;
    let ticks = sample_of(count);
    Ok(Pair::sampled(move || on.thrown_ticks(ticks), move || off.thrown_ticks(ticks)))
}

/// Like items in one block; the time of the longest of the first 40 ticks.
fn merge_pile(count: usize) -> Result<Pair, CaseError> {
    let side = |merging: bool| -> Result<Box<dyn FnMut() -> Duration>, CaseError> {
        let settings = Settings { merging, ..Settings::default() };
        let mut arena = Arena::new([48, 32, 48], 0.0, &[], settings, 1)?;
        let mut random = Random(11);
        let stack = ItemStack::new(ItemKind(0), 1, 64);
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                Spawn::at(
                    [24.2 + random.next() * 0.6, 1.0 + random.next() * 0.7, 24.2 + random.next() * 0.6],
                    stack,
                )
            })
            .collect();
        let mut ids = Vec::new();
        Ok(Box::new(move || {
            arena.population.remove(&ids);
            ids.clear();
            // The world has room for them: the table of names is far from full.
            let _ = arena.population.spawn_into(&spawns, &mut ids);
            (0..CYCLE).map(|_| arena.ticks(1)).max().unwrap_or_default()
        }))
    };
    let (on, off) = (side(true)?, side(false)?);
    Ok(Pair::self_timed(on, off))
}

fn pairs_pile(count: usize) -> Result<Pair, CaseError> {
    let mut random = Random(13);
    let [x, y, z]: [Vec<f64>; 3] = std::array::from_fn(|_| (0..count).map(|_| random.next() * 0.7).collect());
    let capped = TouchSettings { capacity: count, ..TouchSettings::default() };
    let counted = TouchSettings { stop_at_capacity: false, ..capped };
    let search = |settings: TouchSettings| {
        let (x, y, z) = (x.clone(), y.clone(), z.clone());
        let (mut search, mut pairs) = (TouchSearch::default(), Vec::new());
        // Several in a row, so that a sample of the quick side is long enough to mean something.
        move |times: u32| {
            let start = Instant::now();
            let found = (0..times).fold(0, |_, _| search.touching(&x, &y, &z, &settings, &mut pairs));
            (start.elapsed() / times, found, pairs.clone())
        }
    };
    let (mut first, mut all) = (search(capped), search(counted));
    let ((_, found, ours), (_, _, other)) = (first(1), all(1));
    if ours != other || found != count + 1 {
        let first = format!("{} and {} pairs", ours.len(), other.len());
        return Err(CaseError::Unequal { count: 1, first });
    }
    Ok(Pair::sampled(move || first(50).0, move || all(1).0))
}
