//! What light keeps and allocates: a counting allocator under a world whose blocks change every tick.

#![expect(unsafe_code, reason = "a counting allocator has to implement an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use voxtick_light::Lighting;
use voxtick_worlds::generators::{Hills, generate, square};
use voxtick_worlds::{BlockPos, BlockStates, ChunkPos, Dimension, StateId, World};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are those that the system asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those that the system asks for.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn hills(edge: u16) -> World {
    let states = BlockStates::load();
    let hills = Hills::new(3, &states).expect("the states of hills are known");
    let mut world = World::new(Dimension::overworld(), states);
    for chunk in generate(&hills, &square(edge), world.dimension()) {
        world.insert_chunk(chunk);
    }
    world
}

#[test]
fn a_steady_tick_of_edits_does_not_allocate() {
    let mut world = hills(3);
    let mut lighting = Lighting::new();
    lighting.update(&mut world);
    let states = world.states().clone();
    let [torch, stone] = ["torch", "stone"].map(|text| states.parse(text).expect("known"));
    // Light of torches, a column under the open sky, and a cave wall taken out and put back.
    let edits = [
        (BlockPos::new(4, 120, 4), torch),
        (BlockPos::new(8, 200, 8), stone),
        (BlockPos::new(5, 20, 6), torch),
        (BlockPos::new(0, 90, 15), stone),
    ];
    let tick = |world: &mut World, lighting: &mut Lighting, number: u64| {
        for (at, state) in edits {
            world.set_block(at, if number.is_multiple_of(2) { state } else { StateId::AIR }).expect("loaded");
        }
        let before = ALLOCATIONS.get();
        let outcome = lighting.update(world);
        let allocations = ALLOCATIONS.get() - before;
        world.begin_tick(number + 1);
        assert!(outcome.cells_changed > 0);
        allocations
    };
    for number in 0..20 {
        tick(&mut world, &mut lighting, number);
    }
    let allocations: u64 = (20..40).map(|number| tick(&mut world, &mut lighting, number)).sum();
    assert_eq!(allocations, 0, "allocations in 20 ticks");
}

#[test]
fn a_chunk_of_24_sections_keeps_little_beside_its_light() {
    let mut world = hills(1);
    let mut lighting = Lighting::new();
    lighting.update(&mut world);
    let at = ChunkPos::new(0, 0);
    let chunk = world.chunk(at).expect("loaded");
    assert!(chunk.light.is_some());
    let kept = lighting.memory_bytes();
    assert!(kept <= 100 * 1024, "{kept} bytes for one chunk");
}
