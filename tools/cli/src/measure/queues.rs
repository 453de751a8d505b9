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

/// The sample at a fraction of the way through all of them in order; 0.5 is the median.
fn quantile<T: Ord + Copy>(samples: &mut [T], fraction: f64) -> T {
    samples.sort_unstable();
    samples[((samples.len() - 1) as f64 * fraction).round() as usize]
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

    #[test]
    fn a_quantile_is_one_of_the_samples() {
        assert_eq!(quantile(&mut [5, 1, 3], 0.5), 3);
        assert_eq!(quantile(&mut [5, 1, 3], 0.99), 5);
    }
}
