//! Where the items of lanes lie: blocks of three, chained per lane, out of one arena.
//!
//! A block is taken when an item enters and given back when its last one leaves. What enters lanes in one tick so lies
//! side by side, and it leaves side by side, since all of it was as long on its way; a tick walks two stretches of
//! memory and not two places on every lane.

pub(super) const NONE: u32 = u32::MAX;

/// Items in a block: few, since up to two blocks of a lane are not full.
const BLOCK: u32 = 3;

/// One item of a lane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot {
    /// How much further than the spacing it is from the item ahead, when the lane was last true; unused for the front.
    pub(super) gap: u32,
    pub(super) handle: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Slots {
    /// Three a block.
    slots: Vec<Slot>,
    /// Per block, the first slot of the one behind, or of the next free one.
    next: Vec<u32>,
    /// The first slot of the first of the free blocks.
    free: u32,
}

impl Slots {
    pub(super) fn new() -> Slots {
        Slots { slots: Vec::new(), next: Vec::new(), free: NONE }
    }

    #[inline]
    pub(super) fn slot(&self, at: u32) -> &Slot {
        &self.slots[at as usize]
    }

    #[inline]
    pub(super) fn slot_mut(&mut self, at: u32) -> &mut Slot {
        &mut self.slots[at as usize]
    }

    /// The slot of the item behind, if there is one.
    #[inline]
    pub(super) fn behind(&self, at: u32) -> u32 {
        if Slots::ends_block(at) { self.next[(at / BLOCK) as usize] } else { at + 1 }
    }

    /// The first slot of the block behind that of `at`.
    pub(super) fn first_behind(&self, at: u32) -> u32 {
        self.next[(at / BLOCK) as usize]
    }

    /// The slot for an item behind the one at `at`, in the same block or in one that is taken and chained to it.
    #[inline]
    pub(super) fn take_behind(&mut self, at: u32) -> u32 {
        if !Slots::ends_block(at) {
            return at + 1;
        }
        let next = self.take();
        self.next[(at / BLOCK) as usize] = next;
        next
    }

    /// The first slot of a block with nothing behind it.
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        let at = self.free;
        if at == NONE {
            return self.add();
        }
        self.free = std::mem::replace(&mut self.next[(at / BLOCK) as usize], NONE);
        at
    }

    /// Gives the block of a slot back.
    #[inline]
    pub(super) fn give(&mut self, at: u32) {
        self.next[(at / BLOCK) as usize] = self.free;
        self.free = at - at % BLOCK;
    }

    /// True where a slot is the last one of its block.
    #[inline]
    pub(super) fn ends_block(at: u32) -> bool {
        at % BLOCK == BLOCK - 1
    }

    /// True where two slots lie in one block.
    pub(super) fn share_block(a: u32, b: u32) -> bool {
        a / BLOCK == b / BLOCK
    }

    /// Memory per item is what counts here: a little more room each time, not twice as much.
    #[inline(never)]
    fn add(&mut self) -> u32 {
        if self.next.len() == self.next.capacity() {
            let more = self.next.len() / 64 + 4;
            self.next.reserve_exact(more);
            self.slots.reserve_exact(more * BLOCK as usize);
        }
        let at = self.slots.len() as u32;
        self.slots.extend([Slot::default(); BLOCK as usize]);
        self.next.push(NONE);
        at
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.next.capacity() * 4
    }
}
