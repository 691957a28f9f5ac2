//! Configuration of a server.

use std::ffi::OsString;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use agon_competition::LedgerLocation;
use agon_core::{Diagnostic, Place};
use agon_grid::NatsOptions;
use agon_site_db::SecretString;

use crate::error::StartError;

const PASSWORD_FILE: &str = "AGON_ORGANISER_PASSWORD_FILE";
const PASSWORD: &str = "AGON_ORGANISER_PASSWORD";

/// Rule for creating accounts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SignUp {
    /// Anyone can sign up, as an author.
    Open,
    /// Only with an invitation.
    #[default]
    Invite,
    /// Sign-up is off.
    Closed,
}

impl SignUp {
    /// Name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Invite => "invite",
            Self::Closed => "closed",
        }
    }
}

/// Configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Data folder: `office.db`, and `competitions/ID/` for each competition created on the dashboard.
    pub data: PathBuf,
    /// Path of `office.db`, if it is not in the data folder.
    pub database: Option<PathBuf>,
    /// Where the ledgers are stored: files or PostgreSQL.
    pub ledgers: LedgerLocation,
    /// Competition files given on the command line. The server shows and runs them in place.
    pub files: Vec<PathBuf>,
    /// Name of the site.
    pub name: String,
    /// Rule for creating accounts.
    pub sign_up: SignUp,
    /// Whether the site requires sign-in for everything.
    pub private: bool,
    /// Public URL, such as `https://agon.example.org`. With `https`, cookies are sent over TLS only.
    pub public_url: Option<String>,
    /// Number of trusted proxies in front of the server (`X-Forwarded-For`).
    pub proxies: usize,
    /// Maximum number of parallel games of all competitions, if they are played on this machine.
    pub jobs: usize,
    /// NATS server of the workers. Without it, games are played on this machine.
    pub nats: Option<NatsOptions>,
    /// Whether each game is pinned to one core.
    pub pin: bool,
    /// Maximum number of parallel bot checks.
    pub checks: usize,
    /// Time that running games have to finish when the server stops.
    pub grace: Duration,
    /// Rate limits.
    pub limits: RateLimits,
    /// Password of the first organiser, if the account is created without a link.
    pub organiser_password: Option<SecretString>,
}

/// Parameters of a token bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Capacity of the bucket.
    pub burst: u32,
    /// Time after which the bucket gets one more token.
    pub every: Duration,
}

impl Rate {
    const fn new(burst: u32, every_ms: u64) -> Self {
        Self { burst, every: Duration::from_millis(every_ms) }
    }
}

/// Rate limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimits {
    /// Failed sign-ins from one address.
    pub sign_in_address: Rate,
    /// Failed sign-ins to one name.
    pub sign_in_name: Rate,
    /// New accounts from one address.
    pub sign_up: Rate,
    /// Uploads by one account.
    pub uploads: Rate,
    /// All other changes by one account or address.
    pub changes: Rate,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            sign_in_address: Rate::new(10, 6_000),
            sign_in_name: Rate::new(5, 60_000),
            sign_up: Rate::new(5, 720_000),
            uploads: Rate::new(20, 180_000),
            changes: Rate::new(120, 500),
        }
    }
}

impl RateLimits {
    /// Practically no limits, for tests of other things.
    pub const fn generous() -> Self {
        let rate = Rate::new(1_000_000, 1);
        Self { sign_in_address: rate, sign_in_name: rate, sign_up: rate, uploads: rate, changes: rate }
    }
}

impl Config {
    /// Default configuration with this data folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            data: data.into(),
            database: None,
            ledgers: LedgerLocation::File,
            files: Vec::new(),
            name: "Agon".to_owned(),
            sign_up: SignUp::default(),
            private: false,
            public_url: None,
            proxies: 0,
            jobs: cores,
            nats: None,
            pin: false,
            checks: 1.max(cores / 2),
            grace: Duration::from_secs(20),
            limits: RateLimits::default(),
            organiser_password: None,
        }
    }

    /// Public URL without a trailing `/`. Never taken from a request.
    pub fn url(&self) -> String {
        if let Some(url) = &self.public_url {
            return url.trim_end_matches('/').to_owned();
        }
        let mut at = self.listen;
        if at.ip().is_unspecified() {
            at.set_ip(if at.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        format!("http://{at}")
    }

    /// Reads the first organiser's password from the file named by `AGON_ORGANISER_PASSWORD_FILE`, or from `AGON_ORGANISER_PASSWORD`.
    /// There is no command line flag for it, because every user of the machine can read command lines.
    pub fn take_secrets(&mut self) -> Result<(), StartError> {
        self.read_secrets(|name| std::env::var_os(name))
    }

    fn read_secrets(&mut self, variable: impl Fn(&str) -> Option<OsString>) -> Result<(), StartError> {
        if let Some(path) = variable(PASSWORD_FILE) {
            let text = std::fs::read_to_string(&path).map_err(|error| {
                let path = PathBuf::from(&path);
                StartError::Other(
                    Diagnostic::internal(error)
                        .about(PASSWORD_FILE)
                        .at(Place::file(path.display().to_string()))
                        .hint("name a readable file with the password on its first line"),
                )
            })?;
            self.organiser_password = Some(SecretString::new(text.lines().next().unwrap_or_default()));
        } else if let Some(text) = variable(PASSWORD) {
            self.organiser_password = Some(SecretString::new(text.to_string_lossy()));
        }
        Ok(())
    }

    /// Whether clients connect over TLS.
    pub fn uses_https(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn organiser_password_in_a_file_wins_over_the_variable() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "from the file\n# more\n").unwrap();
        let taken = |variables: &[(&str, &str)]| {
            let mut config = Config::new("data");
            let find =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            config.read_secrets(find).map(|()| config.organiser_password.map(|text| text.expose().to_owned()))
        };
        let path = file.path().to_string_lossy().into_owned();
        assert_eq!(taken(&[]).unwrap(), None);
        assert_eq!(taken(&[(PASSWORD, "from the variable")]).unwrap().as_deref(), Some("from the variable"));
        assert_eq!(
            taken(&[(PASSWORD, "x"), (PASSWORD_FILE, &path)]).unwrap().as_deref(),
            Some("from the file")
        );
        let missing = taken(&[(PASSWORD_FILE, "/nowhere/at/all")]).unwrap_err().to_string();
        assert!(missing.contains(PASSWORD_FILE) && missing.contains("hint:"), "{missing}");
    }

    #[test]
    fn url_is_the_public_url_or_a_reachable_listen_address() {
        let mut config = Config::new("data");
        assert_eq!(config.url(), "http://127.0.0.1:8080");
        config.listen = "0.0.0.0:80".parse().unwrap();
        assert_eq!(config.url(), "http://127.0.0.1:80");
        config.listen = "[::]:80".parse().unwrap();
        assert_eq!(config.url(), "http://[::1]:80");
        config.public_url = Some("https://agon.example.org/".to_owned());
        assert_eq!((config.url().as_str(), config.uses_https()), ("https://agon.example.org", true));
    }
}
