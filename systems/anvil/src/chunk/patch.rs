//! A document with some of its parts replaced: everything else comes out byte for byte as it was.

use crate::nbt::{Nbt, NbtWriter, Tag};
use std::ops::Range;

/// Replacements to be made in a document, with the bytes that take the place.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    edits: Vec<Edit>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Edit {
    /// What is taken out of the document; empty for an insertion.
    out: Range<usize>,
    /// What takes its place, within the patch's bytes.
    by: Range<usize>,
}

impl Patch {
    pub(crate) fn clear(&mut self) {
        self.edits.clear();
        self.bytes.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Puts what `write` writes in the place of a part of the document.
    pub(crate) fn replace(&mut self, out: Range<usize>, write: impl FnOnce(&mut NbtWriter<'_>)) {
        let start = self.bytes.len();
        write(&mut NbtWriter::new(&mut self.bytes));
        self.edits.push(Edit { out, by: start..self.bytes.len() });
    }

    /// Gives a field of a compound the payload that `write` writes; the field is added at the compound's end where it
    /// is missing, and replaced as a whole where it is of another kind.
    pub(crate) fn set_field(
        &mut self,
        compound: Nbt<'_>,
        name: &str,
        tag: Tag,
        write: impl FnOnce(&mut NbtWriter<'_>),
    ) {
        let whole = |writer: &mut NbtWriter<'_>| {
            writer.begin(tag, name);
            write(writer);
        };
        match compound.field(name) {
            Some(field) => self.replace(field.named_range(), whole),
            None => {
                let end = compound.range().end - 1;
                self.replace(end..end, whole);
            }
        }
    }

    /// Takes a field out of a compound, if it is there.
    pub(crate) fn remove_field(&mut self, compound: Nbt<'_>, name: &str) {
        if let Some(field) = compound.field(name) {
            self.replace(field.named_range(), |_| {});
        }
    }

    /// Writes the patched document.
    pub(crate) fn apply(&mut self, document: &[u8], out: &mut Vec<u8>) {
        // Stable, so that fields added to one compound keep their order.
        self.edits.sort_by_key(|edit| edit.out.start);
        out.clear();
        out.reserve(document.len() + self.bytes.len());
        let mut at = 0;
        for edit in &self.edits {
            debug_assert!(edit.out.start >= at, "edits overlap at byte {}", edit.out.start);
            out.extend_from_slice(&document[at..edit.out.start]);
            out.extend_from_slice(&self.bytes[edit.by.clone()]);
            at = edit.out.end;
        }
        out.extend_from_slice(&document[at..]);
    }
}
