//! The rows as a table for people.

use comfy_table::Table;

use super::rounds::Row;
use super::statistics::{Tail, Verdict};
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
    let tails = tails(rows).map_or(String::new(), |tails| format!("{tails}\n"));
    format!(
        "{table}\n{tails}{rounds} rounds, sides in turn; the ratio is formed round by round, its bounds hold at 99.9 % for this run."
    )
}

/// The tails of those cases that time single operations, if there are any.
fn tails(rows: &[Row]) -> Option<Table> {
    let mut table = table(&["ns an operation", "side", "p50", "p99", "max", "operations"]);
    for row in rows {
        for (side, tail) in [(row.a, row.a_tail), (row.b, row.b_tail)] {
            let Some(Tail { operations, p50_ns, p99_ns, max_ns }) = tail else { continue };
            let whole = |nanoseconds: f64| format!("{nanoseconds:.0}");
            table.add_row([
                row.name.clone(),
                side.to_owned(),
                whole(p50_ns),
                whole(p99_ns),
                whole(max_ns),
                operations.to_string(),
            ]);
        }
    }
    align_right(&mut table, &[2, 3, 4, 5]);
    (table.row_count() > 0).then_some(table)
}

fn factor(row: &Row) -> String {
    match row.verdict {
        Verdict::Unpredictable => "unpredictable".to_owned(),
        Verdict::NotResolvable => "no difference".to_owned(),
        Verdict::Factor { decimals } if row.ratio < 1.0 => format!("{:.decimals$}x slower", 1.0 / row.ratio),
        Verdict::Factor { decimals } => format!("{:.decimals$}x", row.ratio),
    }
}
