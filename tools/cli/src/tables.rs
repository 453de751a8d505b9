//! How results are printed: tables for people, JSON lines for programs.

use std::io::{self, Write};

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use serde::Serialize;

/// A line under the header and no others.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// One JSON object a line.
pub(crate) fn json_lines(out: &mut impl Write, rows: &[impl Serialize]) -> io::Result<()> {
    rows.iter().try_for_each(|row| {
        serde_json::to_writer(&mut *out, row)?;
        writeln!(out)
    })
}

/// An empty table with this header.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.iter().copied());
    table
}

/// Aligns these columns, which must exist, to the right.
pub(crate) fn align_right(table: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
