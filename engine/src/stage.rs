//! Stages: what a plugin asks for, and the order that results.

use crate::error::BuildError;

/// A named, timed step of the tick, placed before or after others.
///
/// Stages run one after the other on the tick's thread, the systems of a stage in the order in
/// which they were added. Where several orders fit the anchors, stages stand as they were added. A
/// stage without systems is neither run nor shown; it still serves as an anchor.
///
/// ```
/// use voxtick_engine::Stage;
///
/// let light = Stage::new("light").after("bodies").before("storage");
/// assert_eq!(light.name(), "light");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    name: &'static str,
    anchors: Vec<Anchor>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Before(&'static str),
    After(&'static str),
}

impl Stage {
    /// A stage that may stand anywhere. The name appears in reports, files and errors; it must be
    /// unique.
    pub fn new(name: &'static str) -> Stage {
        Stage { name, anchors: Vec::new() }
    }

    /// Runs this stage before that one. The other may be added later, but it must exist when the
    /// simulation is built.
    #[must_use]
    pub fn before(mut self, stage: &'static str) -> Stage {
        self.anchors.push(Anchor::Before(stage));
        self
    }

    /// Runs this stage after that one. The other may be added later, but it must exist when the
    /// simulation is built.
    #[must_use]
    pub fn after(mut self, stage: &'static str) -> Stage {
        self.anchors.push(Anchor::After(stage));
        self
    }

    /// The stage's name.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// A stage and the plugin that added it.
#[derive(Debug)]
pub(crate) struct PlacedStage {
    pub(crate) stage: Stage,
    pub(crate) plugin: &'static str,
}

/// The order in which the stages run, as indices into `stages`: a topological sort whose ties go to
/// the stage that was added first.
pub(crate) fn order(stages: &[PlacedStage]) -> Result<Vec<usize>, BuildError> {
    refuse_duplicates(stages)?;
    let mut predecessors = predecessors(stages)?;

    let mut order = Vec::with_capacity(stages.len());
    let mut waiting: Vec<usize> = (0..stages.len()).collect();
    while !waiting.is_empty() {
        let Some(at) = waiting.iter().position(|&stage| predecessors[stage].is_empty()) else {
            let names =
                cycle(waiting[0], &predecessors).iter().map(|&index| stages[index].stage.name).collect();
            return Err(BuildError::StageCycle { stages: names });
        };
        let next = waiting.remove(at);
        predecessors.iter_mut().for_each(|before| before.retain(|&stage| stage != next));
        order.push(next);
    }
    Ok(order)
}

fn refuse_duplicates(stages: &[PlacedStage]) -> Result<(), BuildError> {
    for (index, second) in stages.iter().enumerate() {
        if let Some(first) = stages[..index].iter().find(|first| first.stage.name == second.stage.name) {
            return Err(BuildError::DuplicateStage {
                stage: second.stage.name,
                first_plugin: first.plugin,
                second_plugin: second.plugin,
            });
        }
    }
    Ok(())
}

/// For each stage, those that must run before it.
fn predecessors(stages: &[PlacedStage]) -> Result<Vec<Vec<usize>>, BuildError> {
    let mut predecessors = vec![Vec::new(); stages.len()];
    for (index, PlacedStage { stage, plugin }) in stages.iter().enumerate() {
        for anchor in &stage.anchors {
            let (Anchor::Before(name) | Anchor::After(name)) = *anchor;
            let Some(other) = stages.iter().position(|other| other.stage.name == name) else {
                return Err(BuildError::UnknownAnchor {
                    stage: stage.name,
                    anchor: name,
                    plugin,
                    known: names(stages),
                });
            };
            match anchor {
                Anchor::Before(_) => predecessors[other].push(index),
                Anchor::After(_) => predecessors[index].push(other),
            }
        }
    }
    Ok(predecessors)
}

/// A cycle that `start` leads into, each stage running after the next one named. Every stage left
/// waiting has a predecessor left waiting, so following them must come round.
fn cycle(start: usize, predecessors: &[Vec<usize>]) -> Vec<usize> {
    let mut path = vec![start];
    loop {
        let next = predecessors[path[path.len() - 1]][0];
        if let Some(at) = path.iter().position(|&stage| stage == next) {
            return path.split_off(at);
        }
        path.push(next);
    }
}

pub(crate) fn names(stages: &[PlacedStage]) -> Vec<&'static str> {
    stages.iter().map(|placed| placed.stage.name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn placed(stages: impl IntoIterator<Item = Stage>) -> Vec<PlacedStage> {
        stages.into_iter().map(|stage| PlacedStage { stage, plugin: "test" }).collect()
    }

    fn ordered(stages: impl IntoIterator<Item = Stage>) -> Result<Vec<&'static str>, BuildError> {
        let stages = placed(stages);
        Ok(order(&stages)?.into_iter().map(|index| stages[index].stage.name).collect())
    }

    #[test]
    fn stages_without_anchors_stand_as_they_were_added() {
        assert_eq!(ordered(["c", "a", "b"].map(Stage::new)).unwrap(), ["c", "a", "b"]);
    }

    #[test]
    fn an_anchor_may_name_a_stage_added_later() {
        let stages = [
            Stage::new("light").after("bodies"),
            Stage::new("intake").before("bodies"),
            Stage::new("bodies"),
        ];
        assert_eq!(ordered(stages).unwrap(), ["intake", "bodies", "light"]);
    }

    #[test]
    fn an_unknown_anchor_is_named_with_the_stage_that_asked_for_it() {
        let error =
            ordered([Stage::new("light").after("bodis"), Stage::new("bodies")]).unwrap_err().to_string();
        assert!(
            error.contains("`light`") && error.contains("`bodis`") && error.contains("`bodies`"),
            "{error}"
        );
    }

    #[test]
    fn a_cycle_is_named_without_the_stages_that_only_lead_into_it() {
        let stages = [
            Stage::new("outside").after("a"),
            Stage::new("a").after("b"),
            Stage::new("b").after("a"),
            Stage::new("c"),
        ];
        match ordered(stages).unwrap_err() {
            BuildError::StageCycle { stages } => assert_eq!(stages, ["a", "b"]),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_stage_after_itself_is_a_cycle_of_one() {
        match ordered([Stage::new("a").after("a")]).unwrap_err() {
            BuildError::StageCycle { stages } => assert_eq!(stages, ["a"]),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_duplicate_names_both_plugins() {
        let stages = [
            PlacedStage { stage: Stage::new("light"), plugin: "first" },
            PlacedStage { stage: Stage::new("light"), plugin: "second" },
        ];
        let error = order(&stages).unwrap_err().to_string();
        assert!(
            error.contains("`light`") && error.contains("`first`") && error.contains("`second`"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn every_anchor_holds_in_the_resulting_order(
            anchors in prop::collection::vec((0_usize..8, 0_usize..8), 0..14)
        ) {
            const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let mut stages = NAMES.map(Stage::new);
            for &(one, other) in anchors.iter().filter(|(one, other)| one < other) {
                // Half of the anchors are written from the other end.
                if (one + other) % 2 == 0 {
                    stages[one] = stages[one].clone().before(NAMES[other]);
                } else {
                    stages[other] = stages[other].clone().after(NAMES[one]);
                }
            }
            stages.reverse();
            let order = ordered(stages).unwrap();
            let position = |name| order.iter().position(|stage| *stage == name).unwrap();
            for (one, other) in anchors.into_iter().filter(|(one, other)| one < other) {
                prop_assert!(position(NAMES[one]) < position(NAMES[other]));
            }
        }
    }
}
