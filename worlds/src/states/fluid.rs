//! The fluid that a state holds in its cell.

/// Water or lava in a cell.
///
/// `level` is the block's own property: 0 a source, 1 to 7 thinner with every step from it, 8 a falling column
/// (the game's levels 9 to 15 mean the same as 8; Minecraft Java 1.13 onward).
///
/// ```
/// use voxtick_worlds::{BlockStates, Fluid};
/// let states = BlockStates::load();
/// let fence = states.parse("oak_fence[waterlogged=true]")?;
/// assert_eq!(states.fluid(fence), Fluid::Water { level: 0, falling: false });
/// let thin = states.parse("water[level=7]")?;
/// assert_eq!(states.fluid(thin).amount(), 1);
/// # Ok::<(), voxtick_worlds::ParseStateError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fluid {
    /// No fluid.
    #[default]
    None,
    /// Water, also that of waterlogged states and water plants.
    Water {
        /// 0 a source, 1 to 7 flowing, 8 falling.
        level: u8,
        /// Whether it falls.
        falling: bool,
    },
    /// Lava.
    Lava {
        /// 0 a source, 1 to 7 flowing, 8 falling.
        level: u8,
        /// Whether it falls.
        falling: bool,
    },
}

impl Fluid {
    /// Whether there is none.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Fluid::None
    }

    /// Whether this is a source, which does not run dry.
    #[must_use]
    pub fn is_source(self) -> bool {
        matches!(self, Fluid::Water { level: 0, .. } | Fluid::Lava { level: 0, .. })
    }

    /// How much there is in eighths: 8 for sources and falling columns, 7 to 1 flowing, 0 none.
    ///
    /// The surface stands at `amount / 9` of the cell unless the same fluid lies above.
    #[must_use]
    pub fn amount(self) -> u8 {
        match self {
            Fluid::None => 0,
            Fluid::Water { falling: true, .. } | Fluid::Lava { falling: true, .. } => 8,
            Fluid::Water { level, .. } | Fluid::Lava { level, .. } => 8 - level,
        }
    }

    /// The code of the compact table: 0 none, 1-9 water of level 0-8, 10-18 lava of level 0-8.
    pub(super) fn from_code(code: u8) -> Option<Fluid> {
        match code {
            0 => Some(Fluid::None),
            1..=9 => Some(Fluid::Water { level: code - 1, falling: code == 9 }),
            10..=18 => Some(Fluid::Lava { level: code - 10, falling: code == 18 }),
            _ => None,
        }
    }
}
