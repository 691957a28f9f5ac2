//! Arguments of `agon serve` and `agon submit`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::grid::Nats;

/// Users who may create an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SignUp {
    /// Everyone, as an author.
    Open,
    /// Users with an invitation.
    Invite,
    /// No new accounts.
    Closed,
}

/// Visitors who may play in the browser.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PlayAccess {
    /// Every visitor.
    Everyone,
    /// Only users who are signed in.
    Accounts,
    /// Nobody.
    Off,
}

/// Practice outside of competitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PracticeMode {
    /// Practice ladders and challenges.
    All,
    /// Challenges only.
    Challenges,
    /// Nothing.
    Off,
}

/// `agon serve`
#[derive(Args, Debug)]
#[command(
    after_help = "The server keeps its data in the data folder. After a stop or a crash it resumes where it was. The first organiser signs up through a \
                  link that is printed at the start. For an unattended setup, AGON_ORGANISER_PASSWORD_FILE names a file with the password \
                  of the account `organiser`. CTRL-C finishes the current games and stops."
)]
pub struct Serve {
    /// Competition files to show and run, at their location
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Data folder
    #[arg(long, value_name = "DIR", default_value = "agon-data")]
    pub data: PathBuf,
    /// List of Python packages that bots may import (requirements.txt), fetched once
    #[arg(long, value_name = "LIST")]
    pub packages: Option<PathBuf>,
    /// Database for the ledgers, `postgres://USER@HOST/NAME` [default: one file per competition]; sqlite:PATH moves accounts and submissions
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// Name of the site
    #[arg(long, value_name = "NAME", default_value = "Agon")]
    pub name: String,
    /// Users who may create an account
    #[arg(long, value_name = "WHO", value_enum, default_value = "invite")]
    pub sign_up: SignUp,
    /// Show competitions to signed-in users only
    #[arg(long)]
    pub private: bool,
    /// Public address of the site, such as `https://agon.example.org`; with https, cookies are sent over TLS only
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Number of trusted proxies in front of the server (X-Forwarded-For)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub proxies: usize,
    /// Disk space for the submissions of one account, old versions included
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    pub upload_quota: u64,
    /// Disk space for all submissions together
    #[arg(long, value_name = "MIB", default_value_t = 20 * 1024)]
    pub upload_total: u64,
    /// Live streams for viewers from one address who are not signed in
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub streams_per_address: usize,
    /// Visitors who may play against bots in the browser
    #[arg(long, value_name = "WHO", value_enum, default_value = "everyone")]
    pub play: PlayAccess,
    /// Games of persons at the same time in which programs play; house bots are not counted [default: number of CPU cores]
    #[arg(long, value_name = "N")]
    pub play_programs: Option<usize>,
    /// Practice outside of competitions
    #[arg(long, value_name = "WHAT", value_enum, default_value = "all")]
    pub practice: PracticeMode,
    /// Disk space for the records of games outside of competitions; the oldest practice games are removed first
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    pub played_total: u64,
    /// Parallel games of all competitions together, if no workers play them [default: number of CPU cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Mail server for notifications and new passwords, HOST or HOST:PORT [default: the site sends no mails]
    #[arg(long, value_name = "HOST", requires = "mail_from")]
    pub smtp: Option<String>,
    /// Encryption of the connection to the mail server; `off` only for a server on this machine
    #[arg(long, value_name = "TLS", value_enum, default_value = "implicit")]
    pub smtp_tls: SmtpTls,
    /// User name for the mail server; the password is read from `AGON_SMTP_PASSWORD_FILE` or `AGON_SMTP_PASSWORD`
    #[arg(long, value_name = "NAME")]
    pub smtp_user: Option<String>,
    /// Sender of the mails, such as "Agon <agon@example.org>"
    #[arg(long, value_name = "ADDRESS")]
    pub mail_from: Option<String>,
    /// Notification mails to one account per hour; more are sent together
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub mails_per_hour: u32,
    /// Let webhooks reach addresses that are not on the public Internet, and without TLS
    #[arg(long)]
    pub private_webhooks: bool,
    /// NATS server for workers. With it, workers play all games; without it, this machine does.
    #[command(flatten)]
    pub nats: Nats,
}

/// Encryption of the connection to a mail server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SmtpTls {
    /// TLS from the first byte, usually on port 465
    Implicit,
    /// Changes to TLS after the greeting, usually on port 587
    Starttls,
    /// No encryption
    Off,
}

/// `agon submit`
#[derive(Args, Debug)]
#[command(
    after_help = "Agon reads the token from AGON_TOKEN, or from ~/.config/agon/token (readable only by you). Create a token on your account page of the site. \
                  Exit codes: 0 accepted; 1 not accepted; 2 usage error; 3 internal error."
)]
pub struct Submit {
    /// Competition id, or the address of the competition's page
    #[arg(value_name = "COMPETITION")]
    pub competition: String,
    /// Bot: a .py, a .zip or a folder
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Server address [default: from the address of the page, or `http://127.0.0.1:8080`]
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// Name of a new bot [default: the name of the file]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["bot", "version_of"])]
    pub name: Option<String>,
    /// Role of a new bot, in games with roles
    #[arg(long, value_name = "ROLE", conflicts_with_all = ["bot", "version_of"])]
    pub role: Option<String>,
    /// Submit a new bot for one of your teams
    #[arg(long, value_name = "TEAM", conflicts_with_all = ["bot", "version_of"])]
    pub team: Option<String>,
    /// Submit a new version of your bot with this number (see its page)
    #[arg(long, value_name = "ID", conflicts_with = "version_of")]
    pub bot: Option<i64>,
    /// Submit a new version of your bot with this name
    #[arg(long, value_name = "NAME")]
    pub version_of: Option<String>,
    /// Mark the bot in tables: AI or exploit, with a note as "AI=which part AI wrote"; can be repeated. A new version keeps earlier marks
    #[arg(long, value_name = "MARK[=NOTE]")]
    pub mark: Vec<String>,
    /// Class of the bot, if the files contain several candidates
    #[arg(long, value_name = "CLASS")]
    pub class: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
