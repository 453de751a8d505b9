//! What a section lets through, as masks: derived once from the section's blocks and shared by both channels.

use voxtick_worlds::{BlockStates, CellMask, Direction, SECTION_CELLS, Section, StateId};

use crate::edges::Edges;
use crate::facts::{LightFacts, MAX_LEVEL};
use crate::masks::{EVERY_CELL, NO_CELL, has};
use crate::simd::Width;

/// What one section lets through.
///
/// Sections of one kind of cell cost nothing. Any other is two masks, and short sorted lists of the cells that are
/// rare: emitters, cells with shaped faces, cells that dim light by more than one level a step.
#[derive(Debug, Clone)]
pub(crate) enum Opacity {
    /// Every cell is like air.
    Clear,
    /// Light enters every cell but dims on its way down, as in water.
    Dim,
    /// No light enters any cell, and none comes out.
    Opaque,
    /// All else.
    Mixed(Box<MixedOpacity>),
}

/// The masks and lists of a section of more than one kind of cell.
#[derive(Debug, Clone)]
pub(crate) struct MixedOpacity {
    /// Cells that light enters at a cost of 1.
    pub(crate) open: CellMask,
    /// Cells that sky light falls through undimmed.
    pub(crate) clear: CellMask,
    /// Cells that light enters at a cost of 2 to 14, with the cost. No state of the game up to 26.1 has such a cost.
    pub(crate) slow: Vec<(u16, u8)>,
    /// Cells that give off light, with the level.
    pub(crate) emitters: Vec<(u16, u8)>,
    /// Cells with faces that stop light, with the face masks.
    pub(crate) shaped: Vec<(u16, [u8; 6])>,
    /// Edges between cells of this section that let no light pass.
    pub(crate) edges: Option<Box<Edges>>,
}

impl Opacity {
    /// Derives what `section` lets through, with the memory that this has.
    pub(crate) fn derive(&mut self, width: Width, section: &Section, states: &BlockStates) {
        let palette = section.palette();
        if let Some((&first, rest)) = palette.split_first() {
            let first = LightFacts::of(states, first);
            if let Some(uniform) = Opacity::uniform(first)
                && rest.iter().all(|&other| LightFacts::of(states, other) == first)
            {
                *self = uniform;
                return;
            }
        }
        match self {
            Opacity::Mixed(mixed) => mixed.derive(width, section, states),
            _ => {
                let mut mixed = Box::new(MixedOpacity::NOTHING);
                mixed.derive(width, section, states);
                *self = Opacity::Mixed(mixed);
            }
        }
    }

    /// A section of cells with the same facts, where it needs no masks.
    const fn uniform(facts: LightFacts) -> Option<Opacity> {
        if facts.emission > 0 || facts.is_shaped() {
            return None;
        }
        match facts.dampening {
            0 => Some(Opacity::Clear),
            1 => Some(Opacity::Dim),
            MAX_LEVEL.. => Some(Opacity::Opaque),
            _ => None,
        }
    }

    /// Cells that light enters at a cost of 1.
    #[inline]
    pub(crate) fn open(&self) -> &CellMask {
        match self {
            Opacity::Clear | Opacity::Dim => &EVERY_CELL,
            Opacity::Opaque => &NO_CELL,
            Opacity::Mixed(mixed) => &mixed.open,
        }
    }

    /// Cells that sky light falls through undimmed.
    #[inline]
    pub(crate) fn clear(&self) -> &CellMask {
        match self {
            Opacity::Clear => &EVERY_CELL,
            Opacity::Dim | Opacity::Opaque => &NO_CELL,
            Opacity::Mixed(mixed) => &mixed.clear,
        }
    }

    /// Masks and lists, where the section has them.
    #[inline]
    pub(crate) fn mixed(&self) -> Option<&MixedOpacity> {
        match self {
            Opacity::Mixed(mixed) => Some(mixed),
            _ => None,
        }
    }

    /// Cells with faces that stop light, with the face masks, ascending.
    #[inline]
    pub(crate) fn shaped(&self) -> &[(u16, [u8; 6])] {
        self.mixed().map_or(&[], |mixed| &mixed.shaped)
    }

    /// The faces of `cell`; all empty where it is not shaped.
    pub(crate) fn faces(&self, cell: usize) -> [u8; 6] {
        find(self.shaped(), cell).unwrap_or([0; 6])
    }

    /// Gives `cell` the facts of another state.
    pub(crate) fn set(&mut self, cell: usize, facts: LightFacts, states: &BlockStates) {
        if let Opacity::Mixed(mixed) = self {
            return mixed.set(cell, facts, states);
        }
        let before = LightFacts {
            emission: 0,
            dampening: match self {
                Opacity::Clear => 0,
                Opacity::Dim => 1,
                _ => MAX_LEVEL,
            },
            faces: [0; 6],
        };
        if before == facts {
            return;
        }
        let mut mixed = MixedOpacity { open: *self.open(), clear: *self.clear(), ..MixedOpacity::NOTHING };
        mixed.set(cell, facts, states);
        *self = Opacity::Mixed(Box::new(mixed));
    }

    /// Bytes on the heap, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.mixed().map_or(0, |mixed| {
            size_of::<MixedOpacity>()
                + (mixed.slow.capacity() + mixed.emitters.capacity()) * size_of::<(u16, u8)>()
                + mixed.shaped.capacity() * size_of::<(u16, [u8; 6])>()
                + mixed.edges.as_ref().map_or(0, |_| size_of::<Edges>())
        })
    }
}

/// What the masks have to know of a palette entry, each in 16 bits of its own: one bit for each cell of a row.
const OPEN: u64 = 1;
const CLEAR: u64 = 1 << 16;
const RARE: u64 = 1 << 32;

impl MixedOpacity {
    const NOTHING: MixedOpacity = MixedOpacity {
        open: NO_CELL,
        clear: NO_CELL,
        slow: Vec::new(),
        emitters: Vec::new(),
        shaped: Vec::new(),
        edges: None,
    };

    fn derive(&mut self, width: Width, section: &Section, states: &BlockStates) {
        let flags = |state: StateId| {
            let facts = LightFacts::of(states, state);
            let open = if facts.step() == 1 { OPEN } else { 0 };
            let clear = if facts.passes_sky() { CLEAR } else { 0 };
            let slow = facts.step() > 1 && !facts.is_opaque();
            let rare = if slow || facts.emission > 0 || facts.is_shaped() { RARE } else { 0 };
            open | clear | rare
        };
        let palette = section.palette();
        let rare = if let Some(flags_of_few) = few(palette, flags) {
            self.masks(width, section, &flags_of_few[..palette.len()])
        } else {
            let flags: Vec<u64> = palette.iter().map(|&state| flags(state)).collect();
            self.masks(width, section, &flags)
        };
        self.slow.clear();
        self.emitters.clear();
        self.shaped.clear();
        for cell in crate::masks::cells(&rare) {
            self.list(cell as u16, LightFacts::of(states, palette[section.palette_index(cell)]));
        }
        self.derive_edges(states);
    }

    /// Fills the masks and returns the cells that are rare.
    fn masks(&mut self, width: Width, section: &Section, flags: &[u64]) -> CellMask {
        let rare;
        [self.open, self.clear, rare] = crate::rows::flag_masks(width, section, flags);
        rare
    }

    /// Appends a cell to the lists it belongs to.
    fn list(&mut self, cell: u16, facts: LightFacts) {
        if facts.step() > 1 && !facts.is_opaque() {
            self.slow.push((cell, facts.step()));
        }
        if facts.emission > 0 {
            self.emitters.push((cell, facts.emission));
        }
        if facts.is_shaped() {
            self.shaped.push((cell, facts.faces));
        }
    }

    fn derive_edges(&mut self, states: &BlockStates) {
        if self.shaped.is_empty() {
            self.edges = None;
            return;
        }
        let mut shaped = NO_CELL;
        for &(cell, _) in &self.shaped {
            shaped[usize::from(cell) / 64] |= 1 << (cell % 64);
        }
        let mut edges = Edges::NONE;
        for &(cell, faces) in &self.shaped {
            for side in Direction::ALL {
                // An edge that only the other face closes is found from there.
                let face = faces[side.index()];
                let Some(beside) = beside_within(cell.into(), side).filter(|_| face != 0) else { continue };
                let other = if has(&shaped, beside) { find(&self.shaped, beside) } else { None };
                let other = other.map_or(0, |faces| faces[side.opposite().index()]);
                if states.faces_cover(face, other) {
                    edges.set(cell.into(), side, true);
                }
            }
        }
        self.edges = (!edges.is_empty()).then(|| Box::new(edges));
    }

    /// Opens and closes the edges of `cell` to the cells of this section as its `faces` and theirs demand.
    fn close_edges(&self, cell: usize, faces: [u8; 6], states: &BlockStates, edges: &mut Edges) {
        for side in Direction::ALL {
            let Some(beside) = beside_within(cell, side) else { continue };
            let other = find(&self.shaped, beside).unwrap_or([0; 6]);
            let closed = states.faces_cover(faces[side.index()], other[side.opposite().index()]);
            edges.set(cell, side, closed);
        }
    }

    fn set(&mut self, cell: usize, facts: LightFacts, states: &BlockStates) {
        let (word, bit) = (cell / 64, 1_u64 << (cell % 64));
        let put = |mask: &mut CellMask, on: bool| {
            mask[word] = if on { mask[word] | bit } else { mask[word] & !bit };
        };
        put(&mut self.open, facts.step() == 1);
        put(&mut self.clear, facts.passes_sky());
        let slow = facts.step() > 1 && !facts.is_opaque();
        relist(&mut self.slow, cell, slow.then_some(facts.step()));
        relist(&mut self.emitters, cell, (facts.emission > 0).then_some(facts.emission));
        let was_shaped = find(&self.shaped, cell).is_some();
        if was_shaped || facts.is_shaped() {
            relist(&mut self.shaped, cell, facts.is_shaped().then_some(facts.faces));
            let mut edges = self.edges.take().unwrap_or_else(|| Box::new(Edges::NONE));
            self.close_edges(cell, facts.faces, states, &mut edges);
            self.edges = (!edges.is_empty()).then_some(edges);
        }
    }
}

/// The flags of a palette of up to 64 entries, without memory of their own.
fn few(palette: &[StateId], flags: impl Fn(StateId) -> u64) -> Option<[u64; 64]> {
    let mut few = [0; 64];
    let room = few.get_mut(..palette.len())?;
    for (room, &state) in room.iter_mut().zip(palette) {
        *room = flags(state);
    }
    Some(few)
}

/// The entry of `cell` in a list sorted by cell.
pub(crate) fn find<T: Copy>(list: &[(u16, T)], cell: usize) -> Option<T> {
    list.binary_search_by_key(&(cell as u16), |entry| entry.0).ok().map(|at| list[at].1)
}

fn relist<T>(list: &mut Vec<(u16, T)>, cell: usize, value: Option<T>) {
    let cell = cell as u16;
    match (list.binary_search_by_key(&cell, |entry| entry.0), value) {
        (Ok(at), Some(value)) => list[at].1 = value,
        (Ok(at), None) => {
            list.remove(at);
        }
        (Err(at), Some(value)) => list.insert(at, (cell, value)),
        (Err(_), None) => {}
    }
}

/// The cell beside `cell` where it lies in the same section.
pub(crate) const fn beside_within(cell: usize, side: Direction) -> Option<usize> {
    match side {
        Direction::Down if cell >= 256 => Some(cell - 256),
        Direction::Up if cell < SECTION_CELLS - 256 => Some(cell + 256),
        Direction::North if cell & 0xF0 != 0 => Some(cell - 16),
        Direction::South if cell & 0xF0 != 0xF0 => Some(cell + 16),
        Direction::West if cell & 0xF != 0 => Some(cell - 1),
        Direction::East if cell & 0xF != 0xF => Some(cell + 1),
        _ => None,
    }
}

/// The facts of `state` in a section: a short cut for edits.
pub(crate) fn facts_of(states: &BlockStates, state: StateId) -> LightFacts {
    LightFacts::of(states, state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changing_cells_one_by_one_gives_what_deriving_does() {
        let states = BlockStates::load();
        let kinds = ["air", "stone", "oak_slab[type=bottom]", "water", "torch", "oak_stairs", "glowstone"]
            .map(|text| states.parse(text).expect("known"));
        let mut section = Section::uniform(StateId::AIR);
        let mut kept = Opacity::Clear;
        let mut random = 1_u64;
        for _ in 0..6_000 {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            // Few cells, so that shaped ones meet.
            let cell = (random >> 33) as usize & 0x333;
            let state = kinds[(random >> 50) as usize % kinds.len()];
            section.set(cell, state, &states);
            kept.set(cell, facts_of(&states, state), &states);
        }
        // Derived over what another section left.
        let mut derived = kept.clone();
        derived.derive(Width::Plain, &Section::uniform(kinds[5]), &states);
        derived.derive(Width::Plain, &section, &states);
        let (Some(kept), Some(derived)) = (kept.mixed(), derived.mixed()) else { panic!("mixed sections") };
        assert!(kept.open == derived.open && kept.clear == derived.clear);
        assert_eq!((&kept.emitters, &kept.shaped), (&derived.emitters, &derived.shaped));
        assert_eq!(kept.edges, derived.edges);
        assert!(kept.edges.is_some() && !kept.emitters.is_empty());
    }
}
