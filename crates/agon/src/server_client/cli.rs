//! The words of the commands for servers.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::grid::cli::Nats;

/// Who may make an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SignUp {
    /// Anybody, as an author.
    Open,
    /// Who has an invitation.
    Invite,
    /// Nobody.
    Closed,
}

/// `agon serve`
#[derive(Args, Debug)]
#[command(
    after_help = "Everything is kept in the data folder; a server that was stopped or killed goes on where it was. The first organiser comes by a \
                  link that is printed at the start, or is set up unattended: AGON_ORGANISER_PASSWORD_FILE names a file with the password \
                  of the account `organiser`. CTRL-C finishes the games that are being played."
)]
pub struct Serve {
    /// Competition files to show (and run) where they lie
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Where everything is kept
    #[arg(long, value_name = "DIR", default_value = "agon-data")]
    pub data: PathBuf,
    /// Ledgers in a database: `postgres://USER@HOST/NAME` [default: a file for each competition]; or accounts and submissions elsewhere: sqlite:PATH
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// The site's name
    #[arg(long, value_name = "NAME", default_value = "Agon")]
    pub name: String,
    /// Who may make an account
    #[arg(long, value_name = "WHO", value_enum, default_value = "invite")]
    pub sign_up: SignUp,
    /// Show nothing to who is not signed in
    #[arg(long)]
    pub private: bool,
    /// The address people use, such as `https://agon.example.org`; with https, cookies are for TLS only
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Proxies in front of it that are believed when they say who asks (X-Forwarded-For)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub proxies: usize,
    /// Games at once, of all competitions together, where no workers play them [default: one for each core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Where workers are met; with it they play all games, without it this machine does
    #[command(flatten)]
    pub nats: Nats,
}

/// `agon submit`
#[derive(Args, Debug)]
#[command(
    after_help = "The token is taken from AGON_TOKEN, or from ~/.config/agon/token (readable for you alone); make one on your page of the site. \
                  Exit codes: 0 accepted; 1 refused; 2 wrong use; 3 something broke."
)]
pub struct Submit {
    /// The competition: its id, or the address of its page
    #[arg(value_name = "COMPETITION")]
    pub competition: String,
    /// The bot: a .py, a .zip or a folder
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The server [default: that of the page's address, or `http://127.0.0.1:8080`]
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// The name of a new bot [default: that of the file]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["bot", "version_of"])]
    pub name: Option<String>,
    /// The role of a new bot, in games that have different ones
    #[arg(long, value_name = "ROLE", conflicts_with_all = ["bot", "version_of"])]
    pub role: Option<String>,
    /// A new version of this bot of yours, by the number of its page
    #[arg(long, value_name = "ID", conflicts_with = "version_of")]
    pub bot: Option<i64>,
    /// A new version of this bot of yours, by its name
    #[arg(long, value_name = "NAME")]
    pub version_of: Option<String>,
    /// The class that is the bot, if the files leave that open
    #[arg(long, value_name = "CLASS")]
    pub class: Option<String>,
    /// For programs
    #[arg(long)]
    pub json: bool,
}
