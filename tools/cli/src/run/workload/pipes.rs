//! Pipes: straight lines over the loaded area, stacked upwards where one layer is full.

use voxtick::transit::{LaneSettings, Layout, Lines, TransitPlugin, UNIT};
use voxtick::worlds::{BlockPos, ChunkPos, World};

use crate::run::scenario::PipeSettings;

/// Blocks from one line to the next, sideways and upwards: lines that touch would be connected.
const APART: i32 = 2;

/// The transit stage with the pipes of a scenario.
pub(super) fn transit(settings: &PipeSettings, world: &World) -> Result<TransitPlugin, String> {
    let speed = (settings.speed * f64::from(UNIT)) as u32;
    let lane = LaneSettings::new(speed, UNIT / 4).map_err(|error| format!("pipes.speed: {error}"))?;
    let mut layout = Layout::default();
    if settings.items > 0 {
        lay(settings, lane, world, &mut layout);
    }
    TransitPlugin::from_layout(&layout, lane).map_err(|error| format!("the pipes cannot be laid: {error}"))
}

/// Lays as many lines as the items need, a layer after the other.
fn lay(settings: &PipeSettings, lane: LaneSettings, world: &World, layout: &mut Layout) {
    let all = Lines {
        junction_every: (settings.junction_every > 0).then_some(settings.junction_every),
        ..Lines::flowing(settings.length, settings.items.into(), lane, settings.period)
    };
    let area = Area::of(world);
    let rows = (area.edge_z / APART).max(1) as u32;
    let columns = (area.edge_x / (settings.length as i32 + APART)).max(1) as u32;
    let (mut lines, mut items) = (all.lines, all.items);
    for number in 0.. {
        if lines == 0 {
            break;
        }
        let (column, layer) = (number % columns, number / columns);
        let here = lines.min(rows);
        // The last lines take what is left.
        let carried = if here == lines { items } else { all.items / u64::from(all.lines) * u64::from(here) };
        layout.lines(&Lines {
            corner: BlockPos::new(
                area.west + column as i32 * (settings.length as i32 + APART),
                area.bottom + layer as i32 * APART,
                area.north,
            ),
            lines: here,
            items: carried,
            ..all
        });
        lines -= here;
        items -= carried;
    }
}

/// The box around all loaded chunks.
struct Area {
    west: i32,
    north: i32,
    bottom: i32,
    edge_x: i32,
    edge_z: i32,
}

impl Area {
    fn of(world: &World) -> Area {
        let positions = || world.chunk_positions();
        let low = ChunkPos::new(
            positions().map(|chunk| chunk.x).min().unwrap_or(0),
            positions().map(|chunk| chunk.z).min().unwrap_or(0),
        );
        let high = ChunkPos::new(
            positions().map(|chunk| chunk.x).max().unwrap_or(0),
            positions().map(|chunk| chunk.z).max().unwrap_or(0),
        );
        Area {
            west: low.x.saturating_mul(16),
            north: low.z.saturating_mul(16),
            bottom: world.dimension().min_y() + 1,
            edge_x: (high.x.saturating_sub(low.x).saturating_add(1)).saturating_mul(16),
            edge_z: (high.z.saturating_sub(low.z).saturating_add(1)).saturating_mul(16),
        }
    }
}
