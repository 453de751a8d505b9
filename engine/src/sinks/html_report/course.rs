//! A run of any length as a fixed number of columns.

use std::time::Duration;

use super::chart::Bands;
use crate::report::TickReport;

/// Most columns that a course is drawn in.
pub(super) const COLUMNS: usize = 600;

/// The ticks so far, so many to a column that they never take more than [`COLUMNS`].
#[derive(Debug)]
pub(super) struct Course {
    pub(super) columns: Vec<Column>,
    /// How many ticks a full column stands for: a power of two.
    pub(super) ticks_per_column: u64,
}

/// Some ticks that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// The number of the worst of them.
    pub(super) tick: u64,
    /// The parts of the worst of them; their sum is its wall time.
    pub(super) bands: Bands,
    /// The longest gap before any of them.
    pub(super) gap: Duration,
    /// How many there are.
    ticks: u64,
}

impl Default for Course {
    fn default() -> Self {
        Course { columns: Vec::with_capacity(COLUMNS), ticks_per_column: 1 }
    }
}

impl Course {
    pub(super) fn take(&mut self, report: &TickReport) {
        let column = Column { tick: report.tick, bands: Bands::of(report), gap: report.gap, ticks: 1 };
        match self.columns.last_mut() {
            Some(last) if last.ticks < self.ticks_per_column => last.join(column),
            _ => {
                if self.columns.len() == COLUMNS {
                    self.halve();
                }
                self.columns.push(column);
            }
        }
    }

    fn halve(&mut self) {
        let full = std::mem::replace(&mut self.columns, Vec::with_capacity(COLUMNS));
        let mut columns = full.into_iter();
        while let Some(mut column) = columns.next() {
            columns.next().into_iter().for_each(|next| column.join(next));
            self.columns.push(column);
        }
        self.ticks_per_column *= 2;
    }

    /// What a reader has to know of the columns.
    pub(super) fn explanation(&self) -> String {
        match self.ticks_per_column {
            1 => "Each column is a tick, stage upon stage.".to_owned(),
            ticks => format!("Each column is the worst of {ticks} ticks, stage upon stage."),
        }
    }
}

impl Column {
    /// Takes in the ticks that follow; of equally bad ones the earlier stays.
    fn join(&mut self, next: Column) {
        self.ticks += next.ticks;
        self.gap = self.gap.max(next.gap);
        if next.bands.sum() > self.bands.sum() {
            self.tick = next.tick;
            self.bands = next.bands;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(ticks: u64) -> Course {
        let mut course = Course::default();
        for tick in 0..ticks {
            let wall = Duration::from_nanos(1 + tick * 7919 % 10_007);
            let gap = Duration::from_nanos(20_000 - wall.as_nanos() as u64);
            course.take(&TickReport { tick, wall, engine: wall, gap, ..TickReport::default() });
        }
        course
    }

    #[test]
    fn a_short_run_has_a_column_a_tick() {
        let course = course(COLUMNS as u64);
        assert_eq!(course.columns.len(), COLUMNS);
        assert!(course.columns.iter().zip(0..).all(|(column, tick)| column.tick == tick));
    }

    #[test]
    fn a_long_run_stays_within_its_columns_and_keeps_the_worst_tick_of_each() {
        for ticks in [COLUMNS as u64 + 1, 5_000, 9_600, 9_601] {
            let course = course(ticks);
            assert!((COLUMNS / 2..=COLUMNS).contains(&course.columns.len()), "{ticks}");
            assert_eq!(course.columns.iter().map(|column| column.ticks).sum::<u64>(), ticks);
            let wall = |tick: u64| 1 + tick * 7919 % 10_007;
            for (column, first) in course.columns.iter().zip((0..).step_by(course.ticks_per_column as usize))
            {
                let stands_for = first..first + column.ticks;
                assert!(stands_for.contains(&column.tick));
                assert_eq!(Some(wall(column.tick)), stands_for.clone().map(wall).max());
                let longest = stands_for.map(|tick| 20_000 - wall(tick)).max();
                assert_eq!(Some(column.gap.as_nanos() as u64), longest);
            }
        }
    }
}
