//! CTRL-C: once finishes what is being played, twice leaves at once.

use std::process;
use std::sync::Arc;
use std::thread;

use agon_bots::error::Failure;
use agon_runner::StopFlag;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit_code;
use crate::output;

/// Listens for CTRL-C and for a polite request to end. `words` says what a first one means.
pub fn listen(words: &'static str) -> Result<Arc<StopFlag>, Failure> {
    let stop = Arc::new(StopFlag::new());
    let asked = Arc::clone(&stop);
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if asked.request() > 1 {
                // Bots end with this process, what was played is kept, the rest is played again.
                process::exit(i32::from(exit_code::REJECTED));
            }
            output::note(words);
        }
    });
    Ok(stop)
}
