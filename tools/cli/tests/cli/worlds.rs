//! The commands that look after worlds, on a world made for the purpose.

use std::fs;
use std::path::Path;

use serde_json::Value;
use voxtick::anvil::compression::{Compression, Inflater, Packer};
use voxtick::anvil::entities::{EntitiesDocument, StoredEntity, read_entities, write_entities};
use voxtick::anvil::files::Access;
use voxtick::anvil::nbt::NbtLimits;
use voxtick::anvil::region::{Overwrite, Region, StoredChunk, open_region};
use voxtick::anvil::{ChunkEncoder, Limits};
use voxtick::worlds::generators::{Hills, generate, square};
use voxtick::worlds::{BlockStates, ChunkPos, Dimension, DroppedItem, ItemKinds, ItemStack, RegionPos};

#[cfg(unix)]
use crate::program::command;
use crate::program::{Run, run_in};

/// Writes `region/r.0.0.mca` and its three neighbours around the origin: 6 x 6 chunks of hills without light.
pub(crate) fn make_world(folder: &Path) {
    let (states, overworld) = (BlockStates::load(), Dimension::overworld());
    let hills = Hills::new(3, &states).expect("known blocks");
    let mut encoder = ChunkEncoder::new(overworld.clone(), states, Limits::default(), Packer::new());
    fs::create_dir(folder.join("region")).expect("a folder");
    for chunk in generate(&hills, &square(6), &overworld) {
        let at = chunk.position();
        let name = format!("region/r.{}.{}.mca", at.region().x, at.region().z);
        let region = Region::open_for_writing(folder.join(name)).expect("a region");
        let payload =
            encoder.encode(&chunk, Compression::Zlib).expect("encodes").expect("something to write");
        region.write(at, Compression::Zlib, payload, 7, Overwrite::Sound).expect("written");
        region.flush().expect("durable");
    }
}

fn succeeds(folder: &Path, arguments: &[&str]) -> Run {
    let run = run_in(folder, arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {}{}", run.output, run.errors);
    run
}

#[test]
fn a_world_relit_in_place_has_the_light_of_the_rules_and_is_then_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    let planned = succeeds(folder.path(), &["world", "relight", ".", "--dry-run", "--json"]);
    let rows: Vec<Value> =
        planned.output.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.iter().map(|row| row["changed_chunks"].as_u64().expect("a number")).sum::<u64>(), 36);
    succeeds(folder.path(), &["world", "relight", ".", "--in-place"]);
    let check = succeeds(folder.path(), &["world", "relight", ".", "--check", "--json"]);
    let rows: Vec<Value> =
        check.output.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let cells: u64 = rows.iter().map(|row| row["block"]["cells"].as_u64().expect("a number")).sum();
    assert_eq!(cells, 4 * 24 * 4096, "four chunks in the middle have neighbours whose light is complete");
    let again = succeeds(folder.path(), &["world", "relight", ".", "--dry-run"]);
    assert!(again.output.lines().all(|line| line.trim_end().ends_with(['0', '─', 'n'])), "{}", again.output);
    succeeds(folder.path(), &["world", "map", ".", "map.png", "--light", "sky"]);
    assert!(fs::read(folder.path().join("map.png")).expect("a picture").starts_with(b"\x89PNG"));
}

#[test]
fn a_world_converted_there_and_back_has_every_chunk_and_the_source_is_untouched() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    let source = fs::read(folder.path().join("region/r.0.0.mca")).expect("a region");
    let blocks = |path: &str| {
        let info = succeeds(folder.path(), &["world", "info", path, "--json"]);
        let info: Value = serde_json::from_str(&info.output).expect("JSON");
        (info[0]["chunks"].clone(), info[0]["blocks"].clone())
    };
    succeeds(folder.path(), &["world", "convert", ".", "linear", "--to", "linear"]);
    succeeds(folder.path(), &["world", "convert", "linear", "lz4", "--compression", "lz4"]);
    assert_eq!(blocks("lz4"), blocks("."));
    assert_eq!(blocks("linear"), blocks("."), "Linear files are read where Anvil files are");
    succeeds(folder.path(), &["world", "verify", "linear"]);
    succeeds(folder.path(), &["world", "copy", "linear", "part", "--from", "0,0", "--to", "0,0"]);
    assert!(folder.path().join("part/r.0.0.linear").is_file(), "a copy is of the same format");
    assert_eq!(fs::read(folder.path().join("region/r.0.0.mca")).expect("a region"), source);
    let refused = run_in(folder.path(), &["world", "convert", ".", "lz4"]);
    assert_eq!(refused.code, 2, "a folder that holds a world is not written over");
    succeeds(folder.path(), &["world", "copy", ".", "box", "--from", "0,0", "--to", "-1,0"]);
    assert_eq!(blocks("box").0, 2);
}

#[test]
fn a_world_is_never_written_in_place_unless_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    let path = folder.path().join("region/r.0.0.mca");
    let before = fs::read(&path).expect("a region");
    for verb in ["repair", "compact", "relight"] {
        let refused = run_in(folder.path(), &["world", verb, "."]);
        assert_eq!(refused.code, 2, "{verb}: {}", refused.output);
        assert!(refused.errors.contains("--in-place"), "{verb}: {}", refused.errors);
        run_in(folder.path(), &["world", verb, ".", "--dry-run"]);
        assert_eq!(fs::read(&path).expect("a region"), before, "{verb}");
    }
}

#[test]
fn damage_is_verified_set_aside_and_then_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    let path = folder.path().join("region/r.0.0.mca");
    let mut region = fs::read(&path).expect("a region");
    // The first chunk's record: its compressed stream no longer begins as one.
    let offset = (u32::from_be_bytes(region[..4].try_into().expect("four bytes")) >> 8) as usize * 4096;
    region[offset + 5..offset + 25].fill(0xAA);
    fs::write(&path, &region).expect("written");
    let verify = run_in(folder.path(), &["world", "verify", ".", "--json"]);
    assert_eq!(verify.code, 1, "{}", verify.errors);
    let rows: Vec<Value> =
        verify.output.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let row =
        rows.iter().find(|row| row["file"].as_str().expect("a name").ends_with("r.0.0.mca")).expect("a row");
    assert_eq!((&row["damaged"], &row["whole"]), (&Value::from(1), &Value::from(8)), "the others are whole");
    assert_eq!(run_in(folder.path(), &["world", "repair", ".", "--dry-run"]).code, 1);
    assert_eq!(fs::read(&path).expect("a region"), region, "a dry run writes nothing");
    succeeds(folder.path(), &["world", "repair", ".", "--in-place"]);
    let aside = fs::read(folder.path().join("region/r.0.0.mca.damaged/c.0.0.record")).expect("set aside");
    assert_eq!(aside[..25], region[offset..offset + 25]);
    succeeds(folder.path(), &["world", "verify", "."]);
    succeeds(folder.path(), &["world", "compact", ".", "--in-place"]);
    assert!(fs::metadata(&path).expect("a region").len() < region.len() as u64, "the gap is gone");
}

#[test]
fn what_a_run_changes_is_saved_at_its_end_and_only_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    fs::write(folder.path().join("edits.toml"), EDITS).expect("written");
    let region = || fs::read(folder.path().join("region/r.0.0.mca")).expect("a region");
    let before = region();
    succeeds(folder.path(), &["run", "edits.toml", "--world", "."]);
    assert_eq!(region(), before, "nothing is written unless asked");
    let run = succeeds(folder.path(), &["run", "edits.toml", "--world", ".", "--save"]);
    assert!(run.errors.contains("chunks saved"), "{}", run.errors);
    assert!(region() != before);
    succeeds(folder.path(), &["world", "verify", "."]);
    let refused = run_in(folder.path(), &["run", "edits.toml", "--save"]);
    assert_eq!(refused.code, 2, "{}", refused.errors);
    assert!(refused.errors.contains("--world"), "{}", refused.errors);
}

const EDITS: &str = "ticks = 8\n[edits]\nblocks = 20\n";

#[test]
fn what_cannot_be_saved_is_listed_and_the_exit_code_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    fs::write(folder.path().join("edits.toml"), EDITS).expect("written");
    let path = folder.path().join("region/r.0.0.mca");
    // Another program writes to one of the four regions.
    let other = open_region(&path, RegionPos::new(0, 0), Access::Write).expect("a region");
    let before = fs::read(&path).expect("a region");
    let run = run_in(folder.path(), &["run", "edits.toml", "--world", ".", "--save"]);
    assert_eq!(run.code, 3, "{}", run.errors);
    let named = run.errors.lines().filter(|line| line.contains("r.0.0.mca is open for writing elsewhere"));
    assert!(named.count() > 0 && run.errors.contains("is not saved"), "{}", run.errors);
    assert_eq!(fs::read(&path).expect("a region"), before);
    let repair = run_in(folder.path(), &["world", "repair", ".", "--in-place"]);
    assert_eq!(repair.code, 2, "{}", repair.errors);
    drop(other);
    succeeds(folder.path(), &["run", "edits.toml", "--world", ".", "--save"]);
}

#[test]
fn dropped_items_of_a_save_fall_and_are_saved_where_they_lie() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    fs::create_dir(folder.path().join("entities")).expect("a folder");
    let path = folder.path().join("entities/r.0.0.mca");
    let here = ChunkPos::new(1, 1);
    let mut kinds = ItemKinds::default();
    let kind = kinds.intern("minecraft:egg", &[]).expect("room");
    let pig = b"\x08\0\x02id\0\x0dminecraft:pig\0";
    let egg = DroppedItem {
        position: [24.5, 200.0, 24.5],
        velocity: [0.0; 3],
        on_ground: false,
        stack: ItemStack::new(kind, 3, 16),
        age: Some(100),
        pickup_delay: Some(0),
        record: None,
    };
    let entities = [StoredEntity::Other(pig[..].into()), StoredEntity::Item(egg)];
    let new = EntitiesDocument::New { data_version: 4786, position: here };
    let (document, _) = write_entities(new, &entities, &NbtLimits::default(), &kinds).expect("a document");
    let region = Region::open_for_writing(&path).expect("a region");
    region.write(here, Compression::Uncompressed, &document, 7, Overwrite::Sound).expect("written");
    drop(region);
    let before = fs::read(&path).expect("a region");
    let stored = || {
        let region = Region::open(&path).expect("a region");
        let (mut stored, mut nbt) = (StoredChunk::default(), Vec::new());
        assert!(region.read(here, &mut stored, &Limits::default()).expect("whole"));
        let inflated = Inflater::new().inflate(stored.compression(), stored.payload(), 1 << 20, &mut nbt);
        inflated.expect("whole");
        read_entities(&nbt, here, &NbtLimits::default(), &mut ItemKinds::default()).expect("readable")
    };
    // Five ticks, in which nothing but the egg moves.
    fs::write(folder.path().join("still.toml"), "ticks = 5\n").expect("written");
    succeeds(folder.path(), &["run", "still.toml", "--world", "."]);
    assert_eq!(fs::read(&path).expect("a region"), before, "nothing is written unless asked");
    for run in 1..=2 {
        succeeds(folder.path(), &["run", "still.toml", "--world", ".", "--save"]);
        let entities = stored();
        let [StoredEntity::Other(other), StoredEntity::Item(egg)] = entities.as_slice() else {
            panic!("{entities:?}")
        };
        assert_eq!((&**other, egg.stack.count, egg.age), (&pig[..], 3, Some(100 + 5 * run)));
        assert!(egg.position[1] < 200.0 && egg.velocity[1] < 0.0, "{egg:?}");
    }
    succeeds(folder.path(), &["world", "verify", "."]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_too() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    fs::write(folder.path().join("edits.toml"), EDITS).expect("written");
    // As the game leaves it in every save.
    fs::write(folder.path().join("session.lock"), "\u{2603}").expect("written");
    let before = fs::read(folder.path().join("region/r.0.0.mca")).expect("a region");
    let arguments =
        ["run", "edits.toml", "--world", ".", "--save", "--ticks", "1000000", "--rate", "100", "--quiet"];
    let mut child = command(&arguments).current_dir(folder.path()).spawn().expect("voxtick starts");
    let ticks = folder.path().join("voxtick-out/ticks.jsonl");
    while !fs::metadata(&ticks).is_ok_and(|file| file.len() > 0) {
        assert!(child.try_wait().expect("a child").is_none(), "the run ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Meanwhile nobody else writes to the save.
    for arguments in
        [&["run", "edits.toml", "--world", ".", "--save"][..], &["world", "repair", ".", "--in-place"]]
    {
        let refused = run_in(folder.path(), arguments);
        assert_eq!(refused.code, 2, "{}", refused.errors);
        assert!(refused.errors.contains("session.lock is locked"), "{}", refused.errors);
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    assert_eq!(child.wait().expect("a child").code(), Some(130));
    assert!(fs::read(folder.path().join("region/r.0.0.mca")).expect("a region") != before, "it was saved");
    succeeds(folder.path(), &["world", "verify", "."]);
}
