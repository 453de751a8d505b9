//! Single block changes: light that lost its source falls first, then rises again from what is left.

use voxtick_worlds::{BlockPos, Direction, LightChannel, StateId};

use super::FlatLight;
use super::area::LAYER;
use crate::facts::MAX_LEVEL;

impl FlatLight<'_> {
    /// Gives the block at `position` the state `state` and brings both channels up to date. Returns false, and does
    /// nothing, where `position` lies outside the chunks or the build range.
    pub fn set_block(&mut self, position: BlockPos, state: StateId) -> bool {
        let Some(cell) = self.cell_at(position) else { return false };
        let kind = self.kind_of(state);
        let before = std::mem::replace(self.kind_at(cell), kind);
        if before == kind {
            return true;
        }
        self.update_blocks(cell);
        if self.has_sky && self.blocks_sky_otherwise(before, kind) {
            self.update_sky(cell);
        }
        true
    }

    fn blocks_sky_otherwise(&self, before: u16, after: u16) -> bool {
        let (before, after) = (self.facts_of(before), self.facts_of(after));
        before.dampening != after.dampening || before.faces != after.faces
    }

    fn update_blocks(&mut self, cell: usize) {
        let level = std::mem::take(&mut self.block[cell]);
        self.falling.push((cell as u32, level));
        self.relight_around(LightChannel::Block, cell);
    }

    fn update_sky(&mut self, cell: usize) {
        let (slot, local) = self.slot_and_local(cell);
        let (layer, column) = ((local / LAYER) as u16, local % LAYER);
        let floor = self.sky_floor[slot * LAYER + column];
        // Cells above the changed one stay what they are; from there on the column is looked at anew.
        let after = if floor <= layer + 1 { self.find_sky_floor(slot, column, layer + 1) } else { floor };
        self.sky_floor[slot * LAYER + column] = after;
        for layer in floor..after {
            let lost = self.cell_of(slot, usize::from(layer) * LAYER + column);
            self.sky[lost] = 0;
            self.falling.push((lost as u32, MAX_LEVEL));
        }
        if !(floor..after).contains(&layer) {
            let level = std::mem::take(&mut self.sky[cell]);
            self.falling.push((cell as u32, level));
            if level == MAX_LEVEL {
                // Still a source; only its edges have changed.
                self.sky[cell] = level;
            }
        }
        for layer in after..floor {
            let gained = self.cell_of(slot, usize::from(layer) * LAYER + column);
            self.sky[gained] = MAX_LEVEL;
            self.rising.push(gained as u32);
        }
        self.relight_around(LightChannel::Sky, cell);
    }

    /// Lets the queued light fall, then lets light rise from what borders on it, from `cell` and from its neighbours.
    fn relight_around(&mut self, channel: LightChannel, cell: usize) {
        self.fall(channel, cell);
        if channel == LightChannel::Block {
            let emission = self.facts_at(cell).emission;
            if emission > self.block[cell] {
                self.block[cell] = emission;
            }
        }
        self.rising.push(cell as u32);
        for side in Direction::ALL {
            if let Some(beside) = self.neighbour(cell, side) {
                self.rising.push(beside as u32);
            }
        }
        self.rise(channel);
    }

    /// Darkens every cell that may owe its light to a queued one, and queues the others beside them to rise.
    ///
    /// The edges of `changed` are not what they were when light passed them, so they count as open.
    fn fall(&mut self, channel: LightChannel, changed: usize) {
        let mut queue = std::mem::take(&mut self.falling);
        let mut levels = std::mem::take(self.levels_mut(channel));
        let mut next = 0;
        while let Some(&(cell, level)) = queue.get(next) {
            next += 1;
            let cell = cell as usize;
            for side in Direction::ALL {
                let Some(beside) = self.neighbour(cell, side) else { continue };
                if levels[beside] == 0 {
                    continue;
                }
                let facts = *self.facts_at(beside);
                let own = if channel == LightChannel::Block { facts.emission } else { 0 };
                let lit_by_this =
                    levels[beside] == level.saturating_sub(facts.step()) && levels[beside] > own;
                if !lit_by_this {
                    self.rising.push(beside as u32);
                    continue;
                }
                if cell != changed && beside != changed && !self.is_open(cell, beside, side) {
                    continue;
                }
                let fallen = std::mem::take(&mut levels[beside]);
                queue.push((beside as u32, fallen));
                if own > 0 {
                    levels[beside] = own;
                    self.rising.push(beside as u32);
                }
            }
        }
        queue.clear();
        self.falling = queue;
        *self.levels_mut(channel) = levels;
    }
}
