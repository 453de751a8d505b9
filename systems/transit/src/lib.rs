//! Pipe networks and the items in them.

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
