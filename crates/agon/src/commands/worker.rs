//! `agon worker`: plays matches for competitions that run on other machines.

use std::fs;
use std::path::Path;

use agon_bots::error::Diagnostic;
use agon_grid::permissions::Role;
use agon_grid::subjects;
use agon_grid::worker::{Worker, WorkerOptions};

use crate::args::OnOff;
use crate::competition::signals;
use crate::{args, grid};
use crate::{output, setup};

const STOPPING: &str = "finishing the current games, then stopping; press CTRL-C again to stop at once (another worker plays them)";

/// Plays until it is stopped or drained.
pub fn run(args: &args::Worker) -> Result<(), Diagnostic> {
    let name = worker_name(args.name.as_deref())?;
    let wait = args::grid::seconds("--wait", args.wait, 0.0, 86_400.0)?;
    let mut nats = args.nats.required(&name)?;
    // The connection uses the worker's name, because the NATS permissions depend on it, whatever user the address names.
    nats.name.clone_from(&name);
    let mut options = WorkerOptions::new(name.clone());
    options.cores = setup::jobs(args.jobs)? as u32;
    options.pin_cores = args.pin == OnOff::On;
    options.cache_folder = args.cache.clone().unwrap_or(options.cache_folder);
    options.max_cache_bytes = args.cache_size;
    options.allow_unsandboxed = args.allow_unguarded;
    check_writable(&options.cache_folder)?;
    grid::with_runtime(|runtime| {
        let link = grid::connect_within(runtime, &nats, Role::Worker(&name), wait)?;
        let stop = signals::stop_on_signals(STOPPING)?;
        let games = if options.cores == 1 {
            "1 game at a time".to_owned()
        } else {
            format!("{} parallel games", options.cores)
        };
        output::note(&format!("worker {name} connected to {}, {games}", link.url()));
        // A worker writes its messages to the log.
        Worker::run(link, runtime, options, &stop, &|_| {})?;
        output::note(&format!("worker {name} has stopped"));
        Ok(())
    })
}

/// The worker's name.
fn worker_name(given: Option<&str>) -> Result<String, Diagnostic> {
    match given {
        Some(name) if subjects::is_valid_name(name) => Ok(name.to_owned()),
        Some(name) => Err(Diagnostic::wrong_use(
            format!("--name: `{name}` is not a valid worker name"),
            format!("use at most 48 letters, digits, - and _: {}", subjects::sanitize_name(name)),
        )),
        None => Ok(subjects::sanitize_name(&rustix::system::uname().nodename().to_string_lossy())),
    }
}

/// Checks that the cache is writable, so that a problem is reported before the first bot arrives.
fn check_writable(cache: &Path) -> Result<(), Diagnostic> {
    let tried = cache.join(format!(".try-{}", std::process::id()));
    let written = fs::create_dir_all(cache).and_then(|()| fs::write(&tried, b"agon"));
    let written = written.and_then(|()| fs::remove_file(&tried));
    written.map_err(|error| {
        Diagnostic::io("keep files in", cache, &error, "name another folder with --cache DIR")
    })
}
