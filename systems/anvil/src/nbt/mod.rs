//! NBT without copies: bytes are checked and walked once, then read in place.
//!
//! [`Tape::parse`] walks a document once and notes where every value begins and ends. [`Nbt`] is a view of one value:
//! fields, list items and arrays are slices of the document, so skipping what is not needed costs nothing, and the
//! exact bytes of any value are at hand to be written back untouched. No crate on stable Rust offers that.
//!
//! The format is that of Minecraft Java: big-endian, strings in modified UTF-8 behind a 16-bit length.

mod tape;
mod text;
mod view;
mod write;

pub(crate) use tape::Shortcuts;
pub use tape::{NbtError, NbtLimits, Tape};
pub use text::{decode_text, encode_text};
pub use view::{Fields, Items, Nbt};
pub use write::NbtWriter;

/// The kind of a value, as the format numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Tag {
    /// Ends a compound; as the element kind of a list: an empty one.
    End,
    /// 8 bits, signed.
    Byte,
    /// 16 bits, signed.
    Short,
    /// 32 bits, signed.
    Int,
    /// 64 bits, signed.
    Long,
    /// 32-bit IEEE number.
    Float,
    /// 64-bit IEEE number.
    Double,
    /// A list of bytes behind a 32-bit length.
    ByteArray,
    /// Text.
    String,
    /// Values of one kind.
    List,
    /// Named values.
    Compound,
    /// A list of ints behind a 32-bit length.
    IntArray,
    /// A list of longs behind a 32-bit length.
    LongArray,
}

impl Tag {
    /// The kind with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Tag> {
        Some(match number {
            0 => Tag::End,
            1 => Tag::Byte,
            2 => Tag::Short,
            3 => Tag::Int,
            4 => Tag::Long,
            5 => Tag::Float,
            6 => Tag::Double,
            7 => Tag::ByteArray,
            8 => Tag::String,
            9 => Tag::List,
            10 => Tag::Compound,
            11 => Tag::IntArray,
            12 => Tag::LongArray,
            _ => return None,
        })
    }

    /// Bytes of a value of this kind where all take the same.
    const fn fixed_size(self) -> Option<usize> {
        match self {
            Tag::Byte => Some(1),
            Tag::Short => Some(2),
            Tag::Int | Tag::Float => Some(4),
            Tag::Long | Tag::Double => Some(8),
            _ => None,
        }
    }
}
