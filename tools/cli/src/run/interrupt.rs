//! Ctrl-C: the first one asks the run to stop after the running tick, the second one ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the first Ctrl-C (or a polite request of the system to end) sets.
pub(super) fn stop_flag() -> Result<Arc<AtomicBool>, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        crate::outcome::complain("stopping after this tick; once more to stop at once");
    })
    .map_err(|error| format!("Ctrl-C cannot be watched for: {error}"))?;
    Ok(stop)
}
