//! What ticks and timings cost by themselves: a tick of stages that do next to nothing, against the same systems run
//! by bare `bevy_ecs` schedules without any timing.

use bevy_ecs::prelude::{Res, ResMut, Resource};
use bevy_ecs::schedule::{Schedule, ScheduleLabel, SingleThreadedExecutor};
use bevy_ecs::world::World;
use voxtick::engine::{BuildError, Meter, Plugin, Setup, Simulation, Stage};

use super::{Case, CaseError, Pair};

/// The cases of this subject. Items are stages: a time an item is the overhead of a stage.
pub(super) fn cases() -> Vec<Case> {
    [1, 10, 50]
        .map(|stages| {
            let sides = ("timed simulation", "bare schedules");
            Case::new(format!("engine/tick/stages={stages}"), sides, stages as u64, move || prepare(stages))
        })
        .into()
}

fn prepare(stages: usize) -> Result<Pair, CaseError> {
    let mut simulation = Simulation::builder()
        .threads(1)
        .plugin(Counting { stages })
        .build()
        .map_err(|error| CaseError::Input(error.to_string()))?;
    let mut bare = World::new();
    bare.insert_resource(Counter(0));
    bare.insert_resource(Meter::detached());
    let mut schedules: Vec<Schedule> = (0..stages)
        .map(|stage| {
            let mut schedule = Schedule::new(BareStage(stage));
            schedule.set_executor(SingleThreadedExecutor::default());
            schedule.add_systems(count);
            schedule
        })
        .collect();
    let mut tick = move || {
        simulation.tick().expect("a stage that only counts");
        simulation.world().resource::<Counter>().0
    };
    let mut run_bare = move || {
        schedules.iter_mut().for_each(|schedule| schedule.run(&mut bare));
        bare.resource::<Counter>().0
    };
    let (ours, other) = (tick(), run_bare());
    if ours != other {
        return Err(CaseError::Unequal { count: 1, first: format!("counter: {ours} against {other}") });
    }
    Ok(Pair::new(
        move || {
            std::hint::black_box(tick());
        },
        move || {
            std::hint::black_box(run_bare());
        },
    ))
}

#[derive(Resource)]
struct Counter(u64);

#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct BareStage(usize);

/// Stages of one system each that counts.
struct Counting {
    stages: usize,
}

impl Plugin for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn build(self: Box<Self>, setup: &mut Setup<'_>) -> Result<(), BuildError> {
        setup.resource(Counter(0));
        for number in 0..self.stages {
            // A stage's name lives as long as the program; these few are the only ones that are made up at run time.
            let name: &'static str = Box::leak(format!("stage {number}").into_boxed_str());
            setup.stage(Stage::new(name)).system(name, count);
        }
        Ok(())
    }
}

fn count(mut counter: ResMut<Counter>, meter: Res<Meter>) {
    counter.0 += 1;
    meter.items(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_builds_and_both_sides_agree() {
        for case in cases() {
            let name = case.name.clone();
            assert!(case.prepare().is_ok(), "{name}");
        }
    }
}
