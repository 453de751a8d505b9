//! The light that the game itself stored in real regions, cell by cell.

mod real;

use std::path::Path;

use voxtick_anvil::region::Region;
use voxtick_anvil::{Limits, load_region};
use voxtick_light::{LightCheck, check};
use voxtick_worlds::{BlockStates, Dimension, RegionPos, World};

fn check_region(path: &Path, dimension: Dimension) -> LightCheck {
    let states = BlockStates::load();
    let region = Region::open_as(path, RegionPos::new(0, 0)).expect("the region opens");
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
