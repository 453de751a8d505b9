//! The record of a chunk: 4 bytes of length, 1 byte of compression scheme, payload.

use super::damage::Damage;
use crate::compression::Compression;

/// Bytes before the payload.
pub(super) const RECORD_HEAD: usize = 5;
/// Set in the scheme where the payload is in a file of its own.
pub(super) const EXTERNAL: u8 = 0x80;
const CUSTOM: u8 = 127;

/// A record whose head makes sense.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) compression: Compression,
    pub(super) external: bool,
    /// Bytes of the payload that follow the head.
    pub(super) payload_length: usize,
}

impl Record {
    /// Reads the record that lies at byte `offset` of a file.
    ///
    /// `bytes` is what the file has from there, at most `room` bytes: that of its sectors.
    pub(super) fn parse(bytes: &[u8], offset: u64, room: usize) -> Result<Record, Damage> {
        let Some(&[a, b, c, d, scheme]) = bytes.first_chunk() else {
            return Err(Damage::RecordCut { offset, available: bytes.len(), needed: RECORD_HEAD });
        };
        // The length counts the scheme and the payload, not itself.
        let length = u32::from_be_bytes([a, b, c, d]);
        if length == 0 || length as usize > room.saturating_sub(4) {
            return Err(Damage::BadLength { offset, length, room: room.saturating_sub(4) });
        }
        let needed = 4 + length as usize;
        if needed > bytes.len() {
            return Err(Damage::RecordCut { offset, available: bytes.len(), needed });
        }
        let payload = &bytes[RECORD_HEAD..needed];
        if scheme & !EXTERNAL == CUSTOM {
            return Err(Damage::CustomCompression { offset, name: custom_name(payload) });
        }
        let compression = Compression::from_number(scheme & !EXTERNAL)
            .ok_or(Damage::UnknownCompression { offset, scheme })?;
        Ok(Record { compression, external: scheme & EXTERNAL != 0, payload_length: payload.len() })
    }
}

/// The name that a custom scheme's payload begins with, as far as it is fit to be shown.
fn custom_name(payload: &[u8]) -> String {
    let length = payload.first_chunk().map_or(0, |length| usize::from(u16::from_be_bytes(*length)));
    let name = payload.get(2..2 + length.min(100)).unwrap_or_default();
    String::from_utf8_lossy(name).chars().filter(|c| !c.is_control()).collect()
}
