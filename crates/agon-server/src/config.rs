//! How a server is set up.

use std::ffi::OsString;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use agon_grid::NatsOptions;
use agon_store::site_db::SecretString;
use agon_venue::competing::Where;

use crate::error::StartError;

const PASSWORD_FILE: &str = "AGON_ORGANISER_PASSWORD_FILE";
const PASSWORD: &str = "AGON_ORGANISER_PASSWORD";

/// Who may make an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
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
    /// Where `office.db` is, if not in the data folder.
    pub database: Option<PathBuf>,
    /// Where the competitions' ledgers are kept.
    pub ledgers: Where,
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
    /// Games at once, of all competitions together, where they are played on this machine.
    pub jobs: usize,
    /// Where workers are met; without it games are played on this machine.
    pub nats: Option<NatsOptions>,
    /// Whether each game stays on a core of its own.
    pub pin: bool,
    /// Bots checked at once.
    pub checks: usize,
    /// How long games in progress may take to end when it is stopped.
    pub grace: Duration,
    /// How often somebody may do what.
    pub limits: Limits,
    /// The first organiser's password, if one is set up unattended.
    pub organiser_password: Option<SecretString>,
}

/// So many at once, and one more every so often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// At once.
    pub burst: u32,
    /// One more after so long.
    pub every: Duration,
}

impl Rate {
    const fn new(burst: u32, every_ms: u64) -> Self {
        Self { burst, every: Duration::from_millis(every_ms) }
    }
}

/// How often somebody may do what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Failed sign-ins from one address.
    pub sign_in_address: Rate,
    /// Failed sign-ins to one name.
    pub sign_in_name: Rate,
    /// New accounts from one address.
    pub sign_up: Rate,
    /// Uploads of one account.
    pub uploads: Rate,
    /// Everything else that changes something, of one account or address.
    pub changes: Rate,
}

impl Default for Limits {
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

impl Limits {
    /// None to speak of: for tests of other things.
    pub const fn generous() -> Self {
        let rate = Rate::new(1_000_000, 1);
        Self { sign_in_address: rate, sign_in_name: rate, sign_up: rate, uploads: rate, changes: rate }
    }
}

impl Config {
    /// The usual, with everything kept in this folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            data: data.into(),
            database: None,
            ledgers: Where::File,
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
            limits: Limits::default(),
            organiser_password: None,
        }
    }

    /// The address people use, without a `/` at its end. Never taken from a request.
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

    /// Takes the first organiser's password from the file that `AGON_ORGANISER_PASSWORD_FILE` names, or from
    /// `AGON_ORGANISER_PASSWORD`. Never from a command line: everybody on the machine can read that.
    pub fn take_secrets(&mut self) -> Result<(), StartError> {
        self.secrets_of(|name| std::env::var_os(name))
    }

    fn secrets_of(&mut self, variable: impl Fn(&str) -> Option<OsString>) -> Result<(), StartError> {
        if let Some(path) = variable(PASSWORD_FILE) {
            let text = std::fs::read_to_string(&path).map_err(|error| {
                let path = PathBuf::from(&path);
                StartError::Other(format!(
                    "{PASSWORD_FILE}: {}: {error}\nhint: name a file that can be read, with the password on its first line",
                    path.display()
                ))
            })?;
            self.organiser_password = Some(SecretString::new(text.lines().next().unwrap_or_default()));
        } else if let Some(text) = variable(PASSWORD) {
            self.organiser_password = Some(SecretString::new(text.to_string_lossy()));
        }
        Ok(())
    }

    /// Whether people come by TLS.
    pub fn secure(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_wins_over_the_variable() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "from the file\n# more\n").unwrap();
        let taken = |variables: &[(&str, &str)]| {
            let mut config = Config::new("data");
            let find =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            config.secrets_of(find).map(|()| config.organiser_password.map(|text| text.expose().to_owned()))
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
    fn the_address_people_use() {
        let mut config = Config::new("data");
        assert_eq!(config.url(), "http://127.0.0.1:8080");
        config.listen = "0.0.0.0:80".parse().unwrap();
        assert_eq!(config.url(), "http://127.0.0.1:80");
        config.listen = "[::]:80".parse().unwrap();
        assert_eq!(config.url(), "http://[::1]:80");
        config.public_url = Some("https://agon.example.org/".to_owned());
        assert_eq!((config.url().as_str(), config.secure()), ("https://agon.example.org", true));
    }
}
