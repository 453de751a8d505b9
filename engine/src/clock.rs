//! The clocks of a simulation: wall time since it was built, and CPU time of the calling thread.
//!
//! Every stamp is a whole number of nanoseconds since one instant, so that offsets and lengths from
//! different places add up exactly and a report needs no `Instant`.

use std::time::{Duration, Instant};

/// Wall clock of one simulation. Copies share the same zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    zero: Instant,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { zero: Instant::now() }
    }

    /// Nanoseconds since the clock was started; enough for 584 years.
    pub(crate) fn now(&self) -> u64 {
        nanoseconds(self.zero.elapsed())
    }
}

/// A duration in whole nanoseconds, held at `u64::MAX` beyond 584 years.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// CPU time used so far by the calling thread, in nanoseconds; `None` where the system does not
/// tell.
#[cfg(unix)]
pub(crate) fn thread_cpu_time() -> Option<u64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u64::try_from(time.tv_nsec).ok()?;
    Some(seconds * 1_000_000_000 + nanoseconds)
}

/// CPU time used so far by the calling thread, in nanoseconds; `None` where the system does not
/// tell.
#[cfg(not(unix))]
pub(crate) fn thread_cpu_time() -> Option<u64> {
    None
}
