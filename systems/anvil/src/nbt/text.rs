//! Modified UTF-8: as UTF-8, but a zero takes two bytes and characters beyond 16 bits are two surrogates of three
//! bytes each.

use std::borrow::Cow;

/// The text that modified UTF-8 stands for; `None` where the bytes are not modified UTF-8.
///
/// Borrows where both encodings agree, which is nearly always.
///
/// ```
/// use voxtick_anvil::nbt::decode_text;
/// assert_eq!(decode_text(b"minecraft:stone").as_deref(), Some("minecraft:stone"));
/// assert_eq!(decode_text(&[0xC0, 0x80]).as_deref(), Some("\0"));
/// assert_eq!(decode_text(&[0xFF]), None);
/// ```
#[must_use]
pub fn decode_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    // Real UTF-8 with four-byte characters is written by some tools; it is read as what it plainly means.
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Cow::Borrowed(text));
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((unit, length)) = next_unit(rest) {
        units.push(unit);
        rest = &rest[length..];
    }
    if !rest.is_empty() {
        return None;
    }
    String::from_utf16(&units).ok().map(Cow::Owned)
}

/// The 16-bit unit that the bytes begin with, and how many bytes it takes.
fn next_unit(bytes: &[u8]) -> Option<(u16, usize)> {
    let continuation = |index: usize| {
        let byte = *bytes.get(index)?;
        (byte & 0xC0 == 0x80).then_some(u16::from(byte & 0x3F))
    };
    let first = u16::from(*bytes.first()?);
    match first {
        0..=0x7F => Some((first, 1)),
        0xC0..=0xDF => Some(((first & 0x1F) << 6 | continuation(1)?, 2)),
        0xE0..=0xEF => Some(((first & 0xF) << 12 | continuation(1)? << 6 | continuation(2)?, 3)),
        _ => None,
    }
}

/// Text as modified UTF-8.
///
/// ```
/// use voxtick_anvil::nbt::{decode_text, encode_text};
/// let bytes = encode_text("a\0\u{1F600}");
/// assert_eq!(bytes.len(), 1 + 2 + 6);
/// assert_eq!(decode_text(&bytes).as_deref(), Some("a\0\u{1F600}"));
/// ```
#[must_use]
pub fn encode_text(text: &str) -> Cow<'_, [u8]> {
    if !text.bytes().any(|byte| byte == 0 || byte >= 0xF0) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len() + 8);
    for unit in text.encode_utf16() {
        match unit {
            1..=0x7F => bytes.push(unit as u8),
            0 | 0x80..=0x7FF => bytes.extend([0xC0 | (unit >> 6) as u8, 0x80 | (unit & 0x3F) as u8]),
            _ => bytes.extend([
                0xE0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3F) as u8,
                0x80 | (unit & 0x3F) as u8,
            ]),
        }
    }
    Cow::Owned(bytes)
}
