//! Ready-made networks: lines, grids and rings with sources, sinks and items, for scenarios, examples, tests and
//! measurements.

use voxtick_worlds::{BlockPos, Direction, ItemKind, ItemStack};

use crate::endpoints::{EndpointError, Room, Sink, Source, Supply};
use crate::insertion::InsertError;
use crate::items::ItemHandle;
use crate::network::{Connections, GraphError, LaneName, SegmentedGraph};
use crate::reference::ReferenceTransit;
use crate::settings::LaneSettings;
use crate::solver::TransitSolver;

/// A network to be built: pipes, what stands at junctions, and what is on the way already.
///
/// ```
/// use voxtick_transit::{LaneSettings, Layout, TransitSolver};
/// use voxtick_worlds::{BlockPos, Inventories};
/// let mut layout = Layout::default();
/// layout.line(BlockPos::new(0, 64, 0), voxtick_worlds::Direction::East, 20, None);
/// layout.feed_line(BlockPos::new(0, 64, 0), voxtick_worlds::Direction::East, 20, 3);
/// let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default())?;
/// for _ in 0..500 {
///     transit.step(&mut Inventories::default());
/// }
/// assert!(transit.totals().delivered > 0);
/// # Ok::<(), voxtick_transit::LayoutError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Pipes and their connections.
    pub pipes: Vec<(BlockPos, Connections)>,
    /// Where items come in.
    pub sources: Vec<Source>,
    /// Where items go out.
    pub sinks: Vec<Sink>,
    /// Items that are in lanes from the start.
    pub fills: Vec<Fill>,
}

/// Items at regular distances on one lane.
#[derive(Debug, Clone, Copy)]
pub struct Fill {
    /// The lane.
    pub lane: LaneName,
    /// Where the first item is, in units from the entry.
    pub front: u32,
    /// From one item to the next, in units.
    pub step: u32,
    /// How many items; those that would lie before the entry are left out.
    pub count: u32,
    /// What each of them is.
    pub stack: ItemStack,
    /// Own speeds: item `i` gets `speeds.0 + i * 7919 % speeds.1`; `(0, 1)` for the speed of the lane.
    pub speeds: (u16, u16),
}

/// Why a layout cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A pipe cannot be placed.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A source or a sink cannot be placed.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// An item cannot be put onto its lane.
    #[error(transparent)]
    Insert(#[from] InsertError),
}

impl Layout {
    /// A straight line of `blocks` steps (so `blocks + 1` pipes) from `start`, with a junction at both ends and, where
    /// asked for, every `junction_every` steps in between.
    pub fn line(&mut self, start: BlockPos, direction: Direction, blocks: u32, junction_every: Option<u32>) {
        let (x, y, z) = direction.step();
        let arm = if direction.index() < 2 { Direction::East } else { Direction::Up };
        for step in 0..=blocks as i32 {
            let mut mask = Connections::NONE;
            if step > 0 {
                mask = mask.with(direction.opposite());
            }
            if (step as u32) < blocks {
                mask = mask.with(direction);
            }
            if junction_every.is_some_and(|every| every > 0 && (step as u32).is_multiple_of(every)) {
                mask = mask.with(arm);
            }
            let position = BlockPos::new(start.x + x * step, start.y + y * step, start.z + z * step);
            self.pipes.push((position, mask));
        }
    }

    /// A source at the start of a line, one item every `period` ticks, and a sink at its end.
    pub fn feed_line(&mut self, start: BlockPos, direction: Direction, blocks: u32, period: u32) {
        self.sources.push(Source {
            lane: LaneName { from: start, direction },
            stack: ItemStack::single(ItemKind(1)),
            speed: 0,
            period,
            delay: 0,
            supply: Supply::Endless,
        });
        let (x, y, z) = direction.step();
        let blocks = blocks as i32;
        self.sinks.push(Sink {
            position: BlockPos::new(start.x + x * blocks, start.y + y * blocks, start.z + z * blocks),
            kind: None,
            period: 0,
            room: Room::Endless,
        });
    }

    /// `lines` parallel lines to the east, two blocks apart, in layers of 1,000, each fed every `period` ticks and
    /// filled so that `items` are on the way in all (as many as flow freely at most).
    pub fn lines(&mut self, spec: &Lines) {
        let per_line = spec.items / u64::from(spec.lines.max(1));
        let step = spec.settings.spacing().max(spec.settings.speed() * spec.period);
        for line in 0..spec.lines {
            let start = spec.start(line);
            self.line(start, Direction::East, spec.blocks, spec.junction_every);
            self.feed_line(start, Direction::East, spec.blocks, spec.period);
            if let Some(source) = self.sources.last_mut() {
                source.delay = line % spec.period;
            }
            if spec.blocked {
                self.sinks.pop();
            }
            // Items lie at one step from each other over the whole line, junctions or not; where each line begins is
            // spread so that not all deliver in the same tick.
            let every = spec.junction_every.unwrap_or(spec.blocks).clamp(1, spec.blocks.max(1));
            let step = if spec.blocked { spec.settings.spacing() } else { step };
            let offset = if spec.blocked { 0 } else { (line.wrapping_mul(7919)) % step };
            let line_units = u64::from(spec.blocks) * u64::from(crate::UNIT);
            let mut left = per_line;
            let mut at = line_units - u64::from(offset);
            while left > 0 {
                let lane = (at.saturating_sub(1)) / (u64::from(every) * u64::from(crate::UNIT));
                let entry = lane * u64::from(every) * u64::from(crate::UNIT);
                let fits = ((at - entry - u64::from(step != 0 && lane > 0)) / u64::from(step) + 1).min(left);
                let from = BlockPos::new(start.x + (lane * u64::from(every)) as i32, start.y, start.z);
                self.fills.push(Fill {
                    lane: LaneName { from, direction: Direction::East },
                    front: (at - entry) as u32,
                    step,
                    count: fits as u32,
                    stack: ItemStack::single(ItemKind(1)),
                    speeds: spec.speeds,
                });
                left -= fits;
                match at.checked_sub(fits * u64::from(step)) {
                    Some(next) => at = next,
                    None => break,
                }
            }
        }
    }

    /// A grid of `x` by `z` pipes to the east and south of `corner`, all open to all four sides.
    pub fn grid(&mut self, corner: BlockPos, x: u32, z: u32) {
        let sides = Connections::ALL.without(Direction::Up).without(Direction::Down);
        for dx in 0..x as i32 {
            for dz in 0..z as i32 {
                self.pipes.push((BlockPos::new(corner.x + dx, corner.y, corner.z + dz), sides));
            }
        }
    }

    /// A ring of `x` by `z` steps to the east and south of `corner`, and the lanes that run round it eastwards first.
    pub fn ring(&mut self, corner: BlockPos, x: u32, z: u32) -> [LaneName; 4] {
        let (x, z) = (x as i32, z as i32);
        let at = |dx: i32, dz: i32| BlockPos::new(corner.x + dx, corner.y, corner.z + dz);
        for dx in 0..=x {
            for dz in 0..=z {
                let mut mask = Connections::NONE;
                if (dz == 0 || dz == z) && dx > 0 {
                    mask = mask.with(Direction::West);
                }
                if (dz == 0 || dz == z) && dx < x {
                    mask = mask.with(Direction::East);
                }
                if (dx == 0 || dx == x) && dz > 0 {
                    mask = mask.with(Direction::North);
                }
                if (dx == 0 || dx == x) && dz < z {
                    mask = mask.with(Direction::South);
                }
                if mask != Connections::NONE {
                    self.pipes.push((at(dx, dz), mask));
                }
            }
        }
        [
            LaneName { from: at(0, 0), direction: Direction::East },
            LaneName { from: at(x, 0), direction: Direction::South },
            LaneName { from: at(x, z), direction: Direction::West },
            LaneName { from: at(0, z), direction: Direction::North },
        ]
    }

    /// Puts all items in, those ahead first, in the order in which they would have come had all lanes been fed at once.
    fn insert_fills(
        &self,
        mut insert: impl FnMut(LaneName, u32, ItemStack, u16) -> Result<ItemHandle, InsertError>,
    ) -> Result<(), InsertError> {
        let mut left: Vec<_> = self.fills.iter().map(|fill| (fill, fill.items())).collect();
        let mut fault = Ok(());
        while fault.is_ok() && !left.is_empty() {
            left.retain_mut(|(fill, items)| {
                let Some((position, speed)) = items.next() else { return false };
                if fault.is_ok() {
                    fault = insert(fill.lane, position, fill.stack, speed).map(drop);
                }
                true
            });
        }
        fault
    }

    /// The network without what stands in it.
    ///
    /// # Errors
    /// A pipe cannot be placed.
    pub fn graph(&self) -> Result<SegmentedGraph, GraphError> {
        let mut graph = SegmentedGraph::new();
        graph.add_many(&self.pipes)?;
        Ok(graph)
    }
}

/// Many parallel lines: see [`Layout::lines`].
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    /// Where the first line starts.
    pub corner: BlockPos,
    /// How many lines.
    pub lines: u32,
    /// Steps of each.
    pub blocks: u32,
    /// Steps from junction to junction; `None` for none in between.
    pub junction_every: Option<u32>,
    /// Items over all lines.
    pub items: u64,
    /// How items move.
    pub settings: LaneSettings,
    /// Ticks between two items of a source.
    pub period: u32,
    /// Leave the sinks out and let items lie as close as they may from the end on.
    pub blocked: bool,
    /// Own speeds, as in [`Fill::speeds`].
    pub speeds: (u16, u16),
}

impl Lines {
    /// Lines that carry as many items as flow freely when each is fed every `period` ticks: `items` in all.
    #[must_use]
    pub fn flowing(blocks: u32, items: u64, settings: LaneSettings, period: u32) -> Lines {
        let step = settings.spacing().max(settings.speed() * period);
        let per_line = (u64::from(blocks) * u64::from(crate::UNIT) / u64::from(step)).max(1);
        Lines {
            corner: BlockPos::new(0, 64, 0),
            lines: items.div_ceil(per_line).max(1) as u32,
            blocks,
            junction_every: None,
            items,
            settings,
            period,
            blocked: false,
            speeds: (0, 1),
        }
    }

    /// Lines whose items all wait at the end, as close as they may, and fill them whole: `items` in all.
    #[must_use]
    pub fn backed_up(blocks: u32, items: u64, settings: LaneSettings) -> Lines {
        let lines = items.div_ceil(settings.capacity(blocks)).max(1) as u32;
        Lines { lines, blocked: true, ..Lines::flowing(blocks, items, settings, 3) }
    }

    /// Where line number `line` starts.
    #[must_use]
    pub fn start(&self, line: u32) -> BlockPos {
        let (row, layer) = ((line % 1000) as i32, (line / 1000) as i32);
        BlockPos::new(self.corner.x, self.corner.y + 2 * layer, self.corner.z + 2 * row)
    }
}

impl ReferenceTransit {
    /// Builds a layout.
    ///
    /// # Errors
    /// See [`LayoutError`].
    pub fn from_layout(layout: &Layout, settings: LaneSettings) -> Result<ReferenceTransit, LayoutError> {
        let mut transit = ReferenceTransit::new(settings);
        transit.add_pipes(&layout.pipes)?;
        for &source in &layout.sources {
            transit.add_source(source)?;
        }
        for &sink in &layout.sinks {
            transit.add_sink(sink)?;
        }
        layout.insert_fills(|lane, position, stack, speed| transit.insert(lane, position, stack, speed))?;
        Ok(transit)
    }
}

impl TransitSolver {
    /// Builds a layout.
    ///
    /// # Errors
    /// See [`LayoutError`].
    pub fn from_layout(layout: &Layout, settings: LaneSettings) -> Result<TransitSolver, LayoutError> {
        let mut transit = TransitSolver::new(layout.graph()?, settings);
        for &source in &layout.sources {
            transit.add_source(source)?;
        }
        for &sink in &layout.sinks {
            transit.add_sink(sink)?;
        }
        transit.reserve_items(layout.fills.iter().map(|fill| fill.count as usize).sum());
        layout.insert_fills(|lane, position, stack, speed| transit.insert(lane, position, stack, speed))?;
        Ok(transit)
    }
}

impl Fill {
    /// Positions and own speeds, front to back.
    pub(crate) fn items(&self) -> impl Iterator<Item = (u32, u16)> + use<> {
        let fill = *self;
        (0..fill.count).map_while(move |at| {
            let position = fill.front.checked_sub(at.checked_mul(fill.step)?)?;
            let (least, range) = fill.speeds;
            let speed = least + (u64::from(at) * 7919 % u64::from(range.max(1))) as u16;
            Some((position, speed))
        })
    }
}
