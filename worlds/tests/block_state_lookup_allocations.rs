//! Looking up states and facts allocates nothing: counted by an allocator of this test binary's own.
#![expect(unsafe_code, reason = "a counting global allocator has to implement an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use voxtick_worlds::{BlockStates, Direction, StateId};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system allocator unchanged; counting touches no memory it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`, which is the same for `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System.alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn lookups_and_facts_allocate_nothing() {
    let states = BlockStates::load();
    let modded = states.resolve("somemod:pipe", &[("axis", "x")]).expect("there is room");
    let before = ALLOCATIONS.with(Cell::get);
    for id in (0..states.known_count() as u32).map(StateId).chain([modded]) {
        let mut properties = [("", ""); 16];
        let mut count = 0;
        for property in states.properties(id) {
            properties[count] = property;
            count += 1;
        }
        assert_eq!(states.lookup(states.name(id), &properties[..count]), Some(id));
        assert_eq!(states.resolve(states.name(id), &properties[..count]), Ok(id));
        black_box((states.emission(id), states.dampening(id), states.sky_down(id), states.faces(id)));
        black_box((states.collision_boxes(id), states.motion(id), states.fluid(id), states.stable_hash(id)));
        black_box((states.face_mask(id, Direction::Up), states.faces_cover(1, 2), states.friction(id)));
    }
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0);
}
