//! Pipes: items by gaps and events against the same items moved one by one, and the cost of laying and editing pipes.
//!
//! Items move one block a second and lie at least an eighth of a block apart unless a case says otherwise. Both sides
//! run the same ticks in turn; after that their events, totals and every item's place are compared, before and after
//! the timed part.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;
use voxtick::transit::{
    Connections, Fill, LaneSettings, Layout, Lines, ReferenceTransit, SegmentedGraph, TransitSolver, UNIT,
};
use voxtick::worlds::{BlockPos, Direction, Inventories, ItemKind, ItemStack};

use super::{Case, CaseError, Pair};

/// Ticks of one call of either side.
const TICKS: u32 = 30;
/// Where a lane is looked at every third tick: enough that the ticks in which all that the other side threw out of the
/// cache comes back are no large part.
const LONG: u32 = 90;

const SIDES: (&str, &str) = ("solver", "one by one");

pub(super) fn cases() -> Vec<Case> {
    let settings = LaneSettings::default();
    let mut cases = Vec::new();
    for items in [200_000, 2_000_000, 8_000_000] {
        cases.push(moving(format!("transit/flowing/n={items}"), settings, items, LONG, move || {
            lines(&Lines::flowing(100, items, settings, 3))
        }));
    }
    for items in [200_000, 2_000_000, 8_000_000] {
        cases.push(moving(format!("transit/backed-up/n={items}"), settings, items, TICKS, move || {
            lines(&Lines::backed_up(100, items, settings))
        }));
    }
    for blocks in [20, 200] {
        for items in [2_000, 20_000, 100_000] {
            let name = format!("transit/loop/blocks={blocks}/n={items}");
            cases.push(moving(name, settings, items, TICKS, move || rings(blocks, items as u32, settings)));
        }
    }
    for items in [100_000, 2_000_000] {
        cases.push(own_speed(items));
    }
    cases.push(two_threads(8_000_000));
    for (name, pipes) in [("straight", straight as fn() -> Vec<_>), ("grid", grid)] {
        cases.push(build(name, "one-by-one", pipes));
        cases.push(build(name, "bulk", pipes));
    }
    cases.push(edit());
    cases
}

/// The solver against the reference over the same layout.
fn moving(
    name: String,
    settings: LaneSettings,
    items: u64,
    ticks: u32,
    layout: impl FnOnce() -> Layout + 'static,
) -> Case {
    Case::new(name, SIDES, items * u64::from(ticks), move || {
        let layout = layout();
        let mut ours = TransitSolver::from_layout(&layout, settings).map_err(input)?;
        let mut other = ReferenceTransit::from_layout(&layout, settings).map_err(input)?;
        let mut inventories = Inventories::default();
        run_alike(&mut ours, &mut other, TICKS * 2, &mut inventories)?;
        let mut others = Inventories::default();
        Ok(Pair::new(
            move || (0..ticks).for_each(|_| ours.step(&mut inventories)),
            move || (0..ticks).for_each(|_| other.step(&mut others)),
        ))
    })
}

/// Runs both sides for some ticks: the same events after each, the same state in the end.
fn run_alike(
    ours: &mut TransitSolver,
    other: &mut ReferenceTransit,
    ticks: u32,
    inventories: &mut Inventories,
) -> Result<(), CaseError> {
    for tick in 0..ticks {
        ours.step(inventories);
        other.step(inventories);
        if ours.events() != other.events() {
            return Err(unequal("events", u64::from(tick), 1));
        }
    }
    same_state(&words(|word| ours.state_words(word)), &words(|word| other.state_words(word)))
}

/// Lanes on which every item has a speed of its own.
///
/// What lies on such lanes changes for as long as the first items are on their way: they bunch behind slow ones, and
/// those of the sources, which all have one speed, follow. So that every sample is of the same ticks, both sides begin
/// each from one state and run until they have made the room they need; what is timed begins there.
fn own_speed(items: u64) -> Case {
    let name = format!("transit/own-speed/n={items}");
    Case::new(name, SIDES, items * u64::from(LONG), move || {
        let settings = LaneSettings::new(UNIT / 12, UNIT / 8).map_err(input)?.with_own_speeds();
        let layout = lines(&Lines { speeds: (2800, 2600), ..Lines::flowing(100, items, settings, 3) });
        let mut ours = TransitSolver::from_layout(&layout, settings).map_err(input)?;
        let mut other = ReferenceTransit::from_layout(&layout, settings).map_err(input)?;
        let (first, reference) = (ours.clone(), other.clone());
        let mut inventories = Inventories::default();
        run_alike(&mut ours, &mut other, TICKS + LONG, &mut inventories)?;
        let mut others = Inventories::default();
        Ok(Pair::self_timed(
            move || timed_from(&first, |solver| solver.step(&mut inventories)),
            move || timed_from(&reference, |solver| solver.step(&mut others)),
        ))
    })
}

/// The time of [`LONG`] ticks from a state on, after the first [`TICKS`].
fn timed_from<T: Clone>(first: &T, mut step: impl FnMut(&mut T)) -> Duration {
    let mut solver = first.clone();
    (0..TICKS).for_each(|_| step(&mut solver));
    let start = Instant::now();
    (0..LONG).for_each(|_| step(&mut solver));
    start.elapsed()
}

/// The solver with two threads against the solver with one, on lines with a junction every 20 blocks.
fn two_threads(items: u64) -> Case {
    let name = format!("transit/junctions/n={items}/threads=2");
    Case::new(name, ("2 threads", "1 thread"), items * u64::from(TICKS), move || {
        let settings = LaneSettings::default();
        let layout = lines(&Lines { junction_every: Some(20), ..Lines::flowing(100, items, settings, 3) });
        let mut other = TransitSolver::from_layout(&layout, settings).map_err(input)?;
        let mut ours = other.clone();
        let pool = ThreadPoolBuilder::new().num_threads(2).build().map_err(input)?;
        let mut inventories = Inventories::default();
        for tick in 0..TICKS * 2 {
            pool.install(|| ours.step_parallel(&mut inventories));
            other.step(&mut inventories);
            if ours.events() != other.events() {
                return Err(unequal("events", u64::from(tick), 1));
            }
        }
        same_state(&words(|word| ours.state_words(word)), &words(|word| other.state_words(word)))?;
        let mut others = Inventories::default();
        Ok(Pair::new(
            move || pool.install(|| (0..TICKS).for_each(|_| ours.step_parallel(&mut inventories))),
            move || (0..TICKS).for_each(|_| other.step(&mut others)),
        ))
    })
}

/// Laying 10,000 pipes, against finding the segments of the finished network by walking it.
fn build(network: &'static str, way: &'static str, pipes: fn() -> Vec<(BlockPos, Connections)>) -> Case {
    let name = format!("transit/build/{network}/{way}");
    Case::new(name, (way, "walk of the whole"), 10_000, move || {
        let pipes = pipes();
        let lay = move |pipes: &[(BlockPos, Connections)]| {
            let mut graph = SegmentedGraph::new();
            if way == "bulk" {
                graph.add_many(pipes)?;
            } else {
                pipes.iter().try_for_each(|&(position, mask)| graph.add(position, mask))?;
            }
            Ok::<_, voxtick::transit::GraphError>(graph)
        };
        let graph = lay(&pipes).map_err(input)?;
        let (found, expected) = (graph.segment_count() as u64, walk(&pipes));
        if found != expected {
            return Err(unequal("segments", expected, expected.abs_diff(found)));
        }
        let walked = pipes.clone();
        Ok(Pair::new(
            move || {
                std::hint::black_box(lay(&pipes).is_ok());
            },
            move || {
                std::hint::black_box(walk(&walked));
            },
        ))
    })
}

/// One pipe taken out of the middle of a segment or put back, in a network of 50,000 pipes with a million items,
/// against the reference, which finds all lanes anew.
fn edit() -> Case {
    Case::new("transit/edit/blocks=50000/n=1000000", ("solver", "built anew"), 1, || {
        let settings = LaneSettings::new(UNIT / 64, UNIT / 24).map_err(input)?;
        // 500 lines of 100 blocks, a junction every 20, 2,000 items on each.
        let layout = lines(&Lines {
            lines: 500,
            junction_every: Some(20),
            ..Lines::flowing(100, 1_000_000, settings, 2)
        });
        let ours = TransitSolver::from_layout(&layout, settings).map_err(input)?;
        let other = ReferenceTransit::from_layout(&layout, settings).map_err(input)?;
        let both = Rc::new(RefCell::new((ours, other)));
        for turn in 0..6 {
            let both = &mut *both.borrow_mut();
            change(turn, |at, mask| both.0.set_pipe(at, mask));
            change(turn, |at, mask| both.1.set_pipe(at, mask));
            let (ours, other) = (both.0.take_spills(), both.1.take_spills());
            if ours != other {
                return Err(unequal("spills", turn, ours.len().abs_diff(other.len()).max(1) as u64));
            }
            both.0.step(&mut Inventories::default());
            both.1.step(&mut Inventories::default());
        }
        {
            let both = both.borrow();
            same_state(&words(|word| both.0.state_words(word)), &words(|word| both.1.state_words(word)))?;
        }
        let (ours, other) = (both.clone(), both);
        let (mut ours_turn, mut other_turn) = (6, 6);
        Ok(Pair::self_timed(
            move || {
                let solver = &mut ours.borrow_mut().0;
                drop(solver.take_spills());
                timed(&mut ours_turn, |turn| change(turn, |at, mask| solver.set_pipe(at, mask)))
            },
            move || {
                let reference = &mut other.borrow_mut().1;
                drop(reference.take_spills());
                timed(&mut other_turn, |turn| change(turn, |at, mask| reference.set_pipe(at, mask)))
            },
        ))
    })
}

/// Both solvers under one name for a pipe that is put or taken.
trait Pipes {
    fn set_pipe(&mut self, position: BlockPos, connections: Option<Connections>);
}

impl Pipes for TransitSolver {
    fn set_pipe(&mut self, position: BlockPos, connections: Option<Connections>) {
        match connections {
            Some(connections) => drop(self.add_pipe(position, connections)),
            None => drop(self.remove_pipe(position)),
        }
    }
}

impl Pipes for ReferenceTransit {
    fn set_pipe(&mut self, position: BlockPos, connections: Option<Connections>) {
        match connections {
            Some(connections) => drop(self.add_pipe(position, connections)),
            None => drop(self.remove_pipe(position)),
        }
    }
}

/// Every even turn takes a pipe out, the next one puts it back.
fn change(turn: u64, mut set: impl FnMut(BlockPos, Option<Connections>)) {
    let line = (turn / 2 * 37 % 500) as i32;
    let position = BlockPos::new(10 + 20 * (line % 5), 64, 2 * line);
    let straight = Connections::of(&[Direction::East, Direction::West]);
    set(position, (turn % 2 == 1).then_some(straight));
}

fn timed(turn: &mut u64, work: impl FnOnce(u64)) -> Duration {
    let start = Instant::now();
    work(*turn);
    *turn += 1;
    start.elapsed()
}

fn lines(spec: &Lines) -> Layout {
    let mut layout = Layout::default();
    layout.lines(spec);
    layout
}

/// Square rings whose items lie one and a half spacings apart.
fn rings(blocks: u32, items: u32, settings: LaneSettings) -> Layout {
    let (side, step) = (blocks / 4, settings.spacing() * 3 / 2);
    let per_side = side * UNIT / step;
    let mut layout = Layout::default();
    for ring in 0..items.div_ceil(per_side * 4) {
        let (row, layer) = (ring % 10_000, ring / 10_000);
        let corner = BlockPos::new(
            (row % 100 * (side + 2)) as i32,
            64 + 2 * layer as i32,
            (row / 100 * (side + 2)) as i32,
        );
        for lane in layout.ring(corner, side, side) {
            layout.fills.push(Fill {
                lane,
                front: side * UNIT - 1 - ring * 977 % step,
                step,
                count: per_side,
                stack: ItemStack::single(ItemKind(1)),
                speeds: (0, 1),
            });
        }
    }
    layout
}

fn straight() -> Vec<(BlockPos, Connections)> {
    let mut layout = Layout::default();
    layout.line(BlockPos::new(-5_000, 64, 0), Direction::East, 9_999, None);
    layout.pipes
}

fn grid() -> Vec<(BlockPos, Connections)> {
    let mut layout = Layout::default();
    layout.grid(BlockPos::new(0, 64, 0), 100, 100);
    layout.pipes
}

/// The segments of a network, counted by walking from every junction: the plain way to fuse after an edit.
fn walk(pipes: &[(BlockPos, Connections)]) -> u64 {
    let nodes: std::collections::HashMap<BlockPos, Connections> = pipes.iter().copied().collect();
    let linked = |at: BlockPos, mask: Connections, direction: Direction| {
        let next = at.offset(direction);
        let there = *nodes.get(&next)?;
        (mask.has(direction) && there.has(direction.opposite())).then_some((next, there))
    };
    let mut ends = 0;
    for &(start, mask) in pipes.iter().filter(|(_, mask)| !mask.is_straight()) {
        for direction in mask.iter() {
            let (mut at, mut through) = (start, mask);
            while let Some((next, there)) = linked(at, through, direction) {
                (at, through) = (next, there);
                if !through.is_straight() {
                    ends += 1;
                    break;
                }
            }
        }
    }
    ends / 2
}

fn words(state: impl FnOnce(&mut dyn FnMut(u64))) -> Vec<u64> {
    let mut words = Vec::new();
    state(&mut |word| words.push(word));
    words
}

fn same_state(ours: &[u64], other: &[u64]) -> Result<(), CaseError> {
    let differing = ours.iter().zip(other).filter(|(a, b)| a != b).count() + ours.len().abs_diff(other.len());
    match ours.iter().zip(other).position(|(a, b)| a != b) {
        None if differing == 0 => Ok(()),
        first => Err(unequal("state words", first.unwrap_or(0) as u64, differing as u64)),
    }
}

fn unequal(what: &str, first: u64, count: u64) -> CaseError {
    CaseError::Unequal { count, first: format!("{what} {first}") }
}

fn input(error: impl std::fmt::Display) -> CaseError {
    CaseError::Input(error.to_string())
}
