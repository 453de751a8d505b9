//! Bodies that are thrown again and again, with one thread and two; and the published scene of a server.

use voxtick::bodies::Settings;
use voxtick::worlds::{ItemKind, ItemStack};

use super::arena::{Arena, CYCLE, OneAtATime, same};
use super::sample_of;
use crate::measure::{Case, CaseError, Pair};

pub(super) fn cases() -> Vec<Case> {
    let sides = ("kernel", "one at a time");
    let mut cases: Vec<Case> = [1_000, 10_000, 32_768, 100_000, 1_000_000]
        .map(|count| {
            let name = format!("bodies/moving/n={count}/threads=1");
            Case::new(name, sides, count, move || moving(count as usize))
        })
        .into();
    cases.push(Case::new(
        "bodies/moving/n=1000000/threads=2",
        ("two threads", "one thread"),
        1_000_000,
        || threads(1_000_000),
    ));
    for phase in ["falling", "resting"] {
        let name = format!("bodies/server/n=20000/phase={phase}");
        let is_resting = phase == "resting";
        cases.push(Case::new(name, sides, 20_000, move || server(20_000, is_resting)));
    }
    cases
}
fn moving(count: usize) -> Result<Pair, CaseError> {
    let mut arena = Arena::random(count, Settings::default(), 1)?;
    // From then on each tick is like the last: bodies in all ticks since their throw.
    arena.thrown_ticks(CYCLE);
    let mut plain = OneAtATime::beside(&arena, [48, 32, 48]);
    let compared = (1_600_000 / count).clamp(4, CYCLE);
    arena.thrown_ticks(compared);
    plain.thrown_ticks(compared);
    plain.compare(&arena)?;
    let ticks = sample_of(count);
    Ok(Pair::sampled(move || arena.thrown_ticks(ticks), move || plain.thrown_ticks(ticks)))
}

fn threads(count: usize) -> Result<Pair, CaseError> {
    let mut two = Arena::random(count, Settings::default(), 2)?;
    let mut one = Arena::random(count, Settings::default(), 1)?;
    two.thrown_ticks(CYCLE);
    one.thrown_ticks(CYCLE);
    same(&two, &one)?;
    Ok(Pair::sampled(move || two.thrown_ticks(4), move || one.thrown_ticks(4)))
}

fn server(count: usize, is_resting: bool) -> Result<Pair, CaseError> {
    let size = [112, 64, 112];
    let mut arena = Arena::server(count, ItemStack::single(ItemKind(0)), Settings::default(), 1)?;
    if is_resting {
        arena.settle()?;
    }
    let mut plain = OneAtATime::beside(&arena, size);
    arena.ticks(CYCLE);
    plain.ticks(CYCLE);
    plain.compare(&arena)?;
    if is_resting {
        return Ok(Pair::sampled(move || arena.ticks(10_000), move || plain.ticks(4)));
    }
    // The fall from where they began, again and again: 80 ticks, as published.
    let fresh = Arena::server(count, ItemStack::single(ItemKind(0)), Settings::default(), 1)?;
    let start = fresh.written_down();
    let mut ids = arena.ids.clone();
    let mut ours = move || {
        arena.population.remove(&ids);
        ids.clear();
        // There is room: as many have just gone.
        let _ = arena.population.spawn_into(&start, &mut ids);
        arena.ticks(80)
    };
    let other = move || OneAtATime::beside(&fresh, size).ticks(80);
    ours();
    Ok(Pair::sampled(ours, other))
}
