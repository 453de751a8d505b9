//! How the sections of an area lie to each other, and which of their edges are closed.

use voxtick_worlds::{BlockStates, Direction};

use crate::edges::{Edges, OPEN_EDGES};
use crate::opacity::Opacity;
use crate::spread::EdgesAround;

/// No chunk, no section, no edges.
pub(crate) const NONE: u32 = u32::MAX;

/// The chunks of an area, as the kernel wants them.
pub(crate) struct AreaInput<'a> {
    /// Per chunk what its sections let through, lowest first; as many sections in each.
    pub(crate) columns: &'a [&'a [Opacity]],
    /// Per chunk the numbers of its neighbours north, south, west and east, or [`NONE`].
    pub(crate) links: &'a [[u32; 4]],
    /// Per chunk whether its levels will be asked for; the light of the others is computed for what it lights.
    pub(crate) kept: &'a [bool],
    pub(crate) states: &'a BlockStates,
}

impl AreaInput<'_> {
    /// Sections of a chunk.
    fn height(&self) -> usize {
        self.columns.first().map_or(0, |column| column.len())
    }

    #[inline(always)]
    pub(super) fn opacity(&self, place: &Place) -> &Opacity {
        &self.columns[place.chunk as usize][place.section as usize]
    }
}

/// How the sections of an area lie to each other: the same for both channels. Scratch, filled by [`Area::prepare`].
#[derive(Default)]
pub(crate) struct Area {
    pub(super) places: Vec<Place>,
    /// Closed edges of the sections that have some.
    edges: Vec<Edges>,
}

/// One section of the area.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) chunk: u32,
    section: u32,
    /// In the order of `Direction::ALL`.
    pub(super) beside: [u32; 6],
    edges: u32,
    /// Its edges, or those of a neighbour towards it, are not all open.
    pub(super) edged: bool,
}

impl Area {
    /// Takes an area in: links its sections and finds the closed edges.
    pub(crate) fn prepare(&mut self, input: &AreaInput<'_>) {
        self.places.clear();
        self.edges.clear();
        let sections = input.height();
        let slot_of = |chunk: u32, section: usize| {
            if chunk == NONE { NONE } else { chunk * sections as u32 + section as u32 }
        };
        for (chunk, column) in (0..).zip(input.columns) {
            let links = input.links[chunk as usize];
            let beside_column =
                |link: u32| if link == NONE { None } else { Some(input.columns[link as usize]) };
            let (south_column, east_column) = (beside_column(links[1]), beside_column(links[3]));
            for (section, own) in column.iter().enumerate() {
                let down = if section > 0 { slot_of(chunk, section - 1) } else { NONE };
                let up = if section + 1 < sections { slot_of(chunk, section + 1) } else { NONE };
                let [north, south, west, east] = links.map(|link| slot_of(link, section));
                let seams = [
                    (Direction::Up, column.get(section + 1)),
                    (Direction::South, south_column.map(|beside| &beside[section])),
                    (Direction::East, east_column.map(|beside| &beside[section])),
                ];
                let edges = match Edges::with_seams(own, seams, input.states) {
                    None => NONE,
                    Some(edges) => {
                        self.edges.push(edges);
                        self.edges.len() as u32 - 1
                    }
                };
                let beside = [down, up, north, south, west, east];
                let (section, edged) = (section as u32, edges != NONE);
                self.places.push(Place { chunk, section, beside, edges, edged });
            }
        }
        if self.edges.is_empty() {
            return;
        }
        for at in 0..self.places.len() {
            let [down, _, north, _, west, _] = self.places[at].beside;
            let has_edges = |slot: u32| slot != NONE && self.places[slot as usize].edges != NONE;
            self.places[at].edged |= has_edges(down) || has_edges(north) || has_edges(west);
        }
    }

    #[inline(always)]
    pub(super) fn edges_of(&self, slot: u32) -> &Edges {
        match self.places.get(slot as usize).map_or(NONE, |place| place.edges) {
            NONE => &OPEN_EDGES,
            at => &self.edges[at as usize],
        }
    }

    #[inline(always)]
    pub(super) fn edges_around(&self, slot: u32) -> EdgesAround<'_> {
        let [down, _, north, _, west, _] = self.places[slot as usize].beside;
        EdgesAround {
            own: self.edges_of(slot),
            down: self.edges_of(down),
            north: self.edges_of(north),
            west: self.edges_of(west),
        }
    }

    /// Bytes of scratch, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>() + self.edges.capacity() * size_of::<Edges>()
    }
}
