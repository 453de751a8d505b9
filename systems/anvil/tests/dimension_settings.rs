//! Build ranges and skies that a save's own files set: level.dat and data packs, in made-up saves.

use std::fs;
use std::path::Path;

use voxtick_anvil::Save;
use voxtick_anvil::compression::{Compression, Packer};
use voxtick_anvil::nbt::{NbtWriter, Tag};
use voxtick_anvil::save::{SaveDimension, SettingsError};
use voxtick_worlds::{BlockStates, Dimension};

/// What level.dat says of the overworld's type.
enum Type<'a> {
    Named(&'a str),
    Described { min_y: i32, height: i32, has_sky: bool },
    DescribedWithoutHeights,
}

fn level_dat(kind: &Type<'_>, packs: Option<&[&str]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut nbt = NbtWriter::new(&mut bytes);
    for name in ["", "Data", "WorldGenSettings", "dimensions", "minecraft:overworld"] {
        nbt.begin(Tag::Compound, name);
    }
    match *kind {
        Type::Named(name) => {
            nbt.begin(Tag::String, "type");
            nbt.string(name);
        }
        Type::Described { min_y, height, has_sky } => {
            nbt.begin(Tag::Compound, "type");
            nbt.begin(Tag::Int, "min_y");
            nbt.int(min_y);
            nbt.begin(Tag::Int, "height");
            nbt.int(height);
            nbt.begin(Tag::Byte, "has_skylight");
            nbt.byte(has_sky.into());
            nbt.end();
        }
        Type::DescribedWithoutHeights => {
            nbt.begin(Tag::Compound, "type");
            nbt.end();
        }
    }
    // The dimension, the dimensions, the settings.
    (0..3).for_each(|_| nbt.end());
    if let Some(packs) = packs {
        nbt.begin(Tag::Compound, "DataPacks");
        nbt.begin(Tag::List, "Enabled");
        nbt.list(Tag::String, packs.len());
        packs.iter().for_each(|pack| nbt.string(pack));
        nbt.end();
    }
    nbt.end();
    nbt.end();
    let mut packed = Vec::new();
    Packer::new().pack(Compression::Gzip, &bytes, &mut packed);
    packed
}

fn put(folder: &Path, file: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
    fs::write(path, bytes).expect("the file can be written");
}

/// A save with one empty region, this level.dat and these files.
fn overworld_of(level: &[u8], files: &[(&str, &str)]) -> Result<Dimension, SettingsError> {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "region/r.0.0.mca", []);
    put(folder.path(), "level.dat", level);
    files.iter().for_each(|(file, text)| put(folder.path(), file, text));
    // Its own folder, the folder of regions and a single region tell the same.
    let states = BlockStates::load();
    let ranges = ["", "region", "region/r.0.0.mca"].map(|path| {
        let save = Save::open(folder.path().join(path), SaveDimension::Overworld, &states);
        save.map(|save| save.build_range(&states))
    });
    let [whole, regions, one] = ranges;
    let (whole, regions) = (whole.expect("a save"), regions.expect("a folder of regions"));
    assert_eq!(whole.as_ref().ok(), regions.as_ref().ok());
    if let Ok(one) = one {
        assert_eq!(whole.as_ref().ok(), one.as_ref().ok());
    }
    whole
}

fn range(min_y: i32, height: i32, has_sky: bool) -> Dimension {
    Dimension::new("minecraft:overworld", min_y, height, has_sky).expect("a valid range")
}

#[test]
fn a_type_described_in_level_dat_is_taken_as_it_is() {
    let described = Type::Described { min_y: -128, height: 1024, has_sky: false };
    assert_eq!(overworld_of(&level_dat(&described, None), &[]).expect("told"), range(-128, 1024, false));
    let of_1_16 = level_dat(&Type::DescribedWithoutHeights, None);
    assert_eq!(overworld_of(&of_1_16, &[]).expect("told"), range(0, 256, true));
}

#[test]
fn the_games_own_types_are_known() {
    let own = level_dat(&Type::Named("minecraft:overworld"), None);
    assert_eq!(overworld_of(&own, &[]).expect("told"), Dimension::overworld());
    let nether = level_dat(&Type::Named("minecraft:the_nether"), None);
    assert_eq!(overworld_of(&nether, &[]).expect("told"), range(0, 256, false));
}

#[test]
fn the_last_enabled_pack_that_defines_a_type_wins() {
    let tall = r#"{"min_y": -64, "height": 2048, "has_skylight": true}"#;
    let low = r#"{"min_y": 0, "height": 128, "has_skylight": false}"#;
    let files = [
        ("datapacks/a/data/minecraft/dimension_type/overworld.json", tall),
        ("datapacks/b/data/minecraft/dimension_type/overworld.json", low),
        ("datapacks/c/data/my/dimension_type/deep/mine.json", tall),
    ];
    let own = Type::Named("minecraft:overworld");
    let told = |kind: &Type<'_>, packs: Option<&[&str]>| overworld_of(&level_dat(kind, packs), &files);
    assert_eq!(told(&own, Some(&["vanilla", "file/b", "file/a"])).expect("told"), range(-64, 2048, true));
    assert_eq!(told(&own, Some(&["vanilla", "file/a", "file/b"])).expect("told"), range(0, 128, false));
    assert_eq!(told(&own, Some(&["vanilla"])).expect("told"), Dimension::overworld());
    assert_eq!(told(&own, None).expect("told"), range(0, 128, false), "all packs, by name");
    assert_eq!(told(&Type::Named("my:deep/mine"), None).expect("told"), range(-64, 2048, true));
}

#[test]
fn what_cannot_be_told_is_an_error_that_names_the_file() {
    let told = |level: &[u8], files: &[(&str, &str)]| {
        overworld_of(level, files).expect_err("not to be told").to_string()
    };
    let own = level_dat(&Type::Named("minecraft:overworld"), None);
    assert!(told(&own[..own.len() / 2], &[]).contains("level.dat"), "cut in half");
    assert!(told(b"no NBT", &[]).contains("level.dat_old"));
    let unknown = told(&level_dat(&Type::Named("my:own"), None), &[]);
    assert!(unknown.contains("my:own") && unknown.contains("datapacks"), "{unknown}");
    let outside = told(&level_dat(&Type::Named("my:../../../x"), None), &[]);
    assert!(outside.contains("my:../../../x"), "{outside}");
    let file = "datapacks/a/data/minecraft/dimension_type/overworld.json";
    assert!(told(&own, &[(file, "{")]).contains("overworld.json"));
    assert!(told(&own, &[(file, r#"{"min_y": "low"}"#)]).contains("`min_y` is not a whole number"));
    assert!(told(&own, &[(file, r#"{"height": 100}"#)]).contains("multiples of 16"));
    assert!(told(&own, &[(file, r#"{"has_skylight": 3}"#)]).contains("true or false"));
    let zipped = told(&own, &[("datapacks/a.zip", "PK..data/minecraft/dimension_type/overworld.json..")]);
    assert!(zipped.contains("a.zip") && zipped.contains("unpack"), "{zipped}");
}

#[test]
fn a_region_without_a_save_around_it_has_the_games_own_range() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "r.0.0.mca", []);
    let states = BlockStates::load();
    let save = Save::open(folder.path(), SaveDimension::Nether, &states).expect("a folder of regions");
    assert_eq!(save.build_range(&states).expect("told"), Dimension::nether());
}
