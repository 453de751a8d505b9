//! How many cells differ between two pieces of stored light.

use voxtick_worlds::{ChunkLight, LightChannel, LightLevels, NIBBLE_BYTES};

/// The sections (counted from the lowest of the build range) in which one channel differs, each with its number of
/// differing cells. Where nothing is stored counts as dark.
pub(crate) fn changed_cells(
    channel: LightChannel,
    before: Option<&ChunkLight>,
    after: &ChunkLight,
) -> impl Iterator<Item = (usize, u64)> {
    let after = after.channel(channel);
    let before = before.map_or(&[][..], |before| before.channel(channel));
    // The first and the last entry lie outside the build range.
    (1..after.len().saturating_sub(1)).filter_map(move |entry| {
        let dark = LightLevels::Absent;
        let count = differing_cells(before.get(entry).unwrap_or(&dark), &after[entry]);
        (count > 0).then_some((entry - 1, count))
    })
}

/// How many of 4,096 cells have another level.
pub(crate) fn differing_cells(a: &LightLevels, b: &LightLevels) -> u64 {
    match (uniform(a), uniform(b)) {
        (Some(a), Some(b)) => u64::from(a != b) * 4096,
        _ => {
            let words = |at: usize| word(a, at) ^ word(b, at);
            (0..NIBBLE_BYTES / 8)
                .map(|at| {
                    let differ = words(at);
                    let differ = differ | differ >> 1;
                    let differ = (differ | differ >> 2) & 0x1111_1111_1111_1111;
                    u64::from(differ.count_ones())
                })
                .sum()
        }
    }
}

fn uniform(levels: &LightLevels) -> Option<u8> {
    match levels {
        LightLevels::Absent => Some(0),
        LightLevels::Uniform(level) => Some(*level),
        LightLevels::Nibbles(_) => None,
    }
}

/// Sixteen nibbles as one word.
fn word(levels: &LightLevels, at: usize) -> u64 {
    match levels {
        LightLevels::Absent => 0,
        LightLevels::Uniform(level) => u64::from(*level) * 0x1111_1111_1111_1111,
        LightLevels::Nibbles(nibbles) => nibbles[at * 8..at * 8 + 8].try_into().map_or(0, u64::from_le_bytes),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn each_nibble_counts_once() {
        let mut nibbles = [0x77; NIBBLE_BYTES];
        nibbles[3] = 0x78;
        nibbles[2000] = 0x00;
        let levels = LightLevels::Nibbles(Arc::new(nibbles));
        assert_eq!(differing_cells(&levels, &LightLevels::Uniform(7)), 3);
        assert_eq!(differing_cells(&levels, &levels), 0);
        assert_eq!(differing_cells(&levels, &LightLevels::Absent), 4094);
        assert_eq!(differing_cells(&LightLevels::Uniform(0), &LightLevels::Absent), 0);
    }
}
