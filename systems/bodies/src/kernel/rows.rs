//! The columns that a step writes, borrowed so that they can be split among threads.

use crate::body::{Body, Flags};
use crate::columns::Columns;

/// A run of rows: the columns that a step reads and writes.
#[derive(Debug)]
pub(crate) struct RowsMut<'a> {
    pub(crate) x: &'a mut [f64],
    pub(crate) y: &'a mut [f64],
    pub(crate) z: &'a mut [f64],
    pub(crate) vx: &'a mut [f64],
    pub(crate) vy: &'a mut [f64],
    pub(crate) vz: &'a mut [f64],
    pub(crate) flags: &'a mut [Flags],
    pub(crate) born: &'a mut [u32],
    pub(crate) number: &'a [u32],
}

impl<'a> RowsMut<'a> {
    /// The first `count` rows of `columns`.
    pub(crate) fn first(columns: &'a mut Columns, count: usize) -> RowsMut<'a> {
        RowsMut {
            x: &mut columns.x[..count],
            y: &mut columns.y[..count],
            z: &mut columns.z[..count],
            vx: &mut columns.vx[..count],
            vy: &mut columns.vy[..count],
            vz: &mut columns.vz[..count],
            flags: &mut columns.flags[..count],
            born: &mut columns.born[..count],
            number: &columns.number[..count],
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.x.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// The rows before `row` and those from there on.
    pub(crate) fn split_at(self, row: usize) -> (RowsMut<'a>, RowsMut<'a>) {
        let (x, x_rest) = self.x.split_at_mut(row);
        let (y, y_rest) = self.y.split_at_mut(row);
        let (z, z_rest) = self.z.split_at_mut(row);
        let (vx, vx_rest) = self.vx.split_at_mut(row);
        let (vy, vy_rest) = self.vy.split_at_mut(row);
        let (vz, vz_rest) = self.vz.split_at_mut(row);
        let (flags, flags_rest) = self.flags.split_at_mut(row);
        let (born, born_rest) = self.born.split_at_mut(row);
        let (number, number_rest) = self.number.split_at(row);
        (
            RowsMut { x, y, z, vx, vy, vz, flags, born, number },
            RowsMut {
                x: x_rest,
                y: y_rest,
                z: z_rest,
                vx: vx_rest,
                vy: vy_rest,
                vz: vz_rest,
                flags: flags_rest,
                born: born_rest,
                number: number_rest,
            },
        )
    }

    pub(crate) fn body(&self, row: usize) -> Body {
        Body {
            position: [self.x[row], self.y[row], self.z[row]],
            velocity: [self.vx[row], self.vy[row], self.vz[row]],
            flags: self.flags[row],
        }
    }

    pub(crate) fn set_body(&mut self, row: usize, body: &Body) {
        [self.x[row], self.y[row], self.z[row]] = body.position;
        [self.vx[row], self.vy[row], self.vz[row]] = body.velocity;
        self.flags[row] = body.flags;
    }
}
