//! One section while its light is being changed.

use std::sync::Arc;

use voxtick_worlds::{CellMask, LightLevels, NIBBLE_BYTES};

use crate::edges::Edges;
use crate::masks::{Layer, NO_CELL, Planes, each, layer, pack_layer, set_layer, unpack_layer};

/// The stored light of a section, what is known of its lit cells at the level that is worked on, and what has changed.
pub(crate) struct Working {
    pub(crate) place: u32,
    pub(crate) section: u32,
    /// The stored light, taken out of its chunk.
    pub(crate) levels: LightLevels,
    pub(crate) edges: Option<Box<Edges>>,
    /// Places of the neighbours among the working sections, once they have been asked for.
    pub(crate) beside: [Option<u32>; 6],
    /// Layers to look at in the next level, and those to look at in every level.
    pub(crate) layers: u16,
    pub(crate) forced: u16,
    /// Layers of `stored` that have been read from `levels`.
    read: u16,
    stored: Planes,
    /// The cells at least as bright as a level, with the level for which each layer holds that.
    pub(crate) lit: CellMask,
    lit_level: [u8; 16],
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
            edges: None,
            beside: [None; 6],
            layers: 0,
            forced: 0,
            read: 0,
            stored: [NO_CELL; 4],
            lit: NO_CELL,
            lit_level: [0; 16],
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
    pub(crate) fn start(&mut self, place: u32, section: u32, levels: LightLevels, edges: Option<Edges>) {
        self.place = place;
        self.section = section;
        self.levels = levels;
        self.edges = edges.map(Box::new);
        self.beside = [None; 6];
        self.layers = 0;
        self.forced = 0;
        self.read = 0;
        self.lit_level = [0; 16];
        self.changed = 0;
        self.sources_differ = 0;
    }

    /// The stored level of `cell`.
    pub(crate) fn level(&self, cell: usize) -> u8 {
        self.levels.level(cell).unwrap_or(0)
    }

    /// Makes `lit` hold the cells at least as bright as `level` in `layers`, as they were stored where no step has
    /// found them anew.
    #[inline(always)]
    pub(crate) fn read(&mut self, layers: u16, level: u8) {
        for y in (0..16).filter(|y| layers >> y & 1 != 0) {
            if self.lit_level[y] != level {
                self.read_layer(y);
                let lit = self.stored_layer(y, level);
                self.set_lit(y, level, lit);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn set_lit(&mut self, y: usize, level: u8, lit: Layer) {
        set_layer(&mut self.lit, y, lit);
        self.lit_level[y] = level;
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

    /// The cells of a layer, read before, whose stored level is at least `level`.
    #[inline(always)]
    pub(crate) fn stored_layer(&self, y: usize, level: u8) -> Layer {
        if level > 15 {
            return [0; 4];
        }
        let planes = [0, 1, 2, 3].map(|bit| layer(&self.stored[bit], y));
        let wanted = [0, 1, 2, 3].map(|bit| if level >> bit & 1 != 0 { u64::MAX } else { 0 });
        each(|at| {
            // From the highest bit down: greater so far, or equal so far.
            let (mut greater, mut equal) = (0, u64::MAX);
            for bit in (0..4).rev() {
                let plane = planes[bit][at];
                greater |= equal & plane & !wanted[bit];
                equal &= !(plane ^ wanted[bit]);
            }
            greater | equal
        })
    }

    /// Notes that the cells of `differ` are at least as bright as `level` now and were not, or the other way round.
    ///
    /// A level is the number of thresholds that it reaches, and a bit of that number changes at every threshold that
    /// is a multiple of the bit's value.
    #[inline(always)]
    pub(crate) fn note(&mut self, y: usize, level: u8, differ: Layer) {
        if self.changed >> y & 1 == 0 {
            self.changed |= 1 << y;
            self.changes.iter_mut().for_each(|plane| set_layer(plane, y, [0; 4]));
        }
        for (bit, plane) in self.changes.iter_mut().enumerate() {
            if level.trailing_zeros() as usize >= bit {
                let before = layer(plane, y);
                set_layer(plane, y, each(|at| before[at] ^ differ[at]));
            }
        }
    }

    /// Writes what has changed into the stored light and returns how many cells have another level.
    #[inline(always)]
    pub(crate) fn write_changes(&mut self) -> u64 {
        let mut cells = 0;
        for y in (0..16).filter(|y| self.changed >> y & 1 != 0) {
            let changes = [0, 1, 2, 3].map(|bit| layer(&self.changes[bit], y));
            let any = each(|at| changes[0][at] | changes[1][at] | changes[2][at] | changes[3][at]);
            let count: u32 = any.iter().map(|word| word.count_ones()).sum();
            if count == 0 {
                continue;
            }
            cells += u64::from(count);
            let planes = [0, 1, 2, 3].map(|bit| {
                let stored = layer(&self.stored[bit], y);
                each(|at| stored[at] ^ changes[bit][at])
            });
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
