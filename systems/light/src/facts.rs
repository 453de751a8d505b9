//! What light has to know of a block state, gathered from the state table once per palette entry.

use voxtick_worlds::{BlockStates, StateId};

/// The brightest level.
pub const MAX_LEVEL: u8 = 15;

/// The facts of one block state that decide how light leaves it and enters it.
///
/// Two states with equal facts are one to light: stone and iron ore, all kinds of air and flowers.
///
/// ```
/// use voxtick_light::LightFacts;
/// use voxtick_worlds::BlockStates;
/// let states = BlockStates::load();
/// let water = LightFacts::of(&states, states.parse("water")?);
/// assert_eq!((water.step(), water.passes_sky()), (1, false));
/// assert!(LightFacts::of(&states, states.parse("oak_slab[type=top]")?).is_shaped());
/// # Ok::<(), voxtick_worlds::ParseStateError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LightFacts {
    /// Light given off, 0 to 15.
    pub emission: u8,
    /// Light taken from what enters, 0 to 15.
    pub dampening: u8,
    /// Face masks in the order of [`voxtick_worlds::Direction::ALL`], as indices into
    /// [`BlockStates::face_masks`]; 0 is the empty mask.
    pub faces: [u8; 6],
}

impl LightFacts {
    /// The facts of a state.
    #[must_use]
    pub fn of(states: &BlockStates, state: StateId) -> LightFacts {
        LightFacts {
            emission: states.emission(state).min(MAX_LEVEL),
            dampening: states.dampening(state).min(MAX_LEVEL),
            faces: states.faces(state),
        }
    }

    /// What a step into the cell costs: its dampening, but at least 1 (Minecraft Java 1.16 onward).
    #[must_use]
    pub const fn step(&self) -> u8 {
        if self.dampening == 0 { 1 } else { self.dampening }
    }

    /// True where no light enters the cell, however bright its neighbours are.
    #[must_use]
    pub const fn is_opaque(&self) -> bool {
        self.dampening >= MAX_LEVEL
    }

    /// True where sky light falls through undimmed, faces permitting.
    #[must_use]
    pub const fn passes_sky(&self) -> bool {
        self.dampening == 0
    }

    /// True where a face of the cell stops some light, so that its edges have to be looked at one by one.
    #[must_use]
    pub const fn is_shaped(&self) -> bool {
        u64::from_le_bytes([
            self.faces[0],
            self.faces[1],
            self.faces[2],
            self.faces[3],
            self.faces[4],
            self.faces[5],
            0,
            0,
        ]) != 0
    }
}
