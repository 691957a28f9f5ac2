//! Waiting in tests: for an event, never for a fixed time.

use std::time::{Duration, Instant};

/// Maximum wait of a test for one event. Only a test that hangs waits this long, so the speed of the machine does not matter.
pub const WAIT_TIMEOUT: Duration = Duration::from_mins(2);

/// Interval between checks.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Waits until a condition holds.
///
/// # Panics
/// After [`WAIT_TIMEOUT`]; `what` names the event.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "timeout while waiting for: {what}");
        std::thread::sleep(LOOK_INTERVAL);
    }
}
