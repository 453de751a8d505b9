//! Names and properties of the known states.
//!
//! A block's states have consecutive ids. Within a block the id is a mixed-radix number whose digits are the property
//! values, the last property varying fastest, so names and properties need no storage per state.

use super::StateId;
use super::renames;
use rustc_hash::FxHashMap;
use std::ops::Range;
use twox_hash::XxHash3_64;

const NAMESPACE: &str = "minecraft:";

/// A property with its values in the game's order.
pub(super) struct PropertyKind {
    pub(super) name: Box<str>,
    pub(super) values: Box<[Box<str>]>,
}

/// A block and where its states lie.
pub(super) struct Block {
    /// Full name, with namespace.
    pub(super) name: Box<str>,
    pub(super) first_state: u32,
    pub(super) state_count: u32,
    pub(super) default_offset: u32,
    /// Indices into the property kinds.
    pub(super) properties: Box<[u16]>,
}

/// All known blocks.
pub(super) struct Names {
    kinds: Box<[PropertyKind]>,
    blocks: Box<[Block]>,
    block_of_state: Box<[u16]>,
    /// By name without namespace.
    block_by_path: FxHashMap<Box<str>, u16>,
}

impl Names {
    pub(super) fn new(kinds: Vec<PropertyKind>, blocks: Vec<Block>) -> Names {
        let block_of_state = blocks
            .iter()
            .enumerate()
            .flat_map(|(index, block)| std::iter::repeat_n(index as u16, block.state_count as usize))
            .collect();
        let block_by_path = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| (path_of(&block.name).unwrap_or(&block.name).into(), index as u16))
            .collect();
        Names { kinds: kinds.into(), blocks: blocks.into(), block_of_state, block_by_path }
    }

    pub(super) fn name(&self, id: StateId) -> Option<&str> {
        Some(&self.block(id)?.name)
    }

    pub(super) fn properties(&self, id: StateId) -> Option<Properties<'_>> {
        let block = self.block(id)?;
        Some(Properties(Source::Known {
            kinds: &self.kinds,
            properties: block.properties.iter(),
            offset: id.0 - block.first_state,
            span: block.state_count,
        }))
    }

    /// The properties of a block by name, for messages: its kinds in order.
    pub(super) fn block_kinds(&self, name: &str) -> Option<impl Iterator<Item = &PropertyKind>> {
        let block = self.block_by_name(renames::current_name(path_of(name)?))?;
        Some(block.properties.iter().map(|kind| &self.kinds[*kind as usize]))
    }

    pub(super) fn states_of(&self, name: &str) -> Option<Range<u32>> {
        let block = self.block_by_name(renames::current_name(path_of(name)?))?;
        Some(block.first_state..block.first_state + block.state_count)
    }

    pub(super) fn lookup(&self, name: &str, properties: &[(&str, &str)]) -> Option<StateId> {
        let path = renames::current_name(path_of(name)?);
        let (path, properties) = renames::current_properties(path, properties);
        let block = self.block_by_name(path)?;
        let mut offset = block.default_offset;
        for (name, value) in properties {
            offset = self.replace_digit(block, offset, name, value)?;
        }
        Some(StateId(block.first_state + offset))
    }

    pub(super) fn with_property(&self, id: StateId, name: &str, value: &str) -> Option<StateId> {
        let block = self.block(id)?;
        let offset = self.replace_digit(block, id.0 - block.first_state, name, value)?;
        Some(StateId(block.first_state + offset))
    }

    /// The hash of each state: from its block's name and the set of its properties.
    pub(super) fn stable_hashes(&self) -> Box<[u64]> {
        let value_hashes: Vec<Vec<u64>> = self
            .kinds
            .iter()
            .map(|kind| kind.values.iter().map(|value| property_hash(&kind.name, value)).collect())
            .collect();
        let mut hashes = Vec::with_capacity(self.block_of_state.len());
        for block in &self.blocks {
            let mut sums = vec![name_hash(&block.name)];
            for kind in &block.properties {
                let values = &value_hashes[*kind as usize];
                sums =
                    sums.iter().flat_map(|sum| values.iter().map(|value| sum.wrapping_add(*value))).collect();
            }
            hashes.extend(sums.into_iter().map(finish_hash));
        }
        hashes.into()
    }

    fn block(&self, id: StateId) -> Option<&Block> {
        self.block_of_state.get(id.0 as usize).map(|block| &self.blocks[*block as usize])
    }

    fn block_by_name(&self, path: &str) -> Option<&Block> {
        self.block_by_path.get(path).map(|block| &self.blocks[*block as usize])
    }

    /// `offset` with the digit of one property replaced; `None` if the block has no such property or value.
    fn replace_digit(&self, block: &Block, offset: u32, name: &str, value: &str) -> Option<u32> {
        let mut span = block.state_count;
        for kind in &block.properties {
            let kind = &self.kinds[*kind as usize];
            let base = kind.values.len() as u32;
            let stride = span / base;
            if *kind.name == *name {
                let position = |value: &str| kind.values.iter().position(|known| **known == *value);
                let digit = position(value)
                    .or_else(|| position(renames::current_wall_value(&block.name, name, value)?))?;
                let before = offset / stride % base;
                return Some(offset - before * stride + digit as u32 * stride);
            }
            span = stride;
        }
        None
    }
}

/// The name without the game's namespace; `None` for names of other namespaces.
pub(super) fn path_of(name: &str) -> Option<&str> {
    match name.strip_prefix(NAMESPACE) {
        Some(path) => Some(path),
        None => (!name.contains(':')).then_some(name),
    }
}

/// Hash of a name and a set of properties, whatever their order.
pub(super) fn stable_hash(name: &str, properties: &[(&str, &str)]) -> u64 {
    finish_hash(
        properties
            .iter()
            .fold(name_hash(name), |sum, (name, value)| sum.wrapping_add(property_hash(name, value))),
    )
}

fn name_hash(name: &str) -> u64 {
    XxHash3_64::oneshot(name.as_bytes())
}

/// Hashes name and value apart, so that no text moves between them.
fn property_hash(name: &str, value: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(XxHash3_64::oneshot(name.as_bytes()), value.as_bytes())
}

/// Spreads a sum of hashes over all bits (the finaliser of splitmix64).
fn finish_hash(sum: u64) -> u64 {
    let mut hash = sum;
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The properties of one state as `(name, value)`, see [`BlockStates::properties`](super::BlockStates::properties).
#[derive(Clone)]
pub struct Properties<'states>(Source<'states>);

#[derive(Clone)]
enum Source<'states> {
    Known {
        kinds: &'states [PropertyKind],
        properties: std::slice::Iter<'states, u16>,
        offset: u32,
        /// States that share the digits read so far.
        span: u32,
    },
    Unknown(std::slice::Iter<'states, (Box<str>, Box<str>)>),
}

impl<'states> Properties<'states> {
    pub(super) fn unknown(properties: &'states [(Box<str>, Box<str>)]) -> Properties<'states> {
        Properties(Source::Unknown(properties.iter()))
    }
}

impl<'states> Iterator for Properties<'states> {
    type Item = (&'states str, &'states str);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Unknown(properties) => properties.next().map(|(name, value)| (&**name, &**value)),
            Source::Known { kinds, properties, offset, span } => {
                let kind = &kinds[*properties.next()? as usize];
                *span /= kind.values.len() as u32;
                let digit = *offset / *span;
                *offset %= *span;
                Some((&kind.name, &kind.values[digit as usize]))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Source::Known { properties, .. } => properties.size_hint(),
            Source::Unknown(properties) => properties.size_hint(),
        }
    }
}

impl ExactSizeIterator for Properties<'_> {}
