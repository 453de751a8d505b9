//! The light that the game itself stored in real regions, cell by cell.

#[path = "../../anvil/tests/support/left_out.rs"]
mod left_out;
#[path = "../../anvil/tests/support/prismarine.rs"]
mod prismarine;
mod real;

use std::path::Path;

use left_out::say_left_out;
use voxtick_anvil::region::Region;
use voxtick_anvil::{Limits, load_chunks};
use voxtick_light::{LightCheck, check};
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, RegionPos, World};

/// Why the regions of the shared folder are left out.
const NO_DATA: &str = "VOXTICK_DATA names no folder of real worlds";

fn check_region(path: &Path, dimension: Dimension) -> LightCheck {
    check_chunks_of(path, RegionPos::new(0, 0), dimension, usize::MAX)
}

/// Checks the first `count` chunks of a region, in the order of its header, as if there were no others.
fn check_chunks_of(path: &Path, position: RegionPos, dimension: Dimension, count: usize) -> LightCheck {
    let states = BlockStates::load();
    let region = Region::open_as(path, position).expect("the region opens");
    let chunks: Vec<ChunkPos> = region.chunks().take(count).collect();
    let load = load_chunks(&region, &chunks, &dimension, &states, &Limits::default());
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
    // In 78 cells the game did not carry light across a chunk's edge: each borders on another chunk whose cell is brighter
    // by two or more. The other 149 follow from them.
    let (inside, at_edge) = (&found.block.inside, &found.block.at_chunk_edge);
    assert_eq!((inside.origins, at_edge.origins), (0, 78), "{:?}", found.block);
    assert_eq!((inside.cells, at_edge.cells), (133, 94));
    assert_eq!((inside.stored_darker, at_edge.stored_darker), (133, 94), "every one is too dark in the file");
}

/// 57 such cells among 12.7 million is what is known of this region from elsewhere. That is the count of origins where
/// the file is read up to its 300th chunk: 129 of these have eight lit neighbours, and the other 21 of the 78 origins lie
/// in a chunk further on.
#[test]
fn the_first_300_chunks_of_the_1_19_4_region_hold_57_of_its_origins() {
    let region = real::region_1_19_4();
    let found = check_chunks_of(&region, RegionPos::new(0, 0), Dimension::overworld(), 300);
    assert_eq!(found.block.cells, 129 * 24 * 4096);
    let (inside, at_edge) = (&found.block.inside, &found.block.at_chunk_edge);
    assert_eq!((inside.origins, at_edge.origins), (0, 57), "{:?}", found.block);
    assert_eq!((inside.stored_darker, at_edge.stored_darker), (inside.cells, at_edge.cells));
    assert_eq!(found.sky.differing_cells(), 0, "{:?}", found.sky);
}

#[test]
fn the_1_21_region_has_the_light_of_the_rules_in_every_cell() {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else {
        say_left_out("the light of the 1.21 region", NO_DATA);
        return;
    };
    let path = Path::new(&data).join("worlds/java-1.21/r.0.0.mca");
    let found = check_region(&path, Dimension::overworld());
    assert_eq!(found.chunks, 134);
    assert!(found.block.cells > 8_000_000, "{} cells", found.block.cells);
    assert_eq!((found.block.differing_cells(), found.sky.differing_cells()), (0, 0), "{found:?}");
}

#[test]
fn the_1_16_region_has_the_sky_light_of_the_rules_and_one_emitter_of_its_own() {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else {
        say_left_out("the light of the 1.16 region", NO_DATA);
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
#[test]
fn the_1_14_and_1_15_regions_differ_where_those_versions_did() {
    let Some(data) = std::env::var_os("VOXTICK_DATA") else {
        say_left_out("the light of the 1.14 and 1.15 regions", NO_DATA);
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

/// The regions that come with the npm package `prismarine-provider-anvil` 2.13.0.
#[test]
fn the_regions_of_prismarine_have_the_light_of_the_rules() {
    let Some(packages) = prismarine::folder() else {
        say_left_out("the light of the regions of prismarine-provider-anvil", prismarine::HOW_TO_GET);
        return;
    };
    let fixtures = packages.join("node_modules/prismarine-provider-anvil/test/fixtures");
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
    let region = fixtures.join("1.16/r.0.-1.mca");
    let found = check_chunks_of(&region, RegionPos::new(0, -1), low, usize::MAX);
    let (inside, at_edge) = (&found.block.inside, &found.block.at_chunk_edge);
    assert_eq!((inside.origins, at_edge.origins), (0, 2), "{:?}", found.block);
    assert_eq!((inside.cells, at_edge.cells), (37, 11));
    assert_eq!((inside.stored_darker, at_edge.stored_darker), (0, 0), "every one is too bright in the file");
    assert_eq!(found.sky.differing_cells(), 0);
}
