//! Progress of long work: a bar on a terminal, plain lines now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Between two plain lines where there is no terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

/// A bar of `total` steps called `unit`, with the bar's message behind it; hidden where there is no terminal.
pub(crate) fn steps(total: u64, unit: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:30}} {{pos}}/{{len}} {unit}  {{elapsed}}  {{wide_msg}}");
    let bar = ProgressBar::new(total);
    bar.set_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// As [`steps`], and hidden where the user wants quiet.
pub(crate) fn steps_unless(quiet: bool, total: u64, unit: &str) -> ProgressBar {
    if quiet { ProgressBar::hidden() } else { steps(total, unit) }
}

/// Progress of a run: a bar with a message, or a line every five seconds.
pub(crate) struct RunProgress {
    bar: Option<ProgressBar>,
    total: u64,
    last_line: Instant,
    quiet: bool,
}

impl RunProgress {
    pub(crate) fn new(total: u64, quiet: bool) -> RunProgress {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| steps(total, "ticks"));
        RunProgress { bar, total, last_line: Instant::now(), quiet }
    }

    /// Shows that `done` ticks are done; `message` is asked for only when it is shown.
    pub(crate) fn tick(&mut self, done: u64, message: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            // The bar redraws at most some 20 times a second; a message more often than that is work for nothing.
            if self.last_line.elapsed() > Duration::from_millis(100) {
                self.last_line = Instant::now();
                bar.set_message(message());
            }
        } else if !self.quiet && self.last_line.elapsed() > PLAIN_INTERVAL {
            self.last_line = Instant::now();
            crate::outcome::complain(&format!("{done}/{} ticks, {}", self.total, message()));
        }
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
