//! What becomes of travelling items when the network under them changes.
//!
//! Items keep their place in the world: each is known by its coordinate along its line and the way it goes, and takes
//! that place on whichever new lane of the same line and way covers it. Where two lanes meet in its point, it stays at
//! the end of the one behind, and is routed from there. An item that no lane covers is lost: its solver spills it.

use rustc_hash::FxHashMap;
use voxtick_worlds::BlockPos;

use crate::network::{LaneName, Segment, SegmentedGraph, key};
use crate::settings::{LaneSettings, UNIT};

/// A lane that is no more, and what was on it.
#[derive(Debug)]
pub(crate) struct OldLane {
    pub(crate) segment: Segment,
    pub(crate) direction: usize,
    pub(crate) settings: LaneSettings,
    /// Position from the entry and handle, front to back.
    pub(crate) travellers: Vec<(u32, u32)>,
}

/// A lane that has come to be, and what is on it from the start.
#[derive(Debug)]
pub(crate) struct NewLane {
    pub(crate) run: u32,
    pub(crate) direction: usize,
    pub(crate) settings: LaneSettings,
    /// Position from the entry and handle, front to back.
    pub(crate) travellers: Vec<(u32, u32)>,
    low: i64,
    high: i64,
}

/// An item without a place.
#[derive(Debug)]
pub(crate) struct Lost {
    pub(crate) handle: u32,
    pub(crate) point: [f64; 3],
}

/// Finds a place for all travellers of `old` on the lanes of the runs in `added`.
pub(crate) fn rehome(
    graph: &SegmentedGraph,
    mut old: Vec<OldLane>,
    added: &[u32],
    default: LaneSettings,
) -> (Vec<NewLane>, Vec<Lost>) {
    let mut new = Vec::with_capacity(added.len() * 2);
    let mut on_line: FxHashMap<(u64, usize), Vec<usize>> = FxHashMap::default();
    for &run in added {
        let segment = graph.segment(run);
        let forward = segment.direction().index();
        for direction in [forward, forward ^ 1] {
            if !old.is_empty() {
                on_line.entry(line_of(&segment, direction)).or_default().push(new.len());
            }
            let (low, high) = span(&segment);
            new.push(NewLane { run, direction, settings: default, travellers: Vec::new(), low, high });
        }
    }
    // Front lanes first, so that items of several lanes join in their order.
    old.sort_by_key(|lane| {
        let (low, high) = span(&lane.segment);
        (line_of(&lane.segment, lane.direction), if lane.direction & 1 == 1 { -high } else { low })
    });
    let mut settings: Vec<Option<LaneSettings>> = vec![None; new.len()];
    let mut lost = Vec::new();
    for lane in &old {
        let (low, high) = span(&lane.segment);
        let candidates = on_line.get(&line_of(&lane.segment, lane.direction)).map_or(&[][..], Vec::as_slice);
        for &at in candidates {
            if new[at].low < high && new[at].high > low {
                let inherited = &mut settings[at];
                *inherited = Some(inherited.map_or(lane.settings, |it| it.slower(lane.settings)));
            }
        }
        for &(position, handle) in &lane.travellers {
            let forward = lane.direction & 1 == 1;
            let at = if forward { low + i64::from(position) } else { high - i64::from(position) };
            let progress = |lane: &NewLane| if forward { at - lane.low } else { lane.high - at };
            let place = candidates
                .iter()
                .copied()
                .filter(|&candidate| (new[candidate].low..=new[candidate].high).contains(&at))
                .max_by_key(|&candidate| progress(&new[candidate]));
            match place {
                Some(place) => {
                    let position = progress(&new[place]) as u32;
                    new[place].travellers.push((position, handle));
                }
                None => lost.push((lane_key(lane), Lost { handle, point: point(&lane.segment, at) })),
            }
        }
    }
    for (lane, settings) in new.iter_mut().zip(settings) {
        lane.settings = settings.unwrap_or(default);
    }
    lost.sort_by_key(|&(key, _)| key);
    (new, lost.into_iter().map(|(_, lost)| lost).collect())
}

/// The point at coordinate `at` on the line of a segment.
fn point(segment: &Segment, at: i64) -> [f64; 3] {
    let centre = |block: i32| f64::from(block) + 0.5;
    let mut point = [centre(segment.low.x), centre(segment.low.y), centre(segment.low.z)];
    // Exact: both the coordinate and the fraction fit into 52 bits.
    let along = at as f64 / f64::from(UNIT) + 0.5;
    match key::axis_of(segment.direction().index()) {
        0 => point[1] = along,
        1 => point[2] = along,
        _ => point[0] = along,
    }
    point
}

/// The block that `position` units from the entry of a lane lie in: from half a step before its centre on.
pub(crate) fn block_of(lane: LaneName, position: u32) -> BlockPos {
    let (x, y, z) = lane.direction.step();
    let steps = (position / UNIT + (position % UNIT) / (UNIT / 2)) as i32;
    BlockPos::new(lane.from.x + x * steps, lane.from.y + y * steps, lane.from.z + z * steps)
}

/// The point at `position` units from the entry of a lane, whether there is such a lane or not.
pub(crate) fn lost_point(lane: LaneName, position: u32) -> [f64; 3] {
    let (x, y, z) = lane.direction.step();
    let along = f64::from(position) / f64::from(UNIT);
    let coordinate = |block: i32, step: i32| f64::from(block) + 0.5 + f64::from(step) * along;
    [coordinate(lane.from.x, x), coordinate(lane.from.y, y), coordinate(lane.from.z, z)]
}

fn span(segment: &Segment) -> (i64, i64) {
    let axis = key::axis_of(segment.direction().index());
    let low = i64::from(key::along(key::pack(segment.low), axis)) * i64::from(UNIT);
    (low, low + i64::from(segment.length) * i64::from(UNIT))
}

fn line_of(segment: &Segment, direction: usize) -> (u64, usize) {
    (key::line(key::pack(segment.low), key::axis_of(direction)), direction)
}

fn lane_key(lane: &OldLane) -> (u64, usize) {
    let from = if lane.direction & 1 == 1 { lane.segment.low } else { lane.segment.high };
    (key::pack(from), lane.direction)
}
