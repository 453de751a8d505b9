//! Looking up states and facts allocates nothing: counted by an allocator of this test binary's own.

use std::hint::black_box;
use voxtick_worlds::{BlockStates, Direction, StateId};

#[test]
fn lookups_and_facts_allocate_nothing() {
    let states = BlockStates::load();
    let modded = states.resolve("somemod:pipe", &[("axis", "x")]).expect("there is room");
    let counted = allocation_counter::measure(|| look_up_all(&states, modded));
    assert_eq!(counted.count_total, 0);
}

fn look_up_all(states: &BlockStates, modded: StateId) {
    for id in (0..states.known_count() as u32).map(StateId).chain([modded]) {
        let mut properties = [("", ""); 16];
        let mut count = 0;
        for property in states.properties(id) {
            properties[count] = property;
            count += 1;
        }
        assert_eq!(states.lookup(states.name(id), &properties[..count]), Some(id));
        assert_eq!(states.resolve(states.name(id), &properties[..count]), Ok(id));
        black_box((states.emission(id), states.dampening(id), states.sky_down(id), states.faces(id)));
        black_box((states.collision_boxes(id), states.motion(id), states.fluid(id), states.stable_hash(id)));
        black_box((states.face_mask(id, Direction::Up), states.faces_cover(1, 2), states.friction(id)));
    }
}
