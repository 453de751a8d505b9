//! The order in which a world is loaded reaches no result: chunks inserted in any order give the same state hash after
//! every tick.

use voxtick::bodies::{Bodies, BodiesPlugin, Spawn};
use voxtick::light::LightPlugin;
use voxtick::prelude::*;
use voxtick::transit::{LaneSettings, Layout, Lines, TransitPlugin};
use voxtick::worlds::generators::{Hills, generate, split_mix, square};

const TICKS: u64 = 20;

/// State hashes of a simulation whose chunks were inserted in this order.
fn hashes(chunks: &[Chunk], states: &std::sync::Arc<BlockStates>) -> Vec<u64> {
    let mut world = World::new(Dimension::overworld(), states.clone());
    for chunk in chunks {
        world.insert_chunk(chunk.clone());
    }
    let settings = LaneSettings::default();
    let mut layout = Layout::default();
    layout.lines(&Lines { junction_every: Some(10), ..Lines::flowing(30, 600, settings, 3) });
    let torch = states.parse("torch").expect("known");
    let mut simulation = Simulation::builder()
        .threads(2)
        .hash(true)
        .plugin(WorldsPlugin::new(world))
        .plugin(TransitPlugin::from_layout(&layout, settings).expect("a layout"))
        .plugin(BodiesPlugin::default())
        .plugin(LightPlugin::new())
        .plugin(("torches", move |setup: &mut Setup<'_>| {
            let place = move |mut world: ResMut<World>, tick: Res<Tick>| {
                let hash = split_mix(tick.0);
                let position = BlockPos::new((hash % 48) as i32 - 16, (hash >> 8 & 127) as i32 - 60, 5);
                let placed = world.set_block(position, torch);
                assert!(placed.is_ok(), "{placed:?}");
            };
            setup.named_system(stages::INTAKE, "place", place);
            Ok(())
        }))
        .build()
        .expect("a simulation");
    let drops: Vec<Spawn> = (0..300)
        .map(|number| {
            let (x, z) = (f64::from(number * 7 % 48) - 16.0, f64::from(number * 5 % 48) - 16.0);
            Spawn::at([x + 0.3, 110.0, z + 0.7], ItemStack::single(ItemKind(number)))
        })
        .collect();
    simulation.world_mut().resource_mut::<Bodies>().spawn(&drops).expect("room");
    simulation
        .ticks()
        .take(TICKS as usize)
        .map(|report| report.expect("a tick").hash.expect("a hash"))
        .collect()
}

#[test]
fn chunks_loaded_in_shuffled_order_give_the_same_hashes() {
    let states = BlockStates::load();
    let hills = Hills::new(5, &states).expect("known blocks");
    let mut chunks = generate(&hills, &square(3), &Dimension::overworld());
    let in_order = hashes(&chunks, &states);
    assert!(in_order.windows(2).all(|pair| pair[0] != pair[1]), "every tick changes something");
    for shuffle in 0..2 {
        chunks.sort_by_key(|chunk| {
            split_mix(shuffle ^ split_mix((chunk.position().x as u64) << 32 ^ chunk.position().z as u64))
        });
        assert_eq!(hashes(&chunks, &states), in_order, "shuffle {shuffle}");
    }
}
