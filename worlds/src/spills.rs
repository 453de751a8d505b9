//! Items that leave one system and are for another to pick up.

use bevy_ecs::message::Message;

use crate::items::ItemStack;

/// A stack that lost its place in a pipe, or that an outlet of pipes lets go: whoever keeps dropped items lets it fall at
/// this point.
///
/// In the [`crate::Ledger`] it counts as spilled or, from an outlet, as delivered; the body made of it counts as created.
#[derive(Message, Debug, Clone, Copy, PartialEq)]
pub struct SpilledItem {
    /// What fell out.
    pub stack: ItemStack,
    /// Where, in blocks: x, y, z.
    pub point: [f64; 3],
}
