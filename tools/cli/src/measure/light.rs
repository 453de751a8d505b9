//! Light: the kernels against the queue flood fill of `voxtick_light::reference`.

mod edits;
mod inputs;

use std::hint::black_box;
use std::time::{Duration, Instant};

use voxtick::light::reference::{self, FlatLight};
use voxtick::light::{ChunkLighter, Relighter, light_section};
use voxtick::worlds::{ChunkLight, ChunkPos, LightChannel, LightLevels, NIBBLE_BYTES, World};

use self::inputs::SectionInput;
use super::{Case, CaseError, Pair};

const SIDES: (&str, &str) = ("masks", "queue flood fill");

/// How long a region is lit, on either side, before what is timed begins. A pool that slept while the other side worked
/// can find both its threads on one processor until the system moves one of them, up to a tenth of a second later.
const SETTLING: Duration = Duration::from_millis(120);
/// How often a region is lit in what is timed.
const REGION_RUNS: u32 = 4;

/// The cases of this subject.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = sections();
    cases.push(Case::new("light/chunk/hills", SIDES, 24, || chunks(inputs::hills(1), None)));
    for threads in [1, 2] {
        let name = format!("light/region/threads={threads}");
        cases.push(Case::new(
            name,
            ("masks", "queue flood fill, 1 thread"),
            inputs::REGION_CHUNKS,
            move || chunks(inputs::region()?, Some(threads)),
        ));
    }
    for sections in [1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256] {
        let name = format!("light/column/sections={sections}");
        cases.push(Case::new(name, SIDES, sections as u64, move || chunks(inputs::column(sections)?, None)));
    }
    cases.extend(edits::cases());
    cases
}

/// Single sections: those with known light where `VOXTICK_DATA` is set, made ones of the same kinds otherwise.
fn sections() -> Vec<Case> {
    let mut cases = vec![Case::new("light/section/dark", SIDES, 64, || light_sections(0, 30, false))];
    for sources in [1, 8, 64] {
        for solid in [0, 30] {
            for (mix, mixed) in [("uniform", false), ("mixed", true)] {
                let name = format!("light/section/sources={sources}/solid={solid}/mix={mix}");
                cases.push(Case::new(name, SIDES, 64, move || light_sections(sources, solid, mixed)));
            }
        }
    }
    cases
}

fn light_sections(sources: usize, solid: usize, mixed: bool) -> Result<Pair, CaseError> {
    let input = inputs::sections(sources, solid, mixed)?;
    let by_masks = |input: &[SectionInput], levels: &mut [u8; NIBBLE_BYTES]| {
        for section in input {
            light_section(&section.opaque, &section.sources, levels);
            black_box(&*levels);
        }
    };
    for (number, section) in input.iter().enumerate() {
        let (mut ours, mut other) = ([0; NIBBLE_BYTES], [0; NIBBLE_BYTES]);
        light_section(&section.opaque, &section.sources, &mut ours);
        reference::light_section(&section.opaque, &section.sources, &mut Vec::new(), &mut other);
        let differ = ours.iter().zip(&other).filter(|(a, b)| a != b).count();
        let known = section.expected.as_deref().is_none_or(|expected| *expected == ours);
        if differ > 0 || !known {
            return Err(CaseError::Unequal { count: differ as u64, first: format!("section {number}") });
        }
    }
    let flooded = input.clone();
    let mut levels = [0; NIBBLE_BYTES];
    let (mut queue, mut other_levels) = (Vec::new(), [0; NIBBLE_BYTES]);
    Ok(Pair::new(
        move || by_masks(&input, &mut levels),
        move || {
            for section in &flooded {
                reference::light_section(&section.opaque, &section.sources, &mut queue, &mut other_levels);
                black_box(&other_levels);
            }
        },
    ))
}

/// All chunks of a world, both channels from nothing, what the sections let through included; on `threads` threads, or
/// without any pool.
fn chunks(world: World, threads: Option<usize>) -> Result<Pair, CaseError> {
    let mut lit = World::new(world.dimension().clone(), world.states().clone());
    for chunk in world.chunks() {
        lit.insert_chunk(chunk.clone());
    }
    // The flood fill keeps a reference to its world; the process measures and ends.
    let world: &'static World = Box::leak(Box::new(world));
    let positions: Vec<ChunkPos> = world.chunk_positions().collect();
    let mut flood = FlatLight::new(world, &positions);
    flood.light_all();
    let mut relighter = Relighter::default();
    let mut ours: Box<dyn FnMut() -> Vec<(ChunkPos, ChunkLight)>> = match threads {
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|error| CaseError::Input(error.to_string()))?;
            // In place, so that the result takes no new memory: the flood fill keeps its arrays too.
            pool.install(|| relighter.relight_all(&mut lit));
            compare(
                lit.chunks().filter_map(|chunk| Some((chunk.position(), chunk.light.as_deref()?))),
                &flood,
            )?;
            Box::new(move || {
                pool.install(|| relighter.relight_all(&mut lit));
                Vec::new()
            })
        }
        None => {
            let mut lighter = ChunkLighter::default();
            let light = lighter.light(world, &positions);
            compare(light.iter().map(|(position, light)| (*position, light)), &flood)?;
            Box::new(move || lighter.light(world, &positions))
        }
    };
    let ours = move || {
        black_box(ours());
    };
    let other = move || {
        flood.read_blocks(world);
        flood.light_all();
        black_box(&flood);
    };
    Ok(match threads {
        Some(_) => Pair::self_timed(settled(ours), settled(other)),
        None => Pair::new(ours, other),
    })
}

/// Does the work until it has settled, and says how long one of the next runs takes.
fn settled(mut work: impl FnMut()) -> impl FnMut() -> Duration {
    move || {
        let start = Instant::now();
        while start.elapsed() < SETTLING {
            work();
        }
        let start = Instant::now();
        (0..REGION_RUNS).for_each(|_| work());
        start.elapsed() / REGION_RUNS
    }
}

/// Compares the light of every chunk with that of the flood fill.
fn compare<'a>(
    lit: impl Iterator<Item = (ChunkPos, &'a ChunkLight)>,
    flood: &FlatLight<'_>,
) -> Result<(), CaseError> {
    let mut unequal = (0, None);
    for (position, light) in lit {
        let expected = flood.chunk_light(position);
        if expected.as_ref() != Some(light) {
            let first = expected.map(|expected| first_difference(position, light, &expected));
            unequal = (unequal.0 + 1, unequal.1.or(first));
        }
    }
    if let (count @ 1.., first) = unequal {
        return Err(CaseError::Unequal { count, first: first.unwrap_or_default() });
    }
    Ok(())
}

fn first_difference(position: ChunkPos, ours: &ChunkLight, other: &ChunkLight) -> String {
    for channel in [LightChannel::Block, LightChannel::Sky] {
        let pairs = ours.channel(channel).iter().zip(other.channel(channel));
        for (entry, (ours, other)) in pairs.enumerate() {
            let level = |levels: &LightLevels, cell: usize| levels.level(cell).unwrap_or(0);
            if let Some(cell) = (0..4096).find(|&cell| level(ours, cell) != level(other, cell)) {
                return format!(
                    "{position}, {channel:?} light, section {entry} from below, cell {cell}: {} against {}",
                    level(ours, cell),
                    level(other, cell)
                );
            }
        }
    }
    format!("{position}, but not in a level")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_build_and_both_sides_agree() {
        let small = |name: &str| {
            name.starts_with("light/section")
                || name == "light/chunk/hills"
                || name == "light/column/sections=256"
        };
        for case in cases().into_iter().filter(|case| small(&case.name)) {
            let name = case.name.clone();
            if let Err(error) = case.prepare() {
                panic!("{name}: {error}");
            }
        }
    }
}
