//! All lanes of a solver, in shards that can be worked on at the same time: rows of gaps, and beside them what needs
//! single items.

use slab::Slab;

use super::lane::{FROZEN, LIVE, Lane, NEVER, SINGLE};
use super::single::Singles;
use super::slots::Slots;
use super::wheel::Wheel;
use crate::items::{ItemHandle, Items};
use crate::network::NONE;
use crate::settings::{LaneSettings, SettingsError};

/// Lanes of a shard, as a power of two: so many that what enters them in one tick fills whole pages, so few that a large
/// network has work for every thread.
pub(super) const SHARD_BITS: u32 = 12;
const SHARD: usize = 1 << SHARD_BITS;

/// Two lanes a run: row `run * 2` towards higher coordinates, the next one back.
#[derive(Debug, Clone)]
pub(crate) struct Lanes {
    pub(super) shards: Vec<Shard>,
    pub(super) classes: Vec<LaneSettings>,
    count: usize,
    /// The tick that shards were last advanced to.
    now: u64,
    /// Some lane keeps its items one by one, or did when this tick began.
    any_singles: bool,
}

/// Lanes whose rows lie side by side, with all that they need and no others touch.
#[derive(Debug, Clone)]
pub(crate) struct Shard {
    pub(super) rows: Vec<Lane>,
    pub(super) slots: Slots,
    singles: Slab<Singles>,
    /// When front items arrive, by row.
    pub(super) arrivals: Wheel,
}

impl Lanes {
    pub(crate) fn new(settings: LaneSettings) -> Lanes {
        Lanes { shards: Vec::new(), classes: vec![settings], count: 0, now: 0, any_singles: false }
    }

    /// The settings that lanes have unless told otherwise.
    pub(crate) fn default_settings(&self) -> LaneSettings {
        self.classes[0]
    }

    /// The row of these settings.
    pub(crate) fn class(&mut self, settings: LaneSettings) -> Result<u16, SettingsError> {
        let row = match self.classes.iter().position(|&class| class == settings) {
            Some(row) => row,
            None => {
                self.classes.push(settings);
                self.classes.len() - 1
            }
        };
        u16::try_from(row).map_err(|_| SettingsError::TooMany)
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Makes rows up to `count`, if there are fewer.
    pub(crate) fn grow(&mut self, count: usize) {
        while self.count < count {
            let at = self.count / SHARD;
            if at == self.shards.len() {
                self.shards.push(Shard::new(self.now));
            }
            let rows = &mut self.shards[at].rows;
            let wanted = (count - at * SHARD).min(SHARD);
            if wanted > rows.capacity() {
                // In bulk as many as needed, one by one an eighth more each time.
                let spare = if rows.is_empty() { 0 } else { rows.len() / 8 };
                rows.reserve_exact((wanted + spare).min(SHARD) - rows.len());
            }
            rows.resize(wanted, Lane::none());
            self.count = at * SHARD + wanted;
        }
    }

    /// Forgets all that is due and goes to tick `now`.
    pub(crate) fn restart(&mut self, now: u64) {
        self.now = now;
        for shard in &mut self.shards {
            shard.arrivals = Wheel::new(now);
        }
    }

    /// Goes on to the next tick; tells of every lane whose front item arrives in it, in no order.
    pub(crate) fn advance(&mut self, due: &mut Vec<u32>, mut arrived: impl FnMut(&Lane)) {
        self.now += 1;
        self.any_singles = false;
        for shard in &mut self.shards {
            shard.advance(due);
            self.any_singles |= !shard.singles.is_empty();
            for row in due.drain(..) {
                let row = &shard.rows[row as usize];
                if row.arrives(self.now) {
                    arrived(row);
                }
            }
        }
    }

    /// As [`Lanes::advance`], for shards that the caller advances.
    pub(super) fn advanced(&mut self) {
        self.now += 1;
        self.any_singles = self.shards.iter().any(|shard| !shard.singles.is_empty());
    }

    /// Notes when the front item of a lane arrives.
    #[inline]
    pub(crate) fn note_arrival(&mut self, lane: u32) {
        let (shard, row) = place(lane);
        self.shards[shard].note_arrival(row);
    }

    #[inline]
    pub(crate) fn settings(&self, lane: u32) -> LaneSettings {
        self.classes[usize::from(self.row(lane).class)]
    }

    #[inline]
    pub(crate) fn row(&self, lane: u32) -> &Lane {
        let (shard, row) = place(lane);
        &self.shards[shard].rows[row]
    }

    #[inline]
    pub(crate) fn row_mut(&mut self, lane: u32) -> &mut Lane {
        let (shard, row) = place(lane);
        &mut self.shards[shard].rows[row]
    }

    /// All rows in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Lane> {
        self.shards.iter().flat_map(|shard| &shard.rows)
    }

    /// The shard of a lane, its row in there, and the settings of the lane.
    #[inline]
    pub(super) fn parts(&mut self, lane: u32) -> (&mut Shard, usize, LaneSettings) {
        let (shard, row) = place(lane);
        let shard = &mut self.shards[shard];
        let settings = self.classes[usize::from(shard.rows[row].class)];
        (shard, row, settings)
    }

    /// Makes a lane true at the end of tick `now`.
    #[inline]
    pub(crate) fn settle(&mut self, lane: u32, now: u64) {
        let (shard, row, settings) = self.parts(lane);
        shard.settle(row, now, settings);
    }

    /// Makes the room of a lane of single items good for an item that wants to start up to `carry` units from its
    /// entry: where there is so much without doubt, the lane is left alone, else it is settled.
    pub(crate) fn settle_for(&mut self, lane: u32, now: u64, carry: u32) {
        let (shard, row, settings) = self.parts(lane);
        let wanted = settings.spacing() + carry;
        let it = &mut shard.rows[row];
        match shard.singles[it.head as usize].certain_tail(it, now) {
            Some(tail) if tail >= wanted => it.tail = tail,
            _ => shard.settle(row, now, settings),
        }
    }

    /// As [`Lane::room`]; a lane of single items must be settled.
    #[inline]
    pub(crate) fn room(&self, lane: u32, now: u64) -> i64 {
        self.row(lane).room(now, self.settings(lane))
    }

    /// The earliest tick at which a lane without room may have some, if no item leaves; it must be settled.
    pub(crate) fn opens(&self, lane: u32) -> Option<u64> {
        let row = self.row(lane);
        match self.single(lane) {
            Some(singles) => singles.opens(row, self.settings(lane)),
            None => row.opens(self.settings(lane)),
        }
    }

    #[inline]
    pub(crate) fn front(&self, lane: u32) -> u32 {
        let (shard, row) = place(lane);
        let shard = &self.shards[shard];
        let row = &shard.rows[row];
        if row.is(SINGLE) { shard.singles[row.head as usize].front() } else { row.front(&shard.slots) }
    }

    /// Takes the front item out in tick `now`.
    #[inline]
    pub(crate) fn pop(&mut self, lane: u32, now: u64) -> u32 {
        let (shard, row, settings) = self.parts(lane);
        shard.pop(row, now, settings)
    }

    /// Puts an item in behind all others in tick `now`.
    #[inline]
    pub(crate) fn push(&mut self, lane: u32, now: u64, position: u32, handle: u32, items: &Items) {
        let (shard, row, settings) = self.parts(lane);
        shard.push(row, now, settings, position, handle, items);
    }

    /// All lanes.
    #[inline]
    pub(super) fn whole(&mut self) -> Stretch<'_> {
        Stretch { shards: &mut self.shards, first: 0, classes: &self.classes }
    }

    /// All items of a lane at the end of tick `now` as (position, handle), front to back.
    pub(crate) fn items(&self, lane: u32, now: u64) -> Vec<(u32, u32)> {
        let (at, _) = place(lane);
        let row = self.row(lane);
        match self.single(lane) {
            Some(singles) if row.is(FROZEN) => singles.items().collect(),
            Some(singles) => {
                let mut later = singles.clone();
                later.settle(&mut row.clone(), now, self.settings(lane));
                later.items().collect()
            }
            None => row.items(&self.shards[at].slots, now, self.settings(lane)).collect(),
        }
    }

    /// Replaces all items of a lane by `travellers` (position, handle; front to back), true at the end of tick `now`.
    pub(crate) fn refill(&mut self, lane: u32, now: u64, travellers: &[(u32, u32)], items: &Items) {
        let (shard, row, settings) = self.parts(lane);
        shard.clear(row);
        let it = &mut shard.rows[row];
        let apart =
            travellers.windows(2).all(|pair| pair[0].0 >= pair[1].0.saturating_add(settings.spacing()));
        if apart && !settings.own_speeds() {
            it.refill(&mut shard.slots, now, settings, travellers);
            return;
        }
        let mut singles = Singles::default();
        let single = |&(position, handle)| (position, handle, item_speed(items, handle, settings));
        singles.refill(it, now, travellers.iter().map(single));
        it.head = shard.singles.insert(singles) as u32;
        it.flags |= SINGLE;
    }

    /// A row for one more lane.
    pub(crate) fn add_row(&mut self) -> u32 {
        self.grow(self.count + 1);
        (self.count - 1) as u32
    }

    /// Makes an empty lane that leads nowhere, for a mirror.
    pub(crate) fn open(&mut self, lane: u32, now: u64, blocks: u32, class: u16, frozen: bool) {
        let flags = if frozen { LIVE | FROZEN } else { LIVE };
        self.put(lane, Lane::new(now, blocks, (NONE, NONE), 0, class, flags));
    }

    /// Puts an empty lane in place of another.
    pub(crate) fn put(&mut self, lane: u32, empty: Lane) {
        let (shard, row) = place(lane);
        let shard = &mut self.shards[shard];
        shard.clear(row);
        shard.rows[row] = empty;
    }

    /// False where no lane keeps its items one by one; none begins to while a tick runs.
    pub(crate) fn any_singles(&self) -> bool {
        self.any_singles
    }

    /// Forgets a lane.
    pub(crate) fn remove(&mut self, lane: u32) {
        self.put(lane, Lane::none());
    }

    /// True where an item entered, left or moved after the end of tick `since`.
    pub(crate) fn changed_after(&self, lane: u32, since: u64) -> bool {
        let row = self.row(lane);
        match self.single(lane) {
            Some(singles) => row.base > since || row.count > 0 && !singles.is_settled(),
            None => row.base > since || row.count > 0 && row.settled_at(self.settings(lane)) > since,
        }
    }

    /// True where nothing on the lane will move, unless something leaves.
    pub(crate) fn is_settled(&self, lane: u32, now: u64) -> bool {
        let row = self.row(lane);
        match self.single(lane) {
            Some(singles) => row.count == 0 || singles.is_settled(),
            None => row.count == 0 || row.settled_at(self.settings(lane)) <= now,
        }
    }

    /// Bytes held for (lanes, the items on them).
    pub(crate) fn memory_bytes(&self) -> (usize, usize) {
        let (mut lanes, mut items) = (0, 0);
        for shard in &self.shards {
            lanes += size_of::<Shard>()
                + shard.rows.capacity() * size_of::<Lane>()
                + shard.arrivals.memory_bytes()
                + shard.singles.capacity() * size_of::<Singles>();
            items += shard.slots.memory_bytes()
                + shard.singles.iter().map(|(_, singles)| singles.bytes()).sum::<usize>();
        }
        (lanes, items)
    }

    fn single(&self, lane: u32) -> Option<&Singles> {
        let (shard, row) = place(lane);
        let shard = &self.shards[shard];
        let row = &shard.rows[row];
        if row.is(SINGLE) { shard.singles.get(row.head as usize) } else { None }
    }
}

/// Lanes whose shards lie side by side: all of a solver, or those that one thread works on.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    pub(super) shards: &'a mut [Shard],
    /// How many shards lie before.
    pub(super) first: usize,
    pub(super) classes: &'a [LaneSettings],
}

impl Stretch<'_> {
    #[inline(always)]
    fn parts(&mut self, lane: u32) -> Option<(&mut Shard, usize, LaneSettings)> {
        let (shard, row) = place(lane);
        let shard = self.shards.get_mut(shard.wrapping_sub(self.first))?;
        let settings = self.classes[usize::from(shard.rows[row].class)];
        Some((shard, row, settings))
    }

    /// See [`Shard::enter_gaps`]; `None` for lanes elsewhere too.
    #[inline(always)]
    pub(super) fn enter_gaps(&mut self, lane: u32, now: u64, carry: u32, handle: u32) -> Option<u32> {
        let (shard, row, settings) = self.parts(lane)?;
        shard.enter_gaps(row, now, settings, carry, handle)
    }

    /// See [`Shard::leave_gaps`]; false for lanes elsewhere.
    #[inline(always)]
    pub(super) fn leave_gaps(&mut self, lane: u32, now: u64) -> bool {
        self.parts(lane).is_some_and(|(shard, row, settings)| shard.leave_gaps(row, now, settings))
    }

    /// The front item of a lane of gaps and how far it wants to go beyond the end in tick `now`; `None` where items are
    /// kept one by one or time stands still, and for lanes elsewhere.
    #[inline(always)]
    pub(super) fn waiting_gaps(&self, lane: u32, now: u64) -> Option<(u32, u32)> {
        let (shard, row) = place(lane);
        let shard = self.shards.get(shard.wrapping_sub(self.first))?;
        let row = &shard.rows[row];
        let carry = if row.due == now { row.carry() } else { 0 };
        (row.flags & (FROZEN | SINGLE) == 0).then(|| (row.front(&shard.slots), carry))
    }

    /// True where a lane of gaps has room in tick `now`.
    #[inline]
    pub(super) fn has_room(&self, lane: u32, now: u64) -> bool {
        let (shard, row) = place(lane);
        let Some(shard) = self.shards.get(shard.wrapping_sub(self.first)) else { return false };
        let row = &shard.rows[row];
        !row.is(SINGLE) && row.room(now, self.classes[usize::from(row.class)]) >= 0
    }

    /// Reads what the next visit of the junction where a lane ends will need, or of the one where it begins.
    #[inline]
    pub(super) fn touch(&self, lane: u32, front: bool) -> u32 {
        let (shard, row) = place(lane);
        let Some(shard) = self.shards.get(shard.wrapping_sub(self.first)) else { return 0 };
        let row = &shard.rows[row];
        match row.is(SINGLE) {
            true => row.head,
            false if front => row.touch_front(&shard.slots),
            false => row.touch_back(&shard.slots),
        }
    }
}

impl Shard {
    fn new(now: u64) -> Shard {
        Shard { rows: Vec::new(), slots: Slots::new(), singles: Slab::new(), arrivals: Wheel::new(now) }
    }

    /// Puts the rows of lanes noted for the next tick into `due`: those whose front item arrives, and some where that
    /// has changed since and was noted anew (see [`Lane::arrives`]).
    pub(super) fn advance(&mut self, due: &mut Vec<u32>) {
        self.arrivals.advance(due);
    }

    #[inline]
    pub(super) fn note_arrival(&mut self, row: usize) {
        self.arrivals.push(self.rows[row].due, row as u32);
    }

    #[inline]
    pub(super) fn settle(&mut self, row: usize, now: u64, settings: LaneSettings) {
        let it = &mut self.rows[row];
        // A frozen lane is true as it stands: its base is when it froze.
        if it.flags & (SINGLE | FROZEN) == 0 {
            it.settle(&mut self.slots, now, settings);
            return;
        }
        if it.is(FROZEN) {
            return;
        }
        let at = it.head as usize;
        let singles = &mut self.singles[at];
        singles.settle(it, now, settings);
        if !settings.own_speeds() && !singles.is_strained() {
            // All items are apart again: back to gaps. The front item keeps the time of its arrival.
            let (due, carry, base) = (it.due, it.carry(), it.base);
            let items: Vec<(u32, u32)> = singles.items().collect();
            self.clear(row);
            let it = &mut self.rows[row];
            it.refill(&mut self.slots, base, settings, &items);
            it.keep_due(due, carry);
        }
    }

    /// Takes the front item off a lane of gaps and notes when the next one arrives; true where only that makes room for
    /// another (elsewhere it is known when there will be).
    #[inline(always)]
    pub(super) fn leave_gaps(&mut self, row: usize, now: u64, settings: LaneSettings) -> bool {
        let it = &mut self.rows[row];
        let packed = it.is_packed(settings);
        it.leave(&mut self.slots, now, settings);
        if it.due != NEVER {
            self.arrivals.push(it.due, row as u32);
        }
        packed
    }

    /// Puts an item onto a lane of gaps, `carry` units from its entry or as far as it gets, and notes when it arrives
    /// where it is the only one. Gives its place; `None`, with nothing done, where there is no room or where items are
    /// kept one by one.
    #[inline(always)]
    pub(super) fn enter_gaps(
        &mut self,
        row: usize,
        now: u64,
        settings: LaneSettings,
        carry: u32,
        handle: u32,
    ) -> Option<u32> {
        let it = &mut self.rows[row];
        if it.flags & (FROZEN | SINGLE) != 0 {
            return None;
        }
        let position = it.enter(&mut self.slots, now, settings, carry, handle)?;
        if it.count == 1 {
            self.arrivals.push(it.due, row as u32);
        }
        Some(position)
    }

    /// See [`Lanes::pop`].
    #[inline]
    pub(super) fn pop(&mut self, row: usize, now: u64, settings: LaneSettings) -> u32 {
        self.settle(row, now, settings);
        let it = &mut self.rows[row];
        if !it.is(SINGLE) {
            return it.pop(&mut self.slots, now, settings);
        }
        it.flags &= !super::lane::REFUSED;
        self.singles[it.head as usize].pop(it, now)
    }

    /// See [`Lanes::push`].
    #[inline]
    pub(super) fn push(
        &mut self,
        row: usize,
        now: u64,
        settings: LaneSettings,
        position: u32,
        handle: u32,
        items: &Items,
    ) {
        let it = &mut self.rows[row];
        if it.is(SINGLE) {
            let speed = item_speed(items, handle, settings);
            let singles = &mut self.singles[it.head as usize];
            if singles.can_wait(it, now) {
                singles.push_later(it, now, position, speed, handle);
                return;
            }
            self.settle(row, now, settings);
            let it = &mut self.rows[row];
            if it.is(SINGLE) {
                self.singles[it.head as usize].push(it, now, position, speed, handle);
                return;
            }
        }
        let it = &mut self.rows[row];
        it.settle(&mut self.slots, now, settings);
        it.push(&mut self.slots, now, settings, position, handle);
    }

    /// Forgets the items of a lane.
    fn clear(&mut self, row: usize) {
        let it = &mut self.rows[row];
        if it.is(SINGLE) {
            self.singles.remove(it.head as usize);
        }
        it.clear(&mut self.slots);
        it.flags &= !SINGLE;
    }
}

/// The shard of a lane and its row in there.
#[inline]
fn place(lane: u32) -> (usize, usize) {
    ((lane >> SHARD_BITS) as usize, lane as usize % SHARD)
}

/// How fast an item moves on a lane.
fn item_speed(items: &Items, handle: u32, settings: LaneSettings) -> u32 {
    if settings.own_speeds() { items.speed(ItemHandle(handle), settings.speed()) } else { settings.speed() }
}
