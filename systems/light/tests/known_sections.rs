//! Single sections whose light two published engines agree on, byte for byte.
//!
//! The files are found through `VOXTICK_DATA`; without it, sections of the same kinds are made here and the paths are
//! compared with each other.

#[path = "../../anvil/tests/support/left_out.rs"]
mod left_out;
mod sections;

use left_out::say_left_out;
use sections::{SectionCase, known_cases, made_cases};
use voxtick_light::{Width, light_section_with, reference};
use voxtick_worlds::NIBBLE_BYTES;

/// The kernel on every instruction set of this machine.
fn by_masks(case: &SectionCase) -> Vec<(Width, [u8; NIBBLE_BYTES])> {
    let widths = Width::ALL.into_iter().filter(|width| width.is_supported());
    let light = |width| {
        let mut levels = [0xAA; NIBBLE_BYTES];
        light_section_with(width, &case.opaque, &case.sources, &mut levels);
        (width, levels)
    };
    widths.map(light).collect()
}

fn by_flood_fill(case: &SectionCase) -> [u8; NIBBLE_BYTES] {
    let mut levels = [0; NIBBLE_BYTES];
    reference::light_section(&case.opaque, &case.sources, &mut Vec::new(), &mut levels);
    levels
}

#[test]
fn sections_have_the_light_that_published_engines_give_them() {
    let Some(cases) = known_cases() else {
        say_left_out("the sections with known light", "VOXTICK_DATA names no folder of them");
        return;
    };
    assert_eq!(cases.len(), 14 * 64);
    for (number, (case, expected)) in cases.iter().enumerate() {
        assert!(by_flood_fill(case) == *expected, "flood fill, section {number}");
        for (width, levels) in by_masks(case) {
            assert!(levels == *expected, "{width:?}, section {number}");
        }
    }
}

#[test]
fn made_sections_hold_what_their_sources_give() {
    for case in made_cases() {
        let levels = by_flood_fill(&case);
        for &(cell, level) in &case.sources {
            let stored = levels[usize::from(cell) / 2] >> (cell % 2 * 4) & 15;
            assert!(stored >= level, "cell {cell} has {stored}, its own light is {level}");
        }
        for (width, by_masks) in by_masks(&case) {
            assert!(by_masks == levels, "{width:?}, {} sources", case.sources.len());
        }
    }
}
