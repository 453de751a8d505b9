//! Changed cells that lie so far apart that neither's light meets the other's: such areas are worked on at once.

use rayon::prelude::*;
use voxtick_worlds::{LightChannel, World};

use crate::area::NONE;
use crate::columns::Columns;
use crate::edit::{ChangedCell, Difference, EditInput, EditKernel, Source};
use crate::simd::Width;

/// Fewer changed cells than this are not worth the waking of a thread.
const FEWEST_CELLS: usize = 32;

/// Brings stored light up to date, independent areas at once on the current rayon pool. Holds scratch only.
///
/// Light reaches 15 cells, so what a changed cell has to do with lies in its chunk and the eight around it. Chunks with
/// changes whose squares of nine meet, in chunks that are linked with both, are one area.
#[derive(Default)]
pub(crate) struct EditKernels {
    /// The first does all the work where it is not divided.
    kernels: Vec<Part>,
    areas: Areas,
    touched: Vec<(u32, u32)>,
}

/// What one thread does.
#[derive(Default)]
struct Part {
    kernel: EditKernel,
    changed: Vec<ChangedCell>,
    outcome: Option<Difference>,
}

#[derive(Default)]
struct Areas {
    /// Per place the area that its chunk lies in, or [`NONE`].
    area_of: Vec<u32>,
    /// Per area the one that it turned out to be a part of, or itself.
    parents: Vec<u32>,
    /// Per area, by its lowest number, how many cells changed in it and which part does it.
    sizes: Vec<(usize, u32)>,
    parts: Vec<u32>,
}

impl EditKernels {
    /// See [`EditKernel::update`]; `None` says that the light is to be computed from nothing around all changed cells.
    pub(crate) fn update(
        &mut self,
        width: Width,
        world: &mut World,
        columns: &Columns,
        channel: LightChannel,
        changed: &[ChangedCell],
    ) -> Option<Difference> {
        self.touched.clear();
        if self.kernels.is_empty() {
            self.kernels.push(Part::default());
        }
        let threads = if changed.len() < FEWEST_CELLS { 1 } else { rayon::current_num_threads() };
        if threads > 1 && self.areas.divide(columns, changed, threads) > 1 {
            return self.update_at_once(width, world, columns, channel, changed, threads);
        }
        let kernel = &mut self.kernels[0].kernel;
        let mut input = EditInput { source: Source::World(world), columns, channel };
        let outcome = kernel.update(width, &mut input, changed);
        self.touched.extend_from_slice(kernel.touched());
        outcome
    }

    fn update_at_once(
        &mut self,
        width: Width,
        world: &mut World,
        columns: &Columns,
        channel: LightChannel,
        changed: &[ChangedCell],
        threads: usize,
    ) -> Option<Difference> {
        if self.kernels.len() < threads {
            self.kernels.resize_with(threads, Part::default);
        }
        self.kernels.iter_mut().for_each(|part| part.changed.clear());
        for &cell in changed {
            let part = self.areas.part_of(cell.place);
            self.kernels[part as usize].changed.push(cell);
        }
        for Part { kernel, changed, .. } in &mut self.kernels {
            for same in changed.chunk_by(|a, b| a.place == b.place) {
                square(columns, same[0].place, |place| kernel.lend(world, columns, place));
            }
        }
        let states = world.states();
        self.kernels.par_iter_mut().with_max_len(1).for_each(|Part { kernel, changed, outcome }| {
            let mut input = EditInput { source: Source::Lent(states), columns, channel };
            *outcome = kernel.update(width, &mut input, changed);
        });
        let mut sum = Some(Difference::default());
        for Part { kernel, outcome, .. } in &mut self.kernels {
            kernel.give_back(world, columns);
            self.touched.extend_from_slice(kernel.touched());
            sum = sum.zip(*outcome).map(|(sum, part)| Difference {
                cells: sum.cells + part.cells,
                sections: sum.sections + part.sections,
            });
        }
        sum
    }

    /// The sections in which the last run changed a level: place of the column, and number.
    pub(crate) fn touched(&self) -> &[(u32, u32)] {
        &self.touched
    }

    /// Bytes of scratch, allocator overhead aside.
    pub(crate) fn memory_bytes(&self) -> usize {
        let parts: usize = self
            .kernels
            .iter()
            .map(|part| part.kernel.memory_bytes() + part.changed.capacity() * size_of::<ChangedCell>())
            .sum();
        parts + self.areas.area_of.capacity() * size_of::<u32>()
    }
}

impl Areas {
    /// Finds the areas of `changed` cells, which must be sorted, and gives each to one of `parts` parts, the largest
    /// first, always to the part that has least. Returns how many areas there are.
    fn divide(&mut self, columns: &Columns, changed: &[ChangedCell], parts: usize) -> usize {
        self.area_of.clear();
        self.area_of.resize(columns.places(), NONE);
        self.parents.clear();
        self.sizes.clear();
        for same in changed.chunk_by(|a, b| a.place == b.place) {
            let area = self.parents.len() as u32;
            self.parents.push(area);
            self.sizes.push((same.len(), area));
            let Areas { area_of, parents, .. } = self;
            square(columns, same[0].place, |place| {
                let known = std::mem::replace(&mut area_of[place as usize], area);
                if known != NONE {
                    let root = root_of(parents, known);
                    parents[root as usize] = area;
                }
            });
        }
        for at in 0..self.sizes.len() {
            let root = root_of(&mut self.parents, at as u32);
            if root as usize != at {
                let moved = std::mem::take(&mut self.sizes[at].0);
                self.sizes[root as usize].0 += moved;
            }
        }
        self.sizes.retain(|&(size, _)| size > 0);
        self.sizes.sort_unstable_by_key(|&(size, area)| (std::cmp::Reverse(size), area));
        self.parts.clear();
        self.parts.resize(self.parents.len(), 0);
        let mut loads = [0; 64];
        let loads = &mut loads[..parts.min(64)];
        for &(size, area) in &self.sizes {
            let least = (0..loads.len()).min_by_key(|&part| loads[part]).unwrap_or(0);
            loads[least] += size;
            self.parts[area as usize] = least as u32;
        }
        self.sizes.len()
    }

    /// The part that has the changed chunk at `place`.
    fn part_of(&mut self, place: u32) -> u32 {
        let root = root_of(&mut self.parents, self.area_of[place as usize]);
        self.parts[root as usize]
    }
}

/// The area that `area` is a part of.
fn root_of(parents: &mut [u32], area: u32) -> u32 {
    let mut root = area;
    while parents[root as usize] != root {
        // Half of the way is cut short for the next time.
        parents[root as usize] = parents[parents[root as usize] as usize];
        root = parents[root as usize];
    }
    root
}

/// Calls `visit` for the chunk at `place` and those of the eight around it that are linked with it; for some twice.
fn square(columns: &Columns, place: u32, mut visit: impl FnMut(u32)) {
    visit(place);
    let links = columns.at(place).links;
    for (side, beside) in links.into_iter().enumerate().filter(|&(_, beside)| beside != NONE) {
        visit(beside);
        let across = if side < 2 { [2, 3] } else { [0, 1] };
        for corner in across.map(|side| columns.at(beside).links[side]).into_iter().filter(|&at| at != NONE) {
            visit(corner);
        }
    }
}
