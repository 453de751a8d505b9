//! Regions damaged by hand: each fault has its own cause, and its neighbours stay readable.

#[path = "support/made.rs"]
mod made;

use made::{RegionBytes, chunk_nbt, empty_chunk};
use std::path::Path;
use tempfile::TempDir;
use voxtick_anvil::compression::{Compression, InflateError};
use voxtick_anvil::nbt::NbtError;
use voxtick_anvil::region::{Damage, OpenRegionError, ReadChunkError, Region, StoredChunk};
use voxtick_anvil::{DecodeChunkError, DecodeSectionError, Limits, LoadChunkError, RegionLoad, load_region};
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, RegionPos, SectionError};

const PLAIN: u8 = 3;

/// A region whose entries 0 and 2 are whole; `damage` works on entry 1.
fn region_with(damage: impl FnOnce(&mut RegionBytes)) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut region = RegionBytes::new();
    region.chunk(0, PLAIN, &empty_chunk(0, 0));
    region.chunk(2, PLAIN, &empty_chunk(2, 0));
    damage(&mut region);
    let path = region.write(folder.path(), "r.0.0.mca");
    (folder, path)
}

fn load(path: &Path) -> RegionLoad {
    let region = Region::open(path).expect("a damaged region opens");
    load_region(&region, &Dimension::overworld(), &BlockStates::load(), &Limits::default())
}

/// Loads the region and returns the one failure, which must be that of chunk 1, 0.
fn the_failure(path: &Path) -> LoadChunkError {
    let mut load = load(path);
    let positions: Vec<ChunkPos> = load.chunks.iter().map(|chunk| chunk.position()).collect();
    assert_eq!(positions, [ChunkPos::new(0, 0), ChunkPos::new(2, 0)], "the neighbours stay readable");
    assert_eq!(load.failures.len(), 1, "damage is not absence: {:?}", load.failures);
    let failure = load.failures.remove(0);
    let message = failure.to_string();
    assert!(message.contains("r.0.0.mca") && message.contains("chunk"), "{message}");
    failure
}

fn damage_of(damage: impl FnOnce(&mut RegionBytes)) -> Damage {
    let (_folder, path) = region_with(damage);
    match the_failure(&path) {
        LoadChunkError::Read(ReadChunkError::Damaged { chunk, damage, .. }) => {
            assert_eq!(chunk, ChunkPos::new(1, 0));
            damage
        }
        other => panic!("{other}"),
    }
}

fn decode_error_of(scheme: u8, payload: &[u8]) -> DecodeChunkError {
    let (_folder, path) = region_with(|region| {
        region.chunk(1, scheme, payload);
    });
    match the_failure(&path) {
        LoadChunkError::Decode { cause, .. } => cause,
        other => panic!("{other}"),
    }
}

#[test]
fn header_faults_have_their_own_causes() {
    assert_eq!(damage_of(|region| region.locate(1, 1, 1)), Damage::OffsetInHeader { sector: 1 });
    assert_eq!(damage_of(|region| region.locate(1, 0, 4)), Damage::OffsetInHeader { sector: 0 });
    assert_eq!(damage_of(|region| region.locate(1, 9, 0)), Damage::NoSectors { sector: 9 });
    assert_eq!(
        damage_of(|region| region.locate(1, 900, 1)),
        Damage::PastEnd { sector: 900, length: 4 * 4096 }
    );
}

#[test]
fn an_overlap_concerns_only_the_entries_that_share_sectors() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut region = RegionBytes::new();
    region.chunk(0, PLAIN, &empty_chunk(0, 0));
    region.chunk(1, PLAIN, &empty_chunk(1, 0));
    region.chunk(2, PLAIN, &empty_chunk(2, 0));
    // Entry 5 claims the sectors of entries 0 and 1.
    region.locate(5, 2, 2);
    let load = load(&region.write(folder.path(), "r.0.0.mca"));
    assert_eq!(load.chunks.len(), 1);
    assert_eq!(load.chunks[0].position(), ChunkPos::new(2, 0));
    let others: Vec<ChunkPos> = load
        .failures
        .iter()
        .map(|failure| match failure {
            LoadChunkError::Read(ReadChunkError::Damaged {
                damage: Damage::Overlap { other, .. }, ..
            }) => *other,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(others, [ChunkPos::new(5, 0), ChunkPos::new(5, 0), ChunkPos::new(0, 0)]);
}

#[test]
fn record_faults_have_their_own_causes() {
    let payload = empty_chunk(1, 0);
    assert_eq!(
        damage_of(|region| region.record(1, 0, PLAIN, &payload)),
        Damage::BadLength { offset: 4 * 4096, length: 0, room: 4092 }
    );
    assert_eq!(
        damage_of(|region| region.record(1, 70_000, PLAIN, &payload)),
        Damage::BadLength { offset: 4 * 4096, length: 70_000, room: 4092 }
    );
    assert_eq!(
        damage_of(|region| region.chunk(1, 9, &payload)),
        Damage::UnknownCompression { offset: 4 * 4096, scheme: 9 }
    );
    assert_eq!(
        damage_of(|region| region.chunk(1, 127, b"\0\x09mod:brotli...")),
        Damage::CustomCompression { offset: 4 * 4096, name: "mod:brotl".to_owned() }
    );
    let cut = damage_of(|region| {
        region.chunk(1, PLAIN, &payload);
        region.bytes.truncate(4 * 4096 + 50);
    });
    assert_eq!(cut, Damage::RecordCut { offset: 4 * 4096, available: 50, needed: 5 + payload.len() });
    let head_cut = damage_of(|region| {
        region.chunk(1, PLAIN, &payload);
        region.bytes.truncate(4 * 4096 + 3);
    });
    assert_eq!(head_cut, Damage::RecordCut { offset: 4 * 4096, available: 3, needed: 5 });
}

#[test]
fn a_file_that_ends_within_its_last_sector_loads() {
    let (_folder, path) = region_with(|region| {
        let payload = empty_chunk(1, 0);
        region.chunk(1, PLAIN, &payload);
        region.bytes.truncate(4 * 4096 + 5 + payload.len());
    });
    let load = load(&path);
    assert_eq!((load.chunks.len(), load.failures.len()), (3, 0));
}

#[test]
fn an_external_payload_is_read_and_its_absence_is_damage() {
    let external = |region: &mut RegionBytes| region.chunk(1, PLAIN | 0x80, &[]);
    assert_eq!(damage_of(external), Damage::ExternalMissing { file: "c.1.0.mcc".to_owned() });

    let (folder, path) = region_with(external);
    std::fs::write(folder.path().join("c.1.0.mcc"), empty_chunk(1, 0)).expect("the folder can be written to");
    let load = load(&path);
    assert_eq!((load.chunks.len(), load.failures.len()), (3, 0));
    assert_eq!(load.chunks[1].position(), ChunkPos::new(1, 0));
}

#[test]
fn an_external_payload_beside_an_internal_one_is_damage() {
    let (folder, path) = region_with(|region| region.chunk(1, PLAIN | 0x80, &empty_chunk(1, 0)));
    std::fs::write(folder.path().join("c.1.0.mcc"), empty_chunk(1, 0)).expect("the folder can be written to");
    match the_failure(&path) {
        LoadChunkError::Read(ReadChunkError::Damaged { damage, .. }) => {
            assert_eq!(damage, Damage::BothPayloads { offset: 4 * 4096, file: "c.1.0.mcc".to_owned() });
        }
        other => panic!("{other}"),
    }
}

#[test]
fn an_external_payload_beyond_the_limit_is_not_read() {
    let (folder, path) = region_with(|region| region.chunk(1, PLAIN | 0x80, &[]));
    std::fs::write(folder.path().join("c.1.0.mcc"), vec![0; 5000]).expect("the folder can be written to");
    let region = Region::open(&path).expect("the region opens");
    let limits = Limits { external: 4999, ..Limits::default() };
    let outcome = region.read(ChunkPos::new(1, 0), &mut StoredChunk::default(), &limits);
    let Err(ReadChunkError::Damaged { damage, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(damage, Damage::ExternalTooLarge { file: "c.1.0.mcc".to_owned(), length: 5000, limit: 4999 });
}

#[test]
fn payload_faults_have_their_own_causes() {
    assert!(matches!(
        decode_error_of(2, b"no zlib stream"),
        DecodeChunkError::Inflate(InflateError::Damaged { compression: Compression::Zlib, .. })
    ));
    let nbt = empty_chunk(1, 0);
    assert!(matches!(
        decode_error_of(PLAIN, &nbt[..nbt.len() - 4]),
        DecodeChunkError::Nbt(NbtError::Truncated { .. })
    ));
    assert_eq!(
        decode_error_of(PLAIN, &empty_chunk(7, 9)),
        DecodeChunkError::WrongPosition { found: ChunkPos::new(7, 9) }
    );
    let without = |field: &str| {
        let fastnbt::Value::Compound(mut fields) = fastnbt::from_bytes(&nbt).expect("it was just written")
        else {
            panic!("a compound was written")
        };
        fields.remove(field).expect("the field is there");
        fastnbt::to_bytes(&fastnbt::Value::Compound(fields)).expect("NBT can be written")
    };
    assert_eq!(decode_error_of(PLAIN, &without("DataVersion")), DecodeChunkError::NoDataVersion);
    assert_eq!(decode_error_of(PLAIN, &without("xPos")), DecodeChunkError::Field { field: "xPos" });
}

#[test]
fn section_faults_name_the_section_and_the_place() {
    let nbt = |palette: fastnbt::Value, data: fastnbt::Value| {
        let section = fastnbt::nbt!({ "Y": 3_i8, "block_states": { "palette": palette, "data": data } });
        chunk_nbt(1, 0, fastnbt::Value::List(vec![section]))
    };
    let longs =
        |count: usize, value: i64| fastnbt::Value::LongArray(fastnbt::LongArray::new(vec![value; count]));
    let stone = fastnbt::nbt!([{ "Name": "minecraft:stone" }, { "Name": "minecraft:dirt" }]);
    let cause = |nbt: &[u8]| match decode_error_of(PLAIN, nbt) {
        DecodeChunkError::Section { y: 3, cause } => cause,
        other => panic!("{other}"),
    };
    assert_eq!(
        cause(&nbt(stone.clone(), longs(256, 2))),
        DecodeSectionError::Cells(SectionError::IndexBeyondPalette { cell: 0, index: 2, entries: 2 })
    );
    assert_eq!(
        cause(&nbt(stone.clone(), longs(255, 0))),
        DecodeSectionError::DataLength { field: "block_states.data", found: 255, expected: 256, entries: 2 }
    );
    assert_eq!(
        cause(&nbt(stone, fastnbt::Value::Int(1))),
        DecodeSectionError::Field { field: "block_states.data" }
    );
    assert_eq!(
        cause(&nbt(fastnbt::nbt!([{ "Nmae": "minecraft:stone" }]), longs(256, 0))),
        DecodeSectionError::PaletteEntry { field: "block_states.palette", entry: 0 }
    );
    assert_eq!(
        cause(&nbt(fastnbt::Value::List(Vec::new()), longs(256, 0))),
        DecodeSectionError::PaletteSize { field: "block_states.palette", entries: 0, limit: 4096 }
    );
}

#[test]
fn a_single_palette_entry_needs_no_data_and_unknown_blocks_keep_their_name() {
    let section = fastnbt::nbt!({
        "Y": 3_i8,
        "block_states": { "palette": [{ "Name": "somemod:ore", "Properties": { "rich": "true" } }] },
    });
    let (_folder, path) = region_with(|region| {
        region.chunk(1, PLAIN, &chunk_nbt(1, 0, fastnbt::Value::List(vec![section])));
    });
    let states = BlockStates::load();
    let region = Region::open(&path).expect("the region opens");
    let load = load_region(&region, &Dimension::overworld(), &states, &Limits::default());
    let id = load.chunks[1].block(0, 3 * 16, 0).expect("within range");
    assert_eq!(states.print(id), "somemod:ore[rich=true]");
    assert_eq!(load.chunks[1].section(3).and_then(|section| section.uniform_state()), Some(id));
}

#[test]
fn short_files_open_and_say_what_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.3.-2.mca");
    std::fs::write(&path, []).expect("the folder can be written to");
    let region = Region::open(&path).expect("a file of 0 bytes is an empty region");
    assert_eq!((region.position(), region.chunks().count()), (RegionPos::new(3, -2), 0));

    // A header that ends after one entry: that one points nowhere, the others cannot be known.
    std::fs::write(&path, [0, 0, 2, 1, 0]).expect("the folder can be written to");
    let region = Region::open(&path).expect("a cut header opens");
    assert_eq!(region.chunks().count(), 1024);
    let damage = |x, z| {
        let outcome = region.read(ChunkPos::new(x, z), &mut StoredChunk::default(), &Limits::default());
        let Err(ReadChunkError::Damaged { damage, .. }) = outcome else { panic!("{outcome:?}") };
        damage
    };
    assert_eq!(damage(96, -64), Damage::PastEnd { sector: 2, length: 5 });
    assert_eq!(damage(97, -64), Damage::HeaderCut);

    // A header that ends within its time stamps lacks nothing that is needed.
    std::fs::write(&path, vec![0; 5000]).expect("the folder can be written to");
    assert_eq!(Region::open(&path).expect("opens").chunks().count(), 0);
}

#[test]
fn paths_that_are_no_region_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(Region::open(folder.path().join("level.dat")), Err(OpenRegionError::Name(_))));
    let missing = Region::open(folder.path().join("r.0.0.mca"));
    let Err(OpenRegionError::Io { path, .. }) = missing else { panic!("{missing:?}") };
    assert!(path.ends_with("r.0.0.mca"));
    let (_folder, path) = region_with(|_| {});
    let region = Region::open(path).expect("the region opens");
    let outcome = region.read(ChunkPos::new(32, 0), &mut StoredChunk::default(), &Limits::default());
    assert!(matches!(outcome, Err(ReadChunkError::OtherRegion { .. })));
    assert!(matches!(
        region.read(ChunkPos::new(9, 9), &mut StoredChunk::default(), &Limits::default()),
        Ok(false)
    ));
}
