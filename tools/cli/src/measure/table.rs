//! The rows as a table for people.

use super::rounds::Row;
use super::statistics::Verdict;
use crate::tables::{align_right, table};

/// All rows, with a line below that says how to read them.
pub(crate) fn render(rows: &[Row], rounds: u32) -> String {
    let mut table = table(&["case", "ours", "ns an item", "against", "ns an item", "faster by", "bounds"]);
    for row in rows {
        let per_item = |nanoseconds: f64| format!("{:.3}", nanoseconds / row.items.max(1) as f64);
        table.add_row([
            row.name.clone(),
            row.a.to_owned(),
            per_item(row.a_ns),
            row.b.to_owned(),
            per_item(row.b_ns),
            factor(row),
            format!("{:.2} to {:.2}", row.low, row.high),
        ]);
    }
    align_right(&mut table, &[2, 4, 5, 6]);
    format!(
        "{table}\n{rounds} rounds, sides in turn; the ratio is formed round by round, its bounds hold at 99.9 % for this run."
    )
}

fn factor(row: &Row) -> String {
    match row.verdict {
        Verdict::Unpredictable => "unpredictable".to_owned(),
        Verdict::NotResolvable => "no difference".to_owned(),
        Verdict::Factor { decimals } if row.ratio < 1.0 => format!("{:.decimals$}x slower", 1.0 / row.ratio),
        Verdict::Factor { decimals } => format!("{:.decimals$}x", row.ratio),
    }
}
