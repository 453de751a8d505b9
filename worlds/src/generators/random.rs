//! Numbers that look random and depend on nothing but what they are made from.

/// One step of SplitMix64 (Steele, Lea and Flood, 2014): a well-mixed number for every number.
#[must_use]
pub const fn split_mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

/// A well-mixed number for a seed and three coordinates.
#[must_use]
pub const fn position_hash(seed: u64, x: i32, y: i32, z: i32) -> u64 {
    let horizontal = (x as u32 as u64) << 32 | z as u32 as u64;
    split_mix(split_mix(seed ^ split_mix(horizontal)) ^ y as u32 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_positions_have_unrelated_numbers() {
        let hash = position_hash(7, 0, 0, 0);
        for (x, y, z) in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0)] {
            let differing = (position_hash(7, x, y, z) ^ hash).count_ones();
            assert!((16..=48).contains(&differing), "({x}, {y}, {z}): {differing} bits differ");
        }
        assert_ne!(position_hash(8, 0, 0, 0), hash);
    }
}
