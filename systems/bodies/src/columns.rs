//! The columns that bodies are stored in: one array a property, one row a body.

use crate::body::{Body, Flags};
use voxtick_worlds::{ItemKind, ItemStack};

/// In [`Columns::pickup`]: nobody may ever pick it up.
pub const NEVER_PICK_UP: i16 = i16::MIN;

/// Rows of bodies, a property an array.
///
/// Clocks are stored as the ticks in which they began, so that no row is written because time passes: the age of a body
/// is the tick less `born`, and it may be picked up `pickup` ticks after `born`.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    /// Positions along `x`: the middle of the box.
    pub x: Vec<f64>,
    /// Positions along `y`: the lower face of the box.
    pub y: Vec<f64>,
    /// Positions along `z`: the middle of the box.
    pub z: Vec<f64>,
    /// Velocities along `x` in blocks a tick.
    pub vx: Vec<f64>,
    /// Velocities along `y`.
    pub vy: Vec<f64>,
    /// Velocities along `z`.
    pub vz: Vec<f64>,
    /// What else is known of each; see [`Flags`].
    pub flags: Vec<Flags>,
    /// What each is a stack of.
    pub kind: Vec<ItemKind>,
    /// How many items each stack has, and how many it may have.
    pub count: Vec<[u8; 2]>,
    /// Ticks after `born` from which each may be picked up; [`NEVER_PICK_UP`] for never.
    pub pickup: Vec<i16>,
    /// The tick in which each was of age 0 (modulo 2^32).
    pub born: Vec<u32>,
    /// The number of each, by which it is known for as long as it exists.
    pub number: Vec<u32>,
}

/// One row of [`Columns`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Position, velocity and flags.
    pub body: Body,
    /// What it is a stack of.
    pub stack: ItemStack,
    /// See [`Columns::pickup`].
    pub pickup: i16,
    /// See [`Columns::born`].
    pub born: u32,
    /// See [`Columns::number`].
    pub number: u32,
}

macro_rules! each_column {
    ($columns:expr, $column:ident => $action:expr) => {{
        let columns = $columns;
        {
            let $column = &mut columns.x;
            $action;
        }
        {
            let $column = &mut columns.y;
            $action;
        }
        {
            let $column = &mut columns.z;
            $action;
        }
        {
            let $column = &mut columns.vx;
            $action;
        }
        {
            let $column = &mut columns.vy;
            $action;
        }
        {
            let $column = &mut columns.vz;
            $action;
        }
        {
            let $column = &mut columns.flags;
            $action;
        }
        {
            let $column = &mut columns.kind;
            $action;
        }
        {
            let $column = &mut columns.count;
            $action;
        }
        {
            let $column = &mut columns.pickup;
            $action;
        }
        {
            let $column = &mut columns.born;
            $action;
        }
        {
            let $column = &mut columns.number;
            $action;
        }
    }};
}

impl Columns {
    /// Bytes that one row takes.
    pub const ROW_BYTES: usize = 6 * size_of::<f64>()
        + size_of::<Flags>()
        + size_of::<ItemKind>()
        + size_of::<[u8; 2]>()
        + size_of::<i16>()
        + 2 * size_of::<u32>();

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// True where there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Adds a row at the end.
    pub fn push(&mut self, row: &Row) {
        self.x.push(row.body.position[0]);
        self.y.push(row.body.position[1]);
        self.z.push(row.body.position[2]);
        self.vx.push(row.body.velocity[0]);
        self.vy.push(row.body.velocity[1]);
        self.vz.push(row.body.velocity[2]);
        self.flags.push(row.body.flags);
        self.kind.push(row.stack.kind);
        self.count.push([row.stack.count, row.stack.max_count]);
        self.pickup.push(row.pickup);
        self.born.push(row.born);
        self.number.push(row.number);
    }

    /// Row `row`.
    ///
    /// # Panics
    /// Where there is no such row; so do the others that take a row.
    #[must_use]
    pub fn row(&self, row: usize) -> Row {
        Row {
            body: self.body(row),
            stack: self.stack(row),
            pickup: self.pickup[row],
            born: self.born[row],
            number: self.number[row],
        }
    }

    /// The motion of row `row`.
    #[must_use]
    pub fn body(&self, row: usize) -> Body {
        Body {
            position: [self.x[row], self.y[row], self.z[row]],
            velocity: [self.vx[row], self.vy[row], self.vz[row]],
            flags: self.flags[row],
        }
    }

    /// Writes the motion of row `row`.
    pub fn set_body(&mut self, row: usize, body: &Body) {
        [self.x[row], self.y[row], self.z[row]] = body.position;
        [self.vx[row], self.vy[row], self.vz[row]] = body.velocity;
        self.flags[row] = body.flags;
    }

    /// Gives row `row` another velocity. Where it will get to is not known any more.
    pub(crate) fn change_velocity(&mut self, row: usize, change: impl FnOnce([f64; 3]) -> [f64; 3]) {
        let old = [self.vx[row], self.vy[row], self.vz[row]];
        [self.vx[row], self.vy[row], self.vz[row]] = change(old);
        self.flags[row] = self.flags[row].without(Flags::CLEAR).without(Flags::QUARANTINED);
    }

    /// The stack of row `row`.
    #[must_use]
    pub fn stack(&self, row: usize) -> ItemStack {
        let [count, max_count] = self.count[row];
        ItemStack { kind: self.kind[row], count, max_count }
    }

    /// Removes row `row`; the last row takes its place.
    pub fn swap_remove(&mut self, row: usize) {
        each_column!(self, column => { column.swap_remove(row); });
    }

    /// Removes row `row`; those after it move up.
    pub fn remove(&mut self, row: usize) {
        each_column!(self, column => { column.remove(row); });
    }

    /// Lets two rows change places.
    pub(crate) fn swap(&mut self, one: usize, other: usize) {
        each_column!(self, column => column.swap(one, other));
    }

    /// Writes a copy of row `from` over row `to`.
    pub(crate) fn copy(&mut self, from: usize, to: usize) {
        each_column!(self, column => column[to] = column[from]);
    }

    /// Puts the rows from `first` on into this order.
    pub(crate) fn reorder(&mut self, first: usize, order: &[u32]) {
        each_column!(self, column => {
            let sorted: Vec<_> = order.iter().map(|&row| column[row as usize]).collect();
            column[first..].copy_from_slice(&sorted);
        });
    }

    /// Drops all rows from `count` on.
    pub(crate) fn truncate(&mut self, count: usize) {
        each_column!(self, column => column.truncate(count));
    }

    /// Makes room for `more` rows.
    pub fn reserve(&mut self, more: usize) {
        each_column!(self, column => column.reserve(more));
    }

    /// The age of row `row` when `ticks` have been run; `None` for one that never vanishes. Below 0 for what was given
    /// a longer life.
    #[must_use]
    pub fn age(&self, row: usize, ticks: u64) -> Option<i32> {
        (!self.flags[row].has(Flags::NEVER_DESPAWN))
            .then(|| (ticks as u32).wrapping_sub(self.born[row]).cast_signed())
    }
}
