//! The items in a network: a handle is a row here, stable from an item's creation to its end.
//!
//! Stacks are interned: one byte an item while there are at most 256 different stacks, two up to 65,536, four beyond.

use rustc_hash::FxHashMap;
use voxtick_worlds::ItemStack;

/// One item in a network. Handles of items that left are given out again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemHandle(pub u32);

/// The most different stacks that one solver can tell apart.
const MAX_STACKS: usize = 1 << 24;

/// Rows of items, by handle.
#[derive(Debug, Clone)]
pub(crate) struct Items {
    stacks: StackColumn,
    /// Own speeds in units a tick, 0 for "as the lane"; empty until an item has one.
    speeds: Vec<u16>,
    palette: Vec<ItemStack>,
    lookup: FxHashMap<ItemStack, u32>,
    free: Vec<u32>,
}

/// Rows of the palette, in as few bytes as its length allows.
#[derive(Debug, Clone)]
enum StackColumn {
    Bytes(Vec<u8>),
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// A row of the palette of stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StackId(pub(crate) u32);

impl Items {
    pub(crate) fn new() -> Items {
        Items {
            stacks: StackColumn::Bytes(Vec::new()),
            speeds: Vec::new(),
            palette: Vec::new(),
            lookup: FxHashMap::default(),
            free: Vec::new(),
        }
    }

    /// The palette row of `stack`, or `None` where there are too many different stacks.
    pub(crate) fn intern(&mut self, stack: ItemStack) -> Option<StackId> {
        if let Some(&id) = self.lookup.get(&stack) {
            return Some(StackId(id));
        }
        (self.palette.len() < MAX_STACKS).then(|| self.intern_new(stack))
    }

    /// The palette row of a stack that came out of a container. The limit does not hold here, since the stack has left
    /// its container already; there are at most as many as containers hold.
    pub(crate) fn intern_taken(&mut self, stack: ItemStack) -> StackId {
        match self.lookup.get(&stack) {
            Some(&id) => StackId(id),
            None => self.intern_new(stack),
        }
    }

    fn intern_new(&mut self, stack: ItemStack) -> StackId {
        let id = self.palette.len() as u32;
        self.palette.push(stack);
        self.lookup.insert(stack, id);
        self.stacks.widen(id);
        StackId(id)
    }

    pub(crate) fn add(&mut self, stack: StackId, speed: u16) -> ItemHandle {
        let row = match self.free.pop() {
            Some(row) => {
                self.stacks.set(row as usize, stack.0);
                row
            }
            None => self.stacks.push(stack.0),
        };
        if speed != 0 && self.speeds.len() <= row as usize {
            self.speeds.resize(row as usize + 1, 0);
        }
        if let Some(own) = self.speeds.get_mut(row as usize) {
            *own = speed;
        }
        ItemHandle(row)
    }

    pub(crate) fn remove(&mut self, handle: ItemHandle) {
        self.free.push(handle.0);
    }

    pub(crate) fn stack(&self, handle: ItemHandle) -> ItemStack {
        self.palette[self.stack_id(handle).0 as usize]
    }

    pub(crate) fn stack_id(&self, handle: ItemHandle) -> StackId {
        StackId(self.stacks.get(handle.0 as usize))
    }

    /// True where `handle` is a row, in use or free.
    pub(crate) fn has_row(&self, handle: ItemHandle) -> bool {
        (handle.0 as usize) < self.rows()
    }

    /// The speed an item moves at on a lane of own speeds whose limit is `limit`.
    pub(crate) fn speed(&self, handle: ItemHandle, limit: u32) -> u32 {
        match self.speeds.get(handle.0 as usize) {
            Some(&own) if own != 0 => u32::from(own).min(limit),
            _ => limit,
        }
    }

    pub(crate) fn reserve(&mut self, count: usize) {
        self.stacks.reserve(count);
    }

    /// The speed an item was given, 0 for none.
    pub(crate) fn own_speed(&self, handle: ItemHandle) -> u16 {
        self.speeds.get(handle.0 as usize).copied().unwrap_or(0)
    }

    /// Free rows in the order in which they will be given out, last first.
    pub(crate) fn free(&self) -> &[u32] {
        &self.free
    }

    /// Makes rows up to `rows` with the given free list; rows in use are filled by [`Items::restore`].
    pub(crate) fn restore_rows(&mut self, rows: usize, free: Vec<u32>) {
        self.stacks.reset(rows);
        self.speeds.clear();
        self.free = free;
    }

    pub(crate) fn restore(&mut self, handle: ItemHandle, stack: StackId, speed: u16) {
        self.stacks.set(handle.0 as usize, stack.0);
        if speed != 0 && self.speeds.len() <= handle.0 as usize {
            self.speeds.resize(handle.0 as usize + 1, 0);
        }
        if speed != 0 {
            self.speeds[handle.0 as usize] = speed;
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.stacks.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.stacks.bytes()
            + self.speeds.capacity() * 2
            + self.free.capacity() * 4
            + self.palette.capacity() * 16
    }
}

impl StackColumn {
    /// Makes room for palette rows up to `id`.
    fn widen(&mut self, id: u32) {
        match self {
            StackColumn::Bytes(bytes) if id > u32::from(u8::MAX) => {
                *self = StackColumn::Narrow(bytes.iter().map(|&id| u16::from(id)).collect());
            }
            StackColumn::Narrow(narrow) if id > u32::from(u16::MAX) => {
                *self = StackColumn::Wide(narrow.iter().map(|&id| u32::from(id)).collect());
            }
            _ => {}
        }
    }

    #[inline]
    fn get(&self, row: usize) -> u32 {
        match self {
            StackColumn::Bytes(stacks) => u32::from(stacks[row]),
            StackColumn::Narrow(stacks) => u32::from(stacks[row]),
            StackColumn::Wide(stacks) => stacks[row],
        }
    }

    #[inline]
    fn set(&mut self, row: usize, id: u32) {
        match self {
            StackColumn::Bytes(stacks) => stacks[row] = id as u8,
            StackColumn::Narrow(stacks) => stacks[row] = id as u16,
            StackColumn::Wide(stacks) => stacks[row] = id,
        }
    }

    fn push(&mut self, id: u32) -> u32 {
        match self {
            StackColumn::Bytes(stacks) => push_tight(stacks, id as u8),
            StackColumn::Narrow(stacks) => push_tight(stacks, id as u16),
            StackColumn::Wide(stacks) => push_tight(stacks, id),
        }
    }

    fn len(&self) -> usize {
        match self {
            StackColumn::Bytes(stacks) => stacks.len(),
            StackColumn::Narrow(stacks) => stacks.len(),
            StackColumn::Wide(stacks) => stacks.len(),
        }
    }

    fn reserve(&mut self, count: usize) {
        match self {
            StackColumn::Bytes(stacks) => stacks.reserve_exact(count),
            StackColumn::Narrow(stacks) => stacks.reserve_exact(count),
            StackColumn::Wide(stacks) => stacks.reserve_exact(count),
        }
    }

    /// As many rows of the first stack.
    fn reset(&mut self, rows: usize) {
        match self {
            StackColumn::Bytes(stacks) => *stacks = vec![0; rows],
            StackColumn::Narrow(stacks) => *stacks = vec![0; rows],
            StackColumn::Wide(stacks) => *stacks = vec![0; rows],
        }
    }

    fn bytes(&self) -> usize {
        match self {
            StackColumn::Bytes(stacks) => stacks.capacity(),
            StackColumn::Narrow(stacks) => stacks.capacity() * 2,
            StackColumn::Wide(stacks) => stacks.capacity() * 4,
        }
    }
}

/// Adds a row with an eighth more room each time instead of twice as much; returns its number.
fn push_tight<T>(column: &mut Vec<T>, value: T) -> u32 {
    if column.len() == column.capacity() {
        column.reserve_exact(column.len() / 8 + 16);
    }
    column.push(value);
    (column.len() - 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxtick_worlds::ItemKind;

    #[test]
    fn stacks_keep_their_kind_past_256_and_past_65536_different_ones() {
        let mut items = Items::new();
        let kept = items.intern(ItemStack::single(ItemKind(0))).expect("room");
        let first = items.add(kept, 0);
        for kind in 1..=65_600 {
            let stack = items.intern(ItemStack::single(ItemKind(kind))).expect("room");
            let last = items.add(stack, 0);
            if [255, 256, 257, 65_535, 65_536, 65_600].contains(&kind) {
                assert_eq!(items.stack(first).kind, ItemKind(0));
                assert_eq!(items.stack(last).kind, ItemKind(kind));
            }
        }
    }

    #[test]
    fn a_row_given_out_again_forgets_the_speed_of_the_item_before() {
        let mut items = Items::new();
        let stack = items.intern(ItemStack::single(ItemKind(1))).expect("room");
        let fast = items.add(stack, 900);
        assert_eq!(items.speed(fast, 500), 500);
        items.remove(fast);
        let next = items.add(stack, 0);
        assert_eq!((next, items.speed(next, 1000)), (fast, 1000));
    }
}
