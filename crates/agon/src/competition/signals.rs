//! CTRL-C: the first one finishes the current games, the second one exits at once.

use std::process;
use std::sync::Arc;
use std::thread;

use agon_bots::error::Diagnostic;
use agon_runner::StopFlag;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit_code;
use crate::output;

/// Listens for CTRL-C and SIGTERM. `message` is the message for the first signal.
pub fn stop_on_signals(message: &'static str) -> Result<Arc<StopFlag>, Diagnostic> {
    let stop = Arc::new(StopFlag::new());
    let asked = Arc::clone(&stop);
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if asked.request() > 1 {
                // Bots end with this process. Stored matches are kept, the others are played again.
                process::exit(i32::from(exit_code::REJECTED));
            }
            output::note(message);
        }
    });
    Ok(stop)
}
