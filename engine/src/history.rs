//! What is remembered of the ticks so far: the last ones as columns, all of them as histograms and
//! sums, the worst ones whole.
//!
//! All of it is of fixed size and made before the first tick, so that remembering a tick never
//! allocates.

mod totals;

use std::time::Duration;

pub(crate) use self::totals::SystemTotals;
use self::totals::{StageTotals, Totals};
use crate::clock::nanoseconds;
use crate::report::{StageReport, TickReport};
use crate::summary::Percentiles;

/// How many ticks a history holds as columns unless told otherwise: a minute at 20 ticks a second.
pub const DEFAULT_HISTORY: usize = 1200;

/// How many of the worst ticks are kept whole.
pub const WORST_TICKS: usize = 10;

/// The ticks of a simulation so far.
///
/// The latest ticks stand in a ring of columns, every tick in a histogram of each stage (1 ns to 1
/// h, three significant digits), and the worst ticks, by their wall time, are kept whole.
///
/// ```
/// # use voxtick_engine::Simulation;
/// let mut simulation = Simulation::builder().threads(1).build()?;
/// simulation.run(100)?;
/// let history = simulation.history();
/// assert_eq!(history.latest_ticks().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
/// let last_20 = history.recent(20).unwrap();
/// assert!(last_20.median <= last_20.max);
/// assert!(history.worst().next().unwrap().wall >= last_20.max);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TickHistory {
    ring: Ring,
    tick: Vec<u64>,
    wall: Vec<u64>,
    gap: Vec<u64>,
    overrun: Vec<u64>,
    engine: Vec<u64>,
    stages: Vec<StageHistory>,
    worst: Vec<TickReport>,
    /// Reports of the right shape, to become worst ticks.
    spare: Vec<TickReport>,
    pub(crate) totals: Totals,
}

/// The history of one stage.
#[derive(Debug)]
pub struct StageHistory {
    name: &'static str,
    ring: Ring,
    wall: Vec<u64>,
    cpu: Vec<u64>,
    items: Vec<u64>,
    bytes: Vec<u64>,
    pub(crate) totals: StageTotals,
}

impl TickHistory {
    /// A history of `capacity` ticks (at least one) whose reports have the shape of `template`.
    pub(crate) fn new(capacity: usize, template: &TickReport) -> TickHistory {
        let ring = Ring { capacity: capacity.max(1), next: 0, length: 0 };
        TickHistory {
            ring,
            tick: ring.column(),
            wall: ring.column(),
            gap: ring.column(),
            overrun: ring.column(),
            engine: ring.column(),
            stages: template.stages.iter().map(|stage| StageHistory::new(ring, stage)).collect(),
            worst: Vec::with_capacity(WORST_TICKS),
            spare: (0..WORST_TICKS).map(|_| template.roomy_copy()).collect(),
            totals: Totals::new(),
        }
    }

    /// How many ticks the columns hold at the moment.
    pub fn len(&self) -> usize {
        self.ring.length
    }

    /// Whether no tick has run yet.
    pub fn is_empty(&self) -> bool {
        self.ring.length == 0
    }

    /// How many ticks have run in all.
    pub fn ticks_run(&self) -> u64 {
        self.totals.ticks
    }

    /// The numbers of the ticks in the columns, oldest first.
    pub fn latest_ticks(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.ring.values(&self.tick)
    }

    /// The wall times of the ticks in the columns, oldest first.
    pub fn walls(&self) -> impl DoubleEndedIterator<Item = Duration> + '_ {
        self.ring.durations(&self.wall)
    }

    /// The gaps of the ticks in the columns, oldest first.
    pub fn gaps(&self) -> impl DoubleEndedIterator<Item = Duration> + '_ {
        self.ring.durations(&self.gap)
    }

    /// The overruns of the ticks in the columns, oldest first.
    pub fn overruns(&self) -> impl DoubleEndedIterator<Item = Duration> + '_ {
        self.ring.durations(&self.overrun)
    }

    /// The engine's own share of the ticks in the columns, oldest first.
    pub fn engine_shares(&self) -> impl DoubleEndedIterator<Item = Duration> + '_ {
        self.ring.durations(&self.engine)
    }

    /// The stages, in the order in which they run.
    pub fn stages(&self) -> &[StageHistory] {
        &self.stages
    }

    /// A stage by its name.
    pub fn stage(&self, name: &str) -> Option<&StageHistory> {
        self.stages.iter().find(|stage| stage.name == name)
    }

    /// How the wall times of the last `ticks` ticks are spread, exactly; `None` before the first
    /// one.
    pub fn recent(&self, ticks: usize) -> Option<Percentiles> {
        Percentiles::of(self.walls().rev().take(ticks).collect())
    }

    /// Ticks a second over the last `ticks` ticks, waits between them included; `None` before the
    /// second tick.
    pub fn recent_ticks_per_second(&self, ticks: usize) -> Option<f64> {
        // The first tick of all has no gap.
        let gaps = self.gaps().rev().take(ticks).filter(|gap| !gap.is_zero());
        let (count, total) =
            gaps.fold((0_u32, Duration::ZERO), |(count, total), gap| (count + 1, total + gap));
        (count > 0).then(|| f64::from(count) / total.as_secs_f64())
    }

    /// The worst ticks by their wall time, worst first; of equal ones the earlier one first.
    pub fn worst(&self) -> impl ExactSizeIterator<Item = &TickReport> + '_ {
        self.worst.iter()
    }

    pub(crate) fn record(&mut self, report: &TickReport) {
        let at = self.ring.advance();
        self.tick[at] = report.tick;
        self.wall[at] = nanoseconds(report.wall);
        self.gap[at] = nanoseconds(report.gap);
        self.overrun[at] = nanoseconds(report.overrun);
        self.engine[at] = nanoseconds(report.engine);
        for (stage, report) in self.stages.iter_mut().zip(&report.stages) {
            stage.record(report);
        }
        self.totals.record(report);
        self.keep_if_bad(report);
    }

    fn keep_if_bad(&mut self, report: &TickReport) {
        let place = self.worst.partition_point(|kept| kept.wall >= report.wall);
        if place == WORST_TICKS {
            return;
        }
        let unused = if self.worst.len() == WORST_TICKS { self.worst.pop() } else { self.spare.pop() };
        let mut kept = unused.unwrap_or_default();
        kept.clone_from(report);
        self.worst.insert(place, kept);
    }
}

impl StageHistory {
    fn new(ring: Ring, template: &StageReport) -> StageHistory {
        StageHistory {
            name: template.name,
            ring,
            wall: ring.column(),
            cpu: ring.column(),
            items: ring.column(),
            bytes: ring.column(),
            totals: StageTotals::new(template),
        }
    }

    /// The stage's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The stage's wall time in the ticks of the columns, oldest first.
    pub fn walls(&self) -> impl DoubleEndedIterator<Item = Duration> + '_ {
        self.ring.durations(&self.wall)
    }

    /// The stage's CPU time in the ticks of the columns, oldest first; 0 where the system does not
    /// tell.
    pub fn cpu_times(&self) -> impl DoubleEndedIterator<Item = Duration> + '_ {
        self.ring.durations(&self.cpu)
    }

    /// The stage's items in the ticks of the columns, oldest first.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.ring.values(&self.items)
    }

    /// The stage's bytes in the ticks of the columns, oldest first.
    pub fn bytes(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.ring.values(&self.bytes)
    }

    /// How the stage's wall times of the last `ticks` ticks are spread, exactly; `None` before the
    /// first one.
    pub fn recent(&self, ticks: usize) -> Option<Percentiles> {
        Percentiles::of(self.walls().rev().take(ticks).collect())
    }

    fn record(&mut self, report: &StageReport) {
        let at = self.ring.advance();
        self.wall[at] = nanoseconds(report.wall);
        self.cpu[at] = report.cpu.map_or(0, nanoseconds);
        self.items[at] = report.items;
        self.bytes[at] = report.bytes;
        self.totals.record(report);
    }
}

/// Where in its columns a history writes next.
#[derive(Debug, Clone, Copy)]
struct Ring {
    capacity: usize,
    next: usize,
    length: usize,
}

impl Ring {
    fn column(self) -> Vec<u64> {
        vec![0; self.capacity]
    }

    /// The place for one more row; overwrites the oldest one when the ring is full.
    fn advance(&mut self) -> usize {
        let at = self.next;
        self.next = (at + 1) % self.capacity;
        self.length = (self.length + 1).min(self.capacity);
        at
    }

    /// The rows of a column, oldest first.
    fn values(self, column: &[u64]) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let (new, old) = column.split_at(self.next);
        let old = if self.length < self.capacity { &[] } else { old };
        old.iter().chain(new).copied()
    }

    fn durations(self, column: &[u64]) -> impl DoubleEndedIterator<Item = Duration> + '_ {
        self.values(column).map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tick: u64, wall: u64) -> TickReport {
        let wall = Duration::from_micros(wall);
        let stages = vec![StageReport { name: "only", wall, items: tick, ..StageReport::default() }];
        TickReport { tick, wall, gap: wall, stages, ..TickReport::default() }
    }

    fn history(capacity: usize, walls: &[u64]) -> TickHistory {
        let mut history = TickHistory::new(capacity, &report(0, 0));
        walls.iter().zip(0..).for_each(|(&wall, tick)| history.record(&report(tick, wall)));
        history
    }

    #[test]
    fn the_ring_holds_the_latest_ticks_oldest_first() {
        for (ticks, expected) in [(2, vec![0, 1]), (3, vec![0, 1, 2]), (5, vec![2, 3, 4]), (6, vec![3, 4, 5])]
        {
            let history = history(3, &vec![1; ticks]);
            assert_eq!(history.latest_ticks().collect::<Vec<_>>(), expected);
            assert_eq!(history.stage("only").unwrap().items().collect::<Vec<_>>(), expected);
            assert_eq!((history.len(), history.ticks_run()), (expected.len(), ticks as u64));
        }
    }

    #[test]
    fn the_worst_ticks_are_kept_whole_long_after_they_left_the_ring() {
        let walls: Vec<u64> = (0..200).map(|tick| (tick * 77) % 200).collect();
        let history = history(3, &walls);
        let worst: Vec<_> = history.worst().collect();
        let kept: Vec<_> = worst.iter().map(|report| report.wall.as_micros()).collect();
        assert_eq!(kept, (190..200).rev().collect::<Vec<_>>());
        assert!(worst.iter().all(|report| report.stages[0].wall == report.wall));
    }

    #[test]
    fn of_equally_bad_ticks_the_first_ones_are_kept() {
        let history = history(3, &[5; 30]);
        assert_eq!(
            history.worst().map(|report| report.tick).collect::<Vec<_>>(),
            (0..10).collect::<Vec<_>>()
        );
    }

    #[test]
    fn recent_figures_look_no_further_back_than_asked() {
        let history = history(100, &[900, 1, 2, 3, 4]);
        let recent = history.recent(4).unwrap();
        assert_eq!((recent.count, recent.max), (4, Duration::from_micros(4)));
        assert_eq!(history.recent(5).unwrap().max, Duration::from_micros(900));
        assert!((history.recent_ticks_per_second(4).unwrap() - 400_000.0).abs() < 1e-6);
        assert!(TickHistory::new(4, &report(0, 0)).recent(4).is_none());
    }
}
