//! How tests wait: for something that happens, never for a time in which it should have happened.

use std::time::{Duration, Instant};

/// The longest wait of a test for one event. Only a test that hangs ever waits this long: how fast the machine is does not matter.
pub const WAIT_TIMEOUT: Duration = Duration::from_mins(2);

/// How often a test looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Waits until something holds.
///
/// # Panics
/// If it does not for [`WAIT_TIMEOUT`]; `what` says what was waited for.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "waited in vain: {what}");
        std::thread::sleep(LOOK_INTERVAL);
    }
}
