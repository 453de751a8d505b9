//! All bodies of a world: who they are, where their rows stand, and the tick that takes them on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use crate::body::{Body, Flags, floor};
use crate::columns::{Columns, NEVER_PICK_UP, Row};
use crate::events::Events;
use crate::exact::{Scratch, is_sane};
use crate::inlets::Inlets;
use crate::kernel::dispatch::Path;
use crate::material::Materials;
use crate::merge::MergeScratch;
use crate::parallel::spread;
use crate::pool::{POOL_LIMIT, Places, Pool, ROW_LIMIT};
use crate::rules::Rules;
use voxtick_worlds::{BlockPos, BlockStates, ChangeCursor, ChunkPos, ItemStack, Ledger};

/// Bodies of one batch from which it is spread over threads.
const PARALLEL: usize = 1_024;

/// A body, for as long as it exists; afterwards the name of nothing.
///
/// The order is by number: the canonical order in which bodies are worked through wherever order matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId {
    /// Its number; numbers of bodies that are gone are used again.
    pub number: u32,
    /// How often the number was used before (modulo 2^20).
    pub generation: u32,
}

/// A body to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spawn {
    /// Middle of the lower face of its box.
    pub position: [f64; 3],
    /// Blocks a tick.
    pub velocity: [f64; 3],
    /// What it is.
    pub stack: ItemStack,
    /// Ticks until it may be picked up; `None` for never. The game gives 10 to drops and 40 to what a player throws.
    pub pickup_delay: Option<u16>,
    /// Its age in ticks; it vanishes at 6,000. `None` for one that never does.
    pub age: Option<i16>,
}

impl Spawn {
    /// A stack at rest at a place, with the game's delay for drops.
    #[must_use]
    pub const fn at(position: [f64; 3], stack: ItemStack) -> Spawn {
        Spawn { position, velocity: [0.0; 3], stack, pickup_delay: Some(10), age: Some(0) }
    }
}

/// What is known of one body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyView {
    /// Its motion; that of a sleeper is worked out.
    pub body: Body,
    /// What it is.
    pub stack: ItemStack,
    /// Ticks until it may be picked up; `None` for never.
    pub pickup_delay: Option<u16>,
    /// Its age in ticks; `None` for one that never vanishes.
    pub age: Option<i32>,
    /// True where it costs nothing because it only repeats itself.
    pub sleeps: bool,
}

/// How a [`Population`] works. What changes results says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// What differs between versions of the game. Changes results.
    pub rules: Rules,
    /// Leave bodies alone that only repeat themselves. Defaults to true.
    pub sleeping: bool,
    /// Merge like stacks that lie together. Defaults to true; changes results.
    pub merging: bool,
    /// The instruction set to use. Defaults to the fastest that the machine has.
    pub path: Path,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { rules: Rules::default(), sleeping: true, merging: true, path: Path::fastest() }
    }
}

/// All bodies of one world.
///
/// Rows live in pools, one for each chunk that has bodies; a body takes 76 bytes. Cost of a tick: O(awake bodies), and
/// O(changed blocks + sleepers over their columns and those beside). A body at rest sleeps: it is in no loop until a
/// block changes that its box or ground touches, a chunk comes or goes, or it is thrown, and what it has become meanwhile
/// is worked out then, to the bit. So is what [`Population::view`] and [`Population::iter`] tell of a sleeper. One that the
/// change leaves at rest sleeps on.
///
/// ```
/// use voxtick_bodies::{Population, Settings, Spawn};
/// use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, ItemKind, ItemStack, World};
///
/// let states = BlockStates::load();
/// let mut population = Population::new(&states, Settings::default());
/// let mut world = World::new(Dimension::overworld(), states);
/// world.insert_chunk(Chunk::empty(ChunkPos::new(0, 0), world.dimension()));
///
/// let apple = Spawn::at([8.5, 100.0, 8.5], ItemStack::new(ItemKind(1), 3, 64));
/// let id = population.spawn(&[apple])?[0];
/// for tick in 0..20 {
///     population.tick(&world, 42, 1);
///     world.begin_tick(tick + 1);
/// }
/// let view = population.view(id).expect("it falls");
/// assert!(view.body.position[1] < 93.0);
/// assert_eq!((view.age, view.pickup_delay), (Some(20), Some(0)));
/// # Ok::<(), voxtick_bodies::SpawnError>(())
/// ```
#[derive(Debug)]
pub struct Population {
    pub(crate) settings: Settings,
    pub(crate) materials: Materials,
    pub(crate) pools: Vec<Pool>,
    pub(crate) pool_of_chunk: FxHashMap<ChunkPos, u32>,
    /// The same in the canonical order.
    pub(crate) ordered: BTreeMap<ChunkPos, u32>,
    pub(crate) places: Places,
    pub(crate) count: usize,
    /// Ticks run so far.
    pub(crate) ticks: u64,
    pub(crate) cursor: ChangeCursor,
    pub(crate) events: Events,
    /// What has come and gone since the ledger was last told.
    pub(crate) ledger: Ledger,
    /// Pools by the tick from which on something in them may vanish. Only the entry that a pool knows of counts.
    pub(crate) due: BinaryHeap<Reverse<(u64, u32)>>,
    /// Pools in which something may find another to merge with.
    pub(crate) mergers: Vec<u32>,
    /// Room for numbers of pools, ascending.
    pub(crate) listed: Vec<u32>,
    pub(crate) scratch: Vec<Mutex<Scratch>>,
    pub(crate) movers: Vec<u32>,
    pub(crate) changed: Vec<(u32, BlockPos)>,
    pub(crate) merging: MergeScratch,
    /// In the canonical order.
    pub(crate) inlets: Inlets,
    pub(crate) reaching: Vec<(u32, BlockPos)>,
    /// What the game had stored of some bodies, by number.
    pub(crate) records: FxHashMap<u32, Arc<[u8]>>,
}

/// Why bodies were not made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no room; the bodies before the first that found none have been made.
    #[error(
        "body {index} of the batch finds no room: {limit}; remove bodies or spread them over more chunks"
    )]
    Full {
        /// Place in the batch.
        index: usize,
        /// Which limit was met.
        limit: &'static str,
    },
}

impl Population {
    /// Bytes that one body takes: its row and its place. Room that columns keep for growth comes on top.
    pub const BODY_BYTES: usize = Columns::ROW_BYTES + Places::BYTES;

    /// No bodies, in a world of these states.
    #[must_use]
    pub fn new(states: &BlockStates, settings: Settings) -> Population {
        Population {
            settings,
            materials: Materials::of_states(states),
            pools: Vec::new(),
            pool_of_chunk: FxHashMap::default(),
            ordered: BTreeMap::new(),
            places: Places::new(),
            count: 0,
            ticks: 0,
            cursor: ChangeCursor::default(),
            events: Events::default(),
            ledger: Ledger::default(),
            due: BinaryHeap::new(),
            mergers: Vec::new(),
            listed: Vec::new(),
            scratch: vec![Mutex::default()],
            movers: Vec::new(),
            changed: Vec::new(),
            merging: MergeScratch::default(),
            inlets: Inlets::default(),
            reaching: Vec::new(),
            records: FxHashMap::default(),
        }
    }

    /// How many bodies there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// How many of them are awake.
    #[must_use]
    pub fn awake_count(&self) -> usize {
        self.pools.iter().map(|pool| pool.awake).sum()
    }

    /// Ticks run so far.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// What happened in the last tick.
    #[must_use]
    pub const fn events(&self) -> &Events {
        &self.events
    }

    /// The table of materials, made from the world's states.
    #[must_use]
    pub const fn materials(&self) -> &Materials {
        &self.materials
    }

    /// Makes bodies, in the order given, and writes their names to `made`.
    ///
    /// Values that no body can have (not a number, far out of the world, far too fast) make a body that is quarantined:
    /// it exists and is never moved.
    ///
    /// # Errors
    /// [`SpawnError::Full`] where a pool or the table of names is full.
    pub fn spawn_into(&mut self, spawns: &[Spawn], made: &mut Vec<BodyId>) -> Result<(), SpawnError> {
        for (index, spawn) in spawns.iter().enumerate() {
            let mut body = Body::new(spawn.position, spawn.velocity);
            let is_sane = is_sane(&body);
            body.flags =
                body.flags.set(Flags::NEVER_DESPAWN, spawn.age.is_none()).set(Flags::QUARANTINED, !is_sane);
            let age = spawn.age.unwrap_or(0);
            let pickup = spawn.pickup_delay.map_or(NEVER_PICK_UP, |delay| {
                (i32::from(delay) + i32::from(age)).clamp(-32_767, 32_767) as i16
            });
            let born = (self.ticks as u32).wrapping_sub(i32::from(age).cast_unsigned());
            let row = Row { body, stack: spawn.stack, pickup, born, number: 0 };
            let id = self.make(row, index, None)?;
            if !is_sane {
                self.events.quarantined.push(id);
            }
            made.push(id);
        }
        Ok(())
    }

    /// Makes bodies and returns their names; see [`Population::spawn_into`].
    ///
    /// # Errors
    /// As there.
    pub fn spawn(&mut self, spawns: &[Spawn]) -> Result<Vec<BodyId>, SpawnError> {
        let mut made = Vec::with_capacity(spawns.len());
        self.spawn_into(spawns, &mut made)?;
        Ok(made)
    }

    /// Takes bodies out; they count as delivered. Returns how many there were: names of nothing are passed over.
    pub fn remove(&mut self, bodies: &[BodyId]) -> usize {
        let mut removed = 0;
        for &id in bodies {
            if self.take(id).is_some() {
                self.ledger.delivered += 1;
                removed += 1;
            }
        }
        removed
    }

    /// All bodies of a chunk: rows in ascending order of number, each as it is now, its clocks as in [`Columns`].
    #[must_use]
    pub fn rows_of_chunk(&self, chunk: ChunkPos) -> Vec<Row> {
        let Some(&pool) = self.pool_of_chunk.get(&chunk) else { return Vec::new() };
        let pool = &self.pools[pool as usize];
        let mut rows: Vec<Row> = (0..pool.rows.len()).map(|row| pool.row_now(row, self.ticks)).collect();
        rows.sort_unstable_by_key(|row| row.number);
        rows
    }

    /// Takes all bodies of a chunk out, to be kept with it: [`Population::rows_of_chunk`]. They count as delivered, and
    /// as created when they are [put back](Population::put_back).
    pub fn take_chunk(&mut self, chunk: ChunkPos) -> Vec<Row> {
        let rows = self.rows_of_chunk(chunk);
        for row in &rows {
            self.take(self.id(row.number));
        }
        self.ledger.delivered += rows.len() as u64;
        rows
    }

    /// Puts rows back that [`Population::take_chunk`] took out when `ticks` ticks had been run; they go on as if no
    /// time had passed, under new names: with their old numbers where those are not in use.
    ///
    /// # Errors
    /// As [`Population::spawn_into`], but then none is put back.
    pub fn put_back(&mut self, rows: &[Row], ticks: u64) -> Result<Vec<BodyId>, SpawnError> {
        let mut made = Vec::with_capacity(rows.len());
        let away = self.ticks.wrapping_sub(ticks);
        for (index, row) in rows.iter().enumerate() {
            let mut row = *row;
            row.born = row.born.wrapping_add(away as u32);
            row.body.flags = row.body.flags.without(Flags::CLEAR);
            let phase_offset = row.body.flags.phase_offset().wrapping_sub(away as u32);
            match self.make(row, index, Some(phase_offset)) {
                Ok(id) => made.push(id),
                Err(error) => {
                    self.ledger.created -= made.len() as u64;
                    for id in made {
                        self.take(id);
                    }
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    /// Gives a row a number and a place. Without a phase of its own it gets one by its number, so that resting bodies
    /// take turns; with one it comes back, and gets its old number if that is free.
    pub(crate) fn make(
        &mut self,
        mut row: Row,
        index: usize,
        phase_offset: Option<u32>,
    ) -> Result<BodyId, SpawnError> {
        let full = |limit| SpawnError::Full { index, limit };
        let pool = self.pool_at(chunk_of(row.body.position)).ok_or(full("1,048,575 chunks with bodies"))?;
        if self.pools[pool as usize].rows.len() >= ROW_LIMIT {
            return Err(full("16,777,216 bodies in one chunk"));
        }
        let number = if phase_offset.is_some() { self.places.claim(row.number) } else { self.places.take() };
        let (number, generation) = number.ok_or(full("4,294,967,295 bodies"))?;
        row.number = number;
        row.body.flags = row.body.flags.with_phase_offset(phase_offset.unwrap_or(number));
        self.add_row(&row, pool);
        self.count += 1;
        self.ledger.created += 1;
        Ok(BodyId { number, generation })
    }

    /// Keeps what the game had stored of a body.
    pub(crate) fn set_record(&mut self, id: BodyId, record: Option<Arc<[u8]>>) {
        if let Some(record) = record {
            self.records.insert(id.number, record);
        }
    }

    /// What is known of a body.
    #[must_use]
    pub fn view(&self, id: BodyId) -> Option<BodyView> {
        let (pool, row) = self.find(id)?;
        Some(self.view_row(&self.pools[pool], row))
    }

    /// All bodies with what is known of each, in ascending order of number.
    pub fn iter(&self) -> impl Iterator<Item = (BodyId, BodyView)> + '_ {
        (0..self.places.bound()).filter_map(|number| {
            let (pool, row) = self.places.find(number)?;
            let id = BodyId { number, generation: self.places.generation(number) };
            Some((id, self.view_row(&self.pools[pool], row)))
        })
    }

    /// Adds to the velocities of bodies, and wakes them. Returns how many there were. A large batch is spread over the
    /// rayon pool that it is called in, if any; a body that is in the batch twice gets both in the order given.
    pub fn push(&mut self, pushes: &[(BodyId, [f64; 3])]) -> usize {
        self.change_velocities(pushes, |old, push| std::array::from_fn(|axis| old[axis] + push[axis]))
    }

    /// Sets the velocities of bodies, and wakes them. Returns how many there were; see [`Population::push`].
    pub fn throw(&mut self, throws: &[(BodyId, [f64; 3])]) -> usize {
        self.change_velocities(throws, |_, throw| throw)
    }

    fn change_velocities(
        &mut self,
        changes: &[(BodyId, [f64; 3])],
        change: impl Fn([f64; 3], [f64; 3]) -> [f64; 3] + Sync,
    ) -> usize {
        let mut found = 0;
        self.listed.clear();
        for (place, &(id, _)) in changes.iter().enumerate() {
            if let Some((pool, _)) = self.find(id) {
                let thrown = &mut self.pools[pool].thrown;
                if thrown.is_empty() {
                    self.listed.push(pool as u32);
                }
                thrown.push(place);
                found += 1;
            }
        }
        self.listed.sort_unstable();
        let (places, ticks) = (&self.places, self.ticks);
        let throw = |number, pool: &mut Pool| {
            let mut thrown = std::mem::take(&mut pool.thrown);
            for place in thrown.drain(..) {
                let (id, by) = changes[place];
                let row_of = |id: BodyId| places.find(id.number).map(|(_, row)| row);
                if let Some(row) = row_of(id) {
                    pool.wake(row, number, places, ticks);
                }
                if let Some(row) = row_of(id) {
                    pool.rows.change_velocity(row, |old| change(old, by));
                }
            }
            pool.thrown = thrown;
        };
        // What a pool has to do touches nothing of another. Outside of any pool of threads, none is to be started.
        if found >= PARALLEL && rayon::current_thread_index().is_some() {
            spread(&mut self.pools, 0, &self.listed, &throw, &|(), ()| ());
        } else {
            self.listed.iter().for_each(|&number| throw(number, &mut self.pools[number as usize]));
        }
        found
    }

    /// Enters what has come and gone since the last call in `ledger`.
    pub fn settle_ledger(&mut self, ledger: &mut Ledger) {
        let news = std::mem::take(&mut self.ledger);
        ledger.created += news.created;
        ledger.delivered += news.delivered;
        ledger.spilled += news.spilled;
        ledger.merged += news.merged;
        ledger.despawned += news.despawned;
    }

    pub(crate) fn find(&self, id: BodyId) -> Option<(usize, usize)> {
        (self.places.generation(id.number) == id.generation).then(|| self.places.find(id.number))?
    }

    pub(crate) fn id(&self, number: u32) -> BodyId {
        BodyId { number, generation: self.places.generation(number) }
    }

    /// Takes a body out; whoever calls enters it in the ledger.
    pub(crate) fn take(&mut self, id: BodyId) -> Option<Row> {
        let (pool, row) = self.find(id)?;
        let removed = self.pools[pool].remove(row, pool as u32, &self.places, self.ticks);
        self.places.give_back(id.number);
        self.records.remove(&id.number);
        self.count -= 1;
        Some(removed)
    }

    pub(crate) fn add_row(&mut self, row: &Row, pool: u32) {
        self.pools[pool as usize].take_over(row, pool, &self.places, self.ticks);
        self.list_due(pool);
    }

    /// Writes the pools that have awake rows to `restless`, ascending, and forgets them.
    pub(crate) fn take_restless(&self, restless: &mut Vec<u32>) {
        restless.clear();
        restless.extend(self.places.restless.drain().filter(|&pool| self.pools[pool as usize].awake > 0));
    }

    /// The pool of a chunk; made if there is none.
    pub(crate) fn pool_at(&mut self, chunk: ChunkPos) -> Option<u32> {
        if let Some(&pool) = self.pool_of_chunk.get(&chunk) {
            return Some(pool);
        }
        if self.pools.len() >= POOL_LIMIT {
            return None;
        }
        let pool = self.pools.len() as u32;
        self.pools.push(Pool::new(chunk));
        self.pool_of_chunk.insert(chunk, pool);
        self.ordered.insert(chunk, pool);
        Some(pool)
    }

    fn view_row(&self, pool: &Pool, row: usize) -> BodyView {
        let now = pool.row_now(row, self.ticks);
        let age = (self.ticks as u32).wrapping_sub(now.born).cast_signed();
        BodyView {
            body: now.body,
            stack: now.stack,
            pickup_delay: (now.pickup != NEVER_PICK_UP)
                .then(|| (i32::from(now.pickup) - age).clamp(0, i32::from(u16::MAX)) as u16),
            age: (!now.body.flags.has(Flags::NEVER_DESPAWN)).then_some(age),
            sleeps: pool.rows.flags[row].has(Flags::SLEEPS),
        }
    }
}

pub(crate) fn chunk_of(position: [f64; 3]) -> ChunkPos {
    ChunkPos::new(floor(position[0]) >> 4, floor(position[2]) >> 4)
}
