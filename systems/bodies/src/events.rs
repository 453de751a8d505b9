//! What happened to bodies in one tick, a kind a column, each in ascending order of number.

use rayon::prelude::*;

use crate::inlets::Entered;
use crate::population::BodyId;

/// What happened in a tick. Emptied when the next begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// Bodies that have come to stand on the ground.
    pub landed: Vec<BodyId>,
    /// Bodies that are gone into another, and that other, in the order in which it happened.
    pub merged: Vec<(BodyId, BodyId)>,
    /// Bodies that have vanished with age or fallen out of the world.
    pub despawned: Vec<BodyId>,
    /// Bodies that went into an inlet.
    pub entered: Vec<Entered>,
    /// Bodies whose values were refused: they stay where they are. Each is told of once.
    pub quarantined: Vec<BodyId>,
}

impl Events {
    pub(crate) fn clear(&mut self) {
        self.landed.clear();
        self.merged.clear();
        self.despawned.clear();
        self.entered.clear();
        self.quarantined.clear();
    }

    pub(crate) fn sort(&mut self) {
        self.landed.par_sort_unstable();
        self.despawned.sort_unstable();
        self.quarantined.sort_unstable();
    }
}
