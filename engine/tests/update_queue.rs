//! The update queue in ticks, against a plain list that is searched from end to end.

use proptest::prelude::*;
use voxtick_engine::{
    EquallyNear, MarkAgain, Marked, Update, UpdateQueue, UpdateQueueSettings, squared_distance,
};

/// The same rules in the plainest way.
struct Plain {
    settings: UpdateQueueSettings,
    centres: Vec<[i32; 3]>,
    now: u64,
    entries: Vec<Update<u32>>,
}

impl Plain {
    fn rank(&self, entry: &Update<u32>) -> (i64, u64, [i32; 3]) {
        let distances = self.centres.iter().map(|centre| squared_distance(*centre, entry.position));
        let oldest_first = self.settings.equally_near == EquallyNear::OldestFirst;
        let age = if oldest_first { entry.deadline } else { 0 };
        (distances.min().unwrap_or(0), age, entry.position)
    }

    fn mark(&mut self, position: [i32; 3], update: u32, now: u64) -> Marked<u32> {
        self.now = self.now.max(now);
        let deadline = self.now + self.settings.delay;
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.position == position) {
            return match self.settings.mark_again {
                MarkAgain::TakeNewest => Marked::Again(std::mem::replace(&mut entry.update, update)),
                MarkAgain::KeepFirst => Marked::Again(update),
            };
        }
        self.add(Update { position, update, deadline })
    }

    fn add(&mut self, update: Update<u32>) -> Marked<u32> {
        self.entries.push(update);
        if self.entries.len() <= self.settings.capacity {
            return Marked::New;
        }
        let furthest = (0..self.entries.len()).max_by_key(|&at| self.rank(&self.entries[at])).unwrap();
        Marked::Evicted(self.entries.remove(furthest))
    }

    fn put_back(&mut self, update: Update<u32>) -> Marked<u32> {
        let deadline = update.deadline.min(self.now);
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.position == update.position) {
            entry.deadline = deadline;
            return match self.settings.mark_again {
                MarkAgain::TakeNewest => Marked::Again(update.update),
                MarkAgain::KeepFirst => Marked::Again(std::mem::replace(&mut entry.update, update.update)),
            };
        }
        self.add(Update { deadline, ..update })
    }

    fn take_ready(&mut self, now: u64) -> Option<Update<u32>> {
        self.now = self.now.max(now);
        let ready = (0..self.entries.len()).filter(|&at| self.entries[at].deadline <= self.now);
        let nearest = ready.min_by_key(|&at| self.rank(&self.entries[at]))?;
        Some(self.entries.remove(nearest))
    }

    fn next_deadline(&self) -> Option<u64> {
        self.entries.iter().map(|entry| entry.deadline.max(self.now)).min()
    }
}

#[derive(Debug, Clone)]
enum Step {
    Mark([i32; 3], u64),
    Take(u64),
    PutBack,
    TakeOut([i32; 3]),
    Centres(Vec<[i32; 3]>),
}

fn step() -> impl Strategy<Value = Step> {
    // Few positions, so that many are marked again and many are equally far.
    let position = || prop::array::uniform3(-2..=2);
    prop_oneof![
        8 => (position(), 0..3_u64).prop_map(|(position, later)| Step::Mark(position, later)),
        6 => (0..3_u64).prop_map(Step::Take),
        1 => Just(Step::PutBack),
        1 => position().prop_map(Step::TakeOut),
        1 => prop::collection::vec(position(), 0..4).prop_map(Step::Centres),
    ]
}

proptest! {
    #[test]
    fn it_does_what_a_plain_list_does(
        steps in prop::collection::vec(step(), 0..300),
        (capacity, delay) in (0..20_usize, 0..6_u64),
        (keeps_first, oldest_first) in any::<(bool, bool)>(),
    ) {
        let mark_again = if keeps_first { MarkAgain::KeepFirst } else { MarkAgain::TakeNewest };
        let equally_near = if oldest_first { EquallyNear::OldestFirst } else { EquallyNear::ByPosition };
        let settings = UpdateQueueSettings { capacity, delay, mark_again, equally_near };
        let mut queue = UpdateQueue::new(settings);
        let mut plain = Plain { settings, centres: vec![[0; 3]], now: 0, entries: Vec::new() };
        let (mut now, mut taken, mut evicted) = (0, None, 0);
        for (number, step) in (0..).zip(steps) {
            let mut marked = None;
            match step {
                Step::Mark(position, later) => {
                    now += later;
                    marked = Some(queue.mark(position, number, now));
                    prop_assert_eq!(marked, Some(plain.mark(position, number, now)));
                }
                Step::Take(later) => {
                    now += later;
                    taken = queue.take_ready(now);
                    prop_assert_eq!(taken, plain.take_ready(now));
                    prop_assert!(taken.is_none_or(|update| update.deadline <= now));
                }
                Step::PutBack => if let Some(update) = taken.take() {
                    marked = Some(queue.put_back(update));
                    prop_assert_eq!(marked, Some(plain.put_back(update)));
                },
                Step::TakeOut(position) => {
                    let at = plain.entries.iter().position(|entry| entry.position == position);
                    prop_assert_eq!(queue.take(position), at.map(|at| plain.entries.remove(at)));
                }
                Step::Centres(centres) => {
                    queue.set_centres(&centres);
                    plain.centres = centres;
                }
            }
            evicted += u64::from(matches!(marked, Some(Marked::Evicted(_))));
            prop_assert_eq!(queue.len(), plain.entries.len());
            prop_assert_eq!(queue.next_deadline(), plain.next_deadline());
            prop_assert_eq!(queue.evicted(), evicted);
        }
        let mut left = std::mem::take(&mut plain.entries);
        left.sort_by_key(|entry| plain.rank(entry));
        prop_assert_eq!(queue.take_all(), left);
        prop_assert!(queue.is_empty() && queue.next_deadline().is_none());
    }
}

#[test]
fn a_place_that_changes_all_the_time_is_redone_every_so_often() {
    let mut queue = UpdateQueue::new(UpdateQueueSettings { delay: 5, ..Default::default() });
    let mut redone = Vec::new();
    for tick in 0..20 {
        let _ = queue.mark([0; 3], tick, tick);
        redone.extend(queue.take_ready(tick).map(|update| (tick, update.update)));
    }
    // Always with the newest data; the next wait begins with the next mark.
    assert_eq!(redone, [(5, 5), (11, 11), (17, 17)]);
}

#[test]
fn time_that_goes_back_counts_as_the_last_one() {
    let mut queue = UpdateQueue::new(UpdateQueueSettings { delay: 10, ..Default::default() });
    let _ = queue.mark([1; 3], "first", 100);
    let _ = queue.mark([2; 3], "second", 50);
    assert_eq!(queue.take_ready(109), None);
    assert_eq!(queue.take_ready(110).map(|update| update.update), Some("first"));
    assert_eq!(queue.take_ready(0).map(|update| (update.update, update.deadline)), Some(("second", 110)));
}

#[test]
fn a_flood_keeps_the_nearest() {
    let mut queue = UpdateQueue::new(UpdateQueueSettings { capacity: 100, ..Default::default() });
    // 7,919 and 1,000 have no common factor: every distance once, in no order.
    for number in 0..1_000 {
        let _ = queue.mark([number * 7_919 % 1_000, 0, 0], (), 0);
    }
    assert_eq!(queue.evicted(), 900);
    let left: Vec<i32> = queue.take_all().into_iter().map(|update| update.position[0]).collect();
    assert!(left.into_iter().eq(0..100));
}
