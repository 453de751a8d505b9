//! Where an edit begins: the layers and levels in which changed cells may be the first to differ.

use voxtick_worlds::{Direction, LightChannel, LightLevels, NIBBLE_BYTES};

use super::{ChangedCell, EditInput, EditKernel};
use crate::area::NONE;
use crate::facts::MAX_LEVEL;
use crate::sides::Sides;

impl EditKernel {
    /// Marks the layers in which a changed cell may be the first to differ, for the levels at which it may, and returns
    /// the brightest of them.
    ///
    /// A cell differs first at the brighter of its old level and its new one, and from there on the difference is followed
    /// from level to level. So nothing is to be looked at below its old level, nor above what it or a neighbour had or it
    /// emits now: what a neighbour gains is followed from there.
    pub(super) fn force(&mut self, input: &mut EditInput<'_>, changed: &[ChangedCell]) -> u8 {
        self.lowest_forced = MAX_LEVEL;
        let mut brightest = 0;
        for same_section in changed.chunk_by(|a, b| (a.place, a.section) == (b.place, b.section)) {
            let (place, section) = (same_section[0].place, u32::from(same_section[0].section));
            let working = self.take_part(input, place, section);
            let columns = input.columns;
            let mut emitters = match (input.channel, columns.at(place).sections[section as usize].mixed()) {
                (LightChannel::Block, Some(mixed)) => &mixed.emitters[..],
                _ => &[],
            };
            for changed in same_section {
                emitters = &emitters[emitters.iter().take_while(|at| at.0 < changed.cell).count()..];
                let emission = emitters.first().filter(|at| at.0 == changed.cell).map_or(0, |at| at.1);
                brightest = brightest.max(self.force_around(input, working, *changed, emission));
            }
        }
        brightest
    }

    /// See [`EditKernel::force`].
    #[inline(always)]
    fn force_around(
        &mut self,
        input: &mut EditInput<'_>,
        working: u32,
        changed: ChangedCell,
        emission: u8,
    ) -> u8 {
        let cell = usize::from(changed.cell);
        if !changed.reshaped {
            return self.force_cell(working, cell, emission);
        }
        let this = &self.working[working as usize];
        let is_inner = Sides::of_cell(cell) == Sides::NONE && (256..3840).contains(&cell);
        if is_inner && !changed.shaped {
            let around = match &this.levels {
                LightLevels::Nibbles(nibbles) => {
                    let level = |cell: usize| nibbles[cell / 2 % NIBBLE_BYTES] >> (cell % 2 * 4) & 15;
                    let across =
                        level(cell - 16).max(level(cell + 16)).max(level(cell - 1)).max(level(cell + 1));
                    across.max(level(cell - 256)).max(level(cell + 256))
                }
                even => even.level(0).unwrap_or(0),
            };
            return self.force_cell(working, cell, emission.max(around.saturating_sub(1)));
        }
        let mut most = emission.max(this.level(cell));
        let mut around = [None; 6];
        for side in Direction::ALL {
            let (beside, other) = match crate::opacity::beside_within(cell, side) {
                Some(other) => (working, other),
                None => {
                    let beside = self.neighbour(input, working, side);
                    match crate::edges::across(cell, side) {
                        Some(other) if beside != NONE => (beside, other),
                        _ => continue,
                    }
                }
            };
            most = most.max(self.working[beside as usize].level(other).saturating_sub(1));
            around[side.index()] = Some((beside, other));
        }
        let mut brightest = self.force_cell(working, cell, most);
        for (beside, other) in around.into_iter().flatten().filter(|_| changed.shaped) {
            brightest = brightest.max(self.force_cell(beside, other, most));
        }
        brightest
    }

    /// Has the layer of `cell` looked at in the levels from its own up to `most`, at least in its own, and returns the
    /// brightest of them.
    #[inline(always)]
    fn force_cell(&mut self, working: u32, cell: usize, most: u8) -> u8 {
        let this = &mut self.working[working as usize];
        let own = this.level(cell);
        let most = own.max(most);
        if most == 0 {
            return 0;
        }
        if !this.is_forced {
            this.is_forced = true;
            self.forced.push(working);
            this.forced = [0; 16];
            this.forced_sides = Sides::NONE;
        }
        this.forced[cell / 256] |= ((2_u32 << most) - (1 << own)) as u16;
        this.forced_sides |= Sides::of_cell(cell);
        self.lowest_forced = self.lowest_forced.min(own.max(1));
        most
    }
}
