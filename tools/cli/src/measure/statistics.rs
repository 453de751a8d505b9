//! Means with honest bounds, what may be said of two of them, and tails.

use std::time::Duration;

use serde::Serialize;

/// A mean and the half-width of its 99.9 % confidence interval by Student's t. It covers sampling error only: no bias
/// and no other machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    pub(crate) half_width: f64,
}

/// t(0.9995) for 1, 2, ... degrees of freedom; beyond the end the last value is used, which is a little too wide.
const STUDENT_T: [f64; 30] = [
    636.619, 31.599, 12.924, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 4.437, 4.318, 4.221, 4.140,
    4.073, 4.015, 3.965, 3.922, 3.883, 3.850, 3.819, 3.792, 3.768, 3.745, 3.725, 3.707, 3.690, 3.674, 3.659,
    3.646,
];

impl Estimate {
    /// The mean of `samples` and its bounds; of fewer than two samples the bounds are infinite.
    pub(crate) fn of(samples: &[f64]) -> Estimate {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        if samples.len() < 2 {
            return Estimate { mean, half_width: f64::INFINITY };
        }
        let variance =
            samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum::<f64>() / (count - 1.0);
        let t = STUDENT_T[(samples.len() - 2).min(STUDENT_T.len() - 1)];
        Estimate { mean, half_width: t * (variance / count).sqrt() }
    }

    pub(crate) fn low(self) -> f64 {
        self.mean - self.half_width
    }

    pub(crate) fn high(self) -> f64 {
        self.mean + self.half_width
    }

    /// Half-width by mean.
    pub(crate) fn relative(self) -> f64 {
        self.half_width / self.mean
    }
}

/// What may be said of two times and their ratio, tested in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A half-width is at least half its mean: no factor at all.
    Unpredictable,
    /// The intervals touch: no difference is resolvable at this precision.
    NotResolvable,
    /// A factor, to so many decimals.
    Factor { decimals: usize },
}

impl Verdict {
    pub(crate) fn of(ours: Estimate, other: Estimate) -> Verdict {
        let wider = ours.relative().max(other.relative());
        if ours.relative().is_nan() || other.relative().is_nan() || wider >= 0.5 {
            Verdict::Unpredictable
        } else if ours.low() <= other.high() && other.low() <= ours.high() {
            Verdict::NotResolvable
        } else if wider < 0.01 {
            Verdict::Factor { decimals: 3 }
        } else if wider < 0.1 {
            Verdict::Factor { decimals: 2 }
        } else {
            Verdict::Factor { decimals: 1 }
        }
    }
}

/// How long single operations took: a mean hides the slow ones, and those are what a tick waits for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Tail {
    pub(crate) operations: usize,
    pub(crate) p50_ns: f64,
    pub(crate) p99_ns: f64,
    pub(crate) max_ns: f64,
}

impl Tail {
    /// The tail of all operations of a side; `None` where it timed none of them on its own.
    pub(crate) fn of(operations: &mut [Duration]) -> Option<Tail> {
        let max = *operations.iter().max()?;
        let nanoseconds = |time: Duration| time.as_nanos() as f64;
        Some(Tail {
            operations: operations.len(),
            p50_ns: nanoseconds(quantile(operations, 0.5)),
            p99_ns: nanoseconds(quantile(operations, 0.99)),
            max_ns: nanoseconds(max),
        })
    }
}

/// The sample at a fraction of the way through all of them in order; 0.5 is the median.
pub(crate) fn quantile<T: Ord + Copy>(samples: &mut [T], fraction: f64) -> T {
    samples.sort_unstable();
    samples[((samples.len() - 1) as f64 * fraction).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]);
        assert_eq!(estimate.mean, 2.0);
        assert!((estimate.half_width - 31.599 / 3.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!(Estimate::of(&[5.0]).half_width, f64::INFINITY);
    }

    #[test]
    fn noise_earns_no_factor() {
        let exact = |mean, half_width| Estimate { mean, half_width };
        assert_eq!(Verdict::of(exact(1.0, 0.6), exact(9.0, 0.1)), Verdict::Unpredictable);
        assert_eq!(Verdict::of(exact(1.0, f64::NAN), exact(9.0, 0.1)), Verdict::Unpredictable);
        assert_eq!(Verdict::of(exact(1.0, 0.1), exact(1.15, 0.1)), Verdict::NotResolvable);
        assert_eq!(Verdict::of(exact(1.0, 0.2), exact(9.0, 0.1)), Verdict::Factor { decimals: 1 });
        assert_eq!(Verdict::of(exact(1.0, 0.05), exact(9.0, 0.1)), Verdict::Factor { decimals: 2 });
        assert_eq!(Verdict::of(exact(1.0, 0.005), exact(9.0, 0.01)), Verdict::Factor { decimals: 3 });
    }

    #[test]
    fn a_tail_is_of_operations_that_were_timed() {
        let mut times: Vec<Duration> = (1..=200).rev().map(Duration::from_nanos).collect();
        let expected = Tail { operations: 200, p50_ns: 101.0, p99_ns: 198.0, max_ns: 200.0 };
        assert_eq!(Tail::of(&mut times), Some(expected));
        assert_eq!(Tail::of(&mut []), None);
        assert_eq!(quantile(&mut [5, 1, 3], 0.5), 3);
        assert_eq!(quantile(&mut [5, 1, 3], 0.99), 5);
    }
}
