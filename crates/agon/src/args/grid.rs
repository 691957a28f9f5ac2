//! Arguments of the commands that use NATS.
#![allow(clippy::doc_markdown, reason = "help texts: backticks would be shown")]

use std::env;
use std::path::PathBuf;

use agon_bots::Diagnostic;
use agon_grid::{NatsOptions, nats, subjects};
use clap::Args;

use crate::args::OnOff;

/// Connection options for NATS, the same for every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "NATS")]
pub struct Nats {
    /// NATS server, `nats://USER:PASSWORD@HOST:4222` or `tls://...`, several separated by commas [default: AGON_NATS];
    /// the password can be in a file named by AGON_NATS_PASSWORD_FILE
    #[arg(long = "nats", value_name = "URL")]
    pub url: Option<String>,
    /// Credentials file (a JWT and its key) instead of user and password [default: AGON_NATS_CREDS]
    #[arg(long = "nats-creds", value_name = "FILE")]
    pub creds: Option<PathBuf>,
    /// Trusted CA certificates (PEM) [default: AGON_NATS_CA, or those of this machine]
    #[arg(long = "nats-ca", value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Client certificate, if the server requires one [default: AGON_NATS_CERT]
    #[arg(long = "nats-cert", value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Key of the client certificate [default: AGON_NATS_KEY]
    #[arg(long = "nats-key", value_name = "FILE")]
    pub key: Option<PathBuf>,
}

impl Nats {
    /// Connection options, or `None` without a server. `role` names the connection if the address has no user.
    pub fn options(&self, role: &str) -> Result<Option<NatsOptions>, Diagnostic> {
        let text = |name| env::var(name).ok().filter(|text| !text.is_empty());
        let file = |given: &Option<PathBuf>, name| given.clone().or_else(|| text(name).map(PathBuf::from));
        let Some(url) = self.url.clone().or_else(|| text("AGON_NATS")) else {
            if self.creds.is_some() || self.ca.is_some() || self.cert.is_some() || self.key.is_some() {
                let hint = "name it with --nats URL or AGON_NATS";
                return Err(Diagnostic::wrong_use("NATS options without a NATS server", hint));
            }
            return Ok(None);
        };
        // The inbox is below the user's name, because the user may only subscribe there.
        let name = nats::user_in_url(&url)
            .filter(|user| subjects::is_valid_name(user))
            .unwrap_or_else(|| role.to_owned());
        Ok(Some(NatsOptions {
            url,
            password_file: text("AGON_NATS_PASSWORD_FILE").map(PathBuf::from),
            credentials: file(&self.creds, "AGON_NATS_CREDS"),
            ca: file(&self.ca, "AGON_NATS_CA"),
            certificate: file(&self.cert, "AGON_NATS_CERT"),
            key: file(&self.key, "AGON_NATS_KEY"),
            name,
        }))
    }

    /// Connection options for a command that requires NATS.
    pub fn required(&self, role: &str) -> Result<NatsOptions, Diagnostic> {
        let missing = || {
            Diagnostic::wrong_use("missing NATS server", "name it with --nats nats://HOST:4222 or AGON_NATS")
        };
        self.options(role)?.ok_or_else(missing)
    }
}

/// Options of `agon run` for playing on workers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "NATS")]
pub struct CoordinatorArgs {
    /// NATS server of the workers. Without it, this machine plays all matches.
    #[command(flatten)]
    pub nats: Nats,
    /// Percentage of matches that a second worker plays again for comparison
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub checked: f64,
    /// Scale time limits by each worker's calibration, so that slow machines get more time; noted in the record
    #[arg(long)]
    pub scale_clocks: bool,
    /// Give a match to another worker if its worker is silent for this time
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    pub lease: f64,
    /// Amount of work per job
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub batch: f64,
}

/// `agon worker`
#[derive(Args, Debug)]
#[command(
    after_help = "Plays for all competitions that run on the same NATS server, until you stop it. CTRL-C finishes the current games and stops; a second CTRL-C \
                  stops at once, and another worker plays those games. `agon workers --drain NAME` stops it from another machine. A worker needs no database; it only keeps a cache. \
                  docs/deploying.md describes the setup."
)]
pub struct Worker {
    /// Time to wait for a NATS server that does not answer when the worker starts; 0: stop at once
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub wait: f64,
    /// Name of the worker; must be unique and match the worker's NATS user, if it has one [default: this machine's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Parallel games [default: number of CPU cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// List of Python packages that bots may import (requirements.txt), fetched once
    #[arg(long, value_name = "LIST")]
    pub packages: Option<PathBuf>,
    /// Cache folder for bots and their files [default: ~/.cache/agon/worker]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Maximum size of the cache, such as 500M or 4G
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = parse_size)]
    pub cache_size: u64,
    /// Pin each game and its bots to one CPU core
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub pin: OnOff,
    /// Also play for competitions that run bots without the sandbox; use this only if you trust every bot and the organiser
    #[arg(long)]
    pub allow_unguarded: bool,
    /// Connection options for NATS.
    #[command(flatten)]
    pub nats: Nats,
}

/// `agon workers`
#[derive(Args, Debug)]
#[command(
    after_help = "Workers send a heartbeat every two seconds. `refused`: a coordinator rejected the worker (different version of Agon, missing sandbox \
                  layers or programs, wrong results); the reason is below the table. `failing`: its last jobs all failed, and it waits before the next one. `lost`: its \
                  heartbeats have stopped; a running coordinator remembers it for an hour.\n\n\
                  Exit code 1: with --drain and --wait, the worker has not stopped in time."
)]
pub struct Workers {
    /// Drain this worker: it finishes its current games and stops
    #[arg(long, value_name = "NAME")]
    pub drain: Option<String>,
    /// Time to listen for workers [default: 2.5]; with --drain: maximum time to wait until the worker has stopped
    #[arg(long, value_name = "SECONDS")]
    pub wait: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Connection options for NATS.
    #[command(flatten)]
    pub nats: Nats,
}

/// Parses a size: `500M`, `4G`, or bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || "write a number of bytes, or a number with K, M, G or T".to_owned();
    let text = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (number, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        Some((at, 't' | 'T')) => (&text[..at], 40),
        _ => (text, 0),
    };
    let number: u64 = number.trim().parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0).ok_or_else(wrong)
}

/// Converts an option in seconds to a duration, and checks its limits.
pub fn seconds(option: &str, given: f64, least: f64, most: f64) -> Result<std::time::Duration, Diagnostic> {
    if (least..=most).contains(&given) {
        return Ok(std::time::Duration::from_secs_f64(given));
    }
    Err(Diagnostic::wrong_use(
        format!("{option}: {given} is not between {least} and {most}"),
        "give a number of seconds within these limits",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_with_and_without_unit_is_parsed() {
        assert_eq!(parse_size("500M"), Ok(500 << 20));
        assert_eq!(
            (parse_size("2G"), parse_size("2GiB"), parse_size("1 tb")),
            (Ok(2 << 30), Ok(2 << 30), Ok(1 << 40))
        );
        assert_eq!(parse_size("4096"), Ok(4096));
        for wrong in ["", "G", "-1", "1.5G", "0", "99999999999T", "much"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
