//! One row of facts. Many states share a row, so the table keeps each distinct row once and a row number a state.

use super::fluid::Fluid;

/// What a moving body has to know of a state at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MotionClass {
    /// Nothing: no collision boxes, no fluid, no effect on what is inside.
    Air,
    /// The unit cube and nothing else; its friction may differ.
    FullCube,
    /// Anything else: partial or tall shapes, fluids, and blocks that act on what touches them (webs, beds, slime,
    /// honey, soul sand, portals, fire, pressure plates ...).
    Special,
}

/// The facts that a state may share with others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FactRow {
    pub(super) emission: u8,
    pub(super) dampening: u8,
    pub(super) flags: u8,
    pub(super) motion: MotionClass,
    pub(super) fluid: Fluid,
    pub(super) faces: [u8; 6],
    pub(super) boxes_start: u16,
    pub(super) boxes_end: u16,
    pub(super) friction: f32,
    pub(super) speed_factor: f32,
}

impl FactRow {
    pub(super) const SKY_DOWN: u8 = 1;
    pub(super) const CAN_OCCLUDE: u8 = 1 << 1;
    pub(super) const SHAPE_OCCLUDES: u8 = 1 << 2;
    pub(super) const AIR: u8 = 1 << 3;
    pub(super) const BLOCKS_MOTION: u8 = 1 << 4;
    pub(super) const LEAVES: u8 = 1 << 5;

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}
