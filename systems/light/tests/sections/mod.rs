//! Single sections to light: from the files with known answers, and made here in the same way.

use voxtick_worlds::NIBBLE_BYTES;
use voxtick_worlds::generators::split_mix;

/// One closed section.
pub(crate) struct SectionCase {
    pub(crate) opaque: [u64; 64],
    pub(crate) sources: Vec<(u16, u8)>,
}

/// The 14 x 64 sections of the files and their light, or `None` where `VOXTICK_DATA` is not set.
pub(crate) fn known_cases() -> Option<Vec<(SectionCase, [u8; NIBBLE_BYTES])>> {
    let data = std::path::PathBuf::from(std::env::var_os("VOXTICK_DATA")?).join("cases");
    let read = |name: &str| {
        let path = data.join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (sections, expected) = (read("light_sections.bin"), read("light_expected.bin"));
    let mut rest = &sections[..];
    let mut take = |count: usize| {
        let (head, tail) = rest.split_at(count);
        rest = tail;
        head
    };
    let number = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
    let cases = expected.chunks_exact(NIBBLE_BYTES).map(|levels| {
        let mut opaque = [0; 64];
        for (word, bytes) in opaque.iter_mut().zip(take(512).chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        let count = number(take(2));
        let sources = (0..count).map(|_| take(3)).map(|source| (number(source), source[2])).collect();
        (SectionCase { opaque, sources }, levels.try_into().expect("whole sections"))
    });
    Some(cases.collect())
}

/// Sections with 0, 1, 8, 64 and 700 sources, none, a third or nearly all of the cells opaque, and levels alike or mixed.
pub(crate) fn made_cases() -> Vec<SectionCase> {
    let random = &mut 7;
    let mut cases = Vec::new();
    for sources in [0, 1, 8, 64, 700] {
        for solid in [0, 30, 95] {
            for mixed in [false, true] {
                let mut opaque = [0_u64; 64];
                for cell in 0..4096 {
                    opaque[cell / 64] |= u64::from(below(random, 100) < solid) << (cell % 64);
                }
                let level = |number: usize| if mixed { [15, 15, 14, 7, 3][number % 5] } else { 15 };
                let mut chosen: Vec<(u16, u8)> =
                    (0..sources).map(|number| (below(random, 4096) as u16, level(number))).collect();
                chosen.sort_unstable();
                chosen.dedup_by_key(|(cell, _)| *cell);
                cases.push(SectionCase { opaque, sources: chosen });
            }
        }
    }
    cases
}

fn below(random: &mut u64, bound: usize) -> usize {
    *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    (split_mix(*random) % bound as u64) as usize
}
