//! Writing NBT, value by value.

use super::Tag;
use super::text::encode_text;

/// Appends NBT to a buffer.
///
/// Nothing checks that the values make a whole document; [`Tape::parse`](super::Tape::parse) does.
///
/// ```
/// use voxtick_anvil::nbt::{NbtLimits, NbtWriter, Tape, Tag};
/// let mut bytes = Vec::new();
/// let mut writer = NbtWriter::new(&mut bytes);
/// writer.begin(Tag::Compound, "");
/// writer.begin(Tag::Int, "y");
/// writer.int(-4);
/// writer.end();
/// let mut tape = Tape::new();
/// let root = tape.parse(&bytes, &NbtLimits::default())?;
/// assert_eq!(root.field("y").and_then(|y| y.integer()), Some(-4));
/// # Ok::<(), voxtick_anvil::nbt::NbtError>(())
/// ```
#[derive(Debug)]
pub struct NbtWriter<'a>(&'a mut Vec<u8>);

impl<'a> NbtWriter<'a> {
    /// Appends to `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> NbtWriter<'a> {
        NbtWriter(bytes)
    }

    /// The kind and name of a field; its payload must follow.
    pub fn begin(&mut self, tag: Tag, name: &str) {
        self.0.push(tag as u8);
        self.string(name);
    }

    /// Ends a compound.
    pub fn end(&mut self) {
        self.0.push(Tag::End as u8);
    }

    /// The payload of a byte.
    pub fn byte(&mut self, value: i8) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    /// The payload of an int.
    pub fn int(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    /// The payload of a long.
    pub fn long(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    /// The payload of a string. Text beyond the format's 65,535 bytes is cut off, at a character.
    pub fn string(&mut self, text: &str) {
        let mut text = text;
        let mut bytes = encode_text(text);
        while bytes.len() > usize::from(u16::MAX) {
            let excess = (bytes.len() - usize::from(u16::MAX)).div_ceil(6);
            let mut end = text.len().saturating_sub(excess);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text = &text[..end];
            bytes = encode_text(text);
        }
        self.0.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
        self.0.extend_from_slice(&bytes);
    }

    /// The head of a list; its elements must follow.
    pub fn list(&mut self, element: Tag, count: usize) {
        self.0.push(element as u8);
        self.length(count);
    }

    /// The payload of a byte array.
    pub fn byte_array(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// The payload of a long array.
    pub fn long_array(&mut self, longs: impl ExactSizeIterator<Item = u64>) {
        self.length(longs.len());
        self.0.reserve(longs.len() * 8);
        for long in longs {
            self.0.extend_from_slice(&long.to_be_bytes());
        }
    }

    /// Bytes that are NBT already.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn length(&mut self, length: usize) {
        // The format counts in 31 bits; nothing that is written here comes near.
        self.int(i32::try_from(length).unwrap_or(i32::MAX));
    }
}
