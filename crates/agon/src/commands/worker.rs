//! `agon worker`: plays matches for competitions that are run elsewhere.

use std::fs;
use std::path::Path;

use agon_grid::permissions::Role;
use agon_grid::subjects;
use agon_grid::worker::{Worker, WorkerOptions};
use agon_venue::error::Failure;

use crate::cli::OnOff;
use crate::competition::signals;
use crate::grid::{self, cli};
use crate::{output, setup};

const STOPPING: &str =
    "finishing what is being played, then leaving; once more to leave at once (somebody else plays it then)";

/// Plays until it is stopped or drained.
pub fn run(args: &cli::Worker) -> Result<(), Failure> {
    let name = name(args.name.as_deref())?;
    let mut nats = args.nats.needed(&name)?;
    // What it may hear and say is decided by its own name, whatever user the address names.
    nats.name.clone_from(&name);
    let mut options = WorkerOptions::new(name.clone());
    options.cores = setup::jobs(args.jobs)? as u32;
    options.pin_cores = args.pin == OnOff::On;
    options.cache_folder = args.cache.clone().unwrap_or(options.cache_folder);
    options.max_cache_bytes = args.cache_size;
    options.allow_unsandboxed = args.allow_unguarded;
    usable(&options.cache_folder)?;
    grid::with_runtime(|runtime| {
        let link = grid::connect(runtime, &nats, Role::Worker(&name))?;
        let stop = signals::listen(STOPPING)?;
        let cores = if options.cores == 1 { "1 game".to_owned() } else { format!("{} games", options.cores) };
        output::note(&format!("worker {name} plays {cores} at once for whoever calls at {}", link.url()));
        // The log has what a worker has to say.
        Worker::run(link, runtime, options, &stop, &|_| {})?;
        output::note(&format!("worker {name} has left"));
        Ok(())
    })
}

/// What it is called.
fn name(given: Option<&str>) -> Result<String, Failure> {
    match given {
        Some(name) if subjects::is_valid_name(name) => Ok(name.to_owned()),
        Some(name) => Err(Failure::wrong_use(
            format!("--name: `{name}` cannot be a worker's name"),
            format!("letters, digits, - and _, 48 at most: {}", subjects::sanitize_name(name)),
        )),
        None => Ok(subjects::sanitize_name(&rustix::system::uname().nodename().to_string_lossy())),
    }
}

/// A cache that nothing can be written to is better told now than with the first bot.
fn usable(cache: &Path) -> Result<(), Failure> {
    let tried = cache.join(format!(".try-{}", std::process::id()));
    let written = fs::create_dir_all(cache).and_then(|()| fs::write(&tried, b"agon"));
    let written = written.and_then(|()| fs::remove_file(&tried));
    written.map_err(|error| Failure::io("keep files in", cache, &error, "--cache DIR names another folder"))
}
