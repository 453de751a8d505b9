//! Plugins, and what they are handed to set themselves up.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bevy_ecs::message::{Message, Messages};
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleConfigs};
use bevy_ecs::system::{IntoSystem, ScheduleSystem};
use bevy_ecs::world::World;

use crate::error::BuildError;
use crate::stage::{PlacedStage, Stage};
use crate::state_hash::StateHasher;
use crate::timed::{Shared, SystemCells, timed};

/// A part of a simulation: it brings stages, systems, resources and messages.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use voxtick_engine::{BuildError, Meter, Plugin, Setup, Simulation, Stage};
///
/// #[derive(Resource, Default)]
/// struct Heights(Vec<f64>);
///
/// fn fall(mut heights: ResMut<Heights>, meter: Res<Meter>) {
///     heights.0.iter_mut().for_each(|height| *height -= 0.04);
///     meter.items(heights.0.len() as u64);
/// }
///
/// struct Falling;
///
/// impl Plugin for Falling {
///     fn name(&self) -> &'static str {
///         "falling"
///     }
///
///     fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
///         setup
///             .resource(Heights(vec![64.0; 1000]))
///             .stage(Stage::new("falling"))
///             .system("falling", fall)
///             .hash(|world, hasher| hasher.write_f64s(&world.resource::<Heights>().0));
///         Ok(())
///     }
/// }
///
/// let mut simulation = Simulation::builder().plugin(Falling).build()?;
/// assert_eq!(simulation.tick()?.stages[0].items, 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Plugin: Send {
    /// The plugin's name; must be unique in a simulation.
    fn name(&self) -> &'static str;

    /// Adds the plugin's parts; what the plugin owns may move into the world. Plugins are built in the order in which
    /// they were added.
    ///
    /// # Errors
    /// [`BuildError::plugin`] makes an error of the plugin's own reason.
    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError>;
}

/// A name and a function make a plugin too:
///
/// ```
/// # use voxtick_engine::{Setup, Simulation, Stage};
/// let plugin = ("idle", |setup: &mut Setup<'_>| {
///     setup.stage(Stage::new("idle")).system("idle", || {});
///     Ok(())
/// });
/// let mut simulation = Simulation::builder().plugin(plugin).build()?;
/// assert_eq!(simulation.tick()?.stages[0].calls, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<F: FnOnce(&mut Setup<'_>) -> Result<(), BuildError> + Send> Plugin for (&'static str, F) {
    fn name(&self) -> &'static str {
        self.0
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        let (_, build) = *self;
        build(setup)
    }
}

/// What a plugin sets itself up with.
#[derive(Debug)]
pub struct Setup<'a> {
    parts: &'a mut Parts,
    plugin: &'static str,
}

impl Setup<'_> {
    /// Adds a stage. Whether its anchors exist is checked when all plugins are built.
    pub fn stage(&mut self, stage: Stage) -> &mut Self {
        self.parts.stages.push(PlacedStage { stage, plugin: self.plugin });
        self
    }

    /// Adds a system to a stage. The systems of a stage run in the order in which they were added,
    /// each seeing the commands of those before it. Whether the stage exists is checked when all
    /// plugins are built.
    ///
    /// In reports the system has the name of its function; give a closure a name by
    /// [`named_system`](Setup::named_system).
    pub fn system<M, S: IntoSystem<(), (), M> + 'static>(
        &mut self,
        stage: &'static str,
        system: S,
    ) -> &mut Self {
        self.named_system(stage, function_name(std::any::type_name::<S>()), system)
    }

    /// Adds a system to a stage, like [`system`](Setup::system), under a name of its own.
    pub fn named_system<M, S: IntoSystem<(), (), M> + 'static>(
        &mut self,
        stage: &'static str,
        name: &'static str,
        system: S,
    ) -> &mut Self {
        let cells = Arc::new(SystemCells::new(name, self.parts.systems.len()));
        let system = timed(system, cells.clone(), self.parts.shared.clone()).into_configs();
        self.parts.systems.push(PlacedSystem { stage, plugin: self.plugin, cells, system });
        self
    }

    /// Puts a resource into the world, in place of any of the same type.
    pub fn resource<R: Resource>(&mut self, resource: R) -> &mut Self {
        self.parts.world.insert_resource(resource);
        self
    }

    /// The world as the plugins so far have set it up.
    pub fn world(&mut self) -> &mut World {
        &mut self.parts.world
    }

    /// Adds a kind of message. Messages are rotated when a tick begins: what is written in one tick
    /// can be read until the end of the next one. Adding a kind again changes nothing.
    pub fn message<M: Message>(&mut self) -> &mut Self {
        if !self.parts.world.contains_resource::<Messages<M>>() {
            self.parts.world.init_resource::<Messages<M>>();
            self.parts.rotations.push(rotate::<M>);
        }
        self
    }

    /// Contributes to the state hash of a tick: feed every column that a result may depend on, in
    /// an order that does not depend on storage slots. Several contributions of one plugin are fed
    /// to one hasher, in the order added.
    pub fn hash(&mut self, contribution: impl Fn(&World, &mut StateHasher) + Send + 'static) -> &mut Self {
        match self.parts.hashes.iter_mut().find(|hash| hash.plugin == self.plugin) {
            Some(hash) => hash.contributions.push(Box::new(contribution)),
            None => self
                .parts
                .hashes
                .push(PluginHash { plugin: self.plugin, contributions: vec![Box::new(contribution)] }),
        }
        self
    }

    /// How many threads the simulation's [`Pool`](crate::Pool) has.
    pub fn threads(&self) -> usize {
        self.parts.threads
    }

    /// The simulation's [`Seed`](crate::Seed).
    pub fn seed(&self) -> u64 {
        self.parts.seed
    }
}

/// What the plugins of a simulation have added so far.
pub(crate) struct Parts {
    pub(crate) world: World,
    pub(crate) threads: usize,
    pub(crate) seed: u64,
    pub(crate) shared: Arc<Shared>,
    pub(crate) stages: Vec<PlacedStage>,
    pub(crate) systems: Vec<PlacedSystem>,
    pub(crate) rotations: Vec<Rotation>,
    pub(crate) hashes: Vec<PluginHash>,
}

pub(crate) struct PlacedSystem {
    pub(crate) stage: &'static str,
    pub(crate) plugin: &'static str,
    pub(crate) cells: Arc<SystemCells>,
    pub(crate) system: ScheduleConfigs<ScheduleSystem>,
}

pub(crate) type Rotation = fn(&mut World);

/// The contributions of one plugin to the state hash.
pub(crate) struct PluginHash {
    plugin: &'static str,
    contributions: Vec<Contribution>,
}

type Contribution = Box<dyn Fn(&World, &mut StateHasher) + Send>;

impl Parts {
    /// Builds the plugins, in their order.
    pub(crate) fn add(&mut self, plugins: Vec<Box<dyn Plugin>>) -> Result<(), BuildError> {
        let mut names = BTreeSet::new();
        for plugin in plugins {
            if !names.insert(plugin.name()) {
                return Err(BuildError::DuplicatePlugin { plugin: plugin.name() });
            }
            let name = plugin.name();
            plugin.build(&mut Setup { plugin: name, parts: self })?;
        }
        // By name, so that the order in which plugins were added does not show in the hash.
        self.hashes.sort_by_key(|hash| hash.plugin);
        Ok(())
    }
}

impl PluginHash {
    pub(crate) fn plugin(&self) -> &'static str {
        self.plugin
    }

    /// The plugin's part of the state as one number, or the message of a panic.
    pub(crate) fn compute(&self, world: &World) -> Result<u64, String> {
        let hash = || {
            let mut hasher = StateHasher::new();
            self.contributions.iter().for_each(|contribution| contribution(world, &mut hasher));
            hasher.finish()
        };
        catch_unwind(AssertUnwindSafe(hash)).map_err(|panic| crate::error::panic_message(&*panic))
    }
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("stages", &self.stages).finish_non_exhaustive()
    }
}

fn rotate<M: Message>(world: &mut World) {
    if let Some(mut messages) = world.get_resource_mut::<Messages<M>>() {
        messages.update();
    }
}

/// The function's own name out of a type's full name: `relight` of
/// `voxtick_light::plugin::relight<Fast>`.
fn function_name(type_name: &'static str) -> &'static str {
    // What follows a `<` are type arguments, unless a method of a trait starts with it.
    let path = type_name.split('<').next().filter(|path| !path.is_empty()).unwrap_or(type_name);
    let path = path.trim_end_matches("::{{closure}}");
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_named_after_its_function() {
        assert_eq!(function_name("voxtick_light::plugin::relight"), "relight");
        assert_eq!(function_name("a::b::relight<a::c::Fast>"), "relight");
        assert_eq!(function_name("a::Light::build::{{closure}}"), "build");
        assert_eq!(function_name("<a::Fast as a::Flood>::flood"), "flood");
        assert_eq!(function_name("plain"), "plain");
    }
}
