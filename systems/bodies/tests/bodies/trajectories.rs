//! What one body does on each kind of block, as a table: where it starts, what lies there, where it must be.
//!
//! The numbers are worked out by hand from the game's rules; the reference and the kernel both have to meet them.

use voxtick_bodies::{BodyId, BodyView, Flags, Population, Settings, Spawn};
use voxtick_worlds::{BlockPos, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, World};

struct Scene {
    world: World,
    population: Population,
    body: BodyId,
}

impl Scene {
    /// One body among some blocks, on a floor of stone at y = 0 that ends at the edge of chunk (0, 0).
    fn new(blocks: &[(&str, [i32; 3])], position: [f64; 3], velocity: [f64; 3]) -> Scene {
        let states = crate::common::states();
        let mut population = Population::new(&states, Settings::default());
        let dimension = Dimension::new("minecraft:test", 0, 64, true).expect("a valid range");
        let mut world = World::new(dimension, states.clone());
        for x in -1..2 {
            for z in -1..2 {
                world.insert_chunk(Chunk::empty(ChunkPos::new(x, z), world.dimension()));
            }
        }
        let mut set = |name: &str, [x, y, z]: [i32; 3]| {
            let state = states.parse(name).expect("a known state");
            world.set_block(BlockPos::new(x, y, z), state).expect("inside");
        };
        for x in 0..16 {
            for z in 0..16 {
                set("stone", [x, 0, z]);
            }
        }
        blocks.iter().for_each(|(name, at)| set(name, *at));
        let spawn = Spawn { velocity, age: None, ..Spawn::at(position, ItemStack::single(ItemKind(0))) };
        let body = population.spawn(&[spawn]).expect("room")[0];
        Scene { world, population, body }
    }

    fn after(mut self, ticks: u64) -> BodyView {
        self.run(ticks);
        self.view()
    }

    fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.population.tick(&self.world, 1, 1);
            self.world.begin_tick(self.population.ticks());
        }
    }

    fn view(&self) -> BodyView {
        self.population.view(self.body).expect("it is there")
    }
}

#[test]
fn a_body_in_the_air_falls_by_the_games_numbers() {
    let body = Scene::new(&[], [8.5, 40.0, 8.5], [0.0; 3]).after(3).body;
    // v1 = -0.04 * 0.98; v2 = (v1 - 0.04) * 0.98; the height falls by each speed before drag.
    let first = -0.04 * 0.98;
    let second = (first - 0.04) * 0.98;
    assert_eq!(body.position[1], 40.0 - 0.04 + (first - 0.04) + (second - 0.04));
    assert_eq!(body.velocity[1], (second - 0.04) * 0.98);
}

#[test]
fn resting_heights_follow_the_shapes_of_blocks() {
    let table: &[(&str, f64)] = &[
        ("stone", 2.0),
        ("oak_slab", 1.5),
        ("oak_slab[type=top]", 2.0),
        ("oak_fence", 2.5),
        ("cobblestone_wall[up=true]", 2.5),
        ("oak_fence_gate", 2.5),
        ("oak_fence_gate[open=true]", 1.0),
        ("soul_sand", 1.875),
        ("farmland", 1.9375),
        ("dirt_path", 1.9375),
        ("white_carpet", 1.0625),
        ("snow[layers=3]", 1.25),
        ("chest", 1.875),
        ("torch", 1.0),
        ("ice", 2.0),
        ("honey_block", 1.9375),
        ("enchanting_table", 1.75),
    ];
    for (block, height) in table {
        let view = Scene::new(&[(block, [8, 1, 8])], [8.5, 3.2, 8.5], [0.0; 3]).after(120);
        assert_eq!(view.body.position, [8.5, *height, 8.5], "{block}");
        assert!(view.body.flags.has(Flags::ON_GROUND), "{block}");
        assert!(view.sleeps || *block == "honey_block", "{block}");
    }
}

#[test]
fn friction_decides_how_far_a_body_slides() {
    let slide = |block: &str| {
        let blocks: Vec<(&str, [i32; 3])> = (0..16).map(|x| (block, [x, 0, 8])).collect();
        Scene::new(&blocks, [1.5, 1.0, 8.5], [0.2, 0.0, 0.0]).after(40).body.position[0] - 1.5
    };
    let stone = slide("stone");
    let exact: f64 = {
        // The first tick has the air's drag behind it: the speed before each of the ticks on the ground.
        let ground = f64::from(0.6_f32 * 0.98_f32);
        let mut speed = 0.2;
        let mut way = 0.0;
        while speed * speed > f64::from(1.0e-5_f32) {
            way += speed;
            speed *= ground;
        }
        way
    };
    assert!((stone - exact).abs() < 0.01, "{stone} against {exact}");
    let (ice, blue_ice, slime) = (slide("ice"), slide("blue_ice"), slide("slime_block"));
    // Slime is slippery, but slows whatever steps on it.
    assert!(slime < stone && stone < ice && ice < blue_ice, "{stone} {slime} {ice} {blue_ice}");
}

#[test]
fn each_ground_takes_its_share_of_the_speed_every_tick() {
    // Slipperiness, by 0.98 in single precision; soul sand and honey first take 0.6 of the speed away.
    let table: &[(&str, f64, f32, f32)] = &[
        ("stone", 2.0, 0.6, 1.0),
        ("ice", 2.0, 0.98, 1.0),
        ("packed_ice", 2.0, 0.98, 1.0),
        ("blue_ice", 2.0, 0.989, 1.0),
        ("soul_sand", 1.875, 0.6, 0.4),
        ("honey_block", 1.9375, 0.6, 0.4),
    ];
    for &(block, height, friction, speed_factor) in table {
        let blocks: Vec<(&str, [i32; 3])> = (0..16).map(|x| (block, [x, 1, 8])).collect();
        let mut scene = Scene::new(&blocks, [4.5, height, 8.5], [0.3, 0.0, 0.0]);
        scene.run(1);
        let before = scene.view().body;
        scene.run(1);
        let after = scene.view().body;
        let share = f64::from(friction * 0.98_f32);
        assert_eq!(after.position[0], before.position[0] + before.velocity[0], "{block}");
        assert_eq!(after.velocity[0], before.velocity[0] * f64::from(speed_factor) * share, "{block}");
        assert_eq!(after.position[1], height, "{block}");
    }
}

#[test]
fn slime_and_beds_throw_back_by_the_games_numbers() {
    // An item keeps 0.8 of its speed, on a bed of two thirds of it.
    for (block, height, back) in [("slime_block", 2.0, 1.0), ("red_bed", 1.5625, f64::from(0.66_f32))] {
        let mut scene = Scene::new(&[(block, [8, 1, 8])], [8.5, 12.0, 8.5], [0.0; 3]);
        let mut before = scene.view().body;
        let after = loop {
            scene.run(1);
            let body = scene.view().body;
            if body.flags.has(Flags::ON_GROUND) {
                break body;
            }
            before = body;
        };
        assert_eq!(after.position[1], height, "{block}");
        let fall = before.velocity[1] - 0.04;
        assert_eq!(after.velocity[1], -fall * back * 0.8 * 0.98, "{block}");
    }
}

#[test]
fn columns_of_bubbles_and_honey_end_at_the_games_speeds() {
    let column =
        |block: &'static str| -> Vec<(&str, [i32; 3])> { (1..60).map(|y| (block, [8, y, 8])).collect() };
    // The speed after a tick is what the block allows, with the drag of that tick.
    for (block, from, speed) in [
        ("bubble_column[drag=false]", [8.5, 5.0, 8.5], 0.7),
        ("bubble_column[drag=true]", [8.5, 50.0, 8.5], -0.3),
        ("honey_block", [9.07, 50.0, 8.5], -0.05),
    ] {
        let body = Scene::new(&column(block), from, [0.0; 3]).after(30).body;
        assert_eq!(body.velocity[1], speed * 0.98, "{block}: {body:?}");
    }
}

#[test]
fn slime_throws_back_what_falls_on_it_and_stone_does_not() {
    let highest = |block: &str| {
        let mut scene = Scene::new(&[(block, [8, 1, 8])], [8.5, 12.0, 8.5], [0.0; 3]);
        let (mut landed, mut top) = (false, 0.0_f64);
        for _ in 0..120 {
            scene.run(1);
            let body = scene.view().body;
            landed |= body.flags.has(Flags::ON_GROUND);
            if landed {
                top = top.max(body.position[1]);
            }
        }
        top
    };
    assert_eq!(highest("stone"), 2.0);
    assert!(highest("slime_block") > 5.0, "{}", highest("slime_block"));
    let bed = highest("red_bed");
    assert!(bed > 1.6 && bed < highest("slime_block"), "{bed}");
}

#[test]
fn webs_let_a_body_sink_a_twentieth_of_its_speed_each_tick() {
    let blocks: Vec<(&str, [i32; 3])> = (1..10).map(|y| ("cobweb", [8, y, 8])).collect();
    let mut scene = Scene::new(&blocks, [8.5, 8.0, 8.5], [0.0; 3]);
    scene.run(2);
    let before = scene.view().body.position[1];
    scene.run(1);
    let step = scene.view().body.position[1] - before;
    // What it has when it is stuck is one tick of gravity, cut to a twentieth (single precision).
    assert!((step + 0.04 * f64::from(0.05_f32)).abs() < 1.0e-9, "{step}");
}

#[test]
fn honey_holds_what_slides_down_its_side() {
    let blocks: Vec<(&str, [i32; 3])> = (1..40).map(|y| ("honey_block", [8, y, 8])).collect();
    // Honey is an eighth of a pixel narrower than its cell: the body touches the cell, not the block.
    let body = Scene::new(&blocks, [9.07, 38.0, 8.5], [0.0; 3]).after(40).body;
    assert!(body.velocity[1] >= -0.09, "{:?}", body.velocity);
    let free = Scene::new(&[], [9.07, 38.0, 8.5], [0.0; 3]).after(40).body;
    assert!(free.velocity[1] < -0.5);
}

#[test]
fn soul_sand_slows_what_slides_over_it() {
    let slide = |block: &str| {
        let blocks: Vec<(&str, [i32; 3])> = (0..16).map(|x| (block, [x, 1, 8])).collect();
        Scene::new(&blocks, [1.5, 2.1, 8.5], [0.3, 0.0, 0.0]).after(40).body.position[0] - 1.5
    };
    assert!(slide("soul_sand") < 0.8 * slide("stone"), "{} {}", slide("soul_sand"), slide("stone"));
}

#[test]
fn still_water_lets_a_body_float_and_a_current_takes_it_along() {
    let pool: Vec<(&str, [i32; 3])> =
        (0..16).flat_map(|x| (0..16).flat_map(move |z| (1..5).map(move |y| ("water", [x, y, z])))).collect();
    let body = Scene::new(&pool, [8.5, 2.0, 8.5], [0.0; 3]).after(200).body;
    assert_eq!([body.position[0], body.position[2]], [8.5, 8.5], "nothing pushes it aside");
    assert!(body.position[1] > 3.0, "it rises: {:?}", body.position);

    let stream: Vec<(&str, [i32; 3])> = (0..8)
        .map(|step| {
            let level = ["water", "water[level=1]", "water[level=2]", "water[level=3]", "water[level=4]"];
            (level.get(step).copied().unwrap_or("water[level=5]"), [step as i32 + 4, 1, 8])
        })
        .collect();
    let body = Scene::new(&stream, [4.5, 1.0, 8.5], [0.0; 3]).after(40).body;
    assert!(body.position[0] > 6.0, "downstream: {:?}", body.position);
    assert_eq!(body.position[2], 8.5);
}

#[test]
fn fluids_slow_and_lift_by_the_games_numbers() {
    for (fluid, drag) in [("water", 0.99_f32), ("lava", 0.95_f32)] {
        let pool: Vec<(&str, [i32; 3])> = (5..12)
            .flat_map(|x| (5..12).flat_map(move |z| (1..5).map(move |y| (fluid, [x, y, z]))))
            .collect();
        let body = Scene::new(&pool, [8.5, 2.0, 8.5], [0.1, 0.0, 0.0]).after(1).body;
        let (along, lift) = (0.1 * f64::from(drag), f64::from(5.0e-4_f32));
        assert_eq!(body.position, [8.5 + along, 2.0 + lift, 8.5], "{fluid}");
        assert_eq!(body.velocity, [along * f64::from(0.98_f32), lift * 0.98, 0.0], "{fluid}");
    }
}

#[test]
fn powder_snow_lets_a_body_sink_half_as_fast_again_as_it_falls() {
    let blocks: Vec<(&str, [i32; 3])> = (1..10).map(|y| ("powder_snow", [8, y, 8])).collect();
    let mut scene = Scene::new(&blocks, [8.5, 8.0, 8.5], [0.0; 3]);
    scene.run(2);
    let before = scene.view().body.position[1];
    scene.run(1);
    let step = scene.view().body.position[1] - before;
    assert!((step + 0.04 * 1.5).abs() < 1.0e-9, "{step}");
}

#[test]
fn bubble_columns_lift_and_pull_down() {
    let column =
        |drag: &'static str| -> Vec<(&str, [i32; 3])> { (1..30).map(|y| (drag, [8, y, 8])).collect() };
    let up = Scene::new(&column("bubble_column[drag=false]"), [8.5, 5.0, 8.5], [0.0; 3]).after(30).body;
    assert!(up.velocity[1] > 0.5 && up.position[1] > 15.0, "{up:?}");
    let down = Scene::new(&column("bubble_column[drag=true]"), [8.5, 25.0, 8.5], [0.0; 3]).after(30).body;
    assert!((-0.4..-0.2).contains(&down.velocity[1]) && down.position[1] < 20.0, "{down:?}");
}

#[test]
fn a_body_inside_a_block_is_pushed_to_the_nearest_open_side_and_never_down() {
    let east = Scene::new(&[("stone", [8, 1, 8])], [8.8, 1.3, 8.5], [0.0; 3]).after(30).body;
    assert!(east.position[0] > 9.0 && east.position[1] >= 1.0, "{east:?}");
    // Walled in on all sides: up.
    let walls: Vec<(&str, [i32; 3])> =
        [[8, 1, 8], [7, 1, 8], [9, 1, 8], [8, 1, 7], [8, 1, 9]].map(|at| ("stone", at)).into();
    let up = Scene::new(&walls, [8.5, 1.3, 8.5], [0.0; 3]).after(2).body;
    assert_eq!([up.position[0], up.position[2]], [8.5, 8.5]);
    assert!(up.position[1] > 1.4, "{up:?}");
}

#[test]
fn a_resting_body_does_not_stir_for_a_thousand_ticks() {
    for sleeping in [false, true] {
        let mut scene = Scene::new(&[], [8.3, 1.0, 8.7], [0.01, 0.0, -0.02]);
        scene.population = {
            let states = crate::common::states();
            let mut population = Population::new(&states, Settings { sleeping, ..Settings::default() });
            let spawn = Spawn { age: None, ..Spawn::at([8.3, 1.0, 8.7], ItemStack::single(ItemKind(0))) };
            scene.body = population.spawn(&[spawn]).expect("room")[0];
            population
        };
        scene.run(60);
        let rest = scene.view().body.position;
        for _ in 0..1_000 {
            scene.run(1);
            assert_eq!(scene.view().body.position.map(f64::to_bits), rest.map(f64::to_bits));
        }
    }
}

#[test]
fn taking_the_floor_away_wakes_what_sleeps_on_it() {
    let mut scene = Scene::new(&[("stone", [8, 5, 8])], [8.5, 6.0, 8.5], [0.0; 3]);
    scene.run(60);
    assert!(scene.view().sleeps);
    assert_eq!(scene.population.awake_count(), 0);
    scene.world.set_block(BlockPos::new(8, 5, 8), voxtick_worlds::StateId::AIR).expect("inside");
    scene.run(60);
    assert_eq!(scene.view().body.position[1], 1.0);
}

#[test]
fn what_changes_beside_a_sleeper_or_leaves_it_at_rest_does_not_wake_it() {
    let mut scene = Scene::new(&[("stone", [8, 5, 8])], [8.5, 6.0, 8.5], [0.0; 3]);
    scene.run(60);
    let mut change = |state: &str, [x, y, z]: [i32; 3]| {
        let state = scene.world.states().parse(state).expect("a known state");
        scene.world.set_block(BlockPos::new(x, y, z), state).expect("inside");
        scene.run(1);
        scene.view().sleeps
    };
    assert!(change("ice", [8, 5, 8]), "ice under it");
    assert!(change("stone", [9, 6, 8]), "a block beside it");
    assert!(change("water", [8, 4, 8]), "water below its floor");
    assert!(change("oak_slab[type=top]", [8, 5, 8]), "half of its floor taken away from below");
    assert!(!change("oak_slab", [8, 5, 8]), "half of its floor taken away from above");
}

#[test]
fn a_body_at_the_edge_of_what_is_loaded_waits_and_goes_on_as_if_nothing_had_been() {
    let run = |wait: u64| {
        let mut scene = Scene::new(&[], [15.7, 8.0, 8.5], [0.3, 0.1, 0.0]);
        let east = scene.world.remove_chunk(ChunkPos::new(1, 0)).expect("loaded");
        let mut ages = Vec::new();
        if wait > 0 {
            scene.run(wait);
            assert!(scene.view().body.flags.has(Flags::UNLOADED));
            assert_eq!(scene.population.awake_count(), 0, "it costs nothing");
            ages.push(scene.view().body.position);
            assert_eq!(ages[0], [15.7, 8.0, 8.5]);
        }
        scene.world.insert_chunk(east);
        scene.run(50);
        let (body, age) = (scene.view().body, scene.view().age);
        (body.position, body.velocity, body.flags.phase(scene.population.ticks()), age)
    };
    let (straight, waited) = (run(0), run(37));
    assert_eq!(straight, waited);
    assert!(straight.0[0] > 16.5);
}

#[test]
fn bodies_vanish_at_their_age_and_below_the_world() {
    let mut scene = Scene::new(&[], [8.5, 1.0, 8.5], [0.0; 3]);
    let old = Spawn { age: Some(5_990), ..Spawn::at([4.5, 1.0, 4.5], ItemStack::single(ItemKind(1))) };
    let off = Spawn { age: Some(0), ..Spawn::at([20.5, 1.0, 20.5], ItemStack::single(ItemKind(2))) };
    let ids = scene.population.spawn(&[old, off]).expect("room");
    scene.run(9);
    assert_eq!(scene.population.view(ids[0]).and_then(|view| view.age), Some(5_999));
    scene.run(1);
    assert_eq!(scene.population.view(ids[0]), None);
    assert_eq!(scene.population.events().despawned, [ids[0]]);
    scene.run(150);
    assert_eq!(scene.population.view(ids[1]), None, "nothing carries it: it falls out of the world");
    let mut ledger = voxtick_worlds::Ledger::default();
    scene.population.settle_ledger(&mut ledger);
    assert_eq!((ledger.created, ledger.despawned, ledger.expected_present()), (3, 2, Some(1)));
}

#[test]
fn what_is_taken_out_with_its_chunk_and_put_back_goes_on_as_if_no_time_had_passed() {
    let run = |away: u64| {
        let mut scene = Scene::new(&[("oak_slab", [8, 1, 8])], [6.5, 2.0, 8.5], [0.15, 0.1, 0.02]);
        scene.run(12);
        if away > 0 {
            let rows = scene.population.take_chunk(ChunkPos::new(0, 0));
            assert_eq!((rows.len(), scene.population.count()), (1, 0));
            let taken = scene.population.ticks();
            scene.run(away);
            scene.body = scene.population.put_back(&rows, taken).expect("room")[0];
        }
        scene.run(30);
        let BodyView { body, stack, pickup_delay, age, .. } = scene.view();
        (body.position, body.velocity, body.flags.phase(scene.population.ticks()), stack, pickup_delay, age)
    };
    assert_eq!(run(0), run(41));
}

#[test]
fn a_body_takes_80_bytes_at_most() {
    const { assert!(Population::BODY_BYTES <= 80) };
    assert_eq!(Population::BODY_BYTES, 76, "the documents say so");
}
