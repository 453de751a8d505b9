//! The plainest correct way to step bodies: one after the other, each by the game's own order of operations.
//!
//! Merging compares each that looks with all others.
//!
//! The oracle of the tests and the baseline that `voxtick measure` pairs the kernel with. It never runs in a
//! simulation. Terrain is asked cell by cell; over a [`GridTerrain`](crate::GridTerrain) that is a read of a flat array.

use crate::body::Flags;
use crate::columns::Columns;
use crate::exact::{Scratch, Stepped, step};
use crate::merge::{can_merge, finds, looks_now, merged_clocks};
use crate::rules::{DESPAWN_AGE, Moment, Rules};
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

/// Merges like stacks that lie together, when `ticks` ticks have been run. Rows must be in ascending order of number.
///
/// Every row that looks for others tries all, from the lowest number on; see [`Population`](crate::Population) for the
/// rules. Rows that are taken in are removed.
pub fn merge_all(columns: &mut Columns, ticks: u64) {
    let mut gone = vec![false; columns.len()];
    let age = |columns: &Columns, row: usize| (ticks as u32).wrapping_sub(columns.born[row]).cast_signed();
    let takes_part = |columns: &Columns, row: usize| {
        !columns.flags[row].has(Flags::QUARANTINED)
            && can_merge(columns, row)
            && age(columns, row) < DESPAWN_AGE.cast_signed()
    };
    // Who looks is settled before anything merges: merging changes ages.
    let looks: Vec<bool> =
        (0..columns.len()).map(|row| looks_now(columns.flags[row], age(columns, row))).collect();
    for looker in 0..columns.len() {
        if !looks[looker] || gone[looker] || !takes_part(columns, looker) {
            continue;
        }
        for found in 0..columns.len() {
            let meets = finds(&columns.body(looker).bounds(), &columns.body(found).bounds());
            if found == looker
                || gone[found]
                || !takes_part(columns, found)
                || !meets
                || !columns.stack(looker).takes_all_of(columns.stack(found))
            {
                continue;
            }
            let seeker_takes = columns.count[found][0] < columns.count[looker][0];
            let (from, into) = if seeker_takes { (found, looker) } else { (looker, found) };
            let clocks = |row: usize| (age(columns, row), columns.pickup[row]);
            let (age, pickup) = merged_clocks(clocks(from), clocks(into));
            columns.count[into][0] += columns.count[from][0];
            columns.born[into] = (ticks as u32).wrapping_sub(age.cast_unsigned());
            columns.pickup[into] = pickup;
            gone[from] = true;
            if from == looker {
                break;
            }
        }
    }
    for row in (0..columns.len()).rev().filter(|&row| gone[row]) {
        columns.remove(row);
    }
}
