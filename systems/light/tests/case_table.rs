//! The case table: faults that light engines are known for, as small worlds drawn in text, through every path.

use std::collections::BTreeMap;

use voxtick_light::reference::FlatLight;
use voxtick_light::{ChunkLighter, Lighting, Width};
use voxtick_worlds::{
    BlockPos, BlockStates, Chunk, ChunkLight, ChunkPos, Dimension, LightChannel, Section, StateId, World,
};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Who has been seen to get it wrong.
    #[serde(rename = "fault")]
    _fault: String,
    channel: String,
    fill: String,
    #[serde(default)]
    legend: BTreeMap<char, String>,
    drawing: String,
    levels: String,
    #[serde(default)]
    step: Vec<Step>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    column: i32,
    row: i32,
    block: String,
    levels: String,
}

/// Where the drawing's first column, and its slice, lie.
const WEST: i32 = 12;
const SLICE: i32 = 8;
/// One above the top row.
const TOP: i32 = 32;

fn tables() -> Vec<(String, Case)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let parse = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("readable");
        let table: Table =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        table.case
    };
    files.iter().flat_map(parse).map(|case| (case.name.clone(), case)).collect()
}

impl Case {
    fn channel(&self) -> LightChannel {
        match &*self.channel {
            "block" => LightChannel::Block,
            "sky" => LightChannel::Sky,
            other => panic!("{}: channel {other}", self.name),
        }
    }

    /// The cells of the drawing with their states.
    fn cells(&self, states: &BlockStates) -> Vec<(BlockPos, StateId)> {
        let parse = |text: &str| states.parse(text).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let state = |sign: char| match sign {
            '#' => parse("stone"),
            ' ' => StateId::AIR,
            't' => parse("torch"),
            'G' => parse("glowstone"),
            other => {
                parse(self.legend.get(&other).unwrap_or_else(|| panic!("{}: sign `{other}`", self.name)))
            }
        };
        places(&self.drawing).map(|(at, sign)| (at, state(sign))).collect()
    }

    /// A world of the fill alone.
    fn empty_world(&self) -> World {
        let states = BlockStates::load();
        let fill = states.parse(&self.fill).expect("a known fill");
        let dimension = Dimension::new("case", 0, TOP, true).expect("a valid range");
        let mut world = World::new(dimension, states);
        for x in 0..2 {
            let sections = vec![Section::uniform(fill); 2];
            world.insert_chunk(Chunk::from_sections(ChunkPos::new(x, 0), 0, sections));
        }
        world
    }

    fn world(&self) -> World {
        let mut world = self.empty_world();
        let cells = self.cells(world.states());
        assert_eq!(world.set_blocks(&cells).refused, 0, "{}: the drawing leaves the world", self.name);
        world
    }

    fn step_of(&self, step: &Step, states: &BlockStates) -> (BlockPos, StateId) {
        let state = states.parse(&step.block).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        (BlockPos::new(WEST + step.column, TOP - 1 - step.row, SLICE), state)
    }

    fn assert_levels(&self, levels: &str, path: &str, level: impl Fn(BlockPos) -> u8) {
        let mut found = String::new();
        let mut row = TOP;
        for (at, wanted) in places(levels) {
            if at.y != row {
                row = at.y;
                found.push('\n');
            }
            let level = char::from_digit(u32::from(level(at)), 16).expect("a level");
            found.push(if wanted == '.' { '.' } else { level });
        }
        assert_eq!(found.trim(), levels.trim(), "{}, by {path}; found:\n{found}\n", self.name);
    }
}

/// The cells of a drawing.
fn places(drawing: &str) -> impl Iterator<Item = (BlockPos, char)> + '_ {
    let rows = drawing.trim_matches('\n').lines();
    (0..).zip(rows).flat_map(|(row, line)| {
        let cell = move |(column, sign)| (BlockPos::new(WEST + column, TOP - 1 - row, SLICE), sign);
        (0..).zip(line.chars()).map(cell)
    })
}

fn level_in(light: &[(ChunkPos, ChunkLight)], channel: LightChannel, at: BlockPos) -> u8 {
    let (_, light) = light.iter().find(|(position, _)| *position == at.chunk()).expect("a lit chunk");
    light.level(channel, at.section().y, at.cell())
}

fn level_in_world(world: &World, channel: LightChannel, at: BlockPos) -> u8 {
    let light = world.chunk(at.chunk()).and_then(|chunk| chunk.light.as_ref()).expect("a lit chunk");
    light.level(channel, at.section().y, at.cell())
}

#[test]
fn the_flood_fill_and_its_single_changes() {
    for (_, case) in tables() {
        let world = case.world();
        let positions: Vec<ChunkPos> = world.chunk_positions().collect();
        let mut light = FlatLight::new(&world, &positions);
        light.light_all();
        let channel = case.channel();
        let check = |light: &FlatLight<'_>, levels: &str| {
            case.assert_levels(levels, "flood fill", |at| {
                light.level(channel, at).expect("a cell of the set")
            });
        };
        check(&light, &case.levels);
        for step in &case.step {
            let (at, state) = case.step_of(step, world.states());
            light.set_block(at, state);
            check(&light, &step.levels);
        }
    }
}

#[test]
fn the_kernels_from_nothing() {
    for (_, case) in tables() {
        let mut world = case.world();
        let positions: Vec<ChunkPos> = world.chunk_positions().collect();
        for width in Width::ALL.into_iter().filter(|width| width.is_supported()) {
            let lit = ChunkLighter::with_width(width).light(&world, &positions);
            let path = format!("kernels, {width:?}");
            case.assert_levels(&case.levels, &path, |at| level_in(&lit, case.channel(), at));
        }
        for step in &case.step {
            let (at, state) = case.step_of(step, world.states());
            world.set_block(at, state).expect("a cell of the world");
            let lit = ChunkLighter::default().light(&world, &positions);
            case.assert_levels(&step.levels, "kernels", |at| level_in(&lit, case.channel(), at));
        }
    }
}

#[test]
fn a_world_that_is_built_block_by_block() {
    for (_, case) in tables() {
        for width in Width::ALL.into_iter().filter(|width| width.is_supported()) {
            let mut world = case.empty_world();
            let mut lighting = Lighting::with_width(width);
            lighting.update(&mut world);
            for (at, state) in case.cells(world.states()) {
                world.set_block(at, state).expect("a cell of the world");
                lighting.update(&mut world);
            }
            let path = format!("updates, {width:?}");
            case.assert_levels(&case.levels, &path, |at| level_in_world(&world, case.channel(), at));
            for step in &case.step {
                let (at, state) = case.step_of(step, world.states());
                world.set_block(at, state).expect("a cell of the world");
                lighting.update(&mut world);
                case.assert_levels(&step.levels, &path, |at| level_in_world(&world, case.channel(), at));
            }
        }
    }
}
