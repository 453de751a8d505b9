//! Load and save: what is not touched comes back byte for byte, what is changed comes back as it became.
#![expect(clippy::print_stderr, reason = "says loudly which real files were used")]

#[path = "support/made.rs"]
mod made;
#[path = "support/real.rs"]
mod real;

use made::{RegionBytes, chunk_nbt, empty_chunk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use voxtick_anvil::compression::{Compression, Inflater, Packer};
use voxtick_anvil::nbt::{NbtLimits, Tape};
use voxtick_anvil::region::{Overwrite, Region, StoredChunk};
use voxtick_anvil::{ChunkDecoder, ChunkEncoder, EncodeChunkError, Limits, load_region};
use voxtick_worlds::generators::{Hills, generate, split_mix, square};
use voxtick_worlds::{
    BlockStates, Chunk, ChunkLight, ChunkPos, Dimension, HeightmapKind, LightChannel, LightLevels, RegionPos,
    StateId,
};

fn encoder(dimension: &Dimension, states: &Arc<BlockStates>) -> ChunkEncoder {
    ChunkEncoder::new(dimension.clone(), states.clone(), Limits::default(), Packer::new())
}

fn decode(dimension: &Dimension, states: &Arc<BlockStates>, position: ChunkPos, nbt: &[u8]) -> Chunk {
    let mut decoder = ChunkDecoder::new(dimension.clone(), states.clone(), Limits::default());
    decoder.decode_nbt(position, nbt).expect("what was encoded decodes").chunk
}

fn load(path: &Path, position: RegionPos, dimension: &Dimension, states: &Arc<BlockStates>) -> Vec<Chunk> {
    let region = Region::open_as(path, position).expect("the region opens");
    load_region(&region, dimension, states, &Limits::default()).chunks
}

/// The NBT that a chunk came from.
fn original(chunk: &Chunk) -> Vec<u8> {
    let kept = chunk.unmodelled.as_ref().expect("it came from a file");
    let compression = Compression::from_number(kept.bytes[0]).expect("a scheme");
    let mut nbt = Vec::new();
    Inflater::new().inflate(compression, &kept.bytes[1..], 64 << 20, &mut nbt).expect("it inflates");
    nbt
}

/// Fields of the root (or of `Level`), and of each section, as bytes.
type Parts = (BTreeMap<String, Vec<u8>>, BTreeMap<i64, BTreeMap<String, Vec<u8>>>);

fn parts(nbt: &[u8]) -> Parts {
    let mut tape = Tape::new();
    let root = tape.parse(nbt, &NbtLimits::default()).expect("NBT");
    let body = root.field("Level").unwrap_or(root);
    let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut fields: BTreeMap<String, Vec<u8>> =
        body.fields().map(|(field, value)| (name(field), value.payload().to_vec())).collect();
    fields
        .extend(root.field("DataVersion").map(|value| ("DataVersion".to_owned(), value.payload().to_vec())));
    let sections = body.field("sections").or(body.field("Sections")).expect("sections");
    let sections = sections
        .items()
        .map(|section| {
            let y = section.field("Y").and_then(|y| y.integer()).expect("a height");
            (y, section.fields().map(|(field, value)| (name(field), value.payload().to_vec())).collect())
        })
        .collect();
    (fields, sections)
}

/// The real files that there are, with their dimension.
fn real_files() -> Vec<(PathBuf, RegionPos, Dimension)> {
    let (now, before) = (Dimension::overworld(), Dimension::overworld_before_1_18());
    let mut files = vec![(real::region_1_19_4(), RegionPos::new(0, 0), now.clone())];
    let Some(folder) = std::env::var_os("VOXTICK_DATA") else {
        eprintln!("VOXTICK_DATA is not set: only the region of 1.19.4 is tested");
        return files;
    };
    for (file, position, dimension) in [
        ("java-1.21/r.0.0.mca", RegionPos::new(0, 0), &now),
        ("java-1.21.11/r.2.1.mca", RegionPos::new(2, 1), &now),
        ("java-1.16/r.0.0.mca", RegionPos::new(0, 0), &before),
        ("java-1.15/r.0.0.mca", RegionPos::new(0, 0), &before),
        ("java-1.14/r.0.0.mca", RegionPos::new(0, 0), &before),
        ("java-1.13/r.0.0.mca", RegionPos::new(0, 0), &before),
        ("odd/no-end-marker.r.0.0.mca", RegionPos::new(0, 0), &before),
        ("odd/no-end-marker.r.2.2.mca", RegionPos::new(2, 2), &before),
    ] {
        let path = Path::new(&folder).join("worlds").join(file);
        eprintln!("using {}", path.display());
        files.push((path, position, dimension.clone()));
    }
    files
}

#[test]
fn an_untouched_chunk_of_any_version_is_not_rewritten() {
    let states = BlockStates::load();
    for (path, position, dimension) in real_files() {
        let mut encoder = encoder(&dimension, &states);
        for chunk in load(&path, position, &dimension, &states) {
            let encoded = encoder.encode_nbt(&chunk).expect("it encodes");
            assert!(encoded.is_none(), "{} {}", path.display(), chunk.position());
        }
    }
}

#[test]
fn one_changed_block_changes_what_depends_on_it_and_nothing_else() {
    let states = BlockStates::load();
    let wool = states.parse("magenta_wool").expect("a known state");
    for (path, position, dimension) in real_files() {
        let what = path.display();
        let mut encoder = encoder(&dimension, &states);
        for mut chunk in load(&path, position, &dimension, &states).into_iter().step_by(23) {
            let before = original(&chunk);
            let old = chunk.block(5, 66, 9).expect("within range");
            chunk.set_block(5, 66, 9, wool, &states);
            let after = encoder.encode_nbt(&chunk).expect("it encodes").expect("it has changed").to_vec();

            let again = decode(&dimension, &states, chunk.position(), &after);
            assert_eq!(again.block(5, 66, 9), Some(wool), "{what}");
            for (ours, theirs) in chunk.sections().iter().zip(again.sections()) {
                assert_eq!(ours.content_hash(&states), theirs.content_hash(&states), "{what}");
            }
            let ((fields, sections), (fields_after, sections_after)) = (parts(&before), parts(&after));
            for (field, bytes) in &fields {
                if !["sections", "Sections", "Heightmaps", "isLightOn"].contains(&field.as_str()) {
                    assert_eq!(Some(bytes), fields_after.get(field), "{what}: {field}");
                }
            }
            for (y, section) in &sections {
                for (field, bytes) in section {
                    let cells = ["block_states", "Palette", "BlockStates"].contains(&field.as_str());
                    if *y != 4 || !cells {
                        assert_eq!(Some(bytes), sections_after[y].get(field), "{what}: section {y}, {field}");
                    }
                }
            }
            // The other way round nothing is left to write, whatever the palette holds.
            chunk.set_block(5, 66, 9, old, &states);
            assert_eq!(encoder.encode_nbt(&chunk), Ok(None), "{what}");
        }
    }
}

/// A number below `bound`, the same on every machine.
fn below(random: &mut u64, bound: u64) -> u64 {
    *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    split_mix(*random) % bound
}

/// Writes random states to random cells, many to some chunks and few to others: read back, the encoded chunk has the
/// same cells, and all that does not depend on them byte for byte.
fn change_at_random(chunk: &mut Chunk, dimension: &Dimension, states: &Arc<BlockStates>, random: &mut u64) {
    let before = original(chunk);
    let height = (dimension.max_y() - dimension.min_y()) as u64;
    let most = [3, 60, 2000][below(random, 3) as usize];
    for _ in 0..=below(random, most) {
        let cell = below(random, height * 256) as i32;
        let (x, y, z) = (cell % 16, dimension.min_y() + cell / 256, cell / 16 % 16);
        let state = StateId(below(random, states.known_count() as u64) as u32);
        // Walls had no heights before 1.16, and jigsaws no orientation, so theirs cannot come back.
        let name = states.name(state);
        if !name.ends_with("_wall") && name != "minecraft:jigsaw" {
            chunk.set_block(x, y, z, state, states);
        }
    }
    let at = chunk.position();
    let Some(after) = encoder(dimension, states).encode_nbt(chunk).expect("it encodes").map(<[u8]>::to_vec)
    else {
        return;
    };
    let again = decode(dimension, states, at, &after);
    for (y, (now, again)) in chunk.sections().iter().zip(again.sections()).enumerate() {
        assert_eq!(now.content_hash(states), again.content_hash(states), "{at}, section {y} from below");
    }
    let ((fields, sections), (fields_after, sections_after)) = (parts(&before), parts(&after));
    for (field, bytes) in &fields {
        let follows = ["sections", "Sections", "Heightmaps", "isLightOn", "starlight.light_version"];
        if !follows.contains(&field.as_str()) {
            assert_eq!(Some(bytes), fields_after.get(field), "{at}: {field}");
        }
    }
    for (y, section) in &sections {
        for (field, bytes) in section {
            if !["block_states", "Palette", "BlockStates"].contains(&field.as_str()) {
                assert_eq!(Some(bytes), sections_after[y].get(field), "{at}: section {y}, {field}");
            }
        }
    }
}

#[test]
fn random_changes_to_chunks_of_any_version_come_back() {
    let states = BlockStates::load();
    let mut random = 3;
    for (path, position, dimension) in real_files() {
        for mut chunk in load(&path, position, &dimension, &states).into_iter().step_by(29) {
            eprintln!("{} {}", path.display(), chunk.position());
            change_at_random(&mut chunk, &dimension, &states, &mut random);
        }
    }
}

/// The single chunks that come with the crate `fastanvil`: 1.17 to 1.20, upgraded worlds, custom heights.
#[test]
fn random_changes_to_single_chunks_of_odd_worlds_come_back() {
    let states = BlockStates::load();
    let (mut random, mut changed) = (9, 0);
    let mut files: Vec<PathBuf> = std::fs::read_dir(real::fastanvil_resources())
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "chunk" || extension == "nbt"))
        .collect();
    files.sort();
    for file in files {
        let nbt = std::fs::read(&file).expect("the file can be read");
        let mut tape = Tape::new();
        let Ok(root) = tape.parse(&nbt, &NbtLimits::default()) else { continue };
        let body = root.field("Level").unwrap_or(root);
        let coordinate = |name| body.field(name).and_then(|value| value.integer()).map(|value| value as i32);
        let (Some(x), Some(z)) = (coordinate("xPos"), coordinate("zPos")) else { continue };
        let is_old = root.field("Level").is_some();
        let dimension = if is_old { Dimension::overworld_before_1_18() } else { Dimension::overworld() };
        // In a region, as only what came from a file keeps what is not modelled.
        let position = ChunkPos::new(x, z);
        let folder = tempfile::tempdir().expect("a folder");
        let (mut region, mut packed) = (RegionBytes::new(), Vec::new());
        Packer::new().pack(Compression::Zlib, &nbt, &mut packed);
        let entry = (z.rem_euclid(32) * 32 + x.rem_euclid(32)) as usize;
        region.chunk(entry, Compression::Zlib.number(), &packed);
        let region_position = position.region();
        let name = format!("r.{}.{}.mca", region_position.x, region_position.z);
        let path = region.write(folder.path(), &name);
        let Some(mut chunk) = load(&path, region_position, &dimension, &states).pop() else { continue };
        eprintln!("using {}", file.display());
        change_at_random(&mut chunk, &dimension, &states, &mut random);
        changed += 1;
    }
    assert!(changed >= 8, "only {changed} of the chunks could be read");
}

#[test]
fn heightmaps_follow_a_changed_block() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let chunks = load(&real::region_1_19_4(), RegionPos::new(0, 0), &dimension, &states);
    let mut chunk = chunks.into_iter().find(|chunk| chunk.status.is_full()).expect("some are finished");
    let stone = states.parse("stone").expect("a known state");
    chunk.set_block(3, 250, 4, stone, &states);
    let nbt = encoder(&dimension, &states)
        .encode_nbt(&chunk)
        .expect("it encodes")
        .expect("it has changed")
        .to_vec();
    let again = decode(&dimension, &states, chunk.position(), &nbt);
    for kind in HeightmapKind::ALL {
        let (before, after) =
            (chunk.heightmaps.map(kind).expect("stored"), again.heightmaps.map(kind).expect("stored"));
        for column in 0..256 {
            let expected = if column == 4 * 16 + 3 { 250 + 65 } else { before[column] };
            assert_eq!(after[column], expected, "{kind:?} {column}");
        }
    }
}

#[test]
fn changed_light_is_written_where_it_changed() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let chunks = load(&real::region_1_19_4(), RegionPos::new(0, 0), &dimension, &states);
    let mut chunk = chunks.into_iter().find(|chunk| chunk.light.is_some()).expect("some are lit");
    let before = parts(&original(&chunk));
    let mut light: ChunkLight = *chunk.light.take().expect("it is lit");
    light.channel_mut(LightChannel::Block)[6] = LightLevels::Uniform(5);
    chunk.light = Some(Box::new(light.clone()));
    let mut encoder = encoder(&dimension, &states);
    let nbt = encoder.encode_nbt(&chunk).expect("it encodes").expect("it has changed").to_vec();
    let again = decode(&dimension, &states, chunk.position(), &nbt);
    let again = again.light.expect("it is still lit");
    for section in -5..21 {
        for cell in (0..4096).step_by(5) {
            for channel in [LightChannel::Block, LightChannel::Sky] {
                assert_eq!(again.level(channel, section, cell), light.level(channel, section, cell));
            }
        }
    }
    let after = parts(&nbt);
    let mut expected = before.clone();
    let array = [&2048_i32.to_be_bytes()[..], &[0x55; 2048]].concat();
    expected.1.get_mut(&1).expect("section 1").insert("BlockLight".to_owned(), array);
    expected.0.remove("sections");
    assert_eq!((after.0.into_iter().filter(|(field, _)| field != "sections").collect(), after.1), expected);

    // Light that is known to be incomplete is for the game to make again.
    light.incomplete = true;
    chunk.light = Some(Box::new(light));
    let nbt = encoder.encode_nbt(&chunk).expect("it encodes").expect("it has changed").to_vec();
    assert!(decode(&dimension, &states, chunk.position(), &nbt).light.is_none());
}

#[test]
fn a_new_chunk_is_read_back_and_read_by_others() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let hills = Hills::new(7, &states).expect("its blocks are known");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    let region = Region::open_for_writing(&path).expect("the region opens");
    let chunks: Vec<Chunk> = generate(&hills, &square(2), &dimension)
        .into_iter()
        .filter(|chunk| chunk.position().region() == RegionPos::new(0, 0))
        .collect();
    assert!(!chunks.is_empty());
    let mut encoder = encoder(&dimension, &states);
    for chunk in &chunks {
        let payload = encoder.encode(chunk, Compression::Zlib).expect("it encodes").expect("it is new");
        region
            .write(chunk.position(), Compression::Zlib, payload, 1, Overwrite::Sound)
            .expect("it is written");
    }
    region.flush().expect("it is flushed");
    let again = load(&path, RegionPos::new(0, 0), &dimension, &states);
    assert_eq!(again.len(), chunks.len());
    let mut other =
        fastanvil::Region::from_stream(std::fs::File::open(&path).expect("a file")).expect("a region");
    for chunk in &chunks {
        let ours = again.iter().find(|other| other.position() == chunk.position()).expect("it was written");
        for (written, read) in chunk.sections().iter().zip(ours.sections()) {
            assert_eq!(written.content_hash(&states), read.content_hash(&states));
        }
        let (x, z) = (chunk.position().x as usize, chunk.position().z as usize);
        let bytes = other.read_chunk(x, z).expect("it is read").expect("it is there");
        let theirs: fastanvil::CurrentJavaChunk = fastnbt::from_bytes(&bytes).expect("it is decoded");
        for y in (-64..200).step_by(7) {
            let id = chunk.block(3, y, 11).expect("within range");
            let name =
                fastanvil::Chunk::block(&theirs, 3, y as isize, 11).expect("within range").name().to_owned();
            assert_eq!(name, states.name(id));
        }
    }
}

#[test]
fn more_kinds_than_a_byte_can_count_survive() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let mut encoder = encoder(&dimension, &states);
    for kinds in [1_u32, 2, 15, 16, 17, 255, 256, 257, 1000, 2048, 2049, 4096] {
        let mut chunk = Chunk::empty(ChunkPos::new(-7, 3), &dimension);
        for cell in 0..4096_u32 {
            let state = voxtick_worlds::StateId(1 + cell % kinds * 7);
            chunk.set_block((cell % 16) as i32, (cell / 256) as i32, (cell / 16 % 16) as i32, state, &states);
        }
        let nbt = encoder.encode_nbt(&chunk).expect("it encodes").expect("it is new").to_vec();
        let again = decode(&dimension, &states, chunk.position(), &nbt);
        for cell in 0..4096 {
            assert_eq!(
                again.sections()[4].get(cell),
                chunk.sections()[4].get(cell),
                "{kinds} kinds, cell {cell}"
            );
        }
    }
}

/// A chunk of an unknown later version, with a block, a key and a section that nobody knows.
fn future_chunk() -> Vec<u8> {
    let sections = fastnbt::nbt!([
        { "Y": (-9_i8), "secret": "below" },
        { "Y": 4_i8, "block_states": {
            "palette": [
                { "Name": "minecraft:air" },
                { "Name": "minecraft:moon_ore", "Properties": { "phase": "full" } },
            ],
            "data": (fastnbt::LongArray::new([vec![1_i64], vec![0; 255]].concat())),
            "more": 7
        } },
    ]);
    let fastnbt::Value::Compound(mut fields) =
        fastnbt::from_bytes(&chunk_nbt(1, 0, sections)).expect("it was just written")
    else {
        panic!("a compound was written")
    };
    fields.insert("DataVersion".to_owned(), fastnbt::Value::Int(99_999));
    fields.insert("moon".to_owned(), fastnbt::nbt!({ "tide": [1.5, 2.5], "text": "\u{1F319}" }));
    fastnbt::to_bytes(&fastnbt::Value::Compound(fields)).expect("NBT can be written")
}

#[test]
fn a_later_version_keeps_its_number_its_blocks_and_its_keys() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let folder = tempfile::tempdir().expect("a folder");
    let mut region = RegionBytes::new();
    region.chunk(1, 3, &future_chunk());
    region.chunk(2, 3, &empty_chunk(2, 0));
    let path = region.write(folder.path(), "r.0.0.mca");
    let mut chunks = load(&path, RegionPos::new(0, 0), &dimension, &states);
    let chunk = &mut chunks[0];
    let ore = chunk.block(0, 64, 0).expect("within range");
    assert_eq!(states.print(ore), "minecraft:moon_ore[phase=full]");
    chunk.set_block(1, 64, 0, ore, &states);
    chunk.set_block(0, 100, 0, ore, &states);
    let nbt =
        encoder(&dimension, &states).encode_nbt(chunk).expect("it encodes").expect("it has changed").to_vec();
    let ((before, sections_before), (after, sections_after)) = (parts(&original(chunk)), parts(&nbt));
    for field in ["DataVersion", "moon", "xPos", "Status"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    assert_eq!(sections_before[&-9], sections_after[&-9]);
    let mut tape = Tape::new();
    let root = tape.parse(&nbt, &NbtLimits::default()).expect("NBT");
    assert_eq!(root.field("DataVersion").and_then(|version| version.integer()), Some(99_999));
    let section = root.field("sections").expect("sections").items().nth(1).expect("section 4");
    let states_field = section.field("block_states").expect("block states");
    assert_eq!(states_field.field("more").and_then(|more| more.integer()), Some(7), "unknown keys stay");
    let again = decode(&dimension, &states, chunk.position(), &nbt);
    assert_eq!((again.block(1, 64, 0), again.block(0, 100, 0)), (Some(ore), Some(ore)));
}

#[test]
fn a_block_that_enters_an_old_chunk_has_the_name_of_its_time() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let chunks = load(&real::region_1_19_4(), RegionPos::new(0, 0), &dimension, &states);
    let mut chunk = chunks.into_iter().next().expect("there are chunks");
    for (x, name) in ["short_grass", "iron_chain[axis=x]", "dirt_path"].iter().enumerate() {
        chunk.set_block(x as i32, 318, 0, states.parse(name).expect("a known state"), &states);
    }
    let nbt = encoder(&dimension, &states)
        .encode_nbt(&chunk)
        .expect("it encodes")
        .expect("it has changed")
        .to_vec();
    let mut tape = Tape::new();
    let root = tape.parse(&nbt, &NbtLimits::default()).expect("NBT");
    let top = root
        .field("sections")
        .expect("sections")
        .items()
        .find(|section| section.field("Y").and_then(|y| y.integer()) == Some(19))
        .expect("the topmost section");
    let palette = top.field("block_states").and_then(|states| states.field("palette")).expect("a palette");
    let names: Vec<_> = palette.items().filter_map(|entry| entry.field("Name")?.text()).collect();
    assert_eq!(names, ["minecraft:air", "minecraft:grass", "minecraft:chain", "minecraft:dirt_path"]);
}

#[test]
fn a_block_beyond_the_range_of_an_old_chunk_is_refused() {
    let Some(folder) = std::env::var_os("VOXTICK_DATA") else {
        eprintln!("VOXTICK_DATA is not set: no old chunk is at hand");
        return;
    };
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let path = Path::new(&folder).join("worlds/java-1.16/r.0.0.mca");
    let mut chunk = load(&path, RegionPos::new(0, 0), &dimension, &states).remove(0);
    let stone = states.parse("stone").expect("a known state");
    chunk.set_block(0, -10, 0, stone, &states);
    let outcome = encoder(&dimension, &states).encode_nbt(&chunk).map(|nbt| nbt.is_some());
    assert_eq!(outcome, Err(EncodeChunkError::OutsideOldRange { y: -1, data_version: 2578 }));
}

#[test]
fn a_region_saved_with_one_block_changed_a_chunk_keeps_everything_else() {
    let states = BlockStates::load();
    let dimension = Dimension::overworld();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.0.0.mca");
    std::fs::copy(real::region_1_19_4(), &path).expect("the region can be copied");
    let wool = states.parse("lime_wool").expect("a known state");
    let region = Region::open_for_writing(&path).expect("the region opens");
    let mut chunks = load_region(&region, &dimension, &states, &Limits::default()).chunks;
    let mut encoder = encoder(&dimension, &states);
    for (n, chunk) in chunks.iter_mut().enumerate().step_by(5) {
        chunk.set_block(1, 90, 1, wool, &states);
        let compression = Compression::ALL[n / 5 % 4];
        let payload = encoder.encode(chunk, compression).expect("it encodes").expect("it has changed");
        region.write(chunk.position(), compression, payload, 5, Overwrite::Sound).expect("it is written");
    }
    region.flush().expect("it is flushed");
    drop(region);
    let again = load(&path, RegionPos::new(0, 0), &dimension, &states);
    assert_eq!(again.len(), chunks.len());
    let mut stored = StoredChunk::default();
    let (new, old) =
        (Region::open(&path).expect("opens"), Region::open_as(real::region_1_19_4(), RegionPos::new(0, 0)));
    let old = old.expect("opens");
    for (n, (before, after)) in chunks.iter().zip(&again).enumerate() {
        for (ours, theirs) in before.sections().iter().zip(after.sections()) {
            assert_eq!(ours.content_hash(&states), theirs.content_hash(&states));
        }
        if n % 5 != 0 {
            assert!(old.read(before.position(), &mut stored, &Limits::default()).expect("it is whole"));
            let payload = stored.payload().to_vec();
            assert!(new.read(before.position(), &mut stored, &Limits::default()).expect("it is whole"));
            assert_eq!(payload, stored.payload(), "an untouched chunk keeps its very bytes");
        }
    }
}
