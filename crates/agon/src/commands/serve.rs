//! `agon serve`: a place on the web for competitions.

use agon_server::{Config, StartError};
use agon_venue::failure::{BROKE, Failure};

use crate::serving::cli::{Serve, SignUp};
use crate::setup;

/// Serves until it is asked to stop.
pub fn run(args: &Serve) -> Result<(), Failure> {
    let config = config(args)?;
    runtime()?.block_on(agon_server::serve(config)).map_err(failure)
}

fn config(args: &Serve) -> Result<Config, Failure> {
    let mut config = Config::new(&args.data);
    if let Some(url) = &args.database {
        let Some(path) = url.strip_prefix("sqlite:").filter(|path| !path.is_empty()) else {
            let what = format!("--database: `{url}` is no database that is known here");
            return Err(Failure::wrong_use(what, "write sqlite:PATH, or leave it out"));
        };
        config.database = Some(path.trim_start_matches("//").into());
    }
    config.listen = args.listen;
    config.files.clone_from(&args.files);
    config.name.clone_from(&args.name);
    config.sign_up = match args.sign_up {
        SignUp::Open => agon_server::SignUp::Open,
        SignUp::Invite => agon_server::SignUp::Invite,
        SignUp::Closed => agon_server::SignUp::Closed,
    };
    config.private = args.private;
    if let Some(url) = &args.public_url {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let hint = "write it as people do in a browser: https://agon.example.org";
            return Err(Failure::wrong_use(format!("--public-url: `{url}` is no address"), hint));
        }
        config.public_url = Some(url.clone());
    }
    config.proxies = args.proxies;
    config.jobs = setup::jobs(args.jobs)?;
    config.nats = args.nats.options("coordinator")?;
    Ok(config)
}

/// What a server runs in.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Why it did not start.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn failure(error: StartError) -> Failure {
    match error {
        StartError::Grid(error) => error.into(),
        other => Failure { code: BROKE, message: other.to_string() },
    }
}
