//! Entities in their chunk's own record, as the game kept them before 1.17.

use crate::nbt::{Nbt, NbtWriter, Tag};

/// The first version that keeps entities in records of their own (20w45a).
pub(crate) const FIRST_WITH_RECORDS: i32 = 2681;

/// The entities that a chunk's record has in it, as a document of their own; `None` where they have no place there.
pub(crate) fn document_within(root: Nbt<'_>) -> Option<Vec<u8>> {
    let data_version = i32::try_from(root.field("DataVersion")?.integer()?).ok()?;
    let level = root.field("Level").filter(|level| level.tag() == Tag::Compound)?;
    if data_version >= FIRST_WITH_RECORDS {
        return None;
    }
    let mut document = Vec::new();
    let mut writer = NbtWriter::new(&mut document);
    writer.begin(Tag::Compound, "");
    writer.begin(Tag::Int, "DataVersion");
    writer.int(data_version);
    if let Some(list) = level.field("Entities") {
        writer.begin(list.tag(), "Entities");
        writer.raw(list.payload());
    }
    writer.end();
    Some(document)
}
