//! All lanes of a solver: rows of gaps, with those that need single items beside them.

use slab::Slab;

use super::lane::{FROZEN, LIVE, Lane, NEVER, SINGLE};
use super::single::Singles;
use crate::items::{ItemHandle, Items};
use crate::network::NONE;
use crate::settings::{LaneSettings, SettingsError};

/// Two lanes a run: row `run * 2` towards higher coordinates, the next one back.
#[derive(Debug, Clone)]
pub(crate) struct Lanes {
    pub(crate) rows: Vec<Lane>,
    singles: Slab<Singles>,
    pub(super) classes: Vec<LaneSettings>,
}

impl Lanes {
    pub(crate) fn new(settings: LaneSettings) -> Lanes {
        Lanes { rows: Vec::new(), singles: Slab::new(), classes: vec![settings] }
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

    #[inline]
    pub(crate) fn settings(&self, lane: u32) -> LaneSettings {
        self.classes[usize::from(self.rows[lane as usize].class)]
    }

    #[inline]
    pub(crate) fn row(&self, lane: u32) -> &Lane {
        &self.rows[lane as usize]
    }

    /// Makes a lane true at the end of tick `now`.
    #[inline]
    pub(crate) fn settle(&mut self, lane: u32, now: u64) {
        let settings = self.settings(lane);
        let row = &mut self.rows[lane as usize];
        // A frozen lane is true as it stands: its base is when it froze.
        if row.flags & (SINGLE | FROZEN) == 0 {
            row.settle(now, settings);
            return;
        }
        if row.is(FROZEN) {
            return;
        }
        let at = row.head as usize;
        let singles = &mut self.singles[at];
        singles.settle(row, now, settings);
        if !settings.own_speeds() && !singles.is_strained() {
            // All items are apart again: back to gaps. The front item keeps the time of its arrival.
            let (due, carry) = (row.due, row.carry);
            let items: Vec<(u32, u32)> = singles.items().collect();
            self.singles.remove(at);
            row.flags &= !SINGLE;
            let base = row.base;
            row.refill(base, settings, &items);
            (row.due, row.carry) = (due, carry);
        }
    }

    /// Makes the room of a lane of single items good for an item that wants to start up to `carry` units from its
    /// entry: where there is so much without doubt, the lane is left alone, else it is settled.
    pub(crate) fn settle_for(&mut self, lane: u32, now: u64, carry: u32) {
        let wanted = self.settings(lane).spacing() + carry;
        let row = &mut self.rows[lane as usize];
        match self.singles[row.head as usize].certain_tail(row, now) {
            Some(tail) if tail >= wanted => row.tail = tail,
            _ => self.settle(lane, now),
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
        match self.single(row) {
            Some(singles) => singles.opens(row, self.settings(lane)),
            None => row.opens(self.settings(lane)),
        }
    }

    #[inline]
    pub(crate) fn front(&self, lane: u32) -> u32 {
        let row = self.row(lane);
        match self.single(row) {
            Some(singles) => singles.front(),
            None => row.front(),
        }
    }

    /// Takes the front item out in tick `now`.
    #[inline]
    pub(crate) fn pop(&mut self, lane: u32, now: u64) -> u32 {
        self.settle(lane, now);
        let settings = self.settings(lane);
        let row = &mut self.rows[lane as usize];
        if !row.is(SINGLE) {
            return row.pop(now, settings);
        }
        row.flags &= !super::lane::REFUSED;
        self.singles[row.head as usize].pop(row, now)
    }

    /// Puts an item in behind all others in tick `now`.
    #[inline]
    pub(crate) fn push(&mut self, lane: u32, now: u64, position: u32, handle: u32, items: &Items) {
        let settings = self.settings(lane);
        let row = &mut self.rows[lane as usize];
        if !row.is(SINGLE) {
            row.settle(now, settings);
            row.push(now, settings, position, handle);
            return;
        }
        let speed = item_speed(items, handle, settings);
        if self.singles[row.head as usize].can_wait(row, now) {
            self.singles[row.head as usize].push_later(row, now, position, speed, handle);
            return;
        }
        self.settle(lane, now);
        let row = &mut self.rows[lane as usize];
        if !row.is(SINGLE) {
            row.push(now, settings, position, handle);
            return;
        }
        self.singles[row.head as usize].push(row, now, position, speed, handle);
    }

    /// All items of a lane at the end of tick `now` as (position, handle), front to back.
    pub(crate) fn items(&self, lane: u32, now: u64) -> Vec<(u32, u32)> {
        let row = self.row(lane);
        match self.single(row) {
            Some(singles) if row.is(FROZEN) => singles.items().collect(),
            Some(singles) => {
                let mut later = singles.clone();
                later.settle(&mut row.clone(), now, self.settings(lane));
                later.items().collect()
            }
            None => row.items(now, self.settings(lane)).collect(),
        }
    }

    /// Replaces all items of a lane by `travellers` (position, handle; front to back), true at the end of tick `now`.
    pub(crate) fn refill(&mut self, lane: u32, now: u64, travellers: &[(u32, u32)], items: &Items) {
        let settings = self.settings(lane);
        self.clear_singles(lane);
        let row = &mut self.rows[lane as usize];
        let apart =
            travellers.windows(2).all(|pair| pair[0].0 >= pair[1].0.saturating_add(settings.spacing()));
        if apart && !settings.own_speeds() {
            row.refill(now, settings, travellers);
            return;
        }
        let mut singles = Singles::default();
        let single = |&(position, handle)| (position, handle, item_speed(items, handle, settings));
        singles.refill(row, now, travellers.iter().map(single));
        row.drop_ring();
        row.head = self.singles.insert(singles) as u32;
        row.flags |= SINGLE;
    }

    /// A row for one more lane.
    pub(crate) fn add_row(&mut self) -> u32 {
        self.rows.push(Lane::none());
        (self.rows.len() - 1) as u32
    }

    /// Makes an empty lane that leads nowhere, for a mirror.
    pub(crate) fn open(&mut self, lane: u32, now: u64, length: u32, class: u16, frozen: bool) {
        self.clear_singles(lane);
        let flags = if frozen { LIVE | FROZEN } else { LIVE };
        self.rows[lane as usize] = Lane::new(now, length, (NONE, NONE), 0, class, flags);
    }

    /// Makes room for `count` more items at once.
    pub(crate) fn reserve(&mut self, lane: u32, count: u32) {
        let row = &mut self.rows[lane as usize];
        if !row.is(SINGLE) {
            row.reserve(count);
        }
    }

    /// True where some lane keeps its items one by one.
    pub(crate) fn any_singles(&self) -> bool {
        !self.singles.is_empty()
    }

    /// Forgets a lane.
    pub(crate) fn remove(&mut self, lane: u32) {
        self.clear_singles(lane);
        self.rows[lane as usize] = Lane::none();
    }

    /// True where an item entered, left or moved after the end of tick `since`.
    pub(crate) fn changed_after(&self, lane: u32, since: u64) -> bool {
        let row = self.row(lane);
        match self.single(row) {
            Some(singles) => row.base > since || row.count > 0 && !singles.is_settled(),
            None => row.base > since || row.count > 0 && row.settled_at(self.settings(lane)) > since,
        }
    }

    /// True where nothing on the lane will move, unless something leaves.
    pub(crate) fn is_settled(&self, lane: u32, now: u64) -> bool {
        let row = self.row(lane);
        match self.single(row) {
            Some(singles) => row.count == 0 || singles.is_settled(),
            None => row.count == 0 || row.settled_at(self.settings(lane)) <= now,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Lane>()
            + self.rows.iter().map(Lane::ring_bytes).sum::<usize>()
            + self.singles.capacity() * size_of::<Singles>()
            + self.singles.iter().map(|(_, singles)| singles.bytes()).sum::<usize>()
    }

    fn single(&self, row: &Lane) -> Option<&Singles> {
        if row.is(SINGLE) { self.singles.get(row.head as usize) } else { None }
    }

    fn clear_singles(&mut self, lane: u32) {
        let row = &mut self.rows[lane as usize];
        if row.is(SINGLE) {
            self.singles.remove(row.head as usize);
            row.flags &= !SINGLE;
            row.head = 0;
        }
        row.due = NEVER;
    }
}

/// How fast an item moves on a lane.
fn item_speed(items: &Items, handle: u32, settings: LaneSettings) -> u32 {
    if settings.own_speeds() { items.speed(ItemHandle(handle), settings.speed()) } else { settings.speed() }
}
