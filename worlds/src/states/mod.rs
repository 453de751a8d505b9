//! The block state table: every state of the game with its name, its properties and the facts that stages need.
//!
//! A [`StateId`] is a small number; everything known about it is looked up in [`BlockStates`], which is shared as an
//! `Arc` and never changes under a reader. The states of the game version that the shipped table describes have the
//! ids that the game itself gives them. States that the table does not know (of a mod, or of a later version) get ids
//! above those when they are first met, keep their exact name and properties, and behave like a known state.
//!
//! Ids of unknown states depend on the order in which they were met, so no result may depend on them:
//! [`BlockStates::stable_hash`] is made from the name and the properties alone and is what state hashes use.

mod collision;
mod faces;
mod facts;
mod fluid;
mod names;
mod renames;
mod table;
mod text;
mod unknown;

pub use collision::CollisionBox;
pub use faces::{FaceMask, FaceMaskId};
pub use facts::MotionClass;
pub use fluid::Fluid;
pub use names::Properties;
pub use text::ParseStateError;
pub use unknown::{ResolveStateError, UnknownFactsError};

use crate::Direction;
use faces::FaceMasks;
use facts::FactRow;
use names::Names;
use std::ops::Range;
use std::sync::Arc;
use unknown::UnknownStates;

/// The number of a block state within a [`BlockStates`] table.
///
/// Known states have the game's own ids (Minecraft Java 26.1: 0 to 29,872).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StateId(pub u32);

impl StateId {
    /// `minecraft:air`.
    pub const AIR: StateId = StateId(0);
}

/// All block states: names, properties and facts.
///
/// Look-ups of known states are plain array reads: they take no lock and allocate nothing. Every method is defined
/// for every id: an id that was never handed out has the facts of the behaviour of unknown states.
///
/// ```
/// use voxtick_worlds::{BlockStates, Direction, MotionClass};
/// let states = BlockStates::load();
/// let slab = states.parse("minecraft:oak_slab[type=top]")?;
/// assert_eq!(states.print(slab), "minecraft:oak_slab[type=top,waterlogged=false]");
/// assert_eq!(states.motion(slab), MotionClass::Special);
/// assert!(states.face_mask(slab, Direction::Up).is_some());
/// assert!(states.face_mask(slab, Direction::Down).is_none());
/// let torch = states.parse("torch")?;
/// assert_eq!(states.emission(torch), 14);
/// # Ok::<(), voxtick_worlds::ParseStateError>(())
/// ```
pub struct BlockStates {
    version: Box<str>,
    names: Names,
    /// Row of facts of each known state.
    row_of_state: Box<[u16]>,
    rows: Box<[FactRow]>,
    masks: FaceMasks,
    boxes: Box<[CollisionBox]>,
    stable_hashes: Box<[u64]>,
    unknown: UnknownStates,
}

impl BlockStates {
    /// Decodes the table that ships with this crate.
    ///
    /// Takes a few milliseconds at most; do it once and share the result. Two tables share nothing, so two
    /// simulations in one process may know different unknown states.
    #[must_use]
    pub fn load() -> Arc<BlockStates> {
        let states =
            table::decode(table::SHIPPED).expect("the shipped table is checked by the tests of this crate");
        Arc::new(states)
    }

    /// States known so far: those of the table and the unknown ones met at run time.
    #[must_use]
    pub fn count(&self) -> usize {
        self.known_count() + self.unknown.count()
    }

    /// States of the shipped table; ids below this are known, ids from here on are not.
    #[must_use]
    pub fn known_count(&self) -> usize {
        self.row_of_state.len()
    }

    /// The game version that the table describes, such as `26.1`.
    #[must_use]
    pub fn minecraft_version(&self) -> &str {
        &self.version
    }

    // ---- names ----

    /// The full name of a state's block, such as `minecraft:stone`.
    #[must_use]
    pub fn name(&self, id: StateId) -> &str {
        match self.names.name(id) {
            Some(name) => name,
            None => self.unknown.name(self.unknown_index(id)),
        }
    }

    /// The properties of a state in the game's order (unknown states: in the order in which they came).
    pub fn properties(&self, id: StateId) -> Properties<'_> {
        match self.names.properties(id) {
            Some(properties) => properties,
            None => self.unknown.properties(self.unknown_index(id)),
        }
    }

    /// The value of one property, `None` if the state has no such property.
    ///
    /// ```
    /// # let states = voxtick_worlds::BlockStates::load();
    /// let stairs = states.parse("oak_stairs[facing=east]")?;
    /// assert_eq!(states.property(stairs, "half"), Some("bottom"));
    /// # Ok::<(), voxtick_worlds::ParseStateError>(())
    /// ```
    #[must_use]
    pub fn property(&self, id: StateId, name: &str) -> Option<&str> {
        self.properties(id).find(|(property, _)| *property == name).map(|(_, value)| value)
    }

    /// The state that differs from `id` in one property; `None` if a known state has no such property or value.
    #[must_use]
    pub fn with_property(&self, id: StateId, name: &str, value: &str) -> Option<StateId> {
        self.names.with_property(id, name, value)
    }

    /// The state of a block with these properties, if the table knows it or it was met before.
    ///
    /// Properties may come in any order; missing ones take the value of the block's default state. The namespace
    /// `minecraft:` may be left out. Names and values of earlier game versions (1.13 onward) are understood, see
    /// [`BlockStates::resolve`]. Allocates nothing.
    #[must_use]
    pub fn lookup(&self, name: &str, properties: &[(&str, &str)]) -> Option<StateId> {
        self.names.lookup(name, properties).or_else(|| {
            let index = self.unknown.find(name, properties)?;
            Some(StateId(self.known_count() as u32 + index))
        })
    }

    /// As [`BlockStates::lookup`], but a state that is not known yet gets an id of its own.
    ///
    /// It keeps its exact name and properties. It behaves like its block's default state if only a property or value
    /// is new; otherwise like a full opaque cube without emission (`minecraft:stone`), which
    /// [`BlockStates::set_unknown_facts`] and [`BlockStates::set_unknown_default`] change.
    ///
    /// Old names (Minecraft Java 1.13 onward): `grass` is `short_grass`, `grass_path` is `dirt_path`, `sign` and
    /// `wall_sign` are those of oak, `chain` is `iron_chain`, a `cauldron` with a `level` above 0 is a
    /// `water_cauldron`, the `facing` of a `jigsaw` is an `orientation`, and the `true` and `false` of walls are `low`
    /// and `none`.
    ///
    /// # Errors
    /// If the table holds as many unknown states, or as much text of them, as it is allowed to.
    pub fn resolve(&self, name: &str, properties: &[(&str, &str)]) -> Result<StateId, ResolveStateError> {
        if let Some(id) = self.lookup(name, properties) {
            return Ok(id);
        }
        let like = self.default_state(name);
        let index = self.unknown.insert(name, properties, like)?;
        Ok(StateId(self.known_count() as u32 + index))
    }

    /// The default state of a known block.
    #[must_use]
    pub fn default_state(&self, name: &str) -> Option<StateId> {
        self.names.lookup(name, &[])
    }

    /// The ids of all states of a known block.
    #[must_use]
    pub fn states_of(&self, name: &str) -> Option<Range<u32>> {
        self.names.states_of(name)
    }

    /// Lets an unknown state have the facts of a known one; for states of mods whose behaviour the caller knows.
    ///
    /// Do it before the state is used: what was derived from the old facts (light, masks of sections) stays.
    ///
    /// ```
    /// # let states = voxtick_worlds::BlockStates::load();
    /// let lamp = states.resolve("somemod:lamp", &[("lit", "true")])?;
    /// assert_eq!(states.emission(lamp), 0);
    /// states.set_unknown_facts(lamp, states.default_state("glowstone").expect("a known block"))?;
    /// assert_eq!(states.emission(lamp), 15);
    /// assert_eq!(states.print(lamp), "somemod:lamp[lit=true]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `id` is no unknown state, or `like` is no known one.
    pub fn set_unknown_facts(&self, id: StateId, like: StateId) -> Result<(), UnknownFactsError> {
        self.check_known(like)?;
        match (id.0 as usize).checked_sub(self.known_count()) {
            Some(index) => self.unknown.set_like(index, like),
            None => Err(UnknownFactsError::NotUnknown { id }),
        }
    }

    /// Chooses the known state whose facts states of unknown blocks get from now on. Defaults to `minecraft:stone`.
    ///
    /// # Errors
    /// If `like` is no known state.
    pub fn set_unknown_default(&self, like: StateId) -> Result<(), UnknownFactsError> {
        self.check_known(like)?;
        self.unknown.set_default_like(like);
        Ok(())
    }

    // ---- facts ----

    /// Light that the state gives off, 0 to 15.
    #[must_use]
    pub fn emission(&self, id: StateId) -> u8 {
        self.facts(id).emission
    }

    /// Light that the state takes away, 0 to 15; a step into any cell costs at least 1.
    #[must_use]
    pub fn dampening(&self, id: StateId) -> u8 {
        self.facts(id).dampening
    }

    /// Whether sky light of 15 falls through the state undimmed.
    #[must_use]
    pub fn sky_down(&self, id: StateId) -> bool {
        self.facts(id).has(FactRow::SKY_DOWN)
    }

    /// Whether the state can hide what lies behind it, for the game's rendering and placement rules.
    #[must_use]
    pub fn can_occlude(&self, id: StateId) -> bool {
        self.facts(id).has(FactRow::CAN_OCCLUDE)
    }

    /// Whether the state's face masks take part in light; where not, its masks here are empty.
    #[must_use]
    pub fn shape_occludes(&self, id: StateId) -> bool {
        self.facts(id).has(FactRow::SHAPE_OCCLUDES)
    }

    /// The part of a face that stops light, `None` where none of it does.
    #[must_use]
    pub fn face_mask(&self, id: StateId, direction: Direction) -> Option<FaceMaskId> {
        FaceMaskId::non_empty(self.facts(id).faces[direction.index()])
    }

    /// All face masks of the table; index 0 is the empty one.
    #[must_use]
    pub fn face_masks(&self) -> &[FaceMask] {
        self.masks.all()
    }

    /// Face mask indices of a state in the order of [`Direction::ALL`]; 0 where the mask is empty.
    #[must_use]
    pub fn faces(&self, id: StateId) -> [u8; 6] {
        self.facts(id).faces
    }

    /// Whether two face masks that meet cover the whole face between two cells, so that no light passes.
    ///
    /// A read of a table made once. Indices outside the table count as empty.
    #[must_use]
    pub fn faces_cover(&self, a: u8, b: u8) -> bool {
        self.masks.cover(a, b)
    }

    /// Whether the state is one of the game's three kinds of air.
    #[must_use]
    pub fn is_air(&self, id: StateId) -> bool {
        self.facts(id).has(FactRow::AIR)
    }

    /// Whether the state's collision is exactly the unit cube.
    #[must_use]
    pub fn is_full_cube(&self, id: StateId) -> bool {
        matches!(self.collision_boxes(id), [only] if only.is_unit_cube())
    }

    /// What bodies collide with, relative to the cell's lowest corner; may reach beyond the cell (fences: y = 1.5).
    #[must_use]
    pub fn collision_boxes(&self, id: StateId) -> &[CollisionBox] {
        let row = self.facts(id);
        &self.boxes[row.boxes_start as usize..row.boxes_end as usize]
    }

    /// Slipperiness of the block for what stands on it; 0.6 for most.
    #[must_use]
    pub fn friction(&self, id: StateId) -> f32 {
        self.facts(id).friction
    }

    /// Factor on the horizontal speed of what stands on or in the block; 1 for most.
    #[must_use]
    pub fn speed_factor(&self, id: StateId) -> f32 {
        self.facts(id).speed_factor
    }

    /// The fluid in the state's cell; waterlogged states and water plants hold a source of water.
    #[must_use]
    pub fn fluid(&self, id: StateId) -> Fluid {
        self.facts(id).fluid
    }

    /// What a moving body has to know of the state at least.
    #[must_use]
    pub fn motion(&self, id: StateId) -> MotionClass {
        self.facts(id).motion
    }

    /// Whether the state stops motion in the sense of the game's heightmaps, which is a rule of its own and not the
    /// question whether it has collision boxes.
    #[must_use]
    pub fn blocks_motion(&self, id: StateId) -> bool {
        self.facts(id).has(FactRow::BLOCKS_MOTION)
    }

    /// Whether the state is a tree's leaves, which one of the heightmaps leaves out.
    #[must_use]
    pub fn is_leaves(&self, id: StateId) -> bool {
        self.facts(id).has(FactRow::LEAVES)
    }

    /// A hash of the state's name and properties: the same in every process and every game version, whatever the id.
    #[must_use]
    pub fn stable_hash(&self, id: StateId) -> u64 {
        match self.stable_hashes.get(id.0 as usize) {
            Some(hash) => *hash,
            None => self.unknown.stable_hash(self.unknown_index(id)),
        }
    }

    fn facts(&self, id: StateId) -> &FactRow {
        let row = match self.row_of_state.get(id.0 as usize) {
            Some(row) => *row,
            None => self.row_of_state[self.unknown.like(self.unknown_index(id)).0 as usize],
        };
        &self.rows[row as usize]
    }

    /// Index among the unknown states; `id` must not be known.
    fn unknown_index(&self, id: StateId) -> usize {
        id.0 as usize - self.known_count()
    }

    fn check_known(&self, like: StateId) -> Result<(), UnknownFactsError> {
        if (like.0 as usize) < self.known_count() {
            Ok(())
        } else {
            Err(UnknownFactsError::NotKnown { id: like })
        }
    }
}

impl std::fmt::Debug for BlockStates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockStates")
            .field("minecraft_version", &self.version)
            .field("known", &self.known_count())
            .field("unknown", &self.unknown.count())
            .finish()
    }
}

#[cfg(test)]
mod tests;
