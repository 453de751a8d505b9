//! A steady tick does not allocate: counted by the global allocator of this test's own process.

use std::alloc::System;

use cap::Cap;
use voxtick_transit::{LaneSettings, Layout, Lines, TransitSolver, UNIT};
use voxtick_worlds::Inventories;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

#[test]
fn a_steady_tick_does_not_allocate() {
    let settings = LaneSettings::new(UNIT / 10, UNIT / 5).expect("sound");
    let mut inventories = Inventories::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    for (name, lines) in [
        ("flowing", Lines::flowing(40, 30_000, settings, 3)),
        ("with junctions", Lines { junction_every: Some(5), ..Lines::flowing(40, 30_000, settings, 3) }),
        ("backed up", Lines::backed_up(40, 30_000, settings)),
    ] {
        let mut layout = Layout::default();
        layout.lines(&lines);
        let mut transit = TransitSolver::from_layout(&layout, settings).expect("sound");
        let mut shared = transit.clone().with_least_shared(1);
        for _ in 0..1500 {
            transit.step(&mut inventories);
        }
        let before = ALLOCATOR.total_allocated();
        for _ in 0..300 {
            transit.step(&mut inventories);
        }
        assert_eq!(ALLOCATOR.total_allocated() - before, 0, "{name}");
        // Calling into the pool from outside may allocate; what runs inside may not.
        let allocated = pool.install(|| {
            for _ in 0..1500 {
                shared.step_parallel(&mut inventories);
            }
            let before = ALLOCATOR.total_allocated();
            for _ in 0..300 {
                shared.step_parallel(&mut inventories);
            }
            ALLOCATOR.total_allocated() - before
        });
        assert_eq!(allocated, 0, "{name}, shared by two threads");
    }
}
