//! Where the items of lanes lie: blocks of three, chained per lane, out of one arena.
//!
//! A block is taken when an item enters and given back when its last one leaves. What enters lanes in one tick so lies
//! side by side, and it leaves side by side, since all of it was as long on its way; a tick walks two stretches of
//! memory and not two places on every lane.

const NONE: u32 = u32::MAX;

/// Items in a block: few, since up to two blocks of a lane are not full.
pub(super) const BLOCK: u8 = 3;

/// One item of a lane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot {
    /// How much further than the spacing it is from the item ahead, when the lane was last true; unused for the front.
    pub(super) gap: u32,
    pub(super) handle: u32,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    slots: [Slot; BLOCK as usize],
    /// The block behind, or the next free one.
    next: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Slots {
    blocks: Vec<Block>,
    /// The first of the free blocks.
    free: u32,
}

impl Slots {
    pub(super) fn new() -> Slots {
        Slots { blocks: Vec::new(), free: NONE }
    }

    /// The slot at a place in a block.
    #[inline]
    pub(super) fn slot(&self, block: u32, place: u8) -> &Slot {
        &self.blocks[block as usize].slots[usize::from(place)]
    }

    #[inline]
    pub(super) fn slot_mut(&mut self, block: u32, place: u8) -> &mut Slot {
        &mut self.blocks[block as usize].slots[usize::from(place)]
    }

    /// Block and place of the item behind, if there is one.
    #[inline]
    pub(super) fn behind(&self, block: u32, place: u8) -> (u32, u8) {
        if place + 1 == BLOCK { (self.next(block), 0) } else { (block, place + 1) }
    }

    /// The block behind.
    #[inline]
    pub(super) fn next(&self, block: u32) -> u32 {
        self.blocks[block as usize].next
    }

    #[inline]
    pub(super) fn chain(&mut self, block: u32, next: u32) {
        self.blocks[block as usize].next = next;
    }

    /// A block, with nothing behind it.
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        let block = self.free;
        if block == NONE {
            return self.add();
        }
        let it = &mut self.blocks[block as usize];
        self.free = std::mem::replace(&mut it.next, NONE);
        block
    }

    #[inline]
    pub(super) fn give(&mut self, block: u32) {
        self.blocks[block as usize].next = self.free;
        self.free = block;
    }

    /// Memory per item is what counts here: a little more room each time, not twice as much.
    fn add(&mut self) -> u32 {
        if self.blocks.len() == self.blocks.capacity() {
            self.blocks.reserve_exact(self.blocks.len() / 64 + 4);
        }
        self.blocks.push(Block { slots: Default::default(), next: NONE });
        (self.blocks.len() - 1) as u32
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
    }
}
