//! Simple inventories as columns: what pipes take from and put into.
//!
//! A container is a row of slots, each empty or with one stack. Systems that move items in and out (transit) and the
//! program around them meet here; [`Inventories::take_changed`] tells what changed, so that nothing has to be polled.

use bevy_ecs::prelude::Resource;

use crate::items::{ItemKind, ItemStack};

/// The most slots one container may have.
pub const MAX_SLOTS: u16 = 4096;

/// One container: its row in [`Inventories`]. Rows are never given out twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerId(pub u32);

/// Why a container cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InventoryError {
    /// None or too many slots.
    #[error("a container of {slots} slots cannot be made: it needs 1 to 4096")]
    Slots {
        /// The slots asked for.
        slots: u16,
    },
    /// There are as many slots as 32 bits can number.
    #[error("no further container can be made: all slots together are limited to 4294967295")]
    Full,
}

/// Containers and their slots, as columns.
///
/// ```
/// use voxtick_worlds::{Inventories, ItemKind, ItemStack};
/// let mut inventories = Inventories::default();
/// let chest = inventories.add(27)?;
/// assert!(inventories.insert(chest, ItemStack::new(ItemKind(7), 40, 64)));
/// assert!(inventories.insert(chest, ItemStack::new(ItemKind(7), 40, 64)));
/// let taken = inventories.take(chest, None, 64).expect("not empty");
/// assert_eq!((taken.count, inventories.item_count(chest)), (64, 16));
/// # Ok::<(), voxtick_worlds::InventoryError>(())
/// ```
#[derive(Resource, Debug, Clone, Default)]
pub struct Inventories {
    first_slot: Vec<u32>,
    slot_count: Vec<u16>,
    kinds: Vec<u32>,
    /// 0 marks an empty slot.
    counts: Vec<u8>,
    max_counts: Vec<u8>,
    changed: Vec<ContainerId>,
    is_changed: Vec<bool>,
}

impl Inventories {
    /// A new, empty container.
    ///
    /// # Errors
    /// `slots` is 0 or above [`MAX_SLOTS`], or no slot is left.
    pub fn add(&mut self, slots: u16) -> Result<ContainerId, InventoryError> {
        if slots == 0 || slots > MAX_SLOTS {
            return Err(InventoryError::Slots { slots });
        }
        let first = u32::try_from(self.kinds.len()).map_err(|_| InventoryError::Full)?;
        let end = first.checked_add(u32::from(slots)).ok_or(InventoryError::Full)? as usize;
        let id = ContainerId(self.first_slot.len() as u32);
        self.first_slot.push(first);
        self.slot_count.push(slots);
        self.kinds.resize(end, 0);
        self.counts.resize(end, 0);
        self.max_counts.resize(end, 0);
        self.is_changed.push(false);
        Ok(id)
    }

    /// How many containers there are.
    #[must_use]
    pub fn container_count(&self) -> usize {
        self.first_slot.len()
    }

    /// True where the whole of `stack` fits; false for a container that does not exist.
    #[must_use]
    pub fn has_room_for(&self, container: ContainerId, stack: ItemStack) -> bool {
        let mut room = 0u32;
        for slot in self.slots(container) {
            if self.counts[slot] == 0 {
                return true;
            }
            if self.holds(slot, stack) {
                room += u32::from(self.max_counts[slot].saturating_sub(self.counts[slot]));
            }
        }
        room >= u32::from(stack.count)
    }

    /// Puts the whole of `stack` in, first onto like stacks, then into the first empty slot; false (and nothing
    /// changed) where it does not fit whole.
    pub fn insert(&mut self, container: ContainerId, stack: ItemStack) -> bool {
        if !self.has_room_for(container, stack) {
            return false;
        }
        let mut left = stack.count;
        for slot in self.slots(container) {
            if self.counts[slot] > 0 && self.holds(slot, stack) {
                let moved = left.min(self.max_counts[slot].saturating_sub(self.counts[slot]));
                self.counts[slot] += moved;
                left -= moved;
            }
        }
        if left > 0
            && let Some(slot) = self.slots(container).find(|&slot| self.counts[slot] == 0)
        {
            self.kinds[slot] = stack.kind.0;
            self.counts[slot] = left;
            self.max_counts[slot] = stack.max_count;
        }
        self.mark(container);
        true
    }

    /// The stack that [`Inventories::take`] would take, of `kind` where given, at most `most` items.
    #[must_use]
    pub fn peek(&self, container: ContainerId, kind: Option<ItemKind>, most: u8) -> Option<ItemStack> {
        let slot = self.first_of(container, kind)?;
        let count = self.counts[slot].min(most.max(1));
        Some(ItemStack { kind: ItemKind(self.kinds[slot]), count, max_count: self.max_counts[slot] })
    }

    /// Takes up to `most` items (at least one) out of the first slot that holds `kind` (any kind for `None`).
    pub fn take(&mut self, container: ContainerId, kind: Option<ItemKind>, most: u8) -> Option<ItemStack> {
        let stack = self.peek(container, kind, most)?;
        let slot = self.first_of(container, kind)?;
        self.counts[slot] -= stack.count;
        self.mark(container);
        Some(stack)
    }

    /// How many items a container holds.
    #[must_use]
    pub fn item_count(&self, container: ContainerId) -> u64 {
        self.slots(container).map(|slot| u64::from(self.counts[slot])).sum()
    }

    /// The stacks of a container, slot by slot.
    pub fn stacks(&self, container: ContainerId) -> impl Iterator<Item = Option<ItemStack>> + '_ {
        self.slots(container).map(|slot| {
            (self.counts[slot] > 0).then(|| ItemStack {
                kind: ItemKind(self.kinds[slot]),
                count: self.counts[slot],
                max_count: self.max_counts[slot],
            })
        })
    }

    /// Hands out the containers that changed since the last call, each once, in the order of their first change.
    pub fn take_changed(&mut self, into: &mut Vec<ContainerId>) {
        for &container in &self.changed {
            self.is_changed[container.0 as usize] = false;
        }
        into.append(&mut self.changed);
    }

    fn first_of(&self, container: ContainerId, kind: Option<ItemKind>) -> Option<usize> {
        self.slots(container)
            .find(|&slot| self.counts[slot] > 0 && kind.is_none_or(|kind| self.kinds[slot] == kind.0))
    }

    fn holds(&self, slot: usize, stack: ItemStack) -> bool {
        self.kinds[slot] == stack.kind.0 && self.max_counts[slot] == stack.max_count
    }

    fn slots(&self, container: ContainerId) -> std::ops::Range<usize> {
        let row = container.0 as usize;
        match (self.first_slot.get(row), self.slot_count.get(row)) {
            (Some(&first), Some(&count)) => first as usize..first as usize + usize::from(count),
            _ => 0..0,
        }
    }

    fn mark(&mut self, container: ContainerId) {
        let flag = &mut self.is_changed[container.0 as usize];
        if !*flag {
            *flag = true;
            self.changed.push(container);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(kind: u32, count: u8) -> ItemStack {
        ItemStack::new(ItemKind(kind), count, 64)
    }

    #[test]
    fn a_stack_goes_in_whole_or_not_at_all() {
        let mut inventories = Inventories::default();
        let chest = inventories.add(2).expect("two slots");
        assert!(inventories.insert(chest, stack(1, 50)));
        assert!(inventories.insert(chest, stack(2, 64)));
        assert!(!inventories.insert(chest, stack(1, 15)), "14 fit");
        assert_eq!(inventories.item_count(chest), 114);
        assert!(inventories.insert(chest, stack(1, 14)));
        assert!(!inventories.insert(ContainerId(9), stack(1, 1)), "no such container");
    }

    #[test]
    fn taking_asks_for_a_kind_and_empties_slots() {
        let mut inventories = Inventories::default();
        let chest = inventories.add(3).expect("three slots");
        inventories.insert(chest, stack(1, 3));
        inventories.insert(chest, stack(2, 5));
        assert_eq!(inventories.take(chest, Some(ItemKind(2)), 4), Some(stack(2, 4)));
        assert_eq!(inventories.take(chest, Some(ItemKind(2)), 4), Some(stack(2, 1)));
        assert_eq!(inventories.take(chest, Some(ItemKind(2)), 4), None);
        assert_eq!(inventories.take(chest, None, 0), Some(stack(1, 1)), "at least one");
    }

    #[test]
    fn each_changed_container_is_told_once() {
        let mut inventories = Inventories::default();
        let a = inventories.add(1).expect("one slot");
        let b = inventories.add(1).expect("one slot");
        for container in [b, a, b] {
            inventories.insert(container, stack(1, 1));
        }
        let mut changed = Vec::new();
        inventories.take_changed(&mut changed);
        assert_eq!(changed, [b, a]);
        changed.clear();
        inventories.take_changed(&mut changed);
        assert!(changed.is_empty());
        assert_eq!(inventories.add(0), Err(InventoryError::Slots { slots: 0 }));
    }
}
