//! Sections made of indices that are packed already are those made cell by cell.

use proptest::prelude::*;
use std::sync::{Arc, LazyLock};
use voxtick_worlds::{BlockStates, SECTION_CELLS, Section, SectionError, StateId};

static STATES: LazyLock<Arc<BlockStates>> = LazyLock::new(BlockStates::load);

fn pack(indices: &[u16; SECTION_CELLS], bits: u32) -> Vec<[u8; 8]> {
    let word = |cells: &[u16]| cells.iter().rev().fold(0, |word, index| word << bits | u64::from(*index));
    indices.chunks(64 / bits as usize).map(|cells| word(cells).to_be_bytes()).collect()
}

/// Indices below `entries` with runs, as in terrain.
fn indices(entries: usize, seed: u64, run: usize) -> [u16; SECTION_CELLS] {
    std::array::from_fn(|cell| {
        let mixed = ((cell / run) as u64 + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        (mixed % entries as u64) as u16
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packed_and_unpacked_give_one_section(
        entries in 1_usize..600,
        extra_bits in 0_u32..4,
        repeats in any::<bool>(),
        seed in any::<u64>(),
        run in 1_usize..200,
        edits in proptest::collection::vec((0..SECTION_CELLS, 0_u32..20_000), 0..40),
    ) {
        let palette: Vec<StateId> = (0..entries as u32).map(|n| StateId(if repeats { n / 2 } else { n } * 7)).collect();
        let indices = indices(entries, seed, run);
        let bits = (usize::BITS - (entries - 1).leading_zeros()).max(1) + extra_bits;
        let mut packed = Section::from_packed(&palette, bits, &pack(&indices, bits)).expect("it fits");
        let mut plain = Section::from_palette(&palette, &indices).expect("it fits");
        prop_assert_eq!(packed.content_hash(&STATES), plain.content_hash(&STATES));
        for (cell, state) in edits {
            prop_assert_eq!(packed.set(cell, StateId(state), &STATES), plain.set(cell, StateId(state), &STATES));
        }
        for cell in 0..SECTION_CELLS {
            prop_assert_eq!(packed.get(cell), plain.get(cell));
        }
        for (state, count) in plain.counts() {
            prop_assert_eq!(packed.count(state), count);
        }
        prop_assert_eq!(packed.solid(&STATES), plain.solid(&STATES));
        packed.compact();
        prop_assert_eq!(packed.content_hash(&STATES), plain.content_hash(&STATES));
    }
}

#[test]
fn one_state_in_every_cell_is_uniform() {
    let stone = STATES.parse("stone").expect("a known state");
    let section = Section::from_packed(&[StateId::AIR, stone], 4, &[[0x11; 8]; 256]);
    assert_eq!(section.expect("it fits").uniform_state(), Some(stone));
}

#[test]
fn what_fits_no_section_is_refused_with_its_place() {
    let longs = [0x10_u64.to_be_bytes(); 256];
    assert_eq!(Section::from_packed(&[], 4, &longs).unwrap_err(), SectionError::EmptyPalette);
    assert_eq!(
        Section::from_packed(&[StateId(1)], 4, &longs[1..]).unwrap_err(),
        SectionError::WordCount { words: 255, bits: 4 }
    );
    assert_eq!(
        Section::from_packed(&[StateId(1)], 0, &longs).unwrap_err(),
        SectionError::WordCount { words: 256, bits: 0 }
    );
    assert_eq!(
        Section::from_packed(&[StateId(1)], 4, &longs).unwrap_err(),
        SectionError::IndexBeyondPalette { cell: 1, index: 1, entries: 1 }
    );
}

#[test]
fn packed_indices_are_given_out_as_they_are_kept() {
    let (air, stone) = (StateId::AIR, STATES.parse("stone").expect("a known state"));
    let words: Box<[u64]> = (0..256).map(|word| if word == 9 { 0x0100 } else { 0 }).collect();
    let longs: Vec<[u8; 8]> = words.iter().map(|word| word.to_be_bytes()).collect();
    let section = Section::from_packed(&[air, stone], 4, &longs).expect("it fits");
    assert_eq!(section.packed_indices(), Some((4, &*words)));
    assert_eq!(section.get(9 * 16 + 2), stone);
    assert_eq!(Section::uniform(air).packed_indices(), None);
}
