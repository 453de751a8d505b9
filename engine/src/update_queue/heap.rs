//! A binary heap of slots that knows where each slot stands, so that any of them can be removed.

/// Slots in the order of what they stand for, which the caller compares.
#[derive(Debug, Default)]
pub(super) struct SlotHeap {
    slots: Vec<usize>,
    /// Where each slot stands in `slots`; of no meaning for slots that are not in the heap.
    places: Vec<usize>,
}

impl SlotHeap {
    /// The slot that comes before all others.
    pub(super) fn first(&self) -> Option<usize> {
        self.slots.first().copied()
    }

    /// Inserts a slot that is not in the heap.
    pub(super) fn insert(&mut self, slot: usize, comes_before: impl Fn(usize, usize) -> bool) {
        if self.places.len() <= slot {
            self.places.resize(slot + 1, 0);
        }
        self.slots.push(slot);
        self.rise(self.slots.len() - 1, comes_before);
    }

    /// Removes a slot that is in the heap.
    pub(super) fn remove(&mut self, slot: usize, comes_before: impl Fn(usize, usize) -> bool) {
        let place = self.places[slot];
        self.slots.swap_remove(place);
        if place < self.slots.len() {
            // What came from the end may belong above or below.
            self.sink(place, &comes_before);
            self.rise(place, &comes_before);
        }
    }

    /// Orders all slots anew after what they stand for has changed.
    pub(super) fn rebuild(&mut self, comes_before: impl Fn(usize, usize) -> bool) {
        (0..self.slots.len() / 2).rev().for_each(|place| self.sink(place, &comes_before));
        self.slots.iter().enumerate().for_each(|(place, &slot)| self.places[slot] = place);
    }

    fn rise(&mut self, mut place: usize, comes_before: impl Fn(usize, usize) -> bool) {
        let slot = self.slots[place];
        while place > 0 {
            let above = (place - 1) / 2;
            if !comes_before(slot, self.slots[above]) {
                break;
            }
            self.put(place, self.slots[above]);
            place = above;
        }
        self.put(place, slot);
    }

    fn sink(&mut self, mut place: usize, comes_before: impl Fn(usize, usize) -> bool) {
        let slot = self.slots[place];
        loop {
            let mut below = 2 * place + 1;
            if below >= self.slots.len() {
                break;
            }
            if below + 1 < self.slots.len() && comes_before(self.slots[below + 1], self.slots[below]) {
                below += 1;
            }
            if !comes_before(self.slots[below], slot) {
                break;
            }
            self.put(place, self.slots[below]);
            place = below;
        }
        self.put(place, slot);
    }

    fn put(&mut self, place: usize, slot: usize) {
        self.slots[place] = slot;
        self.places[slot] = place;
    }
}
