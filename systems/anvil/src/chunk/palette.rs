//! From palette entries, a name and its properties, to block states.

use super::error::DecodeSectionError;
use crate::nbt::{Nbt, Shortcuts, Tag};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use voxtick_worlds::{BlockStates, SECTION_CELLS, StateId};

/// More properties than any state has; entries with more are damaged.
const PROPERTY_LIMIT: usize = 64;

/// Palette entries met so far, by their bytes: a world has few kinds of them, and comparing bytes costs a tenth of
/// reading names and properties.
#[derive(Debug, Default)]
pub(super) struct KnownEntries(FxHashMap<Box<[u8]>, StateId>);

/// Most entries that are remembered, and the longest; a file with more or longer ones is no real one.
const REMEMBERED_LIMIT: usize = 1 << 14;
const REMEMBERED_LENGTH: usize = 1024;

impl KnownEntries {
    /// The state of an entry that was met before: as the walk has noted it, or else by its bytes.
    pub(super) fn state_of(&self, entry: Nbt<'_>) -> Option<StateId> {
        entry.shortcut().map(StateId).or_else(|| self.state(entry.payload()))
    }

    fn state(&self, entry: &[u8]) -> Option<StateId> {
        self.0.get(entry).copied()
    }

    fn remember(&mut self, entry: &[u8], state: StateId) {
        if self.0.len() < REMEMBERED_LIMIT && entry.len() <= REMEMBERED_LENGTH {
            self.0.insert(entry.into(), state);
        }
    }
}

// PERF: palettes are nearly half of what is in a chunk's document, and going past a known entry costs a third of walking
// through it and looking it up then.
impl Shortcuts for KnownEntries {
    fn has_for(&self, list: &[u8]) -> bool {
        matches!(list, b"palette" | b"Palette")
    }

    fn past(&mut self, bytes: &[u8]) -> Option<(usize, u32)> {
        let length = entry_length(&bytes[..bytes.len().min(REMEMBERED_LENGTH)])?;
        let state = self.state(&bytes[..length])?;
        Some((length, state.0)).filter(|(_, number)| *number < u32::MAX)
    }
}

/// The length of the compound that `bytes` begins with, where all it has is texts and compounds of texts, as palette
/// entries do.
fn entry_length(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut inner) = (0, false);
    loop {
        match bytes.get(at..)? {
            [TEXT, a, b, rest @ ..] => {
                let name = usize::from(u16::from_be_bytes([*a, *b]));
                let text = u16::from_be_bytes(*rest.get(name..)?.first_chunk()?);
                at += 3 + name + 2 + usize::from(text);
            }
            [COMPOUND, a, b, ..] if !inner => {
                at += 3 + usize::from(u16::from_be_bytes([*a, *b]));
                inner = true;
            }
            [END, ..] if inner => {
                at += 1;
                inner = false;
            }
            [END, ..] => return Some(at + 1),
            _ => return None,
        }
    }
}

const END: u8 = Tag::End as u8;
const TEXT: u8 = Tag::String as u8;
const COMPOUND: u8 = Tag::Compound as u8;

/// Reads a palette of block states.
pub(super) fn read_palette(
    field: &'static str,
    list: Nbt<'_>,
    states: &BlockStates,
    known: &mut KnownEntries,
    palette: &mut Vec<StateId>,
) -> Result<(), DecodeSectionError> {
    let entries = list.element_count().ok_or(DecodeSectionError::Field { field })?;
    if entries == 0 || entries > SECTION_CELLS {
        return Err(DecodeSectionError::PaletteSize { field, entries, limit: SECTION_CELLS });
    }
    if list.element_tag() != Tag::Compound {
        return Err(DecodeSectionError::PaletteEntry { field, entry: 0 });
    }
    palette.clear();
    for (entry, item) in list.items().enumerate() {
        // What was met for the first time earlier in this document is known by now.
        let state = match known.state_of(item) {
            Some(state) => state,
            None => {
                let state =
                    read_state(item, states)?.ok_or(DecodeSectionError::PaletteEntry { field, entry })?;
                known.remember(item.payload(), state);
                state
            }
        };
        palette.push(state);
    }
    Ok(())
}

/// The state that a palette entry names; `None` if it has another form.
pub(super) fn read_state(item: Nbt<'_>, states: &BlockStates) -> Result<Option<StateId>, DecodeSectionError> {
    let Some(name) = item.field("Name").and_then(|name| name.text()) else { return Ok(None) };
    let Some(fields) = item.field("Properties").map(|properties| properties.fields()) else {
        return Ok(Some(states.resolve(&name, &[])?));
    };
    let mut texts: [(Cow<'_, str>, Cow<'_, str>); PROPERTY_LIMIT] =
        [const { (Cow::Borrowed(""), Cow::Borrowed("")) }; 64];
    let mut count = 0;
    for (key, value) in fields {
        let (Some(key), Some(value)) = (crate::nbt::decode_text(key), value.text()) else { return Ok(None) };
        if count == PROPERTY_LIMIT {
            return Ok(None);
        }
        texts[count] = (key, value);
        count += 1;
    }
    let mut properties = [("", ""); PROPERTY_LIMIT];
    for (property, (key, value)) in properties.iter_mut().zip(&texts[..count]) {
        *property = (key, value);
    }
    Ok(Some(states.resolve(&name, &properties[..count])?))
}
