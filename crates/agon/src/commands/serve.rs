//! `agon serve`: runs the web server.

use agon_bots::error::Diagnostic;
use agon_competition::LedgerLocation;
use agon_server::{Config, Server, StartError};

use crate::args::{Serve, SignUp};
use crate::{output, setup};

/// Serves until it is asked to stop.
pub fn run(args: &Serve) -> Result<(), Diagnostic> {
    let config = config(args)?;
    runtime()?.block_on(agon_server::serve(config, announce)).map_err(start_failure)
}

/// Tells the user where the server is, and how to become its first organiser.
fn announce(server: &Server) {
    output::note(&format!("Agon is at {}", server.url()));
    if let Some(link) = server.invitation() {
        output::note(&format!(
            "There is no organiser yet. Open this link within 24 hours to become one:\n  {link}"
        ));
    }
}

fn config(args: &Serve) -> Result<Config, Diagnostic> {
    let mut config = Config::new(&args.data);
    if let Some(url) = &args.database {
        match (url.strip_prefix("sqlite:"), url.split_once("://")) {
            (Some(path), _) if !path.is_empty() => {
                config.database = Some(path.trim_start_matches("//").into());
            }
            (None, Some(("postgres" | "postgresql", _))) => {
                config.ledgers = LedgerLocation::Database(url.clone());
            }
            _ => {
                // The URL may contain a password, so the error does not repeat it.
                let hint = "write postgres://USER@HOST/NAME for the ledgers, or sqlite:PATH for accounts and submissions";
                return Err(Diagnostic::wrong_use("--database: unknown kind of database", hint));
            }
        }
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
            let hint = "write it as in a browser: https://agon.example.org";
            return Err(Diagnostic::wrong_use(format!("--public-url: `{url}` is not a web address"), hint));
        }
        config.public_url = Some(url.clone());
    }
    config.proxies = args.proxies;
    config.uploads.disk_per_account = args.upload_quota.saturating_mul(1 << 20);
    config.uploads.disk_total = args.upload_total.saturating_mul(1 << 20);
    config.streams.per_address = args.streams_per_address;
    config.jobs = setup::jobs(args.jobs)?;
    config.nats = args.nats.options("coordinator")?;
    Ok(config)
}

/// The async runtime of the server.
pub fn runtime() -> Result<tokio::runtime::Runtime, Diagnostic> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Converts the reason why the server did not start.
pub fn start_failure(error: StartError) -> Diagnostic {
    error.into()
}
