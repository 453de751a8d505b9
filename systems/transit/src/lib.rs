//! Pipe networks and the items in them.
//!
//! [`SegmentedGraph`] keeps pipes fused into straight segments between junctions, and [`TransitSolver`] moves items
//! along them: a line of moving items costs as much as one, a full line costs nothing, and no item is ever lost or
//! doubled, through edits, unloaded chunks and saves. [`mod@reference`] says the same in the plainest way and is what the
//! solver is held against, tick for tick. [`TransitPlugin`] runs a solver in a simulation; nothing else here needs one.
//!
//! A network with a router and two sinks, without an engine:
//!
//! ```
//! use std::sync::Arc;
//! use voxtick_transit::{
//!     Filter, LaneName, LaneSettings, Layout, Room, Sink, Source, Supply, TransitSolver,
//! };
//! use voxtick_worlds::{BlockPos, Direction::{East, South}, Inventories, ItemKind, ItemStack};
//!
//! // Ten blocks to the east, and in their middle five blocks off to the south.
//! let (start, end) = (BlockPos::new(0, 64, 0), BlockPos::new(10, 64, 0));
//! let (fork, aside) = (BlockPos::new(5, 64, 0), BlockPos::new(5, 64, 5));
//! let mut layout = Layout::default();
//! layout.line(start, East, 10, None);
//! layout.line(fork, South, 5, None);
//! // The fork was laid twice, and the last mask would win: it opens to three sides.
//! let three = voxtick_transit::Connections::of(&[East, East.opposite(), South]);
//! layout.pipes.push((fork, three));
//!
//! let mut transit = TransitSolver::from_layout(&layout, LaneSettings::default())?;
//! let (iron, coal) = (ItemKind(1), ItemKind(2));
//! transit.set_router(&[fork], Arc::new(Filter::new([(coal, South)])))?;
//! for position in [end, aside] {
//!     transit.add_sink(Sink { position, kind: None, period: 0, room: Room::Endless })?;
//! }
//! let lane = LaneName { from: start, direction: East };
//! for (count, kind) in [(5, iron), (3, coal)] {
//!     for _ in 0..count {
//!         transit.insert(lane, 0, ItemStack::single(kind), 0)?;
//!         // An eighth of a block later there is room for the next one.
//!         (0..3).for_each(|_| transit.step(&mut Inventories::default()));
//!     }
//! }
//! (0..300).for_each(|_| transit.step(&mut Inventories::default()));
//! assert_eq!((transit.taken(end), transit.taken(aside)), (5, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a tick costs
//! O(items that arrive, enter or leave + waiting items that are woken). Items under way and items that wait cost
//! nothing; on lanes where each has its own speed, each item costs a step of a vectorised running minimum whenever one
//! leaves the lane, for all ticks since.

mod blocks;
mod distance;
mod endpoints;
mod events;
mod insertion;
mod items;
mod layouts;
mod loading;
mod migrate;
mod mirror;
mod network;
mod plugin;
pub mod reference;
mod routers;
mod settings;
mod snapshot;
mod solver;

pub use blocks::{PipeBlocks, PipeShape};
pub use distance::NearestSink;
pub use endpoints::{EndpointError, Room, Sink, Source, Supply};
pub use events::{Event, EventKind, Events, Spill, Totals};
pub use insertion::InsertError;
pub use items::ItemHandle;
pub use layouts::{Fill, Layout, LayoutError, Lines};
pub use mirror::{Delta, Deltas, Mirror, MirrorError};
pub use network::{
    BORDER, CUT_EVERY, Connections, GraphError, HIGHEST, LOWEST, LaneName, NetworkId, Segment, SegmentName,
    SegmentedGraph,
};
pub use plugin::{Transit, TransitPlugin};
pub use reference::ReferenceTransit;
pub use routers::{Crossing, Filter, Priority, RoundRobin, Route, Router, SinkState};
pub use settings::{LaneSettings, SettingsError, UNIT};
pub use snapshot::{ItemRecord, LaneRecord, SNAPSHOT_VERSION, Snapshot, SnapshotError};
pub use solver::TransitSolver;
