//! The rows as lines of a table for people, each printed as soon as its case is done.

use std::fmt::{self, Display};

use super::Case;
use super::rounds::Row;
use super::statistics::{Tail, Verdict};

/// The lines of a table whose columns are as wide as its cases need: known before the first is measured, so that
/// nobody has to wait for the last.
pub(crate) struct Lines {
    case: usize,
    ours: usize,
    other: usize,
}

/// What is above the columns of numbers, each as wide as its widest number.
const TIME: &str = " ns an item";
const FACTOR: &str = "     faster by";
const BOUNDS: &str = "                bounds";

impl Lines {
    pub(crate) fn for_cases(cases: &[Case]) -> Lines {
        let widest = |width: fn(&Case) -> usize, least: &str| {
            cases.iter().map(width).max().unwrap_or_default().max(least.len())
        };
        Lines {
            case: widest(|case| case.name.len(), "case"),
            ours: widest(|case| case.ours.len(), "ours"),
            other: widest(|case| case.other.len(), "against"),
        }
    }

    /// The names of the columns, and a line below them.
    pub(crate) fn header(&self) -> String {
        let names = self.line(["case", "ours", TIME, "against", TIME, FACTOR, BOUNDS]);
        format!("{names}\n{}", "─".repeat(names.chars().count()))
    }

    /// What one case gave, with a line for the tail of each side that timed its operations one by one.
    pub(crate) fn row(&self, row: &Row) -> String {
        let per_item = |nanoseconds: f64| format!("{:.3}", nanoseconds / row.items.max(1) as f64);
        let (ours, other) = (per_item(row.a_ns), per_item(row.b_ns));
        let bounds = format!("{:.2} to {:.2}", row.low, row.high);
        let mut text = self.line([&row.name, row.a, &ours, row.b, &other, &factor(row), &bounds]);
        for (side, tail) in [(row.a, row.a_tail), (row.b, row.b_tail)] {
            if let Some(tail) = tail {
                text += &format!("\n    {side}: {tail}");
            }
        }
        text
    }

    fn line(&self, [case, ours, ours_time, other, other_time, factor, bounds]: [&str; 7]) -> String {
        let Lines { case: a, ours: b, other: c } = *self;
        let (time, ratio, range) = (TIME.len(), FACTOR.len(), BOUNDS.len());
        format!(
            "{case:a$}  {ours:b$}  {ours_time:>time$}  {other:c$}  {other_time:>time$}  {factor:>ratio$}  {bounds:>range$}"
        )
    }
}

/// How to read the table.
pub(crate) fn footer(rounds: u32) -> String {
    format!(
        "{rounds} rounds, sides in turn; the ratio is formed round by round, its bounds hold at 99.9 % for this run."
    )
}

impl Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tail { operations, p50_ns, p99_ns, max_ns } = self;
        write!(f, "p50 {p50_ns:.0} ns, p99 {p99_ns:.0} ns, max {max_ns:.0} ns of {operations} operations")
    }
}

fn factor(row: &Row) -> String {
    match row.verdict {
        Verdict::Unpredictable => "unpredictable".to_owned(),
        Verdict::NotResolvable => "no difference".to_owned(),
        Verdict::Factor { decimals } if row.ratio < 1.0 => format!("{:.decimals$}x slower", 1.0 / row.ratio),
        Verdict::Factor { decimals } => format!("{:.decimals$}x", row.ratio),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::measure::{Pair, rounds};

    #[test]
    fn every_line_can_be_printed_before_the_next_case_is_measured() {
        let case = |name: &str, tail: bool| {
            let pair = move || {
                let each = |operations: &mut Vec<Duration>| operations.push(Duration::from_millis(5));
                let whole = || Duration::from_millis(5);
                Ok(if tail { Pair::each(each, each) } else { Pair::self_timed(whole, whole) })
            };
            Case::new(name, ("one way", "the other way"), 10, pair)
        };
        let lines = Lines::for_cases(&[case("short", false), case("a/longer/name", true)]);
        let header = lines.header();
        let plain = rounds::measure(case("short", false), 2).expect("equal sides");
        let tail = rounds::measure(case("a/longer/name", true), 2).expect("equal sides");
        let width = |text: &str| text.lines().next().expect("a line").chars().count();
        assert_eq!(width(&header), width(&lines.row(&plain)));
        assert_eq!(width(&header), width(&lines.row(&tail)));
        assert_eq!((lines.row(&plain).lines().count(), lines.row(&tail).lines().count()), (1, 3));
        assert!(
            lines
                .row(&tail)
                .ends_with("the other way: p50 5000000 ns, p99 5000000 ns, max 5000000 ns of 2 operations")
        );
    }
}
