//! `agon serve`: runs the web server.

use agon_bots::error::Diagnostic;
use agon_competition::LedgerLocation;
use agon_server::notify::mail::{MailConfig, MailTls};
use agon_server::{Config, Server, StartError};

use crate::args::{PlayAccess, PracticeMode, Serve, SignUp, SmtpTls};
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
    config.mail = mail(args)?;
    config.private_webhooks = args.private_webhooks;
    config.uploads.disk_per_account = args.upload_quota.saturating_mul(1 << 20);
    config.uploads.disk_total = args.upload_total.saturating_mul(1 << 20);
    config.streams.per_address = args.streams_per_address;
    config.play.access = match args.play {
        PlayAccess::Everyone => agon_server::play::settings::PlayAccess::Everyone,
        PlayAccess::Accounts => agon_server::play::settings::PlayAccess::Accounts,
        PlayAccess::Off => agon_server::play::settings::PlayAccess::Off,
    };
    if let Some(games) = args.play_programs {
        config.play.max_program_games = games;
    }
    config.practice.ladder = args.practice == PracticeMode::All;
    config.practice.challenges = args.practice != PracticeMode::Off;
    config.played_games.disk = args.played_total.saturating_mul(1 << 20);
    config.jobs = setup::jobs(args.jobs)?;
    config.nats = args.nats.options("coordinator")?;
    Ok(config)
}

/// The mail server, if one is given. Its password is not an argument.
fn mail(args: &Serve) -> Result<Option<MailConfig>, Diagnostic> {
    let (Some(smtp), Some(from)) = (&args.smtp, &args.mail_from) else { return Ok(None) };
    let (tls, usual_port) = match args.smtp_tls {
        SmtpTls::Implicit => (MailTls::Implicit, 465),
        SmtpTls::Starttls => (MailTls::StartTls, 587),
        SmtpTls::Off => (MailTls::Off, 25),
    };
    let (host, port) = mail_server(smtp, usual_port)?;
    Ok(Some(MailConfig {
        host,
        port,
        tls,
        user: args.smtp_user.clone(),
        password: None,
        from: from.clone(),
        per_hour: args.mails_per_hour.max(1),
    }))
}

/// Host and port of `HOST`, `HOST:PORT`, `[ADDRESS]:PORT` or an IPv6 address.
fn mail_server(text: &str, usual_port: u16) -> Result<(String, u16), Diagnostic> {
    let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
    match text.rsplit_once(':') {
        // An IPv6 address without brackets has several colons and no port.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => match port.parse() {
            Ok(port) if !host.is_empty() => Ok((bare(host), port)),
            _ => Err(Diagnostic::wrong_use(
                format!("--smtp: `{text}` is not a mail server"),
                "write HOST or HOST:PORT",
            )),
        },
        _ => Ok((bare(text), usual_port)),
    }
}

/// The async runtime of the server.
pub fn runtime() -> Result<tokio::runtime::Runtime, Diagnostic> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Converts the reason why the server did not start.
pub fn start_failure(error: StartError) -> Diagnostic {
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_server_is_a_host_with_or_without_a_port() {
        for (text, host, port) in [
            ("smtp.example.org", "smtp.example.org", 465),
            ("smtp.example.org:2525", "smtp.example.org", 2525),
            ("127.0.0.1:25", "127.0.0.1", 25),
            ("::1", "::1", 465),
            ("[::1]", "::1", 465),
            ("[::1]:25", "::1", 25),
        ] {
            let found = mail_server(text, 465).map_err(|error| error.to_string());
            assert_eq!(found, Ok((host.to_owned(), port)), "{text}");
        }
        for wrong in ["smtp.example.org:", "smtp.example.org:mail", ":25", "a:70000"] {
            assert!(mail_server(wrong, 465).is_err(), "{wrong}");
        }
    }
}
