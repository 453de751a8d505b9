//! A tick whose work is shared by threads; the outcome is that of [`TransitSolver::step`] for any number of them.
//!
//! Most junctions that have to be visited are simple: one item waits, and what it meets concerns no other junction (see
//! [`super::junction`]). So what is due is heard in parallel over entries, simple junctions are decided in parallel over
//! junctions, everything that gives or frees a handle is settled one by one in canonical order, and the moves are made
//! in parallel over lanes. Each lane is emptied by at most one move and filled by at most one, in either order.
//!
//! Nothing here starts a thread: the work goes to the pool that the caller runs in.

use std::cmp::Reverse;

use rayon::prelude::*;
use voxtick_worlds::Inventories;

use super::alone::{Plan, plan};
use super::junction::{Junction, View};
use super::lane::{FROZEN, LIVE, Lane, NEVER};
use super::lanes::Lanes;
use super::wheel::{Due, Entry};
use super::{TransitSolver, has_more};
use crate::endpoints::Endpoints;
use crate::events::EventKind;
use crate::network::NONE;

/// Fewer entries than this are not worth sharing, unless told otherwise.
pub(super) const LEAST_ENTRIES: usize = 256;

/// What one thread works with, kept from tick to tick.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    /// Junctions and inputs that entries name, by the part that the junction belongs to.
    heard: Vec<Vec<(u32, u16)>>,
    decided: Decided,
    made: Made,
}

/// What the junctions of one part decided.
#[derive(Debug, Clone, Default)]
struct Decided {
    listed: Vec<u32>,
    moves: Vec<Move>,
    /// What has to be done in canonical order, sorted by position.
    jobs: Vec<(u64, Job)>,
    /// Junctions where nothing stands, to be visited one by one, in any order.
    plain: Vec<u32>,
}

/// What came of the moves over the lanes of one part.
#[derive(Debug, Clone, Default)]
struct Made {
    arrivals: Vec<(u64, u32)>,
    full: Vec<u32>,
}

/// An item that goes from one lane to another, out of one, or into one.
#[derive(Debug, Clone, Copy)]
struct Move {
    from: u32,
    to: u32,
    position: u32,
    handle: u32,
}

/// Something that only one thread may do, and in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Job {
    Visit(u32),
    Deliver { sink: u32, handle: u32 },
    Feed { part: u32, at: u32, source: u32 },
}

impl TransitSolver {
    /// Runs one tick with the threads of the `rayon` pool that this is called in; with few events or one thread it is
    /// [`TransitSolver::step`]. The outcome is the same.
    pub fn step_parallel(&mut self, inventories: &mut Inventories) {
        let threads = rayon::current_num_threads();
        self.begin_tick();
        if threads < 2 || self.scratch.entries.len() < self.least_shared || self.lanes.any_singles() {
            self.run_listed(inventories);
            return;
        }
        self.call_changed(inventories);
        let mut parts = std::mem::take(&mut self.scratch.parts);
        parts.resize_with(threads, Part::default);
        self.hear(&mut parts);
        self.decide_in_parallel(&mut parts);
        for part in &mut parts {
            for joint in part.decided.plain.drain(..) {
                self.visit(joint, inventories);
            }
        }
        self.do_in_order(&mut parts, inventories);
        if self.feed.is_some() {
            for it in parts.iter().flat_map(|part| &part.decided.moves) {
                if it.from != NONE {
                    self.note_left(it.from);
                }
                if it.to != NONE {
                    self.note_entered(it.to, it.position, it.handle);
                }
            }
        }
        self.move_in_parallel(&mut parts);
        for part in &mut parts {
            for (due, lane) in part.made.arrivals.drain(..) {
                self.wheel.push(due, Due::Arrival(lane));
            }
        }
        for part in &mut parts {
            for lane in part.made.full.drain(..) {
                self.tell_upstream(lane);
            }
        }
        self.scratch.parts = parts;
        self.end_tick();
    }

    /// Shares ticks in which at least `entries` items arrive or sources are due (defaults to 256).
    #[must_use]
    pub fn with_least_shared(mut self, entries: usize) -> TransitSolver {
        self.least_shared = entries;
        self
    }

    /// Finds out, in parallel over entries, which junctions they call.
    fn hear(&mut self, parts: &mut [Part]) {
        let (lanes, endpoints, tick) = (&self.lanes, &self.endpoints, self.tick);
        let entries = &mut self.scratch.entries;
        let count = parts.len();
        let range = self.junctions.len().div_ceil(count).max(1);
        let share = entries.len().div_ceil(count).max(1);
        for part in parts.iter_mut() {
            part.heard.resize_with(count, Vec::new);
            part.heard.iter_mut().for_each(Vec::clear);
        }
        entries.par_chunks(share).zip(parts.par_iter_mut()).for_each(|(entries, part)| {
            for &entry in entries {
                if let Some((joint, input)) = called_by(entry, lanes, endpoints, tick) {
                    part.heard[joint as usize / range].push((joint, input));
                }
            }
        });
        entries.clear();
    }

    /// Decides, in parallel over junctions, what is simple; all else becomes a job.
    fn decide_in_parallel(&mut self, parts: &mut [Part]) {
        let view =
            View { lanes: &self.lanes, endpoints: &self.endpoints, items: &self.items, now: self.tick };
        let range = self.junctions.len().div_ceil(parts.len()).max(1);
        let (heard, mut decided): (Vec<_>, Vec<_>) =
            parts.iter_mut().map(|part| (&part.heard, &mut part.decided)).unzip();
        self.junctions.par_chunks_mut(range).zip(decided.par_iter_mut()).enumerate().for_each(
            |(at, (junctions, decided))| {
                let first = at * range;
                for &(joint, input) in heard.iter().flat_map(|heard| &heard[at]) {
                    decided.hear(&mut junctions[joint as usize - first], joint, input, view.now);
                }
                decided.decide(junctions, first, at as u32, &view);
            },
        );
    }

    /// Does in canonical order what gives or frees handles, and visits the junctions that are not simple.
    fn do_in_order(&mut self, parts: &mut [Part], inventories: &mut Inventories) {
        let mut jobs = std::mem::take(&mut self.scratch.jobs);
        jobs.extend(self.scratch.visits.drain(..).map(|(key, joint)| (key, Job::Visit(joint))));
        for part in parts.iter_mut() {
            jobs.append(&mut part.decided.jobs);
        }
        // Runs that are sorted already are merged.
        jobs.sort();
        for &(key, job) in &jobs {
            while let Some(&Reverse(called)) = self.scratch.called.peek()
                && called.0 < key
            {
                self.scratch.called.pop();
                self.visit(called.1, inventories);
            }
            match job {
                Job::Visit(joint) => self.visit(joint, inventories),
                Job::Deliver { sink, handle } => {
                    let row = &mut self.endpoints.sinks[sink as usize];
                    row.taken += 1;
                    row.last = self.tick;
                    self.totals.delivered += 1;
                    self.events.push(EventKind::Delivered, key, handle);
                }
                Job::Feed { part, at, source } => {
                    let row = &mut self.endpoints.sources[source as usize];
                    if let Some(stack) = row.draw(self.tick, &mut self.items, None) {
                        let handle = self.items.add(stack, row.source.speed).0;
                        parts[part as usize].decided.moves[at as usize].handle = handle;
                        self.totals.created += 1;
                        self.events.push(EventKind::Created, key, handle);
                    }
                    if has_more(row) {
                        self.wheel.push(row.due, Due::Source(source));
                    }
                }
            }
        }
        while let Some(Reverse(called)) = self.scratch.called.pop() {
            self.visit(called.1, inventories);
        }
        jobs.clear();
        self.scratch.jobs = jobs;
    }

    /// Makes the moves, in parallel over lanes.
    fn move_in_parallel(&mut self, parts: &mut [Part]) {
        let now = self.tick;
        let range = self.lanes.rows.len().div_ceil(parts.len()).max(1);
        let classes = &self.lanes.classes;
        let (decided, mut made): (Vec<_>, Vec<_>) =
            parts.iter_mut().map(|part| (&mut part.decided, &mut part.made)).unzip();
        self.lanes.rows.par_chunks_mut(range).zip(made.par_iter_mut()).enumerate().for_each(
            |(at, (rows, made))| {
                let first = (at * range) as u32;
                for it in decided.iter().flat_map(|decided| &decided.moves) {
                    if let Some(row) = rows.get_mut(it.from.wrapping_sub(first) as usize) {
                        let settings = classes[usize::from(row.class)];
                        row.settle(now, settings);
                        row.pop(now, settings);
                        if row.due != NEVER {
                            made.arrivals.push((row.due, it.from));
                        }
                        if row.room(now, settings) < 0 {
                            made.full.push(it.from);
                        }
                    }
                    if let Some(row) = rows.get_mut(it.to.wrapping_sub(first) as usize) {
                        let settings = classes[usize::from(row.class)];
                        row.settle(now, settings);
                        row.push(now, settings, it.position, it.handle);
                        if row.count == 1 {
                            made.arrivals.push((row.due, it.to));
                        }
                    }
                }
            },
        );
        for decided in decided {
            decided.moves.clear();
        }
    }
}

impl Decided {
    fn hear(&mut self, junction: &mut Junction, joint: u32, input: u16, now: u64) {
        if input == 0 {
            if junction.next_visit != now {
                return;
            }
            junction.next_visit = u64::MAX;
        }
        junction.waiting |= input;
        if !junction.listed {
            junction.listed = true;
            self.listed.push(joint);
        }
    }

    fn decide(&mut self, junctions: &mut [Junction], first: usize, part: u32, view: &View<'_>) {
        for joint in self.listed.drain(..) {
            let junction = &mut junctions[joint as usize - first];
            let (mut from, mut to, mut position, mut handle) = (NONE, NONE, 0, 0);
            match plan(view, junction) {
                Plan::General if junction.station == NONE => {
                    self.plain.push(joint);
                    continue;
                }
                Plan::General => {
                    self.jobs.push((junction.key, Job::Visit(joint)));
                    continue;
                }
                Plan::HandOver { from: source, direction, position: at } => {
                    junction.cursor = direction + 1;
                    (from, to, position) = (source, junction.outs[usize::from(direction)], at);
                    handle = view.lanes.front(source);
                }
                Plan::Deliver { from: source } => {
                    from = source;
                    handle = view.lanes.front(source);
                    self.jobs.push((junction.key, Job::Deliver { sink: junction.sink, handle }));
                }
                Plan::Feed { source, to: target } => {
                    to = target;
                    let at = self.moves.len() as u32;
                    self.jobs.push((junction.key, Job::Feed { part, at, source }));
                }
            }
            junction.waiting = 0;
            junction.listed = false;
            self.moves.push(Move { from, to, position, handle });
        }
        self.jobs.sort_unstable();
    }
}

/// The junction that an entry calls, and the input that waits from now on: none for a note to visit the junction.
fn called_by(entry: Entry, lanes: &Lanes, endpoints: &Endpoints, tick: u64) -> Option<(u32, u16)> {
    match entry.due() {
        Due::Arrival(lane) => {
            let row: &Lane = lanes.row(lane);
            (row.due == tick && row.flags & (LIVE | FROZEN) == LIVE)
                .then(|| (row.to, 1 << (row.direction ^ 1)))
        }
        Due::Source(source) => {
            let row = &endpoints.sources[source as usize];
            let input = 6 + row.source.lane.direction.index();
            (row.due == tick && row.joint != NONE).then_some((row.joint, 1 << input))
        }
        Due::Junction(joint) => Some((joint, 0)),
    }
}
