//! What a tick reports: where its time went and what was worked on.
//!
//! Reports are kept and handed on every tick, so that copying one into an old one of the same shape
//! must not allocate: `clone_from` is written out for that.

use std::time::Duration;

use serde::Serialize;

/// Where the time of one tick went, and what was worked on.
///
/// The parts add up: `wall` is the sum of the stages' `wall` and of `engine`. All offsets (`start`)
/// count from the moment the simulation was built.
#[derive(Debug, PartialEq, Eq, Default, Serialize)]
pub struct TickReport {
    /// The tick's number, from 0.
    pub tick: u64,
    /// When the tick began.
    #[serde(rename = "start_ns", serialize_with = "crate::json::nanoseconds")]
    pub start: Duration,
    /// Everything the tick cost: its stages and the engine's own share.
    #[serde(rename = "wall_ns", serialize_with = "crate::json::nanoseconds")]
    pub wall: Duration,
    /// From the start of the last tick to the start of this one, with any wait between them; 0 in
    /// the first tick.
    #[serde(rename = "gap_ns", serialize_with = "crate::json::nanoseconds")]
    pub gap: Duration,
    /// By how much `gap` exceeds the [length of a tick](crate::Rate::tick_length).
    #[serde(rename = "overrun_ns", serialize_with = "crate::json::nanoseconds")]
    pub overrun: Duration,
    /// Start times given up before this tick, see [`MissedTicks`](crate::MissedTicks).
    pub missed: u64,
    /// The engine's own share of `wall`: all that is not in a stage, with `recording` and
    /// `hashing`.
    #[serde(rename = "engine_ns", serialize_with = "crate::json::nanoseconds")]
    pub engine: Duration,
    /// Part of `engine`: recording the report of the last tick (history, hand-off to sinks). It can
    /// only be measured after that report has gone, so it is charged here, and lies before `start`.
    #[serde(rename = "recording_ns", serialize_with = "crate::json::nanoseconds")]
    pub recording: Duration,
    /// Part of `engine`: the state hash.
    #[serde(rename = "hashing_ns", serialize_with = "crate::json::nanoseconds")]
    pub hashing: Duration,
    /// The state after the tick as one number, if [hashing is on](crate::SimulationBuilder::hash).
    #[serde(serialize_with = "crate::json::optional_hash")]
    pub hash: Option<u64>,
    /// What the plugins contributed to `hash`, in the order of their names: shows which one's state
    /// differs.
    #[serde(serialize_with = "crate::json::hashes")]
    pub hashes: Vec<(&'static str, u64)>,
    /// The stages, in the order in which they ran.
    pub stages: Vec<StageReport>,
}

/// Where the time of one stage went in one tick.
#[derive(Debug, PartialEq, Eq, Default, Serialize)]
pub struct StageReport {
    /// The stage's name.
    pub name: &'static str,
    /// When the stage began.
    #[serde(rename = "start_ns", serialize_with = "crate::json::nanoseconds")]
    pub start: Duration,
    /// How long the stage took, with the commands that its systems queued.
    #[serde(rename = "wall_ns", serialize_with = "crate::json::nanoseconds")]
    pub wall: Duration,
    /// CPU time of the tick's thread in the stage, exact to about a microsecond; `None` where the
    /// system does not tell. What the pool's threads did meanwhile is not in it: far less than
    /// `wall` means that the tick's thread waited for them or was not run.
    #[serde(rename = "cpu_ns", serialize_with = "crate::json::optional_nanoseconds")]
    pub cpu: Option<Duration>,
    /// Items worked on, as told by [`Meter::items`](crate::Meter::items).
    pub items: u64,
    /// Bytes read, written or moved, as told by [`Meter::bytes`](crate::Meter::bytes).
    pub bytes: u64,
    /// How many systems ran. A system that the ECS skips is not counted.
    pub calls: u64,
    /// Counts of the stage's own, in the order of their names, as told by
    /// [`Meter::count`](crate::Meter::count).
    #[serde(serialize_with = "crate::json::counts")]
    pub counts: Vec<(&'static str, u64)>,
    /// The systems, in the order in which they ran.
    pub systems: Vec<SystemReport>,
}

/// Where the time of one system went in one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SystemReport {
    /// The system's name: that of its function, without the path, unless it was given another.
    pub name: &'static str,
    /// When the system began; 0 if it did not run.
    #[serde(rename = "start_ns", serialize_with = "crate::json::nanoseconds")]
    pub start: Duration,
    /// How long the system took, without the commands that it queued.
    #[serde(rename = "wall_ns", serialize_with = "crate::json::nanoseconds")]
    pub wall: Duration,
    /// Its part of the stage's items.
    pub items: u64,
    /// Its part of the stage's bytes.
    pub bytes: u64,
    /// 1, or 0 if the ECS skipped the system.
    pub calls: u64,
}

impl TickReport {
    /// The report of a stage, by its name.
    pub fn stage(&self, name: &str) -> Option<&StageReport> {
        self.stages.iter().find(|stage| stage.name == name)
    }

    /// A copy with room for counts that the stages have not used yet, so that they can come later
    /// without an allocation.
    pub(crate) fn roomy_copy(&self) -> TickReport {
        const COUNTS: usize = 8;
        let mut copy = self.clone();
        for stage in &mut copy.stages {
            stage.counts.reserve(COUNTS.saturating_sub(stage.counts.len()));
        }
        copy
    }
}

impl StageReport {
    /// One of the stage's own counts; 0 if it never counted under that name.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.iter().find(|(known, _)| *known == name).map_or(0, |&(_, count)| count)
    }

    /// Wall time by item, in nanoseconds; `None` without items.
    pub fn nanoseconds_per_item(&self) -> Option<f64> {
        (self.items > 0).then(|| self.wall.as_nanos() as f64 / self.items as f64)
    }
}

impl Clone for TickReport {
    fn clone(&self) -> Self {
        let mut copy = TickReport::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let mut hashes = std::mem::take(&mut self.hashes);
        let mut stages = std::mem::take(&mut self.stages);
        hashes.clone_from(&from.hashes);
        stages.clone_from(&from.stages);
        *self = TickReport { hashes, stages, ..*from };
    }
}

impl Clone for StageReport {
    fn clone(&self) -> Self {
        let mut copy = StageReport::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let mut counts = std::mem::take(&mut self.counts);
        let mut systems = std::mem::take(&mut self.systems);
        counts.clone_from(&from.counts);
        systems.clone_from(&from.systems);
        *self = StageReport { counts, systems, ..*from };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_report_is_overwritten_whole_and_in_place() {
        let report = TickReport {
            tick: 7,
            hash: Some(9),
            hashes: vec![("a", 1)],
            stages: vec![StageReport {
                name: "light",
                counts: vec![("cells", 3)],
                systems: vec![SystemReport { name: "relight", calls: 1, ..SystemReport::default() }],
                ..StageReport::default()
            }],
            ..TickReport::default()
        };
        let mut old = TickReport { tick: 6, ..report.clone() };
        old.stages[0].counts[0].1 = 100;
        let systems = old.stages[0].systems.as_ptr();
        old.clone_from(&report);
        assert_eq!(old, report);
        assert_eq!(old.stages[0].systems.as_ptr(), systems);
    }

    #[test]
    fn the_time_of_an_item_is_unknown_without_items() {
        let mut stage = StageReport { wall: Duration::from_nanos(50), ..StageReport::default() };
        assert_eq!(stage.nanoseconds_per_item(), None);
        stage.items = 4;
        assert_eq!(stage.nanoseconds_per_item(), Some(12.5));
    }
}
