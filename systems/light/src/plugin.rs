//! The light stage of a simulation.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use bevy_ecs::prelude::{Res, ResMut, Resource};
use voxtick_engine::{
    Allowance, Budget, BuildError, MarkAgain, Marked, Meter, Plugin, Pool, Setup, StateHasher, Tick,
    UpdateQueue, UpdateQueueSettings,
};
use voxtick_worlds::{ChunkEvent, ChunkLight, ChunkPos, LightLevels, World, stages};

use crate::lighting::{LightOutcome, Lighting};

/// Chunks that are taken in together, as one unit of the budget. Light of neighbours is computed once for all of them,
/// so single ones would cost several times as much.
const CHUNKS_A_UNIT: usize = 16;

/// Keeps the light of the simulation's [`World`] up to date; add it after `WorldsPlugin`.
///
/// Its system `relight` runs in the stage [`stages::LIGHT`]: it reads the changed blocks and the chunks that came or
/// went, and reports items (cells changed) and the counts `changes taken`, `cells changed` and `sections touched`.
/// The state hash covers the light of all chunks. Costs nothing in a tick without changes.
///
/// ```
/// use voxtick_engine::Simulation;
/// use voxtick_light::LightPlugin;
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, World, WorldsPlugin};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// let mut simulation =
///     Simulation::builder().plugin(WorldsPlugin::new(world)).plugin(LightPlugin::new()).build()?;
/// simulation.tick()?;
///
/// let mut world = simulation.world_mut().resource_mut::<World>();
/// let torch = world.states().parse("torch")?;
/// world.set_block(BlockPos::new(8, 70, 8), torch)?;
/// let report = simulation.tick()?;
/// let light = report.stages.iter().find(|stage| stage.name == "light").expect("a standard stage");
/// assert_eq!(light.count("changes taken"), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct LightPlugin {
    budget: Option<Allowance>,
}

/// Around which chunk the light stage takes chunks in first; see [`LightPlugin::budget`]. Defaults to chunk 0, 0; any
/// system may move it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Resource)]
pub struct LightCentre(pub ChunkPos);

impl LightPlugin {
    /// The plugin with default settings.
    #[must_use]
    pub const fn new() -> LightPlugin {
        LightPlugin { budget: None }
    }

    /// Limits how much of a tick goes into chunks that came. They wait, those near the [`LightCentre`] come first, of
    /// equally near ones that with the lower position, and until its turn a chunk is dark to the others: nothing
    /// half-done is ever seen. Changed blocks and chunks that went are always taken in at once. Defaults to no limit.
    ///
    /// A unit is up to 16 chunks. With [`Allowance::Units`] every run takes the same chunks in at the same tick; with
    /// [`Allowance::Time`] that depends on the machine, and so does a state hash until all have been taken in.
    ///
    /// The stage then counts `chunks taken in`, `chunks waiting`, `oldest wait` (in ticks) and `busiest tick` (the most
    /// chunks that one tick has taken in so far) as well.
    ///
    /// ```
    /// use voxtick_engine::{Allowance, Simulation};
    /// use voxtick_light::{LightCentre, LightPlugin};
    /// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, World, WorldsPlugin};
    /// let mut world = World::new(Dimension::overworld(), BlockStates::load());
    /// for x in 0..20 {
    ///     world.insert_chunk(Chunk::empty(ChunkPos::new(x, 0), world.dimension()));
    /// }
    /// let mut simulation = Simulation::builder()
    ///     .plugin(WorldsPlugin::new(world))
    ///     .plugin(LightPlugin::new().budget(Allowance::Units(1)))
    ///     .build()?;
    /// simulation.world_mut().resource_mut::<LightCentre>().0 = ChunkPos::new(19, 0);
    /// simulation.tick()?;
    /// let world = simulation.world().resource::<World>();
    /// let is_lit = |x| world.chunk(ChunkPos::new(x, 0)).is_some_and(|chunk| chunk.light.is_some());
    /// assert!(is_lit(4) && !is_lit(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn budget(mut self, allowance: Allowance) -> LightPlugin {
        self.budget = Some(allowance);
        self
    }
}

/// The light that the stage keeps, with what it has to know of the world.
#[derive(Resource)]
struct KeptLight {
    lighting: Lighting,
    /// Where there is a budget.
    arrivals: Option<Arrivals>,
}

/// The chunks that came and have not been taken in.
struct Arrivals {
    budget: Budget,
    queue: UpdateQueue<()>,
    /// The same chunks by the tick in which they came.
    since: BTreeSet<(u64, ChunkPos)>,
    /// Scratch.
    unit: Vec<ChunkPos>,
    taken: u64,
    busiest: u64,
}

impl Plugin for LightPlugin {
    fn name(&self) -> &'static str {
        "light"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        let kept = KeptLight { lighting: Lighting::new(), arrivals: self.budget.map(Arrivals::new) };
        setup.resource(kept).resource(LightCentre::default()).system(stages::LIGHT, relight).hash(
            |ecs, hasher| {
                for chunk in ecs.resource::<World>().chunks() {
                    if let Some(light) = &chunk.light {
                        hash_light(light, hasher);
                    }
                }
            },
        );
        Ok(())
    }
}

fn relight(
    mut world: ResMut<World>,
    mut kept: ResMut<KeptLight>,
    centre: Res<LightCentre>,
    tick: Res<Tick>,
    pool: Res<Pool>,
    meter: Res<Meter>,
) {
    let KeptLight { lighting, arrivals } = &mut *kept;
    let outcome = pool.install(|| match arrivals {
        None => lighting.update(&mut world),
        Some(arrivals) => arrivals.update(lighting, &mut world, centre.0, tick.0),
    });
    meter.items(outcome.cells_changed);
    meter.count("changes taken", outcome.changes);
    meter.count("cells changed", outcome.cells_changed);
    meter.count("sections touched", outcome.sections_touched);
    if let Some(arrivals) = arrivals {
        let oldest = arrivals.since.first().map_or(0, |&(since, _)| tick.0 - since);
        meter.count("chunks taken in", arrivals.taken);
        meter.count("chunks waiting", arrivals.queue.len() as u64);
        meter.count("oldest wait", oldest);
        meter.count("busiest tick", arrivals.busiest);
    }
}

impl Arrivals {
    fn new(allowance: Allowance) -> Arrivals {
        // Chunks are bounded by the world that holds them, and one that came must not be forgotten.
        let settings = UpdateQueueSettings {
            capacity: usize::MAX,
            delay: 0,
            mark_again: MarkAgain::KeepFirst,
            ..UpdateQueueSettings::default()
        };
        Arrivals {
            budget: Budget::new(allowance),
            queue: UpdateQueue::new(settings),
            since: BTreeSet::new(),
            unit: Vec::new(),
            taken: 0,
            busiest: 0,
        }
    }

    /// Takes in what changed, then as many of the waiting chunks as the budget of this tick allows.
    fn update(
        &mut self,
        lighting: &mut Lighting,
        world: &mut World,
        centre: ChunkPos,
        tick: u64,
    ) -> LightOutcome {
        for event in lighting.notice(world) {
            match *event {
                ChunkEvent::Loaded(chunk) => {
                    if let Marked::New = self.queue.mark(place(chunk), (), tick) {
                        self.since.insert((tick, chunk));
                    }
                }
                ChunkEvent::Unloaded(chunk) => {
                    if let Some(update) = self.queue.take(place(chunk)) {
                        self.since.remove(&(update.deadline, chunk));
                    }
                }
            }
        }
        self.queue.set_centre(place(centre));
        let mut outcome = lighting.take_in(world, &[]);
        let Arrivals { budget, queue, since, unit, taken, .. } = self;
        *taken = 0;
        budget.spend(|| {
            unit.clear();
            unit.extend(std::iter::from_fn(|| queue.take_ready(tick)).take(CHUNKS_A_UNIT).map(|update| {
                let [x, _, z] = update.position;
                since.remove(&(update.deadline, ChunkPos::new(x, z)));
                ChunkPos::new(x, z)
            }));
            if unit.is_empty() {
                return ControlFlow::Break(());
            }
            *taken += unit.len() as u64;
            let LightOutcome { cells_changed, sections_touched, .. } = lighting.take_in(world, unit);
            outcome.cells_changed += cells_changed;
            outcome.sections_touched += sections_touched;
            ControlFlow::Continue(())
        });
        self.busiest = self.busiest.max(self.taken);
        outcome
    }
}

/// Where a chunk stands in the queue.
const fn place(chunk: ChunkPos) -> [i32; 3] {
    [chunk.x, 0, chunk.z]
}

fn hash_light(light: &ChunkLight, hasher: &mut StateHasher) {
    hasher.write_u64(u64::from(light.incomplete));
    for levels in light.block.iter().chain(&light.sky) {
        match levels {
            LightLevels::Absent => hasher.write_u64(0),
            LightLevels::Uniform(level) => hasher.write_u64(1 + u64::from(*level)),
            // Levels that became alike one by one are the same state as levels that always were.
            LightLevels::Nibbles(nibbles)
                if nibbles.iter().all(|&pair| pair == nibbles[0] & 15 | nibbles[0] << 4) =>
            {
                hasher.write_u64(1 + u64::from(nibbles[0] & 15));
            }
            LightLevels::Nibbles(nibbles) => {
                hasher.write_u64(17);
                hasher.write_bytes(nibbles.as_slice());
            }
        }
    }
}
