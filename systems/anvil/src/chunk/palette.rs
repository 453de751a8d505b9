//! From palette entries, a name and its properties, to block states.

use super::error::DecodeSectionError;
use crate::nbt::{Nbt, Tag};
use std::borrow::Cow;
use voxtick_worlds::{BlockStates, SECTION_CELLS, StateId};

/// More properties than any state has; entries with more are damaged.
const PROPERTY_LIMIT: usize = 64;

/// Reads a palette of block states.
pub(super) fn read_palette(
    field: &'static str,
    list: Nbt<'_>,
    states: &BlockStates,
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
        palette.push(read_state(item, states)?.ok_or(DecodeSectionError::PaletteEntry { field, entry })?);
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
