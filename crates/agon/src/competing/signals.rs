//! CTRL-C: once finishes what is being played, twice leaves at once.

use std::process;
use std::sync::Arc;
use std::thread;

use agon_runner::Stop;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Failure, NO};
use crate::output;

/// Listens for CTRL-C and for a polite request to end. `words` says what a first one means.
pub fn listen(words: &'static str) -> Result<Arc<Stop>, Failure> {
    let stop = Arc::new(Stop::new());
    let asked = Arc::clone(&stop);
    let runtime = Builder::new_current_thread().enable_io().build()?;
    // Before the thread runs, so that no signal finds nobody listening.
    let (mut interrupt, mut terminate) = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if asked.ask() > 1 {
                    // Bots end with this process, what was played is kept, the rest is played again.
                    process::exit(i32::from(NO));
                }
                output::note(words);
            }
        });
    });
    Ok(stop)
}
