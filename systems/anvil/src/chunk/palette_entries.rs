//! Palette entries for writing: in the words in which the document has them, else made once and kept.

use super::layout::Layout;
use super::old_names::{name_in, property_in};
use super::palette::{KnownEntries, read_state};
use super::sections::SectionFields;
use crate::nbt::{Nbt, NbtWriter, Tag};
use rustc_hash::FxHashMap;
use std::ops::Range;
use voxtick_worlds::{BlockStates, StateId};

/// Entries that were made for states of which the document has none. Kept from chunk to chunk: copying an entry costs
/// a tenth of making it.
#[derive(Debug, Default)]
pub(super) struct MadeEntries {
    /// The version whose names the entries have.
    data_version: i32,
    ranges: FxHashMap<StateId, Range<usize>>,
    bytes: Vec<u8>,
}

/// Most bytes of entries that are kept; a world with more is no real one.
const KEPT_LIMIT: usize = 4 << 20;

impl MadeEntries {
    fn bytes_of(&mut self, state: StateId, states: &BlockStates) -> &[u8] {
        let (bytes, data_version) = (&mut self.bytes, self.data_version);
        let range = self.ranges.entry(state).or_insert_with(|| {
            let start = bytes.len();
            write_entry(state, states, data_version, &mut NbtWriter::new(bytes));
            start..bytes.len()
        });
        &self.bytes[range.clone()]
    }
}

/// The entries of one document.
pub(super) struct PaletteEntries<'a> {
    stored: &'a FxHashMap<i32, Nbt<'a>>,
    flat: bool,
    known: &'a KnownEntries,
    made: &'a mut MadeEntries,
    states: &'a BlockStates,
    /// What the document has. Made when first asked for: most chunks are not changed.
    bytes: Option<FxHashMap<StateId, &'a [u8]>>,
}

impl<'a> PaletteEntries<'a> {
    /// `stored` are the sections of the document, by height.
    pub(super) fn new(
        stored: &'a FxHashMap<i32, Nbt<'a>>,
        known: &'a KnownEntries,
        made: &'a mut MadeEntries,
        states: &'a BlockStates,
        layout: &Layout<'_>,
    ) -> PaletteEntries<'a> {
        let Layout { data_version, flat, .. } = *layout;
        if made.data_version != data_version || made.bytes.len() > KEPT_LIMIT {
            *made = MadeEntries { data_version, ..MadeEntries::default() };
        }
        PaletteEntries { stored, flat, known, made, states, bytes: None }
    }

    /// The entry of a state, whole.
    pub(super) fn bytes_of(&mut self, state: StateId) -> &[u8] {
        let (stored, flat, known, states) = (self.stored, self.flat, self.known, self.states);
        let bytes = self.bytes.get_or_insert_with(|| {
            let mut sections: Vec<(&i32, &Nbt<'_>)> = stored.iter().collect();
            sections.sort_by_key(|(y, _)| **y);
            let mut bytes = FxHashMap::default();
            for (_, section) in sections {
                for item in SectionFields::of(*section, flat).palette.iter().flat_map(Nbt::items) {
                    let state = known.state_of(item).or_else(|| read_state(item, states).ok()?);
                    if let Some(state) = state {
                        bytes.entry(state).or_insert(item.payload());
                    }
                }
            }
            bytes
        });
        match bytes.get(&state) {
            Some(bytes) => bytes,
            None => self.made.bytes_of(state, states),
        }
    }
}

fn write_entry(state: StateId, states: &BlockStates, data_version: i32, writer: &mut NbtWriter<'_>) {
    let name = states.name(state);
    writer.begin(Tag::String, "Name");
    writer.string(name_in(data_version, name));
    if states.properties(state).len() > 0 {
        writer.begin(Tag::Compound, "Properties");
        for (property, value) in states.properties(state) {
            let (property, value) = property_in(data_version, name, property, value);
            writer.begin(Tag::String, property);
            writer.string(value);
        }
        writer.end();
    }
    writer.end();
}
