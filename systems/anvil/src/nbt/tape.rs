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
    /// What the shortcut past this compound says of it.
    pub(super) shortcut: u32,
}

/// In [`Node::shortcut`]: there was none.
pub(super) const NO_SHORTCUT: u32 = u32::MAX;

/// Compounds that need not be walked through, as they are known by their bytes.
pub(crate) trait Shortcuts {
    /// Whether to ask for the elements of lists with this name.
    fn has_for(&self, name: &[u8]) -> bool;

    /// Where `bytes` begins with a known compound: its length, and a number for it below `u32::MAX` that
    /// [`Nbt::shortcut`] gives back. What is in the compound is not noted and counts for no limit.
    fn past(&mut self, bytes: &[u8]) -> Option<(usize, u32)>;
}

/// None are known.
struct NoShortcuts;

impl Shortcuts for NoShortcuts {
    fn has_for(&self, _: &[u8]) -> bool {
        false
    }

    fn past(&mut self, _: &[u8]) -> Option<(usize, u32)> {
        None
    }
}

/// Where the text of a name lies.
#[derive(Clone, Copy)]
struct Name {
    start: u32,
    length: u16,
}

impl Name {
    /// Elements of lists have none.
    const NONE: Name = Name { start: 0, length: 0 };
}

/// A list or compound whose end is not reached.
#[derive(Debug)]
struct Open {
    node: u32,
    /// Elements that a list still has to give; `None` for a compound.
    remaining: Option<u32>,
    /// Their kind.
    element: Tag,
    /// Whether some of them may be known.
    has_shortcuts: bool,
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
        self.parse_with(bytes, limits, &mut NoShortcuts)
    }

    /// As [`Tape::parse`], past compounds that are known.
    pub(crate) fn parse_with<'a>(
        &'a mut self,
        bytes: &'a [u8],
        limits: &NbtLimits,
        shortcuts: &mut impl Shortcuts,
    ) -> Result<Nbt<'a>, NbtError> {
        self.nodes.clear();
        self.open.clear();
        if u32::try_from(bytes.len()).is_err() {
            return Err(NbtError::TooLarge { length: bytes.len() });
        }
        let (nodes, open) = (&mut self.nodes, &mut self.open);
        Walk { bytes, offset: 0, limits, nodes, open, shortcuts }.document()?;
        Ok(Nbt { bytes, nodes: &self.nodes, at: 0 })
    }
}

struct Walk<'a, S> {
    bytes: &'a [u8],
    offset: usize,
    limits: &'a NbtLimits,
    nodes: &'a mut Vec<Node>,
    open: &'a mut Vec<Open>,
    shortcuts: &'a mut S,
}

impl<S: Shortcuts> Walk<'_, S> {
    /// One turn of the loop a value. What is open inmost is in `inner`, what is around it in `open`.
    fn document(&mut self) -> Result<(), NbtError> {
        let [tag] = self.array()?;
        if tag != Tag::Compound as u8 {
            return Err(NbtError::RootIsNoCompound { tag });
        }
        let name = self.name()?;
        self.note(Tag::Compound, name, Tag::End, self.offset)?;
        self.check_depth(0)?;
        let mut inner = Open { node: 0, remaining: None, element: Tag::Compound, has_shortcuts: false };
        loop {
            let (tag, name) = match &mut inner.remaining {
                Some(0) => (Tag::End, Name::NONE),
                Some(remaining) => {
                    *remaining -= 1;
                    if inner.has_shortcuts && self.take_shortcut()? {
                        continue;
                    }
                    (inner.element, Name::NONE)
                }
                None => {
                    let offset = self.offset;
                    let [number] = self.array()?;
                    match Tag::from_number(number) {
                        Some(Tag::End) => (Tag::End, Name::NONE),
                        Some(tag) => (tag, self.name()?),
                        None => return Err(NbtError::UnknownTag { tag: number, offset }),
                    }
                }
            };
            let start = self.offset;
            let (mut element, mut remaining) = (Tag::End, None);
            match tag {
                Tag::End => {
                    self.close(inner.node);
                    match self.open.pop() {
                        Some(outer) => inner = outer,
                        None => return Ok(()),
                    }
                    continue;
                }
                Tag::Byte => self.skip(1)?,
                Tag::Short => self.skip(2)?,
                Tag::Int | Tag::Float => self.skip(4)?,
                Tag::Long | Tag::Double => self.skip(8)?,
                Tag::String => {
                    let length = u16::from_be_bytes(self.array()?);
                    self.skip(length.into())?;
                }
                Tag::ByteArray => self.skip_array(1)?,
                Tag::IntArray => self.skip_array(4)?,
                Tag::LongArray => self.skip_array(8)?,
                Tag::Compound => {}
                Tag::List => (element, remaining) = self.list()?,
            }
            let node = self.note(tag, name, element, start)?;
            if tag == Tag::Compound || remaining.is_some() {
                self.check_depth(self.open.len() + 1)?;
                let has_shortcuts = element == Tag::Compound && self.has_shortcuts(name);
                self.open.push(inner);
                inner = Open { node, remaining, element, has_shortcuts };
            }
        }
    }

    fn name(&mut self) -> Result<Name, NbtError> {
        let length = u16::from_be_bytes(self.array()?);
        let start = self.offset as u32;
        self.skip(length.into())?;
        Ok(Name { start, length })
    }

    /// Notes a value that ends here, or one whose end is not reached and is set when it is.
    fn note(&mut self, tag: Tag, name: Name, element: Tag, start: usize) -> Result<u32, NbtError> {
        let index = self.nodes.len();
        if index >= self.limits.values {
            return Err(NbtError::TooManyValues { limit: self.limits.values });
        }
        self.nodes.push(Node {
            name_start: name.start,
            name_length: name.length,
            tag,
            element,
            start: start as u32,
            end: self.offset as u32,
            next: index as u32 + 1,
            shortcut: NO_SHORTCUT,
        });
        Ok(index as u32)
    }

    fn has_shortcuts(&self, name: Name) -> bool {
        let start = name.start as usize;
        self.shortcuts.has_for(&self.bytes[start..start + usize::from(name.length)])
    }

    /// Goes past the compound that begins here at once, if it is known.
    fn take_shortcut(&mut self) -> Result<bool, NbtError> {
        let start = self.offset;
        let Some((length, shortcut)) = self.shortcuts.past(&self.bytes[start..]) else { return Ok(false) };
        self.skip(length)?;
        let node = self.note(Tag::Compound, Name::NONE, Tag::End, start)?;
        self.nodes[node as usize].shortcut = shortcut;
        Ok(true)
    }

    /// Reads the head of a list and, where its elements take one size, skips them. Otherwise returns their number.
    fn list(&mut self) -> Result<(Tag, Option<u32>), NbtError> {
        let start = self.offset;
        let [number] = self.array()?;
        let element = Tag::from_number(number).ok_or(NbtError::UnknownTag { tag: number, offset: start })?;
        let count = i32::from_be_bytes(self.array()?);
        if count <= 0 {
            // The game reads a list of negative length as an empty one.
            return Ok((element, None));
        }
        if element == Tag::End {
            return Err(NbtError::ImpossibleLength { count, offset: start });
        }
        if let Some(size) = element.fixed_size() {
            self.skip_elements(count as usize, size)?;
            return Ok((element, None));
        }
        Ok((element, Some(count as u32)))
    }

    fn check_depth(&self, around: usize) -> Result<(), NbtError> {
        if around >= self.limits.depth {
            return Err(NbtError::TooDeep { limit: self.limits.depth, offset: self.offset });
        }
        Ok(())
    }

    fn close(&mut self, index: u32) {
        let next = self.nodes.len() as u32;
        let node = &mut self.nodes[index as usize];
        node.end = self.offset as u32;
        node.next = next;
    }

    fn skip_array(&mut self, size: usize) -> Result<(), NbtError> {
        let start = self.offset;
        let count = i32::from_be_bytes(self.array()?);
        let count =
            usize::try_from(count).map_err(|_| NbtError::ImpossibleLength { count, offset: start })?;
        self.skip_elements(count, size)
    }

    fn skip_elements(&mut self, count: usize, size: usize) -> Result<(), NbtError> {
        match count.checked_mul(size) {
            Some(length) => self.skip(length),
            None => Err(self.truncated()),
        }
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

    #[cold]
    fn truncated(&self) -> NbtError {
        NbtError::Truncated { offset: self.offset, length: self.bytes.len() }
    }
}
