//! Small stages that the engine's tests share.

use std::time::{Duration, Instant};

use voxtick_engine::{BuildError, Plugin, Setup, Stage};

/// A plugin out of a function.
pub(crate) fn plugin(
    name: &'static str,
    build: impl Fn(&mut Setup<'_>) + Send + 'static,
) -> impl Plugin + 'static {
    (name, move |setup: &mut Setup<'_>| -> Result<(), BuildError> {
        build(setup);
        Ok(())
    })
}

/// A plugin of one stage with one system that keeps the thread busy for a while.
pub(crate) fn busy(stage: &'static str, time: Duration) -> impl Plugin + 'static {
    plugin(stage, move |setup| {
        setup.stage(Stage::new(stage)).named_system(stage, "spin", move || spin(time));
    })
}

/// Keeps the thread busy: unlike a sleep, this uses CPU time.
pub(crate) fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}
