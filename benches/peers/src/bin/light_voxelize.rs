//! Block light of single sections: ours against the queue flood fill of `voxelize`, one channel.
//!
//! Both light the same closed sections of 16 x 16 x 16 cells, opaque or not at random, from the same sources; the levels
//! are equal in every cell before anything is timed. `Lights::flood_light` runs on one colour over flat arrays of
//! voxels and of light (its `VoxelAccess`, the cheapest that it can be given), its queue filled with the sources as
//! `Lights::propagate` fills it; clearing the light and filling the queue are part of the job. Of what it can do beside
//! (colours, rotated blocks, partial transparency) nothing is asked.
//!
//! `cargo run --release --features voxelize --bin light_voxelize`; the build needs `protoc`.

use std::collections::VecDeque;
use std::hint::black_box;
use voxelize::{Block, LightColor, LightNode, Lights, Registry, Vec3, VoxelAccess, WorldConfig};
use voxtick_light::light_section;
use voxtick_peers::{compare, print_head};
use voxtick_worlds::generators::split_mix;
use voxtick_worlds::{NIBBLE_BYTES, SECTION_CELLS};

const SECTIONS: u64 = 64;

struct Input {
    opaque: [u64; 64],
    sources: Vec<(u16, u8)>,
}

fn inputs(sources: usize, solid: u64) -> Vec<Input> {
    let mut random = 41;
    let mut below = move |bound: u64| {
        random = split_mix(random + 0x9E37);
        random % bound
    };
    (0..SECTIONS)
        .map(|_| {
            let mut opaque = [0; 64];
            for cell in 0..SECTION_CELLS {
                opaque[cell / 64] |= u64::from(below(100) < solid) << (cell % 64);
            }
            let mut chosen: Vec<(u16, u8)> = Vec::new();
            while chosen.len() < sources {
                let cell = below(SECTION_CELLS as u64) as usize;
                let is_free = opaque[cell / 64] >> (cell % 64) & 1 == 0;
                if is_free && chosen.iter().all(|(other, _)| usize::from(*other) != cell) {
                    chosen.push((cell as u16, [15, 14, 7, 3][chosen.len() % 4]));
                }
            }
            Input { opaque, sources: chosen }
        })
        .collect()
}

/// One section as `voxelize` sees it.
struct Flat {
    voxels: Vec<u32>,
    lights: Vec<u32>,
}

fn cell(x: i32, y: i32, z: i32) -> usize {
    (y * 256 + z * 16 + x) as usize
}

impl VoxelAccess for Flat {
    fn get_raw_voxel(&self, x: i32, y: i32, z: i32) -> u32 {
        self.voxels[cell(x, y, z)]
    }

    fn get_raw_light(&self, x: i32, y: i32, z: i32) -> u32 {
        self.lights[cell(x, y, z)]
    }

    fn set_raw_light(&mut self, x: i32, y: i32, z: i32, level: u32) -> bool {
        self.lights[cell(x, y, z)] = level;
        true
    }
}

fn flood(space: &mut Flat, input: &Input, registry: &Registry, config: &WorldConfig) {
    space.lights.fill(0);
    let mut queue = VecDeque::new();
    for (source, level) in &input.sources {
        let source = i32::from(*source);
        let voxel = [source % 16, source / 256, source / 16 % 16];
        space.set_red_light(voxel[0], voxel[1], voxel[2], (*level).into());
        queue.push_back(LightNode { voxel, level: (*level).into() });
    }
    let (min, shape) = (Vec3(0, 0, 0), Vec3(16, 16, 16));
    Lights::flood_light(space, queue, &LightColor::Red, registry, config, Some(&min), Some(&shape));
}

fn main() {
    let mut registry = Registry::new();
    registry.register_block(&Block::new("stone").id(1).build());
    let config = WorldConfig {
        chunk_size: 16,
        max_height: 16,
        max_light_level: 15,
        min_chunk: [0, 0],
        max_chunk: [0, 0],
        ..WorldConfig::default()
    };
    println!("microseconds for {SECTIONS} sections\n");
    print_head();
    for sources in [1, 8, 64] {
        for solid in [0, 30] {
            let inputs = inputs(sources, solid);
            let mut spaces: Vec<Flat> = inputs
                .iter()
                .map(|input| Flat {
                    voxels: (0..SECTION_CELLS)
                        .map(|cell| (input.opaque[cell / 64] >> (cell % 64) & 1) as u32)
                        .collect(),
                    lights: vec![0; SECTION_CELLS],
                })
                .collect();
            for (input, space) in inputs.iter().zip(&mut spaces) {
                let mut levels = [0; NIBBLE_BYTES];
                light_section(&input.opaque, &input.sources, &mut levels);
                flood(space, input, &registry, &config);
                for at in 0..SECTION_CELLS {
                    let ours = u32::from(levels[at / 2] >> (at % 2 * 4) & 15);
                    let (x, y, z) = (at as i32 % 16, at as i32 / 256, at as i32 / 16 % 16);
                    assert_eq!(ours, space.get_red_light(x, y, z), "cell {at}");
                }
            }
            let mut levels = [0; NIBBLE_BYTES];
            compare(
                &format!("section/sources={sources}/solid={solid}"),
                || {
                    for input in &inputs {
                        light_section(&input.opaque, &input.sources, &mut levels);
                        black_box(&levels);
                    }
                },
                || {
                    for (input, space) in inputs.iter().zip(&mut spaces) {
                        flood(space, input, &registry, &config);
                        black_box(&space.lights);
                    }
                },
            );
        }
    }
}
