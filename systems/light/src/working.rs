//! One section while its light is being changed.

use std::sync::Arc;

use voxtick_worlds::{CellMask, LightLevels, NIBBLE_BYTES};

use crate::area::NONE;
use crate::masks::{
    EVERY_CELL, Layer, NO_CELL, Planes, bits, each, layer, layers, pack_layer, set_layer, unpack_layer,
};
use crate::sides::Sides;

/// The stored light of a section, what is known of its lit cells at the level that is worked on, and what has changed.
pub(crate) struct Working {
    pub(crate) place: u32,
    pub(crate) section: u32,
    /// The stored light, taken out of its chunk.
    pub(crate) levels: LightLevels,
    /// Where the kernel has its closed edges, or [`NONE`].
    pub(crate) edges: u32,
    /// Places of the neighbours among the working sections, once they have been asked for.
    pub(crate) beside: [Option<u32>; 6],
    /// Layers to look at in the next level.
    pub(crate) layers: u16,
    /// Per layer the levels in which it is looked at whatever was found in the level before, where there are such.
    pub(crate) forced: [u16; 16],
    pub(crate) is_forced: bool,
    /// The sides of the section at which cells of those layers may differ.
    pub(crate) sides: Sides,
    pub(crate) forced_sides: Sides,
    /// Layers of `stored` that have been read from `levels`.
    read: u16,
    stored: Planes,
    /// The cells at least as bright as `lit_level`, in the layers of `lit_layers`.
    lit: CellMask,
    lit_level: u8,
    lit_layers: u16,
    /// The level of every cell, as long as nothing has been found to differ.
    even: Option<u8>,
    /// Bits of levels that are others now, in the layers of `changed`.
    changes: Planes,
    changed: u16,
    /// Cells that became sky sources or ceased to be, in the layers of `sources_differ`.
    pub(crate) sources: CellMask,
    pub(crate) sources_differ: u16,
}

impl Default for Working {
    fn default() -> Working {
        Working {
            place: 0,
            section: 0,
            levels: LightLevels::Absent,
            edges: NONE,
            beside: [None; 6],
            layers: 0,
            forced: [0; 16],
            is_forced: false,
            sides: Sides::NONE,
            forced_sides: Sides::NONE,
            read: 0,
            stored: [NO_CELL; 4],
            lit: NO_CELL,
            lit_level: 0,
            lit_layers: 0,
            even: None,
            changes: [NO_CELL; 4],
            changed: 0,
            sources: NO_CELL,
            sources_differ: 0,
        }
    }
}

impl Working {
    /// Makes this the section `section` of the column at `place`. The masks keep what they held: nothing is read from
    /// a layer before it has been written.
    pub(crate) fn start(&mut self, place: u32, section: u32, levels: LightLevels, edges: u32) {
        self.place = place;
        self.section = section;
        self.levels = levels;
        self.edges = edges;
        self.beside = [None; 6];
        self.layers = 0;
        self.is_forced = false;
        self.read = 0;
        self.lit_level = 0;
        self.lit_layers = 0;
        self.even = match &self.levels {
            LightLevels::Nibbles(_) => None,
            even => Some(even.level(0).unwrap_or(0)),
        };
        self.changed = 0;
        self.sources_differ = 0;
    }

    /// The stored level of `cell`.
    pub(crate) fn level(&self, cell: usize) -> u8 {
        self.levels.level(cell).unwrap_or(0)
    }

    /// Makes the cells at least as bright as `level` known in `layers`: as they were stored where no step has found
    /// them anew.
    #[inline(always)]
    pub(crate) fn read(&mut self, layers: u16, level: u8) {
        if self.even.is_some() {
            return;
        }
        let known = if self.lit_level == level { self.lit_layers } else { 0 };
        for y in bits(layers & !known) {
            self.read_layer(y);
            let lit = self.stored_layer(y, level);
            set_layer(&mut self.lit, y, lit);
        }
        self.lit_level = level;
        self.lit_layers = known | layers;
    }

    /// The layers to look at in `level` whatever was found in the level before.
    #[inline(always)]
    pub(crate) fn forced_layers(&self, level: u8) -> u16 {
        (0..16).fold(0, |layers, y| layers | (self.forced[y] >> level & 1) << y)
    }

    /// The cells at least as bright as `level`, for which they must have been read.
    #[inline(always)]
    pub(crate) fn lit(&self, level: u8) -> &CellMask {
        match self.even {
            Some(even) if even >= level => &EVERY_CELL,
            Some(_) => &NO_CELL,
            None => &self.lit,
        }
    }

    /// Takes the cells of `lit` in `layers` as those at least as bright as `level`.
    #[inline(always)]
    pub(crate) fn set_lit(&mut self, layers: u16, level: u8, lit: &CellMask) {
        if self.even.is_some() {
            return;
        }
        for y in bits(layers) {
            set_layer(&mut self.lit, y, layer(lit, y));
        }
        self.lit_layers = layers | if self.lit_level == level { self.lit_layers } else { 0 };
        self.lit_level = level;
    }

    /// Reads the stored levels of `layers`.
    #[inline(always)]
    pub(crate) fn read_stored(&mut self, layers: u16) {
        if self.even.is_none() {
            for y in bits(layers & !self.read) {
                self.read_layer(y);
            }
        }
    }

    /// The cells that were not at least as bright as the level that was worked on last and are now, where light does
    /// nothing but rise; they take the place of the lit ones.
    #[inline(always)]
    pub(crate) fn gained(&self) -> &CellMask {
        &self.lit
    }

    #[inline(always)]
    pub(crate) fn set_gained(&mut self, layers: u16, gained: &CellMask) {
        for y in bits(layers) {
            set_layer(&mut self.lit, y, layer(gained, y));
        }
    }

    pub(crate) fn forget_gained(&mut self) {
        self.lit = NO_CELL;
    }

    /// The sky sources after their changes, in `layers`, which must have been read, and where they differ from before.
    #[inline(always)]
    pub(crate) fn step_sources(&self, layers: u16, lit: &mut CellMask, differ: &mut CellMask) {
        for y in bits(layers) {
            let toggled = if self.sources_differ >> y & 1 != 0 { layer(&self.sources, y) } else { [0; 4] };
            let before = layer(self.lit(15), y);
            set_layer(lit, y, each(|at| before[at] ^ toggled[at]));
            set_layer(differ, y, toggled);
        }
    }

    #[inline(always)]
    fn read_layer(&mut self, y: usize) {
        if self.read >> y & 1 != 0 {
            return;
        }
        self.read |= 1 << y;
        match &self.levels {
            LightLevels::Nibbles(nibbles) => unpack_layer(nibbles, y, &mut self.stored),
            uniform => {
                let level = uniform.level(0).unwrap_or(0);
                for (bit, plane) in self.stored.iter_mut().enumerate() {
                    set_layer(plane, y, [if level >> bit & 1 != 0 { u64::MAX } else { 0 }; 4]);
                }
            }
        }
    }

    /// Reads all layers of a section that has had one level until now.
    #[inline(never)]
    fn read_all_even(&mut self) {
        (0..16).for_each(|y| self.read_layer(y));
        self.lit_level = 0;
    }

    /// The cells of a layer, read before, whose stored level is at least `level`.
    #[inline(always)]
    pub(crate) fn stored_layer(&self, y: usize, level: u8) -> Layer {
        if let Some(even) = self.even {
            return [if even >= level { u64::MAX } else { 0 }; 4];
        }
        if level > 15 {
            return [0; 4];
        }
        let planes = layers(&self.stored, y);
        // At least `level` is what carries out of four bits when 16 - `level` is added. The carry of a bit is the
        // majority of its two summands and the carry before: one instruction where there is three-way logic.
        let added = each(|bit| 0_u64.wrapping_sub(u64::from((16 - level) >> bit & 1)));
        each(|at| {
            (0..4).fold(0, |carry, bit| {
                let plane = planes[bit][at];
                plane & carry | added[bit] & (plane | carry)
            })
        })
    }

    /// Notes that the cells of `differ` in `layers` are at least as bright as `level` now and were not, or the other way
    /// round.
    ///
    /// A level is the number of thresholds that it reaches, and a bit of that number changes at every threshold that
    /// is a multiple of the bit's value.
    #[inline(always)]
    pub(crate) fn note(&mut self, layers: u16, level: u8, differ: &CellMask) {
        if self.even.take().is_some() {
            self.read_all_even();
        }
        for y in bits(layers & !self.changed) {
            self.changes.iter_mut().for_each(|plane| set_layer(plane, y, [0; 4]));
        }
        self.changed |= layers;
        for plane in self.changes.iter_mut().take(1 + level.trailing_zeros() as usize) {
            for y in bits(layers) {
                let (before, differ) = (layer(plane, y), layer(differ, y));
                set_layer(plane, y, each(|at| before[at] ^ differ[at]));
            }
        }
    }

    /// Writes what has changed into the stored light and returns how many cells have another level.
    #[inline(always)]
    pub(crate) fn write_changes(&mut self) -> u64 {
        let mut cells = 0;
        for y in bits(self.changed) {
            let changes = layers(&self.changes, y);
            let any = each(|at| changes[0][at] | changes[1][at] | changes[2][at] | changes[3][at]);
            let count: u32 = any.iter().map(|word| word.count_ones()).sum();
            if count == 0 {
                continue;
            }
            cells += u64::from(count);
            let stored = layers(&self.stored, y);
            let planes = [
                each(|at| stored[0][at] ^ changes[0][at]),
                each(|at| stored[1][at] ^ changes[1][at]),
                each(|at| stored[2][at] ^ changes[2][at]),
                each(|at| stored[3][at] ^ changes[3][at]),
            ];
            pack_layer(&planes, y, nibbles_mut(&mut self.levels));
        }
        cells
    }
}

/// The nibbles of stored light, made first where there is one level for all.
pub(crate) fn nibbles_mut(levels: &mut LightLevels) -> &mut [u8; NIBBLE_BYTES] {
    if !matches!(levels, LightLevels::Nibbles(_)) {
        let level = levels.level(0).unwrap_or(0);
        *levels = LightLevels::Nibbles(Arc::new([level | level << 4; NIBBLE_BYTES]));
    }
    match levels {
        LightLevels::Nibbles(nibbles) => Arc::make_mut(nibbles),
        _ => unreachable!("nibbles were made above"),
    }
}
