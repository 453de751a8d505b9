//! What systems keep with a chunk: byte arrays in the root, each under a name with a namespace.
//!
//! The game has no such names. What another program keeps this way is carried along like everything else.

use super::patch::Patch;
use crate::nbt::{Nbt, Tag};
use std::sync::Arc;
use voxtick_worlds::Attachments;

/// Reads what is kept with a chunk.
pub(super) fn read(root: Nbt<'_>) -> Attachments {
    let mut attachments = Attachments::new();
    for (name, value) in root.fields() {
        // A name in which modified UTF-8 differs from UTF-8 is no name of ours.
        if let (Ok(name), Some(bytes)) = (std::str::from_utf8(name), value.byte_array())
            && name.contains(':')
        {
            // Of fields with one name the first counts, as everywhere.
            attachments.entry(name.to_owned()).or_insert_with(|| Arc::from(bytes));
        }
    }
    attachments
}

/// Makes a document say `now` where it says `before`.
pub(super) fn edit(root: Nbt<'_>, before: &Attachments, now: &Attachments, patch: &mut Patch) {
    for (name, bytes) in now.iter().filter(|(name, bytes)| before.get(*name) != Some(bytes)) {
        patch.set_field(root, name, Tag::ByteArray, |writer| writer.byte_array(bytes));
    }
    for name in before.keys().filter(|name| !now.contains_key(*name)) {
        patch.remove_field(root, name);
    }
}
