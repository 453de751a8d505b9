//! The bodies stage of a simulation.

use std::ops::{Deref, DerefMut};

use bevy_ecs::prelude::{MessageReader, Mut, Res, ResMut, Resource, World as EcsWorld};
use voxtick_engine::{BuildError, Meter, Plugin, Pool, Seed, Setup, nearest_three};
use voxtick_worlds::{
    AttachmentHooks, BlockPos, ChunkAttachments, ChunkPos, DroppedItemHooks, Inventories, Ledger, PipeIntake,
    SpilledItem, World, stages,
};

use crate::inlets::Destination;
use crate::population::{Population, Settings, Spawn};
use crate::stored::StoredBodies;

/// All bodies of a simulation: a [`Population`] as a resource.
#[derive(Resource, Debug)]
pub struct Bodies(pub Population);

impl Deref for Bodies {
    type Target = Population;

    fn deref(&self) -> &Population {
        &self.0
    }
}

impl DerefMut for Bodies {
    fn deref_mut(&mut self) -> &mut Population {
        &mut self.0
    }
}

impl Bodies {
    /// The up to three [inlets](Population::add_inlet) nearest to a block, nearest first; of equally near ones that with the
    /// lower position. Costs O(inlets), some tenths of a nanosecond each.
    ///
    /// ```
    /// use voxtick_bodies::{Bodies, Destination, Population, Settings};
    /// use voxtick_worlds::{BlockPos, BlockStates, ContainerId};
    ///
    /// let mut bodies = Bodies(Population::new(&BlockStates::load(), Settings::default()));
    /// for x in [30, -2, 2, 9] {
    ///     bodies.add_inlet(BlockPos::new(x, 64, 0), Destination::Container(ContainerId(0)));
    /// }
    /// bodies.remove_inlet(BlockPos::new(9, 64, 0));
    /// let nearest = bodies.nearest_inlets(BlockPos::new(0, 64, 0));
    /// assert_eq!(nearest, [-2, 2, 30].map(|x| BlockPos::new(x, 64, 0)));
    /// ```
    #[must_use]
    pub fn nearest_inlets(&self, to: BlockPos) -> Vec<BlockPos> {
        let [x, y, z] = self.0.inlets.columns();
        let nearest = nearest_three(x, y, z, [to.x, to.y, to.z]);
        let rows = nearest.as_slice().iter().map(|inlet| inlet.index);
        rows.map(|row| BlockPos::new(x[row], y[row], z[row])).collect()
    }
}

/// Adds the resource [`Bodies`] and the system that steps them to the stage "bodies".
///
/// Each tick, what fell out of pipes ([`SpilledItem`]) becomes a body before the bodies move, and what then reaches into an
/// [inlet](Population::add_inlet) goes into its container, where there are [`Inventories`], or onto its lane, where there
/// are pipes ([`PipeIntake`]); it moves there from the next tick on.
///
/// The bodies of a chunk are stored with it, as [`ChunkAttachments`] named `voxtick:bodies`, and go on exactly where they
/// were when it returns. Where storage reads the entities of a save, its dropped items are bodies by the
/// [`DroppedItemHooks`] that this plugin brings, and bodies whose kinds have a name in
/// [`ItemKinds`](voxtick_worlds::ItemKinds) are items of the save; all others are kept with their chunks alone.
///
/// Add it after [`WorldsPlugin`](voxtick_worlds::WorldsPlugin), which brings the stage, the world and the ledger. Cost
/// class: O(awake bodies) and O(changed blocks near sleepers).
///
/// ```
/// use voxtick_bodies::{Bodies, BodiesPlugin, Spawn};
/// use voxtick_engine::Simulation;
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, World, WorldsPlugin};
///
/// let states = BlockStates::load();
/// let stone = states.parse("stone")?;
/// let mut world = World::new(Dimension::overworld(), states);
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// world.set_block(BlockPos::new(8, 69, 8), stone)?;
///
/// let mut simulation =
///     Simulation::builder().plugin(WorldsPlugin::new(world)).plugin(BodiesPlugin::default()).build()?;
/// let apple = Spawn::at([8.5, 72.0, 8.5], ItemStack::new(ItemKind(7), 1, 64));
/// let ids = simulation.world_mut().resource_mut::<Bodies>().spawn(&[apple])?;
/// simulation.run(40)?;
/// let bodies = simulation.world().resource::<Bodies>();
/// assert_eq!(bodies.view(ids[0]).expect("it is there").body.position, [8.5, 70.0, 8.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// What storage does with the dropped items of a chunk that has entered, and of one that is saved:
///
/// ```
/// use voxtick_bodies::{Bodies, BodiesPlugin};
/// use voxtick_engine::Simulation;
/// use voxtick_worlds::{
///     BlockStates, ChunkPos, Dimension, DroppedItem, DroppedItemHooks, ItemKinds, ItemStack, World, WorldsPlugin,
/// };
///
/// let world = World::new(Dimension::overworld(), BlockStates::load());
/// let mut simulation =
///     Simulation::builder().plugin(WorldsPlugin::new(world)).plugin(BodiesPlugin::default()).build()?;
/// let egg = ItemKinds::default().intern("minecraft:egg", &[]).expect("room");
/// let item = DroppedItem {
///     position: [8.5, 70.0, 8.5],
///     velocity: [0.0; 3],
///     on_ground: true,
///     stack: ItemStack::new(egg, 3, 16),
///     age: Some(100),
///     pickup_delay: Some(0),
///     record: None,
/// };
/// let (ecs, chunk) = (simulation.world_mut(), ChunkPos::new(0, 0));
/// let hooks = *ecs.resource::<DroppedItemHooks>();
/// (hooks.put_in)(ecs, chunk, vec![item.clone()])?;
/// assert_eq!(ecs.resource::<Bodies>().count(), 1);
/// assert_eq!((hooks.items)(ecs, chunk), [item]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct BodiesPlugin {
    /// How the bodies are worked on.
    pub settings: Settings,
}

impl Plugin for BodiesPlugin {
    fn name(&self) -> &'static str {
        "bodies"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        let Some(world) = setup.world().get_resource::<World>() else {
            return Err(BuildError::plugin(
                "bodies",
                "there is no world yet; add WorldsPlugin before BodiesPlugin",
            ));
        };
        let population = Population::new(world.states(), self.settings);
        if let Some(mut attachments) = setup.world().get_resource_mut::<ChunkAttachments>() {
            attachments.register(KEPT_WITH_CHUNKS)?;
        }
        setup
            .message::<SpilledItem>()
            .resource(Bodies(population))
            .resource(DROPPED_ITEMS)
            .system(stages::BODIES, step_bodies)
            .system(stages::BODIES, enter_inlets)
            .hash(|world, hasher| hasher.write_u64(world.resource::<Bodies>().state_hash()));
        Ok(())
    }
}

fn step_bodies(
    world: Res<World>,
    mut bodies: ResMut<Bodies>,
    mut ledger: ResMut<Ledger>,
    mut spilled: MessageReader<SpilledItem>,
    (pool, seed): (Res<Pool>, Res<Seed>),
    meter: Res<Meter>,
) {
    let threads = pool.threads();
    let (world, seed) = (&*world, seed.0);
    let population = &mut bodies.0;
    for spill in spilled.read() {
        // With the game's delay and no speed of its own, as what a dropper lets go.
        if population.spawn(&[Spawn::at(spill.point, spill.stack)]).is_err() {
            meter.count("no room", 1);
        }
    }
    let tally = pool.install(|| population.tick(world, seed, threads));
    population.settle_ledger(&mut ledger);
    meter.items(tally.awake);
    meter.count("bodies", population.count() as u64);
    meter.count("awake", tally.awake);
    meter.count("in water", tally.drifting);
    meter.count("exact path", tally.exact);
    meter.count("held", tally.held);
    meter.count("landed", population.events().landed.len() as u64);
    meter.count("merged", population.events().merged.len() as u64);
    meter.count("despawned", population.events().despawned.len() as u64);
}

/// Lets inlets take in what has come to lie in them.
fn enter_inlets(ecs: &mut EcsWorld) {
    if !ecs.resource::<Bodies>().has_inlets() {
        return;
    }
    ecs.resource_scope(|ecs, mut bodies: Mut<'_, Bodies>| {
        bodies.take_in(|destination, stack| match destination {
            Destination::Container(container) => ecs
                .get_resource_mut::<Inventories>()
                .is_some_and(|mut inventories| inventories.insert(container, stack)),
            Destination::Pipe(entry) => ecs
                .get_resource::<PipeIntake>()
                .copied()
                .is_some_and(|PipeIntake(take_in)| take_in(ecs, entry, stack)),
        });
        bodies.settle_ledger(&mut ecs.resource_mut::<Ledger>());
        ecs.resource::<Meter>().count("taken in", bodies.events().entered.len() as u64);
    });
}

/// Dropped items of a save are bodies.
const DROPPED_ITEMS: DroppedItemHooks = DroppedItemHooks {
    kept_as: KEPT_WITH_CHUNKS.name,
    items: |ecs, chunk| ecs.resource::<Bodies>().dropped_in(chunk),
    only: |bytes, chunk, kinds| match StoredBodies::decode(bytes, chunk) {
        Ok(stored) => {
            let rest = stored.only(kinds);
            (!rest.rows.is_empty()).then(|| rest.encode())
        }
        // Refused with its cause when it is put back.
        Err(_) => Some(bytes.to_vec()),
    },
    put_in: |ecs, _, items| {
        let spawned = ecs.resource_mut::<Bodies>().spawn_dropped(&items);
        settle(ecs);
        spawned.map(drop).map_err(|error| error.to_string())
    },
};

const KEPT_WITH_CHUNKS: AttachmentHooks = AttachmentHooks {
    name: "voxtick:bodies",
    store: |ecs, chunk| {
        let stored = ecs.resource::<Bodies>().stored(chunk);
        (!stored.rows.is_empty()).then(|| stored.encode())
    },
    take_out: |ecs, chunk| {
        let mut bodies = ecs.resource_mut::<Bodies>();
        let stored = bodies.stored(chunk);
        bodies.take_chunk(chunk);
        settle(ecs);
        (!stored.rows.is_empty()).then(|| stored.encode())
    },
    put_back,
};

fn put_back(ecs: &mut EcsWorld, chunk: ChunkPos, bytes: &[u8]) -> Result<(), String> {
    let stored = StoredBodies::decode(bytes, chunk).map_err(|error| error.to_string())?;
    let mut bodies = ecs.resource_mut::<Bodies>();
    let made = bodies.put_back(&stored.rows, stored.ticks).map_err(|error| error.to_string())?;
    for (row, record) in stored.records {
        bodies.set_record(made[row as usize], Some(record));
    }
    settle(ecs);
    Ok(())
}

/// Enters in the ledger what came and went outside of the stage.
fn settle(ecs: &mut EcsWorld) {
    ecs.resource_scope(|ecs, mut bodies: Mut<'_, Bodies>| {
        bodies.settle_ledger(&mut ecs.resource_mut::<Ledger>());
    });
}
