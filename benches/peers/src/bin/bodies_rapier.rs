//! Dropped items: ours against `rapier3d`, the general tool, on one terrain of blocks.
//!
//! Both: boxes of 0.25 blocks that do not touch each other, dropped with 0.5 to 6 blocks to fall on hills of full
//! cubes, steps of a twentieth of a second, one thread, no sleeping (what is timed is the step of a moving or resting
//! body, not its absence).
//!
//! Rapier: the terrain is one `ColliderBuilder::voxels` of all cubes of the hills' topmost four layers; bodies are
//! cuboids with locked rotations, in a group that touches the terrain only; one solver iteration, continuous collision
//! detection off, friction 0.6, no restitution. Gravity is 16 blocks a second squared (0.04 a tick, twice).
//! It solves far more than this job asks for, and its motion is not the game's: equal are the heights at which bodies
//! come to rest, within 0.05 blocks.
//!
//! `cargo run --release --features rapier --bin bodies_rapier`

use rapier3d::prelude::*;
use std::hint::black_box;
use voxtick_bodies::{Population, Settings, Spawn};
use voxtick_peers::{compare, print_head};
use voxtick_worlds::generators::split_mix;
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, ItemKind, ItemStack, World};

/// Chunks along one edge.
const EDGE: i32 = 8;
const TICKS: u64 = 120;

/// The topmost cube of a column.
fn ground(x: i32, z: i32) -> i32 {
    64 + (split_mix((x / 5) as u64 * 1_000 + (z / 5) as u64) % 4) as i32
}

fn main() {
    // All on one thread, which a step of ours does not leave.
    let pool = voxtick_engine::Pool::with_threads(1).expect("a thread");
    pool.install(measure);
}

fn measure() {
    print_head();
    for count in [1_000, 10_000] {
        let drops: Vec<[f64; 3]> = (0..count).map(drop_of).collect();
        let mut ours = our_world(&drops);
        let mut other = rapier_world(&drops);
        for tick in 0..TICKS {
            ours.step(tick);
            other.world.step();
        }
        let (mut far, mut worst) = (0, 0.0_f64);
        for (height, other) in ours.heights().into_iter().zip(other.heights()) {
            worst = worst.max((height - other).abs());
            far += usize::from((height - other).abs() > 0.05);
        }
        assert_eq!(far, 0, "{far} of {count} bodies rest elsewhere, the worst {worst} blocks apart");

        let mut tick = TICKS;
        compare(
            &format!("bodies/n={count}/resting"),
            || {
                ours.step(tick);
                tick += 1;
            },
            || {
                other.world.step();
                black_box(&other.world);
            },
        );
        let (mut ours, mut other) = (our_world(&drops), rapier_world(&drops));
        let (mut our_tick, mut other_tick) = (0, 0);
        compare(
            &format!("bodies/n={count}/a throw and 40 steps"),
            || {
                ours.throw(our_tick);
                for _ in 0..40 {
                    ours.step(our_tick);
                    our_tick += 1;
                }
            },
            || {
                other.throw(other_tick);
                for _ in 0..40 {
                    other.world.step();
                    other_tick += 1;
                }
            },
        );
    }
    println!("\nmicroseconds of one step of all bodies at rest, and of a throw of all with 40 steps");
}

fn drop_of(number: u64) -> [f64; 3] {
    // Middles of columns, so that no body rests on an edge.
    let hash = split_mix(number);
    let (x, z) = ((hash % (EDGE as u64 * 16)) as i32, (hash / 1024 % (EDGE as u64 * 16)) as i32);
    [f64::from(x) + 0.5, f64::from(ground(x, z)) + 1.5 + (hash >> 40) as f64 % 5.5, f64::from(z) + 0.5]
}

fn throw_of(number: u64, tick: u64) -> f64 {
    0.2 + (split_mix(number * 31 + tick) % 100) as f64 / 500.0
}

struct Ours {
    world: World,
    population: Population,
    ids: Vec<voxtick_bodies::BodyId>,
}

fn our_world(drops: &[[f64; 3]]) -> Ours {
    let states = BlockStates::load();
    let stone = states.parse("stone").expect("a known block");
    let mut world = World::new(Dimension::overworld(), states.clone());
    for x in 0..EDGE {
        for z in 0..EDGE {
            let mut chunk = voxtick_worlds::Chunk::empty(ChunkPos::new(x, z), world.dimension());
            for column in 0..256 {
                let (x, z) = (x * 16 + column % 16, z * 16 + column / 16);
                for y in 60..=ground(x, z) {
                    chunk.set_block(x, y, z, stone, &states);
                }
            }
            world.insert_chunk(chunk);
        }
    }
    let settings = Settings { sleeping: false, merging: false, ..Settings::default() };
    let mut population = Population::new(world.states(), settings);
    let spawns: Vec<Spawn> = drops
        .iter()
        .map(|at| Spawn { age: None, ..Spawn::at(*at, ItemStack::single(ItemKind(1))) })
        .collect();
    let ids = population.spawn(&spawns).expect("sane bodies");
    Ours { world, population, ids }
}

impl Ours {
    fn step(&mut self, tick: u64) {
        black_box(self.population.tick(&self.world, 42, 1));
        self.world.begin_tick(tick + 1);
    }

    fn throw(&mut self, tick: u64) {
        let throws: Vec<_> = self
            .ids
            .iter()
            .enumerate()
            .map(|(number, id)| (*id, [0.0, throw_of(number as u64, tick), 0.0]))
            .collect();
        self.population.throw(&throws);
    }

    fn heights(&self) -> Vec<f64> {
        let view = |id: &voxtick_bodies::BodyId| {
            self.population.view(*id).expect("nothing despawns").body.position[1]
        };
        self.ids.iter().map(view).collect()
    }
}

struct Rapier {
    world: PhysicsWorld,
    handles: Vec<RigidBodyHandle>,
}

fn rapier_world(drops: &[[f64; 3]]) -> Rapier {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, -16.0, 0.0);
    world.integration_parameters.dt = 0.05;
    world.integration_parameters.num_solver_iterations = 1;
    let mut cubes = Vec::new();
    for x in 0..EDGE * 16 {
        for z in 0..EDGE * 16 {
            cubes.extend((60..=ground(x, z)).map(|y| IVector::new(x, y, z)));
        }
    }
    let (terrain, body) = (Group::GROUP_1, Group::GROUP_2);
    let groups = |of, with| InteractionGroups::new(of, with, InteractionTestMode::And);
    world.colliders.insert(
        ColliderBuilder::voxels(Vector::new(1.0, 1.0, 1.0), &cubes)
            .friction(0.6)
            .collision_groups(groups(terrain, body)),
    );
    let handles = drops
        .iter()
        .map(|[x, y, z]| {
            // A position is the middle of the lower face; theirs is the middle of the box.
            let at = Vector::new(*x as f32, *y as f32 + 0.125, *z as f32);
            let handle = world.bodies.insert(
                RigidBodyBuilder::dynamic()
                    .translation(at)
                    .lock_rotations()
                    .ccd_enabled(false)
                    .can_sleep(false),
            );
            let collider = ColliderBuilder::cuboid(0.125, 0.125, 0.125)
                .friction(0.6)
                .collision_groups(groups(body, terrain));
            world.colliders.insert_with_parent(collider, handle, &mut world.bodies);
            handle
        })
        .collect();
    Rapier { world, handles }
}

impl Rapier {
    fn throw(&mut self, tick: u64) {
        for (number, handle) in self.handles.iter().enumerate() {
            let speed = throw_of(number as u64, tick) as f32 * 20.0;
            self.world.bodies[*handle].set_linvel(Vector::new(0.0, speed, 0.0), true);
        }
    }

    fn heights(&self) -> Vec<f64> {
        let height = |handle: &RigidBodyHandle| f64::from(self.world.bodies[*handle].translation().y) - 0.125;
        self.handles.iter().map(height).collect()
    }
}
