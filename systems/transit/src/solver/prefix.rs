//! Ticks of items with their own speeds: a running minimum, eight items at a time.
//!
//! The outcome is whole numbers, so every width gives the same. Where the processor has AVX2 (asked at run time), the
//! minimum of eight is taken in registers; elsewhere one by one.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "AVX2 loads and stores over slices whose bounds are checked by chunking")
)]

/// So many ticks at once keep every sum below 2^32.
const MOST_TICKS: u64 = 1 << 14;

/// Advances items for `ticks` ticks by `speeds[i] + 1` each, front first, at least `spacing` apart and at most to
/// `length`; true where any moved. Items must lie at least `spacing` apart before.
pub(super) fn advance(
    positions: &mut [u32],
    speeds: &[u16],
    length: u32,
    spacing: u32,
    mut ticks: u64,
) -> bool {
    debug_assert_eq!(positions.len(), speeds.len());
    let mut moved = false;
    while ticks > 0 {
        let now = ticks.min(MOST_TICKS);
        if !advance_at_once(positions, speeds, length, spacing, now as u32) {
            break;
        }
        moved = true;
        ticks -= now;
    }
    moved
}

fn advance_at_once(positions: &mut [u32], speeds: &[u16], length: u32, spacing: u32, ticks: u32) -> bool {
    #[cfg(target_arch = "x86_64")]
    if positions.len() >= 16 && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::advance(positions, speeds, length, spacing, ticks) };
    }
    advance_singly(positions, speeds, length, spacing, ticks)
}

fn advance_singly(positions: &mut [u32], speeds: &[u16], length: u32, spacing: u32, ticks: u32) -> bool {
    let mut limit = length;
    let mut moved = false;
    for (position, &speed) in positions.iter_mut().zip(speeds) {
        let after = (*position + (u32::from(speed) + 1) * ticks).min(limit);
        moved |= after != *position;
        *position = after;
        // The rearmost item may lie closer to the entry than the spacing; its limit is never used.
        limit = after.wrapping_sub(spacing);
    }
    moved
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    /// As [`super::advance`]. With `row * spacing` added, "at least the spacing apart" is "not more than the one ahead",
    /// and all sums stay below 2^32. From block to block only the limit is handed on, by one minimum and one difference.
    #[target_feature(enable = "avx2")]
    pub(super) fn advance(
        positions: &mut [u32],
        speeds: &[u16],
        length: u32,
        spacing: u32,
        ticks: u32,
    ) -> bool {
        let rows = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let row_spacing = _mm256_mullo_epi32(rows, _mm256_set1_epi32(spacing as i32));
        let all_ticks = _mm256_set1_epi32(ticks as i32);
        // What speeds are stored short of, and the place of the row, in one addition.
        let offset = _mm256_add_epi32(row_spacing, all_ticks);
        let most = _mm256_set1_epi32(-1);
        let last = _mm256_set1_epi32(7);
        let low_last = _mm256_set1_epi32(3);
        let eight_spacings = _mm256_set1_epi32((spacing * 8) as i32);
        let mut changed = _mm256_setzero_si256();
        // Where the front item of the block may get at most, in every element.
        let mut limit = _mm256_set1_epi32(length as i32);
        let whole = positions.len() / 8 * 8;
        let (blocks, rest) = positions.split_at_mut(whole);
        for (block, speeds) in blocks.chunks_exact_mut(8).zip(speeds.chunks_exact(8)) {
            // SAFETY: each block holds eight positions and eight speeds; unaligned loads.
            let (before, speed) = unsafe {
                (
                    _mm256_loadu_si256(block.as_ptr().cast()),
                    _mm256_cvtepu16_epi32(_mm_loadu_si128(speeds.as_ptr().cast())),
                )
            };
            let way = _mm256_mullo_epi32(speed, all_ticks);
            let wanted = _mm256_add_epi32(_mm256_add_epi32(before, way), offset);
            // Running minimum: by one, by two, then the last of the low half over the high half.
            let by_one = _mm256_blend_epi32::<0b0001_0001>(_mm256_slli_si256::<4>(wanted), most);
            let least = _mm256_min_epu32(wanted, by_one);
            let by_two = _mm256_blend_epi32::<0b0011_0011>(_mm256_slli_si256::<8>(least), most);
            let least = _mm256_min_epu32(least, by_two);
            let low = _mm256_permutevar8x32_epi32(least, low_last);
            let least = _mm256_min_epu32(least, _mm256_blend_epi32::<0b0000_1111>(low, most));
            let after = _mm256_sub_epi32(_mm256_min_epu32(least, limit), row_spacing);
            // SAFETY: the block holds eight positions; an unaligned store.
            unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), after) };
            changed = _mm256_or_si256(changed, _mm256_xor_si256(after, before));
            let ended = _mm256_permutevar8x32_epi32(least, last);
            limit = _mm256_sub_epi32(_mm256_min_epu32(ended, limit), eight_spacings);
        }
        let limit = _mm256_cvtsi256_si32(limit) as u32;
        let moved = _mm256_testz_si256(changed, changed) == 0;
        super::advance_singly(rest, &speeds[whole..], limit, spacing, ticks) | moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_number_of_ticks_at_once_equals_one_by_one(
            gaps in prop::collection::vec((0u32..3000, prop_oneof![0u16..500, any::<u16>()]), 0..100),
            start in 0u32..5000,
            spacing in 501u32..2000,
            long in any::<bool>(),
            ticks in prop::collection::vec(prop_oneof![3 => 1u64..9, 1 => 1u64..600], 1..12),
            last in prop_oneof![Just(0u64), 1u64..100_000],
        ) {
            let length = if long { 1 << 31 } else { 600_000 };
            let mut at = length - start;
            let mut positions = Vec::new();
            for &(gap, _) in &gaps {
                positions.push(at);
                at -= spacing + gap;
            }
            let speeds: Vec<u16> = gaps.iter().map(|&(_, speed)| speed).collect();
            let mut singly = positions.clone();
            for ticks in ticks.into_iter().chain([last]) {
                let moved = advance(&mut positions, &speeds, length, spacing, ticks);
                let mut moved_singly = false;
                for _ in 0..ticks {
                    if !advance_singly(&mut singly, &speeds, length, spacing, 1) {
                        break;
                    }
                    moved_singly = true;
                }
                prop_assert_eq!(moved, moved_singly);
                prop_assert_eq!(&positions, &singly);
            }
        }
    }
}
