//! Hashing simulation state: one 64-bit number a tick that is the same on every machine.

use std::hash::Hasher;

use twox_hash::XxHash64;

/// Hashes columns of simulation state, to the same number on every machine and at every thread
/// count.
///
/// All numbers are fed as little-endian bytes (XXH64 of the whole stream), floating-point numbers
/// by their bits, so that two states hash alike only if they are equal bit for bit. Slices do not
/// feed their length: write it with [`write_u64`](StateHasher::write_u64) where two neighbouring
/// columns could otherwise be cut differently.
///
/// ```
/// use voxtick_engine::StateHasher;
///
/// let mut one = StateHasher::new();
/// one.write_u32s(&[1, 2]);
/// let mut other = StateHasher::new();
/// other.write_bytes(&[1, 0, 0, 0, 2, 0, 0, 0]);
/// assert_eq!(one.finish(), other.finish());
/// ```
#[derive(Debug, Clone)]
pub struct StateHasher {
    stream: XxHash64,
}

/// Bytes that a slice is turned into at a time before they are hashed.
const PART: usize = 1024;

macro_rules! write_slice {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        pub fn $name(&mut self, values: &[$number]) {
            const SIZE: usize = size_of::<$number>();
            let mut part = [0; PART];
            for values in values.chunks(PART / SIZE) {
                for (bytes, value) in part.chunks_exact_mut(SIZE).zip(values) {
                    bytes.copy_from_slice(&value.to_le_bytes());
                }
                self.stream.write(&part[..values.len() * SIZE]);
            }
        }
    };
}

impl StateHasher {
    /// An empty hasher.
    pub fn new() -> StateHasher {
        StateHasher { stream: XxHash64::with_seed(0) }
    }

    /// Feeds one number.
    pub fn write_u64(&mut self, value: u64) {
        self.stream.write(&value.to_le_bytes());
    }

    /// Feeds bytes as they are.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        self.stream.write(bytes);
    }

    write_slice!(
        /// Feeds a column of 16-bit numbers.
        write_u16s, u16
    );
    write_slice!(
        /// Feeds a column of signed 32-bit numbers.
        write_i32s, i32
    );
    write_slice!(
        /// Feeds a column of 32-bit numbers.
        write_u32s, u32
    );
    write_slice!(
        /// Feeds a column of 64-bit numbers.
        write_u64s, u64
    );
    write_slice!(
        /// Feeds a column of signed 64-bit numbers.
        write_i64s, i64
    );
    write_slice!(
        /// Feeds a column of single-precision numbers by their bits: `-0.0` and `0.0` differ.
        write_f32s, f32
    );
    write_slice!(
        /// Feeds a column of double-precision numbers by their bits: `-0.0` and `0.0` differ.
        write_f64s, f64
    );

    /// The hash of everything fed so far.
    pub fn finish(&self) -> u64 {
        self.stream.finish()
    }
}

impl Default for StateHasher {
    fn default() -> Self {
        StateHasher::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_same_on_every_machine() {
        // Known answers of XXH64 with seed 0.
        let mut hasher = StateHasher::new();
        assert_eq!(hasher.finish(), 0xEF46_DB37_51D8_E999);
        hasher.write_bytes(b"abc");
        assert_eq!(hasher.finish(), 0x44BC_2CF5_AD77_0999);
    }

    #[test]
    fn a_column_longer_than_a_part_hashes_like_its_bytes() {
        let column: Vec<u32> = (0..1_000).map(|i| i * 2_654_435).collect();
        let bytes: Vec<u8> = column.iter().flat_map(|value| value.to_le_bytes()).collect();
        let (mut by_column, mut by_bytes) = (StateHasher::new(), StateHasher::new());
        by_column.write_u32s(&column);
        by_bytes.write_bytes(&bytes);
        assert_eq!(by_column.finish(), by_bytes.finish());
    }

    #[test]
    fn zeros_of_different_sign_are_different_states() {
        let (mut plus, mut minus) = (StateHasher::new(), StateHasher::new());
        plus.write_f64s(&[0.0]);
        minus.write_f64s(&[-0.0]);
        assert_ne!(plus.finish(), minus.finish());
    }
}
