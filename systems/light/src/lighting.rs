//! Keeps the light of a world up to date, with or without the engine.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockChange, ChangeCursor, ChunkEvent, ChunkPos, LightChannel, SectionPos, World};

use crate::columns::Columns;
use crate::compare::changed_cells;
use crate::edit::{ChangedCell, EditInput, EditKernel};
use crate::opacity::facts_of;
use crate::parallel::{derive_in_parallel, light_in_parallel};
use crate::simd::Width;

/// Follows the changes of one [`World`] and keeps the light of its chunks as the rules want it.
///
/// The light of a world depends on its loaded chunks and their blocks alone: not on the order in which they came, not
/// on what light a file held, not on the number of threads. What is not loaded neither takes nor gives light; a chunk
/// that lacks one of its eight neighbours has [`incomplete`](voxtick_worlds::ChunkLight::incomplete) set and is
/// finished when they come.
///
/// Changed blocks cost in proportion to the light that changes with them. A chunk that comes or goes costs the light
/// of itself and its neighbours from nothing. An update without changes costs nothing.
///
/// ```
/// use voxtick_light::Lighting;
/// use voxtick_worlds::{BlockPos, BlockStates, Chunk, ChunkPos, Dimension, LightChannel, World};
/// let mut world = World::new(Dimension::overworld(), BlockStates::load());
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
/// let mut lighting = Lighting::new();
/// lighting.update(&mut world);
///
/// let glowstone = world.states().parse("glowstone")?;
/// let at = BlockPos::new(8, 70, 8);
/// world.set_block(at, glowstone)?;
/// let outcome = lighting.update(&mut world);
/// assert_eq!(outcome.changes, 1);
/// let light = world.chunk(at.chunk()).and_then(|chunk| chunk.light.as_ref()).expect("lit");
/// assert_eq!(light.level(LightChannel::Block, 4, BlockPos::new(8, 71, 8).cell()), 14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lighting {
    width: Width,
    cursor: ChangeCursor,
    columns: Columns,
    kernel: EditKernel,
    /// Per section, by place of its column: the update that changed its light last.
    versions: FxHashMap<ChunkPos, Vec<u64>>,
    updates: u64,
    budget: Option<LightBudget>,
    /// Chunks that came and have not been taken in yet.
    waiting: BTreeSet<ChunkPos>,
    /// Scratch.
    blocks: Vec<BlockChange>,
    changed: Vec<ChangedCell>,
}

/// How much one [`Lighting::update`] may light from nothing; see [`Lighting::set_budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LightBudget {
    /// How many chunks that came may be taken in by one update.
    pub chunks: usize,
    /// Chunks near this one come first; of equally near ones that with the lower position.
    pub focus: ChunkPos,
}

/// What one [`Lighting::update`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LightOutcome {
    /// Changed blocks and chunks that came or went.
    pub changes: u64,
    /// Cells whose level is another one now, both channels together; cells of chunks without light count as dark.
    pub cells_changed: u64,
    /// Sections with at least one such cell, each channel on its own.
    pub sections_touched: u64,
}

impl Default for Lighting {
    fn default() -> Lighting {
        Lighting::new()
    }
}

impl Lighting {
    /// A lighting that has seen nothing of its world yet.
    #[must_use]
    pub fn new() -> Lighting {
        Lighting::with_width(Width::detected())
    }

    /// As [`Lighting::new`], with the instructions of `width`; the light is the same for all.
    #[must_use]
    pub fn with_width(width: Width) -> Lighting {
        Lighting {
            width,
            cursor: ChangeCursor::default(),
            columns: Columns::default(),
            kernel: EditKernel::default(),
            versions: FxHashMap::default(),
            updates: 0,
            budget: None,
            waiting: BTreeSet::new(),
            blocks: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Limits how many chunks that came one update takes in; the others wait, and until their turn the light is what it
    /// is without them: nothing half-done is ever seen. Changed blocks and chunks that went are always taken in at once.
    /// Without a budget, which is the default, nothing waits.
    ///
    /// The budget counts chunks, not time, so a replay waits for the same ones.
    pub const fn set_budget(&mut self, budget: Option<LightBudget>) {
        self.budget = budget;
    }

    /// How many chunks wait for a later update.
    #[must_use]
    pub fn waiting_chunks(&self) -> usize {
        self.waiting.len()
    }

    /// Takes all changes of `world` since the last time and brings its light up to date, where it pays in parallel on
    /// the current rayon pool.
    pub fn update(&mut self, world: &mut World) -> LightOutcome {
        let changes = world.changes(&mut self.cursor);
        let mut outcome = LightOutcome {
            changes: (changes.blocks.len() + changes.chunks.len()) as u64,
            ..LightOutcome::default()
        };
        let nothing = changes.blocks.is_empty() && changes.chunks.is_empty() && changes.missed == 0;
        if nothing && self.waiting.is_empty() {
            return outcome;
        }
        self.updates += 1;
        self.blocks.clear();
        self.blocks.extend_from_slice(changes.blocks);
        let mut renewed: BTreeSet<ChunkPos> = changes
            .chunks
            .iter()
            .map(|event| match *event {
                ChunkEvent::Loaded(position) | ChunkEvent::Unloaded(position) => position,
            })
            .collect();
        if changes.missed > 0 {
            renewed.extend(world.chunk_positions());
            renewed.extend(self.versions.keys().copied());
            self.columns = Columns::default();
        }
        self.choose(world, &mut renewed);
        let relit = self.take_block_changes(world, &renewed);
        self.edit(world, &mut outcome);
        if !relit.is_empty() {
            self.renew(world, &renewed);
            self.relight(world, &relit, &mut outcome);
        }
        outcome
    }

    /// The number of the update that changed the light of a section last, counted from 1; `None` for sections that are
    /// not loaded. Whoever has a copy of the light knows by it whether the copy is still good.
    #[must_use]
    pub fn light_version(&self, section: SectionPos, world: &World) -> Option<u64> {
        let index = usize::try_from(section.y - world.dimension().min_section()).ok()?;
        self.versions.get(&section.chunk())?.get(index).copied()
    }

    /// Bytes kept from update to update beside the light itself, which the chunks have: what the sections let through,
    /// and scratch.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.columns.memory_bytes() + self.kernel.memory_bytes()
    }

    /// Leaves of the `renewed` chunks those that are taken in now, and takes up those whose turn has come.
    fn choose(&mut self, world: &World, renewed: &mut BTreeSet<ChunkPos>) {
        let Some(LightBudget { chunks, focus }) = self.budget else {
            renewed.append(&mut self.waiting);
            return;
        };
        renewed.append(&mut self.waiting);
        let mut came: Vec<ChunkPos> =
            renewed.iter().copied().filter(|&at| world.chunk(at).is_some()).collect();
        if came.len() <= chunks {
            return;
        }
        came.sort_by_key(|&at| {
            let (x, z) = (i64::from(at.x) - i64::from(focus.x), i64::from(at.z) - i64::from(focus.z));
            (x * x + z * z, at)
        });
        for late in came.split_off(chunks) {
            renewed.remove(&late);
            self.waiting.insert(late);
        }
        // A chunk that took the place of another and has to wait: the light goes on without either.
        for &late in &self.waiting {
            if self.columns.place(late).is_some() {
                renewed.insert(late);
            }
        }
    }

    /// Brings what the sections let through up to date with the changed blocks and notes the changed cells that are to
    /// be worked on one by one.
    ///
    /// Returns the chunks to be lit from nothing: `renewed` ones, those of changed blocks near them, and all neighbours
    /// of both.
    fn take_block_changes(&mut self, world: &World, renewed: &BTreeSet<ChunkPos>) -> BTreeSet<ChunkPos> {
        self.changed.clear();
        let states = world.states();
        let bottom = world.dimension().min_section();
        for change in &self.blocks {
            let (before, after) = (facts_of(states, change.before), facts_of(states, change.after));
            let position = change.position;
            let Some(place) = self.columns.place(position.chunk()) else { continue };
            if before == after || renewed.contains(&position.chunk()) {
                continue;
            }
            let section = (position.y >> 4) - bottom;
            let cell = position.cell();
            let Some(opacity) = self.columns.at_mut(place).sections.get_mut(section as usize) else {
                continue;
            };
            opacity.set(cell, after, states);
            self.changed.push(ChangedCell {
                place,
                section: section as u32,
                cell: cell as u16,
                shaped: before.is_shaped() || after.is_shaped(),
                reshaped: (before.dampening, before.faces) != (after.dampening, after.faces),
            });
        }
        // A cell that changed twice counts once, with all that was ever true of it.
        self.changed.sort_unstable();
        self.changed.dedup_by(|at, kept| {
            let same = (at.place, at.section, at.cell) == (kept.place, kept.section, kept.cell);
            if same {
                kept.shaped |= at.shaped;
                kept.reshaped |= at.reshaped;
            }
            same
        });
        let mut relit = with_neighbours(renewed);
        if renewed.is_empty() {
            return relit;
        }
        // A changed cell in a chunk that is lit anew has to have its own neighbours lit anew too; the others then lie
        // so far away that neither sees the other.
        loop {
            let columns = &self.columns;
            let position = |at: &ChangedCell| columns.at(at.place).position;
            let near: BTreeSet<ChunkPos> =
                self.changed.iter().map(position).filter(|at| relit.contains(at)).collect();
            if near.is_empty() {
                return relit;
            }
            self.changed.retain(|at| !near.contains(&columns.at(at.place).position));
            relit.extend(with_neighbours(&near));
        }
    }

    /// Works on the noted cells.
    fn edit(&mut self, world: &mut World, outcome: &mut LightOutcome) {
        if self.changed.is_empty() {
            return;
        }
        for channel in [LightChannel::Block, LightChannel::Sky] {
            if channel == LightChannel::Sky {
                self.changed.retain(|at| at.reshaped);
                if !world.dimension().has_sky() || self.changed.is_empty() {
                    return;
                }
            }
            let mut input = EditInput { world, columns: &self.columns, channel };
            match self.kernel.update(self.width, &mut input, &self.changed) {
                Some(difference) => {
                    outcome.cells_changed += difference.cells;
                    outcome.sections_touched += difference.sections;
                }
                None => {
                    let changed = self.changed.iter().map(|at| self.columns.at(at.place).position).collect();
                    self.relight(world, &with_neighbours(&changed), outcome);
                    return;
                }
            }
            for &(place, section) in self.kernel.touched() {
                let position = self.columns.at(place).position;
                if let Some(versions) = self.versions.get_mut(&position) {
                    versions[section as usize] = self.updates;
                }
                // Otherwise a chunk whose light alone changed would never be saved.
                if let Some(chunk) = world.chunk_mut(position) {
                    chunk.modified = true;
                }
            }
        }
    }

    /// Takes chunks that came or went into account.
    fn renew(&mut self, world: &World, renewed: &BTreeSet<ChunkPos>) {
        let present: Vec<ChunkPos> =
            renewed.iter().copied().filter(|&at| world.chunk(at).is_some()).collect();
        for position in renewed.iter().filter(|&&at| world.chunk(at).is_none()) {
            self.columns.remove(*position);
            self.versions.remove(position);
        }
        for (position, sections) in derive_in_parallel(self.width, world, present) {
            self.versions.insert(position, vec![self.updates; sections.len()]);
            self.columns.insert(position, sections);
        }
    }

    /// Lights chunks from nothing.
    fn relight(&mut self, world: &mut World, relit: &BTreeSet<ChunkPos>, outcome: &mut LightOutcome) {
        for (position, light) in light_in_parallel(self.width, world, &self.columns, relit) {
            let Some(chunk) = world.chunk_mut(position) else { continue };
            let mut differs = chunk.light.is_none();
            for channel in [LightChannel::Block, LightChannel::Sky] {
                let before = chunk.light.as_deref();
                for (section, count) in changed_cells(channel, before, &light) {
                    differs |= count > 0;
                    outcome.cells_changed += count;
                    outcome.sections_touched += 1;
                    if let Some(version) =
                        self.versions.get_mut(&position).and_then(|versions| versions.get_mut(section))
                    {
                        *version = self.updates;
                    }
                }
            }
            // Light that lacks a neighbour is no reason to save: what is stored may know better.
            chunk.modified |= differs && !light.incomplete;
            chunk.light = Some(Box::new(light));
        }
    }
}

impl std::fmt::Debug for Lighting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lighting")
            .field("width", &self.width)
            .field("chunks", &self.versions.len())
            .field("updates", &self.updates)
            .finish_non_exhaustive()
    }
}

/// The chunks and the eight neighbours of each.
fn with_neighbours(positions: &BTreeSet<ChunkPos>) -> BTreeSet<ChunkPos> {
    let square =
        |at: ChunkPos| (-1..=1).flat_map(move |x| (-1..=1).filter_map(move |z| at.checked_offset(x, z)));
    positions.iter().flat_map(|&at| square(at)).collect()
}
