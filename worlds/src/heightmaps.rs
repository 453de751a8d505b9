//! Heightmaps: for each column of a chunk, where the topmost block of some kind lies.

use std::mem;

/// The kinds that the game stores for a finished chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeightmapKind {
    /// Topmost block that is not air.
    WorldSurface,
    /// Topmost block that stops motion.
    OceanFloor,
    /// Topmost block that stops motion or holds a fluid.
    MotionBlocking,
    /// As `MotionBlocking`, leaves left out.
    MotionBlockingNoLeaves,
}

impl HeightmapKind {
    /// All kinds.
    pub const ALL: [HeightmapKind; 4] = [
        HeightmapKind::WorldSurface,
        HeightmapKind::OceanFloor,
        HeightmapKind::MotionBlocking,
        HeightmapKind::MotionBlockingNoLeaves,
    ];

    /// The key under which the game stores it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            HeightmapKind::WorldSurface => "WORLD_SURFACE",
            HeightmapKind::OceanFloor => "OCEAN_FLOOR",
            HeightmapKind::MotionBlocking => "MOTION_BLOCKING",
            HeightmapKind::MotionBlockingNoLeaves => "MOTION_BLOCKING_NO_LEAVES",
        }
    }
}

/// One height a column: blocks above the bottom of the build range up to and including the topmost one, 0 where there
/// is none. Columns are numbered `z * 16 + x`.
pub type Heightmap = [u16; 256];

/// The heightmaps of a chunk; a kind that is neither loaded nor computed is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heightmaps([Option<Box<Heightmap>>; 4]);

impl Heightmaps {
    /// The heightmap of `kind`, if there is one.
    #[must_use]
    pub fn map(&self, kind: HeightmapKind) -> Option<&Heightmap> {
        self.0[kind as usize].as_deref()
    }

    /// Sets or removes the heightmap of `kind`.
    pub fn set(&mut self, kind: HeightmapKind, map: Option<Box<Heightmap>>) {
        self.0[kind as usize] = map;
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.0.iter().flatten().count() * mem::size_of::<Heightmap>()
    }
}
