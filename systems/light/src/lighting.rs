//! Keeps the light of a world up to date, with or without the engine.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use voxtick_worlds::{
    BlockChange, ChangeCursor, ChunkEvent, ChunkLight, ChunkPos, LightChannel, SectionPos, World,
};

use crate::columns::Columns;
use crate::compare::changed_cells;
use crate::edit::ChangedCell;
use crate::independent::EditKernels;
use crate::opacity::facts_of;
use crate::parallel::{TileLighter, derive_in_parallel};
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
    kernels: EditKernels,
    tiles: TileLighter,
    /// Per section, by place of its column: the update that changed its light last.
    versions: FxHashMap<ChunkPos, Vec<u64>>,
    updates: u64,
    /// What has been noticed and not been worked on: how much, the blocks, and the chunks that went or were replaced.
    noticed: u64,
    blocks: Vec<BlockChange>,
    left: BTreeSet<ChunkPos>,
    /// Chunks that came and went, as the last look at the world found them.
    events: Vec<ChunkEvent>,
    /// Scratch.
    changed: Vec<ChangedCell>,
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
            kernels: EditKernels::default(),
            tiles: TileLighter::new(width),
            versions: FxHashMap::default(),
            updates: 0,
            noticed: 0,
            blocks: Vec::new(),
            left: BTreeSet::new(),
            events: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Takes all changes of `world` since the last time and brings its light up to date, where it pays in parallel on
    /// the current rayon pool.
    pub fn update(&mut self, world: &mut World) -> LightOutcome {
        let came = self.notice(world).iter().filter_map(|event| match *event {
            ChunkEvent::Loaded(position) => Some(position),
            ChunkEvent::Unloaded(_) => None,
        });
        let came: Vec<ChunkPos> = came.collect();
        self.take_in(world, &came)
    }

    /// Looks at what changed in `world` since the last time, without any work on light, and returns the chunks that came
    /// and went, oldest first: for those who want to choose which of them are lit now. All else waits for the next
    /// [`Lighting::take_in`].
    ///
    /// After changes that were dropped unread, all loaded chunks count as having come.
    pub fn notice(&mut self, world: &World) -> &[ChunkEvent] {
        let changes = world.changes(&mut self.cursor);
        self.noticed += (changes.blocks.len() + changes.chunks.len()) as u64;
        self.blocks.extend_from_slice(changes.blocks);
        self.events.clear();
        if changes.missed > 0 {
            let gone = self.versions.keys().copied().filter(|&at| world.chunk(at).is_none());
            self.events.extend(gone.map(ChunkEvent::Unloaded));
            self.events.extend(world.chunk_positions().map(ChunkEvent::Loaded));
            self.events.sort_unstable_by_key(|event| match *event {
                ChunkEvent::Loaded(position) | ChunkEvent::Unloaded(position) => position,
            });
        } else {
            self.events.extend_from_slice(changes.chunks);
        }
        self.left.extend(self.events.iter().map(|event| match *event {
            ChunkEvent::Loaded(position) | ChunkEvent::Unloaded(position) => position,
        }));
        &self.events
    }

    /// Brings the light of `world` up to date with what has been [noticed](Lighting::notice): with all changed blocks,
    /// with all chunks that went, and of those that came with the ones of `came` alone. Positions without a chunk are
    /// passed over.
    ///
    /// Until a chunk is taken in, the light of the others is what it is without it, and its own stays as it came: nothing
    /// half-done is ever seen. A chunk that took the place of another counts as gone until then.
    ///
    /// ```
    /// use voxtick_light::Lighting;
    /// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, World};
    /// let mut world = World::new(Dimension::overworld(), BlockStates::load());
    /// let (near, far) = (ChunkPos::new(0, 0), ChunkPos::new(9, 9));
    /// for at in [near, far] {
    ///     world.insert_chunk(Chunk::empty(at, world.dimension()));
    /// }
    /// let mut lighting = Lighting::new();
    /// assert_eq!(lighting.notice(&world).len(), 2);
    /// lighting.take_in(&mut world, &[near]);
    /// assert!(world.chunk(near).unwrap().light.is_some() && world.chunk(far).unwrap().light.is_none());
    /// lighting.take_in(&mut world, &[far]);
    /// assert!(world.chunk(far).unwrap().light.is_some());
    /// ```
    pub fn take_in(&mut self, world: &mut World, came: &[ChunkPos]) -> LightOutcome {
        let mut outcome =
            LightOutcome { changes: std::mem::take(&mut self.noticed), ..LightOutcome::default() };
        if self.blocks.is_empty() && self.left.is_empty() && came.is_empty() {
            return outcome;
        }
        self.updates += 1;
        let mut came: Vec<ChunkPos> =
            came.iter().copied().filter(|&position| world.chunk(position).is_some()).collect();
        came.sort_unstable();
        came.dedup();
        let mut renewed = std::mem::take(&mut self.left);
        // The light knows nothing of a chunk that came and waits; to the others it is not there.
        renewed.retain(|&position| self.columns.place(position).is_some());
        renewed.extend(&came);
        let relit = self.take_block_changes(world, &renewed);
        self.blocks.clear();
        self.edit(world, &mut outcome);
        if !relit.is_empty() {
            self.renew(world, &renewed, came);
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
        self.columns.memory_bytes() + self.kernels.memory_bytes() + self.tiles.memory_bytes()
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
        // Changes that follow each other often lie in one chunk.
        let mut last = None;
        for change in &self.blocks {
            let (before, after) = (facts_of(states, change.before), facts_of(states, change.after));
            let position = change.position;
            let place = match last {
                Some((chunk, place)) if chunk == position.chunk() => place,
                _ => self.columns.place(position.chunk()).filter(|_| !renewed.contains(&position.chunk())),
            };
            last = Some((position.chunk(), place));
            let Some(place) = place.filter(|_| before != after) else { continue };
            let section = (position.y >> 4) - bottom;
            let cell = position.cell();
            let Some(opacity) = self.columns.at_mut(place).sections.get_mut(section as usize) else {
                continue;
            };
            opacity.set(cell, after, states);
            self.changed.push(ChangedCell {
                place,
                section: section as u16,
                cell: cell as u16,
                shaped: before.is_shaped() || after.is_shaped(),
                reshaped: (before.dampening, before.faces) != (after.dampening, after.faces),
                fades: after.emission < before.emission,
            });
        }
        // A cell that changed twice counts once, with all that was ever true of it.
        self.changed.sort_unstable_by_key(ChangedCell::key);
        self.changed.dedup_by(|at, kept| {
            let same = at.key() == kept.key();
            if same {
                kept.shaped |= at.shaped;
                kept.reshaped |= at.reshaped;
                kept.fades |= at.fades;
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
            match self.kernels.update(self.width, world, &self.columns, channel, &self.changed) {
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
            for &(place, section) in self.kernels.touched() {
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

    /// Takes chunks into account: those that `came`, and `renewed` ones that did not, which are not there any more.
    fn renew(&mut self, world: &World, renewed: &BTreeSet<ChunkPos>, came: Vec<ChunkPos>) {
        for position in renewed.iter().filter(|position| came.binary_search(position).is_err()) {
            self.columns.remove(*position);
            self.versions.remove(position);
        }
        for (position, sections) in derive_in_parallel(self.width, world, came) {
            self.versions.insert(position, vec![self.updates; sections.len()]);
            self.columns.insert(position, sections);
        }
    }

    /// Lights chunks from nothing.
    fn relight(&mut self, world: &mut World, relit: &BTreeSet<ChunkPos>, outcome: &mut LightOutcome) {
        let dimension = world.dimension();
        let nothing = || ChunkLight::absent(dimension.min_section(), dimension.section_count());
        let known = relit.iter().copied().filter(|&position| self.columns.place(position).is_some());
        let mut lit: Vec<(ChunkPos, ChunkLight)> = known.map(|position| (position, nothing())).collect();
        self.tiles.light(world, &self.columns, &mut lit);
        for (position, light) in lit {
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
