//! Says what a test leaves out for want of its data.

use std::io::Write;

/// Tells whoever runs the tests that `what` was not compared, and why. The test harness keeps to itself what a passing test
/// prints; what is written to the standard error as here, it does not.
pub(crate) fn say_left_out(what: &str, why: &str) {
    writeln!(std::io::stderr().lock(), "NOT compared: {what} ({why})").expect("somebody listens");
}
