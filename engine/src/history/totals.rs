//! What all ticks of a run add up to: histograms and sums, whole and for each stage.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::clock::nanoseconds;
use crate::meter::Counts;
use crate::report::{StageReport, TickReport};

/// What all ticks so far add up to.
#[derive(Debug)]
pub(crate) struct Totals {
    pub(crate) ticks: u64,
    pub(crate) wall: Histogram<u64>,
    pub(crate) gap: Histogram<u64>,
    pub(crate) engine: Histogram<u64>,
    pub(crate) wall_total: Duration,
    pub(crate) engine_total: Duration,
    pub(crate) hashing_total: Duration,
    pub(crate) overrun_total: Duration,
    pub(crate) overrun_ticks: u64,
    pub(crate) missed: u64,
    pub(crate) first_start: Duration,
    pub(crate) last_end: Duration,
    pub(crate) hash: Option<u64>,
}

/// What one stage adds up to.
#[derive(Debug)]
pub(crate) struct StageTotals {
    pub(crate) wall: Histogram<u64>,
    pub(crate) wall_total: Duration,
    pub(crate) cpu_total: Option<Duration>,
    pub(crate) items: u64,
    pub(crate) bytes: u64,
    pub(crate) calls: u64,
    pub(crate) counts: Counts,
    pub(crate) systems: Vec<SystemTotals>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemTotals {
    pub(crate) name: &'static str,
    pub(crate) wall_total: Duration,
    pub(crate) worst: Duration,
    pub(crate) items: u64,
    pub(crate) bytes: u64,
    pub(crate) calls: u64,
}

impl Totals {
    pub(super) fn new() -> Totals {
        Totals {
            ticks: 0,
            wall: histogram(),
            gap: histogram(),
            engine: histogram(),
            wall_total: Duration::ZERO,
            engine_total: Duration::ZERO,
            hashing_total: Duration::ZERO,
            overrun_total: Duration::ZERO,
            overrun_ticks: 0,
            missed: 0,
            first_start: Duration::ZERO,
            last_end: Duration::ZERO,
            hash: None,
        }
    }

    pub(super) fn record(&mut self, report: &TickReport) {
        if self.ticks == 0 {
            self.first_start = report.start;
        } else {
            self.gap.saturating_record(nanoseconds(report.gap));
        }
        self.ticks += 1;
        self.wall.saturating_record(nanoseconds(report.wall));
        self.engine.saturating_record(nanoseconds(report.engine));
        self.wall_total += report.wall;
        self.engine_total += report.engine;
        self.hashing_total += report.hashing;
        // Waking up from a wait is not exact: less than 1 % is no overrun worth counting.
        if report.overrun * 100 > report.gap {
            self.overrun_total += report.overrun;
            self.overrun_ticks += 1;
        }
        self.missed += report.missed;
        self.last_end = report.start + (report.wall - report.recording);
        self.hash = report.hash;
    }
}

impl StageTotals {
    pub(super) fn new(template: &StageReport) -> StageTotals {
        let system = |name| SystemTotals {
            name,
            wall_total: Duration::ZERO,
            worst: Duration::ZERO,
            items: 0,
            bytes: 0,
            calls: 0,
        };
        StageTotals {
            wall: histogram(),
            wall_total: Duration::ZERO,
            cpu_total: None,
            items: 0,
            bytes: 0,
            calls: 0,
            counts: Counts::new(),
            systems: template.systems.iter().map(|report| system(report.name)).collect(),
        }
    }

    pub(super) fn record(&mut self, report: &StageReport) {
        self.wall.saturating_record(nanoseconds(report.wall));
        self.wall_total += report.wall;
        if let Some(cpu) = report.cpu {
            *self.cpu_total.get_or_insert_default() += cpu;
        }
        self.items += report.items;
        self.bytes += report.bytes;
        self.calls += report.calls;
        for &(name, count) in &report.counts {
            match self.counts.binary_search_by(|(known, _)| (*known).cmp(name)) {
                Ok(at) => self.counts[at].1 += count,
                Err(at) => self.counts.insert(at, (name, count)),
            }
        }
        for (system, report) in self.systems.iter_mut().zip(&report.systems) {
            system.wall_total += report.wall;
            system.worst = system.worst.max(report.wall);
            system.items += report.items;
            system.bytes += report.bytes;
            system.calls += report.calls;
        }
    }
}

fn histogram() -> Histogram<u64> {
    const HOUR: u64 = 3_600_000_000_000;
    Histogram::new_with_bounds(1, HOUR, 3).expect("the bounds are constants within the crate's limits")
}
