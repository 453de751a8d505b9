//! Which vector units the machine has, asked at run time: one binary runs everywhere and all paths agree to the bit.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calling a function compiled for a CPU feature after checking that it is there"
    )
)]

use crate::kernel::lanes::{Frame, Lanes};

/// The instruction set that the kernel uses. Results never depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path(Isa);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Isa {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Path {
    /// What the build's own target has: SSE2 on x86-64, NEON on AArch64.
    pub const PLAIN: Path = Path(Isa::Plain);

    /// The fastest that this machine has.
    #[must_use]
    pub fn fastest() -> Path {
        *Path::available().last().unwrap_or(&Path::PLAIN)
    }

    /// All that this machine has, slowest first.
    #[must_use]
    pub fn available() -> Vec<Path> {
        const ALL: &[Path] = &[
            Path::PLAIN,
            #[cfg(target_arch = "x86_64")]
            Path(Isa::Avx2),
            #[cfg(target_arch = "x86_64")]
            Path(Isa::Avx512),
        ];
        ALL.iter().copied().filter(|path| path.is_present()).collect()
    }

    fn is_present(self) -> bool {
        match self.0 {
            Isa::Plain => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("lzcnt"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("lzcnt")
            }
        }
    }

    /// Its name, for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Isa::Plain => "plain",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
        }
    }

    pub(crate) fn step(self, lanes: &mut Lanes, count: usize, frame: Frame<'_>) {
        match self.0 {
            Isa::Plain => lanes.step(count, frame),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Path` with this instruction set is made by `available` alone, which has asked for it.
            Isa::Avx2 => unsafe { step_avx2(lanes, count, frame) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe { step_avx512(lanes, count, frame) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,lzcnt")]
fn step_avx2(lanes: &mut Lanes, count: usize, frame: Frame<'_>) {
    lanes.step(count, frame);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512cd,lzcnt")]
fn step_avx512(lanes: &mut Lanes, count: usize, frame: Frame<'_>) {
    lanes.step(count, frame);
}
