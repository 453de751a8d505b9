//! One build for every processor: the kernels are compiled several times, for the instructions that wider processors
//! have, and the widest that this one has is chosen when they are called.
//!
//! All of them are the same source, word operations that a compiler widens by itself, so their results are equal bit
//! for bit. Where the processor is not an x86-64, the one plain build is used (on AArch64 it has NEON already).

/// The instructions that the kernels of this crate use on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Width {
    /// What every processor of the target has.
    Plain,
    /// AVX2 and the bit instructions that came with it.
    Avx2,
    /// AVX-512 with vectors of 256 bits: three-way logic in one instruction.
    Avx512,
}

impl Width {
    /// The widest that this processor has.
    #[must_use]
    pub fn detected() -> Width {
        Width::ALL.into_iter().rev().find(|width| width.is_supported()).unwrap_or(Width::Plain)
    }

    /// All of them, narrowest first.
    pub const ALL: [Width; 3] = [Width::Plain, Width::Avx2, Width::Avx512];

    /// True where this processor has these instructions.
    #[must_use]
    #[inline]
    pub fn is_supported(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = || {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("bmi1")
                    && std::arch::is_x86_feature_detected!("bmi2")
                    && std::arch::is_x86_feature_detected!("lzcnt")
                    && std::arch::is_x86_feature_detected!("popcnt")
            };
            let avx512 = || {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            };
            match self {
                Width::Plain => true,
                Width::Avx2 => avx2(),
                Width::Avx512 => avx2() && avx512(),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Width::Plain
        }
    }
}

/// Defines a function that runs `$kernel`, an `#[inline(always)]` function of the same arguments, compiled for the
/// instructions of a [`Width`].
macro_rules! for_every_width {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $kernel:path) => {
        $(#[$doc])*
        #[cfg_attr(
            target_arch = "x86_64",
            expect(
                unsafe_code,
                reason = "calling a function with more target features than its caller needs a promise that they are there"
            )
        )]
        $visibility fn $name(width: $crate::simd::Width, $($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn avx2($($argument: $type),*) {
                    $kernel($($argument),*);
                }
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512($($argument: $type),*) {
                    $kernel($($argument),*);
                }
                if width == $crate::simd::Width::Avx512 && width.is_supported() {
                    // SAFETY: `is_supported` found every feature that `avx512` is compiled with.
                    return unsafe { avx512($($argument),*) };
                }
                if width >= $crate::simd::Width::Avx2 && $crate::simd::Width::Avx2.is_supported() {
                    // SAFETY: `is_supported` found every feature that `avx2` is compiled with.
                    return unsafe { avx2($($argument),*) };
                }
            }
            let _ = width;
            $kernel($($argument),*);
        }
    };
}
pub(crate) use for_every_width;
