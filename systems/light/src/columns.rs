//! What the loaded chunks let through, kept from tick to tick and changed block by block.

use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockStates, Chunk, ChunkPos};

use crate::area::NONE;
use crate::opacity::Opacity;
use crate::simd::Width;

/// The opacity of every loaded chunk, each at a place of its own.
#[derive(Default)]
pub(crate) struct Columns {
    places: FxHashMap<ChunkPos, u32>,
    columns: Vec<Column>,
    free: Vec<u32>,
}

/// One chunk.
pub(crate) struct Column {
    pub(crate) position: ChunkPos,
    /// Lowest section first.
    pub(crate) sections: Vec<Opacity>,
    /// Places of the neighbours north, south, west and east, or [`NONE`].
    pub(crate) links: [u32; 4],
}

/// Steps to the neighbours in the order of the links, and the link that leads back.
const SIDES: [(i32, i32, usize); 4] = [(0, -1, 1), (0, 1, 0), (-1, 0, 3), (1, 0, 2)];

impl Columns {
    /// Where the chunk at `position` is kept.
    pub(crate) fn place(&self, position: ChunkPos) -> Option<u32> {
        self.places.get(&position).copied()
    }

    /// The chunk at a place; `place` must hold one.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> &Column {
        &self.columns[place as usize]
    }

    pub(crate) fn at_mut(&mut self, place: u32) -> &mut Column {
        &mut self.columns[place as usize]
    }

    /// How many places there are, free ones included.
    pub(crate) fn places(&self) -> usize {
        self.columns.len()
    }

    /// How many sections a chunk has; 0 while there is none.
    pub(crate) fn height(&self) -> usize {
        // A place that was freed has no sections.
        self.columns.iter().map(|column| column.sections.len()).find(|&height| height > 0).unwrap_or(0)
    }

    /// Bytes on the heap, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        let sections = self.columns.iter().flat_map(|column| &column.sections);
        let masks: usize = sections.map(Opacity::memory_bytes).sum();
        let columns = self.columns.iter().map(|column| column.sections.capacity() * size_of::<Opacity>());
        masks + columns.sum::<usize>() + self.columns.capacity() * size_of::<Column>()
    }

    /// Takes `sections` as those of the chunk at `position`, in place of what was known of it.
    pub(crate) fn insert(&mut self, position: ChunkPos, sections: Vec<Opacity>) {
        if let Some(place) = self.place(position) {
            self.at_mut(place).sections = sections;
            return;
        }
        let column = Column { position, sections, links: [NONE; 4] };
        let place = match self.free.pop() {
            Some(place) => {
                self.columns[place as usize] = column;
                place
            }
            None => {
                self.columns.push(column);
                self.columns.len() as u32 - 1
            }
        };
        self.places.insert(position, place);
        self.link(place, position, place);
    }

    /// Takes these chunks, none of them twice, in place of all it has; what they let through is to be derived yet, with
    /// the memory of those before them.
    pub(crate) fn start_anew(&mut self, positions: &[ChunkPos]) {
        self.places.clear();
        self.free.clear();
        let nothing = || Column { position: ChunkPos::new(0, 0), sections: Vec::new(), links: [NONE; 4] };
        self.columns.resize_with(positions.len(), nothing);
        for ((column, &position), place) in self.columns.iter_mut().zip(positions).zip(0..) {
            (column.position, column.links) = (position, [NONE; 4]);
            self.places.insert(position, place);
        }
        for (&position, place) in positions.iter().zip(0..) {
            self.link(place, position, place);
        }
    }

    pub(crate) fn all_mut(&mut self) -> &mut [Column] {
        &mut self.columns
    }

    /// Forgets the chunk at `position`.
    pub(crate) fn remove(&mut self, position: ChunkPos) {
        if let Some(place) = self.places.remove(&position) {
            self.link(place, position, NONE);
            self.at_mut(place).sections = Vec::new();
            self.free.push(place);
        }
    }

    /// Links the column at `place` with its neighbours, who take `seen_as` for it.
    fn link(&mut self, place: u32, position: ChunkPos, seen_as: u32) {
        for (side, (x, z, back)) in SIDES.into_iter().enumerate() {
            let beside = position.checked_offset(x, z).and_then(|at| self.place(at)).unwrap_or(NONE);
            self.at_mut(place).links[side] = beside;
            if beside != NONE {
                self.at_mut(beside).links[back] = seen_as;
            }
        }
    }
}

/// Derives what the sections of a chunk let through, with the memory that `sections` have.
pub(crate) fn derive(width: Width, chunk: &Chunk, states: &BlockStates, sections: &mut Vec<Opacity>) {
    sections.resize_with(chunk.sections().len(), || Opacity::Clear);
    for (opacity, section) in sections.iter_mut().zip(chunk.sections()) {
        opacity.derive(width, section, states);
    }
}
