//! Bodies at rest: while nothing changes, while blocks change under some of them, and while they vanish with age.

use std::time::Duration;

use voxtick::bodies::{Settings, Spawn};
use voxtick::worlds::{BlockPos, ItemKind, ItemStack};

use super::arena::{Arena, CYCLE, Random, same};
use super::sample_of;
use crate::measure::{Case, CaseError, Pair};

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [20_000, 1_000_000]
        .map(|count| {
            let name = format!("bodies/resting/n={count}");
            Case::new(name, ("resting", "moving"), count, move || resting(count as usize))
        })
        .into();
    let sides = ("100 changes", "1,000 changes");
    let few = || changes(1_000_000, [100, 1_000]);
    cases.push(Case::new("bodies/resting/n=1000000/changes=100", sides, 1_000_000, few));
    let sides = ("1,000 changes", "10,000 changes");
    let many = || changes(1_000_000, [1_000, 10_000]);
    cases.push(Case::new("bodies/resting/n=1000000/changes=1000", sides, 1_000_000, many));
    let sides = ("100 vanish a tick", "1,000 do");
    cases.push(Case::new("bodies/resting/n=1000000/vanish=100", sides, 1_000_000, || vanishing(1_000_000)));
    cases
}

fn resting(count: usize) -> Result<Pair, CaseError> {
    let single = ItemStack::single(ItemKind(0));
    let mut resting = Arena::server(count, single, Settings::default(), 1)?;
    let mut moving = Arena::server(count, single, Settings::default(), 1)?;
    resting.settle()?;
    // Those that never sleep take long to come as far; of many, the fall has to do.
    let without_sleep = Settings { sleeping: false, ..Settings::default() };
    let mut awake = Arena::server(count, single, without_sleep, 1)?;
    if count <= 100_000 {
        awake.ticks(resting.population.ticks() as usize);
        same(&resting, &awake)?;
    } else {
        moving.ticks(CYCLE);
        awake.ticks(CYCLE);
        same(&moving, &awake)?;
    }
    moving.thrown_ticks(CYCLE);
    Ok(Pair::sampled(move || resting.ticks(10_000), move || moving.thrown_ticks(sample_of(count))))
}

/// Blocks of the floor that turn to ice and back, each under some eighty sleepers. Of 10,000 among the 12,544 of the floor
/// many are the same or side by side, so they concern some six times as many sleepers as 1,000 do.
fn changes(count: usize, [few, many]: [usize; 2]) -> Result<Pair, CaseError> {
    let single = ItemStack::single(ItemKind(0));
    let side = |changes: usize| -> Result<Box<dyn FnMut() -> Duration>, CaseError> {
        let mut arena = Arena::server(count, single, Settings::default(), 1)?;
        arena.settle()?;
        let states = arena.world.states().clone();
        let floors = ["stone", "ice"].map(|name| states.parse(name).unwrap_or_default());
        let mut random = Random(5);
        let mut turn = 0;
        Ok(Box::new(move || {
            let ticks = 4;
            let mut total = Duration::ZERO;
            for _ in 0..ticks {
                for _ in 0..changes {
                    turn += 1;
                    let at = BlockPos::new((random.next() * 112.0) as i32, 0, (random.next() * 112.0) as i32);
                    // Inside the world: nothing to be told.
                    let _ = arena.world.set_block(at, floors[turn / changes % 2]);
                }
                total += arena.ticks(1);
            }
            total / ticks
        }))
    };
    let (mut few, mut many) = (side(few)?, side(many)?);
    // Until as many fall asleep as are woken.
    (0..4).for_each(|_| {
        few();
        many();
    });
    Ok(Pair::sampled(few, many))
}

/// Bodies at rest of which as many reach their age in one tick as in the next.
fn vanishing(count: usize) -> Result<Pair, CaseError> {
    let single = ItemStack::single(ItemKind(0));
    let side = |a_tick: usize| -> Result<Box<dyn FnMut() -> Duration>, CaseError> {
        let mut arena = Arena::server(count, single, Settings::default(), 1)?;
        arena.settle()?;
        let mut turn = 0;
        Ok(Box::new(move || {
            let ticks = 20;
            let before = arena.population.count();
            // At rest where others were: as many as vanish, so that one sample is like another.
            let spawns: Vec<Spawn> = arena
                .population
                .iter()
                .skip(turn % before)
                .take(ticks * a_tick)
                .enumerate()
                .map(|(place, (_, view))| Spawn {
                    age: Some(5_999 - 40 - (place / a_tick) as i16),
                    ..Spawn::at(view.body.position, view.stack)
                })
                .collect();
            turn += spawns.len();
            // There is room: as many have just gone.
            let _ = arena.population.spawn(&spawns);
            // Until they sleep.
            arena.ticks(40);
            arena.ticks(ticks)
        }))
    };
    Ok(Pair::sampled(side(100)?, side(1_000)?))
}
