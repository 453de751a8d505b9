//! Reads the compact table. `worlds/generator` writes it; `TABLE.md` says where its facts come from.
//!
//! Layout, after zstd: `VXBS`, format 1, game version; face masks (index 0 empty); collision shapes in 32nds of a
//! block; rows of facts; property kinds; blocks with their property kinds, the offset of the default state, and runs
//! of (length, row) over their states. Numbers are little-endian base 128, strings are length and bytes.

use super::BlockStates;
use super::collision::CollisionBox;
use super::faces::{FaceMask, FaceMasks};
use super::facts::{FactRow, MotionClass};
use super::fluid::Fluid;
use super::names::{Block, Names, PropertyKind};
use super::unknown::UnknownStates;

/// The table that ships with this crate.
pub(super) const SHIPPED: &[u8] = include_bytes!("table.bin");

/// More than any table will need; keeps a damaged one from allocating without bound.
const SIZE_LIMIT: usize = 4 << 20;
const BOX_GRID: f64 = 32.0;
/// The state that unknown ones behave like unless told otherwise: opaque, a full cube, no emission.
const UNKNOWN_LIKE: &str = "stone";

/// Why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TableError {
    #[error("the block state table does not decompress")]
    Compression,
    #[error("the block state table is no table of format 1")]
    Format,
    #[error("the block state table ends early, at byte {offset}")]
    Truncated { offset: usize },
    #[error("the block state table is inconsistent at byte {offset}")]
    Inconsistent { offset: usize },
}

/// Decodes a compressed table.
pub(super) fn decode(packed: &[u8]) -> Result<BlockStates, TableError> {
    let raw = zstd::bulk::decompress(packed, SIZE_LIMIT).map_err(|_| TableError::Compression)?;
    let mut reader = Reader { bytes: &raw, offset: 0 };
    if reader.take(5)? != b"VXBS\x01" {
        return Err(TableError::Format);
    }
    let version = reader.string()?;
    let masks = reader.list(Reader::face_mask)?;
    if masks.first() != Some(&FaceMask([0; 4])) {
        return Err(reader.inconsistent());
    }
    let mut boxes = Vec::new();
    let shapes = reader.list(|reader| reader.shape(&mut boxes))?;
    let rows = reader.list(|reader| reader.row(&shapes, masks.len()))?;
    let kinds = reader.list(Reader::property_kind)?;
    let mut row_of_state = Vec::with_capacity(1 << 15);
    let blocks = reader.list(|reader| reader.block(&kinds, rows.len(), &mut row_of_state))?;
    if reader.offset != raw.len() {
        return Err(reader.inconsistent());
    }
    let names = Names::new(kinds, blocks);
    let unknown_like = names.lookup(UNKNOWN_LIKE, &[]).ok_or_else(|| reader.inconsistent())?;
    Ok(BlockStates {
        version,
        stable_hashes: names.stable_hashes(),
        names,
        row_of_state: row_of_state.into(),
        rows: rows.into(),
        masks: FaceMasks::new(masks),
        boxes: boxes.into(),
        unknown: UnknownStates::new(unknown_like),
    })
}

struct Reader<'table> {
    bytes: &'table [u8],
    offset: usize,
}

impl<'table> Reader<'table> {
    fn face_mask(&mut self) -> Result<FaceMask, TableError> {
        let mut words = [0; 4];
        for word in &mut words {
            *word = u64::from_le_bytes(self.array()?);
        }
        Ok(FaceMask(words))
    }

    /// Appends the boxes of a shape and answers where they lie.
    fn shape(&mut self, boxes: &mut Vec<CollisionBox>) -> Result<(u16, u16), TableError> {
        let start = boxes.len();
        for _ in 0..self.number()? {
            let corners = self.array::<6>()?.map(|corner| f64::from(corner as i8) / BOX_GRID);
            let [x0, y0, z0, x1, y1, z1] = corners;
            boxes.push(CollisionBox { min: [x0, y0, z0], max: [x1, y1, z1] });
        }
        let place = |index: usize| u16::try_from(index).map_err(|_| self.inconsistent());
        Ok((place(start)?, place(boxes.len())?))
    }

    fn row(&mut self, shapes: &[(u16, u16)], mask_count: usize) -> Result<FactRow, TableError> {
        let [emission, dampening, flags, fluid, motion] = self.array()?;
        let faces = self.array::<6>()?;
        let shape = self.number()?;
        let friction = f32::from_le_bytes(self.array()?);
        let speed_factor = f32::from_le_bytes(self.array()?);
        let motion = match motion {
            0 => MotionClass::Air,
            1 => MotionClass::FullCube,
            2 => MotionClass::Special,
            _ => return Err(self.inconsistent()),
        };
        let fluid = Fluid::from_code(fluid).ok_or_else(|| self.inconsistent())?;
        let (boxes_start, boxes_end) = *shapes.get(shape).ok_or_else(|| self.inconsistent())?;
        if emission > 15 || dampening > 15 || faces.iter().any(|face| *face as usize >= mask_count) {
            return Err(self.inconsistent());
        }
        Ok(FactRow {
            emission,
            dampening,
            flags,
            motion,
            fluid,
            faces,
            boxes_start,
            boxes_end,
            friction,
            speed_factor,
        })
    }

    fn property_kind(&mut self) -> Result<PropertyKind, TableError> {
        let name = self.string()?;
        let values = self.list(Reader::string)?;
        if values.is_empty() {
            return Err(self.inconsistent());
        }
        Ok(PropertyKind { name, values: values.into() })
    }

    /// Reads a block and appends the row of each of its states.
    fn block(
        &mut self,
        kinds: &[PropertyKind],
        row_count: usize,
        row_of_state: &mut Vec<u16>,
    ) -> Result<Block, TableError> {
        let name = self.string()?;
        let mut properties = Vec::new();
        let mut state_count = 1;
        for _ in 0..self.number()? {
            let kind = self.number()?;
            state_count *= kinds.get(kind).ok_or_else(|| self.inconsistent())?.values.len();
            properties.push(kind as u16);
        }
        let default_offset = self.number()?;
        if state_count > usize::from(u16::MAX) || default_offset >= state_count {
            return Err(self.inconsistent());
        }
        let first_state = row_of_state.len();
        while row_of_state.len() < first_state + state_count {
            let (length, row) = (self.number()?, self.number()?);
            if length == 0 || row >= row_count || row_of_state.len() + length > first_state + state_count {
                return Err(self.inconsistent());
            }
            row_of_state.extend(std::iter::repeat_n(row as u16, length));
        }
        Ok(Block {
            name: format!("minecraft:{name}").into(),
            first_state: first_state as u32,
            state_count: state_count as u32,
            default_offset: default_offset as u32,
            properties: properties.into(),
        })
    }

    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, TableError>,
    ) -> Result<Vec<T>, TableError> {
        let count = self.number()?;
        // Every item takes at least one byte, and rows and kinds are numbered by `u16`.
        if count > self.bytes.len() - self.offset || count > usize::from(u16::MAX) {
            return Err(self.inconsistent());
        }
        (0..count).map(|_| item(self)).collect()
    }

    fn string(&mut self) -> Result<Box<str>, TableError> {
        let length = self.number()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map(Into::into).map_err(|_| self.inconsistent())
    }

    fn number(&mut self) -> Result<usize, TableError> {
        let mut value = 0;
        for shift in [0, 7, 14, 21] {
            let [byte] = self.array()?;
            value |= usize::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(self.inconsistent())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], TableError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn take(&mut self, length: usize) -> Result<&'table [u8], TableError> {
        let truncated = TableError::Truncated { offset: self.offset };
        let taken = self.bytes[self.offset..].get(..length).ok_or(truncated)?;
        self.offset += length;
        Ok(taken)
    }

    fn inconsistent(&self) -> TableError {
        TableError::Inconsistent { offset: self.offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_cut_anywhere_is_refused() {
        let raw = zstd::bulk::decompress(SHIPPED, SIZE_LIMIT).expect("the shipped table decompresses");
        for length in (0..raw.len()).step_by(997) {
            let cut = zstd::bulk::compress(&raw[..length], 1).expect("compresses");
            assert!(decode(&cut).is_err(), "cut at {length}");
        }
    }

    #[test]
    fn bytes_that_are_no_zstd_are_refused() {
        assert_eq!(decode(b"not a table").err(), Some(TableError::Compression));
    }
}
