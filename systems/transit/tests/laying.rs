//! Pipes laid in bulk take memory by their own number, whatever the size of the network: counted by the global allocator
//! of this test's own process.

use std::alloc::System;

use cap::Cap;
use voxtick_transit::{Connections, Layout, SegmentedGraph};
use voxtick_worlds::BlockPos;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const LAID: usize = 64;

/// Laying a few pipes once took notes on every pipe of the network, and gave all of them their networks anew.
#[test]
fn pipes_laid_onto_a_large_network_take_no_more_than_onto_a_small_one() {
    for side in [30, 300] {
        let mut layout = Layout::default();
        layout.grid(BlockPos::new(0, 64, 0), side, side);
        let mut graph = SegmentedGraph::new();
        graph.add_many(&layout.pipes).expect("in range");
        let branch: Vec<_> =
            (0..LAID as i32).map(|step| (BlockPos::new(-1 - step, 64, 3), Connections::ALL)).collect();
        // Once before, so that what the network itself keeps of them has its room.
        graph.add_many(&branch).expect("in range");
        for &(position, _) in &branch {
            assert!(graph.remove(position));
        }
        let before = ALLOCATOR.total_allocated();
        graph.add_many(&branch).expect("in range");
        let taken = ALLOCATOR.total_allocated() - before;
        assert!(taken <= LAID * 256, "{taken} bytes for {LAID} pipes onto {}", layout.pipes.len());
    }
}
