//! The measuring itself: both sides in turn, round after round.

use std::time::Duration;

use serde::Serialize;

use super::case::{Case, CaseError};
use super::statistics::{Estimate, Tail, Verdict};

/// A sample shorter than this says more about the clock than about the work.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(4);

/// What one case gave. Serialised as one JSON object a line.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// What ours is.
    pub(crate) a: &'static str,
    /// Nanoseconds of one call of ours, mean over the rounds.
    pub(crate) a_ns: f64,
    /// What the other side is.
    pub(crate) b: &'static str,
    /// Nanoseconds of one call of the other side, mean over the rounds.
    pub(crate) b_ns: f64,
    /// `b_ns / a_ns`, formed round by round; above 1 means that ours is faster.
    pub(crate) ratio: f64,
    /// The bounds of the ratio at 99.9 % confidence.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Items that one call works on.
    pub(crate) items: u64,
    /// How long single operations of ours took, over all rounds, where they are timed one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) a_tail: Option<Tail>,
    /// The same of the other side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) b_tail: Option<Tail>,
    #[serde(skip)]
    pub(crate) verdict: Verdict,
}

/// Checks that both sides agree, then times them in turn for `rounds` rounds.
pub(crate) fn measure(case: Case, rounds: u32) -> Result<Row, CaseError> {
    let (name, a, b, items) = (case.name.clone(), case.ours, case.other, case.items);
    let mut pair = case.prepare()?;
    let ours_calls = pair.ours.calls_for(SHORTEST_SAMPLE);
    let other_calls = pair.other.calls_for(SHORTEST_SAMPLE);
    let (mut ours, mut other, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ours_each, mut other_each) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // A B, B A, A B ...: neither side always runs on what the other left behind.
        let (ours_ns, other_ns) = if round % 2 == 0 {
            let ours_ns = pair.ours.time(ours_calls, &mut ours_each);
            (ours_ns, pair.other.time(other_calls, &mut other_each))
        } else {
            let other_ns = pair.other.time(other_calls, &mut other_each);
            (pair.ours.time(ours_calls, &mut ours_each), other_ns)
        };
        ours.push(ours_ns);
        other.push(other_ns);
        ratios.push(other_ns / ours_ns);
    }
    let (ours, other, ratio) = (Estimate::of(&ours), Estimate::of(&other), Estimate::of(&ratios));
    Ok(Row {
        name,
        a,
        a_ns: ours.mean,
        b,
        b_ns: other.mean,
        ratio: ratio.mean,
        low: ratio.low(),
        high: ratio.high(),
        items,
        a_tail: Tail::of(&mut ours_each),
        b_tail: Tail::of(&mut other_each),
        verdict: Verdict::of(ours, other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Pair;

    #[test]
    fn the_ratio_is_the_other_by_ours() {
        let case = Case::new("test/ratio", ("ours", "other"), 10, || {
            Ok(Pair::self_timed(|| Duration::from_millis(5), || Duration::from_millis(20)))
        });
        let row = measure(case, 4).expect("equal sides");
        assert_eq!((row.ratio, row.low, row.high), (4.0, 4.0, 4.0));
        assert_eq!(row.verdict, Verdict::Factor { decimals: 3 });
        assert_eq!((row.a_tail, row.b_tail), (None, None));
    }

    #[test]
    fn the_tail_is_of_single_operations_over_all_rounds() {
        let case = Case::new("test/tail", ("ours", "other"), 2, || {
            let two = |operations: &mut Vec<Duration>| {
                operations.extend([Duration::from_millis(1), Duration::from_millis(9)]);
            };
            Ok(Pair::each(two, |operations| operations.push(Duration::from_millis(30))))
        });
        let row = measure(case, 5).expect("equal sides");
        let tail = row.a_tail.expect("timed one by one");
        assert_eq!((row.ratio, tail.operations, tail.max_ns), (3.0, 10, 9e6));
    }

    #[test]
    fn sides_that_differ_are_not_timed() {
        let case = Case::new("test/unequal", ("ours", "other"), 1, || {
            Err(CaseError::Unequal { count: 3, first: "cell 7: 4 against 5".into() })
        });
        assert!(matches!(measure(case, 4), Err(CaseError::Unequal { count: 3, .. })));
    }
}
