//! Views of the values of a walked document.

use super::Tag;
use super::tape::{NO_SHORTCUT, Node};
use super::text::decode_text;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// One value of a document that [`Tape::parse`](super::Tape::parse) has walked. Copying it is free.
///
/// Accessors answer `None` where the value is of another kind.
#[derive(Clone, Copy)]
pub struct Nbt<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) nodes: &'a [Node],
    pub(super) at: u32,
}

impl<'a> Nbt<'a> {
    /// The kind of the value.
    #[must_use]
    pub fn tag(&self) -> Tag {
        self.node().tag
    }

    /// Where the payload lies in the document: without kind and name, with the length of strings, arrays and lists.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.node().start as usize..self.node().end as usize
    }

    /// Where the value lies in its compound: with kind and name. Elements of lists have neither.
    #[must_use]
    pub fn named_range(&self) -> Range<usize> {
        let node = self.node();
        match node.name_start {
            0 => self.range(),
            // One byte of kind and two of length before the name's text.
            name_start => name_start as usize - 3..node.end as usize,
        }
    }

    /// The exact bytes of the payload, to be written back.
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.range()]
    }

    /// The field of a compound with this name; the first one where a name comes twice.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Nbt<'a>> {
        self.fields().find(|(field, _)| *field == name.as_bytes()).map(|(_, value)| value)
    }

    /// The fields of a compound in their order, names in modified UTF-8; nothing for other kinds.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        let children = if self.tag() == Tag::Compound { self.children() } else { 0..0 };
        Fields { value: *self, at: children.start, end: children.end }
    }

    /// The elements of a list whose elements are strings, arrays, lists or compounds; nothing for other kinds.
    #[must_use]
    pub fn items(&self) -> Items<'a> {
        let children = if self.tag() == Tag::List { self.children() } else { 0..0 };
        Items { value: *self, at: children.start, end: children.end }
    }

    /// The kind of a list's elements; `Tag::End` for an empty list and for other kinds.
    #[must_use]
    pub fn element_tag(&self) -> Tag {
        self.node().element
    }

    /// How many elements a list or an array has.
    #[must_use]
    pub fn element_count(&self) -> Option<usize> {
        let payload = self.payload();
        let head = match self.tag() {
            Tag::List => payload.get(1..)?,
            Tag::ByteArray | Tag::IntArray | Tag::LongArray => payload,
            _ => return None,
        };
        let count = i32::from_be_bytes(*head.first_chunk()?);
        Some(count.max(0) as usize)
    }

    /// A byte, short, int or long.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        let payload = self.payload();
        Some(match self.tag() {
            Tag::Byte => i8::from_be_bytes(*payload.first_chunk()?).into(),
            Tag::Short => i16::from_be_bytes(*payload.first_chunk()?).into(),
            Tag::Int => i32::from_be_bytes(*payload.first_chunk()?).into(),
            Tag::Long => i64::from_be_bytes(*payload.first_chunk()?),
            _ => return None,
        })
    }

    /// The text of a string; `None` too where it is no modified UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'a, str>> {
        decode_text(self.text_bytes()?)
    }

    /// The bytes of a string's text.
    #[must_use]
    pub fn text_bytes(&self) -> Option<&'a [u8]> {
        if self.tag() == Tag::String { self.payload().get(2..) } else { None }
    }

    /// The bytes of a byte array.
    #[must_use]
    pub fn byte_array(&self) -> Option<&'a [u8]> {
        if self.tag() == Tag::ByteArray { self.payload().get(4..) } else { None }
    }

    /// The elements of an int array, each 4 bytes, big-endian.
    #[must_use]
    pub fn int_array(&self) -> Option<&'a [[u8; 4]]> {
        if self.tag() == Tag::IntArray { Some(self.payload().get(4..)?.as_chunks().0) } else { None }
    }

    /// The elements of a long array, each 8 bytes, big-endian.
    #[must_use]
    pub fn long_array(&self) -> Option<&'a [[u8; 8]]> {
        if self.tag() == Tag::LongArray { Some(self.payload().get(4..)?.as_chunks().0) } else { None }
    }

    /// What the shortcut past this compound says of it, where there was one: its fields are not noted then.
    pub(crate) fn shortcut(&self) -> Option<u32> {
        Some(self.node().shortcut).filter(|shortcut| *shortcut != NO_SHORTCUT)
    }

    fn node(&self) -> &'a Node {
        &self.nodes[self.at as usize]
    }

    fn children(&self) -> Range<u32> {
        self.at + 1..self.node().next
    }
}

impl fmt::Debug for Nbt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at bytes {:?}", self.tag(), self.range())
    }
}

/// The fields of a compound; see [`Nbt::fields`].
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    value: Nbt<'a>,
    at: u32,
    end: u32,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], Nbt<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let value = Nbt { at: self.at, ..self.value };
        let node = value.node();
        self.at = node.next;
        let name = node.name_start as usize..node.name_start as usize + usize::from(node.name_length);
        Some((&value.bytes[name], value))
    }
}

/// The elements of a list; see [`Nbt::items`].
#[derive(Debug, Clone)]
pub struct Items<'a> {
    value: Nbt<'a>,
    at: u32,
    end: u32,
}

impl<'a> Iterator for Items<'a> {
    type Item = Nbt<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let value = Nbt { at: self.at, ..self.value };
        self.at = value.node().next;
        Some(value)
    }
}
