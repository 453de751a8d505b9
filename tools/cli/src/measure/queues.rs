//! The queues between threads and ticks: hand-off, dirty set, update queue, nearest three.

mod dirty;
mod handoff;
mod latency;
mod nearest;
mod update;

use super::{Case, CaseError};

/// The cases of this subject.
pub(super) fn cases() -> Vec<Case> {
    [handoff::cases(), latency::cases(), update::cases(), dirty::cases(), nearest::cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// Both sides agree on one figure, or no time is taken.
fn agree<T: PartialEq + std::fmt::Debug>(ours: &T, other: &T) -> Result<(), CaseError> {
    if ours == other {
        return Ok(());
    }
    Err(CaseError::Unequal { count: 1, first: format!("{ours:?} against {other:?}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_builds_and_both_sides_agree() {
        for case in cases() {
            let name = case.name.clone();
            if let Err(error) = case.prepare() {
                panic!("{name}: {error}");
            }
        }
    }
}
