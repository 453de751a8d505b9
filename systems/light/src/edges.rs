//! Edges between cells that let no light pass, though both cells would take it: where the faces of slabs, stairs and
//! the like close the face between them.

use voxtick_worlds::{BlockStates, CellMask, Direction};

use crate::masks::NO_CELL;
use crate::opacity::Opacity;

/// Closed edges of a section, one mask an axis: a bit stands for the edge from its cell to the next one upwards, to the
/// south or to the east. Edges to the cells below, north and west belong to the masks of those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edges {
    /// Edges to the cell above.
    pub(crate) up: CellMask,
    /// Edges to the cell south.
    pub(crate) south: CellMask,
    /// Edges to the cell east.
    pub(crate) east: CellMask,
}

/// Every edge open.
pub(crate) static OPEN_EDGES: Edges = Edges::NONE;

impl Edges {
    pub(crate) const NONE: Edges = Edges { up: NO_CELL, south: NO_CELL, east: NO_CELL };

    pub(crate) fn is_empty(&self) -> bool {
        self.up.iter().chain(&self.south).chain(&self.east).all(|&word| word == 0)
    }

    /// Closes or opens the edge of `cell` towards `side`. The neighbour must lie in the same section where that edge
    /// belongs to it.
    pub(crate) fn set(&mut self, cell: usize, side: Direction, closed: bool) {
        let (mask, owner) = match side {
            Direction::Up => (&mut self.up, cell),
            Direction::Down => (&mut self.up, cell - 256),
            Direction::South => (&mut self.south, cell),
            Direction::North => (&mut self.south, cell - 16),
            Direction::East => (&mut self.east, cell),
            Direction::West => (&mut self.east, cell - 1),
        };
        let bit = 1 << (owner % 64);
        mask[owner / 64] = if closed { mask[owner / 64] | bit } else { mask[owner / 64] & !bit };
    }

    /// The edges of a section, those to its neighbours upwards, south and east included; `None` where all are open.
    pub(crate) fn with_seams(
        own: &Opacity,
        neighbours: [(Direction, Option<&Opacity>); 3],
        states: &BlockStates,
    ) -> Option<Edges> {
        let inner = own.mixed().and_then(|mixed| mixed.edges.as_deref());
        let quiet = |beside: &Opacity| beside.shaped().is_empty();
        if own.shaped().is_empty() && neighbours.iter().all(|(_, beside)| beside.is_none_or(quiet)) {
            return None;
        }
        let mut edges = inner.copied().unwrap_or(Edges::NONE);
        let mut any = inner.is_some();
        for (side, beside) in neighbours {
            let Some(beside) = beside else { continue };
            let mut close = |cell: usize, other: usize| {
                let leaving = own.faces(cell)[side.index()];
                let entering = beside.faces(other)[side.opposite().index()];
                if states.faces_cover(leaving, entering) {
                    edges.set(cell, side, true);
                    any = true;
                }
            };
            for &(cell, _) in own.shaped() {
                if let Some(other) = across(usize::from(cell), side) {
                    close(cell.into(), other);
                }
            }
            for &(other, _) in beside.shaped() {
                if let Some(cell) = across(usize::from(other), side.opposite()) {
                    close(cell, other.into());
                }
            }
        }
        any.then_some(edges)
    }
}

/// The cell of the neighbouring section that lies beside `cell` in direction `side`; `None` where `cell` is not at that
/// border.
pub(crate) const fn across(cell: usize, side: Direction) -> Option<usize> {
    match side {
        Direction::Down if cell < 256 => Some(cell + 3840),
        Direction::Up if cell >= 3840 => Some(cell - 3840),
        Direction::North if cell & 0xF0 == 0 => Some(cell | 0xF0),
        Direction::South if cell & 0xF0 == 0xF0 => Some(cell & !0xF0),
        Direction::West if cell & 0xF == 0 => Some(cell | 0xF),
        Direction::East if cell & 0xF == 0xF => Some(cell & !0xF),
        _ => None,
    }
}
