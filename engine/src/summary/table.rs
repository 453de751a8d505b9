//! The summary as a table for people.

use std::fmt::{self, Display};
use std::time::Duration;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

use super::{Percentiles, StageSummary, Summary};

impl Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} ticks in {} ({:.1} a second), {} {}, seed {}",
            grouped(self.ticks),
            time(self.elapsed),
            self.ticks_per_second,
            self.threads,
            if self.threads == 1 { "thread" } else { "threads" },
            self.seed,
        )?;
        writeln!(f, "{}", self.table())?;
        write!(
            f,
            "budget: {} a tick; {} of {} gaps more than 1 % longer, by {} in all",
            time(self.tick_length),
            grouped(self.overrun_ticks),
            grouped(self.gap.count),
            time(self.overrun_total),
        )?;
        if self.missed > 0 {
            write!(f, "; {} start times given up", grouped(self.missed))?;
        }
        if let Some(worst) = self.worst.first() {
            write!(f, "\nworst tick: {} with {}", worst.tick, time(worst.wall))?;
            if let Some(stage) = worst.stages.iter().max_by_key(|stage| stage.wall) {
                write!(f, ", {} of it in {}", time(stage.wall), stage.name)?;
            }
        }
        if let Some(hash) = self.hash {
            write!(f, "\nstate hash: {hash:016x}")?;
        }
        Ok(())
    }
}

/// The columns: a name, five times, and [`figures`].
pub(crate) const HEADER: [&str; 10] =
    ["stage", "min", "median", "p95", "p99", "max", "cpu/tick", "items/tick", "ns/item", "budget"];

/// A line under the header and no others.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

impl Summary {
    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(STYLE).set_header(HEADER);
        for stage in &self.stages {
            table.add_row(row(stage.name, &stage.wall, figures(stage, self.ticks)));
        }
        table.add_row(row(
            "engine",
            &self.engine.wall,
            [None, None, None, Some(per_cent(self.engine.budget_share))],
        ));
        let whole: f64 =
            self.stages.iter().map(|stage| stage.budget_share).sum::<f64>() + self.engine.budget_share;
        table.add_row(row("tick", &self.wall, [None, None, None, Some(per_cent(whole))]));
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        table
    }
}

fn row(name: &str, wall: &Percentiles, figures: [Option<String>; 4]) -> Vec<String> {
    let times = [wall.min, wall.median, wall.p95, wall.p99, wall.max].map(time);
    std::iter::once(name.to_owned())
        .chain(times)
        .chain(figures.into_iter().map(Option::unwrap_or_default))
        .collect()
}

/// What stands behind the times of a stage in a run of so many ticks; `None` where it is not known.
pub(crate) fn figures(stage: &StageSummary, ticks: u64) -> [Option<String>; 4] {
    let ticks = ticks.max(1) as f64;
    [
        stage.cpu_total.map(|total| time(total.div_f64(ticks))),
        Some(grouped((stage.items as f64 / ticks).round() as u64)),
        stage.nanoseconds_per_item.map(|nanoseconds| format!("{nanoseconds:.2}")),
        Some(per_cent(stage.budget_share)),
    ]
}

pub(crate) fn per_cent(share: f64) -> String {
    let per_cent = share * 100.0;
    if per_cent < 1.0 { format!("{per_cent:.2} %") } else { format!("{per_cent:.1} %") }
}

/// A time with three significant digits and the unit that suits it.
pub(crate) fn time(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos() as f64;
    let (value, unit) = match nanoseconds {
        n if n < 1e3 => return format!("{n:.0} ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let decimals = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.decimals$} {unit}")
}

/// A number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::with_capacity(digits.len().div_ceil(3));
    if first > 0 {
        groups.push(&digits[..first]);
    }
    groups.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        let texts = [0, 999, 1_234, 56_789, 789_012, 4_500_000, 61_000_000_000]
            .map(|n| time(Duration::from_nanos(n)));
        assert_eq!(texts, ["0 ns", "999 ns", "1.23 µs", "56.8 µs", "789 µs", "4.50 ms", "61.0 s"]);
    }

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 12_345, 1_234_567].map(grouped),
            ["0", "999", "1,000", "12,345", "1,234,567"]
        );
    }
}
