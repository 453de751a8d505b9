//! States that the table does not know: they get ids at run time and keep their exact name and properties.
//!
//! The list only grows and its entries never move, so a name handed out stays valid and facts are read without a
//! lock. Finding an entry by name takes a shared lock, inserting one an exclusive lock.

use super::StateId;
use super::names::{Properties, stable_hash};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Most unknown states that one table holds.
const STATE_LIMIT: usize = 1 << 20;
/// Most bytes of names and properties of unknown states that one table holds.
const TEXT_LIMIT: usize = 64 << 20;

/// Why a state got no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveStateError {
    /// The table holds as many unknown states as it may.
    #[error("{name}: the table already holds {limit} unknown block states; the source is damaged or hostile")]
    TooManyStates {
        /// The block that found no place.
        name: String,
        /// States that a table may hold.
        limit: usize,
    },
    /// The names and properties of unknown states take as much memory as they may.
    #[error(
        "a block state of {length} bytes: unknown block states may take {limit} bytes of text in all; the source is damaged or hostile"
    )]
    TooMuchText {
        /// Bytes of the state's name and properties.
        length: usize,
        /// Bytes that a table may hold.
        limit: usize,
    },
}

/// Why the facts of an unknown state could not be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownFactsError {
    /// Only unknown states can be given facts.
    #[error("state {} is no unknown state; facts of known states are fixed", id.0)]
    NotUnknown {
        /// The state whose facts were to change.
        id: StateId,
    },
    /// Facts are taken from known states only.
    #[error("state {} is not known; name a state of the table to take facts from", id.0)]
    NotKnown {
        /// The state whose facts were to be taken.
        id: StateId,
    },
}

struct UnknownState {
    name: Box<str>,
    properties: Box<[(Box<str>, Box<str>)]>,
    stable_hash: u64,
    /// The known state whose facts it has.
    like: AtomicU32,
}

#[derive(Default)]
struct Index {
    /// Entries by stable hash; more than one only where hashes collide.
    by_hash: FxHashMap<u64, Vec<u32>>,
    text_bytes: usize,
}

/// The unknown states of one table.
pub(super) struct UnknownStates {
    states: boxcar::Vec<UnknownState>,
    index: RwLock<Index>,
    default_like: AtomicU32,
}

impl UnknownStates {
    pub(super) fn new(default_like: StateId) -> UnknownStates {
        UnknownStates {
            states: boxcar::Vec::new(),
            index: RwLock::new(Index::default()),
            default_like: AtomicU32::new(default_like.0),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.states.count()
    }

    pub(super) fn name(&self, index: usize) -> &str {
        self.states.get(index).map_or("voxtick:unregistered", |state| &state.name)
    }

    pub(super) fn properties(&self, index: usize) -> Properties<'_> {
        Properties::unknown(self.states.get(index).map_or(&[], |state| &state.properties))
    }

    pub(super) fn stable_hash(&self, index: usize) -> u64 {
        self.states.get(index).map_or(0, |state| state.stable_hash)
    }

    pub(super) fn like(&self, index: usize) -> StateId {
        let like = self.states.get(index).map_or(&self.default_like, |state| &state.like);
        StateId(like.load(Ordering::Relaxed))
    }

    pub(super) fn set_like(&self, index: usize, like: StateId) -> Result<(), UnknownFactsError> {
        match self.states.get(index) {
            Some(state) => {
                state.like.store(like.0, Ordering::Relaxed);
                Ok(())
            }
            None => Err(UnknownFactsError::NotUnknown { id: StateId(u32::MAX) }),
        }
    }

    pub(super) fn set_default_like(&self, like: StateId) {
        self.default_like.store(like.0, Ordering::Relaxed);
    }

    pub(super) fn find(&self, name: &str, properties: &[(&str, &str)]) -> Option<u32> {
        if self.states.count() == 0 {
            return None;
        }
        let hash = stable_hash(name, properties);
        self.find_indexed(&self.read(), name, properties, hash)
    }

    /// Gives the state an id unless it has one. `like` is the known state to behave like, if the block suggests one.
    pub(super) fn insert(
        &self,
        name: &str,
        properties: &[(&str, &str)],
        like: Option<StateId>,
    ) -> Result<u32, ResolveStateError> {
        let hash = stable_hash(name, properties);
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have inserted it since the caller looked.
        if let Some(found) = self.find_indexed(&index, name, properties, hash) {
            return Ok(found);
        }
        if self.states.count() >= STATE_LIMIT {
            return Err(ResolveStateError::TooManyStates { name: name.to_owned(), limit: STATE_LIMIT });
        }
        let length =
            name.len() + properties.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        if index.text_bytes + length > TEXT_LIMIT {
            return Err(ResolveStateError::TooMuchText { length, limit: TEXT_LIMIT });
        }
        index.text_bytes += length;
        let like = like.map_or_else(|| self.default_like.load(Ordering::Relaxed), |like| like.0);
        let place = self.states.push(UnknownState {
            name: name.into(),
            properties: properties.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            stable_hash: hash,
            like: AtomicU32::new(like),
        }) as u32;
        index.by_hash.entry(hash).or_default().push(place);
        Ok(place)
    }

    fn read(&self) -> RwLockReadGuard<'_, Index> {
        // A panic while the lock was held cannot leave the index half changed in a way that matters: entries are
        // pushed last.
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn find_indexed(&self, index: &Index, name: &str, properties: &[(&str, &str)], hash: u64) -> Option<u32> {
        let same = |place: &&u32| {
            self.states.get(**place as usize).is_some_and(|state| {
                *state.name == *name
                    && state.properties.len() == properties.len()
                    && properties.iter().all(|wanted| {
                        state.properties.iter().any(|(name, value)| (&**name, &**value) == *wanted)
                    })
            })
        };
        index.by_hash.get(&hash)?.iter().find(same).copied()
    }
}
