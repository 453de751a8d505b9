//! The one walk over a document: checks it and notes where values lie.

use super::Tag;
use super::view::Nbt;

/// What a document may take at most; anything beyond is an error, found before memory is spent on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NbtLimits {
    /// Compounds and lists within each other. Defaults to 512, the game's own limit.
    pub depth: usize,
    /// Values in the whole document, elements of arrays and of lists of numbers not counted. Defaults to 4 Mi.
    pub values: usize,
}

impl Default for NbtLimits {
    fn default() -> Self {
        NbtLimits { depth: 512, values: 4 << 20 }
    }
}

/// Why bytes are no document that may be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NbtError {
    /// The document does not begin with a compound.
    #[error("NBT does not begin with a compound but with tag {tag}")]
    RootIsNoCompound {
        /// The number found instead.
        tag: u8,
    },
    /// The bytes end within a value.
    #[error("NBT ends at byte {length}, within the value at byte {offset}")]
    Truncated {
        /// Where the value begins.
        offset: usize,
        /// How many bytes there are.
        length: usize,
    },
    /// There is no such kind of value.
    #[error("NBT has the unknown tag {tag} at byte {offset}")]
    UnknownTag {
        /// The number found.
        tag: u8,
        /// Where.
        offset: usize,
    },
    /// A list of nothing claims to hold something, or an array has a negative length.
    #[error("NBT has an impossible length of {count} at byte {offset}")]
    ImpossibleLength {
        /// The length found.
        count: i32,
        /// Where.
        offset: usize,
    },
    /// Lists and compounds lie too deep within each other.
    #[error("NBT nests deeper than {limit} levels at byte {offset}")]
    TooDeep {
        /// The deepest level allowed.
        limit: usize,
        /// Where it is exceeded.
        offset: usize,
    },
    /// There are too many values.
    #[error("NBT holds more than {limit} values")]
    TooManyValues {
        /// How many are allowed.
        limit: usize,
    },
    /// The document is larger than 4 GiB.
    #[error("NBT of {length} bytes is too large to be read")]
    TooLarge {
        /// How many bytes there are.
        length: usize,
    },
}

/// Where the values of one document lie. Keep it and parse into it again: its memory is reused.
#[derive(Debug, Default)]
pub struct Tape {
    pub(super) nodes: Vec<Node>,
    open: Vec<Open>,
}

/// One value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// First byte of the name's text.
    pub(super) name_start: u32,
    pub(super) name_length: u16,
    pub(super) tag: Tag,
    /// Kind of the elements of a list.
    pub(super) element: Tag,
    /// First byte of the payload (for strings, arrays and lists: of their length or kind).
    pub(super) start: u32,
    /// One past the last byte of the payload.
    pub(super) end: u32,
    /// The node after this one and all within it.
    pub(super) next: u32,
}

/// A list or compound whose end is not reached.
#[derive(Debug)]
struct Open {
    node: u32,
    /// Elements that a list still has to give; `None` for a compound.
    remaining: Option<u32>,
}

impl Tape {
    /// A tape without a document.
    #[must_use]
    pub fn new() -> Tape {
        Tape::default()
    }

    /// Walks a document whose root is a compound and returns a view of that root.
    ///
    /// Bytes after the root are left alone; [`Nbt::range`] of the root tells where it ends.
    ///
    /// ```
    /// use voxtick_anvil::nbt::{NbtLimits, Tape};
    /// // A compound without name, in it the byte `y` = 7.
    /// let bytes = [10, 0, 0, 1, 0, 1, b'y', 7, 0];
    /// let mut tape = Tape::new();
    /// let root = tape.parse(&bytes, &NbtLimits::default())?;
    /// assert_eq!(root.field("y").and_then(|y| y.integer()), Some(7));
    /// # Ok::<(), voxtick_anvil::nbt::NbtError>(())
    /// ```
    ///
    /// # Errors
    /// [`NbtError`] where the bytes break the format or exceed the limits. Names and strings are not decoded here, so
    /// text that is no modified UTF-8 is found only by who reads it.
    pub fn parse<'a>(&'a mut self, bytes: &'a [u8], limits: &NbtLimits) -> Result<Nbt<'a>, NbtError> {
        self.nodes.clear();
        self.open.clear();
        if u32::try_from(bytes.len()).is_err() {
            return Err(NbtError::TooLarge { length: bytes.len() });
        }
        Walk { bytes, offset: 0, limits, nodes: &mut self.nodes, open: &mut self.open }.document()?;
        Ok(Nbt { bytes, nodes: &self.nodes, at: 0 })
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    offset: usize,
    limits: &'a NbtLimits,
    nodes: &'a mut Vec<Node>,
    open: &'a mut Vec<Open>,
}

impl Walk<'_> {
    fn document(&mut self) -> Result<(), NbtError> {
        let tag = self.byte()?;
        if tag != Tag::Compound as u8 {
            return Err(NbtError::RootIsNoCompound { tag });
        }
        self.named(Tag::Compound)?;
        while let Some(open) = self.open.last_mut() {
            match &mut open.remaining {
                Some(0) => self.close(),
                Some(remaining) => {
                    *remaining -= 1;
                    let element = self.nodes[open.node as usize].element;
                    self.value(element, 0, 0)?;
                }
                None => {
                    let offset = self.offset;
                    let number = self.byte()?;
                    match Tag::from_number(number) {
                        Some(Tag::End) => self.close(),
                        Some(tag) => self.named(tag)?,
                        None => return Err(NbtError::UnknownTag { tag: number, offset }),
                    }
                }
            }
        }
        Ok(())
    }

    fn named(&mut self, tag: Tag) -> Result<(), NbtError> {
        let length = u16::from_be_bytes(self.array()?);
        let start = self.offset as u32;
        self.skip(length.into())?;
        self.value(tag, start, length)
    }

    fn value(&mut self, tag: Tag, name_start: u32, name_length: u16) -> Result<(), NbtError> {
        if self.nodes.len() >= self.limits.values {
            return Err(NbtError::TooManyValues { limit: self.limits.values });
        }
        let start = self.offset;
        let index = self.nodes.len();
        self.nodes.push(Node {
            name_start,
            name_length,
            tag,
            element: Tag::End,
            start: start as u32,
            end: 0,
            next: 0,
        });
        if let Some(size) = tag.fixed_size() {
            self.skip(size)?;
        } else if let Some(size) = tag.array_element_size() {
            let count = self.length(start)?;
            self.skip_elements(count, size)?;
        } else {
            match tag {
                Tag::String => {
                    let length = u16::from_be_bytes(self.array()?);
                    self.skip(length.into())?;
                }
                Tag::List => {
                    if let Some(remaining) = self.list(index, start)? {
                        return self.descend(index, Some(remaining));
                    }
                }
                _ => return self.descend(index, None),
            }
        }
        self.end(index);
        Ok(())
    }

    /// Reads the head of a list and, where its elements take one size, skips them. Otherwise returns their number.
    fn list(&mut self, index: usize, start: usize) -> Result<Option<u32>, NbtError> {
        let number = self.byte()?;
        let element = Tag::from_number(number).ok_or(NbtError::UnknownTag { tag: number, offset: start })?;
        let count = i32::from_be_bytes(self.array()?);
        self.nodes[index].element = element;
        if count <= 0 {
            // The game reads a list of negative length as an empty one.
            return Ok(None);
        }
        if element == Tag::End {
            return Err(NbtError::ImpossibleLength { count, offset: start });
        }
        if let Some(size) = element.fixed_size() {
            self.skip_elements(count as usize, size)?;
            return Ok(None);
        }
        Ok(Some(count as u32))
    }

    fn descend(&mut self, index: usize, remaining: Option<u32>) -> Result<(), NbtError> {
        if self.open.len() >= self.limits.depth {
            return Err(NbtError::TooDeep { limit: self.limits.depth, offset: self.offset });
        }
        self.open.push(Open { node: index as u32, remaining });
        Ok(())
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.end(open.node as usize);
        }
    }

    fn end(&mut self, index: usize) {
        let next = self.nodes.len() as u32;
        let node = &mut self.nodes[index];
        node.end = self.offset as u32;
        node.next = next;
    }

    fn length(&mut self, start: usize) -> Result<usize, NbtError> {
        let count = i32::from_be_bytes(self.array()?);
        usize::try_from(count).map_err(|_| NbtError::ImpossibleLength { count, offset: start })
    }

    fn skip_elements(&mut self, count: usize, size: usize) -> Result<(), NbtError> {
        match count.checked_mul(size) {
            Some(length) => self.skip(length),
            None => Err(self.truncated()),
        }
    }

    fn byte(&mut self) -> Result<u8, NbtError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], NbtError> {
        match self.bytes[self.offset..].first_chunk() {
            Some(array) => {
                self.offset += N;
                Ok(*array)
            }
            None => Err(self.truncated()),
        }
    }

    fn skip(&mut self, length: usize) -> Result<(), NbtError> {
        if length > self.bytes.len() - self.offset {
            return Err(self.truncated());
        }
        self.offset += length;
        Ok(())
    }

    fn truncated(&self) -> NbtError {
        NbtError::Truncated { offset: self.offset, length: self.bytes.len() }
    }
}
