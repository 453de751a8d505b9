//! The figures of a whole run: percentiles, sums and shares of every stage, as values and as JSON.

mod table;

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

pub(crate) use self::table::{HEADER, figures, grouped, per_cent, time};
use crate::history::{StageHistory, SystemTotals, TickHistory};
use crate::report::TickReport;

/// The version of the JSON form of [`Summary`]; raised when a field changes its meaning or goes.
pub const SUMMARY_SCHEMA: u32 = 1;

/// The figures of a run. Prints as a table; serialises to JSON with times as whole nanoseconds in
/// fields that end in `_ns`.
///
/// ```
/// # use voxtick_engine::Simulation;
/// let mut simulation = Simulation::builder().threads(1).seed(7).build()?;
/// simulation.run(20)?;
/// let summary = simulation.summary();
/// assert_eq!(summary.ticks, 20);
/// let json = serde_json::to_value(&summary)?;
/// assert_eq!(json["seed"], 7);
/// assert!(json["wall"]["median_ns"].as_u64() <= json["wall"]["max_ns"].as_u64());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How many ticks ran to their end.
    pub ticks: u64,
    /// From the start of the first tick to the end of the last one.
    #[serde(rename = "elapsed_ns", serialize_with = "crate::json::nanoseconds")]
    pub elapsed: Duration,
    /// Ticks a second over `elapsed`; 0 without ticks.
    pub ticks_per_second: f64,
    /// Threads of the simulation's pool.
    pub threads: usize,
    /// The simulation's seed.
    pub seed: u64,
    /// The time that a tick may take; shares of the budget are shares of it.
    #[serde(rename = "tick_length_ns", serialize_with = "crate::json::nanoseconds")]
    pub tick_length: Duration,
    /// Wall times of the ticks.
    pub wall: Percentiles,
    /// Times from the start of one tick to the start of the next.
    pub gap: Percentiles,
    /// How many gaps were longer than `tick_length` by more than 1 %.
    pub overrun_ticks: u64,
    /// By how much they were longer, in all.
    #[serde(rename = "overrun_total_ns", serialize_with = "crate::json::nanoseconds")]
    pub overrun_total: Duration,
    /// Start times given up, see [`MissedTicks`](crate::MissedTicks).
    pub missed: u64,
    /// The state after the last tick as one number, if hashing was on.
    #[serde(serialize_with = "crate::json::optional_hash")]
    pub hash: Option<u64>,
    /// The engine's own share of the ticks.
    pub engine: EngineSummary,
    /// The stages, in the order in which they run.
    pub stages: Vec<StageSummary>,
    /// The worst ticks by their wall time, whole, worst first.
    pub worst: Vec<TickReport>,
}

/// The engine's own share of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EngineSummary {
    /// Its wall times a tick.
    pub wall: Percentiles,
    /// Its wall time in all ticks.
    #[serde(rename = "total_ns", serialize_with = "crate::json::nanoseconds")]
    pub total: Duration,
    /// The part of `total` that went into state hashes.
    #[serde(rename = "hashing_total_ns", serialize_with = "crate::json::nanoseconds")]
    pub hashing_total: Duration,
    /// `total` as a part of the wall time of all ticks, from 0 to 1.
    pub tick_share: f64,
    /// Mean wall time as a part of the tick length.
    pub budget_share: f64,
}

/// The figures of one stage over a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageSummary {
    /// The stage's name.
    pub name: &'static str,
    /// Its wall times a tick.
    pub wall: Percentiles,
    /// Its wall time in all ticks.
    #[serde(rename = "total_ns", serialize_with = "crate::json::nanoseconds")]
    pub total: Duration,
    /// CPU time of the tick's thread in all ticks; `None` where the system does not tell.
    #[serde(rename = "cpu_total_ns", serialize_with = "crate::json::optional_nanoseconds")]
    pub cpu_total: Option<Duration>,
    /// `total` as a part of the wall time of all ticks, from 0 to 1.
    pub tick_share: f64,
    /// Mean wall time as a part of the tick length: above 1 the stage alone is too slow for the
    /// rate.
    pub budget_share: f64,
    /// Items in all ticks.
    pub items: u64,
    /// Bytes in all ticks.
    pub bytes: u64,
    /// Runs of systems in all ticks.
    pub calls: u64,
    /// Wall time by item; `None` without items.
    #[serde(rename = "ns_per_item")]
    pub nanoseconds_per_item: Option<f64>,
    /// The stage's own counts in all ticks, in the order of their names.
    #[serde(serialize_with = "crate::json::counts")]
    pub counts: Vec<(&'static str, u64)>,
    /// The systems, in the order in which they run.
    pub systems: Vec<SystemSummary>,
}

/// The figures of one system over a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemSummary {
    /// The system's name.
    pub name: &'static str,
    /// Its wall time in all ticks.
    #[serde(rename = "total_ns", serialize_with = "crate::json::nanoseconds")]
    pub total: Duration,
    /// Its longest run.
    #[serde(rename = "max_ns", serialize_with = "crate::json::nanoseconds")]
    pub max: Duration,
    /// Its part of the stage's items in all ticks.
    pub items: u64,
    /// Its part of the stage's bytes in all ticks.
    pub bytes: u64,
    /// In how many ticks it ran.
    pub calls: u64,
}

/// How times are spread. All are 0 if there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Percentiles {
    /// How many times there are.
    pub count: u64,
    /// The shortest.
    #[serde(rename = "min_ns", serialize_with = "crate::json::nanoseconds")]
    pub min: Duration,
    /// Half of them are no longer than this.
    #[serde(rename = "median_ns", serialize_with = "crate::json::nanoseconds")]
    pub median: Duration,
    /// 95 % of them are no longer than this.
    #[serde(rename = "p95_ns", serialize_with = "crate::json::nanoseconds")]
    pub p95: Duration,
    /// 99 % of them are no longer than this.
    #[serde(rename = "p99_ns", serialize_with = "crate::json::nanoseconds")]
    pub p99: Duration,
    /// The longest.
    #[serde(rename = "max_ns", serialize_with = "crate::json::nanoseconds")]
    pub max: Duration,
}

/// What a summary tells besides the history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) threads: usize,
    pub(crate) seed: u64,
    pub(crate) tick_length: Duration,
}

impl Summary {
    pub(crate) fn new(history: &TickHistory, conditions: Conditions) -> Summary {
        let totals = &history.totals;
        let elapsed = totals.last_end.saturating_sub(totals.first_start);
        let shares = |total: Duration| {
            (part(total, totals.wall_total), part(total, conditions.tick_length) / totals.ticks.max(1) as f64)
        };
        let (tick_share, budget_share) = shares(totals.engine_total);
        Summary {
            schema: SUMMARY_SCHEMA,
            ticks: totals.ticks,
            elapsed,
            ticks_per_second: if elapsed.is_zero() {
                0.0
            } else {
                totals.ticks as f64 / elapsed.as_secs_f64()
            },
            threads: conditions.threads,
            seed: conditions.seed,
            tick_length: conditions.tick_length,
            wall: Percentiles::in_histogram(&totals.wall),
            gap: Percentiles::in_histogram(&totals.gap),
            overrun_ticks: totals.overrun_ticks,
            overrun_total: totals.overrun_total,
            missed: totals.missed,
            hash: totals.hash,
            engine: EngineSummary {
                wall: Percentiles::in_histogram(&totals.engine),
                total: totals.engine_total,
                hashing_total: totals.hashing_total,
                tick_share,
                budget_share,
            },
            stages: history
                .stages()
                .iter()
                .map(|stage| StageSummary::new(stage, shares(stage.totals.wall_total)))
                .collect(),
            worst: history.worst().cloned().collect(),
        }
    }

    /// The figures of a stage, by its name.
    pub fn stage(&self, name: &str) -> Option<&StageSummary> {
        self.stages.iter().find(|stage| stage.name == name)
    }
}

impl StageSummary {
    fn new(stage: &StageHistory, (tick_share, budget_share): (f64, f64)) -> StageSummary {
        let totals = &stage.totals;
        StageSummary {
            name: stage.name(),
            wall: Percentiles::in_histogram(&totals.wall),
            total: totals.wall_total,
            cpu_total: totals.cpu_total,
            tick_share,
            budget_share,
            items: totals.items,
            bytes: totals.bytes,
            calls: totals.calls,
            nanoseconds_per_item: (totals.items > 0)
                .then(|| totals.wall_total.as_nanos() as f64 / totals.items as f64),
            counts: totals.counts.clone(),
            systems: totals.systems.iter().map(SystemSummary::new).collect(),
        }
    }
}

impl SystemSummary {
    fn new(totals: &SystemTotals) -> SystemSummary {
        SystemSummary {
            name: totals.name,
            total: totals.wall_total,
            max: totals.worst,
            items: totals.items,
            bytes: totals.bytes,
            calls: totals.calls,
        }
    }
}

impl Percentiles {
    /// How these times are spread, exactly (each figure is one of the times); `None` without times.
    pub fn of(mut times: Vec<Duration>) -> Option<Percentiles> {
        times.sort_unstable();
        let (&min, &max) = (times.first()?, times.last()?);
        // The smallest time that so many per cent of all times do not exceed.
        let at = |per_cent: usize| times[(times.len() * per_cent).div_ceil(100).max(1) - 1];
        Some(Percentiles { count: times.len() as u64, min, median: at(50), p95: at(95), p99: at(99), max })
    }

    /// How the times of a histogram are spread, to three significant digits.
    fn in_histogram(histogram: &Histogram<u64>) -> Percentiles {
        if histogram.is_empty() {
            return Percentiles::default();
        }
        // A histogram answers with the upper end of a bucket, which may lie beyond the longest
        // time.
        let at = |value: u64| Duration::from_nanos(value.min(histogram.max()));
        Percentiles {
            count: histogram.len(),
            min: at(histogram.min()),
            median: at(histogram.value_at_quantile(0.50)),
            p95: at(histogram.value_at_quantile(0.95)),
            p99: at(histogram.value_at_quantile(0.99)),
            max: at(histogram.max()),
        }
    }
}

fn part(duration: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { duration.as_secs_f64() / whole.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_occurred() {
        let times = (1..=200).rev().map(Duration::from_millis).collect();
        let percentiles = Percentiles::of(times).unwrap();
        let millis = [percentiles.min, percentiles.median, percentiles.p95, percentiles.p99, percentiles.max]
            .map(|time| time.as_millis());
        assert_eq!(millis, [1, 100, 190, 198, 200]);
        let one = Percentiles::of(vec![Duration::from_millis(3)]).unwrap();
        assert_eq!(
            (one.min, one.median, one.p99, one.max),
            (one.max, one.max, one.max, Duration::from_millis(3))
        );
        assert_eq!(Percentiles::of(Vec::new()), None);
    }

    #[test]
    fn a_histogram_gives_the_same_figures_to_three_digits() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        let times: Vec<_> = (0..5_000_u64).map(|i| 40_000 + i * i % 900_001).collect();
        times.iter().for_each(|&time| histogram.saturating_record(time));
        let exact = Percentiles::of(times.iter().map(|&time| Duration::from_nanos(time)).collect()).unwrap();
        let rough = Percentiles::in_histogram(&histogram);
        for (exact, rough) in [
            (exact.min, rough.min),
            (exact.median, rough.median),
            (exact.p99, rough.p99),
            (exact.max, rough.max),
        ] {
            let ratio = rough.as_secs_f64() / exact.as_secs_f64();
            assert!((ratio - 1.0).abs() < 0.001, "{exact:?} {rough:?}");
        }
        assert_eq!(rough.count, exact.count);
    }
}
