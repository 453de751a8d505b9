//! What systems keep with a chunk is stored with it, and everything else stays byte for byte.

#[path = "support/made.rs"]
mod made;
#[path = "support/real.rs"]
mod real;

use fastnbt::{ByteArray, Value};
use made::RegionBytes;
use voxtick_anvil::compression::{Compression, Packer};
use voxtick_anvil::region::{Overwrite, Region, StoredChunk};
use voxtick_anvil::{ChunkDecoder, ChunkEncoder, Limits};
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, RegionPos};

struct Codec(ChunkDecoder, ChunkEncoder);

impl Codec {
    fn new() -> Codec {
        let (dimension, states, limits) = (Dimension::overworld(), BlockStates::load(), Limits::default());
        let decoder = ChunkDecoder::new(dimension.clone(), states.clone(), limits);
        Codec(decoder, ChunkEncoder::new(dimension, states, limits, Packer::new()))
    }

    fn read(&mut self, region: &Region, position: ChunkPos) -> Chunk {
        let mut stored = StoredChunk::default();
        assert!(region.read(position, &mut stored, &Limits::default()).expect("it is whole"));
        self.0.decode(position, &stored).expect("it is whole").chunk
    }

    /// The chunk's NBT, or none where nothing has changed.
    fn nbt(&mut self, chunk: &Chunk) -> Option<Vec<u8>> {
        self.1.encode_nbt(chunk).expect("it can be encoded").map(<[u8]>::to_vec)
    }

    /// Writes a chunk to a region of its own and reads it again.
    fn again(&mut self, chunk: &Chunk) -> Chunk {
        let folder = tempfile::tempdir().expect("a folder");
        let position = chunk.position();
        let path = folder.path().join(format!("r.{}.{}.mca", position.region().x, position.region().z));
        let region = Region::open_for_writing(path).expect("the region opens");
        let nbt = self.nbt(chunk).expect("it has changed");
        region.write(position, Compression::Uncompressed, &nbt, 1, Overwrite::Sound).expect("written");
        self.read(&region, position)
    }
}

#[test]
fn attachments_come_back_and_leave_no_trace_once_they_are_gone() {
    let region = Region::open_as(real::region_1_19_4(), RegionPos::new(0, 0)).expect("the region opens");
    let mut codec = Codec::new();
    let position = region.chunks().next().expect("a chunk");
    let original = codec.read(&region, position);
    assert!(original.attachments.is_empty() && codec.nbt(&original).is_none());

    let mut chunk = original.clone();
    chunk.attachments.insert("voxtick:bodies".to_owned(), vec![1, 0, 255].into());
    chunk.attachments.insert("voxtick:transit".to_owned(), Vec::new().into());
    let kept = codec.again(&chunk);
    assert_eq!(kept.attachments, chunk.attachments);
    assert!(codec.nbt(&kept).is_none(), "nothing has changed since");

    let mut changed = kept.clone();
    changed.attachments.insert("voxtick:bodies".to_owned(), vec![9; 100_000].into());
    changed.attachments.remove("voxtick:transit");
    let mut bare = codec.again(&changed);
    assert_eq!(bare.attachments, changed.attachments);
    bare.attachments.clear();
    let stripped = codec.nbt(&bare).expect("it has changed");
    let mut stored = StoredChunk::default();
    assert!(region.read(position, &mut stored, &Limits::default()).expect("it is whole"));
    let mut before = Vec::new();
    voxtick_anvil::compression::Inflater::new()
        .inflate(stored.compression(), stored.payload(), 64 << 20, &mut before)
        .expect("it inflates");
    assert!(stripped == before, "byte for byte as the game wrote it");
}

#[test]
fn what_other_programs_keep_is_carried_along() {
    let Value::Compound(mut fields) = fastnbt::from_bytes(&made::empty_chunk(0, 0)).expect("NBT") else {
        panic!("a compound was written")
    };
    fields.insert("other:bytes".to_owned(), Value::ByteArray(ByteArray::new(vec![1, 2, 3])));
    fields.insert("other:numbers".to_owned(), Value::Int(7));
    fields.insert("plain".to_owned(), Value::ByteArray(ByteArray::new(vec![4])));
    let document = fastnbt::to_bytes(&Value::Compound(fields)).expect("NBT");
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = RegionBytes::new();
    bytes.chunk(0, 3, &document);
    let region = Region::open(bytes.write(folder.path(), "r.0.0.mca")).expect("the region opens");
    let mut codec = Codec::new();
    let mut chunk = codec.read(&region, ChunkPos::new(0, 0));
    let names: Vec<&str> = chunk.attachments.keys().map(String::as_str).collect();
    assert_eq!(names, ["other:bytes"], "byte arrays with a namespace");
    assert!(codec.nbt(&chunk).is_none());
    chunk.attachments.insert("other:numbers".to_owned(), vec![5].into());
    let again = codec.again(&chunk);
    assert_eq!(again.attachments, chunk.attachments, "a field of another kind gives way as a whole");
    let nbt = codec.nbt(&chunk).expect("it has changed");
    let Value::Compound(fields) = fastnbt::from_bytes(&nbt).expect("NBT") else { panic!("a compound") };
    assert_eq!(fields["plain"], Value::ByteArray(ByteArray::new(vec![4])));
}
