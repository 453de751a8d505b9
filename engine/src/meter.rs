//! The meter: how a system tells what it worked on.
//!
//! One resource for all systems. The cells belong to the stage that runs; the engine empties them
//! between stages. They are atomics and one short lock, so that a system may also report from
//! inside a parallel loop (better once, at its end).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use bevy_ecs::resource::Resource;

/// The handle by which a system reports its items, bytes and other counts; a resource of every
/// simulation.
///
/// Figures add up over the systems of a stage within one tick. Calling it costs a few nanoseconds
/// (some tens for [`count`](Meter::count)): call it once a system, not once an item.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use voxtick_engine::{Meter, Plugin, Setup, Simulation, Stage};
///
/// fn relight(meter: Res<Meter>) {
///     meter.items(4096);
///     meter.count("cells changed", 17);
/// }
///
/// struct Light;
/// impl Plugin for Light {
///     fn name(&self) -> &'static str {
///         "light"
///     }
///     fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), voxtick_engine::BuildError> {
///         setup.stage(Stage::new("light")).system("light", relight);
///         Ok(())
///     }
/// }
///
/// let mut simulation = Simulation::builder().threads(1).plugin(Light).build()?;
/// let report = simulation.tick()?;
/// assert_eq!(report.stages[0].items, 4096);
/// assert_eq!(report.stages[0].count("cells changed"), 17);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource, Debug, Clone)]
pub struct Meter {
    cells: Arc<MeterCells>,
}

/// Named counts in the order of their names.
pub(crate) type Counts = Vec<(&'static str, u64)>;

#[derive(Debug, Default)]
pub(crate) struct MeterCells {
    items: AtomicU64,
    bytes: AtomicU64,
    counts: Mutex<Counts>,
}

impl Meter {
    pub(crate) fn new(cells: Arc<MeterCells>) -> Meter {
        Meter { cells }
    }

    /// A meter whose figures nobody reads, for running a system outside a
    /// [`Simulation`](crate::Simulation).
    pub fn detached() -> Meter {
        Meter { cells: Arc::default() }
    }

    /// Adds to the number of items worked on: the rows, cells or requests by which the stage's cost
    /// is judged (`ns per item` divides the stage's time by it).
    pub fn items(&self, items: u64) {
        self.cells.items.fetch_add(items, Relaxed);
    }

    /// Adds to the number of bytes read, written or moved.
    pub fn bytes(&self, bytes: u64) {
        self.cells.bytes.fetch_add(bytes, Relaxed);
    }

    /// Adds to a count of the stage's own, such as `"cells changed"`.
    ///
    /// From its first use on, the name stands in every report of the stage, with 0 in ticks that
    /// did not use it.
    pub fn count(&self, name: &'static str, count: u64) {
        let mut counts = self.cells.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.binary_search_by(|(known, _)| (*known).cmp(name)) {
            Ok(at) => counts[at].1 += count,
            Err(at) => counts.insert(at, (name, count)),
        }
    }
}

impl MeterCells {
    pub(crate) fn items(&self) -> u64 {
        self.items.load(Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Hands the cells to a stage: figures at 0, and the stage's own table of counts in place of
    /// the last stage's.
    pub(crate) fn open(&self, counts: &mut Counts) {
        self.items.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
        self.swap_counts(counts);
    }

    /// Takes the stage's table of counts back.
    pub(crate) fn close(&self, counts: &mut Counts) {
        self.swap_counts(counts);
    }

    fn swap_counts(&self, counts: &mut Counts) {
        std::mem::swap(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner), counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_in_the_order_of_their_names_whoever_came_first() {
        let meter = Meter::detached();
        for name in ["moved", "asleep", "moved", "merged"] {
            meter.count(name, 2);
        }
        let mut counts = Counts::new();
        meter.cells.close(&mut counts);
        assert_eq!(counts, [("asleep", 2), ("merged", 2), ("moved", 4)]);
    }

    #[test]
    fn a_stage_starts_from_zero() {
        let meter = Meter::detached();
        meter.items(3);
        meter.bytes(5);
        assert_eq!((meter.cells.items(), meter.cells.bytes()), (3, 5));
        meter.cells.open(&mut Counts::new());
        assert_eq!((meter.cells.items(), meter.cells.bytes()), (0, 0));
    }
}
