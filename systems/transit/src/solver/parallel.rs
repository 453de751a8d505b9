//! A tick whose work is shared by threads; the outcome is that of [`TransitSolver::step`] for any number of them.
//!
//! Most junctions that have to be visited are simple: one item waits, and what it meets concerns no other junction (see
//! [`super::junction`]). So shards of lanes find in parallel what arrives on them (and run the ticks of their single
//! items), simple junctions are decided in parallel, everything that gives or frees a handle is settled one by one in
//! canonical order, and the moves are made in parallel over shards. What meets lanes of one thread's shards only, nearly
//! all in a network laid in some order, is not decided first and moved later but done at once. Each lane is emptied by
//! at most one move and filled by at most one, in either order.
//!
//! Nothing here starts a thread: the work goes to the pool that the caller runs in.

use std::cmp::Reverse;

use rayon::prelude::*;
use voxtick_worlds::Inventories;

use super::alone::{Local, Plan, plan, visit_locally};
use super::junction::{Junction, View};
use super::lane::SINGLE;
use super::lanes::{Lanes, SHARD_BITS, Stretch};
use super::runs;
use super::visit::has_more;
use super::wheel::Due;
use super::{AHEAD, TransitSolver, touch};
use crate::endpoints::Endpoints;
use crate::events::EventKind;
use crate::network::NONE;

/// Where fewer were due in the tick before, a tick is not worth sharing, unless told otherwise.
pub(super) const LEAST_DUE: usize = 256;

/// What threads work with, one row a thread, kept from tick to tick.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    heard: Vec<Heard>,
    decided: Vec<Decided>,
    /// Lanes that an item left and that have no room behind.
    full: Vec<Vec<u32>>,
    /// How many jobs of each part have been done.
    done: Vec<usize>,
}

/// Junctions and inputs that something due calls, by the part that the junction belongs to.
#[derive(Debug, Clone, Default)]
struct Heard {
    by_part: Vec<Vec<(u32, u16)>>,
    rows: Vec<u32>,
}

/// What the junctions of one part decided.
#[derive(Debug, Clone, Default)]
struct Decided {
    /// What is due in this tick has been listed.
    heard: bool,
    listed: Vec<u32>,
    /// By the part that the lane belongs to.
    moves: Vec<Moves>,
    /// What has to be done in canonical order, sorted by position.
    jobs: Vec<(u64, Job)>,
    sorted: Vec<(u64, Job)>,
    /// Junctions where nothing stands, to be visited one by one, in any order.
    plain: Vec<u32>,
}

/// What happens to the lanes of one part.
#[derive(Debug, Clone, Default)]
struct Moves {
    left: Vec<u32>,
    entered: Vec<Entered>,
}

/// An item that comes onto a lane.
#[derive(Debug, Clone, Copy)]
struct Entered {
    lane: u32,
    position: u32,
    handle: u32,
}

/// Something that only one thread may do, and in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Job {
    Visit(u32),
    Deliver { sink: u32, handle: u32 },
    Feed { source: u32, lanes: u32, at: u32 },
}

impl TransitSolver {
    /// Runs one tick with the threads of the `rayon` pool that this is called in; with little to do or one thread it is
    /// [`TransitSolver::step`]. The outcome is the same.
    pub fn step_parallel(&mut self, inventories: &mut Inventories) {
        let threads = rayon::current_num_threads();
        if threads < 2 || self.due < self.least_shared {
            self.step(inventories);
            return;
        }
        self.begin_tick();
        self.call_changed(inventories);
        let mut parts = std::mem::take(&mut self.scratch.parts);
        parts.resize(threads);
        self.hear(&mut parts);
        if self.feed.is_none() {
            self.run_locally(&mut parts);
        }
        self.decide_in_parallel(&mut parts);
        for decided in &mut parts.decided {
            for joint in decided.plain.drain(..) {
                self.visit(joint, inventories);
            }
        }
        self.do_in_order(&mut parts, inventories);
        if self.feed.is_some() {
            for moves in parts.decided.iter().flat_map(|decided| &decided.moves) {
                moves.left.iter().for_each(|&lane| self.note_left(lane));
                moves.entered.iter().for_each(|it| self.note_entered(it.lane, it.position, it.handle));
            }
        }
        self.move_in_parallel(&mut parts);
        for full in &mut parts.full {
            for lane in full.drain(..) {
                self.tell_upstream(lane);
            }
        }
        self.scratch.parts = parts;
        self.end_tick();
    }

    /// Shares a tick if at least `count` items arrived or sources were due in the one before (defaults to 256).
    #[must_use]
    pub fn with_least_shared(mut self, count: usize) -> TransitSolver {
        self.least_shared = count;
        self
    }

    /// Finds out, in parallel over shards of lanes and over other entries, which junctions are called.
    fn hear(&mut self, parts: &mut Parts) {
        let count = parts.heard.len();
        let junctions = self.junctions.len().div_ceil(count).max(1);
        let (tick, endpoints, entries) = (self.tick, &self.endpoints, &self.scratch.entries);
        self.lanes.advanced();
        let classes = &self.lanes.classes;
        let share = self.lanes.shards.len().div_ceil(count).max(1);
        self.lanes.shards.par_chunks_mut(share).zip(parts.heard.par_iter_mut()).for_each(
            |(shards, heard)| {
                for shard in shards {
                    let mut rows = std::mem::take(&mut heard.rows);
                    shard.advance(&mut rows);
                    for row in rows.drain(..) {
                        let row = row as usize;
                        if !shard.rows[row].arrives(tick) {
                            continue;
                        }
                        if shard.rows[row].is(SINGLE) {
                            // Its item is about to leave: all that is behind it is run by this thread now.
                            shard.settle(row, tick, classes[usize::from(shard.rows[row].class)]);
                        }
                        let it = &shard.rows[row];
                        let call = (it.to, 1u16 << (it.direction ^ 1));
                        heard.by_part[it.to as usize / junctions].push(call);
                    }
                    heard.rows = rows;
                }
            },
        );
        let share = entries.len().div_ceil(count).max(1);
        entries.par_chunks(share).zip(parts.heard.par_iter_mut()).for_each(|(entries, heard)| {
            for &entry in entries {
                if let Some((joint, input)) = called_by(Due::of(entry), endpoints, tick) {
                    heard.by_part[joint as usize / junctions].push((joint, input));
                }
            }
        });
        self.scratch.entries.clear();
        self.due = parts.heard.iter().flat_map(|heard| &heard.by_part).map(Vec::len).sum();
    }

    /// Does, in parallel over shards of lanes and the junctions whose rows lie alike, what is simple and meets lanes of one
    /// part only: where pipes were laid in some order, nearly all there is.
    fn run_locally(&mut self, parts: &mut Parts) {
        let count = parts.heard.len();
        let junctions = self.junctions.len().div_ceil(count).max(1);
        let share = self.lanes.shards.len().div_ceil(count).max(1);
        let (now, endpoints, classes) = (self.tick, &self.endpoints, &self.lanes.classes);
        let heard = &parts.heard;
        let shards = self.lanes.shards.par_chunks_mut(share).zip(parts.full.par_iter_mut());
        let rows = self.junctions.par_chunks_mut(junctions).zip(parts.decided.par_iter_mut());
        shards.zip(rows).enumerate().for_each(|(at, ((shards, full), (rows, decided)))| {
            let first = at * junctions;
            decided.hear(rows, first, heard.iter().flat_map(|heard| &heard.by_part[at]), now);
            let lanes = Stretch { shards, first: at * share, classes };
            decided.run(rows, first, lanes, endpoints, now, at, full);
        });
    }

    /// Decides, in parallel over junctions, what else is simple; all else becomes a job.
    fn decide_in_parallel(&mut self, parts: &mut Parts) {
        let view =
            View { lanes: &self.lanes, endpoints: &self.endpoints, items: &self.items, now: self.tick };
        let count = parts.heard.len();
        let junctions = self.junctions.len().div_ceil(count).max(1);
        let lanes = lanes_of_part(&self.lanes, count);
        let heard = &parts.heard;
        self.junctions.par_chunks_mut(junctions).zip(parts.decided.par_iter_mut()).enumerate().for_each(
            |(at, (rows, decided))| {
                let first = at * junctions;
                decided.hear(rows, first, heard.iter().flat_map(|heard| &heard.by_part[at]), view.now);
                decided.decide(rows, first, lanes, &view);
            },
        );
        parts.heard.iter_mut().flat_map(|heard| &mut heard.by_part).for_each(Vec::clear);
    }

    /// Does in canonical order what gives or frees handles, and visits the junctions that are not simple.
    fn do_in_order(&mut self, parts: &mut Parts, inventories: &mut Inventories) {
        let mut visits = std::mem::take(&mut self.scratch.visits);
        runs::sort(&mut visits, &mut self.scratch.sorted);
        let mut visited = 0;
        parts.done.fill(0);
        loop {
            // The first of what is left of each sorted list.
            let visit = visits.get(visited).map(|&(key, joint)| ((key, Job::Visit(joint)), parts.done.len()));
            let jobs = parts.decided.iter().zip(&parts.done).enumerate();
            let jobs = jobs.filter_map(|(part, (decided, &done))| Some((*decided.jobs.get(done)?, part)));
            let Some(((key, job), part)) = jobs.chain(visit).min() else { break };
            match parts.done.get_mut(part) {
                Some(done) => *done += 1,
                None => visited += 1,
            }
            self.visit_called_before(key, inventories);
            match job {
                Job::Visit(joint) => self.visit(joint, inventories),
                Job::Deliver { sink, handle } => {
                    let row = &mut self.endpoints.sinks[sink as usize];
                    row.taken += 1;
                    row.last = self.tick;
                    self.totals.delivered += 1;
                    self.events.push(EventKind::Delivered, key, handle);
                }
                Job::Feed { source, lanes, at } => {
                    let row = &mut self.endpoints.sources[source as usize];
                    if let Some(stack) = row.draw(self.tick, &mut self.items, None) {
                        let handle = self.items.add(stack, row.source.speed).0;
                        parts.decided[part].moves[lanes as usize].entered[at as usize].handle = handle;
                        self.totals.created += 1;
                        self.events.push(EventKind::Created, key, handle);
                    }
                    if has_more(row) {
                        self.wheel.push(row.due, Due::Source(source).entry());
                    }
                }
            }
        }
        self.visit_called_before(u64::MAX, inventories);
        parts.decided.iter_mut().for_each(|decided| decided.jobs.clear());
        visits.clear();
        self.scratch.visits = visits;
    }

    /// Visits junctions that a container's change has called and whose turn comes before that at `key`.
    fn visit_called_before(&mut self, key: u64, inventories: &mut Inventories) {
        while let Some(&Reverse(called)) = self.scratch.called.peek()
            && called.0 < key
        {
            self.scratch.called.pop();
            self.visit(called.1, inventories);
        }
    }

    /// Makes the moves, in parallel over shards of lanes.
    fn move_in_parallel(&mut self, parts: &mut Parts) {
        let now = self.tick;
        let share = self.lanes.shards.len().div_ceil(parts.heard.len()).max(1);
        let classes = &self.lanes.classes;
        let decided = &parts.decided;
        self.lanes.shards.par_chunks_mut(share).zip(parts.full.par_iter_mut()).enumerate().for_each(
            |(at, (shards, full))| {
                let first = at * share;
                for moves in decided.iter().map(|decided| &decided.moves[at]) {
                    for &lane in &moves.left {
                        let shard = &mut shards[(lane >> SHARD_BITS) as usize - first];
                        let row = lane as usize % (1 << SHARD_BITS);
                        let settings = classes[usize::from(shard.rows[row].class)];
                        if shard.leave_gaps(row, now, settings) {
                            full.push(lane);
                        }
                    }
                    for it in &moves.entered {
                        let shard = &mut shards[(it.lane >> SHARD_BITS) as usize - first];
                        let row = it.lane as usize % (1 << SHARD_BITS);
                        let settings = classes[usize::from(shard.rows[row].class)];
                        shard.enter_gaps(row, now, settings, it.position, it.handle);
                    }
                }
            },
        );
        for moves in parts.decided.iter_mut().flat_map(|decided| &mut decided.moves) {
            moves.left.clear();
            moves.entered.clear();
        }
    }
}

impl Parts {
    /// Rows for so many threads, each with a list for every other.
    fn resize(&mut self, count: usize) {
        self.heard.resize_with(count, Heard::default);
        self.heard.iter_mut().for_each(|heard| heard.by_part.resize_with(count, Vec::new));
        self.decided.resize_with(count, Decided::default);
        self.decided.iter_mut().for_each(|decided| decided.moves.resize_with(count, Moves::default));
        self.full.resize_with(count, Vec::new);
        self.done.resize(count, 0);
    }
}

impl Decided {
    /// Lists the junctions that are called, unless that has been done in this tick.
    fn hear<'a>(
        &mut self,
        junctions: &mut [Junction],
        first: usize,
        calls: impl Iterator<Item = &'a (u32, u16)>,
        now: u64,
    ) {
        if std::mem::replace(&mut self.heard, true) {
            return;
        }
        for &(joint, input) in calls {
            let junction = &mut junctions[joint as usize - first];
            if input == 0 {
                if junction.next_visit != now {
                    continue;
                }
                junction.next_visit = u64::MAX;
            }
            junction.waiting |= input;
            if !junction.listed {
                junction.listed = true;
                self.listed.push(joint);
            }
        }
    }

    /// Visits the junctions that are simple and need only `lanes`, those of part `part`, and leaves the others listed.
    #[expect(clippy::too_many_arguments, reason = "what one thread works with")]
    fn run(
        &mut self,
        junctions: &mut [Junction],
        first: usize,
        mut lanes: Stretch<'_>,
        endpoints: &Endpoints,
        now: u64,
        part: usize,
        full: &mut Vec<u32>,
    ) {
        let mut kept = 0;
        for at in 0..self.listed.len() {
            if at % AHEAD == 0 {
                touch(junctions, first, &lanes, self.listed[at..].iter().copied());
            }
            let joint = self.listed[at];
            let junction = &mut junctions[joint as usize - first];
            let (lane, opens) = match visit_locally(junction, &mut lanes, endpoints, now) {
                Local::Passed(from, opens) => (from, opens),
                Local::Delivered(from, opens, handle) => {
                    self.jobs.push((junction.key, Job::Deliver { sink: junction.sink, handle }));
                    (from, opens)
                }
                Local::Feed(source, lane) => {
                    self.feed(junction.key, source, lane, part as u32);
                    continue;
                }
                Local::Left => {
                    self.listed[kept] = joint;
                    kept += 1;
                    continue;
                }
            };
            if opens {
                full.push(lane);
            }
        }
        self.listed.truncate(kept);
    }

    /// Notes an item for a lane of part `lanes`, whose handle is given in canonical order.
    fn feed(&mut self, key: u64, source: u32, lane: u32, lanes: u32) {
        let entered = &mut self.moves[lanes as usize].entered;
        let at = entered.len() as u32;
        self.jobs.push((key, Job::Feed { source, lanes, at }));
        entered.push(Entered { lane, position: 0, handle: NONE });
    }

    /// `lanes` is how many lanes a part has.
    fn decide(&mut self, junctions: &mut [Junction], first: usize, lanes: u32, view: &View<'_>) {
        for at in 0..self.listed.len() {
            let joint = self.listed[at];
            let junction = &mut junctions[joint as usize - first];
            match plan(view, junction) {
                Plan::General if junction.station == NONE => {
                    self.plain.push(joint);
                    continue;
                }
                Plan::General => {
                    self.jobs.push((junction.key, Job::Visit(joint)));
                    continue;
                }
                Plan::HandOver { from, direction, position } => {
                    junction.cursor = direction + 1;
                    let lane = junction.outs[usize::from(direction)];
                    let handle = view.lanes.front(from);
                    self.moves[(from / lanes) as usize].left.push(from);
                    self.moves[(lane / lanes) as usize].entered.push(Entered { lane, position, handle });
                }
                Plan::Deliver { from } => {
                    let handle = view.lanes.front(from);
                    self.moves[(from / lanes) as usize].left.push(from);
                    self.jobs.push((junction.key, Job::Deliver { sink: junction.sink, handle }));
                }
                Plan::Feed { source, to: lane } => {
                    self.feed(junction.key, source, lane, lane / lanes);
                }
            }
            junction.waiting = 0;
            junction.listed = false;
        }
        self.listed.clear();
        self.heard = false;
        runs::sort(&mut self.jobs, &mut self.sorted);
    }
}

/// How many lanes belong to each of `count` parts.
fn lanes_of_part(lanes: &Lanes, count: usize) -> u32 {
    (lanes.shards.len().div_ceil(count).max(1) << SHARD_BITS) as u32
}

/// The junction that an entry calls, and the input that waits from now on: none for a note to visit the junction.
fn called_by(due: Due, endpoints: &Endpoints, tick: u64) -> Option<(u32, u16)> {
    match due {
        Due::Source(source) => {
            let row = &endpoints.sources[source as usize];
            let input = 6 + row.source.lane.direction.index();
            (row.due == tick && row.joint != NONE).then_some((row.joint, 1 << input))
        }
        Due::Junction(joint) => Some((joint, 0)),
    }
}
