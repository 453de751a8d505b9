//! Item stacks, and the ledger that accounts for every one of them.
//!
//! A stack is the unit that moves: a dropped item on the ground and an item in a pipe are each one stack. Systems that
//! share stacks (bodies, transit) meet here and nowhere else.

use bevy_ecs::prelude::Resource;

/// What kind of item a stack holds: a number that the program using the crate gives meaning to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ItemKind(pub u32);

/// A number of like items that move as one.
///
/// ```
/// use voxtick_worlds::{ItemKind, ItemStack};
/// let cobble = ItemStack::new(ItemKind(4), 40, 64);
/// let more = ItemStack::new(ItemKind(4), 24, 64);
/// assert!(cobble.takes_all_of(more));
/// assert!(!cobble.takes_all_of(ItemStack::new(ItemKind(4), 25, 64)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ItemStack {
    /// The kind of every item in the stack.
    pub kind: ItemKind,
    /// How many items: 1 to `max_count`.
    pub count: u8,
    /// How many items of this kind one stack may hold: 1 to 99 in the game.
    pub max_count: u8,
}

impl ItemStack {
    /// A stack of `count` items of `kind`; `count` is brought into `1..=max_count`.
    #[must_use]
    pub const fn new(kind: ItemKind, count: u8, max_count: u8) -> ItemStack {
        let max_count = if max_count == 0 { 1 } else { max_count };
        let count = if count == 0 {
            1
        } else if count > max_count {
            max_count
        } else {
            count
        };
        ItemStack { kind, count, max_count }
    }

    /// One item that never stacks.
    #[must_use]
    pub const fn single(kind: ItemKind) -> ItemStack {
        ItemStack::new(kind, 1, 1)
    }

    /// True where nothing more fits.
    #[must_use]
    pub const fn is_full(self) -> bool {
        self.count >= self.max_count
    }

    /// True where `other` is of the same kind and fits whole. Stacks are never merged in part.
    #[must_use]
    pub const fn takes_all_of(self, other: ItemStack) -> bool {
        self.kind.0 == other.kind.0
            && self.max_count == other.max_count
            && self.count as u16 + other.count as u16 <= self.max_count as u16
    }
}

/// Where every stack that ever entered the simulation went.
///
/// Each system adds to the row that its event belongs to; [`Ledger::expected_present`] must then equal the number of
/// stacks that are in the world (bodies and items in pipes together) at the end of every tick. A difference means that
/// an item was lost or doubled.
#[derive(Resource, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ledger {
    /// Stacks that entered: spawned, extracted, fed by a source, loaded.
    pub created: u64,
    /// Stacks taken by a sink, a container or a player.
    pub delivered: u64,
    /// Stacks that left a pipe because their place vanished; one that is dropped as a body is created anew.
    pub spilled: u64,
    /// Stacks whose items went into another stack.
    pub merged: u64,
    /// Stacks whose time ran out.
    pub despawned: u64,
}

impl Ledger {
    /// How many stacks must be present, or `None` where more have left than entered.
    #[must_use]
    pub fn expected_present(&self) -> Option<u64> {
        self.created
            .checked_sub(self.delivered)?
            .checked_sub(self.spilled)?
            .checked_sub(self.merged)?
            .checked_sub(self.despawned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_never_holds_none_or_more_than_its_most() {
        assert_eq!(ItemStack::new(ItemKind(1), 0, 64).count, 1);
        assert_eq!(ItemStack::new(ItemKind(1), 200, 16).count, 16);
        assert_eq!(ItemStack::new(ItemKind(1), 3, 0), ItemStack::single(ItemKind(1)));
    }

    #[test]
    fn stacks_merge_whole_and_like_with_like_only() {
        let stack = ItemStack::new(ItemKind(1), 60, 64);
        assert!(stack.takes_all_of(ItemStack::new(ItemKind(1), 4, 64)));
        assert!(!stack.takes_all_of(ItemStack::new(ItemKind(1), 5, 64)));
        assert!(!stack.takes_all_of(ItemStack::new(ItemKind(2), 1, 64)));
        assert!(!ItemStack::new(ItemKind(1), 99, 99).takes_all_of(ItemStack::new(ItemKind(1), 99, 99)));
    }

    #[test]
    fn a_ledger_with_more_gone_than_come_has_no_answer() {
        let mut ledger = Ledger { created: 5, delivered: 2, merged: 1, ..Ledger::default() };
        assert_eq!(ledger.expected_present(), Some(2));
        ledger.despawned = 3;
        assert_eq!(ledger.expected_present(), None);
    }
}
