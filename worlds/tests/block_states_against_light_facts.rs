//! The shipped table against the facts it was made from, state by state.
//!
//! The facts are not part of the repository; without `VOXTICK_DATA` only the table's own totals are checked here, and
//! states known by heart in the unit tests.
#![expect(clippy::print_stderr, reason = "says loudly which real files were used")]

use serde_json::Value;
use voxtick_worlds::{BlockStates, FaceMask, StateId};

#[test]
fn the_table_holds_the_facts_it_was_made_from() {
    let states = BlockStates::load();
    let Some(folder) = std::env::var_os("VOXTICK_DATA") else {
        eprintln!("VOXTICK_DATA is not set: the light facts are not compared, totals only");
        assert_eq!(states.known_count(), 29_873);
        return;
    };
    let path = std::path::Path::new(&folder).join("blocks/light-facts-26.1.jsonl");
    eprintln!("comparing with {}", path.display());
    let text = std::fs::read_to_string(&path).expect("the light facts can be read");
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let header = lines.next().expect("a header");
    let masks: Vec<FaceMask> = header["face_masks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|hex| {
            let hex = hex.as_str().expect("text");
            FaceMask(std::array::from_fn(|word| {
                u64::from_str_radix(&hex[word * 16..word * 16 + 16], 16).expect("hex digits")
            }))
        })
        .collect();

    let mut compared = 0;
    for block in lines {
        let name = block["name"].as_str().expect("text");
        let first = block["first_state"].as_u64().expect("a number") as u32;
        let range = states.states_of(name).unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(range.start, first, "{name}");
        let default = StateId(block["default_state"].as_u64().expect("a number") as u32);
        assert_eq!(states.default_state(name), Some(default));
        for id in range.map(StateId) {
            let at = |fact: &str| {
                let value = &block[fact];
                let value = value.as_array().map_or(value, |each| &each[(id.0 - first) as usize]);
                value.as_u64().unwrap_or_else(|| panic!("{name}: {fact}"))
            };
            let what = states.print(id);
            assert_eq!(u64::from(states.emission(id)), at("emission"), "{what}");
            assert_eq!(u64::from(states.dampening(id)), at("dampening"), "{what}");
            assert_eq!(u64::from(states.sky_down(id)), at("sky_down"), "{what}");
            assert_eq!(u64::from(states.can_occlude(id)), at("can_occlude"), "{what}");
            assert_eq!(u64::from(states.shape_occludes(id)), at("shape_occludes"), "{what}");
            let faces = match block["faces"].as_array() {
                None => None,
                Some(same) if same.len() == 6 && same[0].is_u64() => Some(same),
                Some(each) => each[(id.0 - first) as usize].as_array(),
            };
            for direction in 0..6 {
                let expected = faces.map_or(FaceMask([0; 4]), |faces| {
                    masks[faces[direction].as_u64().expect("an index") as usize]
                });
                assert_eq!(states.face_masks()[states.faces(id)[direction] as usize], expected, "{what}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, states.known_count());
}
