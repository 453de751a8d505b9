//! Items in transit, at a cost per event: [`TransitSolver`].
//!
//! Rules and outcome are those of [`mod@crate::reference`], tick for tick. What differs is what is looked at:
//! - Items on a lane are gaps ([`lane`]): a lane is touched when an item enters or leaves it, and by nothing else.
//! - When the front item of a lane will arrive is known, and noted in a timing wheel ([`wheel`]).
//! - A junction is visited when something arrives, and while something waits there, only when that could change the
//!   outcome: a lane it could use opens, a sink is ready again, a container changed, a router says so.
//!
//! So a tick costs O(arrivals + departures + wake-ups), whatever the number of items, and a network in which nothing
//! can move costs nothing. Lanes on which items have their own speeds cost per item where they flow.

mod alone;
mod chunks;
mod edits;
mod feed;
mod junction;
mod lane;
mod lanes;
mod parallel;
mod prefix;
mod runs;
mod save;
mod single;
mod slots;
mod state;
mod visit;
mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;
use voxtick_worlds::{BlockPos, ChunkPos, ContainerId, Inventories};

use crate::endpoints::Endpoints;
use crate::events::{EventKind, Events, Spill, Totals};
use crate::items::{ItemHandle, Items};
use crate::network::{LaneName, NONE, SegmentedGraph};
use crate::settings::LaneSettings;
use junction::Junction;
pub(crate) use lanes::Lanes;
use lanes::Stretch;
use wheel::{Due, Wheel};

/// Moves items through a network of pipes.
///
/// ```
/// use voxtick_transit::{Connections, LaneName, LaneSettings, Room, SegmentedGraph, Sink, Source, Supply, TransitSolver};
/// use voxtick_worlds::{BlockPos, Direction::{East, West}, Inventories, ItemKind, ItemStack};
///
/// let (start, end) = (BlockPos::new(0, 64, 0), BlockPos::new(8, 64, 0));
/// let mut graph = SegmentedGraph::new();
/// for x in 0..=8 {
///     let mask = match x { 0 => Connections::of(&[East]), 8 => Connections::of(&[West]), _ => Connections::of(&[East, West]) };
///     graph.add(BlockPos::new(x, 64, 0), mask)?;
/// }
/// let mut transit = TransitSolver::new(graph, LaneSettings::default());
/// transit.add_source(Source {
///     lane: LaneName { from: start, direction: East },
///     stack: ItemStack::new(ItemKind(1), 16, 64),
///     speed: 0,
///     period: 10,
///     delay: 0,
///     supply: Supply::Items(3),
/// })?;
/// transit.add_sink(Sink { position: end, kind: None, period: 0, room: Room::Endless })?;
/// let mut inventories = Inventories::default();
/// for _ in 0..200 {
///     transit.step(&mut inventories);
/// }
/// assert_eq!(transit.totals().delivered, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TransitSolver {
    graph: SegmentedGraph,
    lanes: Lanes,
    junctions: Vec<Junction>,
    /// Per node, the row of its junction; `NONE` for nodes that pass through.
    joints: Vec<u32>,
    free_joints: Vec<u32>,
    endpoints: Endpoints,
    items: Items,
    wheel: Wheel,
    events: Events,
    spills: Vec<Spill>,
    totals: Totals,
    unloaded: FxHashSet<ChunkPos>,
    /// Chunks whose items have been taken out.
    away: FxHashSet<ChunkPos>,
    polled: bool,
    least_shared: usize,
    /// How many items arrived and sources were due in the last tick.
    due: usize,
    feed: Option<Box<feed::Feed>>,
    tick: u64,
    scratch: Scratch,
}

/// Up to so many lanes all that visits need stays in the cache from tick to tick.
const IN_CACHE: usize = 4096;
/// How many visits are prepared together.
const AHEAD: usize = 16;

/// What a step needs only while it runs.
#[derive(Debug, Clone, Default)]
struct Scratch {
    /// Sources and junctions that are due.
    entries: Vec<u32>,
    /// Rows of lanes whose front item may arrive.
    rows: Vec<u32>,
    /// Junctions to visit where something stands, by position.
    visits: Vec<(u64, u32)>,
    sorted: Vec<(u64, u32)>,
    /// Junctions to visit where nothing stands.
    plain: Vec<u32>,
    order: Vec<u32>,
    /// Junctions that a container's change calls for while the tick runs.
    called: BinaryHeap<Reverse<(u64, u32)>>,
    changed: Vec<ContainerId>,
    parts: parallel::Parts,
}

impl TransitSolver {
    /// A solver over `graph` whose lanes all move by `settings`.
    #[must_use]
    pub fn new(graph: SegmentedGraph, settings: LaneSettings) -> TransitSolver {
        let mut solver = TransitSolver {
            lanes: Lanes::new(settings),
            junctions: Vec::new(),
            joints: vec![NONE; graph.node_slots()],
            free_joints: Vec::new(),
            graph,
            endpoints: Endpoints::new(),
            items: Items::new(),
            wheel: Wheel::new(0),
            events: Events::default(),
            spills: Vec::new(),
            totals: Totals::default(),
            unloaded: FxHashSet::default(),
            away: FxHashSet::default(),
            polled: false,
            least_shared: parallel::LEAST_DUE,
            due: 0,
            feed: None,
            tick: 0,
            scratch: Scratch::default(),
        };
        solver.open_all_lanes();
        solver
    }

    /// Asks every junction where something waits in every tick, as the reference does, instead of when it could matter.
    /// The outcome is the same; the mode exists to prove that.
    #[must_use]
    pub fn with_polling(mut self) -> TransitSolver {
        self.polled = true;
        for joint in 0..self.junctions.len() as u32 {
            if self.junctions[joint as usize].waiting != 0 {
                self.recheck(joint, self.tick + 1);
            }
        }
        self
    }

    /// Runs one tick.
    pub fn step(&mut self, inventories: &mut Inventories) {
        self.begin_tick();
        self.list_arrivals();
        self.run_listed(inventories);
    }

    /// Goes on to the next tick and takes out of the wheel what is due in it.
    fn begin_tick(&mut self) {
        if self.feed.is_some() {
            self.note_changes_between_ticks();
        }
        self.tick += 1;
        self.release_delivered();
        self.wheel.advance(&mut self.scratch.entries);
    }

    /// Visits all junctions that what is due calls, one by one.
    fn run_listed(&mut self, inventories: &mut Inventories) {
        self.list_visits();
        self.call_changed(inventories);
        // Where nothing stands, nothing is created or delivered, and the order of visits cannot be told.
        let far = self.lanes.len() > IN_CACHE;
        let mut plain = std::mem::take(&mut self.scratch.plain);
        for (at, &joint) in plain.iter().enumerate() {
            if far && at % AHEAD == 0 {
                touch(&self.junctions, 0, &self.lanes.whole(), plain[at..].iter().copied());
            }
            if !self.pass_on_alone(joint) {
                self.visit(joint, inventories);
            }
        }
        plain.clear();
        self.scratch.plain = plain;
        if !self.scratch.visits.is_empty() {
            self.run_in_order(far, inventories);
        }
        self.end_tick();
    }

    /// Visits, by position, the junctions where something stands.
    fn run_in_order(&mut self, far: bool, inventories: &mut Inventories) {
        let mut visits = std::mem::take(&mut self.scratch.visits);
        runs::sort(&mut visits, &mut self.scratch.sorted);
        for (at, &visit) in visits.iter().enumerate() {
            if far && at % AHEAD == 0 {
                let joints = visits[at..].iter().map(|&(_, joint)| joint);
                touch(&self.junctions, 0, &self.lanes.whole(), joints);
            }
            while let Some(&Reverse(called)) = self.scratch.called.peek()
                && called < visit
            {
                self.scratch.called.pop();
                self.visit(called.1, inventories);
            }
            if !self.feed_or_deliver_alone(visit.1) {
                self.visit(visit.1, inventories);
            }
        }
        while let Some(Reverse(called)) = self.scratch.called.pop() {
            self.visit(called.1, inventories);
        }
        visits.clear();
        self.scratch.visits = visits;
    }

    /// Puts what happened in order.
    fn end_tick(&mut self) {
        if self.events.len() > 1 {
            self.events.sort(&mut self.scratch.order);
        }
        if self.feed.is_some() {
            self.note_tick();
        }
    }

    /// Handles of what was delivered in the last step are free from now on.
    fn release_delivered(&mut self) {
        for row in 0..self.events.len() {
            if self.events.kinds[row] == EventKind::Delivered {
                self.items.remove(ItemHandle(self.events.handles[row]));
            }
        }
        self.events.clear();
    }

    /// Puts the junctions on the list at which front items arrive.
    fn list_arrivals(&mut self) {
        let Scratch { rows, visits, plain, .. } = &mut self.scratch;
        let (junctions, due) = (&mut self.junctions, &mut self.due);
        *due = 0;
        self.lanes.advance(rows, |lane| {
            *due += 1;
            let joint = &mut junctions[lane.to as usize];
            joint.list(lane.to, 1 << (lane.direction ^ 1), plain, visits);
        });
    }

    /// Puts the junctions on the list at which something else is due.
    fn list_visits(&mut self) {
        if self.scratch.entries.is_empty() {
            return;
        }
        self.due += self.scratch.entries.len();
        let mut entries = std::mem::take(&mut self.scratch.entries);
        for entry in entries.drain(..) {
            match Due::of(entry) {
                Due::Source(source) => {
                    let row = &self.endpoints.sources[source as usize];
                    if row.due == self.tick && row.joint != NONE {
                        let input = 6 + row.source.lane.direction.index();
                        self.list(row.joint, 1 << input);
                    }
                }
                Due::Junction(joint) => {
                    let junction = &mut self.junctions[joint as usize];
                    if junction.next_visit == self.tick {
                        junction.next_visit = u64::MAX;
                        self.list(joint, 0);
                    }
                }
            }
        }
        self.scratch.entries = entries;
    }

    /// Puts the junctions on the list that are tied to a container that changed since the last tick.
    fn call_changed(&mut self, inventories: &mut Inventories) {
        let mut changed = std::mem::take(&mut self.scratch.changed);
        inventories.take_changed(&mut changed);
        for container in changed.drain(..) {
            self.call_tied(container, None);
        }
        self.scratch.changed = changed;
    }

    fn list(&mut self, joint: u32, waiting: u16) {
        let Scratch { visits, plain, .. } = &mut self.scratch;
        self.junctions[joint as usize].list(joint, waiting, plain, visits);
    }

    /// Calls the junctions tied to a container that changed: before the tick, or while the junction at `by` is visited.
    fn call_tied(&mut self, container: ContainerId, by: Option<u64>) {
        let Some(tied) = self.endpoints.tied.get(&container) else { return };
        for &key in tied {
            let Some(joint) = self.graph.find_key(key).and_then(|node| joint_of(&self.joints, node)) else {
                continue;
            };
            let junction = &mut self.junctions[joint as usize];
            if junction.waiting == 0 || junction.listed {
                continue;
            }
            match by {
                None => {
                    junction.listed = true;
                    self.scratch.visits.push((key, joint));
                }
                Some(by) if key > by => {
                    junction.listed = true;
                    self.scratch.called.push(Reverse((key, joint)));
                }
                Some(_) if junction.next_visit > self.tick + 1 => {
                    junction.next_visit = self.tick + 1;
                    self.wheel.push(self.tick + 1, Due::Junction(joint).entry());
                }
                Some(_) => {}
            }
        }
    }

    fn find_lane(&self, name: LaneName) -> Option<u32> {
        let lane = self.junctions[self.joint_at(name.from)? as usize].outs[name.direction.index()];
        (lane != NONE).then_some(lane)
    }

    fn joint_at(&self, position: BlockPos) -> Option<u32> {
        joint_of(&self.joints, self.graph.find(position)?)
    }
}

/// Reads what the next visits will need, all at once; the first of `junctions` is row `first`.
///
/// PERF: visits read a chain of rows that lie far apart, one after the other; here the reads of many visits are on
/// their way together. Measured on 8 million flowing items, where nothing is in the cache.
fn touch(junctions: &[Junction], first: usize, lanes: &Stretch<'_>, joints: impl Iterator<Item = u32>) {
    let mut sum = 0u32;
    for joint in joints.take(AHEAD) {
        let junction = &junctions[joint as usize - first];
        let input = junction.waiting.trailing_zeros() as usize;
        if let Some(&out) = junction.outs.get(input) {
            sum ^= lanes.touch(out ^ 1, true) ^ junction.sink;
        } else if let Some(&out) = junction.outs.get(input.wrapping_sub(6)).filter(|&&out| out != NONE) {
            sum ^= lanes.touch(out, false) ^ junction.station;
        }
    }
    std::hint::black_box(sum);
}

/// The row of the junction at a node.
fn joint_of(joints: &[u32], node: u32) -> Option<u32> {
    joints.get(node as usize).copied().filter(|&joint| joint != NONE)
}
