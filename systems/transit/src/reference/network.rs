//! Where the lanes of a network are, found by walking from pipe to pipe.

use std::collections::BTreeMap;

use voxtick_worlds::{BlockPos, Direction};

use crate::network::{CUT_EVERY, Connections, LaneName};

/// Pipes and where each opens to.
pub(super) type Pipes = BTreeMap<BlockPos, Connections>;

/// A lane: its name, where it ends, and how many steps it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) name: LaneName,
    pub(super) to: BlockPos,
    pub(super) steps: i32,
}

/// All junctions and all lanes, both in canonical order.
pub(super) fn trace(pipes: &Pipes) -> (Vec<BlockPos>, Vec<Path>) {
    let (mut junctions, mut paths) = (Vec::new(), Vec::new());
    for (&from, &mask) in pipes {
        if passes_straight(from, mask) {
            continue;
        }
        junctions.push(from);
        for direction in mask.iter() {
            let (mut to, mut steps) = (from, 0);
            while let Some(next) = linked(pipes, to, direction) {
                (to, steps) = (next, steps + 1);
                if !passes_straight(to, pipes[&to]) {
                    paths.push(Path { name: LaneName { from, direction }, to, steps });
                    break;
                }
            }
        }
    }
    (junctions, paths)
}

/// Where `steps` steps from `start` in `direction` lead.
pub(super) fn at_step(start: BlockPos, direction: Direction, steps: i32) -> BlockPos {
    let (x, y, z) = direction.step();
    BlockPos::new(start.x + x * steps, start.y + y * steps, start.z + z * steps)
}

/// The neighbour in `direction`, where both open to each other.
fn linked(pipes: &Pipes, at: BlockPos, direction: Direction) -> Option<BlockPos> {
    let next = at.offset(direction);
    let there = pipes.get(&next)?;
    (pipes[&at].has(direction) && there.has(direction.opposite())).then_some(next)
}

/// True for exactly two opposite sides, but not where a long line is cut.
fn passes_straight(at: BlockPos, mask: Connections) -> bool {
    let along = match mask.iter().next() {
        Some(direction) if mask == Connections::of(&[direction, direction.opposite()]) => {
            match direction.step() {
                (0, 0, _) => at.z,
                (0, _, 0) => at.y,
                _ => at.x,
            }
        }
        _ => return false,
    };
    along.rem_euclid(CUT_EVERY) != CUT_EVERY / 2
}
