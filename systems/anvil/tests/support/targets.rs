//! What is done to bytes that nobody meant well, a function a subject: each takes any bytes, must not panic, and
//! checks what must hold wherever the bytes make sense.
//!
//! Shared by the fuzz targets of `fuzz`, which look for new inputs, and by the test `fuzzed_inputs`, which runs known
//! ones and small changes of them.

use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use voxtick_anvil::compression::{Compression, Inflater, Packer};
use voxtick_anvil::files::{Access, Files, StoredFile};
use voxtick_anvil::nbt::{Nbt, NbtLimits, NbtWriter, Tag, Tape, decode_text, encode_text};
use voxtick_anvil::reference::{self, Value};
use voxtick_anvil::region::{ENTRIES, HEADER, Overwrite, Region, RegionOptions, StoredChunk};
use voxtick_anvil::{ChunkDecoder, ChunkEncoder, Limits};
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, RegionPos, Section};

/// One table for all inputs: making it takes longer than an input does. Unknown states stay in it, and are capped.
static STATES: LazyLock<Arc<BlockStates>> = LazyLock::new(BlockStates::load);

/// Small caps, so that a step of a search takes no time: a mebibyte for everything.
fn limits() -> Limits {
    let nbt = NbtLimits { depth: 64, values: 1 << 16 };
    Limits { inflated: 1 << 20, external: 1 << 20, nbt }
}

/// The bytes as a whole region file, or, where they do not begin with 255, as places in the header with what they
/// say, six bytes each, and a body behind the header.
///
/// No chunk is damaged by a neighbour's being written, whatever the header says.
pub(crate) fn region_header(bytes: &[u8]) {
    let file = match bytes.split_first() {
        None => Vec::new(),
        Some((255, file)) => file.to_vec(),
        Some((count, rest)) => {
            let (places, body) = rest.split_at(rest.len().min(usize::from(*count) * 6));
            let mut file = vec![0; HEADER];
            for place in places.as_chunks::<6>().0 {
                let entry = usize::from(u16::from_be_bytes([place[0], place[1]])) % ENTRIES;
                file[entry * 4..entry * 4 + 4].copy_from_slice(&place[2..]);
            }
            file.extend_from_slice(body);
            file
        }
    };
    let before = verdicts(&open(&file, Access::Read).expect("any file can be opened for reading"));
    for (entry, verdict) in before.iter().enumerate() {
        let says_absent = match file.get(entry * 4..entry * 4 + 4) {
            Some(location) => location == [0; 4],
            None => file.is_empty(),
        };
        assert_eq!(*verdict == Verdict::Absent, says_absent, "entry {entry}");
    }

    let Ok(region) = open(&file, Access::Write) else { return };
    let Some(free) = before.iter().position(|verdict| *verdict == Verdict::Absent) else { return };
    let payload = [10, 0, 0, 1, 0, 1, b'y', 7, 0];
    let written = region.write(chunk_of(free), Compression::Uncompressed, &payload, 7, Overwrite::Sound);
    if written.is_err() {
        return;
    }
    region.flush().expect("memory takes everything");
    let after = verdicts(&region);
    for (entry, (before, after)) in before.iter().zip(&after).enumerate() {
        if entry == free {
            assert_eq!(*after, Verdict::Payload(payload.to_vec()));
        } else if let Verdict::Payload(_) | Verdict::Absent = before {
            assert_eq!(before, after, "entry {entry} after entry {free} was written");
        } else {
            assert_ne!(*after, Verdict::Absent, "entry {entry} is not absent for being damaged");
            assert_ne!(*after, Verdict::Payload(payload.to_vec()), "entry {entry} is not entry {free}");
        }
    }
}

/// The bytes as a chunk record, the first one saying how many sectors it has. A chunk that can be read and is not
/// touched is not written again.
pub(crate) fn chunk_record(bytes: &[u8]) {
    let Some((sectors, record)) = bytes.split_first() else { return };
    let mut file = vec![0; HEADER];
    file[..4].copy_from_slice(&[0, 0, 2, *sectors]);
    file.extend_from_slice(record);
    let region = open(&file, Access::Read).expect("any file can be opened for reading");
    let mut stored = StoredChunk::default();
    let position = chunk_of(0);
    if let Ok(true) = region.read(position, &mut stored, &limits())
        && let Ok(decoded) = decoder().decode(position, &stored)
    {
        assert_eq!(encoder().encode_nbt(&decoded.chunk), Ok(None), "nothing was touched");
    }
}

/// The bytes as a document: what the tape and the plain reader of the reference both read is the same, and nothing
/// that one of them reads alone is more than oddly written.
pub(crate) fn nbt(bytes: &[u8]) {
    let mut tape = Tape::new();
    let Ok(root) = tape.parse(bytes, &limits().nbt) else { return };
    assert!(root.range().end <= bytes.len());
    check_within(root, 0..bytes.len());
    // The reference refuses text that is no modified UTF-8 and lists of negative length.
    if let Some(plain) = reference::read_document(&bytes[..root.range().end]) {
        assert_same(root, &plain);
    }
}

/// The bytes as LZ4 in the framing of lz4-java, and as what is to be packed by every scheme.
pub(crate) fn lz4_blocks(bytes: &[u8]) {
    let limit = limits().inflated;
    let (mut plain, mut packed, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let mut inflater = Inflater::new();
    if inflater.inflate(Compression::Lz4, bytes, limit, &mut plain).is_err() {
        plain.clear();
    }
    assert!(plain.len() <= limit);
    for plain in [bytes, &plain] {
        for compression in Compression::ALL {
            Packer::new().pack(compression, plain, &mut packed);
            inflater.inflate(compression, &packed, limit, &mut again).expect("what was packed inflates");
            assert_eq!(again, plain, "{compression}");
        }
    }
}

/// The bytes as the payload of a section's compound, the first one choosing the version of the chunk around it. What
/// can be read comes back after a block has changed.
pub(crate) fn section(bytes: &[u8]) {
    let Some((version, section)) = bytes.split_first() else { return };
    let data_version = [1631, 2230, 2578, 3337, 3953][usize::from(version % 5)];
    let document = document_around(section, data_version);
    let position = ChunkPos::new(0, 0);
    let Ok(decoded) = decoder().decode_nbt(position, &document) else { return };
    let mut chunk = decoded.chunk;
    for section in chunk.sections() {
        assert!((0..4096).all(|cell| section.palette_index(cell) < section.palette().len()));
    }
    // From a region, a chunk keeps what it does not model.
    let mut file = vec![0; HEADER];
    file[..4].copy_from_slice(&[0, 0, 2, 255]);
    file.extend_from_slice(&(document.len() as u32 + 1).to_be_bytes());
    file.push(Compression::Uncompressed.number());
    file.extend_from_slice(&document);
    let mut stored = StoredChunk::default();
    let region = open(&file, Access::Read).expect("any file can be opened for reading");
    if region.read(position, &mut stored, &limits()).is_ok_and(|found| found) {
        chunk = decoder().decode(position, &stored).expect("as before").chunk;
    }
    let stone = STATES.parse("diamond_block").expect("a known block");
    chunk.set_block(3, 70, 5, stone, &STATES);
    let mut encoder = encoder();
    let Ok(Some(encoded)) = encoder.encode_nbt(&chunk) else { return };
    let again = decoder().decode_nbt(position, encoded).expect("what was written can be read").chunk;
    let hashes = |chunk: &Chunk| -> Vec<u64> {
        chunk.sections().iter().map(|section: &Section| section.content_hash(&STATES)).collect()
    };
    assert_eq!(hashes(&again), hashes(&chunk));
}

fn decoder() -> ChunkDecoder {
    ChunkDecoder::new(Dimension::overworld(), STATES.clone(), limits())
}

fn encoder() -> ChunkEncoder {
    ChunkEncoder::new(Dimension::overworld(), STATES.clone(), limits(), Packer::new())
}

/// A chunk of one section, whose payload is `section`, in the layout of its version.
fn document_around(section: &[u8], data_version: i32) -> Vec<u8> {
    let mut document = Vec::new();
    let mut writer = NbtWriter::new(&mut document);
    writer.begin(Tag::Compound, "");
    writer.begin(Tag::Int, "DataVersion");
    writer.int(data_version);
    let is_old = data_version < 2844;
    if is_old {
        writer.begin(Tag::Compound, "Level");
    } else {
        writer.begin(Tag::Int, "yPos");
        writer.int(-4);
    }
    for name in ["xPos", "zPos"] {
        writer.begin(Tag::Int, name);
        writer.int(0);
    }
    writer.begin(Tag::List, if is_old { "Sections" } else { "sections" });
    writer.list(Tag::Compound, 1);
    writer.raw(section);
    if is_old {
        writer.end();
    }
    writer.end();
    document
}

/// Children lie within their parents and behind each other.
fn check_within(value: Nbt<'_>, room: std::ops::Range<usize>) -> usize {
    let range = value.named_range();
    assert!(range.start >= room.start && range.end <= room.end, "{value:?} in {room:?}");
    let _ = (value.integer(), value.byte_array(), value.int_array(), value.long_array());
    if let Some(text) = value.text() {
        assert_eq!(decode_text(&encode_text(&text)).as_deref(), Some(&*text));
    }
    let mut at = value.range().start;
    for child in value.fields().map(|(_, field)| field).chain(value.items()) {
        at = check_within(child, at..value.range().end);
    }
    range.end
}

fn assert_same(value: Nbt<'_>, plain: &Value) {
    match plain {
        Value::Integer(plain) => assert_eq!(value.integer(), Some(*plain)),
        Value::Number(plain) => match value.payload().len() {
            4 => assert_eq!(value.payload(), (*plain as f32).to_be_bytes()),
            _ => assert_eq!(value.payload(), plain.to_be_bytes()),
        },
        Value::Text(plain) => assert_eq!(value.text().as_deref(), Some(plain.as_str())),
        Value::Bytes(plain) => assert_eq!(value.byte_array(), Some(plain.as_slice())),
        Value::Ints(plain) => {
            let ints = value.int_array().expect("an int array").iter().map(|int| i32::from_be_bytes(*int));
            assert!(ints.eq(plain.iter().copied()));
        }
        Value::Longs(plain) => {
            let longs =
                value.long_array().expect("a long array").iter().map(|long| u64::from_be_bytes(*long));
            assert!(longs.eq(plain.iter().copied()));
        }
        Value::List(plain) => {
            assert_eq!(value.element_count(), Some(plain.len()));
            value.items().zip(plain).for_each(|(value, plain)| assert_same(value, plain));
        }
        Value::Compound(plain) => {
            assert_eq!(value.fields().count(), plain.len());
            for ((name, value), (plain_name, plain)) in value.fields().zip(plain) {
                assert_eq!(decode_text(name).as_deref(), Some(plain_name.as_str()));
                assert_same(value, plain);
            }
        }
    }
}

/// What reading an entry gives.
#[derive(Debug, PartialEq)]
enum Verdict {
    Absent,
    Payload(Vec<u8>),
    Damaged,
}

fn verdicts(region: &Region) -> Vec<Verdict> {
    let mut stored = StoredChunk::default();
    (0..ENTRIES)
        .map(|entry| match region.read(chunk_of(entry), &mut stored, &limits()) {
            Ok(false) => Verdict::Absent,
            Ok(true) => Verdict::Payload(stored.payload().to_vec()),
            Err(_) => Verdict::Damaged,
        })
        .collect()
}

fn chunk_of(entry: usize) -> ChunkPos {
    ChunkPos::new(entry as i32 % 32, entry as i32 / 32)
}

fn open(file: &[u8], access: Access) -> Result<Region, voxtick_anvil::region::OpenRegionError> {
    let files = Arc::new(OneFile(Memory(Arc::new(Mutex::new(file.to_vec())))));
    let position = Some(RegionPos::new(0, 0));
    RegionOptions { files, position, access, ..RegionOptions::default() }.open("r.0.0.mca")
}

/// A file system of the region file alone.
#[derive(Debug)]
struct OneFile(Memory);

impl Files for OneFile {
    fn open(&self, path: &Path, _: Access) -> io::Result<Box<dyn StoredFile>> {
        match path.to_str() {
            Some("r.0.0.mca") => Ok(Box::new(self.0.clone())),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(path.to_str() == Some("r.0.0.mca"))
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone)]
struct Memory(Arc<Mutex<Vec<u8>>>);

/// More than any region of these tests needs. An entry may lie 64 GiB into a file.
const MEMORY_LIMIT: u64 = 4 << 20;

impl Memory {
    fn with<T>(&self, use_bytes: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        use_bytes(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl StoredFile for Memory {
    fn length(&self) -> io::Result<u64> {
        Ok(self.with(|bytes| bytes.len() as u64))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.with(|bytes| {
            let there = bytes.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
            let length = there.len().min(buffer.len());
            buffer[..length].copy_from_slice(&there[..length]);
            Ok(length)
        })
    }

    fn write_at(&self, written: &[u8], offset: u64) -> io::Result<()> {
        let end = offset + written.len() as u64;
        if end > MEMORY_LIMIT {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.with(|bytes| {
            let (start, end) = (offset as usize, end as usize);
            bytes.resize(bytes.len().max(end), 0);
            bytes[start..end].copy_from_slice(written);
        });
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        if length > MEMORY_LIMIT {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.with(|bytes| bytes.resize(length as usize, 0));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
