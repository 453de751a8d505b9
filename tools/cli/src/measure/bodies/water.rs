//! Bodies in water, still and flowing.

use voxtick::bodies::{Settings, Spawn};
use voxtick::worlds::{BlockPos, ItemKind, ItemStack, StateId};

use super::arena::{Arena, CYCLE, OneAtATime, Random, lasting};
use crate::measure::{Case, CaseError, Pair};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, water) in [("current", Water::Current), ("still", Water::Still)] {
        let sides = ("kernel", "one at a time");
        cases.push(Case::new(format!("bodies/water/n=10000/{name}"), sides, 10_000, move || {
            drifting(10_000, water)
        }));
        let sides = ("drifting", "falling");
        cases.push(Case::new(
            format!("bodies/water/n=10000/{name}/against=falling"),
            sides,
            10_000,
            move || drifting_and_falling(10_000, water),
        ));
    }
    cases
}
/// What bodies drift in.
#[derive(Clone, Copy)]
enum Water {
    /// One block deep, from sources in every sixteenth row down to the seventh row on either side.
    Current,
    /// Six blocks of sources.
    Still,
}

impl Arena {
    /// Bodies a little above 48 x 48 blocks of water, and as fast as if dropped into it.
    fn afloat(count: usize, water: Water) -> Result<Arena, CaseError> {
        let mut random = Random(2);
        let depth = if let Water::Current = water { 1 } else { 6 };
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                let position = [
                    1.2 + random.next() * 45.6,
                    f64::from(depth) + random.next(),
                    1.2 + random.next() * 45.6,
                ];
                let mut spawn = lasting(position, ItemStack::single(ItemKind(0)));
                spawn.velocity = [random.next() * 0.2 - 0.1, 0.0, random.next() * 0.2 - 0.1];
                spawn
            })
            .collect();
        let mut arena = Arena::new([48, 32, 48], 0.0, &spawns, Settings::default(), 1)?;
        let input = |error: &dyn std::fmt::Display| CaseError::Input(error.to_string());
        let levels: Vec<StateId> = (0..8)
            .map(|level| arena.world.states().parse(&format!("water[level={level}]")))
            .collect::<Result<_, _>>()
            .map_err(|error| input(&error))?;
        let stone = arena.world.states().parse("stone").map_err(|error| input(&error))?;
        for x in 0..48_i32 {
            for (y, z) in (1..=depth).flat_map(|y| (0..48).map(move |z| (y, z))) {
                let state = match water {
                    Water::Current => levels[((x + 8) % 16 - 8).unsigned_abs().min(7) as usize],
                    Water::Still => levels[0],
                };
                arena.world.set_block(BlockPos::new(x, y, z), state).map_err(|error| input(&error))?;
            }
        }
        // A basin: nothing drifts out of it.
        for (y, along) in (1..12).flat_map(|y| (0..48).map(move |along| (y, along))) {
            for (x, z) in [(along, 0), (along, 47), (0, along), (47, along)] {
                arena.world.set_block(BlockPos::new(x, y, z), stone).map_err(|error| input(&error))?;
            }
        }
        Ok(arena)
    }

    /// Bodies high in the air.
    fn aloft(count: usize) -> Result<Arena, CaseError> {
        let mut random = Random(2);
        let spawns: Vec<Spawn> = (0..count)
            .map(|_| {
                let position = [random.next() * 48.0, 60.0 + random.next(), random.next() * 48.0];
                lasting(position, ItemStack::single(ItemKind(0)))
            })
            .collect();
        Arena::new([48, 64, 48], 0.0, &spawns, Settings::default(), 1)
    }
}

fn drifting(count: usize, water: Water) -> Result<Pair, CaseError> {
    let mut arena = Arena::afloat(count, water)?;
    let mut plain = OneAtATime::beside(&arena, [48, 32, 48]);
    arena.ticks(CYCLE);
    plain.ticks(CYCLE);
    plain.compare(&arena)?;
    let start = arena.written_down();
    let mut world = Arena::afloat(count, water)?;
    world.population.remove(&world.ids);
    // There is room: as many have just gone.
    let _ = world.population.spawn(&start);
    let other = move || {
        let mut plain = OneAtATime::beside(&world, [48, 32, 48]);
        plain.ticks(CYCLE)
    };
    Ok(Pair::sampled(move || arena.again(&start), other))
}

/// Both by the kernel, which the other cases compare with the reference.
fn drifting_and_falling(count: usize, water: Water) -> Result<Pair, CaseError> {
    let (mut afloat, mut aloft) = (Arena::afloat(count, water)?, Arena::aloft(count)?);
    afloat.ticks(CYCLE);
    let (floats, falls) = (afloat.written_down(), aloft.written_down());
    Ok(Pair::sampled(move || afloat.again(&floats), move || aloft.again(&falls)))
}
