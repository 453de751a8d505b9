//! The sections that take part in an edit, and the light that is taken out of the world for them.

use voxtick_worlds::{ChunkLight, Direction, LightLevels, World};

use super::{EditInput, EditKernel, Source, states};
use crate::area::NONE;
use crate::columns::Columns;
use crate::edges::Edges;
use crate::opacity::Opacity;
use crate::working::Working;

impl EditKernel {
    /// Takes the light of the chunk at `place` out of the world, if it has not done so already.
    pub(crate) fn lend(&mut self, world: &mut World, columns: &Columns, place: u32) {
        self.make_room(columns);
        self.borrow(Some(world), columns, place);
    }

    fn borrow(
        &mut self,
        world: Option<&mut World>,
        columns: &Columns,
        place: u32,
    ) -> Option<&mut ChunkLight> {
        let light = &mut self.lights[place as usize];
        if light.is_none() {
            *light = world?.chunk_mut(columns.at(place).position)?.light.take();
            if light.is_some() {
                self.borrowed.push(place);
            }
        }
        light.as_deref_mut()
    }

    /// Gives all light back that was lent or taken.
    pub(crate) fn give_back(&mut self, world: &mut World, columns: &Columns) {
        for place in self.borrowed.drain(..) {
            let light = self.lights[place as usize].take();
            if let Some(chunk) = world.chunk_mut(columns.at(place).position) {
                chunk.light = light;
            }
        }
    }

    /// The section upwards, downwards or beside, by number; [`NONE`] at the edge of the chunks and of the build range.
    pub(crate) fn beside(&self, columns: &Columns, place: u32, section: u32, side: Direction) -> (u32, u32) {
        match side {
            Direction::Down if section > 0 => (place, section - 1),
            Direction::Up if (section as usize) + 1 < self.sections => (place, section + 1),
            Direction::Down | Direction::Up => (NONE, 0),
            side => (columns.at(place).links[side.index() - 2], section),
        }
    }

    /// Lets a section take part, if it does not yet, and returns its place in `working`.
    #[inline(always)]
    pub(crate) fn take_part(&mut self, input: &mut EditInput<'_>, place: u32, section: u32) -> u32 {
        if place == NONE {
            return NONE;
        }
        match self.places[place as usize * self.sections + section as usize] {
            NONE => self.begin_part(input, place, section),
            known => known,
        }
    }

    #[inline(never)]
    fn begin_part(&mut self, input: &mut EditInput<'_>, place: u32, section: u32) -> u32 {
        let edges = {
            let columns = input.columns;
            let opacity = |side: Direction| {
                let (place, section) = self.beside(columns, place, section, side);
                (side, (place != NONE).then(|| &columns.at(place).sections[section as usize]))
            };
            let seams = [opacity(Direction::Up), opacity(Direction::South), opacity(Direction::East)];
            Edges::with_seams(&columns.at(place).sections[section as usize], seams, states(input))
        };
        let levels = self.levels_mut(input, place, section).map_or(LightLevels::Absent, std::mem::take);
        let edges = match edges {
            None => NONE,
            Some(edges) => {
                self.edges.push(edges);
                self.edges.len() as u32 - 1
            }
        };
        if self.used == self.working.len() {
            // One is 5 KiB, and the most that ever took part at once are kept: no more than those.
            self.working.reserve_exact(1);
            self.working.push(Working::default());
        }
        self.working[self.used].start(place, section, levels, edges);
        if self.is_rising {
            self.working[self.used].forget_gained();
        }
        self.places[place as usize * self.sections + section as usize] = self.used as u32;
        self.used += 1;
        self.used as u32 - 1
    }

    /// Where the light of a section is kept. The light of a chunk is taken out of the world when it is first asked for,
    /// so that the chunk is looked up once, not once a section.
    pub(crate) fn levels_mut(
        &mut self,
        input: &mut EditInput<'_>,
        place: u32,
        section: u32,
    ) -> Option<&mut LightLevels> {
        let world = match &mut input.source {
            Source::World(world) => Some(&mut **world),
            Source::Lent(_) => None,
        };
        let light = self.borrow(world, input.columns, place)?;
        // Light starts one section below the build range.
        light.channel_mut(input.channel).get_mut(section as usize + 1)
    }

    /// The neighbour of a working section, which takes part from now on; [`NONE`] as well where no light enters it at all.
    #[inline(always)]
    pub(super) fn neighbour(&mut self, input: &mut EditInput<'_>, working: u32, side: Direction) -> u32 {
        match self.working[working as usize].beside[side.index()] {
            Some(known) => known,
            None => self.find_neighbour(input, working, side),
        }
    }

    #[inline(never)]
    fn find_neighbour(&mut self, input: &mut EditInput<'_>, working: u32, side: Direction) -> u32 {
        let this = &self.working[working as usize];
        let (place, section) = self.beside(input.columns, this.place, this.section, side);
        let is_dark =
            place != NONE && matches!(input.columns.at(place).sections[section as usize], Opacity::Opaque);
        let beside = if is_dark { NONE } else { self.take_part(input, place, section) };
        self.working[working as usize].beside[side.index()] = Some(beside);
        if beside != NONE {
            self.working[beside as usize].beside[side.opposite().index()] = Some(working);
        }
        beside
    }
}
