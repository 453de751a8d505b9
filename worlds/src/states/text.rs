//! Block states as text, `minecraft:oak_slab[type=top,waterlogged=false]`, as the game's commands write them.

use super::{BlockStates, StateId};
use std::fmt::Write;

/// Why a text names no block state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseStateError {
    /// The text does not have the form of a block state.
    #[error("`{text}` is no block state; write name[property=value,...], such as oak_slab[type=top]")]
    Malformed {
        /// The whole text.
        text: String,
    },
    /// There is no such block.
    #[error("no block is called `{name}` in Minecraft {version}; names are like minecraft:oak_slab")]
    UnknownBlock {
        /// The block named.
        name: String,
        /// The version that the table describes.
        version: String,
    },
    /// The block has no such property.
    #[error("{name} has no property `{property}`; it has: {known}")]
    UnknownProperty {
        /// The block named.
        name: String,
        /// The property named.
        property: String,
        /// The block's properties.
        known: String,
    },
    /// The property has no such value.
    #[error("property {property} of {name} cannot be `{value}`; it can be: {known}")]
    UnknownValue {
        /// The block named.
        name: String,
        /// The property named.
        property: String,
        /// The value named.
        value: String,
        /// The property's values.
        known: String,
    },
}

impl BlockStates {
    /// Reads a block state from text such as `oak_slab[type=top]`.
    ///
    /// The namespace `minecraft:` may be left out; missing properties take the value of the block's default state;
    /// names and values of earlier versions are understood. Of unknown states only those met before are found.
    ///
    /// # Errors
    /// Names the part that is wrong and what would be right.
    pub fn parse(&self, text: &str) -> Result<StateId, ParseStateError> {
        let (name, properties) = split(text)
            .ok_or_else(|| ParseStateError::Malformed { text: text.chars().take(200).collect() })?;
        self.lookup(name, &properties).ok_or_else(|| self.explain(name, &properties))
    }

    /// Writes a state as text that [`BlockStates::parse`] reads back, with all its properties.
    #[must_use]
    pub fn print(&self, id: StateId) -> String {
        let mut text = self.name(id).to_owned();
        for (index, (property, value)) in self.properties(id).enumerate() {
            let before = if index == 0 { '[' } else { ',' };
            write!(text, "{before}{property}={value}").expect("writing to a string cannot fail");
        }
        if text.contains('[') {
            text.push(']');
        }
        text
    }

    /// Why `lookup` found nothing.
    fn explain(&self, name: &str, properties: &[(&str, &str)]) -> ParseStateError {
        let Some(kinds) = self.names.block_kinds(name) else {
            return ParseStateError::UnknownBlock {
                name: name.to_owned(),
                version: self.version.to_string(),
            };
        };
        let kinds: Vec<_> = kinds.collect();
        for (property, value) in properties {
            let Some(kind) = kinds.iter().find(|kind| *kind.name == **property) else {
                return ParseStateError::UnknownProperty {
                    name: name.to_owned(),
                    property: (*property).to_owned(),
                    known: join(kinds.iter().map(|kind| &*kind.name)),
                };
            };
            if self.lookup(name, &[(property, value)]).is_none() {
                return ParseStateError::UnknownValue {
                    name: name.to_owned(),
                    property: (*property).to_owned(),
                    value: (*value).to_owned(),
                    known: join(kind.values.iter().map(|value| &**value)),
                };
            }
        }
        ParseStateError::Malformed { text: name.to_owned() }
    }
}

/// Name and properties of a text; `None` if it has another form.
fn split(text: &str) -> Option<(&str, Vec<(&str, &str)>)> {
    let text = text.trim();
    let (name, inside) = match text.split_once('[') {
        None => (text, ""),
        Some((name, rest)) => (name, rest.strip_suffix(']')?),
    };
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || matches!(c, ']' | '=' | ',')) {
        return None;
    }
    let mut properties = Vec::new();
    for pair in inside.split(',').filter(|_| !inside.trim().is_empty()) {
        let (property, value) = pair.split_once('=')?;
        let (property, value) = (property.trim(), value.trim());
        let repeated = properties.iter().any(|(known, _)| *known == property);
        if property.is_empty() || value.is_empty() || repeated {
            return None;
        }
        properties.push((property, value));
    }
    Some((name, properties))
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
