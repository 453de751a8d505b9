//! Reads the two sources: light facts (JSON Lines) and the collision shapes of the npm package `minecraft-data`.
//!
//! Both list blocks and states in the game's own id order; the reader refuses sources that disagree about it, since
//! a shifted id would give every later state the facts of another.

use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Everything the table is made from, joined per block.
pub(crate) struct Sources {
    /// Game version, such as `26.1`.
    pub(crate) version: String,
    /// Face masks, 16 rows of 16 bits as four words.
    pub(crate) face_masks: Vec<[u64; 4]>,
    /// Blocks in id order.
    pub(crate) blocks: Vec<Block>,
}

/// One block with all its states in id order.
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) properties: Vec<(String, Vec<String>)>,
    /// Offset of the default state within `states`.
    pub(crate) default_offset: usize,
    pub(crate) states: Vec<State>,
}

/// The facts of one state.
pub(crate) struct State {
    /// The value of each property, in the block's property order.
    pub(crate) values: Vec<String>,
    pub(crate) emission: u8,
    pub(crate) dampening: u8,
    pub(crate) sky_down: bool,
    pub(crate) can_occlude: bool,
    pub(crate) shape_occludes: bool,
    /// Indices into the source's face masks; `None` when all six are empty.
    pub(crate) faces: Option<[usize; 6]>,
    /// Collision boxes as min x, y, z, max x, y, z.
    pub(crate) boxes: Vec<[f64; 6]>,
}

/// Why the table could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    #[error(
        "cannot read {path}: {source}; give the path of the light facts and of the minecraft-data version folder"
    )]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("{path}, line {line}: {source}")]
    Parse { path: PathBuf, line: usize, source: serde_json::Error },
    #[error("block {block}: {what}; both sources must describe the same game version")]
    Disagree { block: String, what: String },
}

#[derive(Deserialize)]
struct Header {
    minecraft: String,
    states: usize,
    face_masks: Vec<String>,
}

#[derive(Deserialize)]
struct BlockLine {
    name: String,
    first_state: usize,
    default_state: usize,
    properties: Vec<(String, Vec<String>)>,
    emission: PerState<u8>,
    dampening: PerState<u8>,
    sky_down: PerState<u8>,
    can_occlude: PerState<u8>,
    shape_occludes: PerState<u8>,
    faces: Option<Faces>,
}

/// One value for all states of a block, or one a state.
#[derive(Deserialize)]
#[serde(untagged)]
enum PerState<T> {
    Same(T),
    Each(Vec<T>),
}

impl<T: Copy> PerState<T> {
    fn at(&self, state: usize) -> Option<T> {
        match self {
            PerState::Same(value) => Some(*value),
            PerState::Each(values) => values.get(state).copied(),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Faces {
    Same([usize; 6]),
    Each(Vec<Option<[usize; 6]>>),
}

#[derive(Deserialize)]
struct Shapes {
    blocks: HashMap<String, PerState<usize>>,
    shapes: HashMap<String, Vec<[f64; 6]>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DataBlock {
    name: String,
    min_state_id: usize,
    max_state_id: usize,
    default_state: usize,
}

/// Reads and joins both sources.
pub(crate) fn read(light_facts: &Path, minecraft_data: &Path) -> Result<Sources, SourceError> {
    let text = read_text(light_facts)?;
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (line, header) = lines.next().unwrap_or((1, ""));
    let header: Header = parse(light_facts, line, header)?;
    let shapes_path = minecraft_data.join("blockCollisionShapes.json");
    let shapes: Shapes = parse(&shapes_path, 1, &read_text(&shapes_path)?)?;
    let blocks_path = minecraft_data.join("blocks.json");
    let data_blocks: Vec<DataBlock> = parse(&blocks_path, 1, &read_text(&blocks_path)?)?;
    let data_blocks: HashMap<&str, &DataBlock> =
        data_blocks.iter().map(|block| (block.name.as_str(), block)).collect();

    let mut blocks = Vec::new();
    let mut next_state = 0;
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        let block: BlockLine = parse(light_facts, line, text)?;
        let disagree = |what: String| SourceError::Disagree { block: block.name.clone(), what };
        if block.first_state != next_state {
            return Err(disagree(format!("starts at state {}, expected {next_state}", block.first_state)));
        }
        let data = data_blocks
            .get(block.name.as_str())
            .ok_or_else(|| disagree(format!("is missing from {}", blocks_path.display())))?;
        let count: usize = block.properties.iter().map(|(_, values)| values.len()).product();
        next_state += count;
        if (data.min_state_id, data.max_state_id + 1, data.default_state)
            != (block.first_state, next_state, block.default_state)
        {
            return Err(disagree("its state ids differ between the sources".to_owned()));
        }
        let states = (0..count)
            .map(|state| {
                join_state(&block, &shapes, state)
                    .ok_or_else(|| disagree(format!("lacks facts of state {state}")))
            })
            .collect::<Result<_, _>>()?;
        blocks.push(Block {
            default_offset: block.default_state - block.first_state,
            name: block.name,
            properties: block.properties,
            states,
        });
    }
    if next_state != header.states {
        return Err(SourceError::Disagree {
            block: "(all)".to_owned(),
            what: format!("{next_state} states listed, {} announced", header.states),
        });
    }
    let face_masks =
        header.face_masks.iter().map(|hex| parse_mask(hex)).collect::<Option<_>>().ok_or_else(|| {
            SourceError::Disagree {
                block: "(all)".to_owned(),
                what: "a face mask is no 64 hex digits".to_owned(),
            }
        })?;
    Ok(Sources { version: header.minecraft, face_masks, blocks })
}

fn join_state(block: &BlockLine, shapes: &Shapes, state: usize) -> Option<State> {
    let shape = shapes.blocks.get(&block.name)?.at(state)?;
    Some(State {
        values: values_of(&block.properties, state),
        emission: block.emission.at(state)?,
        dampening: block.dampening.at(state)?,
        sky_down: block.sky_down.at(state)? != 0,
        can_occlude: block.can_occlude.at(state)? != 0,
        shape_occludes: block.shape_occludes.at(state)? != 0,
        faces: match &block.faces {
            None => None,
            Some(Faces::Same(faces)) => Some(*faces),
            Some(Faces::Each(each)) => *each.get(state)?,
        },
        boxes: shapes.shapes.get(&shape.to_string())?.clone(),
    })
}

/// The property values of a state: the last property varies fastest.
fn values_of(properties: &[(String, Vec<String>)], state: usize) -> Vec<String> {
    let mut rest = state;
    let mut values: Vec<String> = properties
        .iter()
        .rev()
        .map(|(_, values)| {
            let value = values[rest % values.len()].clone();
            rest /= values.len();
            value
        })
        .collect();
    values.reverse();
    values
}

/// 64 hex digits, row y = 0 first, as four words of four rows each.
fn parse_mask(hex: &str) -> Option<[u64; 4]> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    let mut mask = [0; 4];
    for (word, digits) in mask.iter_mut().zip(hex.as_bytes().chunks(16)) {
        *word = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(mask)
}

fn read_text(path: &Path) -> Result<String, SourceError> {
    std::fs::read_to_string(path).map_err(|source| SourceError::Read { path: path.to_path_buf(), source })
}

fn parse<'text, T: Deserialize<'text>>(path: &Path, line: usize, text: &'text str) -> Result<T, SourceError> {
    serde_json::from_str(text).map_err(|source| SourceError::Parse { path: path.to_path_buf(), line, source })
}
