//! What is done to bytes that nobody meant well, a function a subject: each takes any bytes, must not panic, and
//! checks what must hold wherever the bytes make sense.
//!
//! Shared by the fuzz targets of `fuzz`, which look for new inputs, and by the test `fuzzed_inputs`, which runs known
//! ones and small changes of them.

mod memory;

use memory::Folder;
use std::sync::{Arc, LazyLock};
use twox_hash::XxHash64;
use voxtick_anvil::compression::{ChunkCompressor, Compression, Inflater, Packer};
use voxtick_anvil::files::Access;
use voxtick_anvil::linear::{LinearError, LinearFile, LinearRegion};
use voxtick_anvil::nbt::{Nbt, NbtLimits, NbtWriter, Tag, Tape, decode_text, encode_text};
use voxtick_anvil::reference::{self, Value};
use voxtick_anvil::region::{
    ENTRIES, HEADER, OpenRegionError, Overwrite, Region, RegionOptions, RegionStore, StoredChunk,
};
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
    if let Some(written) = write_one(&region, &before) {
        check_neighbours(&before, &verdicts(&region), written, SMALLEST_CHUNK);
    }
}

/// The NBT of a compound with one byte in it.
const SMALLEST_CHUNK: &[u8] = &[10, 0, 0, 1, 0, 1, b'y', 7, 0];

/// Writes a chunk at the first entry where there is none; tells which, if it may be written.
fn write_one(region: &dyn RegionStore, before: &[Verdict]) -> Option<usize> {
    let free = before.iter().position(|verdict| *verdict == Verdict::Absent)?;
    let position = chunk_of(free);
    region.write(position, Compression::Uncompressed, SMALLEST_CHUNK, 7, Overwrite::Sound).ok()?;
    region.flush().expect("memory takes everything");
    Some(free)
}

/// Nothing but the entry that was written is another than before, and damage has not become absence.
fn check_neighbours(before: &[Verdict], after: &[Verdict], written: usize, payload: &[u8]) {
    for (entry, (before, after)) in before.iter().zip(after).enumerate() {
        if entry == written {
            assert_eq!(*after, Verdict::Payload(payload.to_vec()));
        } else if let Verdict::Payload(_) | Verdict::Absent = before {
            assert_eq!(before, after, "entry {entry} after entry {written} was written");
        } else {
            assert_ne!(*after, Verdict::Absent, "entry {entry} is not absent for being damaged");
            assert_ne!(*after, Verdict::Payload(payload.to_vec()), "entry {entry} is not entry {written}");
        }
    }
}

/// The bytes as a Linear file: whole, or, by the first of them, as what its streams of either version hold.
///
/// What can be read is the same once it has been written, and nobody's chunk is damaged by a neighbour's being written.
pub(crate) fn linear(bytes: &[u8]) {
    let file = match bytes.split_first() {
        None => Vec::new(),
        Some((kind, rest)) => match kind % 3 {
            0 => rest.to_vec(),
            1 => linear_v1(rest),
            _ => linear_v2(rest),
        },
    };
    if let Ok(region) = LinearRegion::read(&file, &limits()) {
        // Damaged buckets go into no grid but their own; the fewest buckets are written soonest.
        let written = [1, 2, 4, 8, 16, 32].into_iter().find_map(|grid| match region.write(grid, 1) {
            Err(LinearError::KeepsGrid { .. }) => None,
            written => Some(written.expect("it was just read")),
        });
        let again = LinearRegion::read(&written.expect("it has some grid"), &limits());
        let again = again.expect("it was just written");
        assert!(again.chunks().eq(region.chunks()));
        for position in (0..ENTRIES).map(chunk_of) {
            assert_eq!(again.damage(position).is_some(), region.damage(position).is_some());
            assert!(region.damage(position).is_none() || region.chunk(position).is_none());
        }
    }

    let folder = Folder::holding("r.0.0.linear", &file);
    let open = |access| LinearFile::open("r.0.0.linear", options(&folder, access));
    let Ok(before) = open(Access::Read).map(|region| verdicts(&region)) else { return };
    let Some(written) = write_one(&open(Access::Write).expect("it can be read"), &before) else { return };
    // Chunks are kept packed in memory.
    let mut payload = Vec::new();
    Packer::new().pack(Compression::Lz4, SMALLEST_CHUNK, &mut payload);
    check_neighbours(
        &before,
        &verdicts(&open(Access::Read).expect("it was just written")),
        written,
        &payload,
    );
}

const LINEAR_MAGIC: [u8; 8] = [0xC3, 0xFF, 0x13, 0x18, 0x3C, 0xCA, 0x9D, 0x9A];

/// A file of version 1 whose stream has these sizes and time stamps, ten bytes each with their places, and this behind
/// them.
fn linear_v1(bytes: &[u8]) -> Vec<u8> {
    let (count, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let (places, body) = rest.split_at(rest.len().min(usize::from(*count) * 10));
    let mut plain = vec![0; ENTRIES * 8];
    for place in places.as_chunks::<10>().0 {
        let entry = usize::from(u16::from_be_bytes([place[0], place[1]])) % ENTRIES;
        plain[entry * 8..entry * 8 + 8].copy_from_slice(&place[2..]);
    }
    plain.extend_from_slice(body);
    let mut file = LINEAR_MAGIC.to_vec();
    file.push(1);
    file.resize(32, 0);
    file.extend(zstd_stream(&plain));
    file.extend(LINEAR_MAGIC);
    file
}

/// A file of version 2 of which one bucket holds these bytes, sealed as it should be: grid, bucket, and the chunks that
/// the head names stand before them.
fn linear_v2(bytes: &[u8]) -> Vec<u8> {
    let [grid, high, low, count, rest @ ..] = bytes else { return Vec::new() };
    let (named, plain) = rest.split_at(rest.len().min(usize::from(*count) * 2));
    let grid = 1_u8 << (grid % 6);
    let buckets = usize::from(grid) * usize::from(grid);
    let bucket = usize::from(u16::from_be_bytes([*high, *low])) % buckets;
    let mut bitmap = [0; ENTRIES / 8];
    for entry in named.as_chunks::<2>().0 {
        let entry = usize::from(u16::from_be_bytes(*entry)) % ENTRIES;
        bitmap[entry / 8] |= 0x80 >> (entry % 8);
    }
    let stream = zstd_stream(plain);
    let mut file = LINEAR_MAGIC.to_vec();
    file.push(3);
    file.extend([0; 8]);
    file.push(grid);
    file.extend([0; 8]);
    file.extend(bitmap);
    file.push(0);
    for number in 0..buckets {
        let stream = if number == bucket { stream.as_slice() } else { &[] };
        file.extend((stream.len() as u32).to_be_bytes());
        file.push(1);
        file.extend(XxHash64::oneshot(0, stream).to_be_bytes());
    }
    file.extend(stream);
    file.extend(LINEAR_MAGIC);
    file
}

fn zstd_stream(plain: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut compressor = ChunkCompressor::new().expect("there is memory");
    compressor.compress(plain, &mut stream).expect("there is memory");
    stream
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
        // The reference widens floats, which makes a signalling NaN a quiet one: they are compared as widened.
        Value::Number(plain) => match (value.payload().first_chunk(), value.payload().first_chunk()) {
            (_, Some(double)) => assert_eq!(u64::from_be_bytes(*double), plain.to_bits()),
            (Some(float), None) => {
                assert_eq!(f64::from(f32::from_be_bytes(*float)).to_bits(), plain.to_bits());
            }
            (None, None) => panic!("a number of {} bytes", value.payload().len()),
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

fn verdicts(region: &dyn RegionStore) -> Vec<Verdict> {
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

fn open(file: &[u8], access: Access) -> Result<Region, OpenRegionError> {
    options(&Folder::holding("r.0.0.mca", file), access).open("r.0.0.mca")
}

fn options(folder: &Folder, access: Access) -> RegionOptions {
    let position = Some(RegionPos::new(0, 0));
    RegionOptions {
        files: Arc::new(folder.clone()),
        position,
        access,
        limits: limits(),
        linear_level: 1,
        ..RegionOptions::default()
    }
}
