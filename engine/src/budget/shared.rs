//! A budget that many requests share, a unit of each in turn.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Duration;

use super::{Allowance, Budget, BudgetReport, Spent};
use crate::clock::Clock;

/// Requests that share the budget of a tick fairly.
///
/// - **Order.** Round robin: one unit of each waiting request in turn, in the order of their
///   submission, going on in the next tick where this one stopped. A request of one unit is done
///   after at most one unit of every other, however many units those have. With
///   [`Allowance::Units`] the order and the ticks of all units are the same in every run.
/// - **Bounds.** So many requests may wait as the budget was made for.
/// - **Full.** A request too many is given back.
/// - **Dying threads.** It belongs to one thread. A unit that panics leaves its request first in
///   turn.
///
/// ```
/// use voxtick_engine::{Allowance, Progress, SharedBudget};
///
/// let mut budget = SharedBudget::new(Allowance::Units(4), 100);
/// for (name, units) in [("large", 5000), ("small", 1), ("middle", 3)] {
///     budget.submit((name, units))?;
/// }
/// let mut order = Vec::new();
/// let mut done = Vec::new();
/// budget.spend(
///     |(name, units)| {
///         order.push(*name);
///         *units -= 1;
///         if *units == 0 { Progress::Finished } else { Progress::More }
///     },
///     |completed| done.push(completed.request.0),
/// );
/// assert_eq!(order, ["large", "small", "middle", "large"]);
/// assert_eq!(done, ["small"]);
/// # Ok::<(), voxtick_engine::SubmitError<(&str, i32)>>(())
/// ```
#[derive(Debug)]
pub struct SharedBudget<R> {
    budget: Budget,
    most: usize,
    waiting: VecDeque<Waiting<R>>,
    next_id: u64,
    /// Calls of `spend` so far.
    tick: u64,
    clock: Clock,
    report: WaitReport,
}

/// Names a request: numbered from 0 in the order of submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What a unit of work says of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    More,
    /// That was the last unit.
    Finished,
}

/// A request whose last unit was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completed<R> {
    /// Its name.
    pub id: RequestId,
    /// The request, as its units left it.
    pub request: R,
    /// How many units it took.
    pub units: u64,
    /// Ticks between its submission and its first unit: 0 if that was in the next tick's share.
    pub wait_ticks: u64,
    /// Time between its submission and its first unit.
    pub wait: Duration,
}

/// A request too many: as many wait as the budget was made for. Carries the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{most} requests wait already, which is all there is room for: submit it again in a later tick")]
pub struct SubmitError<R> {
    /// The request.
    pub request: R,
    /// How many may wait.
    pub most: usize,
}

/// How long requests waited for their first unit, over all that were begun so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitReport {
    /// Requests that were begun.
    pub begun: u64,
    /// Requests that were given back.
    pub refused: u64,
    /// All waits together.
    pub total: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// The longest wait in ticks.
    pub longest_ticks: u64,
}

#[derive(Debug)]
struct Waiting<R> {
    id: RequestId,
    request: R,
    units: u64,
    /// Until the first unit, when it was submitted; then how long it waited.
    wait: u64,
    wait_ticks: u64,
}

impl<R> SharedBudget<R> {
    /// A budget for at most `most` requests at a time.
    pub fn new(allowance: Allowance, most: usize) -> SharedBudget<R> {
        SharedBudget {
            budget: Budget::new(allowance),
            most,
            waiting: VecDeque::new(),
            next_id: 0,
            tick: 0,
            clock: Clock::start(),
            report: WaitReport::default(),
        }
    }

    /// Adds a request behind all others.
    ///
    /// # Errors
    /// As many as there is room for wait already.
    pub fn submit(&mut self, request: R) -> Result<RequestId, SubmitError<R>> {
        if self.waiting.len() >= self.most {
            self.report.refused += 1;
            return Err(SubmitError { request, most: self.most });
        }
        let id = RequestId(self.next_id);
        self.next_id += 1;
        let (wait, wait_ticks) = (self.clock.now(), self.tick);
        self.waiting.push_back(Waiting { id, request, units: 0, wait, wait_ticks });
        Ok(id)
    }

    /// Spends the allowance of a tick: `work` does one unit of the request it is given; requests
    /// that are finished go to `completed` at once. Call it once a tick.
    pub fn spend(
        &mut self,
        mut work: impl FnMut(&mut R) -> Progress,
        mut completed: impl FnMut(Completed<R>),
    ) -> Spent {
        let SharedBudget { budget, waiting, tick, clock, report, .. } = self;
        let spent = budget.spend(|| {
            let Some(first) = waiting.front_mut() else { return ControlFlow::Break(()) };
            if first.units == 0 {
                first.wait = clock.now() - first.wait;
                first.wait_ticks = *tick - first.wait_ticks;
                report.add(Duration::from_nanos(first.wait), first.wait_ticks);
            }
            first.units += 1;
            match work(&mut first.request) {
                Progress::More => waiting.rotate_left(1),
                Progress::Finished => {
                    if let Some(Waiting { id, request, units, wait, wait_ticks }) = waiting.pop_front() {
                        completed(Completed {
                            id,
                            request,
                            units,
                            wait_ticks,
                            wait: Duration::from_nanos(wait),
                        });
                    }
                }
            }
            ControlFlow::Continue(())
        });
        *tick += 1;
        spent
    }

    /// Changes the allowance from the next tick on.
    pub fn set_allowance(&mut self, allowance: Allowance) {
        self.budget.set_allowance(allowance);
    }

    /// Requests that are not finished, the next in turn first.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = (RequestId, &R)> {
        self.waiting.iter().map(|waiting| (waiting.id, &waiting.request))
    }

    /// What was spent so far.
    pub fn report(&self) -> &BudgetReport {
        self.budget.report()
    }

    /// How long requests waited so far.
    pub fn wait_report(&self) -> &WaitReport {
        &self.report
    }
}

impl WaitReport {
    fn add(&mut self, wait: Duration, ticks: u64) {
        self.begun += 1;
        self.total += wait;
        self.longest = self.longest.max(wait);
        self.longest_ticks = self.longest_ticks.max(ticks);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Counts a request down.
    fn unit(left: &mut u64) -> Progress {
        *left -= 1;
        if *left == 0 { Progress::Finished } else { Progress::More }
    }

    #[test]
    fn a_large_request_does_not_starve_a_small_one() {
        let mut budget = SharedBudget::new(Allowance::Units(10), 100);
        let large = budget.submit(5_000).unwrap();
        budget.spend(unit, |_| panic!("5,000 units in one tick"));
        let small = budget.submit(1).unwrap();
        let mut done = Vec::new();
        for tick in 1_u64.. {
            budget.spend(unit, |completed| {
                done.push((completed.id, completed.units, completed.wait_ticks, tick))
            });
            if done.len() == 2 {
                break;
            }
        }
        // 10 units a tick: the small one's is among those of tick 1, the large one needs 5,001 in all.
        assert_eq!(done, [(small, 1, 0, 1), (large, 5_000, 0, 500)]);
        assert_eq!(budget.report().total.units, 5_001);
    }

    #[test]
    fn turns_go_on_in_the_next_tick_where_they_stopped() {
        let mut budget = SharedBudget::new(Allowance::Units(2), 100);
        ["a", "b", "c"].into_iter().for_each(|name| assert!(budget.submit(name).is_ok()));
        let mut order = String::new();
        for _ in 0..4 {
            budget.spend(
                |name| {
                    order.push_str(name);
                    Progress::More
                },
                |_| {},
            );
        }
        assert_eq!(order, "abcabcab");
        assert_eq!(budget.requests().map(|(_, name)| *name).collect::<String>(), "cab");
        // `c` had its first unit in the second tick.
        assert_eq!((budget.wait_report().begun, budget.wait_report().longest_ticks), (3, 1));
    }

    #[test]
    fn a_request_too_many_is_given_back() {
        let mut budget = SharedBudget::new(Allowance::Units(1), 1);
        assert!(budget.submit(1).is_ok());
        assert_eq!(budget.submit(7), Err(SubmitError { request: 7, most: 1 }));
        assert_eq!(budget.wait_report().refused, 1);
        budget.spend(unit, |_| {});
        assert!(budget.submit(7).is_ok());
    }

    #[test]
    fn a_unit_that_panics_leaves_its_request_first_in_turn() {
        let mut budget = SharedBudget::new(Allowance::Units(10), 10);
        ["fails", "waits"].into_iter().for_each(|name| assert!(budget.submit(name).is_ok()));
        let panicked = catch_unwind(AssertUnwindSafe(|| budget.spend(|name| panic!("{name}"), |_| {})));
        assert!(panicked.is_err());
        assert_eq!(budget.requests().map(|(_, name)| *name).collect::<Vec<_>>(), ["fails", "waits"]);
    }
}
