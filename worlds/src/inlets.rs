//! How a stack that one system holds gets into a pipe of another within one tick.
//!
//! The system that has the pipes registers a [`PipeIntake`]; whoever holds a stack offers it at a [`PipeEntry`] and gives
//! it up only if it was taken. Neither knows the other.

use bevy_ecs::prelude::{Resource, World as EcsWorld};

use crate::items::ItemStack;
use crate::positions::{BlockPos, Direction};

/// A place in a pipe where stacks may enter: on the lane that leaves a junction in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipeEntry {
    /// The junction that the lane leaves.
    pub junction: BlockPos,
    /// The direction in which it leaves.
    pub direction: Direction,
    /// How far from the junction along the lane, in 1/65,536 of a block.
    pub position: u32,
}

/// Takes stacks into pipes at once; the plugin of the system that has the pipes inserts it. A function, not a closure:
/// all state is in the ECS world.
///
/// It returns whether the whole stack is in the pipe now, and then has entered it as created in the
/// [`Ledger`](crate::Ledger); otherwise nothing has changed.
#[derive(Resource, Debug, Clone, Copy)]
pub struct PipeIntake(pub fn(&mut EcsWorld, PipeEntry, ItemStack) -> bool);
