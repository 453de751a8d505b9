//! The update queue: what changed where, to be redone once it has settled, nearest first.
//!
//! Entries are young until their deadline and ready afterwards. Young ones stand in a list in the
//! order of their deadlines, which is the order in which they came, since all wait equally long;
//! ready ones stand in a heap by their distance from the centre; all of them stand in another heap,
//! furthest first, for eviction. So nothing is taken out, found too young and put back, and a young
//! entry that is near hides no ready one behind it.

mod executor;
mod heap;
mod worker;

use rustc_hash::FxHashMap;

pub use self::executor::UpdateExecutor;
pub use self::worker::{StoppedWorker, UpdateWorker, UpdateWorkerSettings, WorkerGone, WorkerReport};

use self::heap::SlotHeap;
use crate::nearest::squared_distance;

/// How an [`UpdateQueue`] behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateQueueSettings {
    /// The most entries; one more evicts the furthest. Defaults to 1,000.
    pub capacity: usize,
    /// How long an entry waits from its first mark on, in the caller's units of time. Defaults to 5:
    /// 250 ms in ticks of 50 ms.
    pub delay: u64,
    /// What marking a waiting position again does. Defaults to [`MarkAgain::TakeNewest`].
    pub mark_again: MarkAgain,
    /// Which of equally near entries comes first. Defaults to [`EquallyNear::ByPosition`].
    pub equally_near: EquallyNear,
}

impl Default for UpdateQueueSettings {
    fn default() -> UpdateQueueSettings {
        UpdateQueueSettings {
            capacity: 1000,
            delay: 5,
            mark_again: MarkAgain::TakeNewest,
            equally_near: EquallyNear::ByPosition,
        }
    }
}

/// What marking a position does that waits already. Neither way extends the deadline, so that a
/// place that changes all the time is redone every so often nevertheless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkAgain {
    /// The newer update takes the place of the older one.
    TakeNewest,
    /// The older update stays and the newer one is given back: as in level-of-detail mods for
    /// Minecraft Java, for comparing with them.
    KeepFirst,
}

/// Which of the entries that are equally far from the nearest centre comes first. Either way the order
/// is total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EquallyNear {
    /// That with the lower position: x, then y, then z.
    ByPosition,
    /// That with the earlier deadline, then the lower position: for requests of which none should wait
    /// long because of its place.
    OldestFirst,
}

/// Something to redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update<T> {
    /// Where.
    pub position: [i32; 3],
    /// What.
    pub update: T,
    /// When it is ready at the earliest: the time of its first mark and the delay.
    pub deadline: u64,
}

/// What a mark did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "an update may have been given back"]
pub enum Marked<T> {
    /// A new entry.
    New,
    /// The position waits already. Here is the update that is not kept: the older one or the newer
    /// one, as the settings say.
    Again(T),
    /// The queue was full. Here is the furthest of all: another entry, or the one that was to be
    /// added.
    Evicted(Update<T>),
}

/// Updates keyed by position: each waits from its first mark until its deadline, then is taken,
/// nearest first.
///
/// Time is a number that the caller passes: ticks for deterministic runs, nanoseconds in an
/// [`UpdateWorker`]. An earlier time than the last one counts as that one.
///
/// - **Order.** Of the entries that are ready, the nearest is taken first, by [`squared_distance`] to
///   the nearest of the centres, then by position (x, then y, then z), or first by age where the
///   settings say so. Never an entry before its deadline. The same marks at the same times give the
///   same order in every run.
/// - **Bounds.** At most `capacity` entries, each position once.
/// - **Full.** The furthest of all, young or ready, the new one included, is given back, and counted.
/// - **Dying threads.** It belongs to one thread; see [`UpdateWorker`] for one that many share.
/// - **Cost.** A mark or a take costs `O(centres + log n)` and allocates nothing once the queue has had
///   its largest size; moving the centres costs `O(n x centres)`.
///
/// ```
/// use voxtick_engine::{Marked, UpdateQueue, UpdateQueueSettings};
///
/// let mut queue = UpdateQueue::new(UpdateQueueSettings { delay: 5, ..Default::default() });
/// assert_eq!(queue.mark([9, 0, 0], "far", 100), Marked::New);
/// assert_eq!(queue.mark([1, 0, 0], "near, old", 101), Marked::New);
/// // Marked again: newer data, same deadline.
/// assert_eq!(queue.mark([1, 0, 0], "near", 103), Marked::Again("near, old"));
///
/// assert_eq!(queue.take_ready(104), None);
/// // The nearer one is too young and hides nothing.
/// assert_eq!(queue.take_ready(105).map(|update| update.update), Some("far"));
/// assert_eq!(queue.next_deadline(), Some(106));
/// assert_eq!(queue.take_ready(106).map(|update| update.update), Some("near"));
/// ```
#[derive(Debug)]
pub struct UpdateQueue<T> {
    settings: UpdateQueueSettings,
    centres: Vec<[i32; 3]>,
    now: u64,
    evicted: u64,
    /// Where the entry of a position stands. For look-up only.
    slots: FxHashMap<[i32; 3], usize>,
    entries: Vec<Entry<T>>,
    ranks: Vec<Rank>,
    free: Vec<usize>,
    young: List,
    nearest_ready: SlotHeap,
    furthest: SlotHeap,
}

/// Distance from the nearest centre, then what [`EquallyNear`] puts before the position, then position.
type Rank = (i64, u64, [i32; 3]);

#[derive(Debug)]
struct Entry<T> {
    /// `None` in a free slot.
    update: Option<T>,
    deadline: u64,
    is_young: bool,
    previous: Option<usize>,
    next: Option<usize>,
}

/// The ends of the list of young entries, which goes through the entries themselves.
#[derive(Debug, Default)]
struct List {
    first: Option<usize>,
    last: Option<usize>,
}

impl<T> UpdateQueue<T> {
    /// An empty queue around the position `[0, 0, 0]`.
    pub fn new(settings: UpdateQueueSettings) -> UpdateQueue<T> {
        UpdateQueue {
            settings,
            centres: vec![[0; 3]],
            now: 0,
            evicted: 0,
            slots: FxHashMap::default(),
            entries: Vec::new(),
            ranks: Vec::new(),
            free: Vec::new(),
            young: List::default(),
            nearest_ready: SlotHeap::default(),
            furthest: SlotHeap::default(),
        }
    }

    /// Marks a position: it is ready after the delay, counted from its first mark since it was last
    /// taken.
    pub fn mark(&mut self, position: [i32; 3], update: T, now: u64) -> Marked<T> {
        self.advance(now);
        if let Some(&slot) = self.slots.get(&position) {
            return self.mark_again(slot, update);
        }
        let deadline = self.now.saturating_add(self.settings.delay);
        self.add(Update { position, update, deadline })
    }

    /// Takes the nearest of the entries that are ready at the time `now`.
    pub fn take_ready(&mut self, now: u64) -> Option<Update<T>> {
        self.advance(now);
        self.nearest_ready.first().and_then(|slot| self.remove(slot))
    }

    /// Puts an update back that was taken and could not be dealt with: it is ready again at once. If
    /// its position was marked meanwhile, the two become one entry that is ready, with the newer or
    /// the older update as the settings say.
    pub fn put_back(&mut self, update: Update<T>) -> Marked<T> {
        let deadline = update.deadline.min(self.now);
        let Some(&slot) = self.slots.get(&update.position) else {
            return self.add(Update { deadline, ..update });
        };
        self.make_ready_since(slot, deadline);
        match self.settings.mark_again {
            MarkAgain::TakeNewest => Marked::Again(update.update),
            MarkAgain::KeepFirst => {
                let newer = self.entries[slot].update.replace(update.update);
                newer.map_or(Marked::New, Marked::Again)
            }
        }
    }

    /// When the next entry is ready: the last time that was passed in, if one is ready already;
    /// `None` if the queue is empty.
    pub fn next_deadline(&self) -> Option<u64> {
        if self.nearest_ready.first().is_some() {
            return Some(self.now);
        }
        self.young.first.map(|slot| self.entries[slot].deadline)
    }

    /// Moves the centres to one place: nearest and furthest are told from there from now on.
    pub fn set_centre(&mut self, centre: [i32; 3]) {
        self.set_centres(&[centre]);
    }

    /// Moves the centres: a position is as far away as the nearest of them. Without any, all are equally
    /// near.
    ///
    /// ```
    /// # use voxtick_engine::{UpdateQueue, UpdateQueueSettings};
    /// let mut queue = UpdateQueue::new(UpdateQueueSettings { delay: 0, ..Default::default() });
    /// for (time, x) in (0..).zip([40, 7, 99]) {
    ///     let _ = queue.mark([x, 0, 0], (), time);
    /// }
    /// queue.set_centres(&[[0; 3], [100, 0, 0]]);
    /// let order: Vec<i32> = queue.take_all().into_iter().map(|update| update.position[0]).collect();
    /// assert_eq!(order, [99, 7, 40]);
    /// ```
    pub fn set_centres(&mut self, centres: &[[i32; 3]]) {
        if centres == self.centres {
            return;
        }
        self.centres.clear();
        self.centres.extend_from_slice(centres);
        for (distance, _, position) in &mut self.ranks {
            *distance = distance_to_nearest(&self.centres, *position);
        }
        self.nearest_ready.rebuild(nearer(&self.ranks));
        self.furthest.rebuild(further(&self.ranks));
    }

    /// The centres, `[0, 0, 0]` alone unless they were moved.
    pub fn centres(&self) -> &[[i32; 3]] {
        &self.centres
    }

    /// Takes the entry of a position, ready or not: for what nobody wants any more.
    pub fn take(&mut self, position: [i32; 3]) -> Option<Update<T>> {
        self.slots.get(&position).copied().and_then(|slot| self.remove(slot))
    }

    /// Whether a position waits.
    pub fn contains(&self, position: [i32; 3]) -> bool {
        self.slots.contains_key(&position)
    }

    /// How many entries wait, ready or not.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no entry waits.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many entries were evicted so far, those included that were never added.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Takes all entries, ready or not, nearest first.
    pub fn take_all(&mut self) -> Vec<Update<T>> {
        let mut slots: Vec<usize> =
            (0..self.entries.len()).filter(|&slot| self.entries[slot].update.is_some()).collect();
        slots.sort_unstable_by_key(|&slot| self.ranks[slot]);
        slots.into_iter().filter_map(|slot| self.remove(slot)).collect()
    }

    /// What comes between distance and position in the order.
    fn age(&self, deadline: u64) -> u64 {
        match self.settings.equally_near {
            EquallyNear::ByPosition => 0,
            EquallyNear::OldestFirst => deadline,
        }
    }

    /// Lets time go on: young entries whose deadline has come are ready.
    fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        while let Some(slot) = self.young.first
            && self.entries[slot].deadline <= self.now
        {
            self.make_ready(slot);
        }
    }

    fn mark_again(&mut self, slot: usize, update: T) -> Marked<T> {
        match self.settings.mark_again {
            MarkAgain::KeepFirst => Marked::Again(update),
            MarkAgain::TakeNewest => {
                let older = self.entries[slot].update.replace(update);
                older.map_or(Marked::New, Marked::Again)
            }
        }
    }

    /// Adds an entry whose position does not wait, if need be in place of the furthest.
    fn add(&mut self, update: Update<T>) -> Marked<T> {
        let distance = distance_to_nearest(&self.centres, update.position);
        let rank = (distance, self.age(update.deadline), update.position);
        if self.len() < self.settings.capacity {
            self.insert(update, rank);
            return Marked::New;
        }
        self.evicted += 1;
        let furthest = self.furthest.first().filter(|&slot| self.ranks[slot] > rank);
        match furthest.and_then(|slot| self.remove(slot)) {
            Some(evicted) => {
                self.insert(update, rank);
                Marked::Evicted(evicted)
            }
            None => Marked::Evicted(update),
        }
    }

    fn insert(&mut self, Update { position, update, deadline }: Update<T>, rank: Rank) {
        let entry = Entry { update: Some(update), deadline, is_young: false, previous: None, next: None };
        let slot = match self.free.pop() {
            Some(slot) => {
                (self.entries[slot], self.ranks[slot]) = (entry, rank);
                slot
            }
            None => {
                self.entries.push(entry);
                self.ranks.push(rank);
                self.entries.len() - 1
            }
        };
        self.slots.insert(position, slot);
        self.furthest.insert(slot, further(&self.ranks));
        if deadline <= self.now {
            self.nearest_ready.insert(slot, nearer(&self.ranks));
        } else {
            self.append_young(slot);
        }
    }

    fn remove(&mut self, slot: usize) -> Option<Update<T>> {
        let update = self.entries[slot].update.take()?;
        let (deadline, position) = (self.entries[slot].deadline, self.ranks[slot].2);
        self.slots.remove(&position);
        self.furthest.remove(slot, further(&self.ranks));
        if self.entries[slot].is_young {
            self.unlink_young(slot);
        } else {
            self.nearest_ready.remove(slot, nearer(&self.ranks));
        }
        self.free.push(slot);
        Some(Update { position, update, deadline })
    }

    fn make_ready(&mut self, slot: usize) {
        self.unlink_young(slot);
        self.nearest_ready.insert(slot, nearer(&self.ranks));
    }

    /// Gives an entry a deadline that has passed.
    fn make_ready_since(&mut self, slot: usize, deadline: u64) {
        self.furthest.remove(slot, further(&self.ranks));
        if self.entries[slot].is_young {
            self.unlink_young(slot);
        } else {
            self.nearest_ready.remove(slot, nearer(&self.ranks));
        }
        self.entries[slot].deadline = deadline;
        self.ranks[slot].1 = self.age(deadline);
        self.furthest.insert(slot, further(&self.ranks));
        self.nearest_ready.insert(slot, nearer(&self.ranks));
    }

    /// Appends to the list of young entries. Deadlines never go back, since time does not: the list
    /// is in their order.
    fn append_young(&mut self, slot: usize) {
        let last = self.young.last.replace(slot);
        let entry = &mut self.entries[slot];
        (entry.is_young, entry.previous, entry.next) = (true, last, None);
        match last {
            Some(last) => self.entries[last].next = Some(slot),
            None => self.young.first = Some(slot),
        }
    }

    fn unlink_young(&mut self, slot: usize) {
        let entry = &mut self.entries[slot];
        entry.is_young = false;
        let (previous, next) = (entry.previous.take(), entry.next.take());
        match previous {
            Some(previous) => self.entries[previous].next = next,
            None => self.young.first = next,
        }
        match next {
            Some(next) => self.entries[next].previous = previous,
            None => self.young.last = previous,
        }
    }
}

/// The squared distance to the nearest of the centres, 0 without any.
fn distance_to_nearest(centres: &[[i32; 3]], position: [i32; 3]) -> i64 {
    centres.iter().map(|&centre| squared_distance(centre, position)).min().unwrap_or(0)
}

fn nearer(ranks: &[Rank]) -> impl Fn(usize, usize) -> bool {
    |a, b| ranks[a] < ranks[b]
}

fn further(ranks: &[Rank]) -> impl Fn(usize, usize) -> bool {
    |a, b| ranks[a] > ranks[b]
}
