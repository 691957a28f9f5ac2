//! `agon worker`: plays matches for competitions that are run elsewhere.

use std::path::PathBuf;

use agon_grid::access::Role;
use agon_grid::subjects;
use agon_venue::failure::Failure;

use crate::competing::signals;
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
    let jobs = setup::jobs(args.jobs)?;
    let cache = args.cache.clone().map_or_else(cache, Ok)?;
    grid::with_runtime(|runtime| {
        let link = grid::connect(runtime, &nats, Role::Worker(&name))?;
        let stop = signals::listen(STOPPING)?;
        let _ = (link, stop, jobs, cache);
        output::note("not yet");
        Ok(())
    })
}

/// What it is called.
fn name(given: Option<&str>) -> Result<String, Failure> {
    match given {
        Some(name) if subjects::is_name(name) => Ok(name.to_owned()),
        Some(name) => Err(Failure::wrong_use(
            format!("--name: `{name}` cannot be a worker's name"),
            format!("letters, digits, - and _, 48 at most: {}", subjects::name_of(name)),
        )),
        None => Ok(subjects::name_of(&rustix::system::uname().nodename().to_string_lossy())),
    }
}

/// Where files are kept unless somebody says otherwise.
fn cache() -> Result<PathBuf, Failure> {
    let place = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let missing = || Failure::wrong_use("there is no home to keep a cache in", "--cache DIR says where");
    Ok(place.filter(|place| place.is_absolute()).ok_or_else(missing)?.join("agon/worker"))
}
