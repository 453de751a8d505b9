//! What bodies need to know of a kind of block, as a table of its own.
//!
//! Thousands of block states share the few hundred rows of this table, so terrain can be stored as one small number a
//! cell, and a program without block states can describe its own terrain.

use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockStates, CollisionBox, Fluid, StateId};

/// The number of a row in [`Materials`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaterialId(pub u16);

impl MaterialId {
    /// Nothing there: the first row of every table.
    pub const AIR: MaterialId = MaterialId(0);
    /// A full cube of friction 0.6: the second row of every table.
    pub const CUBE: MaterialId = MaterialId(1);
    /// No row: the terrain is not loaded there.
    pub const UNLOADED: MaterialId = MaterialId(u16::MAX);
}

/// What a block does to a body beside being in its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Effect {
    /// Nothing.
    #[default]
    None,
    /// Slows the next move to a quarter, and a twentieth downwards.
    Web,
    /// Slows the next move to nine tenths; upwards it is half as fast again.
    PowderSnow,
    /// Throws back what falls on it, at 0.8 of its speed.
    Slime,
    /// Throws back what falls on it, at 0.66 x 0.8 of its speed.
    Bed,
    /// Holds what slides down its side.
    Honey,
    /// Water that lifts.
    BubbleUp,
    /// Water that pulls down.
    BubbleDown,
}

/// Where a body stands when a fence, a wall or a gate supports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Footing {
    /// On the block at the looked-for depth.
    #[default]
    Plain,
    /// On the fence itself for depths up to half a block.
    Fence,
    /// On the wall or gate itself.
    Wall,
}

/// One kind of block as bodies know it.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// What is in the way, relative to the lowest corner of the cell; may reach up to 1.5.
    pub boxes: Vec<CollisionBox>,
    /// Slipperiness for what stands on it; 0.6 for most.
    pub friction: f32,
    /// Factor on the horizontal speed of what stands in or on it; 1 for most.
    pub speed_factor: f32,
    /// The fluid in its cell.
    pub fluid: Fluid,
    /// What else it does.
    pub effect: Effect,
    /// How it carries what stands on it.
    pub footing: Footing,
}

impl Material {
    /// Nothing.
    pub const AIR: Material = Material {
        boxes: Vec::new(),
        friction: 0.6,
        speed_factor: 1.0,
        fluid: Fluid::None,
        effect: Effect::None,
        footing: Footing::Plain,
    };

    /// A full cube.
    #[must_use]
    pub fn cube(friction: f32) -> Material {
        Material { boxes: vec![CollisionBox::UNIT_CUBE], friction, ..Material::AIR }
    }

    /// True for a full cube, whatever its friction.
    #[must_use]
    pub fn is_cube(&self) -> bool {
        matches!(self.boxes.as_slice(), [only] if only.is_unit_cube())
    }

    fn of_state(states: &BlockStates, id: StateId) -> Material {
        let name = states.name(id);
        let short = name.strip_prefix("minecraft:").unwrap_or("");
        let effect = match short {
            "cobweb" => Effect::Web,
            "powder_snow" => Effect::PowderSnow,
            "slime_block" => Effect::Slime,
            "honey_block" => Effect::Honey,
            "bubble_column" if states.property(id, "drag") == Some("true") => Effect::BubbleDown,
            "bubble_column" => Effect::BubbleUp,
            _ if short.ends_with("_bed") => Effect::Bed,
            _ => Effect::None,
        };
        let footing = if short.ends_with("_fence") {
            Footing::Fence
        } else if short.ends_with("_wall") || short.ends_with("_fence_gate") {
            Footing::Wall
        } else {
            Footing::Plain
        };
        Material {
            boxes: states.collision_boxes(id).to_vec(),
            friction: states.friction(id),
            speed_factor: states.speed_factor(id),
            fluid: states.fluid(id),
            effect,
            footing,
        }
    }

    /// All of it as whole numbers, to find equal rows by.
    fn key(&self) -> Vec<u64> {
        let (kind, level) = match self.fluid {
            Fluid::None => (0, 0),
            Fluid::Water { level, falling } => (1 + u64::from(falling), level),
            Fluid::Lava { level, falling } => (3 + u64::from(falling), level),
        };
        let mut key = vec![
            u64::from(self.friction.to_bits()) << 32 | u64::from(self.speed_factor.to_bits()),
            kind << 24 | u64::from(level) << 16 | (self.effect as u64) << 8 | self.footing as u64,
        ];
        for shape in &self.boxes {
            key.extend(shape.min.iter().chain(&shape.max).map(|corner| corner.to_bits()));
        }
        key
    }
}

/// All kinds of block that a terrain may have.
///
/// ```
/// use voxtick_bodies::{Material, MaterialId, Materials};
/// let mut materials = Materials::new();
/// let ice = materials.add(Material::cube(0.98));
/// assert_eq!(materials[ice].friction, 0.98);
/// assert!(materials[MaterialId::CUBE].is_cube());
/// ```
#[derive(Debug, Clone)]
pub struct Materials {
    rows: Vec<Material>,
    traits: Vec<Traits>,
    places: FxHashMap<Vec<u64>, MaterialId>,
    of_state: Vec<MaterialId>,
}

/// The questions that each step asks of each cell, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traits(u8);

impl Traits {
    pub(crate) const CUBE: Traits = Traits(1);
    pub(crate) const BOXES: Traits = Traits(2);
    pub(crate) const FLUID: Traits = Traits(4);
    pub(crate) const EFFECT: Traits = Traits(8);
    pub(crate) const TALL: Traits = Traits(16);
    /// Air, or a full cube that is like stone in every way.
    pub(crate) const PLAIN: Traits = Traits(32);
    pub(crate) const BLOCKS_MOTION: Traits = Traits(64);
    /// Water and nothing else: what is in it only drifts.
    pub(crate) const WATER: Traits = Traits(128);

    pub(crate) const fn has(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    fn of(material: &Material) -> Traits {
        let tall = material.boxes.iter().any(|shape| shape.max[1] > 1.0);
        let inert =
            material.fluid.is_none() && material.effect == Effect::None && material.speed_factor == 1.0;
        let plain = inert && (material.boxes.is_empty() || material.is_cube() && material.friction == 0.6);
        let water = matches!(material.fluid, Fluid::Water { .. })
            && material.boxes.is_empty()
            && material.effect == Effect::None
            && material.speed_factor == 1.0
            && material.friction == 0.6;
        let traits = [
            (Traits::WATER, water),
            (Traits::CUBE, material.is_cube()),
            (Traits::BOXES, !material.boxes.is_empty()),
            (Traits::FLUID, !material.fluid.is_none()),
            (Traits::EFFECT, material.effect != Effect::None),
            (Traits::TALL, tall),
            (Traits::PLAIN, plain),
            (Traits::BLOCKS_MOTION, blocks_motion(material)),
        ];
        Traits(traits.iter().filter(|(_, holds)| *holds).fold(0, |all, (one, _)| all | one.0))
    }
}

/// Minecraft Java 1.20 onward: a shape keeps fluids out where the mean of its extents is above 0.729 or it is as high
/// as a block.
fn blocks_motion(material: &Material) -> bool {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for shape in &material.boxes {
        for axis in 0..3 {
            low[axis] = low[axis].min(shape.min[axis]);
            high[axis] = high[axis].max(shape.max[axis]);
        }
    }
    let extent = [0, 1, 2].map(|axis| high[axis] - low[axis]);
    !material.boxes.is_empty()
        && ((extent[0] + extent[1] + extent[2]) / 3.0 >= 0.729_166_666_666_666_6 || extent[1] >= 1.0)
}

impl Materials {
    /// A table of the two rows that every table has.
    #[must_use]
    pub fn new() -> Materials {
        let mut materials = Materials {
            rows: Vec::new(),
            traits: Vec::new(),
            places: FxHashMap::default(),
            of_state: Vec::new(),
        };
        materials.add(Material::AIR);
        materials.add(Material::cube(0.6));
        materials
    }

    /// The rows of all block states known so far.
    #[must_use]
    pub fn of_states(states: &BlockStates) -> Materials {
        let mut materials = Materials::new();
        materials.refresh(states);
        materials
    }

    /// Adds the rows of states that were met since. Returns whether there were any.
    pub fn refresh(&mut self, states: &BlockStates) -> bool {
        let known = self.of_state.len();
        for id in known..states.count() {
            let material = Material::of_state(states, StateId(id as u32));
            let id = self.add(material);
            self.of_state.push(id);
        }
        self.of_state.len() > known
    }

    /// The number of a row like `material`; adds it if there is none. A full table (65,535 rows) answers with the full
    /// cube.
    pub fn add(&mut self, material: Material) -> MaterialId {
        let key = material.key();
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        if self.rows.len() >= usize::from(u16::MAX) {
            return MaterialId::CUBE;
        }
        let place = MaterialId(self.rows.len() as u16);
        self.traits.push(Traits::of(&material));
        self.rows.push(material);
        self.places.insert(key, place);
        place
    }

    /// The row of a block state; a state met after the last [`Materials::refresh`] counts as a full cube.
    #[must_use]
    pub fn of_state(&self, id: StateId) -> MaterialId {
        self.of_state.get(id.0 as usize).copied().unwrap_or(MaterialId::CUBE)
    }

    /// What the steps ask first. Not for [`MaterialId::UNLOADED`].
    pub(crate) fn traits(&self, id: MaterialId) -> Traits {
        self.traits[self.row(id)]
    }

    /// A number that is no row counts as the full cube.
    fn row(&self, id: MaterialId) -> usize {
        let place = usize::from(id.0);
        if place < self.rows.len() { place } else { usize::from(MaterialId::CUBE.0) }
    }
}

impl Default for Materials {
    fn default() -> Materials {
        Materials::new()
    }
}

impl std::ops::Index<MaterialId> for Materials {
    type Output = Material;

    fn index(&self, id: MaterialId) -> &Material {
        &self.rows[self.row(id)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_thousand_states_share_few_rows() {
        let states = BlockStates::load();
        let materials = Materials::of_states(&states);
        assert!(materials.rows.len() < 3_000, "{} rows", materials.rows.len());
        let of = |text: &str| materials.of_state(states.parse(text).expect("a known state"));
        assert_eq!(of("stone"), MaterialId::CUBE);
        assert_eq!(of("cave_air"), MaterialId::AIR);
        assert_eq!(materials[of("cobweb")].effect, Effect::Web);
        assert_eq!(materials[of("bubble_column[drag=false]")].effect, Effect::BubbleUp);
        assert_eq!(materials[of("oak_fence")].footing, Footing::Fence);
        assert!(materials.traits(of("oak_fence")).has(Traits::TALL));
        assert!(!materials.traits(of("blue_ice")).has(Traits::PLAIN));
        assert_eq!(materials[of("soul_sand")].speed_factor, 0.4);
        for (state, is_water) in
            [("water[level=3]", true), ("seagrass", true), ("bubble_column[drag=true]", false)]
        {
            assert_eq!(materials.traits(of(state)).has(Traits::WATER), is_water, "{state}");
        }
    }
}
