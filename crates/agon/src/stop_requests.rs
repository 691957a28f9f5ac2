//! CTRL-C in commands that play games in this terminal. The first one finishes the current games, the second one ends the command with what
//! is finished, the third one ends the program at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use agon_bots::error::Diagnostic;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit_code;
use crate::output;

/// Number of requests that ends the program, whatever it does.
const REQUESTS_TO_END: u32 = 3;

/// Counts CTRL-C and SIGTERM from now on.
pub fn count() -> Result<Arc<AtomicU32>, Diagnostic> {
    let requests = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&requests);
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for _ in signals.forever() {
            add(&counted);
        }
    });
    Ok(requests)
}

/// Adds a request.
pub fn add(requests: &AtomicU32) {
    let count = requests.fetch_add(1, Ordering::Relaxed) + 1;
    if count == 1 {
        output::note("note: finishing the current games; press CTRL-C again to stop at once");
    }
    if count >= REQUESTS_TO_END {
        // Bots end with this process.
        process::exit(i32::from(exit_code::REJECTED));
    }
}

/// Whether a stop was requested.
pub fn any(requests: &AtomicU32) -> bool {
    requests.load(Ordering::Relaxed) > 0
}
