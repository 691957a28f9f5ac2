//! The words of the commands for many machines.
#![allow(clippy::doc_markdown, reason = "help texts: backticks would be shown")]

use std::env;
use std::path::PathBuf;

use agon_bots::Failure;
use agon_grid::{NatsOptions, nats, subjects};
use clap::Args;

use crate::cli::OnOff;

/// How to reach NATS: the same words for every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "NATS")]
pub struct Nats {
    /// The NATS server, `nats://USER:PASSWORD@HOST:4222` or `tls://...`, several with commas [default: AGON_NATS];
    /// the password may come from the file that AGON_NATS_PASSWORD_FILE names
    #[arg(long = "nats", value_name = "URL")]
    pub url: Option<String>,
    /// Credentials (a JWT and its key) in place of user and password [default: AGON_NATS_CREDS]
    #[arg(long = "nats-creds", value_name = "FILE")]
    pub creds: Option<PathBuf>,
    /// Who may vouch for the server: certificates as PEM [default: AGON_NATS_CA, or those of this machine]
    #[arg(long = "nats-ca", value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Our own certificate, for a server that wants to see one [default: AGON_NATS_CERT]
    #[arg(long = "nats-cert", value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// The key of our certificate [default: AGON_NATS_KEY]
    #[arg(long = "nats-key", value_name = "FILE")]
    pub key: Option<PathBuf>,
}

impl Nats {
    /// How to connect, if a server is named. `role` is the name of the connection where the address names no user.
    pub fn options(&self, role: &str) -> Result<Option<NatsOptions>, Failure> {
        let text = |name| env::var(name).ok().filter(|text| !text.is_empty());
        let file = |given: &Option<PathBuf>, name| given.clone().or_else(|| text(name).map(PathBuf::from));
        let Some(url) = self.url.clone().or_else(|| text("AGON_NATS")) else {
            if self.creds.is_some() || self.ca.is_some() || self.cert.is_some() || self.key.is_some() {
                let hint = "--nats URL names it, or AGON_NATS";
                return Err(Failure::wrong_use("options for NATS, but no server", hint));
            }
            return Ok(None);
        };
        // Answers are heard below the user's own name: that is all it may hear.
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

    /// How to connect, for a command that cannot do without.
    pub fn needed(&self, role: &str) -> Result<NatsOptions, Failure> {
        let missing =
            || Failure::wrong_use("no NATS server is named", "--nats nats://HOST:4222, or AGON_NATS");
        self.options(role)?.ok_or_else(missing)
    }
}

/// What `agon run` wants of workers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "NATS")]
pub struct CoordinatorArgs {
    /// How to reach the workers; without it everything is played on this machine.
    #[command(flatten)]
    pub nats: Nats,
    /// How many of a hundred matches are played again by another worker and compared
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub checked: f64,
    /// Bots get more time on slow machines, by each worker's calibration; the record says so
    #[arg(long)]
    pub scale_clocks: bool,
    /// A match whose worker falls silent for so long is given to another
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    pub lease: f64,
    /// How much work is handed out at once
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub batch: f64,
}

/// `agon worker`
#[derive(Args, Debug)]
#[command(
    after_help = "Plays for every competition that is run or served with the same NATS server, until it is stopped: CTRL-C once finishes what is being played and leaves, \
                  twice leaves at once (somebody else plays it then). `agon workers --drain NAME` does the same from elsewhere. It needs no database and keeps nothing but a cache. \
                  docs/deploying.md says how to set it up."
)]
pub struct Worker {
    /// What it is called; no two may be called the same, and a NATS user of its own bears this name [default: this machine's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Games at once [default: one for each core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Where bots and their files are kept once they were fetched [default: ~/.cache/agon/worker]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// The cache is kept below this, such as 500M or 4G
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = size)]
    pub cache_size: u64,
    /// Whether each game stays on a core of its own, its bots with it
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub pin: OnOff,
    /// Also play for competitions that run bots without the sandbox: only where you trust every bot and the organiser
    #[arg(long)]
    pub allow_unguarded: bool,
    /// How to reach NATS.
    #[command(flatten)]
    pub nats: Nats,
}

/// `agon workers`
#[derive(Args, Debug)]
#[command(
    after_help = "Workers say every two seconds how they are. `refused` is who a coordinator does not want (another version of Agon, a sandbox with too few \
                  layers, results that were wrong): why is said below the table. `lost` is who was heard before and is silent now.\n\n\
                  Exit code 1: with --drain and --wait, the worker has not left in time."
)]
pub struct Workers {
    /// Have this worker finish what it plays and leave
    #[arg(long, value_name = "NAME")]
    pub drain: Option<String>,
    /// Listen for so long [default: 2.5]; with --drain: wait so long at most until it has left
    #[arg(long, value_name = "SECONDS")]
    pub wait: Option<f64>,
    /// For programs
    #[arg(long)]
    pub json: bool,
    /// How to reach NATS.
    #[command(flatten)]
    pub nats: Nats,
}

/// `500M`, `4G`, or bytes.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || "a number of bytes, or one with K, M, G or T behind it".to_owned();
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

/// Seconds that somebody gave, within bounds.
pub fn seconds(option: &str, given: f64, least: f64, most: f64) -> Result<std::time::Duration, Failure> {
    if (least..=most).contains(&given) {
        return Ok(std::time::Duration::from_secs_f64(given));
    }
    Err(Failure::wrong_use(
        format!("{option}: {given} is not between {least} and {most}"),
        "it is a number of seconds",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(size("500M"), Ok(500 << 20));
        assert_eq!((size("2G"), size("2GiB"), size("1 tb")), (Ok(2 << 30), Ok(2 << 30), Ok(1 << 40)));
        assert_eq!(size("4096"), Ok(4096));
        for wrong in ["", "G", "-1", "1.5G", "0", "99999999999T", "much"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
