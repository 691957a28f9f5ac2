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
use crate::notify::mail::MailConfig;
use crate::play::settings::PlaySettings;
use crate::played_games::PlayedGamesConfig;
use crate::practice::config::PracticeConfig;

const PASSWORD_FILE: &str = "AGON_ORGANISER_PASSWORD_FILE";
const PASSWORD: &str = "AGON_ORGANISER_PASSWORD";
const MAIL_PASSWORD_FILE: &str = "AGON_SMTP_PASSWORD_FILE";
const MAIL_PASSWORD: &str = "AGON_SMTP_PASSWORD";

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
    /// Maximum numbers of live streams.
    pub streams: StreamLimits,
    /// Budgets for uploads and their checks.
    pub uploads: UploadBudgets,
    /// Practice ladders and challenges.
    pub practice: PracticeConfig,
    /// How many games outside of competitions are kept.
    pub played_games: PlayedGamesConfig,
    /// Games that persons play in the browser.
    pub play: PlaySettings,
    /// Mail server; without it, the site sends no mails.
    pub mail: Option<MailConfig>,
    /// Whether webhooks may reach addresses that are not on the public Internet, and without TLS.
    pub private_webhooks: bool,
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

    /// The rate of a network with this many times the limit of one address.
    #[must_use]
    pub const fn times(self, factor: u32) -> Self {
        let every = match self.every.checked_div(factor) {
            Some(every) => every,
            None => self.every,
        };
        Self { burst: self.burst.saturating_mul(factor), every }
    }
}

/// Rate limits. For addresses, a limit is that of one IPv4 address or one IPv6 /64; a /24 or /48 has four times as much, a /16 or /32
/// sixteen times ([`crate::middleware::address::NetworkWidth`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimits {
    /// Failed sign-ins from one address, to any account.
    pub sign_in_address: Rate,
    /// Failed sign-ins from one address to one account.
    pub sign_in_pair: Rate,
    /// Failed sign-ins to one account from all clients that have never signed in to it.
    pub sign_in_account: Rate,
    /// Sign-ins to one account beyond `sign_in_account`, for each address.
    pub sign_in_first: Rate,
    /// Failed sign-ins from one address that has signed in to the account before. Beyond it, attempts wait.
    pub sign_in_known_address: Rate,
    /// Failed sign-ins from one browser that has signed in to the account before.
    pub sign_in_known_browser: Rate,
    /// Failed changes of the password in one session.
    pub password_change: Rate,
    /// New accounts from one address.
    pub sign_up: Rate,
    /// Requests for links to a new password or a verified address, by one address, and for one account.
    pub mail_links: Rate,
    /// Comments and reports of one account.
    pub comments: Rate,
    /// Searches from one address.
    pub searches: Rate,
    /// Pictures and GIFs that are made for one address.
    pub pictures: Rate,
    /// Uploads by one account.
    pub uploads: Rate,
    /// Answers of persons who play in the browser, by one account or address.
    pub answers: Rate,
    /// All other changes by one account or address.
    pub changes: Rate,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            sign_in_address: Rate::new(10, 6_000),
            sign_in_pair: Rate::new(5, 60_000),
            sign_in_account: Rate::new(20, 4_000),
            sign_in_first: Rate::new(1, 24 * 60 * 60 * 1000),
            sign_in_known_address: Rate::new(5, 3_000),
            sign_in_known_browser: Rate::new(10, 30_000),
            password_change: Rate::new(5, 60_000),
            sign_up: Rate::new(5, 720_000),
            mail_links: Rate::new(5, 600_000),
            comments: Rate::new(10, 20_000),
            searches: Rate::new(60, 500),
            pictures: Rate::new(40, 1_000),
            uploads: Rate::new(20, 180_000),
            answers: Rate::new(300, 20),
            changes: Rate::new(120, 500),
        }
    }
}

impl RateLimits {
    /// Practically no limits, for tests of other things.
    pub const fn generous() -> Self {
        let rate = Rate::new(1_000_000, 1);
        Self {
            sign_in_address: rate,
            sign_in_pair: rate,
            sign_in_account: rate,
            sign_in_first: rate,
            sign_in_known_address: rate,
            sign_in_known_browser: rate,
            password_change: rate,
            sign_up: rate,
            mail_links: rate,
            comments: rate,
            searches: rate,
            pictures: rate,
            uploads: rate,
            answers: rate,
            changes: rate,
        }
    }
}

/// Maximum numbers of open live streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamLimits {
    /// Of all clients.
    pub total: usize,
    /// Of all clients that are not signed in. The rest is for users.
    pub anonymous: usize,
    /// Of clients that are not signed in, from one IPv4 address or IPv6 /64. A /24 or /48 has four times as many.
    pub per_address: usize,
    /// Of one account.
    pub per_account: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { total: 2_000, anonymous: 1_600, per_address: 200, per_account: 32 }
    }
}

/// Budgets for uploads and their checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UploadBudgets {
    /// Maximum bytes on disk for the submissions of one account, old versions included.
    pub disk_per_account: u64,
    /// Maximum bytes on disk for all submissions.
    pub disk_total: u64,
    /// Uploads are refused while the disk of the data folder has fewer free bytes.
    pub min_free_disk: u64,
    /// Maximum number of uploads that are received at the same time. Further ones wait.
    pub receiving: usize,
    /// The same for one account.
    pub receiving_per_account: usize,
}

impl Default for UploadBudgets {
    fn default() -> Self {
        Self {
            disk_per_account: 1 << 30,
            disk_total: 20 << 30,
            min_free_disk: 512 << 20,
            receiving: 128,
            receiving_per_account: 4,
        }
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
            streams: StreamLimits::default(),
            uploads: UploadBudgets::default(),
            practice: PracticeConfig::new(cores),
            played_games: PlayedGamesConfig::default(),
            play: PlaySettings::for_cores(cores),
            mail: None,
            private_webhooks: false,
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

    /// Reads the first organiser's password from the file named by `AGON_ORGANISER_PASSWORD_FILE`, or from `AGON_ORGANISER_PASSWORD`, and
    /// the mail server's password from `AGON_SMTP_PASSWORD_FILE` or `AGON_SMTP_PASSWORD`. There are no command line flags for them, because
    /// every user of the machine can read command lines.
    pub fn take_secrets(&mut self) -> Result<(), StartError> {
        self.read_secrets(|name| std::env::var_os(name))
    }

    fn read_secrets(&mut self, variable: impl Fn(&str) -> Option<OsString>) -> Result<(), StartError> {
        if let Some(password) = read_secret(&variable, PASSWORD_FILE, PASSWORD)? {
            self.organiser_password = Some(password);
        }
        if let Some(mail) = &mut self.mail
            && let Some(password) = read_secret(&variable, MAIL_PASSWORD_FILE, MAIL_PASSWORD)?
        {
            mail.password = Some(password);
        }
        Ok(())
    }

    /// Whether clients connect over TLS.
    pub fn uses_https(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }
}

/// A secret from the file that one variable names, or from another variable.
fn read_secret(
    variable: impl Fn(&str) -> Option<OsString>,
    file: &'static str,
    value: &'static str,
) -> Result<Option<SecretString>, StartError> {
    if let Some(path) = variable(file) {
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let path = PathBuf::from(&path);
            StartError::Other(
                Diagnostic::internal(error)
                    .about(file)
                    .at(Place::file(path.display().to_string()))
                    .hint("name a readable file with the password on its first line"),
            )
        })?;
        return Ok(Some(SecretString::new(text.lines().next().unwrap_or_default())));
    }
    Ok(variable(value).map(|text| SecretString::new(text.to_string_lossy())))
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
