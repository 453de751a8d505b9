//! The transit stage: the only file of this crate that knows systems and resources.

use std::collections::BTreeMap;

use bevy_ecs::message::MessageWriter;
use bevy_ecs::prelude::{Local, Res, ResMut, Resource, World as EcsWorld};
use rustc_hash::FxHashSet;
use voxtick_engine::{BuildError, Meter, Plugin, Pool, Setup};
use voxtick_worlds::{
    AttachmentHooks, BlockPos, BlockStates, ChangeCursor, Chunk, ChunkAttachments, ChunkEvent, ChunkPos,
    Direction, Inventories, ItemStack, Ledger, PipeEntry, PipeIntake, SpilledItem, World, stages,
};

use crate::blocks::PipeBlocks;
use crate::events::{EventKind, Totals};
use crate::layouts::{Layout, LayoutError};
use crate::network::{HIGHEST, LOWEST, LaneName, Segment};
use crate::settings::LaneSettings;
use crate::snapshot::Snapshot;
use crate::solver::TransitSolver;

/// Runs a network in the stage "transit".
///
/// Costs a tick: O(items that arrive, enter or leave + heads that are woken), whatever the number of items; per item
/// only on lanes with own speeds.
///
/// Add it after `WorldsPlugin`. The network is reached as the resource [`Transit`], its containers as [`Inventories`].
/// A chunk that leaves the world freezes the segments that cross it until it returns; chunks that were never in the
/// world do not. What falls out of pipes is sent on as [`SpilledItem`], and so is what a sink with an
/// [outlet](TransitPlugin::with_outlet) takes. Other systems put stacks onto lanes by the resource [`PipeIntake`].
///
/// Where the world is stored, the items that are in the blocks of a chunk go and come with it, as the attachment
/// `voxtick:transit` ([`TransitSolver::take_out`], [`TransitSolver::put_back`]; the bytes are those of
/// [`Snapshot::to_bytes`]). In the ledger an item that goes is as if it had not been created.
///
/// The state hash covers every item on every lane in canonical order, whatever order the network was built in.
#[derive(Debug)]
pub struct TransitPlugin {
    transit: TransitSolver,
    inventories: Inventories,
    pipes: Option<PipeBlocks>,
    outlets: Outlets,
}

/// Where the sinks at some junctions let fall what they take.
#[derive(Resource, Debug, Default)]
struct Outlets(BTreeMap<BlockPos, [f64; 3]>);

/// The pipes that are blocks of the world.
#[derive(Resource, Debug)]
struct WorldPipes(PipeBlocks);

/// The network of a simulation.
#[derive(Resource, Debug)]
pub struct Transit(pub TransitSolver);

/// What of the totals is in the ledger.
#[derive(Resource, Debug, Default)]
struct Entered(Totals);

/// The name under which chunks keep what is in their pipes.
const ATTACHMENT: &str = "voxtick:transit";

impl TransitPlugin {
    /// A stage that runs `transit`.
    #[must_use]
    pub fn new(transit: TransitSolver) -> TransitPlugin {
        TransitPlugin {
            transit,
            inventories: Inventories::default(),
            pipes: None,
            outlets: Outlets::default(),
        }
    }

    /// A stage that runs the network of a layout.
    ///
    /// ```
    /// use voxtick_engine::Simulation;
    /// use voxtick_transit::{LaneSettings, Layout, Lines, TransitPlugin};
    /// use voxtick_worlds::{BlockStates, Dimension, World, WorldsPlugin};
    ///
    /// let settings = LaneSettings::default();
    /// let mut layout = Layout::default();
    /// layout.lines(&Lines { junction_every: Some(20), ..Lines::flowing(100, 5_000, settings, 3) });
    /// let world = World::new(Dimension::overworld(), BlockStates::load());
    /// let mut simulation = Simulation::builder()
    ///     .plugin(WorldsPlugin::new(world))
    ///     .plugin(TransitPlugin::from_layout(&layout, settings)?)
    ///     .build()?;
    /// simulation.run(20)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The layout cannot be built.
    pub fn from_layout(layout: &Layout, settings: LaneSettings) -> Result<TransitPlugin, LayoutError> {
        Ok(TransitPlugin::new(TransitSolver::from_layout(layout, settings)?))
    }

    /// Brings the containers that sources and sinks name.
    #[must_use]
    pub fn with_inventories(mut self, inventories: Inventories) -> TransitPlugin {
        self.inventories = inventories;
        self
    }

    /// Lets what the sink at `junction` takes fall at `point`, in the same tick: it is delivered, and a [`SpilledItem`] is
    /// sent. Costs O(items delivered) a tick as soon as there is an outlet.
    #[must_use]
    pub fn with_outlet(mut self, junction: BlockPos, point: [f64; 3]) -> TransitPlugin {
        self.outlets.0.insert(junction, point);
        self
    }

    /// Takes blocks of the world for pipes: those of chunks that are loaded, and what is set and taken from then on.
    /// Pipes of a chunk that leaves stay, and stand still until it returns. Pipes outside the heights that
    /// [`crate::LOWEST`] and [`crate::HIGHEST`] allow are left out.
    #[must_use]
    pub fn with_pipes(mut self, pipes: PipeBlocks) -> TransitPlugin {
        self.pipes = Some(pipes);
        self
    }
}

impl Plugin for TransitPlugin {
    fn name(&self) -> &'static str {
        "transit"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        let hooks = AttachmentHooks { name: ATTACHMENT, store, take_out, put_back };
        if let Some(mut attachments) = setup.world().get_resource_mut::<ChunkAttachments>() {
            attachments.register(hooks)?;
        }
        setup
            .resource(Transit(self.transit))
            .resource(Entered::default())
            .resource(self.inventories)
            .resource(self.outlets)
            .resource(PipeIntake(take_in))
            .message::<SpilledItem>()
            .system(stages::TRANSIT, freeze_unloaded);
        if let Some(pipes) = self.pipes {
            setup.resource(WorldPipes(pipes)).system(stages::TRANSIT, follow_blocks);
        }
        setup.system(stages::TRANSIT, move_items).hash(|world, hasher| {
            world.resource::<Transit>().0.state_words(|word| hasher.write_u64(word));
        });
        Ok(())
    }
}

fn store(ecs: &EcsWorld, chunk: ChunkPos) -> Option<Vec<u8>> {
    bytes_of(&ecs.get_resource::<Transit>()?.0.chunk_snapshot(chunk))
}

fn take_out(ecs: &mut EcsWorld, chunk: ChunkPos) -> Option<Vec<u8>> {
    let taken = ecs.get_resource_mut::<Transit>()?.0.take_out(chunk);
    enter_in_ledger(ecs);
    bytes_of(&taken)
}

fn put_back(ecs: &mut EcsWorld, chunk: ChunkPos, bytes: &[u8]) -> Result<(), String> {
    let snapshot = Snapshot::from_bytes(bytes).map_err(|error| error.to_string())?;
    if snapshot.chunk != Some(chunk) {
        return Err(format!("transit snapshot of another place than chunk {chunk}"));
    }
    let world = ecs.resource::<World>();
    let absent: Vec<ChunkPos> =
        snapshot.chunks().into_iter().filter(|&chunk| world.chunk(chunk).is_none()).collect();
    let Some(mut transit) = ecs.get_resource_mut::<Transit>() else { return Ok(()) };
    let unknown = |at: &BlockPos| transit.0.graph().connections(*at).is_none();
    let laid: Vec<BlockPos> = pipes_of(&snapshot).filter(unknown).collect();
    transit.0.put_back(&snapshot, &absent).map_err(|error| error.to_string())?;
    if let Some(mut pipes) = ecs.get_resource_mut::<WorldPipes>() {
        pipes.0.remember_seen(laid);
    }
    enter_in_ledger(ecs);
    Ok(())
}

fn bytes_of(snapshot: &Snapshot) -> Option<Vec<u8>> {
    (!snapshot.is_empty()).then(|| snapshot.to_bytes())
}

/// All pipes that a chunk's snapshot may lay, so that those that are no blocks (any more) are found.
fn pipes_of(snapshot: &Snapshot) -> impl Iterator<Item = BlockPos> {
    let inner = snapshot.segments.iter().flat_map(|&(lane, length)| {
        let (x, y, z) = lane.direction.step();
        let from = lane.from;
        (1..length as i32).map(move |at| BlockPos::new(from.x + x * at, from.y + y * at, from.z + z * at))
    });
    snapshot.pipes.iter().map(|&(position, _)| position).chain(inner)
}

/// Enters in the ledger what came and went since the last time.
fn enter_in_ledger(ecs: &mut EcsWorld) {
    let Some(totals) = ecs.get_resource::<Transit>().map(|transit| transit.0.totals()) else { return };
    let Some(mut entered) = ecs.get_resource_mut::<Entered>() else { return };
    let before = std::mem::replace(&mut entered.0, totals);
    if let Some(mut ledger) = ecs.get_resource_mut::<Ledger>() {
        enter(&mut ledger, before, totals);
    }
}

fn enter(ledger: &mut Ledger, before: Totals, now: Totals) {
    // What is stored with its chunk is as if it had not been created.
    ledger.created =
        (ledger.created + now.created - before.created).saturating_sub(now.stored - before.stored);
    ledger.delivered += now.delivered - before.delivered;
    ledger.spilled += now.spilled - before.spilled;
}

/// Freezes and thaws what lies in chunks that went or came.
fn freeze_unloaded(world: Res<World>, mut transit: ResMut<Transit>, mut cursor: Local<ChangeCursor>) {
    for event in world.changes(&mut cursor).chunks {
        match *event {
            ChunkEvent::Loaded(chunk) => transit.0.set_loaded(chunk, true),
            ChunkEvent::Unloaded(chunk) => transit.0.set_loaded(chunk, false),
        }
    }
}

/// Keeps the network in line with the blocks of the world.
fn follow_blocks(
    world: Res<World>,
    mut transit: ResMut<Transit>,
    mut pipes: ResMut<WorldPipes>,
    mut cursor: Local<ChangeCursor>,
) {
    let (transit, pipes) = (&mut transit.0, &mut pipes.0);
    let changes = world.changes(&mut cursor);
    let states = world.states();
    if changes.missed > 0 {
        for chunk in world.chunks() {
            read_chunk(chunk, states, transit, pipes);
        }
    }
    for event in changes.chunks {
        if let ChunkEvent::Loaded(position) = *event
            && let Some(chunk) = world.chunk(position)
        {
            read_chunk(chunk, states, transit, pipes);
        }
    }
    for change in changes.blocks {
        // Of a block that changed several times, or in a chunk just read, the state it has now is what counts.
        let Some(now) = world.block(change.position) else { continue };
        let shape = pipes.shape(now, states);
        pipes.remember(change.position, shape);
        match shape {
            Some(shape) if transit.add_pipe(change.position, shape.connections).is_ok() => {}
            _ if transit.remove_pipe(change.position) => {}
            _ => continue,
        }
        follow_speeds(transit, pipes);
        follow_changed_speeds(transit, pipes);
    }
}

/// Adds the pipes of a chunk and takes away those that were seen in it before and are no more.
fn read_chunk(chunk: &Chunk, states: &BlockStates, transit: &mut TransitSolver, pipes: &mut PipeBlocks) {
    let before = pipes.take_seen(chunk.position());
    let mut found = pipes.read_chunk(chunk, states);
    found.retain(|(position, _)| (LOWEST..=HIGHEST).contains(&position.y));
    let here: FxHashSet<BlockPos> = found.iter().map(|&(position, _)| position).collect();
    for position in before {
        if !here.contains(&position) {
            pipes.remember(position, None);
            transit.remove_pipe(position);
            follow_speeds(transit, pipes);
        }
    }
    // A pipe that is there already with the same connections keeps what is on it.
    found.retain(|&(position, connections)| transit.graph().connections(position) != Some(connections));
    if !found.is_empty() && transit.add_pipes(&found).is_ok() {
        follow_speeds(transit, pipes);
    }
    follow_changed_speeds(transit, pipes);
}

/// Gives the lanes that the last edit made the speed of their blocks.
fn follow_speeds(transit: &mut TransitSolver, pipes: &PipeBlocks) {
    let added: Vec<Segment> = transit.graph().last_added().collect();
    for segment in added {
        follow_speed(transit, pipes, &segment);
    }
}

/// Gives the lanes along pipes that stayed, with other settings, the speed of their blocks.
fn follow_changed_speeds(transit: &mut TransitSolver, pipes: &mut PipeBlocks) {
    for position in pipes.take_changed() {
        let graph = transit.graph();
        let branches = Direction::ALL.into_iter().filter_map(|direction| graph.branch(position, direction));
        let touched: Vec<Segment> = branches.chain(graph.segment_at(position)).collect();
        for segment in touched {
            follow_speed(transit, pipes, &segment);
        }
    }
}

fn follow_speed(transit: &mut TransitSolver, pipes: &PipeBlocks, segment: &Segment) {
    let Some(settings) = pipes.settings_of(segment) else { return };
    for lane in [segment.forward(), segment.backward()] {
        if transit.lane_settings(lane) != Some(settings) {
            // The lane exists; where 65,536 other settings do too, it keeps the default.
            let _ = transit.set_lane(lane, settings);
        }
    }
}

/// Moves all items by one tick and enters in the ledger what came and went.
fn move_items(
    mut transit: ResMut<Transit>,
    mut inventories: ResMut<Inventories>,
    mut ledger: ResMut<Ledger>,
    mut entered: ResMut<Entered>,
    outlets: Res<Outlets>,
    mut spilled: MessageWriter<SpilledItem>,
    (meter, pool): (Res<Meter>, Res<Pool>),
) {
    let transit = &mut transit.0;
    if pool.threads() > 1 {
        pool.install(|| transit.step_parallel(&mut inventories));
    } else {
        transit.step(&mut inventories);
    }
    for spill in transit.take_spills() {
        spilled.write(SpilledItem { stack: spill.stack, point: spill.point });
    }
    if !outlets.0.is_empty() {
        let delivered = transit.events().iter().filter(|event| event.kind == EventKind::Delivered);
        for event in delivered {
            if let (Some(&point), Some(stack)) = (outlets.0.get(&event.position), transit.stack(event.handle))
            {
                spilled.write(SpilledItem { stack, point });
            }
        }
    }
    let totals = transit.totals();
    let before = std::mem::replace(&mut entered.0, totals);
    enter(&mut ledger, before, totals);
    meter.items(totals.present());
    meter.count("items created", totals.created - before.created);
    meter.count("items delivered", totals.delivered - before.delivered);
    meter.count("items spilled", totals.spilled - before.spilled);
}

/// Puts a stack onto a lane, if there is room for it, and enters it in the ledger.
fn take_in(ecs: &mut EcsWorld, entry: PipeEntry, stack: ItemStack) -> bool {
    let lane = LaneName { from: entry.junction, direction: entry.direction };
    let is_in = ecs.resource_mut::<Transit>().0.insert(lane, entry.position, stack, 0).is_ok();
    if is_in {
        enter_in_ledger(ecs);
    }
    is_in
}
