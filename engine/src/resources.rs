//! The resources that every simulation holds: the tick's number, the seed and the thread pool.

use std::sync::Arc;

use bevy_ecs::resource::Resource;

/// Number of the tick being run, counted from 0. Between two ticks it holds the number of the last
/// one.
///
/// No number is ever left out, whatever the [`Rate`](crate::Rate): it is the simulation's own time.
#[derive(Resource, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tick(pub u64);

/// The seed of the simulation. Everything random must be derived from it and from simulation state
/// alone.
#[derive(Resource, Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seed(pub u64);

/// The one thread pool of a simulation. Cloning it shares the pool.
///
/// A stage runs on the tick's thread; a system that has enough work for several threads enters the
/// pool:
///
/// ```
/// use bevy_ecs::prelude::*;
/// use rayon::prelude::*;
/// use voxtick_engine::Pool;
///
/// #[derive(Resource)]
/// struct Columns(Vec<Vec<f64>>);
///
/// fn fall(pool: Res<Pool>, mut columns: ResMut<Columns>) {
///     pool.install(|| {
///         columns.0.par_iter_mut().for_each(|column| column.iter_mut().for_each(|y| *y -= 0.04));
///     });
/// }
/// # let mut world = World::new();
/// # world.insert_resource(Pool::with_threads(2).unwrap());
/// # world.insert_resource(Columns(vec![vec![1.0; 4]; 3]));
/// # let mut schedule = Schedule::default();
/// # schedule.add_systems(fall);
/// # schedule.run(&mut world);
/// # assert_eq!(world.resource::<Columns>().0[2][3], 0.96);
/// ```
#[derive(Resource, Debug, Clone)]
pub struct Pool(Arc<rayon::ThreadPool>);

impl Pool {
    /// Builds a pool of its own, for a system's tests or for a program without a simulation.
    ///
    /// A [`Simulation`](crate::Simulation) builds its pool itself, see
    /// [`SimulationBuilder::threads`](crate::SimulationBuilder::threads).
    ///
    /// # Errors
    /// The system refused to start the threads.
    pub fn with_threads(threads: usize) -> Result<Pool, rayon::ThreadPoolBuildError> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("voxtick-worker-{index}"))
            .build()
            .map(|pool| Pool(Arc::new(pool)))
    }

    /// Runs `work` inside the pool and waits for it: rayon's parallel iterators in it use these
    /// threads alone.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.install(work)
    }

    /// How many threads the pool has.
    pub fn threads(&self) -> usize {
        self.0.current_num_threads()
    }
}
