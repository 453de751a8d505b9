//! Writes the compact table. `worlds/src/states/table.rs` is its reader and describes the layout.

use crate::rules;
use crate::sources::{Sources, State};
use std::collections::HashMap;
use std::hash::Hash;

/// Collision boxes are stored in 32nds of a block: every corner of the game's shapes lies on that grid.
const BOX_GRID: f64 = 32.0;

/// The whole table, before compression.
pub(crate) fn encode(sources: &Sources) -> Vec<u8> {
    let mut masks = Interner::default();
    // Index 0 is the empty mask by contract; the others keep the order of their first use.
    masks.index([0_u64; 4]);
    let mut shapes = Interner::default();
    let mut rows = Interner::default();
    let mut property_kinds = Interner::default();

    let mut blocks = Vec::new();
    for block in &sources.blocks {
        string(&mut blocks, &block.name);
        number(&mut blocks, block.properties.len());
        for property in &block.properties {
            number(&mut blocks, property_kinds.index(property.clone()));
        }
        number(&mut blocks, block.default_offset);
        let state_rows: Vec<usize> = block
            .states
            .iter()
            .map(|state| {
                let faces = state.faces.filter(|_| state.shape_occludes);
                let faces = faces
                    .map_or([0; 6], |faces| faces.map(|face| masks.index(sources.face_masks[face]) as u8));
                let shape = shapes.index(grid_boxes(state));
                let fluid = rules::fluid(block, state);
                rows.index(Row {
                    emission: state.emission,
                    dampening: state.dampening,
                    flags: u8::from(state.sky_down)
                        | u8::from(state.can_occlude) << 1
                        | u8::from(state.shape_occludes) << 2
                        | u8::from(matches!(block.name.as_str(), "air" | "cave_air" | "void_air")) << 3
                        | u8::from(rules::blocks_motion(&block.name, state)) << 4
                        | u8::from(block.name.ends_with("_leaves")) << 5,
                    fluid,
                    motion: rules::motion(block, state, fluid),
                    faces,
                    shape,
                    friction: rules::friction(&block.name).to_bits(),
                    speed_factor: rules::speed_factor(&block.name).to_bits(),
                })
            })
            .collect();
        for run in state_rows.chunk_by(|a, b| a == b) {
            number(&mut blocks, run.len());
            number(&mut blocks, run[0]);
        }
    }

    let mut out = b"VXBS".to_vec();
    out.push(1);
    string(&mut out, &sources.version);
    number(&mut out, masks.items.len());
    for mask in &masks.items {
        out.extend(mask.iter().flat_map(|word| word.to_le_bytes()));
    }
    number(&mut out, shapes.items.len());
    for shape in &shapes.items {
        number(&mut out, shape.len());
        out.extend(shape.iter().flatten().map(|corner| corner.to_le_bytes()[0]));
    }
    number(&mut out, rows.items.len());
    for row in &rows.items {
        out.extend([row.emission, row.dampening, row.flags, row.fluid, row.motion]);
        out.extend(row.faces);
        number(&mut out, row.shape);
        out.extend(row.friction.to_le_bytes());
        out.extend(row.speed_factor.to_le_bytes());
    }
    number(&mut out, property_kinds.items.len());
    for (name, values) in &property_kinds.items {
        string(&mut out, name);
        number(&mut out, values.len());
        for value in values {
            string(&mut out, value);
        }
    }
    number(&mut out, sources.blocks.len());
    out.extend(blocks);
    out
}

/// All facts of a state that many states share.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Row {
    emission: u8,
    dampening: u8,
    flags: u8,
    fluid: u8,
    motion: u8,
    faces: [u8; 6],
    shape: usize,
    friction: u32,
    speed_factor: u32,
}

fn grid_boxes(state: &State) -> Vec<[i8; 6]> {
    state
        .boxes
        .iter()
        .map(|corners| {
            corners.map(|corner| {
                let grid = corner * BOX_GRID;
                assert!(grid.fract() == 0.0 && grid.abs() <= 127.0, "corner {corner} is off the 1/32 grid");
                grid as i8
            })
        })
        .collect()
}

/// Gives each distinct value an index, in order of first use.
struct Interner<T> {
    items: Vec<T>,
    indices: HashMap<T, usize>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: Vec::new(), indices: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    fn index(&mut self, item: T) -> usize {
        let next = self.items.len();
        *self.indices.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            next
        })
    }
}

/// Little-endian base 128, seven bits a byte.
fn number(out: &mut Vec<u8>, mut value: usize) {
    while value >= 128 {
        out.push((value & 127) as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

fn string(out: &mut Vec<u8>, text: &str) {
    number(out, text.len());
    out.extend(text.as_bytes());
}
