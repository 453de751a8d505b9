//! The plainest correct way to step bodies: one after the other, each by the game's own order of operations.
//!
//! The oracle of the tests and the baseline that `voxtick measure` pairs the kernel with. It never runs in a
//! simulation. Terrain is asked cell by cell; over a [`GridTerrain`](crate::GridTerrain) that is a read of a flat array.

use crate::columns::Columns;
use crate::exact::{Scratch, Stepped, step};
use crate::rules::{Moment, Rules};
use crate::terrain::{Surroundings, Terrain};

/// Steps every row of `columns` by one tick.
///
/// A row that is held because of terrain that is not loaded does not age either.
pub fn step_all<T: Terrain + ?Sized>(
    columns: &mut Columns,
    ground: Surroundings<'_, T>,
    rules: &Rules,
    moment: Moment,
    scratch: &mut Scratch,
) {
    for row in 0..columns.len() {
        let mut body = columns.body(row);
        let outcome = step(&mut body, columns.number[row], ground, rules, moment, scratch);
        if outcome == Stepped::Held {
            columns.born[row] = columns.born[row].wrapping_add(1);
        }
        columns.set_body(row, &body);
    }
}
