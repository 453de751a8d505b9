//! The light that the game itself stored in real regions, cell by cell.

mod real;

use std::path::{Path, PathBuf};

use voxtick_anvil::region::Region;
use voxtick_anvil::{Limits, load_region};
use voxtick_light::{LightCheck, check};
use voxtick_worlds::{BlockStates, Dimension, RegionPos, World};

fn check_region(path: &Path, dimension: Dimension) -> LightCheck {
    check_region_as(RegionPos::new(0, 0), path, dimension)
}

fn check_region_as(position: RegionPos, path: &Path, dimension: Dimension) -> LightCheck {
    let states = BlockStates::load();
    let region = Region::open_as(path, position).expect("the region opens");
    let load = load_region(&region, &dimension, &states, &Limits::default());
    assert!(load.failures.is_empty(), "{:?}", load.failures.first());
    let mut world = World::new(dimension, states);
    for chunk in load.chunks {
        world.insert_chunk(chunk);
    }
    check(&world)
}

#[test]
fn the_1_19_4_region_differs_only_where_the_game_failed_to_cross_a_chunk_edge() {
    let found = check_region(&real::region_1_19_4(), Dimension::overworld());
    assert_eq!(found.chunks, 225);
    assert!(found.block.cells > 16_000_000, "{} cells", found.block.cells);
    assert_eq!(found.sky.differing_cells(), 0, "{:?}", found.sky);
    // In these the game did not carry light across a chunk's edge; what is too dark beside that follows from them.
    // Others have counted 57 such cells among 12.7 million: theirs were fewer chunks (these 169 hold 16.6 million cells),
    // and which ones is not known. Each of the 78 here borders on another chunk whose cell is brighter by two or more.
    let (inside, at_edge) = (&found.block.inside, &found.block.at_chunk_edge);
    assert_eq!((inside.origins, at_edge.origins), (0, 78), "{:?}", found.block);
    assert_eq!((inside.cells, at_edge.cells), (133, 94));
    assert_eq!((inside.stored_darker, at_edge.stored_darker), (133, 94), "every one is too dark in the file");
}

#[expect(clippy::print_stderr, reason = "a test that leaves out real data says so")]
#[test]
fn the_1_21_region_has_the_light_of_the_rules_in_every_cell() {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else {
        eprintln!("VOXTICK_DATA is not set: the light of the 1.21 region was NOT compared");
        return;
    };
    let path = Path::new(&data).join("worlds/java-1.21/r.0.0.mca");
    let found = check_region(&path, Dimension::overworld());
    assert_eq!(found.chunks, 134);
    assert!(found.block.cells > 8_000_000, "{} cells", found.block.cells);
    assert_eq!((found.block.differing_cells(), found.sky.differing_cells()), (0, 0), "{found:?}");
}

#[expect(clippy::print_stderr, reason = "a test that leaves out real data says so")]
#[test]
fn the_1_16_region_has_the_sky_light_of_the_rules_and_one_emitter_of_its_own() {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else {
        eprintln!("VOXTICK_DATA is not set: the light of the 1.16 region was NOT compared");
        return;
    };
    let path = Path::new(&data).join("worlds/java-1.16/r.0.0.mca");
    let found = check_region(&path, Dimension::overworld_before_1_18());
    assert_eq!(found.chunks, 292);
    assert_eq!(
        found.sky.differing_cells(),
        0,
        "floating islands: no light is stored far below them: {:?}",
        found.sky
    );
    // An enchanting table, which stands at a chunk's edge, gives light since 1.17 only.
    assert_eq!((found.block.inside.origins, found.block.at_chunk_edge.origins), (0, 1), "{:?}", found.block);
}

/// 1.14 and 1.15 lit by the rules of 1.16 but for what this states. The two files are one world, opened in both.
#[expect(clippy::print_stderr, reason = "a test that leaves out real data says so")]
#[test]
fn the_1_14_and_1_15_regions_differ_where_those_versions_did() {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else {
        eprintln!("VOXTICK_DATA is not set: the light of the 1.14 and 1.15 regions was NOT compared");
        return;
    };
    for version in ["1.14", "1.15"] {
        let path = Path::new(&data).join(format!("worlds/java-{version}/r.0.0.mca"));
        let found = check_region(&path, Dimension::overworld_before_1_18());
        assert_eq!(found.chunks, 199);
        // 25 are cells of air that light did not reach across a chunk's edge; an enchanting table gave no light before
        // 1.17, and a brewing stand and a nether brick fence stand where light did not arrive.
        let (inside, at_edge) = (&found.block.inside, &found.block.at_chunk_edge);
        assert_eq!(inside.origins + at_edge.origins, 28, "{version}: {:?}", found.block);
        assert_eq!((inside.cells, at_edge.cells), (142, 284), "{version}");
        assert_eq!((inside.stored_darker, at_edge.stored_darker), (142, 284), "{version}: all too dark");
        // Sky light of 15 came through seven cells that take one level of it since.
        let sky = &found.sky;
        assert_eq!(sky.inside.origins + sky.at_chunk_edge.origins, 7, "{version}: {sky:?}");
        assert_eq!((sky.inside.cells, sky.at_chunk_edge.cells), (234, 39), "{version}");
        assert_eq!(
            sky.inside.stored_darker + sky.at_chunk_edge.stored_darker,
            0,
            "{version}: all too bright"
        );
    }
}

/// The regions that come with the npm package `prismarine-provider-anvil` 2.13.0, where its `test/fixtures` are named by
/// `VOXTICK_PRISMARINE` or the package is installed beside the tests of the Anvil crate.
#[expect(clippy::print_stderr, reason = "a test that leaves out real data says so")]
#[test]
fn the_regions_of_prismarine_have_the_light_of_the_rules() {
    let installed = "../anvil/tests/prismarine/node_modules/prismarine-provider-anvil/test/fixtures";
    let fixtures = std::env::var_os("VOXTICK_PRISMARINE")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(installed), PathBuf::from);
    if !fixtures.is_dir() {
        eprintln!("prismarine-provider-anvil is not there: the light of its regions was NOT compared");
        return;
    }
    for (version, chunks) in [("1.17.1", 144), ("1.18.2", 27), ("1.20.6", 16), ("1.21.1", 16)] {
        let low = Dimension::overworld_before_1_18();
        let dimension = if version == "1.17.1" { low } else { Dimension::overworld() };
        let found = check_region(&fixtures.join(version).join("r.0.0.mca"), dimension);
        assert_eq!(found.chunks, chunks, "{version}");
        let differ = (found.block.differing_cells(), found.sky.differing_cells());
        assert_eq!(differ, (0, 0), "{version}: {found:?}");
    }
    // The game failed to carry light across chunk edges, as in the other region of this version.
    let found = check_region(&fixtures.join("1.19.4/r.0.0.mca"), Dimension::overworld());
    let (inside, at_edge) = (&found.block.inside, &found.block.at_chunk_edge);
    assert_eq!((inside.origins, at_edge.origins), (0, 30), "{:?}", found.block);
    assert_eq!((inside.stored_darker, at_edge.stored_darker), (inside.cells, at_edge.cells));
    assert_eq!(found.sky.differing_cells(), 0);
    // Light that stayed behind in two cells that are stone now, at a chunk's edge, and around them.
    let low = Dimension::overworld_before_1_18();
    let found = check_region_as(RegionPos::new(0, -1), &fixtures.join("1.16/r.0.-1.mca"), low);
    let (inside, at_edge) = (&found.block.inside, &found.block.at_chunk_edge);
    assert_eq!((inside.origins, at_edge.origins), (0, 2), "{:?}", found.block);
    assert_eq!((inside.cells, at_edge.cells), (37, 11));
    assert_eq!((inside.stored_darker, at_edge.stored_darker), (0, 0), "every one is too bright in the file");
    assert_eq!(found.sky.differing_cells(), 0);
}
