//! Region files and chunks made by hand.

use std::path::{Path, PathBuf};

/// A region file made by hand.
pub(crate) struct RegionBytes {
    pub(crate) bytes: Vec<u8>,
}

impl RegionBytes {
    pub(crate) fn new() -> RegionBytes {
        RegionBytes { bytes: vec![0; 8192] }
    }

    /// Sets the location of an entry.
    pub(crate) fn locate(&mut self, entry: usize, sector: u32, sectors: u8) {
        self.bytes[entry * 4..entry * 4 + 4]
            .copy_from_slice(&(sector << 8 | u32::from(sectors)).to_be_bytes());
    }

    /// Appends a record on a sector boundary and points the entry at it.
    pub(crate) fn chunk(&mut self, entry: usize, scheme: u8, payload: &[u8]) {
        let length = payload.len() as u32 + 1;
        self.record(entry, length, scheme, payload);
    }

    /// As `chunk`, with any length field.
    pub(crate) fn record(&mut self, entry: usize, length: u32, scheme: u8, payload: &[u8]) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4096), 0);
        let sector = self.bytes.len() / 4096;
        self.bytes.extend(length.to_be_bytes());
        self.bytes.push(scheme);
        self.bytes.extend(payload);
        let sectors = (5 + payload.len()).div_ceil(4096);
        self.bytes.resize(self.bytes.len().next_multiple_of(4096), 0);
        self.locate(entry, sector as u32, sectors as u8);
    }

    pub(crate) fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, &self.bytes).expect("the folder can be written to");
        path
    }
}

/// NBT of a chunk with nothing but what is needed, by `fastnbt`: `sections` is added as it is.
pub(crate) fn chunk_nbt(x: i32, z: i32, sections: fastnbt::Value) -> Vec<u8> {
    let chunk = fastnbt::nbt!({
        "DataVersion": 3953,
        "xPos": x,
        "zPos": z,
        "yPos": -4,
        "Status": "minecraft:full",
        "isLightOn": 1_i8,
    });
    let fastnbt::Value::Compound(mut fields) = chunk else { unreachable!("a compound was written") };
    fields.insert("sections".to_owned(), sections);
    fastnbt::to_bytes(&fastnbt::Value::Compound(fields)).expect("NBT can be written")
}

/// A chunk of air.
pub(crate) fn empty_chunk(x: i32, z: i32) -> Vec<u8> {
    chunk_nbt(x, z, fastnbt::Value::List(Vec::new()))
}
