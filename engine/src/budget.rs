//! Budgets: how much of a tick a stage may spend on work that can go on in the next one.

mod shared;

use std::ops::ControlFlow;
use std::time::Duration;

pub use self::shared::{Completed, Progress, RequestId, SharedBudget, SubmitError, WaitReport};

use crate::clock::Clock;

/// How much may be spent in one tick. Zero of either pauses the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// Wall time, looked at between units: the last unit may run over it, and one unit is always
    /// done. How far the work gets differs from run to run.
    Time(Duration),
    /// A number of units. The work gets equally far in every run: for replays, and wherever the
    /// results of the work reach the state of the simulation.
    Units(u64),
}

/// A budget for one kind of work: an allowance a tick and a report of what was spent.
///
/// The work is done in units, each small beside the allowance; the budget looks at its clock or its
/// count after each of them (some 30 ns). A unit that panics ends the tick's work and is not
/// reported; the budget itself stays as it was.
///
/// ```
/// use std::ops::ControlFlow;
/// use voxtick_engine::{Allowance, Budget};
///
/// let mut waiting: Vec<u32> = (0..1000).collect();
/// let mut budget = Budget::new(Allowance::Units(300));
/// let spent = budget.spend(|| match waiting.pop() {
///     // ... the work ...
///     Some(_) => ControlFlow::Continue(()),
///     None => ControlFlow::Break(()),
/// });
/// assert_eq!((spent.units, waiting.len()), (300, 700));
/// ```
#[derive(Debug, Clone)]
pub struct Budget {
    allowance: Allowance,
    clock: Clock,
    report: BudgetReport,
}

/// What one tick spent of a budget. Its times are told, never used for a decision, except by
/// [`Allowance::Time`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Units that were done.
    pub units: u64,
    /// Wall time from the start of the first unit to the end of the last.
    pub time: Duration,
    /// The longest time of a single unit: by so much an allowance of time can be overrun.
    pub largest_unit: Duration,
}

/// What was spent of a budget so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BudgetReport {
    /// Ticks in which any unit was done.
    pub ticks: u64,
    /// Everything together; its `largest_unit` is the largest of all.
    pub total: Spent,
    /// The tick that took the longest time.
    pub busiest: Spent,
}

impl Budget {
    /// A budget that nothing was spent of.
    pub fn new(allowance: Allowance) -> Budget {
        Budget { allowance, clock: Clock::start(), report: BudgetReport::default() }
    }

    /// The allowance of a tick.
    pub fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// Changes the allowance from the next tick on.
    pub fn set_allowance(&mut self, allowance: Allowance) {
        self.allowance = allowance;
    }

    /// Does units of work until the allowance of a tick is spent or `unit` says that nothing is left
    /// (`Break`; that call counts as no unit). Call it once a tick.
    pub fn spend(&mut self, mut unit: impl FnMut() -> ControlFlow<()>) -> Spent {
        let start = self.clock.now();
        let (mut spent, mut before) = (Spent::default(), start);
        while self.allows(&spent) && unit().is_continue() {
            let now = self.clock.now();
            spent.units += 1;
            spent.largest_unit = spent.largest_unit.max(Duration::from_nanos(now - before));
            spent.time = Duration::from_nanos(now - start);
            before = now;
        }
        self.report.add(spent);
        spent
    }

    /// What was spent so far.
    pub fn report(&self) -> &BudgetReport {
        &self.report
    }

    fn allows(&self, spent: &Spent) -> bool {
        match self.allowance {
            Allowance::Time(time) => spent.time < time,
            Allowance::Units(units) => spent.units < units,
        }
    }
}

impl BudgetReport {
    fn add(&mut self, spent: Spent) {
        self.ticks += u64::from(spent.units > 0);
        self.total.units += spent.units;
        self.total.time += spent.time;
        self.total.largest_unit = self.total.largest_unit.max(spent.largest_unit);
        if spent.time > self.busiest.time {
            self.busiest = spent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted_exactly_and_what_is_left_waits_for_the_next_tick() {
        let mut budget = Budget::new(Allowance::Units(3));
        let mut left = 7;
        let mut tick = |budget: &mut Budget| {
            budget.spend(|| {
                if left == 0 {
                    return ControlFlow::Break(());
                }
                left -= 1;
                ControlFlow::Continue(())
            })
        };
        let units: Vec<u64> = (0..4).map(|_| tick(&mut budget).units).collect();
        assert_eq!(units, [3, 3, 1, 0]);
        assert_eq!((budget.report().ticks, budget.report().total.units), (3, 7));
    }

    #[test]
    fn time_is_looked_at_between_units_and_one_is_always_done() {
        let mut budget = Budget::new(Allowance::Time(Duration::from_nanos(1)));
        let spent = budget.spend(|| {
            std::thread::sleep(Duration::from_millis(2));
            ControlFlow::Continue(())
        });
        assert_eq!(spent.units, 1);
        assert!(spent.largest_unit >= Duration::from_millis(2) && spent.time >= spent.largest_unit);
        assert_eq!(budget.report().busiest, spent);

        budget.set_allowance(Allowance::Time(Duration::from_millis(5)));
        let spent = budget.spend(|| {
            std::thread::sleep(Duration::from_millis(2));
            ControlFlow::Continue(())
        });
        assert!((1..=3).contains(&spent.units) && spent.time >= Duration::from_millis(5), "{spent:?}");
    }

    #[test]
    fn zero_pauses() {
        for allowance in [Allowance::Units(0), Allowance::Time(Duration::ZERO)] {
            let mut budget = Budget::new(allowance);
            assert_eq!(budget.spend(|| panic!("no unit is allowed")), Spent::default());
            assert_eq!(budget.report(), &BudgetReport::default());
        }
    }
}
