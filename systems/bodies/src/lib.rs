//! Dropped items by the million: exact motion, collision, sleep, and a bodies stage.
//!
//! Motion is that of the game (Minecraft Java 1.16 onward, item entities), bit for bit: gravity, collision with blocks
//! of every shape, friction, fluids and their currents, bubble columns, slime, honey, webs, push-out from blocks.
//! [`Population`] holds all bodies of a world in columns, in pools by chunk. Three paths lead to one result:
//!
//! - [`step`] takes one body by the game's own order of operations, over any [`Terrain`]: the exact path.
//! - The kernel takes batches of bodies among air, water and full cubes through code without branches, which the
//!   compiler turns into AVX2, AVX-512 or NEON code chosen at run time; whatever touches anything else takes the exact
//!   path.
//! - A body at rest that only repeats itself sleeps and costs nothing until something near it changes.
//!
//! Bodies are stored with their chunk and go on to the bit ([`BodiesPlugin`]); dropped items of a save become bodies and
//! items again ([`Population::spawn_dropped`], [`Population::dropped_in`]).
//!
//! [`mod@reference`] is the oracle of the tests: every body by the exact path, one after the other.
//!
//! # Your own terrain, without the engine
//!
//! ```
//! use voxtick_bodies::{
//!     Body, Flags, Material, MaterialId, Materials, Moment, Rules, Scratch, Surroundings, Terrain, step,
//! };
//!
//! /// A frozen lake: ice below y = 64.
//! struct Lake {
//!     ice: MaterialId,
//! }
//!
//! impl Terrain for Lake {
//!     fn material(&self, _x: i32, y: i32, _z: i32) -> MaterialId {
//!         if y < 64 { self.ice } else { MaterialId::AIR }
//!     }
//! }
//!
//! let mut materials = Materials::new();
//! let lake = Lake { ice: materials.add(Material::cube(0.98)) };
//! let ground = Surroundings { terrain: &lake, materials: &materials };
//!
//! let mut puck = Body::new([0.5, 65.0, 0.5], [0.3, 0.0, 0.0]);
//! let (rules, mut scratch) = (Rules::default(), Scratch::default());
//! for tick in 0..100 {
//!     step(&mut puck, 0, ground, &rules, Moment { tick, seed: 1 }, &mut scratch);
//! }
//! assert!(puck.flags.has(Flags::ON_GROUND));
//! assert_eq!(puck.position[1], 64.0);
//! assert!(puck.position[0] > 6.0, "ice hardly slows it");
//! ```

mod body;
mod changed_cells;
mod columns;
mod despawn;
mod disturb;
mod dropped;
mod events;
mod exact;
mod flat_ground;
mod inlets;
mod kernel;
mod material;
mod merge;
mod pairs;
mod parallel;
mod plugin;
mod pool;
mod population;
mod query;
pub mod reference;
pub mod rules;
mod settle;
mod sleep;
mod sleeper_columns;
mod state_hash;
mod stored;
mod terrain;
mod tick;
mod world_terrain;

pub use body::{Body, Bounds, Flags};
pub use columns::{Columns, NEVER_PICK_UP, Row};
pub use events::Events;
pub use exact::{Scratch, Stepped, is_sane, step};
pub use inlets::{Destination, Entered};
pub use kernel::{Tally, dispatch::Path};
pub use material::{Effect, Footing, Material, MaterialId, Materials};
pub use pairs::{TouchSearch, TouchSettings};
pub use plugin::{Bodies, BodiesPlugin};
pub use population::{BodyId, BodyView, Population, Settings, Spawn, SpawnError};
pub use rules::{Moment, Rules};
pub use terrain::{GridTerrain, Surroundings, Terrain};
pub use world_terrain::WorldTerrain;
