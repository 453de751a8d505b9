//! Sky sources after changes: which cells began or ceased to see the sky.

use voxtick_worlds::{Direction, LightLevels, NIBBLE_BYTES};

use crate::columns::Columns;
use crate::edit::{ChangedCell, EditInput, EditKernel};
use crate::facts::MAX_LEVEL;
use crate::masks::has;
use crate::opacity::Opacity;
use crate::working::nibbles_mut;

/// A changed cell, sorted by place and column from the top down: place, column and the height below the highest one, in
/// one number, which is sorted in half the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ColumnCell(u64);

impl ColumnCell {
    fn of(changed: &ChangedCell) -> ColumnCell {
        let height = u32::from(changed.section) << 4 | u32::from(changed.cell / 256);
        let column = u64::from(changed.place) << 8 | u64::from(changed.cell % 256);
        ColumnCell(column << 24 | u64::from(0xFF_FFFF - height))
    }

    /// The place of the chunk, and the column in it.
    fn column(self) -> (u32, usize) {
        ((self.0 >> 32) as u32, (self.0 >> 24 & 0xFF) as usize)
    }

    fn height(self) -> i32 {
        0xFF_FFFF - (self.0 & 0xFF_FFFF) as i32
    }
}

impl EditKernel {
    /// Follows every changed column down and notes the cells whose being a source has changed. Returns how many cells
    /// were settled on the way, their new level written already, and whether all the changed ones are among them.
    pub(crate) fn move_sources(&mut self, input: &mut EditInput<'_>, changed: &[ChangedCell]) -> (u64, bool) {
        if let &[only] = changed
            && let Some(settled) = self.settle(input, only)
        {
            return settled;
        }
        // From the top of each column down, so that a column is followed once where its changes touch.
        let mut columns = std::mem::take(&mut self.by_column);
        columns.clear();
        for same_section in changed.chunk_by(|a, b| (a.place, a.section) == (b.place, b.section)) {
            let (place, section) = (same_section[0].place, u32::from(same_section[0].section));
            let working = self.take_part(input, place, section);
            let is_top = section as usize + 1 == input.columns.at(place).sections.len();
            // Under cells that were no sources, a cell can only become one when they do, and it is found from there.
            columns.extend(
                same_section
                    .iter()
                    .filter(|at| {
                        let cell = usize::from(at.cell);
                        let may_end = self.was_source(working, cell);
                        may_end
                            || match cell + 256 {
                                above @ ..4096 => self.was_source(working, above),
                                _ if is_top => true,
                                above => {
                                    let working = self.take_part(input, place, section + 1);
                                    self.was_source(working, above - 4096)
                                }
                            }
                    })
                    .map(ColumnCell::of),
            );
        }
        columns.sort_unstable();
        for same in columns.chunk_by(|a, b| a.column() == b.column()) {
            let (place, column) = same[0].column();
            let lowest = same[same.len() - 1].height();
            let mut followed_to = i32::MAX;
            for height in same.iter().map(|at| at.height()) {
                if height < followed_to {
                    followed_to = self.follow(input, place, column, height, lowest);
                }
            }
        }
        self.by_column = columns;
        (0, false)
    }

    /// Follows one column from `height` down as long as its sources differ from those stored, or changes lie ahead.
    /// Returns the lowest height it looked at.
    fn follow(
        &mut self,
        input: &mut EditInput<'_>,
        place: u32,
        column: usize,
        height: i32,
        lowest_change: i32,
    ) -> i32 {
        let cell_at = |height: i32| ((height / 16) as u32, (height % 16) as usize * 256 + column);
        let mut source = match cell_at(height + 1) {
            (above, _) if above as usize >= input.columns.at(place).sections.len() => true,
            (above, cell) => self.is_source(input, place, above, cell),
        };
        let mut height = height;
        loop {
            let (section, cell) = cell_at(height);
            let working = self.take_part(input, place, section);
            source = source && lets_sky_in(input, place, section, cell);
            let before = self.was_source(working, cell);
            if source != before {
                self.toggle_source(working, cell);
            } else if height < lowest_change || !source {
                // Below, nothing differs until the next change. The cell under a change has been looked at: the lower
                // face of what changed may have closed or opened over it.
                return height;
            }
            if height == 0 {
                return 0;
            }
            height -= 1;
        }
    }

    /// Whether a cell is a source now; those of its column above it must have been followed.
    fn is_source(&mut self, input: &mut EditInput<'_>, place: u32, section: u32, cell: usize) -> bool {
        let working = self.take_part(input, place, section);
        let this = &self.working[working as usize];
        let toggled = this.sources_differ >> (cell / 256) & 1 != 0 && has(&this.sources, cell);
        self.was_source(working, cell) != toggled
    }

    fn was_source(&self, working: u32, cell: usize) -> bool {
        self.working[working as usize].level(cell) == MAX_LEVEL
    }
}

impl EditKernel {
    /// Follows the column under a single changed cell down and settles on the way what needs no further look: a cell
    /// that stopped being a source among four that are ones has 14 now and lights nothing that it lit before, and a
    /// cell that became one among four of at least 14 lights nothing new. In the open that is the whole column.
    ///
    /// Both hold as well for the changed cell itself, whose new level is 0 if light does not enter it, and for the lowest
    /// cell of the column above one that takes no light.
    ///
    /// Returns how many cells were settled, and whether the changed one was. `None`, and nothing done, where the column
    /// has neighbours in other chunks.
    ///
    /// PERF: one block under the open sky changes a column of hundreds of cells; as masks of all sections it touches
    /// that took 11 us, settled it takes 2 to 3.
    fn settle(&mut self, input: &mut EditInput<'_>, changed: ChangedCell) -> Option<(u64, bool)> {
        let column = usize::from(changed.cell % 256);
        let inner = |at: usize| (1..15).contains(&at);
        if !inner(column % 16) || !inner(column / 16) {
            return None;
        }
        let place = changed.place;
        let (mut section, mut cell) = (u32::from(changed.section), usize::from(changed.cell));
        let above = match cell.checked_add(256).filter(|&above| above < 4096) {
            Some(above) => Some((section, above)),
            None => Some((section + 1, column))
                .filter(|at| (at.0 as usize) < input.columns.at(place).sections.len()),
        };
        let mut source = match above {
            None => true,
            Some((section, cell)) => {
                self.levels_mut(input, place, section)?.level(cell).unwrap_or(0) == MAX_LEVEL
            }
        };
        let (mut settled, mut is_changed_settled) = (0, false);
        let mut unsettled = std::mem::take(&mut self.unsettled);
        'sections: loop {
            let below = section.checked_sub(1);
            let was_source_below = match below {
                Some(below) => {
                    self.levels_mut(input, place, below)?.level(3840 + column).unwrap_or(0) == MAX_LEVEL
                }
                None => false,
            };
            let shaped = !input.columns.at(place).sections[section as usize].shaped().is_empty();
            let mut levels = std::mem::take(self.levels_mut(input, place, section)?);
            let before = settled;
            let mut ended = false;
            let own = &input.columns.at(place).sections[section as usize];
            let above_is_plain = |section: u32| {
                let above = input.columns.at(place).sections.get(section as usize + 1);
                above.is_none_or(|above| above.shaped().is_empty())
            };
            let plain = !shaped && (cell < 3840 || above_is_plain(section));
            loop {
                let is_changed = (section, cell) == (u32::from(changed.section), usize::from(changed.cell));
                if plain && !is_changed {
                    let layers = settle_layers(&mut levels, own, cell, source);
                    settled += layers as u64;
                    cell -= layers * 256;
                }
                source = source && lets_sky_in(input, place, section, cell);
                let was = levels.level(cell).unwrap_or(0) == MAX_LEVEL;
                if source == was && !(is_changed && source) {
                    ended = true;
                    break;
                }
                if source != was {
                    let goes_on = match (cell.checked_sub(256), below) {
                        (Some(next), _) => (levels.level(next), Some((section, next))),
                        (None, Some(below)) => {
                            (Some(u8::from(was_source_below) * MAX_LEVEL), Some((below, 3840 + column)))
                        }
                        (None, None) => (None, None),
                    };
                    let goes_on = goes_on.1.is_none_or(|(section, next)| {
                        let was = goes_on.0 == Some(MAX_LEVEL);
                        let below = &input.columns.at(place).sections[section as usize];
                        was != (source && lets_sky_in(input, place, section, next)) || takes_none(below, next)
                    });
                    let least = if source { MAX_LEVEL - 1 } else { MAX_LEVEL };
                    let takes_none = is_changed && takes_none(own, cell);
                    let is_shaped = shaped && is_beside_shaped(own, cell) || is_changed && changed.shaped;
                    let can_settle = goes_on && !is_shaped && (has(own.open(), cell) || takes_none);
                    if can_settle && beside(&levels, cell).into_iter().all(|level| level >= least) {
                        let level = match (source, takes_none) {
                            (true, _) => MAX_LEVEL,
                            (false, false) => MAX_LEVEL - 1,
                            (false, true) => 0,
                        };
                        is_changed_settled |= is_changed;
                        let pair = &mut nibbles_mut(&mut levels)[cell / 2];
                        let shift = cell % 2 * 4;
                        *pair = *pair & !(15 << shift) | level << shift;
                        settled += 1;
                    } else {
                        unsettled.push((section, cell));
                    }
                }
                match cell.checked_sub(256) {
                    Some(next) => cell = next,
                    None => break,
                }
            }
            if let Some(stored) = self.levels_mut(input, place, section) {
                *stored = levels;
            }
            if settled > before {
                self.touched.push((place, section));
            }
            match below {
                Some(below) if !ended => (section, cell) = (below, 3840 + column),
                _ => break 'sections,
            }
        }
        for (section, cell) in unsettled.drain(..) {
            let working = self.take_part(input, place, section);
            self.toggle_source(working, cell);
        }
        self.unsettled = unsettled;
        Some((settled, is_changed_settled))
    }
}

/// Whether a cell that is not at the border of its section, or one of the four beside it, has faces that stop light.
fn is_beside_shaped(opacity: &Opacity, cell: usize) -> bool {
    let is_shaped = |cell: usize| crate::opacity::find(opacity.shaped(), cell).is_some();
    [cell, cell - 16, cell + 16, cell - 1, cell + 1].into_iter().any(is_shaped)
}

/// Whether no light enters a cell, at whatever cost.
fn takes_none(opacity: &Opacity, cell: usize) -> bool {
    !has(opacity.open(), cell) && opacity.mixed().is_none_or(|mixed| mixed.slow.is_empty())
}

/// Settles cells of a column from `cell` down, in a section without shaped faces, as long as each and the one below it
/// in the section change and its four neighbours are bright enough. Returns how many; `source` is true where sky light
/// falls on the first of them, and stays what it is.
fn settle_layers(levels: &mut LightLevels, opacity: &Opacity, cell: usize, source: bool) -> usize {
    let (clear, open) = (opacity.clear(), opacity.open());
    let (column, top) = (cell % 256, cell / 256);
    let gains = source;
    let (least, new) = if gains { (MAX_LEVEL - 1, MAX_LEVEL) } else { (MAX_LEVEL, MAX_LEVEL - 1) };
    let level =
        |nibbles: &[u8; NIBBLE_BYTES], cell: usize| nibbles[cell / 2 % NIBBLE_BYTES] >> (cell % 2 * 4) & 15;
    let changes = |nibbles: &[u8; NIBBLE_BYTES], cell: usize| {
        if gains {
            has(clear, cell) && level(nibbles, cell) != MAX_LEVEL
        } else {
            level(nibbles, cell) == MAX_LEVEL
        }
    };
    if !gains && levels.level(cell) != Some(MAX_LEVEL) {
        return 0;
    }
    let nibbles = nibbles_mut(levels);
    let mut settled = 0;
    for y in (1..=top).rev() {
        let cell = y * 256 + column;
        let beside = level(nibbles, cell - 16)
            .min(level(nibbles, cell + 16))
            .min(level(nibbles, cell - 1))
            .min(level(nibbles, cell + 1));
        let goes_on = changes(nibbles, cell) && changes(nibbles, cell - 256);
        if !goes_on || beside < least || !has(open, cell) {
            break;
        }
        let shift = cell % 2 * 4;
        nibbles[cell / 2] = nibbles[cell / 2] & !(15 << shift) | new << shift;
        settled += 1;
    }
    settled
}

/// The stored levels north, south, west and east of a cell that is not at the border of its section.
fn beside(levels: &LightLevels, cell: usize) -> [u8; 4] {
    [cell - 16, cell + 16, cell - 1, cell + 1].map(|cell| levels.level(cell).unwrap_or(0))
}

/// Whether sky light falls from the cell above into `cell` and through it.
fn lets_sky_in(input: &EditInput<'_>, place: u32, section: u32, cell: usize) -> bool {
    let columns: &Columns = input.columns;
    let sections = &columns.at(place).sections;
    let own = &sections[section as usize];
    if !has(own.clear(), cell) {
        return false;
    }
    let above = if cell < 3840 {
        own.faces(cell + 256)
    } else {
        match sections.get(section as usize + 1) {
            Some(above) => above.faces(cell - 3840),
            None => return true,
        }
    };
    let own = own.faces(cell);
    let (leaving, entering) = (above[Direction::Down.index()], own[Direction::Up.index()]);
    (leaving | entering) == 0 || !crate::edit::states(input).faces_cover(leaving, entering)
}
