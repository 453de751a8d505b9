//! The bodies of a chunk as bytes, to be kept with it: layout version 1.
//!
//! All numbers are little-endian. A head of 13 bytes: the version (`u8`), the ticks that had been run (`u64`), how many
//! rows follow (`u32`). Then 68 bytes a row, in ascending order of number: the number (`u32`), position and velocity (six
//! `f64`), [`Flags`] (`u32`, results only), kind of item (`u32`), count and most of the stack (`u8` each), then the clocks
//! as in [`Columns`](crate::Columns): wait for pick-up (`i16`) and the tick of age 0 (`u32`, modulo 2^32). Then how many records of the game's own follow (`u32`), and for each its row (`u32`, ascending), its length (`u32`) and itself.
//!
//! What is random about a body is drawn from its number, so it gets it back unless another has it by then. What a kind
//! of item is, is for the program to know.

use std::sync::Arc;

use crate::body::{Body, Flags};
use crate::columns::Row;
use crate::population::{Population, chunk_of};
use voxtick_worlds::{ChunkPos, ItemKind, ItemStack};

const VERSION: u8 = 1;
const ROW_BYTES: usize = 68;

/// Why bytes are no bodies of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum StoredError {
    /// They end too soon.
    #[error("its {length} bytes end within {part}")]
    Cut { length: usize, part: &'static str },
    /// They go on too long.
    #[error("{0} bytes follow the last body")]
    Trailing(usize),
    /// A later program wrote them.
    #[error("the layout is version {0}, and this program knows version 1: use a newer one")]
    Version(u8),
    /// A row holds what no body has.
    #[error("body {row} has {what}")]
    Row { row: usize, what: &'static str },
}

/// The bodies of a chunk, as they were when `ticks` ticks had been run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct StoredBodies {
    pub(crate) ticks: u64,
    /// As [`Population::take_chunk`](crate::Population::take_chunk) gives them.
    pub(crate) rows: Vec<Row>,
    /// What the game had stored of some rows, ascending.
    pub(crate) records: Vec<(u32, Arc<[u8]>)>,
}

impl StoredBodies {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(17 + self.rows.len() * ROW_BYTES);
        bytes.push(VERSION);
        bytes.extend(self.ticks.to_le_bytes());
        bytes.extend((self.rows.len() as u32).to_le_bytes());
        for row in &self.rows {
            bytes.extend(row.number.to_le_bytes());
            for value in row.body.position.iter().chain(&row.body.velocity) {
                bytes.extend(value.to_bits().to_le_bytes());
            }
            bytes.extend(row.body.flags.results().0.to_le_bytes());
            bytes.extend(row.stack.kind.0.to_le_bytes());
            bytes.extend([row.stack.count, row.stack.max_count]);
            bytes.extend(row.pickup.to_le_bytes());
            bytes.extend(row.born.to_le_bytes());
        }
        bytes.extend((self.records.len() as u32).to_le_bytes());
        for (row, record) in &self.records {
            bytes.extend(row.to_le_bytes());
            bytes.extend((record.len() as u32).to_le_bytes());
            bytes.extend(&**record);
        }
        bytes
    }

    /// Only the bodies of these kinds of which the game has stored nothing.
    pub(crate) fn only(self, kinds: &[ItemKind]) -> StoredBodies {
        let StoredBodies { ticks, rows, records } = self;
        let is_stored = |place| records.binary_search_by_key(&(place as u32), |&(row, _)| row).is_ok();
        let stays = |(place, row): (usize, Row)| {
            (kinds.contains(&row.stack.kind) && !is_stored(place)).then_some(row)
        };
        StoredBodies {
            ticks,
            rows: rows.into_iter().enumerate().filter_map(stays).collect(),
            records: Vec::new(),
        }
    }

    /// What `bytes` hold of bodies in `chunk`.
    pub(crate) fn decode(bytes: &[u8], chunk: ChunkPos) -> Result<StoredBodies, StoredError> {
        let mut reader = Reader { length: bytes.len(), left: bytes, part: "the head" };
        match reader.take()? {
            [VERSION] => {}
            [version] => return Err(StoredError::Version(version)),
        }
        let ticks = u64::from_le_bytes(reader.take()?);
        let count = reader.number()? as usize;
        reader.part = "its rows";
        // Memory is asked for only where the bytes are there.
        if reader.left.len() / ROW_BYTES < count {
            return Err(reader.cut());
        }
        let rows: Vec<Row> =
            (0..count).map(|row| read_row(&mut reader, row, chunk)).collect::<Result<_, _>>()?;
        reader.part = "its records";
        let mut records: Vec<(u32, Arc<[u8]>)> = Vec::new();
        for _ in 0..reader.number()? {
            let row = reader.number()?;
            let record = reader.bytes()?;
            if row as usize >= rows.len() || records.last().is_some_and(|&(last, _)| last >= row) {
                return Err(StoredError::Row { row: row as usize, what: "a record too many" });
            }
            records.push((row, record.into()));
        }
        match reader.left.len() {
            0 => Ok(StoredBodies { ticks, rows, records }),
            left => Err(StoredError::Trailing(left)),
        }
    }
}

impl Population {
    /// The bodies of a chunk as they are now.
    pub(crate) fn stored(&self, chunk: ChunkPos) -> StoredBodies {
        let rows = self.rows_of_chunk(chunk);
        let record =
            |(place, row): (usize, &Row)| Some((place as u32, self.records.get(&row.number)?.clone()));
        let records = rows.iter().enumerate().filter_map(record).collect();
        StoredBodies { ticks: self.ticks, rows, records }
    }
}

fn read_row(reader: &mut Reader<'_>, row: usize, chunk: ChunkPos) -> Result<Row, StoredError> {
    let wrong = |what| Err(StoredError::Row { row, what });
    let number = reader.number()?;
    let mut triple = || -> Result<[f64; 3], StoredError> {
        let mut part = || Ok(f64::from_bits(u64::from_le_bytes(reader.take()?)));
        Ok([part()?, part()?, part()?])
    };
    let (position, velocity) = (triple()?, triple()?);
    let flags = Flags(reader.number()?);
    let kind = ItemKind(reader.number()?);
    let [count, max_count] = reader.take()?;
    let pickup = i16::from_le_bytes(reader.take()?);
    let born = reader.number()?;
    if flags != flags.results() || flags.has(Flags::GONE) {
        return wrong("flags that are none");
    }
    if count == 0 || count > max_count {
        return wrong("more or fewer items than its stack may have");
    }
    if chunk_of(position) != chunk {
        return wrong("a place in another chunk");
    }
    let body = Body { position, velocity, flags };
    Ok(Row { body, stack: ItemStack { kind, count, max_count }, pickup, born, number })
}

/// Bytes from front to back.
struct Reader<'a> {
    length: usize,
    left: &'a [u8],
    /// What is being read, for errors.
    part: &'static str,
}

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], StoredError> {
        let (taken, left) = self.left.split_first_chunk().ok_or_else(|| self.cut())?;
        self.left = left;
        Ok(*taken)
    }

    fn number(&mut self) -> Result<u32, StoredError> {
        self.take().map(u32::from_le_bytes)
    }

    /// As many bytes as the number before them says.
    fn bytes(&mut self) -> Result<&'a [u8], StoredError> {
        let count = self.number()? as usize;
        let (taken, left) = self.left.split_at_checked(count).ok_or_else(|| self.cut())?;
        self.left = left;
        Ok(taken)
    }

    fn cut(&self) -> StoredError {
        StoredError::Cut { length: self.length, part: self.part }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HERE: ChunkPos = ChunkPos::new(-1, 2);

    fn row(x: f64) -> Row {
        Row {
            body: Body::new([x, 64.0, 40.5], [0.1, f64::MIN_POSITIVE, -0.0]),
            stack: ItemStack::new(ItemKind(7), 3, 64),
            pickup: -9,
            born: u32::MAX,
            number: 12,
        }
    }

    fn stored(xs: &[f64]) -> StoredBodies {
        let records = vec![(1, [7_u8, 8, 9].as_slice().into())];
        StoredBodies { ticks: 77, rows: xs.iter().map(|&x| row(x)).collect(), records }
    }

    #[test]
    fn rows_and_records_come_back_to_the_bit() {
        let bodies = stored(&[-1.0, -0.5, -15.25]);
        let bytes = bodies.encode();
        assert_eq!(bytes.len(), 13 + 3 * 68 + 4 + 8 + 3);
        assert_eq!(StoredBodies::decode(&bytes, HERE), Ok(bodies));
    }

    #[test]
    fn only_what_the_game_has_not_stored_is_left() {
        let bodies = stored(&[-1.0, -0.5, -15.25]);
        let rest: Vec<f64> =
            bodies.clone().only(&[ItemKind(7)]).rows.iter().map(|row| row.body.position[0]).collect();
        assert_eq!(rest, [-1.0, -15.25], "the second has a record");
        assert!(bodies.only(&[ItemKind(8)]).rows.is_empty());
    }

    #[test]
    fn what_no_body_has_is_refused_with_its_row() {
        let good = stored(&[-1.0, -2.0]).encode();
        let error = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            StoredBodies::decode(&bytes, HERE).expect_err("refused").to_string()
        };
        let version = "the layout is version 9, and this program knows version 1: use a newer one";
        assert_eq!(error(&|bytes| bytes[0] = 9), version);
        assert_eq!(error(&|bytes| bytes.truncate(0)), "its 0 bytes end within the head");
        assert_eq!(error(&|bytes| bytes.truncate(140)), "its 140 bytes end within its rows");
        assert_eq!(error(&|bytes| bytes[12] = 0xFF), "its 164 bytes end within its rows");
        assert_eq!(error(&|bytes| bytes.truncate(163)), "its 163 bytes end within its records");
        assert_eq!(error(&|bytes| bytes.push(0)), "1 bytes follow the last body");
        let count = "body 1 has more or fewer items than its stack may have";
        assert_eq!(error(&|bytes| bytes[13 + 68 + 60] = 0), count);
        assert_eq!(error(&|bytes| bytes[13 + 55] = 0x40), "body 0 has flags that are none");
        assert_eq!(error(&|bytes| bytes[13 + 136 + 4] = 2), "body 2 has a record too many");
        let elsewhere = StoredBodies::decode(&good, ChunkPos::new(0, 2)).expect_err("refused");
        assert_eq!(elsewhere.to_string(), "body 0 has a place in another chunk");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in prop::collection::vec(any::<u8>(), 13..400), rows in 0_u8..6) {
            bytes[0] = VERSION;
            bytes[9..13].copy_from_slice(&u32::from(rows).to_le_bytes());
            if let Ok(bodies) = StoredBodies::decode(&bytes, HERE) {
                prop_assert_eq!(bodies.encode(), bytes);
            }
        }

        #[test]
        fn bent_bytes_are_refused_or_are_other_bodies(at in 0_usize..164, value in any::<u8>()) {
            let mut bytes = stored(&[-1.0, -2.0]).encode();
            bytes[at] = value;
            if let Ok(bodies) = StoredBodies::decode(&bytes, HERE) {
                prop_assert_eq!(bodies.encode(), bytes);
            }
        }
    }
}
