//! One step of light: from the cells at least as bright as one level to those beside them.

use voxtick_worlds::CellMask;

use crate::edges::Edges;
use crate::masks::{EAST_CELLS, Layer, WEST_CELLS, each, layer};

/// The lit cells of a section and of its six neighbours.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) own: &'a CellMask,
    /// In the order of `Direction::ALL`: down, up, north, south, west, east.
    pub(crate) beside: [&'a CellMask; 6],
}

/// The edges of a section, and of those neighbours that own edges to it: below, north and west.
#[derive(Clone, Copy)]
pub(crate) struct EdgesAround<'a> {
    pub(crate) own: &'a Edges,
    pub(crate) down: &'a Edges,
    pub(crate) north: &'a Edges,
    pub(crate) west: &'a Edges,
}

/// The cells of the layer at `y` that a lit cell touches, all edges being open.
#[inline(always)]
pub(crate) fn reach(around: &Around<'_>, y: usize) -> Layer {
    let [down, up, north, south, west, east] = around.beside;
    let (lower, below) = if y > 0 { (around.own, y - 1) } else { (down, 15) };
    let (upper, above) = if y < 15 { (around.own, y + 1) } else { (up, 0) };
    let (below, above) = (layer(lower, below), layer(upper, above));
    let (west, east) = (layer(west, y), layer(east, y));
    let north = north[y * 4 + 3];
    let own = layer(around.own, y);
    let before = [north, own[0], own[1], own[2]];
    let after = [own[1], own[2], own[3], south[y * 4]];
    // PERF: The two parts of a row's move stand apart: joined, compilers take them for one shift of two words, for which
    // AVX2 and AVX-512F have no instruction, and go back to single words. The masks are read in the order of the cells,
    // so that the four words are combined in one order. The first saves the edit of a torch 6 % of its time, the
    // second 4 % of its instructions.
    each(|at| {
        let word = own[at];
        (below[at] | above[at])
            | (word << 16 | word >> 16)
            | (before[at] >> 48 | after[at] << 48)
            | (word << 1 & !WEST_CELLS | west[at] >> 15 & WEST_CELLS)
            | (word >> 1 & !EAST_CELLS | east[at] << 15 & EAST_CELLS)
    })
}

/// As [`reach`], where some edges are closed.
#[inline(always)]
pub(crate) fn reach_past_edges(around: &Around<'_>, edges: &EdgesAround<'_>, y: usize) -> Layer {
    let [down, up, north, south, west, east] = around.beside;
    let own = layer(around.own, y);
    // What may leave a cell downwards, southwards and eastwards is known at that cell's own edge.
    let (below, floor) = if y > 0 {
        (layer(around.own, y - 1), layer(&edges.own.up, y - 1))
    } else {
        (layer(down, 15), layer(&edges.down.up, 15))
    };
    let above = if y < 15 { layer(around.own, y + 1) } else { layer(up, 0) };
    let ceiling = layer(&edges.own.up, y);
    let to_south = layer(&edges.own.south, y);
    let to_east = layer(&edges.own.east, y);
    let leaving_south = each(|at| own[at] & !to_south[at]);
    let leaving_east = each(|at| own[at] & !to_east[at]);
    let from_north = north[y * 4 + 3] & !edges.north.south[y * 4 + 3];
    let before = [from_north, leaving_south[0], leaving_south[1], leaving_south[2]];
    let after = [own[1], own[2], own[3], south[y * 4]];
    let (west, west_edges) = (layer(west, y), layer(&edges.west.east, y));
    let east = layer(east, y);
    each(|at| {
        let from_south = own[at] >> 16 & !to_south[at] | after[at] << 48 & !to_south[at];
        let from_west = leaving_east[at] << 1 & !WEST_CELLS | (west[at] & !west_edges[at]) >> 15 & WEST_CELLS;
        let from_east = (own[at] >> 1 & !EAST_CELLS | east[at] << 15 & EAST_CELLS) & !to_east[at];
        (below[at] & !floor[at] | leaving_south[at] << 16)
            | (above[at] & !ceiling[at] | before[at] >> 48)
            | from_south
            | from_west
            | from_east
    })
}
