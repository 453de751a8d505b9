//! One copy of the search for each instruction set, and the choice between them at run time.
//!
//! All copies are compiled from the same lines of whole-number code, so that they agree by
//! construction; the tests compare them nevertheless.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calling code compiled for AVX2 or AVX-512, after asking the processor")
)]

use super::packed::search_packed;
use super::{NearestThree, PackedPosition, search_columns};

/// An instruction set that the search is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instructions {
    /// What every processor of the target has.
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// The best that this processor has. The answer is remembered by the standard library.
    #[inline]
    fn best() -> Instructions {
        #[cfg(target_arch = "x86_64")]
        {
            if Instructions::Avx512.are_present() {
                return Instructions::Avx512;
            }
            if Instructions::Avx2.are_present() {
                return Instructions::Avx2;
            }
        }
        Instructions::Baseline
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn are_present(self) -> bool {
        match self {
            Instructions::Baseline => true,
            Instructions::Avx2 => is_x86_feature_detected!("avx2"),
            Instructions::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
    }
}

macro_rules! dispatched {
    ($name:ident, $with:ident, $avx2:ident, $avx512:ident, $search:ident, $positions:ty) => {
        pub(super) fn $name(positions: $positions, query: [i32; 3]) -> NearestThree {
            $with(Instructions::best(), positions, query)
        }

        fn $with(instructions: Instructions, positions: $positions, query: [i32; 3]) -> NearestThree {
            match instructions {
                Instructions::Baseline => $search(positions, query),
                // SAFETY: `Instructions` other than the baseline are made only after the processor
                // was asked whether it has them.
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx2 => unsafe { $avx2(positions, query) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx512 => unsafe { $avx512(positions, query) },
            }
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $avx2(positions: $positions, query: [i32; 3]) -> NearestThree {
            $search(positions, query)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn $avx512(positions: $positions, query: [i32; 3]) -> NearestThree {
            $search(positions, query)
        }
    };
}

dispatched!(columns, columns_with, columns_avx2, columns_avx512, search_columns, [&[i32]; 3]);
dispatched!(packed, packed_with, packed_avx2, packed_avx512, search_packed, &[PackedPosition]);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference;

    /// Every instruction set that this machine has.
    fn present() -> Vec<Instructions> {
        #[cfg(target_arch = "x86_64")]
        let wider = [Instructions::Avx2, Instructions::Avx512].into_iter().filter(|it| it.are_present());
        #[cfg(not(target_arch = "x86_64"))]
        let wider = [];
        std::iter::once(Instructions::Baseline).chain(wider).collect()
    }

    fn position(range: std::ops::RangeInclusive<i32>) -> impl Strategy<Value = [i32; 3]> {
        prop::array::uniform3(range)
    }

    /// Crowded positions (many ties), positions far apart, and the ends of the range of `i32`, where
    /// distances no longer fit.
    fn positions() -> impl Strategy<Value = (Vec<[i32; 3]>, [i32; 3])> {
        fn some(
            coordinate: impl Strategy<Value = i32> + Clone,
        ) -> impl Strategy<Value = (Vec<[i32; 3]>, [i32; 3])> {
            let position = prop::array::uniform3(coordinate);
            (prop::collection::vec(position.clone(), 0..300), position)
        }
        let ends = [i32::MIN, i32::MIN + 9, -1_800_000_000, -1_700_000_000, i32::MAX - 9, i32::MAX];
        prop_oneof![
            some(-3..=3),
            some(-1000..=1000),
            some(i32::MIN..=i32::MAX),
            some(prop::sample::select(ends.to_vec())),
            // All of them too far away to be told apart.
            (
                prop::collection::vec(prop::array::uniform3(1_000_000_000..=i32::MAX), 0..300),
                Just([i32::MIN; 3])
            ),
        ]
    }

    #[test]
    fn positions_too_far_away_to_be_told_apart_are_found_by_index() {
        // Both distances are beyond `i64`, the first one by far more.
        let mut x = vec![950_000_000; 200];
        x[0] = i32::MAX;
        let zeros = vec![0; x.len()];
        for instructions in present() {
            let nearest = columns_with(instructions, [&x, &zeros, &zeros], [i32::MIN, 0, 0]);
            let found: Vec<_> =
                nearest.as_slice().iter().map(|found| (found.index, found.squared_distance)).collect();
            assert_eq!(found, [(0, i64::MAX), (1, i64::MAX), (2, i64::MAX)], "{instructions:?}");
        }
    }

    proptest! {
        #[test]
        fn every_instruction_set_finds_what_the_plain_loop_finds((positions, query) in positions()) {
            let column = |axis: usize| positions.iter().map(|position| position[axis]).collect::<Vec<_>>();
            let [x, y, z] = [column(0), column(1), column(2)];
            let expected = reference::nearest_three(&x, &y, &z, query);
            for instructions in present() {
                prop_assert_eq!(columns_with(instructions, [&x, &y, &z], query), expected, "{:?}", instructions);
            }
        }

        #[test]
        fn packed_positions_give_the_same_answer(
            positions in prop_oneof![
                prop::collection::vec(position(-3..=3), 0..200),
                prop::collection::vec([-(1 << 25)..1 << 25, -(1 << 11)..1 << 11, -(1 << 25)..1 << 25], 0..200),
            ],
            query in prop_oneof![position(-3..=3), position(-5000..=5000), position(i32::MIN..=i32::MAX)],
        ) {
            let packed: Vec<_> = positions.iter().map(|&position| PackedPosition::pack(position).unwrap()).collect();
            let column = |axis: usize| packed.iter().map(|packed| packed.unpack()[axis]).collect::<Vec<_>>();
            let expected = reference::nearest_three(&column(0), &column(1), &column(2), query);
            for instructions in present() {
                prop_assert_eq!(packed_with(instructions, &packed, query), expected, "{:?}", instructions);
            }
        }
    }
}
