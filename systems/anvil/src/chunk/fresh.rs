//! The document of a chunk that did not come from a file: everything that the game wants to find, and no section yet.

use crate::nbt::{NbtWriter, Tag};
use voxtick_worlds::Chunk;

/// The version that new chunks are written for: Minecraft Java 26.1, whose states the shipped table describes.
pub(crate) const NEW_DATA_VERSION: i32 = 4786;

/// Writes the document of a new chunk.
pub(super) fn write(chunk: &Chunk, document: &mut Vec<u8>) {
    document.clear();
    let mut writer = NbtWriter::new(document);
    writer.begin(Tag::Compound, "");
    for (name, value) in [
        ("DataVersion", NEW_DATA_VERSION),
        ("xPos", chunk.position().x),
        ("zPos", chunk.position().z),
        ("yPos", chunk.min_section()),
    ] {
        writer.begin(Tag::Int, name);
        writer.int(value);
    }
    writer.begin(Tag::String, "Status");
    writer.string(chunk.status.name());
    for name in ["LastUpdate", "InhabitedTime"] {
        writer.begin(Tag::Long, name);
        writer.long(0);
    }
    writer.begin(Tag::Byte, "isLightOn");
    writer.byte(0);
    for name in ["sections", "block_entities", "block_ticks", "fluid_ticks"] {
        writer.begin(Tag::List, name);
        writer.list(Tag::End, 0);
    }
    writer.begin(Tag::List, "PostProcessing");
    writer.list(Tag::List, chunk.sections().len());
    for _ in chunk.sections() {
        writer.list(Tag::End, 0);
    }
    writer.begin(Tag::Compound, "structures");
    for name in ["References", "starts"] {
        writer.begin(Tag::Compound, name);
        writer.end();
    }
    writer.end();
    writer.begin(Tag::Compound, "Heightmaps");
    writer.end();
    writer.end();
}
