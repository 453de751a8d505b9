//! How fast ticks follow each other, and what becomes of ticks that come late.
//!
//! The pace decides only WHEN a tick starts. Ticks are numbered without gaps whatever happens, so
//! that no result depends on it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::clock::Clock;
use crate::error::BuildError;

/// How fast ticks follow each other. Defaults to [`Rate::Sprint`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Rate {
    /// Each tick starts when the last one has ended.
    #[default]
    Sprint,
    /// Ticks start at a steady pace.
    Fixed {
        /// How many ticks start in a second: above 0, up to 1,000,000.
        ticks_per_second: f64,
        /// What becomes of ticks that come late.
        missed: MissedTicks,
    },
}

/// What becomes of start times that went by while an earlier tick still ran.
///
/// Either way the simulation itself sees no difference: the ticks that run are numbered without
/// gaps, and what is given up are times to start one, counted in
/// [`TickReport::missed`](crate::TickReport::missed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MissedTicks {
    /// Runs late ticks without a pause until the pace is met again. Of a longer delay, only the
    /// latest `limit` ticks are made up for; the older ones are given up, so that a long halt is
    /// not followed by a long rush.
    CatchUp {
        /// How many ticks may be made up for.
        limit: u32,
    },
    /// Makes up for nothing: the late tick runs at once, the next one at the next regular time.
    Skip,
}

impl Default for MissedTicks {
    /// Catches up on at most 5 ticks.
    fn default() -> Self {
        MissedTicks::CatchUp { limit: 5 }
    }
}

impl Rate {
    /// 20 ticks a second, catching up on at most 5 ticks.
    pub const TWENTY: Rate =
        Rate::Fixed { ticks_per_second: 20.0, missed: MissedTicks::CatchUp { limit: 5 } };

    /// The length of a tick: the time from one start to the next at a fixed rate, and the nominal
    /// 50 ms that budgets are measured by in a sprint.
    pub fn tick_length(self) -> Duration {
        match self {
            Rate::Sprint => Duration::from_millis(50),
            Rate::Fixed { ticks_per_second, .. } => Duration::try_from_secs_f64(1.0 / ticks_per_second)
                .unwrap_or(Duration::MAX)
                .max(Duration::from_nanos(1)),
        }
    }

    pub(crate) fn check(self) -> Result<(), BuildError> {
        match self {
            Rate::Fixed { ticks_per_second, .. } if !(ticks_per_second > 0.0 && ticks_per_second <= 1e6) => {
                Err(BuildError::Rate { ticks_per_second })
            }
            _ => Ok(()),
        }
    }
}

/// Waits for the time to start the next tick.
#[derive(Debug)]
pub(crate) struct Pace {
    /// None in a sprint.
    fixed: Option<(u64, MissedTicks)>,
    /// When the next tick is due; unknown before the first one.
    due: Option<u64>,
}

/// The longest sleep before the stop flag is looked at again.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

impl Pace {
    pub(crate) fn new(rate: Rate) -> Pace {
        let fixed = match rate {
            Rate::Sprint => None,
            Rate::Fixed { missed, .. } => Some((crate::clock::nanoseconds(rate.tick_length()), missed)),
        };
        Pace { fixed, due: None }
    }

    /// Sleeps until the next tick is due, or until `stop` is set; gives the number of start times
    /// given up.
    pub(crate) fn wait(&mut self, clock: &Clock, stop: &AtomicBool) -> u64 {
        let Some((length, policy)) = self.fixed else {
            return 0;
        };
        let mut now = clock.now();
        let (due, missed) = settle(now, self.due.unwrap_or(now), length, policy);
        while now < due && !stop.load(Relaxed) {
            std::thread::sleep(Duration::from_nanos(due - now).min(LONGEST_SLEEP));
            now = clock.now();
        }
        self.due = Some(due.saturating_add(length));
        missed
    }
}

/// When the next tick should start, given when it was due, and how many start times that gives up.
fn settle(now: u64, due: u64, length: u64, policy: MissedTicks) -> (u64, u64) {
    let late = now.saturating_sub(due) / length;
    let given_up = match policy {
        MissedTicks::CatchUp { limit } => late.saturating_sub(u64::from(limit)),
        MissedTicks::Skip => late,
    };
    (due + given_up * length, given_up)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATCH_UP: MissedTicks = MissedTicks::CatchUp { limit: 2 };

    #[test]
    fn a_tick_in_time_waits_for_its_start() {
        assert_eq!(settle(120, 150, 50, CATCH_UP), (150, 0));
        assert_eq!(settle(120, 150, 50, MissedTicks::Skip), (150, 0));
    }

    #[test]
    fn a_short_delay_is_made_up_for() {
        // Due at 150, 200 and 250; now 260: all three run at once.
        assert_eq!(settle(260, 150, 50, CATCH_UP), (150, 0));
        assert_eq!(settle(261, 200, 50, CATCH_UP), (200, 0));
    }

    #[test]
    fn of_a_long_delay_only_the_limit_is_made_up_for() {
        // 17 whole ticks late: 15 given up, then 2 late ones and the one in time.
        assert_eq!(settle(1_020, 150, 50, CATCH_UP), (900, 15));
    }

    #[test]
    fn skipping_keeps_the_regular_times() {
        // The late tick runs at once, the next one is due at 1,050 and not at 1,070.
        let (due, given_up) = settle(1_020, 150, 50, MissedTicks::Skip);
        assert_eq!((due, given_up), (1_000, 17));
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        for ticks_per_second in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
            let rate = Rate::Fixed { ticks_per_second, missed: MissedTicks::Skip };
            assert!(matches!(rate.check(), Err(BuildError::Rate { .. })), "{ticks_per_second}");
        }
        assert!(Rate::TWENTY.check().is_ok());
        let slowest = Rate::Fixed { ticks_per_second: f64::MIN_POSITIVE, missed: MissedTicks::Skip };
        assert!(slowest.check().is_ok() && slowest.tick_length() > Duration::from_secs(1_000_000));
    }
}
