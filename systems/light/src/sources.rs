//! Sky sources after changes: which cells began or ceased to see the sky.

use voxtick_worlds::Direction;

use crate::columns::Columns;
use crate::edit::{ChangedCell, EditInput, EditKernel};
use crate::facts::MAX_LEVEL;
use crate::masks::has;

impl EditKernel {
    /// Follows every changed column down and notes the cells whose being a source has changed. Returns how many cells
    /// were settled on the way, their new level written already.
    pub(crate) fn move_sources(&mut self, input: &mut EditInput<'_>, changed: &[ChangedCell]) -> u64 {
        // From the top of each column down, so that a column is followed once where its changes touch.
        let mut columns: Vec<(u32, u16, i32)> = changed
            .iter()
            .map(|at| (at.place, at.cell % 256, -(at.section as i32 * 16 + i32::from(at.cell / 256))))
            .collect();
        columns.sort_unstable();
        for same in columns.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let lowest = same.last().map_or(0, |last| -last.2);
            let mut followed_to = i32::MAX;
            for height in same.iter().map(|at| -at.2) {
                if height < followed_to {
                    followed_to = self.follow(input, same[0].0, usize::from(same[0].1), height, lowest);
                }
            }
        }
        0
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
