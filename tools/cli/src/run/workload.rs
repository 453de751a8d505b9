//! What a scenario puts into its world: pipes with items, dropped items, and blocks that change.

mod edits;
mod items;
mod pipes;

use voxtick::engine::{BuildError, Plugin, Setup};
use voxtick::transit::TransitPlugin;
use voxtick::worlds::World;

use super::scenario::Scenario;
use edits::Edits;
use items::Items;

/// The transit stage with the pipes that a scenario asks for.
pub(super) fn transit(scenario: &Scenario, world: &World) -> Result<TransitPlugin, String> {
    pipes::transit(&scenario.pipes, world)
}

/// What a scenario does to its world besides, as a plugin; add it last.
pub(super) struct Workload {
    edits: Edits,
    items: Items,
}

impl Workload {
    /// Lays out what the scenario asks for in this world.
    pub(super) fn prepare(scenario: &Scenario, world: &World) -> Result<Workload, String> {
        Ok(Workload {
            edits: Edits::new(&scenario.edits, scenario.seed, world)?,
            items: Items::new(&scenario.items, scenario.seed, world),
        })
    }
}

impl Plugin for Workload {
    fn name(&self) -> &'static str {
        "workload"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        self.edits.add_to(setup);
        self.items.add_to(setup)
    }
}
