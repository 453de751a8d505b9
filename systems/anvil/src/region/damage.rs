//! What can be wrong with an entry of a region file and with the record that it points at.

use voxtick_worlds::ChunkPos;

/// What is wrong with one entry of a region file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The file ends before the entry's place in the header.
    #[error("the file ends within the header, before this entry")]
    HeaderCut,
    /// The record would lie in the header.
    #[error("the header points at sector {sector}, which is part of the header itself")]
    OffsetInHeader {
        /// The sector named.
        sector: u32,
    },
    /// The entry names a place and no length.
    #[error("the header gives the record at sector {sector} no sectors")]
    NoSectors {
        /// The sector named.
        sector: u32,
    },
    /// The record begins at or past the end of the file.
    #[error("the header points at sector {sector}, past the end of the file at byte {length}")]
    PastEnd {
        /// The sector named.
        sector: u32,
        /// Bytes of the file.
        length: u64,
    },
    /// Two entries share sectors, so that at least one of them was written over.
    #[error("its sectors from {sector} on are also those of {other}")]
    Overlap {
        /// The sector named.
        sector: u32,
        /// The chunk that shares it.
        other: ChunkPos,
    },
    /// The length of the record is 0 or larger than its sectors.
    #[error("the record at byte {offset} claims {length} bytes, its sectors hold {room}")]
    BadLength {
        /// Where the record begins.
        offset: u64,
        /// The length found.
        length: u32,
        /// What its sectors hold after the length field.
        room: usize,
    },
    /// The file ends within the record.
    #[error("the file ends within the record at byte {offset}: {available} of {needed} bytes are there")]
    RecordCut {
        /// Where the record begins.
        offset: u64,
        /// Bytes that are there.
        available: usize,
        /// Bytes that the record claims.
        needed: usize,
    },
    /// The record is compressed in a way that nobody knows.
    #[error("the record at byte {offset} has the unknown compression scheme {scheme}")]
    UnknownCompression {
        /// Where the record begins.
        offset: u64,
        /// The number found.
        scheme: u8,
    },
    /// The record is compressed in a way of a server's own.
    #[error(
        "the record at byte {offset} uses the custom compression `{name}`; convert it with the program that wrote it"
    )]
    CustomCompression {
        /// Where the record begins.
        offset: u64,
        /// The name of the scheme.
        name: String,
    },
    /// The chunk should have a file of its own, and there is none.
    #[error("its payload should be in {file}, which does not exist; put the file back")]
    ExternalMissing {
        /// The file's name.
        file: String,
    },
    /// The chunk's own file is larger than is allowed.
    #[error(
        "its payload in {file} has {length} bytes, {limit} are allowed; raise the limit if the source is trusted"
    )]
    ExternalTooLarge {
        /// The file's name.
        file: String,
        /// Its bytes.
        length: u64,
        /// Bytes allowed.
        limit: usize,
    },
    /// The chunk lies in a bucket of a Linear file that cannot be read.
    #[error("its bucket cannot be read: {cause}")]
    LinearBucket {
        /// What is wrong with the bucket.
        cause: crate::linear::LinearError,
    },
    /// The record says that its payload is in a file of its own, and holds one too.
    #[error("the record at byte {offset} holds a payload and says that it is in {file}")]
    BothPayloads {
        /// Where the record begins.
        offset: u64,
        /// The file's name.
        file: String,
    },
}
