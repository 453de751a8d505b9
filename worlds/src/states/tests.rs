//! What the table says about states known by heart, about all states, and about states it does not know.

use super::*;
use crate::Direction;
use rustc_hash::FxHashSet;

fn state(states: &BlockStates, text: &str) -> StateId {
    states.parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_state_prints_and_parses_back_to_itself() {
    let states = BlockStates::load();
    assert_eq!((states.minecraft_version(), states.known_count()), ("26.1", 29_873));
    for id in (0..states.known_count() as u32).map(StateId) {
        let text = states.print(id);
        assert_eq!(states.parse(&text), Ok(id), "{text}");
    }
}

#[test]
fn properties_may_come_in_any_order() {
    let states = BlockStates::load();
    for id in (0..states.known_count() as u32).step_by(7).map(StateId) {
        let mut properties: Vec<_> = states.properties(id).collect();
        properties.reverse();
        assert_eq!(states.lookup(states.name(id), &properties), Some(id));
    }
}

#[test]
fn missing_properties_take_the_default() {
    let states = BlockStates::load();
    let slab = state(&states, "oak_slab[type=double]");
    assert_eq!(states.property(slab, "waterlogged"), Some("false"));
    assert_eq!(states.default_state("minecraft:oak_slab"), Some(state(&states, "oak_slab[type=bottom]")));
    assert_eq!(states.with_property(slab, "type", "top"), Some(state(&states, "oak_slab[type=top]")));
    assert_eq!(states.with_property(slab, "type", "sideways"), None);
    assert_eq!(states.states_of("oak_slab").map(|range| range.len()), Some(6));
}

#[test]
fn light_facts_known_by_heart() {
    let states = BlockStates::load();
    let facts = |text: &str| {
        let id = state(&states, text);
        (states.emission(id), states.dampening(id), states.sky_down(id))
    };
    assert_eq!(facts("air"), (0, 0, true));
    assert_eq!(facts("torch"), (14, 0, true));
    assert_eq!(facts("stone"), (0, 15, false));
    assert_eq!(facts("water"), (0, 1, false));
    assert_eq!(facts("oak_leaves"), (0, 1, false));
    assert_eq!(facts("glass"), (0, 0, true));
    assert_eq!(facts("tinted_glass"), (0, 15, false));
    assert_eq!(facts("glowstone"), (15, 15, false));
    assert_eq!(facts("furnace[lit=true]").0, 13);
    assert_eq!(facts("furnace[lit=false]").0, 0);
    assert_eq!(facts("light[level=9]").0, 9);
    assert_eq!(facts("redstone_torch").0, 7);
}

#[test]
fn a_slab_closes_the_face_on_its_side_and_half_of_each_wall() {
    let states = BlockStates::load();
    let (top, bottom) = (state(&states, "oak_slab[type=top]"), state(&states, "oak_slab[type=bottom]"));
    assert!(states.shape_occludes(top) && states.shape_occludes(bottom));
    let face = |id, direction: Direction| states.faces(id)[direction.index()];
    assert_eq!((face(top, Direction::Down), face(bottom, Direction::Up)), (0, 0));
    assert_eq!(states.face_masks()[face(top, Direction::Up) as usize], FaceMask([u64::MAX; 4]));
    // A full face stops light alone; two half walls do so only if they are different halves.
    assert!(states.faces_cover(face(top, Direction::Up), 0));
    assert!(states.faces_cover(face(top, Direction::East), face(bottom, Direction::West)));
    assert!(!states.faces_cover(face(top, Direction::East), face(top, Direction::West)));
    assert!(!states.faces_cover(0, 0));
    assert_eq!(states.face_mask(top, Direction::Down), None);
    assert_eq!(states.face_mask(top, Direction::Up).map(FaceMaskId::index), Some(face(top, Direction::Up)));
    // The lower half of a wall is its first rows.
    assert_eq!(
        states.face_masks()[face(bottom, Direction::North) as usize],
        FaceMask([u64::MAX, u64::MAX, 0, 0])
    );
}

#[test]
fn masks_are_empty_where_the_shape_takes_no_part_in_light() {
    let states = BlockStates::load();
    assert_eq!(states.face_masks()[0], FaceMask([0; 4]));
    for id in (0..states.known_count() as u32).map(StateId) {
        if !states.shape_occludes(id) {
            assert_eq!(states.faces(id), [0; 6], "{}", states.print(id));
        }
    }
}

#[test]
fn the_pair_table_agrees_with_the_masks() {
    let states = BlockStates::load();
    let masks = states.face_masks();
    for (a, first) in masks.iter().enumerate() {
        for (b, second) in masks.iter().enumerate() {
            assert_eq!(states.faces_cover(a as u8, b as u8), first.covers_with(second));
        }
    }
    assert!(!states.faces_cover(255, 255));
}

#[test]
fn collision_boxes_known_by_heart() {
    let states = BlockStates::load();
    let top = |text: &str| {
        let boxes = states.collision_boxes(state(&states, text)).iter();
        boxes.map(|collision| collision.max[1]).fold(0.0, f64::max)
    };
    assert!(states.is_full_cube(state(&states, "stone")));
    assert!(states.collision_boxes(state(&states, "torch")).is_empty());
    assert_eq!(top("oak_fence"), 1.5);
    assert_eq!(top("soul_sand"), 0.875);
    assert_eq!(top("oak_slab[type=bottom]"), 0.5);
    assert_eq!(top("farmland"), 0.9375);
    assert_eq!(top("snow[layers=1]"), 0.0);
    assert_eq!(states.collision_boxes(state(&states, "oak_stairs")).len(), 2);
}

#[test]
fn motion_classes_by_example() {
    let states = BlockStates::load();
    let motion = |text: &str| states.motion(state(&states, text));
    for text in ["air", "cave_air", "torch", "short_grass", "wheat", "rail", "snow[layers=1]", "light"] {
        assert_eq!(motion(text), MotionClass::Air, "{text}");
    }
    for text in ["stone", "ice", "blue_ice", "glass", "oak_leaves", "barrier", "oak_slab[type=double]"] {
        assert_eq!(motion(text), MotionClass::FullCube, "{text}");
    }
    for text in [
        "water",
        "lava",
        "oak_fence",
        "oak_slab",
        "oak_leaves[waterlogged=true]",
        "kelp",
        "bubble_column",
        "soul_sand",
        "honey_block",
        "slime_block",
        "red_bed",
        "cobweb",
        "powder_snow",
        "sweet_berry_bush",
        "nether_portal",
        "fire",
        "cactus",
        "magma_block",
        "campfire",
        "tripwire",
        "oak_pressure_plate",
        "light_weighted_pressure_plate",
        "hopper",
        "scaffolding",
        "moving_piston",
    ] {
        assert_eq!(motion(text), MotionClass::Special, "{text}");
    }
}

#[test]
fn full_cubes_are_exactly_the_unit_cube_and_air_has_nothing() {
    let states = BlockStates::load();
    for id in (0..states.known_count() as u32).map(StateId) {
        match states.motion(id) {
            MotionClass::Air => assert!(states.collision_boxes(id).is_empty() && states.fluid(id).is_none()),
            MotionClass::FullCube => assert!(states.is_full_cube(id) && states.fluid(id).is_none()),
            MotionClass::Special => {}
        }
        assert!(!states.is_air(id) || states.motion(id) == MotionClass::Air);
    }
}

#[test]
fn fluids_by_level_and_by_plant() {
    let states = BlockStates::load();
    let fluid = |text: &str| states.fluid(state(&states, text));
    assert_eq!(fluid("water"), Fluid::Water { level: 0, falling: false });
    assert_eq!(fluid("water[level=3]"), Fluid::Water { level: 3, falling: false });
    assert_eq!(fluid("water[level=8]"), Fluid::Water { level: 8, falling: true });
    assert_eq!(fluid("water[level=15]"), fluid("water[level=8]"));
    assert_eq!(fluid("lava[level=2]").amount(), 6);
    for plant in
        ["kelp", "kelp_plant", "seagrass", "tall_seagrass", "bubble_column", "oak_slab[waterlogged=true]"]
    {
        assert!(matches!(fluid(plant), Fluid::Water { .. }) && fluid(plant).is_source(), "{plant}");
    }
    assert!(fluid("oak_slab").is_none());
}

#[test]
fn friction_and_speed_differ_for_few_blocks_only() {
    let states = BlockStates::load();
    let ids = || (0..states.known_count() as u32).map(StateId);
    let slippery: FxHashSet<_> = ids()
        .filter(|id| states.friction(*id) != 0.6)
        .map(|id| (states.name(id), states.friction(id).to_bits()))
        .collect();
    let expected = [
        ("minecraft:ice", 0.98_f32),
        ("minecraft:packed_ice", 0.98),
        ("minecraft:frosted_ice", 0.98),
        ("minecraft:blue_ice", 0.989),
        ("minecraft:slime_block", 0.8),
    ];
    assert_eq!(slippery, expected.iter().map(|(name, friction)| (*name, friction.to_bits())).collect());
    let slow: FxHashSet<_> =
        ids().filter(|id| states.speed_factor(*id) != 1.0).map(|id| states.name(id)).collect();
    assert_eq!(slow, ["minecraft:soul_sand", "minecraft:honey_block"].into_iter().collect());
}

#[test]
fn names_of_earlier_versions_are_understood() {
    let states = BlockStates::load();
    for (old, new) in [
        ("minecraft:grass", "short_grass"),
        ("grass_path", "dirt_path"),
        ("sign[rotation=3]", "oak_sign[rotation=3]"),
        ("wall_sign[facing=east]", "oak_wall_sign[facing=east]"),
        ("chain[axis=x]", "iron_chain[axis=x]"),
        (
            "cobblestone_wall[north=true,south=false,up=true]",
            "cobblestone_wall[north=low,south=none,up=true]",
        ),
        ("cauldron[level=2]", "water_cauldron[level=2]"),
        ("cauldron[level=0]", "cauldron"),
        ("jigsaw[facing=up]", "jigsaw[orientation=up_north]"),
        ("jigsaw[facing=east]", "jigsaw[orientation=east_up]"),
    ] {
        assert_eq!(states.parse(old), Ok(state(&states, new)), "{old}");
    }
    // Only walls are read this way.
    assert!(states.parse("oak_fence[north=low]").is_err());
}

#[test]
fn errors_say_what_would_be_right() {
    let states = BlockStates::load();
    let message = |text: &str| states.parse(text).expect_err("no state").to_string();
    assert!(message("oak_slab[type=sideways]").contains("top, bottom, double"));
    assert!(message("oak_slab[kind=top]").contains("type, waterlogged"));
    assert!(message("stone[a=b]").contains("none"));
    assert!(message("oak_slap").contains("`oak_slap`"));
    for malformed in
        ["", "[", "oak_slab[", "oak_slab[type]", "oak_slab[type=]", "a b", "oak_slab[type=top,type=top]"]
    {
        assert!(matches!(states.parse(malformed), Err(ParseStateError::Malformed { .. })), "{malformed}");
    }
}

#[test]
fn an_unknown_state_keeps_its_name_and_properties() {
    let states = BlockStates::load();
    let pipe = states.resolve("somemod:pipe", &[("north", "open"), ("axis", "x")]).expect("there is room");
    assert_eq!(pipe.0 as usize, states.known_count());
    assert_eq!(states.count(), states.known_count() + 1);
    assert_eq!(states.print(pipe), "somemod:pipe[north=open,axis=x]");
    assert_eq!(states.resolve("somemod:pipe", &[("axis", "x"), ("north", "open")]), Ok(pipe));
    assert_eq!(states.parse("somemod:pipe[axis=x,north=open]"), Ok(pipe));
    assert_ne!(states.resolve("somemod:pipe", &[("axis", "y"), ("north", "open")]), Ok(pipe));
    assert_eq!(
        (states.emission(pipe), states.dampening(pipe), states.motion(pipe)),
        (0, 15, MotionClass::FullCube)
    );
    assert!(states.is_full_cube(pipe) && !states.is_air(pipe));
}

#[test]
fn an_unknown_value_of_a_known_block_behaves_like_the_block() {
    let states = BlockStates::load();
    let slab = states.resolve("minecraft:oak_slab", &[("type", "vertical")]).expect("there is room");
    assert!(slab.0 as usize >= states.known_count());
    assert_eq!(states.print(slab), "minecraft:oak_slab[type=vertical]");
    assert_eq!(states.collision_boxes(slab), states.collision_boxes(state(&states, "oak_slab")));
}

#[test]
fn facts_of_unknown_states_can_be_chosen() {
    let states = BlockStates::load();
    let lamp = states.resolve("somemod:lamp", &[]).expect("there is room");
    let glowstone = state(&states, "glowstone");
    assert_eq!(states.set_unknown_facts(lamp, glowstone), Ok(()));
    assert_eq!(states.emission(lamp), 15);
    states.set_unknown_default(state(&states, "glass")).expect("glass is known");
    let pane = states.resolve("somemod:pane", &[]).expect("there is room");
    assert!(states.sky_down(pane));
    assert!(states.set_unknown_facts(glowstone, lamp).is_err());
    assert!(states.set_unknown_facts(glowstone, glowstone).is_err());
    assert!(states.set_unknown_facts(StateId(u32::MAX), glowstone).is_err());
}

#[test]
fn an_id_that_was_never_handed_out_is_harmless() {
    let states = BlockStates::load();
    for id in [StateId(states.known_count() as u32), StateId(u32::MAX)] {
        assert_eq!(states.dampening(id), 15);
        assert_eq!(states.properties(id).count(), 0);
        assert_eq!(states.stable_hash(id), 0);
        assert_eq!(states.with_property(id, "a", "b"), None);
    }
}

#[test]
fn the_stable_hash_tells_states_apart_and_ignores_ids() {
    let states = BlockStates::load();
    let hashes: FxHashSet<u64> =
        (0..states.known_count() as u32).map(|id| states.stable_hash(StateId(id))).collect();
    assert_eq!(hashes.len(), states.known_count());
    // A known state hashes as an unknown one with the same name and properties would.
    let slab = state(&states, "oak_slab[type=top]");
    let properties: Vec<_> = states.properties(slab).collect();
    assert_eq!(states.stable_hash(slab), names::stable_hash("minecraft:oak_slab", &properties));
    let other = BlockStates::load();
    other.resolve("somemod:first", &[]).expect("there is room");
    let late = other.resolve("somemod:second", &[]).expect("there is room");
    let early = states.resolve("somemod:second", &[]).expect("there is room");
    assert_ne!(late, early);
    assert_eq!(other.stable_hash(late), states.stable_hash(early));
}

#[test]
fn many_threads_give_an_unknown_state_one_id() {
    let states = BlockStates::load();
    let resolve_all = || -> Vec<StateId> {
        (0..200)
            .map(|n| states.resolve("somemod:n", &[("n", &n.to_string())]).expect("there is room"))
            .collect()
    };
    let seen: Vec<Vec<StateId>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(resolve_all)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(seen.iter().all(|ids| *ids == seen[0]));
    assert_eq!(states.count(), states.known_count() + 200);
}

#[test]
fn unknown_states_are_limited_in_text() {
    let states = BlockStates::load();
    let long = "x".repeat(1 << 20);
    let mut stored = 0;
    let refused =
        (0..100).map(|n| states.resolve(&format!("m:{n}"), &[("text", &long)])).find_map(|outcome| {
            stored += u32::from(outcome.is_ok());
            outcome.err()
        });
    assert!(matches!(refused, Some(ResolveStateError::TooMuchText { .. })));
    assert_eq!(stored, 63);
}
