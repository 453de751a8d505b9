//! Where a save keeps its regions.

use std::fs;
use std::path::Path;
use voxtick_anvil::save::SaveDimension;
use voxtick_anvil::{Save, SaveError};
use voxtick_worlds::{BlockStates, RegionPos};

fn put(folder: &Path, file: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
    fs::write(path, []).expect("the file can be written");
}

fn positions(folder: &Path, dimension: SaveDimension) -> Vec<RegionPos> {
    let save = Save::open(folder, dimension, &BlockStates::load()).expect("the save opens");
    save.regions().iter().map(|(position, _)| *position).collect()
}

#[test]
fn each_dimension_has_its_own_regions_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["region/r.1.0.linear", "region/r.-1.3.mca", "region/r.0.0.mca.bak", "DIM-1/region/r.5.5.mca"]
    {
        put(folder.path(), file);
    }
    assert_eq!(
        positions(folder.path(), SaveDimension::Overworld),
        [RegionPos::new(-1, 3), RegionPos::new(1, 0)]
    );
    assert_eq!(positions(folder.path(), SaveDimension::Nether), [RegionPos::new(5, 5)]);
    assert!(matches!(
        Save::open(folder.path(), SaveDimension::End, &BlockStates::load()),
        Err(SaveError::NoSave { .. })
    ));
}

#[test]
fn the_folders_of_26_1_come_before_the_older_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "region/r.9.9.mca");
    put(folder.path(), "dimensions/minecraft/overworld/region/r.0.0.mca");
    put(folder.path(), "dimensions/minecraft/the_end/region/r.1.1.mca");
    assert_eq!(positions(folder.path(), SaveDimension::Overworld), [RegionPos::new(0, 0)]);
    assert_eq!(positions(folder.path(), SaveDimension::End), [RegionPos::new(1, 1)]);
}

#[test]
fn a_folder_of_regions_and_a_single_region_are_saves_too() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "r.0.0.mca");
    put(folder.path(), "r.0.1.mca");
    assert_eq!(positions(folder.path(), SaveDimension::Overworld).len(), 2);
    assert_eq!(positions(&folder.path().join("r.0.1.mca"), SaveDimension::Overworld), [RegionPos::new(0, 1)]);
}

#[test]
fn a_missing_path_an_empty_world_and_no_save_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let states = BlockStates::load();
    let open = |path: &str| Save::open(folder.path().join(path), SaveDimension::Overworld, &states);
    assert!(matches!(open("nowhere"), Err(SaveError::Missing { .. })));
    assert!(matches!(open(""), Err(SaveError::NoSave { .. })));
    put(folder.path(), "level.dat");
    assert!(matches!(open("level.dat"), Err(SaveError::NoSave { .. })));
    fs::create_dir(folder.path().join("region")).expect("the folder can be made");
    assert!(matches!(open(""), Err(SaveError::Empty { .. })));
}
