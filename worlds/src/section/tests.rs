//! Storage, snapshots, palettes and hashes of sections.

use std::mem;

use super::*;

#[test]
fn a_section_is_sixteen_bytes_beside_its_cells() {
    assert_eq!(mem::size_of::<Section>(), 16);
    assert_eq!(Section::uniform(StateId::AIR).memory_bytes(), 0);
}

#[test]
fn more_than_256_states_all_come_back() {
    let states = BlockStates::load();
    let mut section = Section::uniform(StateId::AIR);
    for cell in 0..SECTION_CELLS {
        section.set(cell, StateId(cell as u32), &states);
    }
    for cell in 0..SECTION_CELLS {
        assert_eq!(section.get(cell), StateId(cell as u32));
        assert_eq!(section.count(StateId(cell as u32)), 1);
    }
}

#[test]
fn a_place_that_no_cell_uses_is_taken_before_the_palette_grows() {
    let states = BlockStates::load();
    let mut section = Section::uniform(StateId::AIR);
    for state in 1..5_000 {
        section.set(9, StateId(state), &states);
    }
    assert_eq!(section.palette(), [StateId::AIR, StateId(4_999)]);
}

#[test]
fn writing_to_a_snapshot_leaves_the_original() {
    let states = BlockStates::load();
    let mut section = Section::uniform(StateId::AIR);
    section.set(0, StateId(1), &states);
    let mut snapshot = section.clone();
    assert!(snapshot.same_storage(&section));
    snapshot.set(1, StateId(2), &states);
    assert!(!snapshot.same_storage(&section));
    assert_eq!(section.get(1), StateId::AIR);
}

#[test]
fn compacting_makes_alike_cells_uniform_and_forgets_unused_states() {
    let states = BlockStates::load();
    let mut section = Section::uniform(StateId::AIR);
    section.set(0, StateId(1), &states);
    section.set(0, StateId::AIR, &states);
    assert_eq!(section.uniform_state(), None);
    section.compact();
    assert_eq!(section.uniform_state(), Some(StateId::AIR));
}

#[test]
fn a_palette_that_is_empty_or_too_short_is_refused() {
    let mut indices = [0; SECTION_CELLS];
    assert_eq!(Section::from_palette(&[], &indices).unwrap_err(), SectionError::EmptyPalette);
    indices[77] = 2;
    assert_eq!(
        Section::from_palette(&[StateId(1), StateId(2)], &indices).unwrap_err(),
        SectionError::IndexBeyondPalette { cell: 77, index: 2, entries: 2 }
    );
}

#[test]
fn a_state_named_twice_in_a_palette_is_one_state() {
    let mut indices = [0; SECTION_CELLS];
    indices[5] = 1;
    let section = Section::from_palette(&[StateId(7), StateId(7)], &indices).expect("valid");
    assert_eq!(section.uniform_state(), Some(StateId(7)));
}

/// A step of the hash once dropped the lowest bit of a run's length: runs of 2 and 3 cells hashed like runs of 3 and 2.
#[test]
fn the_content_hash_tells_where_a_run_ends() {
    let states = BlockStates::load();
    let [stone, dirt] = ["stone", "dirt"].map(|name| states.parse(name).expect("known"));
    let hash = |stones: usize| {
        let mut section = Section::uniform(StateId::AIR);
        for cell in 0..5 {
            section.set(cell, if cell < stones { stone } else { dirt }, &states);
        }
        section.content_hash(&states)
    };
    let hashes: std::collections::BTreeSet<u64> = (0..=5).map(hash).collect();
    assert_eq!(hashes.len(), 6);
}

#[test]
fn the_content_hash_knows_cells_only() {
    let states = BlockStates::load();
    let mut direct = Section::uniform(StateId::AIR);
    direct.set(100, StateId(1), &states);
    let mut detour = Section::uniform(StateId(1));
    for cell in 0..SECTION_CELLS {
        detour.set(cell, if cell == 100 { StateId(1) } else { StateId::AIR }, &states);
    }
    assert_eq!(direct.content_hash(&states), detour.content_hash(&states));
    direct.set(101, StateId(1), &states);
    assert_ne!(direct.content_hash(&states), detour.content_hash(&states));
    direct.set(100, StateId::AIR, &states);
    direct.set(101, StateId::AIR, &states);
    assert_eq!(direct.content_hash(&states), Section::uniform(StateId::AIR).content_hash(&states));
}
