//! A section under any sequence of writes, snapshots and compactions is an array of 4,096 states.

use proptest::prelude::*;
use voxtick_worlds::{BlockStates, MotionClass, SECTION_CELLS, Section, StateId};

#[derive(Debug, Clone)]
enum Step {
    Set(usize, u32),
    Fill(usize, usize, u32),
    Snapshot,
    Compact,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let state = prop_oneof![0_u32..6, 0_u32..29_000];
    let step = prop_oneof![
        8 => (0..SECTION_CELLS, state.clone()).prop_map(|(cell, state)| Step::Set(cell, state)),
        2 => (0..SECTION_CELLS, 0..600_usize, state)
            .prop_map(|(start, length, state)| Step::Fill(start, length, state)),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Compact),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_section_is_its_cells(steps in steps()) {
        let states = BlockStates::load();
        let mut model = vec![StateId::AIR; SECTION_CELLS];
        let mut section = Section::uniform(StateId::AIR);
        // Asked for at the start, so that every write has to keep them up to date.
        section.set(0, StateId(1), &states);
        let _ = section.solid(&states);
        section.set(0, StateId::AIR, &states);
        let mut snapshots = Vec::new();
        for step in steps {
            match step {
                Step::Set(cell, state) => {
                    prop_assert_eq!(section.set(cell, StateId(state), &states), model[cell]);
                    model[cell] = StateId(state);
                }
                Step::Fill(start, length, state) => {
                    let end = SECTION_CELLS.min(start + length);
                    (start..end).for_each(|cell| {
                        section.set(cell, StateId(state), &states);
                    });
                    model[start..end].fill(StateId(state));
                }
                Step::Snapshot => snapshots.push((section.clone(), model.clone())),
                Step::Compact => section.compact(),
            }
        }
        snapshots.push((section, model));
        for (section, model) in &snapshots {
            agrees(section, model, &states)?;
        }
    }
}

/// Every way of reading the section tells what the model holds.
fn agrees(section: &Section, model: &[StateId], states: &BlockStates) -> Result<(), TestCaseError> {
    let mut indices = [0; SECTION_CELLS];
    section.unpack_indices(&mut indices);
    for (cell, &state) in model.iter().enumerate() {
        prop_assert_eq!(section.get(cell), state);
        prop_assert_eq!(section.palette()[usize::from(indices[cell])], state);
        prop_assert_eq!(section.palette_index(cell), usize::from(indices[cell]));
        let bit = |mask: &[u64; 64]| mask[cell / 64] >> (cell % 64) & 1 == 1;
        prop_assert_eq!(bit(section.solid(states)), states.motion(state) == MotionClass::FullCube);
        prop_assert_eq!(bit(section.special(states)), states.motion(state) == MotionClass::Special);
    }
    let from_runs: Vec<StateId> =
        section.runs().flat_map(|run| std::iter::repeat_n(run.state, run.length)).collect();
    prop_assert_eq!(&from_runs[..], model);
    for (state, count) in section.counts() {
        prop_assert_eq!(count, model.iter().filter(|&&cell| cell == state).count());
    }
    let rebuilt = Section::from_palette(section.palette(), &indices).expect("its own palette");
    prop_assert_eq!(rebuilt.content_hash(states), section.content_hash(states));
    Ok(())
}
