//! How a server is set up.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Who may make an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SignUp {
    /// Anybody, as an author.
    Open,
    /// Who has an invitation.
    #[default]
    Invite,
    /// Nobody.
    Closed,
}

impl SignUp {
    /// As clients get it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Invite => "invite",
            Self::Closed => "closed",
        }
    }
}

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where it keeps everything: `office.db`, and `competitions/ID/` for each that was made on the desk.
    pub data: PathBuf,
    /// Files of competitions that are shown (and can be run) where they lie.
    pub files: Vec<PathBuf>,
    /// The site's name.
    pub name: String,
    /// Who may make an account.
    pub sign_up: SignUp,
    /// Nothing is shown to who is not signed in.
    pub private: bool,
    /// The address people use, such as `https://agon.example.org`: with `https`, cookies are for TLS only.
    pub public_url: Option<String>,
    /// How many proxies in front of it are believed when they say who asks (`X-Forwarded-For`).
    pub proxies: usize,
    /// Games at once, of all competitions together.
    pub jobs: usize,
    /// Whether each game stays on a core of its own.
    pub pin: bool,
    /// Bots checked at once.
    pub checks: usize,
    /// How long games in progress may take to end when it is stopped.
    pub grace: Duration,
}

impl Config {
    /// Whether people come by TLS.
    pub fn secure(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }
}
